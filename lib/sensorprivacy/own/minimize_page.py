"""The report of the command ``minimize``: one page of text."""

import math
import textwrap
from dataclasses import asdict
from typing import Any

import pandas as pd

from sensorprivacy.columns.judge import in_words
from sensorprivacy.data import Problem
from sensorprivacy.game.joins import Joined
from sensorprivacy.game.outcome import Measure
from sensorprivacy.game.units import few_units
from sensorprivacy.minimize.certainty import Stability
from sensorprivacy.minimize.minimizer import FeatureMinimizer
from sensorprivacy.minimize.select import THRESHOLDS, least_accuracy, select_table
from sensorprivacy.own.pages import columns_page, render


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
    measure, adversary = minimizer.outcome_.task, minimizer.outcome_.adversary
    shares = problem.task.value_counts(normalize=True)
    alone = {} if joined is None else joined.alone
    facts = problem.provenance
    return render(
        "minimize.txt",
        minimizer=minimizer,
        problem=problem,
        task=task,
        user=user,
        summary=minimizer.summary(),
        stability=stability,
        repeated="" if stability is None else _repeated(stability),
        unstable=stability is not None and any(0 < n < stability.repetitions for n in stability.kept.values()),
        notices=facts.get("notices", []),
        left_out=facts.get("left_out", {}),
        left_out_named=in_words(facts.get("left_out", {})),
        as_text=facts.get("numbers_as_text", {}),
        shares=shares,
        imbalanced=bool(measure.n) and measure.score <= max(measure.chance, float(shares.iloc[0])),
        adversary=adversary,
        few=few_units([f"{adversary.n} {adversary.unit}"]).capitalize(),
        joined=joined,
        alone=[f"{name} {share:.0%}" for name, share in alone.items() if share >= 0.01],
        thresholds=thresholds(minimizer.results_, **minimizer.rule_),
        columns=columns_page(facts),
        method=_method(minimizer),
    )


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


def thresholds(results: pd.DataFrame, **rule: Any) -> list[dict[str, Any]]:
    """Return the choice at each of the paper's thresholds as a row, without thresholds that no subset meets.

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
    return [
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


def verdict(adversary: Measure) -> str:
    """Say in a few sentences what the adversary learns about the users."""
    return render("verdict.txt", adversary=adversary)


def _repeated(stability: Stability) -> str:
    """Return how often repetitions with other seeds kept the columns."""
    by_count: dict[int, list[str]] = {}
    for name, count in stability.kept.items():
        by_count.setdefault(count, []).append(name)
    times = stability.repetitions
    return "; ".join(f"{count} of {times}: {', '.join(names)}" for count, names in by_count.items() if count)


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
