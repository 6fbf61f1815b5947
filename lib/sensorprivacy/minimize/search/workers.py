"""Who trains the models: the engine's threads, joblib's workers, or the workers of a dask cluster."""

import os
import warnings
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from itertools import islice
from typing import Any, TypeVar

from joblib import Parallel, delayed, effective_n_jobs
from joblib.parallel import get_active_backend

from sensorprivacy.minimize.engine_protocol import Engine, Subset
from sensorprivacy.parents import end_with

T = TypeVar("T")

_MOST_TASKS = 1000  # that a dask scheduler holds, however many batches there are


def run_batches(
    engine: Engine, batches: list[list[Subset]], label: str, n_trees: int | None = None, n_jobs: int | None = None
) -> Iterator[tuple[list[Subset], list[Any]]]:
    """Score batches of subsets, and return each as soon as it is done.

    Batches start in the given order, but one slow batch delays no other.

    Parameters
    ----------
    engine : Engine
        What trains the models.
    batches : list of lists of subsets
        A worker trains one batch at a time.
    label : {"task", "users"}
        What the models predict.
    n_trees : int, optional
        Look at this many first trees only. Default: score whole models.
    n_jobs : int, optional
        Joblib workers. Default: those of an enclosing ``joblib.parallel_config``.

    Yields
    ------
    batch : list of subsets
    scores : list
        A score or a glimpse of each subset.

    Raises
    ------
    RuntimeError
        If a batch ends one worker of a dask cluster after another.
    """
    client = getattr(get_active_backend()[0], "client", None)
    if engine.threads and effective_n_jobs(n_jobs) == 1:
        yield from (_score(batch, engine, label, n_trees) for batch in batches)
    elif client is not None:
        yield from _run_on_dask(client, engine, batches, label, n_trees)
    else:
        work = _parallel(n_jobs, "generator_unordered")
        yield from work(delayed(_score)(batch, engine, label, n_trees) for batch in batches)


def _run_on_dask(
    client: Any, engine: Engine, batches: list[list[Subset]], label: str, n_trees: int | None
) -> Iterator[tuple[list[Subset], list[Any]]]:
    """Score batches as tasks of dask.

    Joblib's own backend for dask is no help here. It copies the engine to one worker, and loses it with that worker. It
    waits forever for a batch that dask gave up, and makes each tree of a forest a task. Here the engine is the result
    of a task, so dask repeats what was lost.
    """
    from distributed import as_completed

    with _large_data():
        held = client.submit(_same, engine, pure=False)
    tasks = (client.submit(_score, batch, held, label, n_trees, pure=False) for batch in batches)
    running = as_completed(islice(tasks, _MOST_TASKS), client.loop, with_results=True)
    advice = (
        "give them more, or pass a smaller batch_size; finished subsets are in the result store, if there is one: "
        "run the search again to continue"
    )
    try:
        with _killed_workers_explained("a batch of subsets", advice):
            for _, scored in running:
                running.update(islice(tasks, 1))
                yield scored
    finally:
        client.cancel(list(running.futures))


def run_in_order(
    function: Callable[..., T], tasks: Iterable[tuple[Any, ...]], n_jobs: int | None = None
) -> Iterator[T]:
    """Call a function with each tuple of arguments on the workers, and yield the results in the same order.

    Parameters
    ----------
    function : callable
        A function that workers can import.
    tasks : iterable of tuple
        Made one by one, and only a few ahead of the workers: they may hold copies of a table.
    n_jobs : int, optional
        Joblib workers. Default: those of an enclosing ``joblib.parallel_config``.

    Raises
    ------
    RuntimeError
        If a task ends one worker of a dask cluster after another.
    """
    client = getattr(get_active_backend()[0], "client", None)
    if client is None:
        work = _parallel(n_jobs, "generator")
        yield from work(delayed(function)(*task) for task in tasks)
        return
    waiting: deque[Any] = deque()
    try:
        with _killed_workers_explained("a task", "give them more"):
            for task in tasks:
                with _large_data():
                    waiting.append(client.submit(function, *task, pure=False))
                if len(waiting) > 2 * effective_n_jobs(n_jobs):
                    yield waiting.popleft().result()
            while waiting:
                yield waiting.popleft().result()
    finally:
        client.cancel(list(waiting))


def _parallel(n_jobs: int | None, return_as: str) -> Parallel:
    return Parallel(n_jobs=n_jobs, return_as=return_as, initializer=end_with, initargs=(os.getpid(),))


@contextmanager
def _large_data() -> Iterator[None]:
    """Silence dask's advice to copy large data to a worker first: they are lost with that worker."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "Sending large graph")
        yield


@contextmanager
def _killed_workers_explained(what: str, remedy: str) -> Iterator[None]:
    from distributed import KilledWorker

    try:
        yield
    except KilledWorker as error:
        ended = f"{what} ended {error.allowed_failures + 1} workers of the cluster"
        raise RuntimeError(f"{ended}, maybe for lack of memory: {remedy}") from error


def _same(engine: Engine) -> Engine:
    return engine


def _score(batch: list[Subset], engine: Any, label: str, n_trees: int | None) -> tuple[list[Subset], list[Any]]:
    return batch, engine.score(batch, label) if n_trees is None else engine.glimpse(batch, label, n_trees)
