"""How long each step of a bundle takes, one window or many at a time, and how much memory."""

import math
import resource
import sys
from collections.abc import Callable
from pathlib import Path
from time import perf_counter, process_time
from typing import Any

import numpy as np

from sensorprivacy.edge.bundle import Bundle, Step
from sensorprivacy.edge.pipeline import Bound, Pipeline, inputs_for

BATCHES = (1, 256)
LEAST, MOST = 5, 2000  # repeats
ROUNDS = 3


def repeated(call: Callable[[], object], *, seconds: float = 1.0, most: int = MOST, warm: int = 3) -> np.ndarray:
    """Return the seconds of each of many calls, after a few that are not counted.

    Parameters
    ----------
    call : callable
        What is timed.
    seconds : float
        Time to spend: as many repeats as fit, but at least 5 and at most `most`.
    most : int
        Repeats, at most.
    warm : int
        Calls before the first that counts.
    """
    for _ in range(warm):
        call()
    started = perf_counter()
    call()
    once = max(perf_counter() - started, 1e-7)
    repeats = int(min(most, max(LEAST, math.ceil(seconds / once))))
    found = np.empty(repeats)
    for at in range(repeats):
        started = perf_counter()
        call()
        found[at] = perf_counter() - started
    return found


def summary(seconds: np.ndarray) -> dict[str, float]:
    """Return median, 95th and 99th percentile, mean, least and number of repeats."""
    median, p95, p99 = (float(value) for value in np.percentile(seconds, [50, 95, 99]))
    return {
        "median": median,
        "p95": p95,
        "p99": p99,
        "mean": float(seconds.mean()),
        "least": float(seconds.min()),
        "repeats": len(seconds),
    }


def time_load(bundle: Bundle, step: Step, *, threads: int = 1, repeats: int = 5) -> dict[str, float]:
    """Return how long it takes to open a step's file, which the system has read before."""
    return summary(repeated(lambda: bundle.open(step, threads), seconds=0, most=repeats, warm=1))


def time_steps(
    bundle: Bundle,
    batches: tuple[int, ...],
    *,
    threads: int = 1,
    seconds: float = 1.0,
    tell: Callable[[str], object] = lambda _: None,
) -> list[dict[str, Any]]:
    """Return seconds of one call of every step on every batch; divide by `batch` for seconds a window.

    All steps take turns several times, so that a busy moment of the machine does not fall on one of them alone.
    ``cpu`` is the processor time of a call, all threads together, the least of the turns: what others do is not in it.
    """
    found: dict[tuple[int, int], list[np.ndarray]] = {}
    work: dict[tuple[int, int], float] = {}
    sessions = [bundle.open(step, threads) for step in bundle.steps]
    for turn in range(ROUNDS):
        for at, (step, session) in enumerate(zip(bundle.steps, sessions, strict=True)):
            tell(f"{bundle.folder.name}: {step.title}, turn {turn + 1} of {ROUNDS}")
            for batch in batches:
                bound = Bound(session, inputs_for(bundle, session, batch))
                bound.run()  # the first one allocates
                used = process_time()
                runs = repeated(bound.run, seconds=seconds / ROUNDS, warm=0)
                used = (process_time() - used) / (len(runs) + 1)  # one call finds how many repeats fit
                found.setdefault((at, batch), []).append(runs)
                work[at, batch] = min(used, work.get((at, batch), used))
    return [
        {"step": step.name, "code": step.code, "batch": batch, "cpu": work[at, batch]}
        | summary(np.concatenate(found[at, batch]))
        for at, step in enumerate(bundle.steps)
        for batch in batches
    ]


def time_window(bundle: Bundle, *, threads: int = 1, seconds: float = 1.0) -> dict[str, float]:
    """Return seconds from a window to its anonymized one, one at a time, all steps, scaling and choices included."""
    pipeline = Pipeline(bundle, threads=threads)
    windows, out = bundle.samples(64), np.zeros(bundle.shape, dtype=np.float32)
    turn = iter(range(sys.maxsize))
    return summary(
        repeated(lambda: pipeline.anonymize_one(windows[next(turn) % 64], out), seconds=seconds, most=5000, warm=20)
    )


def time_bundle(
    bundle: Bundle,
    *,
    batches: tuple[int, ...] = BATCHES,
    threads: int = 1,
    seconds: float = 1.0,
    tell: Callable[[str], object] = lambda _: None,
) -> dict[str, Any]:
    """Return all timings of a bundle, and memory before and after.

    Parameters
    ----------
    bundle : Bundle
        What is timed.
    batches : tuple of int
        Windows of a call.
    threads : int
        Threads of onnxruntime.
    seconds : float
        Spent on each step and batch size.
    tell : callable
        Called with what is done next.

    Returns
    -------
    dict
        JSON values: what the bundle is, ``load`` and ``steps`` (seconds of a call), ``window``, ``memory`` (bytes).
    """
    memory = {"before": memory_high_water()}
    loads = [{"step": s.name, "code": s.code, **time_load(bundle, s, threads=threads)} for s in bundle.steps]
    rows = time_steps(bundle, batches, threads=threads, seconds=seconds, tell=tell)
    tell(f"{bundle.folder.name}: whole windows")
    window = time_window(bundle, threads=threads, seconds=seconds) if bundle.anonymizes else None
    memory["after"] = memory_high_water()
    return {
        "name": bundle.folder.name,
        "dataset": bundle.name,
        "attribute": bundle.attribute,
        "precision": bundle.precision,
        "trained": bundle.trained,
        "samples": "of the data set" if (bundle.folder / "windows.npy").is_file() else "random",
        "budget": bundle.budget,
        "public": list(bundle.public),
        "networks": [
            {"step": step.name, "code": step.code, "kind": step.kind, "bytes": step.bytes}
            | {"weights": step.weights, "macs": step.macs}
            for step in bundle.steps
        ],
        "load": loads,
        "steps": rows,
        "window": window,
        "memory": memory,
    }


def memory_high_water() -> int:
    """Return the most bytes of memory that this process has held so far."""
    status = Path("/proc/self/status")
    if status.is_file():
        for line in status.read_text().splitlines():
            if line.startswith("VmHWM:"):
                return int(line.split()[1]) * 1024
    unit = 1 if sys.platform == "darwin" else 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit
