"""Racing: drop the subsets that cannot be chosen, before their first tree or after a few, and finish the others.

The held-out rows are fixed, and so are the random numbers of every tree. So the score of a finished forest is a known
number, and the only unknown of an unfinished forest is what its remaining trees change. A race predicts it from
finished forests, with bounds (`sensorprivacy.minimize.search.bounds`). The comparisons are paired: all forests are
judged on the same held-out rows, so a difference between two subsets has no sampling error of the rows.

A race finishes a random sample of every size first. It predicts all other scores from these, and drops every subset
whose bounds show for every threshold that it cannot be chosen. Then it works in rounds. It finishes the leaders, which
would be chosen if all predictions were right. It grows the subsets that can still be chosen to the next number of
trees, until they are dropped or finished. A leader is allowed if its accuracy is near enough to the best one. If this
is in doubt, only the subsets that may have so high an accuracy grow on.

A forest that grows on starts again from its first tree: to keep the votes of thousands of forests would need gigabytes,
and the first trees are cheap.

Every round is complete before the next begins. So the result does not depend on batches, workers or interruptions.
"""

import operator
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd
from threadpoolctl import threadpool_limits

from sensorprivacy.minimize.engine_protocol import LABELS, MEASURES, Engine
from sensorprivacy.minimize.search.bounds import Scores, sample_of_sizes
from sensorprivacy.minimize.search.job import SearchJob
from sensorprivacy.minimize.select import THRESHOLDS, Rule, check_threshold
from sensorprivacy.progress import tqdm

TREES = (4, 12, 36)
"""Numbers of trees after which subsets are dropped."""

LONG = 7e9
"""Trees times training rows, over all forests of a search, from which `race=None` races: about ten minutes."""

FEATURES = 11
"""Fewest features with which `race=None` races. With fewer, the forests to learn from are a large part of all."""

_LEADERS = 3  # subsets that are finished early at each threshold, and most accurate ones


@dataclass(frozen=True)
class Race:
    """What a race did.

    Attributes
    ----------
    trees : tuple of int
        Numbers of trees after which subsets were dropped.
    thresholds : tuple of float
        Thresholds of the choices that it serves.
    forest : int
        Trees of a finished forest.
    finished, dropped : int
        Subsets with both scores, and subsets without.
    grown : dict of str to tuple of int
        For each label, how many forests were grown to each of these numbers of trees, and how many were finished. A
        forest that grows on starts again from its first tree.
    """

    trees: tuple[int, ...]
    thresholds: tuple[float, ...]
    forest: int
    finished: int
    dropped: int
    grown: dict[str, tuple[int, ...]]

    def share(self, label: str) -> float:
        """Return the trees grown for a label, as a share of those of the exhaustive search."""
        trees = sum(map(operator.mul, self.grown[label], (*self.trees, self.forest)))
        return trees / (self.forest * (self.finished + self.dropped))


def can_race(engine: Engine) -> bool:
    """Return whether an engine can grow the first trees of a forest, and its forests are large enough."""
    return getattr(engine, "n_trees", 0) >= 2 * TREES[0] and hasattr(engine, "glimpse")


def work(n_features: int, engine: Engine, n_train: int) -> float:
    """Return the trees times training rows of an exhaustive search. They do not depend on the machine."""
    return float(len(LABELS) * (2**n_features - 1) * getattr(engine, "n_trees", 0) * n_train)


def races(job: SearchJob, race: bool | None) -> bool:
    """Return whether a search races, and reject a race that is impossible."""
    possible = can_race(job.engine)
    if race is None:
        long = work(len(job.positions), job.engine, len(job.split.train)) >= LONG
        return possible and long and len(job.positions) >= FEATURES
    if race and not possible:
        needed = f"engine='shared' and at least {2 * TREES[0]} trees"
        raise ValueError(f"race=True needs {needed}, got {job.engine.name!r} with {job.engine.model}: pass race=False")
    return race


