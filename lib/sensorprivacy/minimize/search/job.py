"""One search under way: what is trained already, what is missing, what it will cost, and who trains it."""

import math
import time
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from joblib import Parallel, delayed, effective_n_jobs
from sklearn.base import BaseEstimator

from sensorprivacy.datasets.types import Problem
from sensorprivacy.game.splits import Split, random_split
from sensorprivacy.minimize.engines import LABELS, Engine, Subset, hold, make_engine
from sensorprivacy.minimize.search.pool import pool_of, subsets_of
from sensorprivacy.minimize.search.store import RunKey, Store
from sensorprivacy.minimize.select import least_accuracy
from sensorprivacy.progress import tqdm

HOUR = 3600.0
_BATCH_SECONDS = 5.0
_MAX_BATCH = 64
_WORTH_ESTIMATING = 24


@dataclass(frozen=True)
class Estimate:
    """What a search will cost.

    Attributes
    ----------
    fits : int
        Models still to train: those that the store holds are free.
    seconds : float
        Expected wall time, from a few models trained at small, middle and full subset size.
    workers : int
        Processes, threads or cluster workers that share it.
    """

    fits: int
    seconds: float
    workers: int

    def __str__(self) -> str:
        return f"{self.fits} models, about {duration(self.seconds)} on {self.workers} worker(s)"


