"""Anonymize a stream of samples in real time: ring buffer, a window every stride, windows merged to a stream again.

The rules, in one place:

- A sample's time says which **slot** of the grid of 1 / rate seconds it fills; slot 0 is the first sample's.
- **NaN or infinite**: the sample is as good as missing.
- **Missing**: up to `gap` seconds, less than a stride, are filled by the straight line between the samples on both
  sides, when the later one arrives. After a longer gap the buffer starts anew: no window spans it.
- **Late** (its slot is filled or passed): dropped, if late by no more than `gap`; else the clock went back, an error.
- **Wrong rate**: whenever a window's length of slots has passed, or a second where that is longer, the samples that
  arrived in it are counted, broken ones included; an error if they are 20 % more or fewer than the rate says.
- **Merging**: ``windows`` hands each anonymized window on, as the paper does. ``newest`` publishes of each window only
  its last `stride` samples: no delay, every sample decided by one window. ``mean`` publishes each sample as the mean
  over all windows that cover it, once no more will: smoother, later by length - stride samples; with a probabilistic
  Modify it averages windows that were moved to different classes.
"""

import math
from dataclasses import asdict, dataclass
from time import perf_counter, thread_time
from typing import Any, Literal, get_args

import numpy as np

from sensorprivacy.edge.pipeline import Pipeline

Merge = Literal["windows", "newest", "mean"]
_TOLERANCE = 0.2  # of the rate
_ALONE = 8  # samples, each too far from the one before


class StreamError(ValueError):
    """The stream is not what the bundle was made for."""


