"""Number recordings while they are read, and check their times: order, rate, bursts and gaps."""

from collections.abc import Callable

import numpy as np
import pandas as pd

from sensorprivacy.checks import counted
from sensorrelease.schema.coarse import EPOCH
from sensorrelease.schema.model import FILE, RUN, UNITS, Field, Schema

STEPS = 1.5  # of the rate, from which a pause is a gap
_OFF = 0.05  # share by which the rate may differ
_EARLY, _BURSTS = 0.5, 0.1  # steps of the rate until which a sample comes early, and share of such samples in bursts
_REMEDY = (
    "correct `rate` or the unit of the times, read recordings with another rate in a folder of their own, or resample "
    "them (guide: recordings of apps)"
)


class Clock:
    """The recordings of a folder, as they are read in pieces.

    Parameters
    ----------
    schema : Schema
        With `recordings`.
    where : callable
        Returns file and line of a row.

    Attributes
    ----------
    incomplete, gaps : int
        Rows without a number or a label, which are left out; gaps that ended a recording.
    """

    def __init__(self, schema: Schema, where: Callable[[int], str]) -> None:
        assert schema.recordings is not None
        self._given, self._where = schema.recordings, where
        self._keys = [name for name in (schema.user, schema.recording, schema.task) if name]
        self._time = None if schema.time is None else schema.field(schema.time)
        self._trial = schema.recording is not None
        self._needed = [one.name for one in schema.fields if one.role != "withheld"]
        self._longest = max(self._given.gap or 0, STEPS / self._given.rate) * (1 + 1e-6)
        self._last, self._run, self._first = pd.DataFrame(), -1, 0
        self._seen: dict[tuple[str, ...], int] = {}
        self._steps: list[np.ndarray] = []
        self._gap: tuple[int, str] | None = None  # row and length of the first gap of the recording
        self.incomplete = self.gaps = 0

    def number(self, piece: pd.DataFrame) -> pd.DataFrame:
        """Return the complete rows of a piece, with the number of the recording of each.

        Raises
        ------
        ValueError
            If times are out of order or equal, have another rate, or have gaps that are errors; or if a recording lies
            in two files. The message names file, line and rate.
        """
        whole = piece[self._needed].notna().all(axis=1)
        self.incomplete += int((~whole).sum())
        found = piece[whole] if not whole.all() else piece
        if found.empty:
            return found.assign(**{RUN: 0})
        before = len(self._last)  # 0 or 1 row of the piece before
        keys = pd.concat([self._last, found[[*self._keys, FILE]]])
        new = (keys != keys.shift()).any(axis=1).to_numpy()[before:]
        rows, at = found.index.to_numpy(), keys.index.to_numpy()
        left_out = np.diff(at, prepend=at[0])[before:] > 1
        ends = new | (left_out if self._time is None else self._check(found, new))
        for row in np.flatnonzero(new):
            self._refuse_shared(
                tuple(map(str, keys.iloc[before + row][self._keys])), int(found[FILE].iloc[row]), rows[row]
            )
        run = self._run + np.cumsum(ends)
        self._run, self._last = int(run[-1]), keys.iloc[[-1]]
        return found.assign(**{RUN: run})

    def _check(self, found: pd.DataFrame, new: np.ndarray) -> np.ndarray:
        """Return where gaps end a recording."""
        assert self._time is not None
        column = found[self._time.name]
        seconds, rows = in_seconds(column, self._time), found.index.to_numpy()
        steps = np.diff(seconds, prepend=getattr(self, "_second", np.nan))
        self._second = seconds[-1]
        self._refuse_order(column, steps, ~new, seconds)
        gaps = ~new & (steps > self._longest)
        begins = np.flatnonzero(new)
        for start, part in zip([0, *begins], np.split(np.where(new, np.nan, steps), begins), strict=True):
            if start in begins and len(part):
                self.finish()
                self._first = int(rows[start])
            self._steps.append(part)
            wide = gaps[start : start + len(part)]
            if wide.any() and not self._gap:
                row = start + int(wide.argmax())
                self._gap = int(rows[row]), f"{steps[row]:.4g} seconds without a sample before {column.iloc[row]}"
        self.gaps += int(gaps.sum())
        return gaps

    def _refuse_order(self, column: pd.Series, steps: np.ndarray, within: np.ndarray, seconds: np.ndarray) -> None:
        wrong = within & (steps <= 0)
        if not wrong.any():
            return
        row = int(wrong.argmax())
        time, name = column.iloc[row], column.name
        if steps[row] < 0:
            said = (
                f"{name!r} goes back from {column.iloc[row - 1]} to {time}" if row else f"{name!r} goes back to {time}"
            )
            raise ValueError(f"{self._where(column.index[row])}: {said}: sort the rows, or divide the recording there")
        same = int((seconds == seconds[row]).sum())
        other = np.unique(seconds[max(0, row - 1) : row + 100_000])
        per = same / float(np.median(np.diff(other))) if len(other) > 1 else np.nan
        seen = f", about {per:.4g} per second" if np.isfinite(per) else ""
        raise ValueError(
            f"{self._where(column.index[row])}: {same} samples have the time {time} in {name!r}{seen} (declared: "
            f"{self._given.rate:g}): the clock is too coarse, or samples come in bursts. Export finer times, or spread "
            "the samples (guide: recordings of apps)"
        )

    def finish(self) -> None:
        """Check rate and gaps of the recording that ends: a gap between all samples is another rate."""
        steps = np.concatenate([*self._steps, np.empty(0)])
        self._steps, steps = [], steps[~np.isnan(steps)]
        gap, self._gap = self._gap, None
        if self._time is None or (len(steps) < 2 and not gap):
            return
        seen, rate = rate_of(steps), self._given.rate
        early = float(np.mean(steps < _EARLY / rate))
        if abs(seen / rate - 1) > _OFF:
            said = f"{seen:.4g} samples per second in {self._time.name!r}, but the schema declares {rate:g}"
        elif early > _BURSTS:
            said = (
                f"samples come in bursts, {early:.0%} of them less than {_EARLY:g} steps after another one in "
                f"{self._time.name!r} (on average {1 / steps.mean():.4g} samples per second)"
            )
        elif gap and self._given.gaps == "error":
            raise ValueError(
                f"{self._where(gap[0])}: {gap[1]} in {self._time.name!r}, in a recording of {seen:.4g} per second (a "
                f"gap is longer than {self._longest:.3g}): declare `gaps: end`, which ends the recording there, or a "
                "longer `gap`"
            )
        else:
            return
        raise ValueError(f"the recording that begins in {self._where(self._first)}: {said}: {_REMEDY}")

    def _refuse_shared(self, key: tuple[str, ...], file: int, row: int) -> None:
        if self._trial and self._seen.setdefault(key, file) != file:
            named = ", ".join(f"{name} {value}" for name, value in zip(self._keys, key, strict=True))
            raise ValueError(
                f"{self._where(row)}: the recording with {named} is in an earlier file, too: number the recordings of "
                "each user, or give no field the role recording, so that each file is one"
            )

    @property
    def notices(self) -> list[str]:
        """What was left out or divided, in words."""
        said = [f"{counted(self.incomplete, 'row')} without a label or a number left out"] if self.incomplete else []
        return said + ([f"{counted(self.gaps, 'gap')} in times ended a recording"] if self.gaps else [])


def in_seconds(column: pd.Series, one: Field) -> np.ndarray:
    """Return times as seconds."""
    if one.is_number:
        return column.to_numpy(dtype=float) / UNITS[one.unit or "s"]
    return ((pd.to_datetime(column, utc=True) - EPOCH) / pd.Timedelta(seconds=1)).to_numpy(dtype=float)


def rate_of(steps: np.ndarray) -> float:
    """Return samples per second: the mean step without pauses, because times may be rounded."""
    return float(1 / steps[steps < 2 * np.median(steps)].mean())