class Job:
    """One search under way: the pool of features, the scores so far, and where they are kept."""

    def __init__(
        self,
        problem: Problem,
        features: Sequence[Any] | None,
        model: BaseEstimator | None,
        split: Split | None,
        part: str | None,
        seed: int | None,
        engine: str | Engine,
        store: str | Path | None,
        n_jobs: int | None,
        batch_size: int | None,
        progress: bool,
    ) -> None:
        self.problem, self.n_jobs, self.batch_size, self.progress = problem, n_jobs, batch_size, progress
        self.pool = pool_of(problem, features)
        if batch_size is not None and batch_size < 1:
            raise ValueError(f"batch_size={batch_size}: a batch holds at least one subset")
        self.split = split or random_split(problem.n_records, seed=seed)
        self.part = part or ("test" if self.split.validation is None else "validation")
        self.engine = make_engine(engine, hold(problem, self.split, self.part), model, seed)
        self.key = RunKey(problem.digest, self.engine.name, self.engine.model, self.split.digest, self.part, repr(seed))
        self.subsets = subsets_of(self.pool)
        wanted = set(self.subsets)
        self.store = Store(store, problem.digest, problem.name)
        # the store may hold more: other pools of the same problem
        self.scores = {
            label: {subset: score for subset, score in self.store.read(self.key, label).items() if subset in wanted}
            for label in LABELS
        }
        self.fit_seconds: dict[str, float] = {}

    def estimate(self, always: bool = False) -> Estimate:
        """Train a few models of three sizes and extrapolate; small jobs are not worth it."""
        missing = {label: self._missing(label, self.subsets) for label in LABELS}
        workers = self._workers()
        if sum(map(len, missing.values())) <= _WORTH_ESTIMATING and not always:
            return Estimate(sum(map(len, missing.values())), 0.0, workers)
        seconds = 0.0
        sizes = sorted({1, (len(self.pool) + 1) // 2, len(self.pool)})
        for label, todo in missing.items():
            times = {}
            for size in sizes:
                # an engine with threads of its own is only at its speed when it has several subsets at hand
                sample = [subset for subset in todo if len(subset) == size][: 8 if self.engine.threads else 1]
                if sample:
                    begun = time.monotonic()
                    self._keep(label, sample, self.engine.score(sample, label))
                    times[size] = (time.monotonic() - begun) / len(sample)
            todo = self._missing(label, self.subsets)
            if times and todo:
                costs = np.interp([len(subset) for subset in todo], list(times), list(times.values()))
                self.fit_seconds[label] = float(costs.mean())
                seconds += float(costs.sum()) / workers
        left = sum(len(self._missing(label, self.subsets)) for label in LABELS)
        return Estimate(left, seconds, workers)

    def train(self, label: str, subsets: Sequence[Subset], bar: tqdm) -> None:
        """Score the subsets that have none yet, in this order, keeping every batch as it arrives."""
        todo = self._missing(label, subsets)
        batches = list(_in_batches(todo, self._batch(label, len(todo))))
        bar.update(len(subsets) - len(todo))
        for batch, scores in self._run(label, batches):
            self._keep(label, batch, scores)
            bar.update(len(batch))

    def worth_attacking(self, lazy: float | None, skipped: Collection[Subset] = ()) -> list[Subset]:
        """Subsets whose task model passes the largest threshold that will be asked for."""
        left_out = frozenset(skipped)
        fitted = [subset for subset in self.subsets if subset not in left_out]
        if lazy is None:
            return fitted
        least = least_accuracy(max(self.scores["task"][subset] for subset in fitted), lazy)
        return [subset for subset in fitted if self.scores["task"][subset] >= least]

    def table(self, attacked: Collection[Subset], skipped: Collection[Subset] | None = None) -> pd.DataFrame:
        """Return the scores; what was left out is NaN even where the store happens to know it.

        Where subsets were pruned, a column ``skipped`` says which.
        """
        names = list(self.problem.features.columns)
        users = {subset: self.scores["users"][subset] for subset in attacked}
        left_out = frozenset(skipped or ())
        tasks = {subset: self.scores["task"][subset] for subset in self.subsets if subset not in left_out}
        table = pd.DataFrame(
            {
                "features": [tuple(names[position] for position in subset) for subset in self.subsets],
                "n_features": [len(subset) for subset in self.subsets],
                "accuracy": [tasks.get(subset, math.nan) for subset in self.subsets],
                "identifiability": [users.get(subset, math.nan) for subset in self.subsets],
            }
        )
        return table if skipped is None else table.assign(skipped=[subset in left_out for subset in self.subsets])

    def close(self) -> None:
        """Close the store."""
        self.store.close()

    def _run(self, label: str, batches: list[list[Subset]]) -> Iterator[tuple[list[Subset], list[float]]]:
        if self.engine.threads and self._workers() == 1:
            for batch in batches:
                yield batch, self.engine.score(batch, label)
            return
        # in the order given, as they finish: what is done is kept even if a slow batch before it is not
        work = Parallel(n_jobs=self.n_jobs, return_as="generator_unordered")
        yield from work(delayed(_score)(self.engine, batch, label) for batch in batches)

    def _keep(self, label: str, batch: list[Subset], scores: Sequence[float]) -> None:
        scored = dict(zip(batch, map(float, scores), strict=True))
        self.store.write(self.key, label, scored)
        self.scores[label] |= scored

    def _missing(self, label: str, subsets: Sequence[Subset]) -> list[Subset]:
        return [subset for subset in subsets if subset not in self.scores[label]]

    def _workers(self) -> int:
        return int(effective_n_jobs(self.n_jobs))

    def _batch(self, label: str, todo: int) -> int:
        if self.batch_size is not None:
            return self.batch_size
        each = self.fit_seconds.get(label, 0.1)
        # workers share the batches of a label; an engine with threads of its own shares out each batch itself
        shares = 1 if self.engine.threads and self._workers() == 1 else 4 * self._workers()
        largest = max(1, math.ceil(todo / shares))
        return int(np.clip(_BATCH_SECONDS / max(each, 1e-6), 1, min(_MAX_BATCH, largest)))


def duration(seconds: float) -> str:
    """Return a time span in the unit that a reader would use.

    Examples
    --------
    >>> duration(5), duration(600), duration(7200)
    ('5 s', '10 min', '2.0 h')
    """
    if seconds < 90:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 5400 else f"{seconds / HOUR:.1f} h"


def _score(engine: Engine, batch: list[Subset], label: str) -> tuple[list[Subset], list[float]]:
    return batch, engine.score(batch, label)


def _in_batches(subsets: Sequence[Subset], size: int) -> Iterator[list[Subset]]:
    for first in range(0, len(subsets), size):
        yield list(subsets[first : first + size])
