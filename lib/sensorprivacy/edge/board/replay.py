"""Replay a recording through the stream anonymizer, faster than real time, and check deadlines and memory."""

from collections.abc import Callable
from dataclasses import asdict
from time import perf_counter, sleep

import numpy as np

from sensorprivacy.edge.board.bundle import Bundle
from sensorprivacy.edge.board.hardware import process_memory
from sensorprivacy.edge.board.pipeline import Pipeline
from sensorprivacy.edge.board.stream import Merge, StreamAnonymizer

_SETTLE = 0.2  # share of the replay after which memory must not grow


def recording(bundle: Bundle, seconds: float) -> np.ndarray:
    """Return a recording made of the bundle's sample windows end to end, samples x channels, float32."""
    count = round(seconds * bundle.rate)
    windows = bundle.samples(-(-count // bundle.length))
    return np.ascontiguousarray(windows.transpose(0, 2, 1).reshape(-1, bundle.shape[0])[:count])


def replay(
    pipeline: Pipeline,
    signal: np.ndarray,
    *,
    speed: float = 20.0,
    merge: Merge = "newest",
    progress: Callable[[int], object] = lambda _: None,
) -> dict[str, float]:
    """Feed a recording to a stream anonymizer, each sample at its time, and return counts and times.

    Parameters
    ----------
    pipeline : Pipeline
        Pipeline that anonymizes the windows.
    signal : numpy.ndarray of float32, shape (samples, channels)
        Recording, at the bundle's rate.
    speed : float
        Speed of the replay; 1 is real time.
    merge : {"windows", "newest", "mean"}
        How overlapping windows are merged, see `stream`.
    progress : callable
        Called after every 1,000 samples with that number.

    Returns
    -------
    dict
        The stream's counts (`stream.Counts`), of which ``late`` counts samples. ``late_windows``: windows published
        after the next one was due, waiting included. ``behind``: longest delay of a sample in seconds. ``seconds``:
        duration. ``grown``: bytes of memory gained after the first fifth.
    """
    bundle = pipeline.bundle
    stream = StreamAnonymizer(pipeline, rate=bundle.rate, merge=merge, speed=speed)
    step = 1 / (bundle.rate * speed)
    settled = process_memory(peak=False)
    due, late, behind, started = bundle.budget / speed, 0, 0.0, perf_counter()
    for at, sample in enumerate(signal):
        ahead = started + at * step - perf_counter()
        if ahead > 0.0005:  # a shorter sleep would last longer than requested
            sleep(ahead)
        behind = max(behind, -ahead)
        if stream.push(at / bundle.rate, sample) is not None:
            late += perf_counter() - (started + at * step) > due
        if at == int(_SETTLE * len(signal)):
            settled = process_memory(peak=False)
        if at % 1000 == 999:
            progress(1000)
    grown, seconds = process_memory(peak=False) - settled, perf_counter() - started
    return asdict(stream.counts) | {"late_windows": late, "behind": behind, "seconds": seconds, "grown": grown}
