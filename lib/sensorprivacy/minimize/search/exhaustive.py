"""Exhaustive search: two models for every non-empty subset of the features, resumable and parallel."""

import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pandas as pd
from sklearn.base import BaseEstimator

from sensorprivacy.datasets.types import Problem
from sensorprivacy.game.splits import Split
from sensorprivacy.minimize.engines import LABELS, Engine
from sensorprivacy.minimize.search.job import HOUR, Estimate, Job
from sensorprivacy.minimize.search.order import SLACK, Pruning, descend
from sensorprivacy.minimize.select import THRESHOLDS, check_threshold, select, select_table


class SearchTooLongError(RuntimeError):
    """The search would take more than an hour, and nobody said that it may."""


@dataclass(frozen=True, eq=False)
class Search:
    """A finished search.

    Attributes
    ----------
    table : pandas.DataFrame
        One row a subset, by size and then by column order: ``features`` (tuple of names), ``n_features``,
        ``accuracy``, ``identifiability`` (NaN where a lazy adversary was not trained).
    problem, engine, model, split, split_digest, part : str
        What was searched, with what, and on which rows it was judged.
    seed : int or None
        Seed of every model.
    lazy : float or None
        Largest threshold that the table serves; None serves all.
    trained, found : int
        Models trained now, and models found in the store.
    seconds : float
        Wall time of this call.
    pruning : Pruning or None
        What was skipped, and how often its assumption failed where that can be seen; the table then has a column
        ``skipped``.
    """

    table: pd.DataFrame
    problem: str
    engine: str
    model: str
    split: str
    split_digest: str
    part: str
    seed: int | None
    lazy: float | None
    trained: int
    found: int
    seconds: float
    pruning: Pruning | None = None

    def select(self, threshold: float, **options: Any) -> pd.Series:
        """Return the chosen subset, see `sensorprivacy.minimize.select.select`."""
        return select(self.table, threshold, **options)

    def select_table(self, thresholds: Sequence[float] | None = None, **options: Any) -> pd.DataFrame:
        """Return the choice at each threshold, by default the paper's six as far as this search serves them."""
        if thresholds is None:
            thresholds = [level for level in THRESHOLDS if self.lazy is None or level <= self.lazy]
        return select_table(self.table, thresholds, **options)


def search(
    problem: Problem,
    features: Sequence[Any] | None = None,
    *,
    model: BaseEstimator | None = None,
    split: Split | None = None,
    part: str | None = None,
    seed: int | None = 42,
    engine: str | Engine = "sklearn",
    store: str | Path | None = None,
    lazy: float | None = None,
    prune: bool = False,
    slack: float = SLACK,
    allow_long: bool = False,
    n_jobs: int | None = None,
    batch_size: int | None = None,
    progress: bool = True,
) -> Search:
    """Train a task model and an adversary on every non-empty subset of the features.

    The result does not depend on workers, backend, batches, or on how often the search was killed and resumed.

    Parameters
    ----------
    problem : Problem
        Features, task labels and users.
    features : sequence of column names, optional
        The k features to search, at most 20; preselect when there are more (`sensorprivacy.minimize.greedy`).
        Default: all.
    model : scikit-learn classifier, optional
        Model class of both players. Default: ``RandomForestClassifier()``, 100 trees.
    split : Split, optional
        Default: random 70/30 under `seed`.
    part : {"test", "validation"}, optional
        Rows that subsets are judged on. Default: the validation rows where the split has them, so that test rows
        stay unseen until the choice is made; else the test rows, as the paper does.
    seed : int or None, default 42
        Seed of every model: each subset gets the same one, as in the authors' code.
    engine : {"sklearn", "shared"} or Engine
        What trains, see `sensorprivacy.minimize.engines`.
    store : path-like, optional
        SQLite file that keeps every score: a killed search resumes from it, a finished one is free.
    lazy : float, optional
        Largest threshold that will be asked for. The adversary is trained only on subsets whose task model passes
        it (the estimate counts all of them); choices at thresholds up to it are exactly those of the full search.
    prune : bool, default False
        Skip the subsets of any S with Acc(S) < (1 - lazy) best - slack. Not lossless: it assumes that dropping features
        raises the accuracy by at most `slack`, see `sensorprivacy.minimize.search.order.Pruning`.
    slack : float, default .02
        A fraction, two points.
    allow_long : bool, default False
        Whether the search may start when it is expected to take more than an hour.
    n_jobs : int, optional
        joblib workers. Default: those of an enclosing ``joblib.parallel_config`` (a dask cluster, say), else one.
    batch_size : int, optional
        Subsets a worker takes at once, and the most that a kill loses. Default: about five seconds' worth.
    progress : bool, default True
        Show a progress bar with the remaining time, the best accuracy and the choice so far.

    Returns
    -------
    Search

    Raises
    ------
    TooManyFeaturesError
        If there are more than 20 features.
    SearchTooLongError
        If more than an hour is expected and `allow_long` is not set.
    StoreError
        If the store was made from other data, or is no store.
    KeyError
        If a feature does not exist.
    ValueError
        If the threshold is out of range, or there is nothing to tell apart.

    References
    ----------
    Paper 1, section 4.1.
    """
    job = Job(problem, features, model, split, part, seed, engine, store, n_jobs, batch_size, progress)
    if lazy is not None:
        check_threshold(lazy)
    if prune and (lazy is None or not 0 <= slack <= 1):
        raise ValueError(f"prune needs lazy, the largest threshold, and a slack from 0 to 1; got {lazy=}, {slack=}")
    started = time.monotonic()
    try:
        found = sum(len(job.scores[label]) for label in LABELS)
        expected = job.estimate()
        if expected.seconds > HOUR and not allow_long:
            raise SearchTooLongError(
                f"searching {len(job.pool)} features of {problem.name} means {expected}: pass allow_long=True to start "
                "it, fewer features, or lazy= the largest threshold you will ask for"
            )
        pruning = descend(job, lazy, slack if prune else None)
        skipped = None if pruning is None else pruning.skipped
        return Search(
            table=job.table(job.worth_attacking(lazy, skipped or ()), skipped),
            problem=problem.name,
            engine=job.key.engine,
            model=job.key.model,
            split=job.split.how,
            split_digest=job.split.digest,
            part=job.part,
            seed=seed,
            lazy=lazy,
            trained=sum(len(job.scores[label]) for label in LABELS) - found,
            found=found,
            seconds=time.monotonic() - started,
            pruning=pruning,
        )
    finally:
        job.close()


def estimate(problem: Problem, features: Sequence[Any] | None = None, **options: Any) -> Estimate:
    """Return what `search` will cost, without starting it.

    A few models are trained to measure it; with a store they are kept.

    Parameters
    ----------
    problem, features
        See `search`.
    **options
        ``model``, ``split``, ``part``, ``seed``, ``engine``, ``store``, ``n_jobs``, ``batch_size`` of `search`.

    Returns
    -------
    Estimate
    """
    defaults: dict[str, Any] = dict.fromkeys(("model", "split", "part", "store", "n_jobs", "batch_size"))
    settings = defaults | {"seed": 42, "engine": "sklearn", "progress": False} | options
    job = Job(problem, features, **settings)
    try:
        return job.estimate(always=True)
    finally:
        job.close()
