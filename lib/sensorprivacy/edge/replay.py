"""Replay a recording through the stream anonymizer faster than real time, and see whether deadlines and memory hold."""

from collections.abc import Callable
from time import perf_counter, sleep

import numpy as np

from sensorprivacy.edge.bundle import Bundle
from sensorprivacy.edge.pipeline import Pipeline
from sensorprivacy.edge.stream import Merge, StreamAnonymizer, counted

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
    tell: Callable[[int], object] = lambda _: None,
) -> dict[str, float]:
    """Feed a recording sample by sample, in time, and return what happened.

    Parameters
    ----------
    pipeline : Pipeline
        Loaded.
    signal : numpy.ndarray of float32, shape (samples, channels)
        The recording, at the bundle's rate.
    speed : float
        Times real time.
    merge : {"windows", "newest", "mean"}
        See `stream`.
    tell : callable
        Called with the number of samples fed since the last call, now and then.

    Returns
    -------
    dict
        The stream's counts (`stream.Counts`); ``late``: windows handed over after the next was due, waiting included;
        ``behind``: most seconds that a sample was fed after its time; ``seconds`` it took; ``grown``: bytes of resident
        memory gained after the first fifth.
    """
    bundle = pipeline.bundle
    stream = StreamAnonymizer(pipeline, rate=bundle.rate, merge=merge, speed=speed)
    step = 1 / (bundle.rate * speed)
    settled = resident()
    due, late, behind, started = bundle.budget / speed, 0, 0.0, perf_counter()
    for at, sample in enumerate(signal):
        ahead = started + at * step - perf_counter()
        if ahead > 0.0005:  # a shorter sleep is longer than asked for
            sleep(ahead)
        behind = max(behind, -ahead)
        if stream.push(at / bundle.rate, sample) is not None:
            late += perf_counter() - (started + at * step) > due
        if at == int(_SETTLE * len(signal)):
            settled = resident()
        if at % 1000 == 999:
            tell(1000)
    grown = resident() - settled
    return counted(stream) | {"late": late, "behind": behind, "seconds": perf_counter() - started, "grown": grown}


def resident() -> int:
    """Return the bytes of memory that this process holds now; 0 where the system does not say."""
    try:
        with open("/proc/self/statm", encoding="ascii") as file:  # noqa: PTH123 (called often)
            return int(file.read().split()[1]) * 4096
    except OSError:
        return 0
