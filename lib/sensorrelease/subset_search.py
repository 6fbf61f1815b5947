"""The search of the columns that a minimized table keeps: all subsets of a few columns, and who accepts the best."""

from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
import pandas as pd
from sklearn.ensemble import RandomForestClassifier

from sensorprivacy.data import Problem
from sensorprivacy.game.splits import Split, default_split
from sensorprivacy.minimize.checks import changing_features
from sensorprivacy.minimize.engine_protocol import Engine, EngineData, engine_data
from sensorprivacy.minimize.engines import make_engine
from sensorprivacy.minimize.search.exhaustive import search_subsets
from sensorprivacy.minimize.select import (
    STANDARD_ERROR,
    NoSubsetError,
    fewest_columns,
    least_accuracy,
    select,
)

_SEARCH_ROWS = 4000  # rows on which subsets are searched
_LARGER = 5  # each of a finalist's two forests has so many times the trees of one in the search
_FEWEST = 4  # groups or rows, so that each half has two


@dataclass(frozen=True, eq=False)
class Searched:
    """The results of all subsets of the preselected columns, and what the choice of a subset needs besides.

    The rows on which thousands of subsets were compared flatter the best of them: on the smartwatch, three columns lost
    nothing there and 9 points on new recordings. So rows that have compared nothing decide how much finalists lose.
    """

    problem: Problem
    split: Split  # of the search
    seed: int | None
    ranked: list[Any]  # columns, the best first
    subsets: pd.DataFrame
    trees: int
    whole: float  # accuracy of the search's forests on all columns

    @cached_property
    def judged(self) -> list[EngineData]:
        """Two halves of the rows that the search trained on, in whole groups; all other rows train for each.

        Too few groups for two halves: the rows of the search.
        """
        if self.units < _FEWEST:
            return [engine_data(self.problem, self.split, "test")]
        turned = replace(self.split, train=self.split.test, test=self.split.train).halved(seed=self.seed)
        one, other = turned.part("validation"), turned.test
        return [
            engine_data(self.problem, replace(turned, train=np.r_[turned.train, rest], test=half, validation=None))
            for half, rest in ((one, other), (other, one))
        ]

    @cached_property
    def engines(self) -> list[Engine]:
        """The large forests of both halves, which score finalists."""
        forest = RandomForestClassifier(_LARGER * self.trees)
        return [make_engine("shared", data, forest, self.seed) for data in self.judged]

    @property
    def units(self) -> int:
        """Number of groups, or of rows without groups, that the search trained on: a standard error counts them."""
        groups = self.split.clusters(self.split.train)
        return len(self.split.train) if groups is None else len(np.unique(groups))

    @cached_property
    def chance(self) -> float:
        """Chance level of the identifiability."""
        return self._mean([data.prior("users") for data in self.judged])

    @cached_property
    def reference(self) -> float:
        """Accuracy on all columns."""
        return self.scores([self.ranked], "task")[0]

    def _mean(self, found: Sequence[Any]) -> Any:
        return np.average(found, axis=0, weights=[len(data.test) for data in self.judged])

    def scores(self, subsets: Iterable[Sequence[Any]], label: str) -> list[float]:
        """Return the accuracy of large forests on rows of both halves, for the task or for the users."""
        places = list(self.problem.features).index
        asked = [tuple(sorted(map(places, some))) for some in subsets]
        return [float(one) for one in self._mean([engine.score(asked, label) for engine in self.engines])]

    def finalists(self, threshold: float) -> pd.DataFrame:
        """Return the subsets that may be chosen at a threshold, scored by large forests.

        They are, of each size, the least identifying ones that lost little enough in the search, with and without one
        standard error, and the one with the highest accuracy less identifiability.
        """
        found = self.subsets.assign(hidden=-self.subsets["identifiability"].clip(lower=self.chance))
        found = found.assign(gain=found["accuracy"] + found["hidden"])
        strict, slack = (least_accuracy(self.whole, threshold, rows) for rows in (None, len(self.split.test)))
        wanted = ("gain", -np.inf), ("hidden", strict), ("hidden", slack)
        order = ["accuracy", "features"]
        best = [
            found[found["accuracy"] >= least].sort_values([by, *order], kind="stable").groupby("n_features").tail(1)
            for by, least in wanted
        ]
        found = pd.concat(best).drop_duplicates("features").drop(columns=["hidden", "gain"])
        task, users = (self.scores(found["features"], label) for label in ("task", "users"))
        return found.assign(accuracy=task, identifiability=users)

    def kept(self, threshold: float) -> list[Any]:
        """Return the columns to keep."""
        how: Any = {"reference": self.reference, "margin": STANDARD_ERROR, "rows": self.units, "chance": self.chance}
        with suppress(NoSubsetError):
            return list(select(self.finalists(threshold), threshold, **how)["features"])
        least, searched = least_accuracy(self.reference, threshold), int(self.subsets["n_features"].max())
        return fewest_columns(self.ranked, lambda names: self.scores([names], "task")[0] >= least, searched)


LAST_SEARCH: dict[tuple[Any, ...], Searched] = {}


def searched(problem: Problem, preselect: int, trees: int, seed: int | None) -> Searched:
    """Search all subsets of the preselected columns, see `search_subsets`."""
    key = (problem.digest, preselect, trees, seed)
    if key not in LAST_SEARCH:
        split = default_split(problem, seed=seed).capped(2 * _SEARCH_ROWS // 3, _SEARCH_ROWS // 3)
        engine = make_engine("shared", engine_data(problem, split, "test"), RandomForestClassifier(trees), seed)
        ranked = changing_features(problem.features, "drop")
        whole = engine.score([tuple(sorted(map(list(problem.features).index, ranked)))], "task")[0]
        if len(ranked) > preselect:
            ranked = _forward(problem, engine, ranked, preselect)
        how: Any = {"engine": engine, "allow_long": True, "progress": False}  # only load makes so small a search long
        found = search_subsets(problem, ranked[:preselect], split=split, seed=seed, **how)
        LAST_SEARCH.clear()
        LAST_SEARCH[key] = Searched(problem, split, seed, ranked, found.table, trees, float(whole))
    return LAST_SEARCH[key]


def _forward(problem: Problem, engine: Engine, columns: Sequence[Any], size: int) -> list[Any]:
    """Return columns, the best first: each adds most to accuracy less identifiability, together with those before it.

    A ranking of single columns keeps ten that say the same. Columns after `size` are in order of accuracy alone.
    """
    chosen: list[int] = []
    left = list(map(list(problem.features).index, columns))
    for _ in range(size):
        subsets = [tuple(sorted([*chosen, one])) for one in left]
        right, identified = (np.asarray(engine.score(subsets, label)) for label in ("task", "users"))
        best = left[int(np.argmax(right - identified))]
        chosen.append(best)
        left = [left[place] for place in np.argsort(-right, kind="stable") if left[place] != best]
    return [problem.features.columns[place] for place in [*chosen, *left]]
