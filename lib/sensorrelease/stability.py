"""Repeat a selection with other seeds, and count how often each column is kept."""

from dataclasses import dataclass
from typing import Any

from sklearn.base import clone
from sklearn.ensemble import RandomForestClassifier

from sensorprivacy.data import Problem
from sensorprivacy.minimize.engine_protocol import engine_data
from sensorprivacy.minimize.engines import make_engine
from sensorprivacy.minimize.minimizer import FeatureMinimizer
from sensorprivacy.minimize.search.exhaustive import search_subsets
from sensorprivacy.minimize.select import NoSubsetError, select
from sensorprivacy.progress import tqdm

TREES, ROWS = 10, 1000  # of a repetition: it shows how often a column is kept, not how accurate a subset is


@dataclass(frozen=True)
class Stability:
    """How often the columns were kept.

    Attributes
    ----------
    repetitions : int
        Number of repetitions, each with its own split and models.
    kept : dict of str to int
        Repetitions that kept a column, for all preselected columns; most frequent first.
    trees, rows : int
        Trees of each forest, and largest number of training rows, of a repetition.
    """

    repetitions: int
    kept: dict[str, int]
    trees: int
    rows: int


def repeat_selection(minimizer: FeatureMinimizer, problem: Problem, repetitions: int = 5) -> Stability | None:
    """Repeat the search of a fitted minimizer with other splits and seeds, fewer trees and fewer rows.

    Parameters
    ----------
    minimizer : FeatureMinimizer
        Fitted to `problem`, with a forest.
    problem : Problem
        The table.
    repetitions : int
        Number of repetitions. The seeds follow that of the minimizer.

    Returns
    -------
    Stability or None
        None without repetitions.
    """
    if repetitions < 1:
        return None
    forest = RandomForestClassifier() if minimizer.estimator is None else clone(minimizer.estimator)
    forest.set_params(n_estimators=min(TREES, forest.n_estimators))
    counts = {str(name): 0 for name in minimizer.preselected_}
    seeds = range((minimizer.random_state or 0) + 1, (minimizer.random_state or 0) + 1 + repetitions)
    for seed in tqdm(seeds, desc=f"{problem.name}: repetitions", disable=not minimizer.progress):
        split = minimizer._split(problem, seed).capped(ROWS, ROWS, seed=seed)
        part = "test" if split.validation is None else "validation"
        data = engine_data(problem, split, part)
        engine = make_engine(minimizer._settings.engine, data, forest, seed)
        how: dict[str, Any] = {"split": split, "part": part, "seed": seed, "engine": engine, "n_jobs": minimizer.n_jobs}
        found = search_subsets(problem, minimizer.preselected_, **how, allow_long=True, progress=False)
        try:
            kept = select(found.table, minimizer.threshold, **minimizer._rule(data, engine))["features"]
        except NoSubsetError:
            kept = minimizer.preselected_  # and more of the others
        for name in kept:
            counts[str(name)] += 1
    ranked = dict(sorted(counts.items(), key=lambda item: -item[1]))
    return Stability(repetitions, ranked, forest.n_estimators, ROWS)
