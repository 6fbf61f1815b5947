"""Anonymize a stream of samples in real time: collect windows, anonymize one every stride, merge them again.

The rules:

- **Slots.** Time is divided into slots of 1 / rate seconds. A sample's time determines its slot; the first sample has
  slot 0.
- **Broken samples** (NaN or infinite) count as missing.
- **Missing samples**, up to `gap` seconds and less than a stride, are filled by a straight line between their two
  neighbours, when the later one arrives. After a longer gap the buffer starts again, so no window spans the gap.
- **Late samples** (their slot is filled or passed) are dropped if they are late by at most `gap`. An even later sample
  means that the clock went back, which is an error.
- **Wrong rate.** Samples are counted for the length of a window, or for a second if that is longer. More than 20 % too
  many or too few is an error. Broken samples count.
- **Merging.** ``windows`` publishes each anonymized window, as the paper does. ``newest`` publishes the last `stride`
  samples of each window, so one window determines each sample and there is no delay.

`replay` runs a recording through it, faster than real time, and checks deadlines and memory.
"""

import math
from collections.abc import Callable
from dataclasses import asdict, dataclass
from time import perf_counter, sleep, thread_time
from typing import Any, Literal, get_args

import numpy as np

from sensorprivacy.edge.board.bundle import Bundle
from sensorprivacy.edge.board.hardware import process_memory
from sensorprivacy.edge.board.pipeline import Pipeline

Merge = Literal["windows", "newest"]
_TOLERANCE = 0.2  # share of the rate
_ALONE = 8  # consecutive samples, each too long after the one before


_SETTLE = 0.2  # share of the replay after which memory must not grow


class StreamError(ValueError):
    """The stream does not fit the bundle."""


@dataclass
class Counts:
    """Count the samples and windows of a stream.

    Attributes
    ----------
    samples, broken, filled, late, restarts : int
        Samples that arrived; samples that were not finite; slots filled by a line; samples dropped as late; gaps too
        long to fill.
    windows, missed, overrun : int
        Windows anonymized; windows that took longer than the time to the next one, by the clock; the same by the
        processor time that they used themselves, which excludes other programs.
    slowest : float
        Seconds of the slowest window, by the clock.
    """

    samples: int = 0
    broken: int = 0
    filled: int = 0
    late: int = 0
    restarts: int = 0
    windows: int = 0
    missed: int = 0
    overrun: int = 0
    slowest: float = 0.0


