"""Check the times of recordings: their order, their gaps and their rate; and resample them."""

import warnings
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd

from sensorprivacy.columns.moments import UNITS, parse_moments

GAP = 1.5  # steps of the rate from which a pause is a gap
_OFF = 0.05  # share by which the median step may differ from the rate


@dataclass(frozen=True)
class Clock:
    """How recordings are timed.

    Attributes
    ----------
    column : str
        Column with the times: points in time, or numbers of seconds, milliseconds, microseconds or nanoseconds.
    rate : float
        Samples per second.
    resample : bool
        Sort each recording by time and interpolate its channels to the rate.
    """

    column: str
    rate: float
    resample: bool = False


def timed(
    table: pd.DataFrame, run: np.ndarray, clock: Clock, channels: Sequence[str]
) -> tuple[pd.DataFrame, np.ndarray]:
    """Return recordings whose samples follow each other at the rate, and their numbers.

    Parameters
    ----------
    table : pandas.DataFrame
        All samples, with the column of times and ``_file``.
    run : numpy.ndarray of int
        Recording of each sample: 0, 1, ...
    clock : Clock
        The column of times and the rate.
    channels : sequence of str
        Columns to interpolate.

    Returns
    -------
    pandas.DataFrame
        The samples; a gap ends a recording.
    numpy.ndarray of int
        Recording of each sample.

    Raises
    ------
    ValueError
        If the column is missing or no time, or unless the recordings are resampled: if times are out of order, or
        their median step does not fit the rate.

    Warns
    -----
    UserWarning
        If there are gaps.
    """
    if clock.column not in table:
        raise ValueError(f"key 'time': there is no column {clock.column!r} in the recordings")
    seconds = _seconds(table[clock.column], run, clock)
    if clock.resample:
        order = np.lexsort((seconds, run))
        table, run, seconds = table.iloc[order].reset_index(drop=True), run[order], seconds[order]
        fresh = np.r_[True, (np.diff(seconds) > 0) | (np.diff(run) != 0)]  # of equal times, the first counts
        table, run, seconds = table[fresh].reset_index(drop=True), run[fresh], seconds[fresh]
    steps, within = np.diff(seconds), np.diff(run) == 0
    if (back := within & (steps <= 0)).any():
        at = int(np.flatnonzero(back)[0]) + 1
        raise ValueError(
            f"{table['_file'].iloc[at]}: column {clock.column!r} is out of order: {table[clock.column].iloc[at]} "
            f"follows {table[clock.column].iloc[at - 1]} ({int(back.sum()):,} times in all). Sort the rows, or set "
            "resample = true"
        )
    gaps = within & (steps > GAP / clock.rate)
    found = 1 / float(np.median(steps[within])) if within.any() else clock.rate
    if not clock.resample and abs(found / clock.rate - 1) > _OFF:
        raise ValueError(
            f"column {clock.column!r} has {found:.4g} samples per second, but rate = {clock.rate:g}: correct the rate, "
            "or set resample = true"
        )
    if clock.resample:
        gaps = within & (steps > GAP * max(1 / clock.rate, 1 / found))
    if gaps.any():
        warnings.warn(
            f"{int(gaps.sum()):,} gaps in {clock.column!r}, the longest of {steps[gaps].max():.3g} seconds: each ends "
            "a recording, so that no window spans a gap",
            stacklevel=4,
        )
    run = np.r_[0, np.cumsum(~within | gaps)]
    return _resampled(table, run, seconds, clock.rate, list(channels)) if clock.resample else (table, run)


def _seconds(column: pd.Series, run: np.ndarray, clock: Clock) -> np.ndarray:
    """Return times as seconds. The unit of numbers is the one whose median step fits the rate best."""
    if pd.api.types.is_numeric_dtype(column):
        values = column.to_numpy(dtype=float)
        steps = np.abs(np.diff(values))[np.diff(run) == 0]
        typical = float(np.median(steps[steps > 0])) if (steps > 0).any() else 1.0
        unit = min(UNITS, key=lambda unit: abs(np.log(typical / unit * clock.rate)))
        seconds = (values - values[0]) / unit
    else:
        times = column if column.dtype.kind == "M" else parse_moments(column)
        seconds = ((times - times.iloc[0]) / pd.Timedelta(seconds=1)).to_numpy(dtype=float)
    if not np.isfinite(seconds).all():
        raise ValueError(
            f"column {clock.column!r} has cells that are no time, such as {column.iloc[0]!r} or missing ones: give "
            "numbers of seconds or milliseconds, or points in time such as 2026-01-31T08:00:00.020"
        )
    return seconds


def _resampled(
    table: pd.DataFrame, run: np.ndarray, seconds: np.ndarray, rate: float, channels: list[str]
) -> tuple[pd.DataFrame, np.ndarray]:
    """Return each recording interpolated to the rate; other columns keep the value of the sample before."""
    parts, runs = [], []
    for number, rows in enumerate(np.split(np.arange(len(run)), np.flatnonzero(np.diff(run)) + 1)):
        known = seconds[rows]
        wanted = known[0] + np.arange(int((known[-1] - known[0]) * rate + 1e-6) + 1) / rate
        before = rows[np.maximum(np.searchsorted(known, wanted + 1e-9, side="right") - 1, 0)]
        part = table.iloc[before].reset_index(drop=True)
        signal = {name: np.interp(wanted, known, table[name].to_numpy(dtype=float)[rows]) for name in channels}
        parts.append(part.assign(**signal))
        runs.append(np.full(len(wanted), number))
    return pd.concat(parts, ignore_index=True), np.concatenate(runs)
