"""One search in progress: its features and subsets, its trained and its missing models, and the time left."""

import math
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from joblib import effective_n_jobs
from sklearn.base import BaseEstimator

from sensorprivacy.data import Problem
from sensorprivacy.game.splits import Split, default_split
from sensorprivacy.minimize.engine_protocol import LABELS, Engine, Glimpse, Subset, engine_data
from sensorprivacy.minimize.engines import make_engine
from sensorprivacy.minimize.search.results import ResultKey, ResultStore
from sensorprivacy.minimize.search.workers import run_batches
from sensorprivacy.minimize.select import least_accuracy
from sensorprivacy.progress import tqdm

MAX_FEATURES = 20
"""Largest number of features of a search. Twenty features already need two million forests."""


class TooManyFeaturesError(ValueError):
    """Raised when there are too many features to train on every subset."""


def feature_positions(problem: Problem, features: Sequence[Any] | None) -> list[int]:
    """Return the positions of the features to search.

    Parameters
    ----------
    problem : Problem
        The table.
    features : sequence of column names, optional
        Default: all.

    Returns
    -------
    list of int
        Ascending.

    Raises
    ------
    TooManyFeaturesError
        If there are more than 20.
    KeyError
        If a feature does not exist.
    ValueError
        If a name is repeated, or the sequence is empty.
    """
    columns = list(problem.features.columns)
    names = columns if features is None else list(features)
    if unknown := [name for name in names if name not in columns]:
        raise KeyError(f"unknown features {', '.join(map(repr, unknown))}: {problem.name} has {columns}")
    if not names or len(set(names)) != len(names):
        raise ValueError(f"features={names}: name at least one feature to search, each feature once")
    if len(names) > MAX_FEATURES:
        many = f"{len(names)} features have {2 ** len(names) - 1:,} subsets"
        raise TooManyFeaturesError(f"{many}: search at most {MAX_FEATURES}, preselected with minimize.take_features")
    return sorted(columns.index(name) for name in names)


def all_subsets(positions: Sequence[int]) -> list[Subset]:
    """Return every non-empty subset of the positions, the smallest first.

    Examples
    --------
    >>> all_subsets([0, 2, 5])
    [(0,), (2,), (5,), (0, 2), (0, 5), (2, 5), (0, 2, 5)]
    """
    return [subset for size in range(1, len(positions) + 1) for subset in combinations(sorted(positions), size)]


HOUR = 3600.0
_BATCH_SECONDS = 5.0
_LEAST_SECONDS = 0.5  # of a batch, unless a worker would have none
_MAX_BATCH = 64
_WORTH_ESTIMATING = 24  # models


@dataclass(frozen=True)
class Estimate:
    """How long a search will take.

    Attributes
    ----------
    fits : int
        Models still to train, without those in the result store.
    seconds : float
        Expected time of idle workers, extrapolated from the processor time of a few models on small, middle and full
        subsets. Other programs on this machine do not change it.
    workers : int
        Processes, threads or cluster workers that share the work.
    """

    fits: int
    seconds: float
    workers: int

    def __str__(self) -> str:
        return f"{self.fits} models, about {duration(self.seconds)} on {self.workers} idle worker(s)"


