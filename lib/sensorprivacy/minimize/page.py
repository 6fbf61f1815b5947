"""The report of the command ``minimize``: one page of text."""

import math
import textwrap
from typing import Any

import pandas as pd
from tabulate import tabulate

from sensorprivacy.datasets.types import Problem
from sensorprivacy.game.outcome import Measure
from sensorprivacy.game.units import few_units
from sensorprivacy.minimize.minimizer import FeatureMinimizer
from sensorprivacy.minimize.select import select_table

WIDTH = 88


def page(minimizer: FeatureMinimizer, problem: Problem, task: str, user: str) -> str:
    """Report which features to keep, how much accuracy that costs, and how well an adversary identifies users.

    Parameters
    ----------
    minimizer : FeatureMinimizer
        Fitted with users.
    problem : Problem
        The table that it was fitted to.
    task, user : str
        Names of the label columns.

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
        *_columns_notes(problem),
        "",
        f"Cost: accuracy on {summary['n_test']:,} test rows",
        f"  all features     {_measure(full.task)}",
        f"  kept features    {_measure(kept.task)}",
        "",
        f"Identifiability: share of test rows whose {user} an adversary with the same kind of model predicts",
        f"  all features     {_measure(full.adversary)}",
        f"  kept features    {_measure(kept.adversary)}",
        *_wrapped(" ".join([verdict(kept.adversary), *_notes(kept.adversary, user)])),
        "",
        f"Other thresholds (evaluated on {rows}, where the choice was made)",
        thresholds_table(minimizer.results_),
        "",
        *textwrap.wrap(f"Method: {_method(minimizer)}.", WIDTH),
    ]
    return "\n".join(lines)


def thresholds_table(results: pd.DataFrame) -> str:
    """Return the choice at each of the paper's six thresholds as a text table."""
    rows = [
        {
            "threshold": f"{threshold:g}",
            "accuracy": f"{row['accuracy']:.2%}",
            "identifiability": f"{row['identifiability']:.2%}",
            "rel. eff.": f"{effect:.3f}" if isinstance(effect := row["relative_effectiveness"], float) else str(effect),
            "features": len(row["features"]),
            "kept": textwrap.shorten(", ".join(map(str, row["features"])), 40, placeholder=" ..."),
        }
        for threshold, row in select_table(results).iterrows()
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
    if left_out:
        named = ", ".join(f"{name} ({kind})" for name, kind in left_out.items())
        why = "A model cannot learn from such columns, but anyone could join the result with the original table."
        lines += _wrapped(f"left out {len(left_out)}: {named}. {why} Use one with --keep COLUMN.", hanging=2)
    for name, example in as_text.items():
        lines += _wrapped(f"{name}: read as categories, though it seems to hold numbers, because of {example!r}", 2)
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
    return (
        f"{stage}, then {len(minimizer.results_):,} subsets with two models each ({minimizer.outcome_.model}, engine "
        f"{minimizer.search.engine}); split {minimizer.split_.how}, seed {minimizer.random_state}; intervals do not "
        "cover the random choice of the split"
    )


def _wrapped(text: str, hanging: int = 0) -> list[str]:
    return textwrap.wrap(text, WIDTH, initial_indent="  ", subsequent_indent="  " + " " * hanging)
