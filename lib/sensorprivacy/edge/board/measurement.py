"""Measure how long the steps of bundles take on this machine, for one window or many, and write the record."""

import datetime
import json
import math
import sys
import timeit
from collections.abc import Callable
from itertools import product
from pathlib import Path
from time import monotonic, perf_counter, process_time
from typing import Any

import numpy as np
import onnxruntime as ort

from sensorprivacy.edge.board.bundle import SAMPLES, Bundle, find_bundles, read_bundle
from sensorprivacy.edge.board.hardware import hardware, process_memory
from sensorprivacy.edge.board.pipeline import Bound, Pipeline
from sensorprivacy.paths import check_writable, write_atomically

FORMAT, VERSION = "sensorprivacy-edge-record", 1
BATCHES = (1, 256)
LEAST, MOST = 5, 2000  # repeats
ROUNDS = 3


def repeated(
    call: Callable[[], object], *, seconds: float = 1.0, most: int = MOST, warm: int = 3, limit: float = math.inf
) -> np.ndarray:
    """Return the seconds of each of many calls.

    Parameters
    ----------
    call : callable
        Function to time.
    seconds : float
        Time to spend: as many repeats as fit, but at least 5 and at most `most`.
    most : int
        Greatest number of repeats.
    warm : int
        Calls before the first timed one.
    limit : float
        Seconds after which even 5 repeats are too many; one is made in any case.
    """
    for _ in range(warm):
        call()
    once = max(timeit.timeit(call, number=1, timer=perf_counter), 1e-7)
    repeats = int(min(most, max(LEAST, math.ceil(seconds / once)), max(1, limit / once)))
    return np.array(timeit.repeat(call, number=1, repeat=repeats, timer=perf_counter))


def summary(seconds: np.ndarray) -> dict[str, float]:
    """Return median, 95th and 99th percentile, mean, least and number of repeats."""
    numbers = dict(zip(("median", "p95", "p99"), np.percentile(seconds, [50, 95, 99]).tolist(), strict=True))
    return numbers | {"mean": float(seconds.mean()), "least": float(seconds.min()), "repeats": len(seconds)}


def time_steps(
    bundle: Bundle,
    batches: tuple[int, ...],
    *,
    threads: int,
    seconds: float,
    rounds: int = ROUNDS,
    limit: float = math.inf,
    progress: Callable[[str], object] = lambda _: None,
) -> list[dict[str, Any]]:
    """Return the seconds of one call of every step at every batch size; divide by `batch` for seconds per window.

    All steps take turns in several rounds, so that a busy moment of the machine does not affect one step alone.
    ``cpu`` is the processor time of a call over all threads, in the fastest round. It excludes other programs.
    After `limit` seconds, no call begins but those of the smallest batch; other batches that lack a step are left out.
    """
    found: dict[tuple[int, int], list[np.ndarray]] = {}
    work: dict[tuple[int, int], float] = {}
    sessions = [bundle.open(step, threads) for step in bundle.steps]
    until = monotonic() + limit
    for turn, batch in product(range(rounds), sorted(batches)):
        for at, (step, session) in enumerate(zip(bundle.steps, sessions, strict=True)):
            if monotonic() > until and (turn or batch > min(batches)):
                continue
            progress(f"{bundle.folder.name}: {step.title}, batches of {batch}, round {turn + 1} of {rounds}")
            try:
                bound = Bound(session, _arrays(bundle, session, batch))
                bound.run()  # the first call allocates
            except (MemoryError, RuntimeError) as error:
                cause = str(error).partition("\n")[0]
                failed = f"a batch of {batch} windows does not run on this machine ({cause})"
                where = f"{bundle.folder.name}, {step.title}"
                raise ValueError(f"{where}: {failed}: name smaller ones, such as --batches 1") from error
            used = process_time()
            runs = repeated(bound.run, seconds=seconds / rounds, warm=0, limit=until - monotonic())
            used = (process_time() - used) / (len(runs) + 1)  # one more call found the number of repeats
            found.setdefault((at, batch), []).append(runs)
            work[at, batch] = min(used, work.get((at, batch), used))
    whole = [batch for batch in batches if all((at, batch) in found for at in range(len(sessions)))]
    return [
        {"step": step.name, "code": step.code, "batch": batch, "cpu": work[at, batch]}
        | summary(np.concatenate(found[at, batch]))
        for at, step in enumerate(bundle.steps)
        for batch in whole
    ]


def time_window(bundle: Bundle, *, threads: int, seconds: float) -> dict[str, float]:
    """Return the seconds to anonymize one window: all steps, scaling and random draws included."""
    pipeline = Pipeline(bundle, threads=threads)
    windows, out = bundle.samples(64), np.zeros(bundle.shape, dtype=np.float32)
    turn = iter(range(sys.maxsize))
    return summary(
        repeated(lambda: pipeline.anonymize_one(windows[next(turn) % 64], out), seconds=seconds, most=5000, warm=20)
    )


