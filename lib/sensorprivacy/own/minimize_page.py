"""The report of the command ``minimize``: one page of text."""

import math
import textwrap
from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

import pandas as pd
from tabulate import tabulate

from sensorprivacy.data import Problem
from sensorprivacy.game.joins import Joined
from sensorprivacy.game.outcome import Measure
from sensorprivacy.game.units import few_units
from sensorprivacy.minimize.certainty import Stability
from sensorprivacy.minimize.minimizer import FeatureMinimizer
from sensorprivacy.minimize.select import THRESHOLDS, least_accuracy, select_table

WIDTH = 88
MOST_COLUMNS = 40
WARN_JOINED = 0.05  # share of uniquely joined rows from which the page warns


def page(
    minimizer: FeatureMinimizer,
    problem: Problem,
    task: str,
    user: str,
    *,
    joined: Joined | None = None,
    stability: Stability | None = None,
) -> str:
    """Report which features to keep, how much accuracy that costs, and how well an adversary identifies users.

    Parameters
    ----------
    minimizer : FeatureMinimizer
        Fitted with users.
    problem : Problem
        The table that it was fitted to.
    task, user : str
        Names of the label columns.
    joined : Joined, optional
        How many rows the kept columns join with the original table.
    stability : Stability, optional
        How often repetitions kept each column.

    Returns
    -------
    str
        About one page of text.
    """
    summary, kept, full = minimizer.summary(), minimizer.outcome_, minimizer.baseline_
    rows = "validation rows" if summary["part_chosen_on"] == "validation" else "the same rows"
    lines = [
        f"DATA MINIMIZATION OF {problem.name}",
        f"{problem.n_records:,} rows, {problem.n_features} features; {problem.task.nunique()} classes of {task}, "
        f"{problem.users.nunique()} users ({user}); tolerated loss of accuracy: {minimizer.threshold:.3g}",
        "",
        "Features to keep",
        *_wrapped(f"keep {len(summary['kept'])}: {', '.join(summary['kept'])}", hanging=2),
        *_wrapped(f"drop {len(summary['dropped'])}: {', '.join(summary['dropped']) or 'none'}", hanging=2),
        *([] if stability is None else _wrapped(_stable(stability), hanging=2)),
        *_columns_notes(problem),
        "",
        f"Cost: accuracy on {summary['n_test']:,} test rows",
        f"  all features     {_measure(full.task)}",
        f"  kept features    {_measure(kept.task)}",
        *_wrapped(_imbalance(kept.task, problem, task)),
        "",
        f"Identifiability: share of test rows whose {user} an adversary with the same kind of model predicts",
        f"  all features     {_measure(full.adversary)}",
        f"  kept features    {_measure(kept.adversary)}",
        *_wrapped(" ".join([verdict(kept.adversary), *_notes(kept.adversary, user)])),
        *([] if joined is None else ["", *_join_notes(joined)]),
        "",
        f"Other thresholds (evaluated on {rows}, where the choice was made)",
        thresholds_table(minimizer.results_, **minimizer.rule_),
        "",
        *columns_table(problem.provenance),
        *textwrap.wrap(f"Method: {_method(minimizer)}.", WIDTH),
    ]
    return "\n".join(lines)


def facts(
    minimizer: FeatureMinimizer, problem: Problem, joined: Joined | None, stability: Stability | None
) -> dict[str, Any]:
    """Return all numbers of the page, and how the table and each column was read and coded, as JSON values."""
    return {
        "table": {"name": problem.name, "rows": problem.n_records, **problem.provenance},
        "summary": minimizer.summary(),
        "joined": None if joined is None else asdict(joined),
        "stability": None if stability is None else asdict(stability),
        "race": None if minimizer.race_ is None else asdict(minimizer.race_),
        "method": _method(minimizer),
    }


def thresholds_table(results: pd.DataFrame, **rule: Any) -> str:
    """Return the choice at each of the paper's thresholds as a text table, without thresholds that no subset meets.

    Parameters
    ----------
    results : pandas.DataFrame
        Table of a search.
    **rule
        ``reference``, ``margin`` and ``rows`` of `select`.
    """
    best = results["accuracy"].max()
    reference, slack = rule.get("reference") or best, rule.get("rows") if rule.get("slack") else None
    levels = [level for level in THRESHOLDS if best >= least_accuracy(reference, level, slack)]
    rows = [
        {
            "threshold": f"{threshold:g}",
            "accuracy": f"{row['accuracy']:.2%}",
            "identifiability": f"{row['identifiability']:.2%}",
            "rel. eff.": f"{effect:.3f}" if isinstance(effect := row["relative_effectiveness"], float) else str(effect),
            "features": len(row["features"]),
            "kept": textwrap.shorten(", ".join(map(str, row["features"])), 40, placeholder=" ..."),
        }
        for threshold, row in select_table(results, levels, **rule).iterrows()
    ]
    return tabulate(rows, headers="keys", tablefmt="simple", disable_numparse=True)


def verdict(adversary: Measure) -> str:
    """Say in a few sentences what the adversary learns about the users."""
    tests = (
        f"permutation tests: p = {adversary.p:.3g} over all rows, p = {adversary.p_any:.3g} for the most exposed user"
    )
    if not adversary.recognizes_someone:
        return (
            f"No sign that any user is recognized ({tests}, n = {adversary.n:,} {adversary.unit}). That is no proof: a "
            "stronger adversary, or more rows, may recognize someone."
        )
    exposed = (
        f"The most exposed user is {adversary.exposed}: {adversary.exposed_recall:.0%} of this user's rows are "
        f"recognized, and {adversary.exposed_precision:.0%} of the rows with this prediction are this user's."
    )
    times = adversary.score / adversary.chance if adversary.chance else math.inf
    level = f"{times:.1f} times the chance level" if adversary.beats_chance else "about the chance level over all users"
    return (
        f"Identifiability is {level}; users are recognized ({tests}). {exposed} Fewer columns make users harder to "
        "identify, but they do not make the data anonymous."
    )


def _columns_notes(problem: Problem) -> list[str]:
    """Return which columns the table's reader left out as identifiers, and which numbers it could not read."""
    left_out, as_text = (problem.provenance.get(fact, {}) for fact in ("left_out", "numbers_as_text"))
    lines = []
    for notice in problem.provenance.get("notices", []):
        lines += _wrapped(notice, hanging=2)
    if left_out:
        named = ", ".join(f"{name} ({kind})" for name, kind in left_out.items())
        why = "Such columns name rows or users: anyone could join the result with the original table."
        lines += _wrapped(f"left out {len(left_out)}: {named}. {why} Use one with --keep COLUMN.", hanging=2)
    for name, example in as_text.items():
        lines += _wrapped(f"{name}: read as categories, though it seems to hold numbers, because of {example!r}", 2)
    return lines


def columns_table(provenance: Mapping[str, Any]) -> list[str]:
    """Return how each column of a table was read and coded, as lines; none without such facts in the provenance."""
    columns = provenance.get("columns", [])
    if not columns:
        return []
    rows = [
        {
            "column": textwrap.shorten(row["column"], 24, placeholder="..."),
            "read as": textwrap.shorten(row["read"], 26, placeholder="..."),
            "used as": row["used"],
            "missing": row["missing"] or "",
            "coded as": textwrap.shorten(row["coded"], 30, placeholder="..."),
        }
        for row in columns[:MOST_COLUMNS]
    ]
    head = f"Columns ({provenance.get('form', 'table')}, {provenance['rows_read']:,} rows)"
    more = [f"and {len(columns) - MOST_COLUMNS} more columns; --json FILE writes all of them"]
    shown = tabulate(rows, headers="keys", tablefmt="simple", disable_numparse=True)
    return [head, shown, *(more if len(columns) > MOST_COLUMNS else []), ""]


def _stable(stability: Stability) -> str:
    """Return how often repetitions with other seeds kept the columns."""
    times = stability.repetitions
    by_count: dict[int, list[str]] = {}
    for name, count in stability.kept.items():
        by_count.setdefault(count, []).append(name)
    named = "; ".join(f"{count} of {times}: {', '.join(names)}" for count, names in by_count.items() if count)
    unstable = any(0 < count < times for count in stability.kept.values())
    advice = " The choice changes with the random seed: prefer columns that are always kept." if unstable else ""
    how = f"{stability.trees} trees, up to {stability.rows:,} rows"
    return f"repeated with {times} other seeds ({how}), kept in {named or 'none'}.{advice}"


def _imbalance(measure: Measure, problem: Problem, task: str) -> str:
    """Return a warning if the task model is no better than the most frequent class."""
    share = problem.task.value_counts(normalize=True)
    if measure.score > max(measure.chance, float(share.iloc[0])) or not measure.n:
        return ""
    return (
        f"Warning: the accuracy is not above the share of the most frequent class ({share.index[0]}: "
        f"{share.iloc[0]:.1%} of the rows). The balanced accuracy, the mean recall over the classes of {task}, is "
        f"{measure.balanced:.1%}. A loss of accuracy says little here: the features may be useless, or rare classes "
        "may be lost."
    )