def levels_of(
    lazy: float | None, threshold: float | None = None, thresholds: Sequence[float] | None = None
) -> list[float]:
    """Return the thresholds of the choices that a race must not change."""
    if thresholds is None:
        levels = {level for level in (*THRESHOLDS, threshold, lazy) if level is not None}
        return sorted(level for level in levels if lazy is None or level <= lazy)
    levels = {*thresholds} if threshold is None else {*thresholds, threshold}
    if not levels or any(lazy is not None and level > lazy for level in levels):
        raise ValueError(f"thresholds={thresholds}: name at least one threshold, none of them above {lazy=}")
    for level in levels:
        check_threshold(level)
    return sorted(levels)


def expected_share(n_features: int, forest: int) -> float:
    """Return the share of an exhaustive search's trees that a race is expected to grow.

    Races of 12 to 20 features took two to five times as long as the forests of their sample.
    """
    stages = (*_stages(forest), forest)
    return min(1.0, 3.5 * len(sample_of_sizes(n_features)) * sum(stages) / (forest * 2**n_features))


def _stages(forest: int) -> tuple[int, ...]:
    """Return the numbers of trees after which forests of a size are looked at."""
    return tuple(count for count in TREES if 2 * count <= forest)


class Runner:
    """One race over the subsets of a search.

    Parameters
    ----------
    job : SearchJob
        The search. Its engine must be able to race, see `can_race`.
    thresholds : sequence of float
        Thresholds of the choices that must not change.
    rule : Rule
        How subsets are chosen.
    """

    def __init__(self, job: SearchJob, thresholds: Sequence[float], rule: Rule) -> None:
        self.job, self.thresholds, self.rule = job, thresholds, rule
        self.forest: int = job.engine.n_trees  # type: ignore[attr-defined]
        trees = _stages(self.forest)
        k, rows = len(job.positions), len(job.split.part(job.key.part))
        self.scores = {label: Scores(k, rows, trees) for label in LABELS}
        self.trees = trees
        bits = {position: 1 << at for at, position in enumerate(job.positions)}
        self.at = np.array([sum(bits[position] for position in subset) for subset in job.subsets])
        self.subset_at = np.empty(2**k, dtype=np.int64)
        self.subset_at[self.at] = np.arange(len(self.at))
        self.raced = np.isin(np.arange(2**k), self.at)
        self.sample = sample_of_sizes(k)
        self._known: dict[str, tuple[np.ndarray, np.ndarray, np.ndarray]] = {}  # bounds since a forest last grew
        self.grown = {label: [0] * (len(trees) + 1) for label in LABELS}

    def run(self) -> tuple[pd.DataFrame, Race]:
        """Race, and return the table of all subsets and what was done."""
        self.bar = tqdm(total=0, desc="race", unit="forest", disable=not self.job.progress, dynamic_ncols=True)
        # sums of floats depend on their order, and so on the number of threads
        with self.bar, threadpool_limits(1, "blas"):
            for label in LABELS:
                for stage in range(len(self.trees) + 1):
                    self._grow(label, self.sample, stage)
                self.scores[label].learn(self.sample)
            while self._next_round():
                pass
        return self._table(), self._summary()

    def _grow_on(self, label: str, at: np.ndarray) -> bool:
        """Grow the forests of these subsets to their next numbers of trees. Return whether there were any."""
        stage = self.scores[label].stage[at]
        for level in range(len(self.trees) + 1):
            self._grow(label, at[stage == level], level)
        return len(at) > 0

    def _bounds(self, label: str) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return the bounds of `Scores.bounds`; those of the empty subset, which is never allowed, are negative."""
        if label not in self._known:
            self._known[label] = self.scores[label].bounds()
            for part in self._known[label]:
                part[~self.raced] = -1.0
        return self._known[label]

    def _next_round(self) -> bool:
        """Finish the leaders, drop what cannot be chosen, and grow the rest. Return whether anything was left."""
        for label in LABELS:
            self._grow(label, self._leaders(), len(self.trees))
        grown = [self._grow_on(label, subsets) for label, subsets in self._undecided().items()]
        return any(grown)

    def _leaders(self) -> np.ndarray:
        """Return the subsets that would be chosen if all predictions were right, the next best, and the most accurate.

        Their scores decide how many others can be chosen.
        """
        accuracy, identifiability = (self._bounds(label)[1] for label in LABELS)
        best = float(accuracy.max())
        # a choice from the table counts its loss from the best accuracy of a subset with both scores
        leaders = {
            int(np.nanargmax(self.scores["task"].exact)),
            *np.argsort(-accuracy, kind="stable")[:_LEADERS].tolist(),
        }
        for threshold in self.thresholds:
            allowed = np.flatnonzero(self.raced & (accuracy >= self.rule.least(best, threshold)))
            order = np.lexsort((allowed, identifiability[allowed]))
            leaders.update(allowed[order[:_LEADERS]].tolist())
        return np.array(sorted(leaders), dtype=np.int64)

    def _undecided(self) -> dict[str, np.ndarray]:
        """Return for each label the subsets whose forests need more trees before the choices are certain."""
        (a_low, a_mid, a_high), (i_low, _, i_high) = (self._bounds(label) for label in LABELS)
        a_done, i_done = (self.scores[label].finished for label in LABELS)
        task, users = np.zeros(len(a_low), dtype=bool), np.zeros(len(a_low), dtype=bool)
        behind = self.scores["users"].stage <= self.scores["task"].stage
        for threshold in self.thresholds:
            least, surely = (self.rule.least(float(part.max()), threshold) for part in (a_low, a_high))
            sure, likely = a_low >= surely, a_mid >= least
            cut = self.rule.near(float(i_high[sure].min(initial=1.0)))
            near = self.raced & (a_high >= least) & (i_low <= cut)
            done = near & a_done & i_done
            doubtful = np.flatnonzero(done & ~sure)
            if self.rule.reference is None and len(doubtful):
                # if it is allowed, fewer others can be chosen; so they wait
                task |= self._rivals(doubtful[np.argmin(i_low[doubtful])], threshold, a_low, a_high)
                continue
            attack = ~i_done & (a_done | sure | (likely & behind))
            users |= near & ~done & attack
            task |= near & ~done & ~attack
        return {"task": np.flatnonzero(task), "users": np.flatnonzero(users)}

    def _rivals(self, subset: int, threshold: float, low: np.ndarray, high: np.ndarray) -> np.ndarray:
        """Mark the subsets whose accuracy may be so high that a finished subset is not allowed."""
        rivals = (high >= low.max()) & ~self.scores["task"].finished
        for rival in np.flatnonzero(rivals):
            rivals[rival] = self.rule.least(float(high[rival]), threshold) > low[subset]
        return rivals

    def _grow(self, label: str, at: np.ndarray, stage: int) -> None:
        """Grow the forests of these subsets to the number of trees of a stage; the last stage finishes them."""
        scores, last = self.scores[label], stage == len(self.trees)
        have = scores.finished if last else ~np.isnan(scores.glimpses[stage, :, 0])
        at = at[~have[at]]
        if not len(at):
            return
        self._known.pop(label, None)
        subsets = [self.job.subsets[i] for i in self.subset_at[at]]
        self.bar.total = (self.bar.total or 0) + len(subsets)
        if last:
            self.job.train(label, subsets, self.bar)
            scores.exact[at] = [self.job.scores[label][subset] for subset in subsets]
        else:
            shown = self.job.look(label, subsets, self.trees[stage], self.bar)
            scores.glimpses[stage, at] = [shown[subset] for subset in subsets]
        self.grown[label][stage] += len(subsets)

    def _table(self) -> pd.DataFrame:
        """Return the results of all subsets: no scores of the dropped ones."""
        done = np.logical_and.reduce([self.scores[label].finished for label in LABELS])[self.at]
        table = self.job.frame()
        for column, label in MEASURES.items():
            table[column] = np.where(done, self.scores[label].exact[self.at], np.nan)
        return table.assign(dropped=~done)

    def _summary(self) -> Race:
        done = np.logical_and.reduce([self.scores[label].finished for label in LABELS])
        grown = {label: tuple(counts) for label, counts in self.grown.items()}
        finished = int(done.sum())
        return Race(self.trees, tuple(self.thresholds), self.forest, finished, len(self.at) - finished, grown)