class SearchJob:
    """One search: its features, its results so far, and the engine that trains the missing models.

    Parameters
    ----------
    problem : Problem
        Features, task labels and users.
    features : sequence of column names, optional
        Features to search, at most 20. Default: all.
    model : scikit-learn classifier, optional
        Model class of the task model and the adversary. Default: ``RandomForestClassifier()``, 100 trees.
    split : Split, optional
        Default: 70/30 with seed `seed`, by whole groups if the problem has groups.
    part : {"test", "validation"}, optional
        Rows that subsets are evaluated on. Default: the validation rows if the split has them, so that the test rows
        stay unseen until the choice is made. Otherwise the test rows, as in the paper.
    seed : int or None, default 42
        Seed of every model. Each subset uses the same seed, as in the authors' code.
    engine : {"sklearn", "shared"} or Engine
        What trains the models, see `sensorprivacy.minimize.engines`.
    result_store : path-like, optional
        SQLite file with all results. An interrupted search continues from this file.
    n_jobs : int, optional
        Joblib workers. Default: those of an enclosing ``joblib.parallel_config`` (such as a dask cluster), else one.
    batch_size : int, optional
        Subsets that a worker trains at once, and the most that an interruption loses. Default: about five seconds of a
        processor. A short search has shorter batches, so that all workers have some.
    progress : bool, default True
        Show a progress bar with the remaining time, the best accuracy and the choice so far.
    """

    def __init__(
        self,
        problem: Problem,
        features: Sequence[Any] | None = None,
        *,
        model: BaseEstimator | None = None,
        split: Split | None = None,
        part: str | None = None,
        seed: int | None = 42,
        engine: str | Engine = "sklearn",
        result_store: str | Path | None = None,
        n_jobs: int | None = None,
        batch_size: int | None = None,
        progress: bool = True,
    ) -> None:
        self.problem, self.n_jobs, self.batch_size, self.progress = problem, n_jobs, batch_size, progress
        self.positions = feature_positions(problem, features)
        if batch_size is not None and batch_size < 1:
            raise ValueError(f"batch_size={batch_size}: a batch needs at least one subset")
        self.split = split or default_split(problem, seed=seed)
        part = part or ("test" if self.split.validation is None else "validation")
        self.engine = make_engine(engine, engine_data(problem, self.split, part), model, seed)
        self.key = ResultKey(problem.digest, self.engine.name, self.engine.model, self.split.digest, part, repr(seed))
        self.subsets = all_subsets(self.positions)
        self.store = ResultStore(result_store, problem.digest, problem.name)
        # the file can hold results of other features of the same problem
        wanted = set(self.subsets)
        stored = {label: self.store.read(self.key, label) for label in LABELS}
        self.scores = {label: {s: score for s, score in stored[label].items() if s in wanted} for label in LABELS}
        self.fit_seconds: dict[str, float] = {}

    @property
    def n_scores(self) -> int:
        """Number of results so far, over both labels."""
        return sum(map(len, self.scores.values()))

    def estimate(self) -> Estimate:
        """Estimate the remaining time by training a few models of three sizes; skipped for short searches."""
        workers, n_models, seconds = effective_n_jobs(self.n_jobs), len(LABELS) * len(self.subsets), 0.0
        if workers == 1:
            workers = getattr(self.engine, "n_threads", 1)
        if n_models - self.n_scores > _WORTH_ESTIMATING:
            seconds = sum(self._train_samples(label) for label in LABELS) / workers
        return Estimate(n_models - self.n_scores, seconds, workers)

    def _train_samples(self, label: str) -> float:
        """Train a few models and return the expected seconds of one processor for the others."""
        missing = self._missing(label, self.subsets)
        work = {}
        for size in sorted({1, (len(self.positions) + 1) // 2, len(self.positions)}):
            # an engine with threads reaches its full speed only with several subsets
            sample = [subset for subset in missing if len(subset) == size][: 8 if self.engine.threads else 1]
            if sample:
                begun = time.process_time()
                self._add(label, sample, self.engine.score(sample, label))
                work[size] = (time.process_time() - begun) / len(sample)
        missing = self._missing(label, self.subsets)
        if not work or not missing:
            return 0.0
        sizes = [len(subset) for subset in missing]
        # the processor's seconds, not the clock's: other programs must not decide which searches start
        expected = np.interp(sizes, list(work), list(work.values()))
        self.fit_seconds[label] = float(expected.mean())
        return float(expected.sum())

    def train(self, label: str, subsets: Sequence[Subset], bar: tqdm) -> None:
        """Train models for the subsets without a result, in this order, and store every finished batch."""
        missing = self._missing(label, subsets)
        bar.update(len(subsets) - len(missing))
        for batch, scores in self._batches(label, missing):
            self._add(label, batch, scores)
            bar.update(len(batch))

    def look(self, label: str, subsets: Sequence[Subset], n_trees: int, bar: tqdm) -> dict[Subset, Glimpse]:
        """Return what the first trees of the forests of the subsets show, and store every batch of it.

        Glimpses are never scores: the result store keeps them in a table of their own.
        """
        stored = self.store.read(self.key, label, n_trees)
        shown = {subset: stored[subset] for subset in subsets if subset in stored}
        bar.update(len(shown))
        for batch, glimpses in self._batches(label, [subset for subset in subsets if subset not in shown], n_trees):
            seen = dict(zip(batch, glimpses, strict=True))
            self.store.write(self.key, label, seen, n_trees)
            shown |= seen
            bar.update(len(batch))
        return shown

    def _batches(
        self, label: str, missing: list[Subset], n_trees: int | None = None
    ) -> Iterator[tuple[list[Subset], list[Any]]]:
        share = 1.0 if n_trees is None else n_trees / self.engine.n_trees  # type: ignore[attr-defined]
        size = self._batch_size(label, len(missing), share)
        batches = [missing[first : first + size] for first in range(0, len(missing), size)]
        return run_batches(self.engine, batches, label, n_trees, n_jobs=self.n_jobs)

    def frame(self) -> pd.DataFrame:
        """Return a table of all subsets without their results."""
        names = list(self.problem.features.columns)
        features = [tuple(names[position] for position in subset) for subset in self.subsets]
        return pd.DataFrame({"features": features, "n_features": list(map(len, self.subsets))})

    def table(self, lazy: float | None) -> pd.DataFrame:
        """Return the results of all subsets. Identifiabilities of those that do not pass threshold `lazy` are NaN."""
        task, users = (self.scores[label] for label in LABELS)
        least = 0.0 if lazy is None else least_accuracy(max(task.values()), lazy)
        shown = [users[subset] if task[subset] >= least else math.nan for subset in self.subsets]
        return self.frame().assign(accuracy=[task[subset] for subset in self.subsets], identifiability=shown)

    def close(self) -> None:
        """Close the result store."""
        self.store.close()

    def _add(self, label: str, batch: list[Subset], scores: Sequence[float]) -> None:
        scored = dict(zip(batch, map(float, scores), strict=True))
        self.store.write(self.key, label, scored)
        self.scores[label] |= scored

    def _missing(self, label: str, subsets: Sequence[Subset]) -> list[Subset]:
        return [subset for subset in subsets if subset not in self.scores[label]]

    def _batch_size(self, label: str, missing: int, share: float = 1.0) -> int:
        if self.batch_size is not None:
            return self.batch_size
        seconds, workers = max(share * self.fit_seconds.get(label, 0.1), 1e-6), effective_n_jobs(self.n_jobs)
        # workers share the batches of a label; an engine with threads divides each batch itself
        shares = 1
        if workers > 1 or not self.engine.threads:
            # every batch costs a scheduler about a hundredth of a second: short work is divided into fewer
            shares = workers * int(np.clip(missing * seconds / (workers * _LEAST_SECONDS), 1, 4))
        largest = min(_MAX_BATCH, max(1, math.ceil(missing / shares)))
        return int(np.clip(_BATCH_SECONDS / seconds, 1, largest))


def duration(seconds: float) -> str:
    """Format a time span in seconds, minutes or hours.

    Examples
    --------
    >>> duration(5), duration(600), duration(7200)
    ('5 s', '10 min', '2.0 h')
    """
    if seconds < 90:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 5400 else f"{seconds / HOUR:.1f} h"