def _join_notes(joined: Joined) -> list[str]:
    """Return how many rows an attacker with the original table joins by the kept columns."""
    alone = [f"{name} {share:.0%}" for name, share in joined.alone.items() if share >= 0.01]
    lines = [
        "Linkage: share of rows that the kept columns join uniquely with the original table",
        f"  equal values {joined.exact:9.2%}",
        f"  about equal  {joined.near:9.2%}   (values known to {joined.tolerance:.0%} of their range, "
        f"n = {joined.rows:,} rows)",
    ]
    if joined.exact >= WARN_JOINED:
        one = f" One column alone joins: {', '.join(alone)}." if alone else ""
        lines += _wrapped(
            f"Warning: whoever holds the original table identifies the users of {joined.exact:.0%} of the rows, "
            f"however badly the adversary's model does.{one} Round values, or use the command publish with noise."
        )
    return lines


def _measure(measure: Measure) -> str:
    return (
        f"{measure.score:7.2%}   ({measure.low:.2%} to {measure.high:.2%} at 95 %, n = {measure.n:,} {measure.unit}; "
        f"chance {measure.chance:.2%})"
    )


def _notes(adversary: Measure, user: str) -> list[str]:
    """Return what limits the numbers: rows of users without training rows, and too few groups."""
    notes = []
    if adversary.unseen:
        notes.append(
            f"{adversary.unseen:.1%} of the test rows have a {user} without training rows and are left out: nobody can "
            "recognize them."
        )
    if few := few_units([f"{adversary.n} {adversary.unit}"]):
        notes.append(f"{few.capitalize()}.")
    return notes


def _method(minimizer: Any) -> str:
    scores = minimizer.scores_
    if scores is None:
        stage = f"all {len(minimizer.preselected_)} features were searched"
    else:
        facts = scores.attrs
        depth = f", depth {facts['max_depth']}" if facts.get("max_depth") else ""
        stage = (
            f"{len(minimizer.preselected_)} of {len(scores)} features preselected by {facts['score']} "
            f"{minimizer.preselection.by} ({facts['rows']:,} of {facts['rows_available']:,} rows{depth})"
        )
    engine, split = minimizer.search.engine, f"split {minimizer.split_.how}, seed {minimizer.random_state}"
    return (
        f"{stage}, then {len(minimizer.results_):,} subsets with two models each ({minimizer.outcome_.model}, engine "
        f"{engine}){_searched_rows(minimizer)}{_raced(minimizer.race_)}. {_rule(minimizer)}; {split}; intervals do not "
        "cover the random choice of the split"
    )


def _raced(race: Any) -> str:
    """Return how many subsets a race dropped."""
    if race is None:
        return ""
    return (
        f"; in a race, {race.dropped:,} subsets were dropped before their first tree or after a few, because their "
        f"bounds show that they cannot be chosen, and {race.finished:,} were finished (--exhaustive finishes all)"
    )


def _rule(minimizer: Any) -> str:
    """Return how a subset was chosen."""
    settings = minimizer.search
    words = f"The loss counts from {'all columns' if settings.reference == 'all' else 'the best subset'}"
    words += ", and may exceed the tolerance by one standard error" if settings.slack else ""
    fewest = ", and within one standard error of it or of chance the fewest columns"
    return f"{words}; the lowest identifiability wins{fewest if isinstance(settings.margin, str) else ''}"


def _searched_rows(minimizer: Any) -> str:
    """Return on which rows the subsets were searched and evaluated, if these are not all."""
    searched, split, outcome = minimizer.search_split_, minimizer.split_, minimizer.outcome_
    if len(searched.train) == len(split.train):
        return ""
    trees = min(minimizer.estimator.n_estimators, minimizer.search.max_trees or math.inf)
    return (
        f", on a sample of {len(searched.train):,} of {len(split.train):,} training rows with {trees} trees; the final "
        f"evaluation trains on {outcome.n_train:,} rows and uses all {outcome.n_test:,} test rows"
    )


def _wrapped(text: str, hanging: int = 0) -> list[str]:
    return textwrap.wrap(text, WIDTH, initial_indent="  ", subsequent_indent="  " + " " * hanging)
