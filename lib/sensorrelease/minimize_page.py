"""The report of the command ``minimize``: one page of text."""

import textwrap
from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

import pandas as pd

from sensorprivacy.data import Problem
from sensorprivacy.game.joins import Match
from sensorprivacy.game.joins import in_words as matched_in_words
from sensorprivacy.game.linkage import k_anonymity
from sensorprivacy.game.units import few_units
from sensorprivacy.minimize.minimizer import FeatureMinimizer
from sensorprivacy.minimize.select import THRESHOLDS, least_accuracy, select_table
from sensorrelease.pages import columns_page, numbered, one_line, render
from sensorrelease.stability import Stability


def page(
    minimizer: FeatureMinimizer,
    problem: Problem,
    *,
    matches: Sequence[Match] = (),
    stability: Stability | None = None,
) -> str:
    """Report which features to keep, how much accuracy that costs, and how well an adversary identifies users.

    Parameters
    ----------
    minimizer : FeatureMinimizer
        Fitted with users.
    problem : Problem
        The table that it was fitted to.
    matches : sequence of Match
        How many rows of the kept columns attackers match with the original table.
    stability : Stability, optional
        How often repetitions kept each column.

    Returns
    -------
    str
        About one page of text.
    """
    adversary = minimizer.outcome_.adversary
    return render(
        "minimize.txt",
        minimizer=minimizer,
        problem=problem,
        **problem.provenance.get("labels", {"task": "the task", "user": "user"}),
        exposed=numbered(adversary.exposed, problem.users),
        stability=stability,
        shares=problem.task.value_counts(normalize=True),
        lost=_lost(minimizer),
        adversary=adversary,
        few=few_units([f"{adversary.n} {adversary.unit}"]).capitalize(),
        matches=matches,
        matched=matched_in_words(matches),
        alone=_alone(problem.features[minimizer.summary()["kept"]]),
        thresholds=thresholds(minimizer.results_, **minimizer.rule_),
        columns=columns_page(problem.provenance),
        method=one_line("method.txt", minimizer=minimizer),
    )


def facts(
    minimizer: FeatureMinimizer, problem: Problem, matches: Sequence[Match], stability: Stability | None
) -> dict[str, Any]:
    """Return all numbers of the page, and how the table and each column was read and coded, as JSON values."""
    told = {name: value for name, value in problem.provenance.items() if name != "publish"}  # it names the file
    return {
        "table": {"name": problem.name, "rows": problem.n_records} | told,
        "summary": minimizer.summary(),
        "matched": [asdict(one) for one in matches],
        "stability": None if stability is None else asdict(stability),
        "race": None if minimizer.race_ is None else asdict(minimizer.race_),
        "method": one_line("method.txt", minimizer=minimizer),
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


def _lost(minimizer: FeatureMinimizer) -> dict[str, Any]:
    """Return the share of accuracy that is lost on the test rows if it is more than tolerated, and its certainty."""
    everything, kept = minimizer.baseline_.task, minimizer.outcome_.task
    least = least_accuracy(everything.score, minimizer.threshold)
    if not kept.n or kept.score >= least:
        return {}
    error = (max(one.score * (1 - one.score) for one in (everything, kept)) / kept.n) ** 0.5
    return {"share": 1 - kept.score / everything.score, "error": error, "certain": kept.score < least - error}


def _alone(kept: pd.DataFrame) -> dict[str, float]:
    """Return the columns whose values alone tell the most rows apart, with the share of these rows."""
    shares = {str(name): k_anonymity(kept[[name]]).unique for name in kept}
    return dict(sorted(shares.items(), key=lambda item: -item[1])[:3])