@dataclass
class Counts:
    """What has come and gone.

    Attributes
    ----------
    samples, broken, filled, late, restarts : int
        Arrived; of these not finite; slots filled in; arrived late and dropped; gaps too long to fill.
    windows, missed, overrun : int
        Windows anonymized; of these, that took longer than until the next was due, by the clock; and by the processor
        time that they used themselves, which leaves out what a busy machine did meanwhile.
    slowest : float
        Seconds that the slowest window took, by the clock.
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
    """Takes samples one by one and gives back anonymized ones.

    Parameters
    ----------
    pipeline : Pipeline
        Loaded networks.
    rate : float
        Samples a second of the stream.
    merge : {"windows", "newest", "mean"}
        See above.
    gap : float
        Seconds that are filled in; 0.2 are ten samples at 50 Hz.
    speed : float
        How much faster than real time the stream comes; the deadline is that much nearer.

    Attributes
    ----------
    counts : Counts
        So far.

    Raises
    ------
    StreamError
        If the rate is not the one that the networks were trained at, or `merge` is unknown.
    """

    def __init__(
        self, pipeline: Pipeline, *, rate: float, merge: Merge = "windows", gap: float = 0.2, speed: float = 1.0
    ) -> None:
        bundle = pipeline.bundle
        if not math.isclose(rate, bundle.rate, rel_tol=0.01):
            raise StreamError(
                f"the stream has {rate:g} samples a second, {bundle.name} was trained at {bundle.rate:g}: resample it"
            )
        if merge not in get_args(Merge):
            raise StreamError(f"merge {merge!r} is unknown: choose from {', '.join(get_args(Merge))}")
        self.counts = Counts()
        self._pipeline, self._merge, self._rate = pipeline, merge, bundle.rate
        self._stride, (self._channels, self._length) = bundle.stride, bundle.shape
        # slots; less than a stride, so that no sample brings two windows at once
        self._reach = min(self._stride - 1, max(1, round(gap * self._rate)))
        self._span = max(self._length, round(self._rate))
        self._deadline = bundle.budget / speed
        # written twice, half a buffer apart, so that a window is always one piece of memory
        self._ring = np.zeros((self._channels, 2 * self._length), dtype=np.float32)
        self._sample = np.zeros(self._channels, dtype=np.float32)
        self._before = np.zeros(self._channels, dtype=np.float32)
        self._window = np.zeros((self._channels, self._length), dtype=np.float32)
        self._sum = np.zeros((self._channels, self._length), dtype=np.float32)
        self._covers = np.zeros(self._length, dtype=np.float32)
        self._out = np.zeros((self._channels, self._stride), dtype=np.float32)
        self._alone = 0
        self._first: float | None = None
        self._last, self._held, self._at, self._from, self._arrived = -1, 0, 0, 0, 0

    def push(self, time: float, values: np.ndarray) -> np.ndarray | None:
        """Take one sample and return what is to be published now, if anything.

        Parameters
        ----------
        time : float
            Seconds, by any clock that does not go back.
        values : array-like of shape (channels,)
            In the channels' units.

        Returns
        -------
        numpy.ndarray of float32 or None
            Channels x length for ``windows``, else channels x stride. Overwritten by the next: copy what is to stay.

        Raises
        ------
        StreamError
            If the sample has another number of channels, the clock goes back or is no number, or samples come at
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
        missing = slot - self._last - 1
        if missing > self._reach and self._last >= 0:
            self.counts.restarts += 1
            self._check_alone()
            self._restart(time)
            missing, slot = 0, 0
        elif self._last < 0:  # nothing before it to fill from
            self._restart(time)
            missing, slot = 0, 0
        published = None
        for step in range(1, missing + 1):
            share = step / (missing + 1)
            self._ring_write(self._before + share * (self._sample - self._before))
            self.counts.filled += 1
            published = self._due() or published
        self._ring_write(self._sample)
        self._before[:] = self._sample
        self._last = slot
        due = self._due()
        return self._result() if due or published else None

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
            raise StreamError(
                f"the clock went back: a sample of {time:.3f} s, {behind / self._rate:.3f} s behind the one before: "
                "use a monotonic clock, or make a new StreamAnonymizer"
            )
        self.counts.late += 1
        self._arrived += 1

    def _check_rate(self, slot: int) -> None:
        """Count samples against slots, a span at a time."""
        self._arrived += 1
        passed = slot - self._from
        if passed < self._span:
            return
        if passed <= self._span + self._reach:  # else a long gap, which is no rate
            found = self._arrived / passed * self._rate
            if abs(found / self._rate - 1) > _TOLERANCE:
                raise StreamError(
                    f"{found:.1f} samples a second arrive, {self._pipeline.bundle.name} was trained at {self._rate:g}: "
                    "resample the stream, or mend the sensor"
                )
        self._from, self._arrived = slot, 0

    def _check_alone(self) -> None:
        """Raise if samples come so seldom that hardly one is ever followed by another."""
        self._alone = self._alone + 1 if self._held == 1 else 0
        if self._alone >= _ALONE:
            raise StreamError(
                f"{self._alone} samples in a row came alone, more than {self._reach / self._rate:g} s apart: "
                f"{self._pipeline.bundle.name} was trained at {self._rate:g} samples a second: resample the stream"
            )

    def _restart(self, time: float) -> None:
        """Forget all samples; the one of this time is the first."""
        self._first = time
        self._last, self._held, self._at, self._from, self._arrived = -1, 0, 0, 0, 0
        self._sum[:] = 0
        self._covers[:] = 0

    def _ring_write(self, sample: np.ndarray) -> None:
        self._ring[:, self._at] = sample
        self._ring[:, self._at + self._length] = sample
        self._at = (self._at + 1) % self._length
        self._held += 1

    def _due(self) -> bool:
        """Anonymize if a window is full and a stride has passed since the last; return whether it was."""
        beyond = self._held - self._length
        if beyond < 0 or beyond % self._stride:
            return False
        started, used = perf_counter(), thread_time()
        self._pipeline.anonymize_one(self._ring[:, self._at : self._at + self._length], self._window)
        self._blend()
        took, used = perf_counter() - started, thread_time() - used
        self.counts.windows += 1
        self.counts.missed += took > self._deadline
        self.counts.overrun += used > self._deadline
        self.counts.slowest = max(self.counts.slowest, took)
        return True

    def _blend(self) -> None:
        """Put the samples that are now final into `_out`."""
        stride = self._stride
        if self._merge == "newest":
            self._out[:] = self._window[:, -stride:]
        elif self._merge == "mean":
            # the window just made covers all columns of the sum; its oldest `stride` are covered by no later window
            self._sum += self._window
            self._covers += 1
            np.divide(self._sum[:, :stride], self._covers[:stride], out=self._out)
            self._sum[:, :-stride] = self._sum[:, stride:]
            self._covers[:-stride] = self._covers[stride:]
            self._sum[:, -stride:] = 0
            self._covers[-stride:] = 0

    def _result(self) -> np.ndarray:
        return self._window if self._merge == "windows" else self._out


def counted(stream: StreamAnonymizer) -> dict[str, float]:
    """Return a stream's counts as plain values, for a record."""
    return asdict(stream.counts)