def time_bundle(
    bundle: Bundle, *, batches: tuple[int, ...] = BATCHES, threads: int = 1, seconds: float = 1.0, **how: Any
) -> dict[str, Any]:
    """Measure a bundle: loading, every step, whole windows, and memory before and after.

    Parameters
    ----------
    bundle : Bundle
        Bundle to measure.
    batches : tuple of int
        Windows per call.
    threads : int
        Threads of onnxruntime.
    seconds : float
        Time to spend on each step and batch size.
    **how
        ``rounds``, ``limit`` and ``progress`` of `time_steps`.

    Returns
    -------
    dict
        JSON values: a description of the bundle, ``load`` (seconds to open a file that the system has read before),
        ``steps`` (seconds per call), ``window`` (None without a whole pipeline) and ``memory`` (bytes).
    """
    before = process_memory(peak=True)
    loads: list[dict[str, Any]] = []
    for step in bundle.steps:
        runs = repeated(lambda step=step: bundle.open(step, threads), seconds=0, warm=1)  # type: ignore[misc]
        loads.append({"step": step.name, "code": step.code} | summary(runs))
    rows = time_steps(bundle, batches, threads=threads, seconds=seconds, **how)
    window = time_window(bundle, threads=threads, seconds=seconds) if bundle.anonymizes else None
    return {
        "name": bundle.folder.name,
        "dataset": bundle.name,
        "attribute": bundle.attribute,
        "precision": bundle.precision,
        "trained": bundle.trained,
        "samples": "of the data set" if (bundle.folder / SAMPLES).is_file() else "random",
        "budget": bundle.budget,
        "public": list(bundle.public),
        "networks": [
            {"step": step.name}
            | {field: getattr(step, field) for field in ("code", "kind", "bytes", "weights", "macs")}
            for step in bundle.steps
        ],
        "load": loads,
        "steps": rows,
        "window": window,
        "memory": {"before": before, "after": process_memory(peak=True)},
    }


def _arrays(bundle: Bundle, session: ort.InferenceSession, batch: int) -> dict[str, np.ndarray]:
    """Return arrays for every input and output of a step; windows are the bundle's samples, scaled."""
    mean, deviation = bundle.scale
    arrays = {}
    generator = np.random.default_rng(0)
    for end in (*session.get_inputs(), *session.get_outputs()):
        shape = tuple(size if isinstance(size, int) else batch for size in end.shape)
        if end.name == "x":
            array = np.ascontiguousarray((bundle.samples(batch) - mean) / deviation, dtype=np.float32)
        elif end.type == "tensor(int64)":
            array = np.zeros(shape, dtype=np.int64)
        else:
            array = generator.standard_normal(shape).astype(np.float32)
        arrays[end.name] = array
    return arrays


def measure(
    folder: Path | str,
    *,
    batches: tuple[int, ...] = BATCHES,
    threads: int = 1,
    seconds: float = 1.0,
    rounds: int = ROUNDS,
    minutes: float = math.inf,
    progress: Callable[[str], object] = lambda _: None,
) -> dict[str, Any]:
    """Describe this machine and time every step of the bundles; return both as a record.

    Parameters
    ----------
    folder : path
        A bundle, or a folder of bundles.
    batches, threads, seconds, rounds, progress
        As for `timing.time_bundle`.
    minutes : float
        Time for all bundles. When it is over, only the smallest batches that are still missing are measured.

    Raises
    ------
    FileNotFoundError, BundleError
        If there is no bundle, or one is damaged.
    ValueError
        If a setting is out of range.
    """
    if min(threads, rounds) < 1 or not seconds > 0 or not batches or min(batches) < 1:
        raise ValueError(f"{threads=}, {seconds=}, {rounds=}, {batches=}: all must be above 0")
    bundles = [read_bundle(path) for path in find_bundles(folder)]
    settings: dict[str, Any] = {"batches": batches, "threads": threads, "seconds": seconds, "rounds": rounds}
    return {
        "format": FORMAT,
        "version": VERSION,
        "made": datetime.datetime.now(datetime.UTC).date().isoformat(),
        "hardware": hardware(),
        "settings": settings | {"batches": list(batches)},
        "bundles": [
            time_bundle(each, **settings, limit=60 * minutes / len(bundles), progress=progress) for each in bundles
        ],
        "memory": process_memory(peak=True),
    }


def check_target(path: Path) -> None:
    """Raise an error if a record cannot be written to this path: a measurement takes minutes.

    Raises
    ------
    ValueError
        If the path is a folder.
    OSError
        If its folder cannot be made or written, or its disk is full.
    """
    if path.is_dir():
        raise ValueError(f"--out {path} is a folder: name a file, such as {path / 'board.json'}")
    check_writable(path.parent)


def write_record(record: dict[str, Any], path: Path | str) -> Path:
    """Write a record as a JSON file in one atomic step, and return its path."""
    path = Path(path)
    text = json.dumps(record, indent=1, sort_keys=True) + "\n"
    write_atomically(path, lambda part: part.write_text(text, encoding="utf-8"))
    return path