class StreamAnonymizer:
    """Take samples one by one and return anonymized ones.

    Parameters
    ----------
    pipeline : Pipeline
        Pipeline that anonymizes the windows.
    rate : float
        Samples per second of the stream.
    merge : {"windows", "newest"}
        How overlapping windows are merged, see above.
    gap : float
        Longest gap in seconds that is filled; 0.2 are ten samples at 50 Hz.
    speed : float
        Speed of the stream; 1 is real time. Deadlines are shorter by this factor.

    Attributes
    ----------
    counts : Counts
        Counts so far.

    Raises
    ------
    StreamError
        If the rate differs from the one that the networks were trained at, or `merge` is unknown.
    """

    def __init__(
        self, pipeline: Pipeline, *, rate: float, merge: Merge = "windows", gap: float = 0.2, speed: float = 1.0
    ) -> None:
        bundle = pipeline.bundle
        if not math.isclose(rate, bundle.rate, rel_tol=0.01):
            raise StreamError(
                f"a stream of {rate:g} samples a second, {bundle.name} needs {bundle.rate:g}: resample it"
            )
        if merge not in get_args(Merge):
            raise StreamError(f"merge {merge!r} is unknown: choose from {', '.join(get_args(Merge))}")
        self.counts = Counts()
        self._pipeline, self._merge, self._rate = pipeline, merge, bundle.rate
        self._stride, (self._channels, self._length) = bundle.stride, bundle.shape
        # slots; less than a stride, so that one sample never completes two windows
        self._reach = min(self._stride - 1, max(1, round(gap * self._rate)))
        self._span = max(self._length, round(self._rate))
        self._deadline = bundle.budget / speed
        # each sample is written twice, one length apart, so that every window is one contiguous block
        self._ring = np.zeros((self._channels, 2 * self._length), dtype=np.float32)
        self._sample = np.zeros(self._channels, dtype=np.float32)
        self._before = np.zeros(self._channels, dtype=np.float32)
        self._window = np.zeros((self._channels, self._length), dtype=np.float32)
        self._alone = 0
        self._first: float | None = None
        self._last, self._held, self._at, self._from, self._arrived = -1, 0, 0, 0, 0

    def push(self, time: float, values: np.ndarray) -> np.ndarray | None:
        """Take one sample, and return the samples to publish now or None.

        Parameters
        ----------
        time : float
            Seconds, by any clock that does not go back.
        values : array-like of shape (channels,)
            Sample in the channels' units.

        Returns
        -------
        numpy.ndarray of float32 or None
            Channels x length for ``windows``, else channels x stride. The next result overwrites this array.

        Raises
        ------
        StreamError
            If the sample has another number of channels, its time goes back or is not finite, or samples arrive at
            another rate.
        """
        self._sample[:] = self._checked(values)
        slot = self._slot(time)
        self.counts.samples += 1
        if slot <= self._last:
            self._late(slot, time)
            return None
        self._check_rate(slot)
        if not np.isfinite(self._sample).all():
            self.counts.broken += 1
            return None
        started, missing = self._last >= 0, slot - self._last - 1
        if started and missing > self._reach:
            self.counts.restarts += 1
            self._check_alone()
        if not started or missing > self._reach:  # nothing to fill from
            self._restart(time)
            missing, slot = 0, 0
        due = False
        for step in range(1, missing + 1):
            share = step / (missing + 1)
            due |= self._write(self._before + share * (self._sample - self._before))
        self.counts.filled += missing
        due |= self._write(self._sample)
        self._before[:] = self._sample
        self._last = slot
        if not due:
            return None
        return self._window if self._merge == "windows" else self._window[:, -self._stride :]

    def _checked(self, values: Any) -> np.ndarray:
        given = np.asarray(values, dtype=np.float32)
        if given.shape != (self._channels,):
            names = ", ".join(self._pipeline.bundle.channels)
            raise StreamError(f"a sample of shape {given.shape}, expected {self._channels} channels: {names}")
        return given

    def _slot(self, time: float) -> int:
        if not math.isfinite(time):
            raise StreamError(f"a sample's time is {time}: give seconds")
        if self._first is None:
            self._first = time
        return round((time - self._first) * self._rate)

    def _late(self, slot: int, time: float) -> None:
        behind = self._last - slot
        if behind > self._reach:
            late = f"{behind / self._rate:.3f} s behind the one before"
            raise StreamError(f"the clock went back: a sample of {time:.3f} s, {late}: use a monotonic clock")
        self.counts.late += 1
        self._arrived += 1

    def _check_rate(self, slot: int) -> None:
        """Compare the number of samples with the number of slots, once per span."""
        self._arrived += 1
        passed = slot - self._from
        if passed < self._span:
            return
        if passed <= self._span + self._reach:  # over a longer gap, the rate cannot be measured
            found = self._arrived / passed * self._rate
            if abs(found / self._rate - 1) > _TOLERANCE:
                trained = f"{self._pipeline.bundle.name} was trained at {self._rate:g}"
                raise StreamError(f"{found:.1f} samples a second arrive, {trained}: resample, or repair the sensor")
        self._from, self._arrived = slot, 0

    def _check_alone(self) -> None:
        """Raise an error if the samples are so rare that almost every one starts the buffer again."""
        self._alone = self._alone + 1 if self._held == 1 else 0
        if self._alone >= _ALONE:
            apart = f"came alone, more than {self._reach / self._rate:g} s apart"
            raise StreamError(f"{self._alone} samples in a row {apart}: give {self._rate:g} a second")

    def _restart(self, time: float) -> None:
        """Forget all samples; the sample of this time is the first."""
        self._first = time
        self._last, self._held, self._at, self._from, self._arrived = -1, 0, 0, 0, 0

    def _write(self, sample: np.ndarray) -> bool:
        """Store a sample; if it completes a window, anonymize the window and return True."""
        self._ring[:, self._at] = sample
        self._ring[:, self._at + self._length] = sample
        self._at = (self._at + 1) % self._length
        self._held += 1
        beyond = self._held - self._length
        if beyond < 0 or beyond % self._stride:
            return False
        started, used = perf_counter(), thread_time()
        self._pipeline.anonymize_one(self._ring[:, self._at : self._at + self._length], self._window)
        took, used = perf_counter() - started, thread_time() - used
        self.counts.windows += 1
        self.counts.missed += took > self._deadline
        self.counts.overrun += used > self._deadline
        self.counts.slowest = max(self.counts.slowest, took)
        return True


def recording(bundle: Bundle, seconds: float) -> np.ndarray:
    """Return a recording made of the bundle's sample windows end to end, samples x channels, float32."""
    count = round(seconds * bundle.rate)
    windows = bundle.samples(-(-count // bundle.length))
    return np.ascontiguousarray(windows.transpose(0, 2, 1).reshape(-1, bundle.shape[0])[:count])


def replay(
    pipeline: Pipeline, signal: np.ndarray, *, speed: float = 20.0, progress: Callable[[int], object] = lambda _: None
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
    stream = StreamAnonymizer(pipeline, rate=bundle.rate, merge="newest", speed=speed)
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
