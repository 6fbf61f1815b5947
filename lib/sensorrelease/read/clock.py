"""Check the times of recordings: their unit, order, gaps and rate; and resample them."""

import re
import warnings
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd

from sensorrelease.columns.moments import UNITS, parse_moments

_NOT = r"(?<![a-zµμ/])(?<!m[_ .*])"  # m/s^2, rad/s and m s-2 are no times
TIMES = re.compile(rf"(?i){_NOT}(t|ts|time|timestamp|clock|datetime|date|[mun]?s|sec|seconds)(?![a-z^]|-\d)")  # names
GAP = 1.5  # steps of the rate from which a pause is a gap
_OFF = 0.05  # share by which the median step may differ from the rate
_MOST = 3  # files that a message names


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
    gap : float
        Seconds; resampling fills pauses up to this length.
    """

    column: str
    rate: float
    resample: bool = False
    gap: float = 0.0


def timed(
    table: pd.DataFrame, run: np.ndarray, clock: Clock, channels: Sequence[str]
) -> tuple[pd.DataFrame, np.ndarray]:
    """Return recordings whose samples follow each other at the rate, and their numbers.

    Unit, order and rate are judged for each recording alone, because phones differ.

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
        If the column is missing or no time, or unless the recordings are resampled: if times are equal or out of
        order, or the median step of a recording does not fit the rate.

    Warns
    -----
    UserWarning
        If there are gaps, equal times, or recordings with fewer samples per second than the rate.
    """
    if clock.column not in table:
        raise ValueError(f"key 'time': there is no column {clock.column!r} in the recordings")
    seconds = _seconds(table[clock.column], run, clock)
    if clock.resample:
        order = np.lexsort((seconds, run))
        table, run, seconds = table.iloc[order].reset_index(drop=True), run[order], seconds[order]
        seconds = _spread(seconds, run, table["_file"], clock)
    steps, within = np.diff(seconds), np.diff(run) == 0
    if not clock.resample:
        _refuse_disorder(table, steps, within, clock)
    found = _rates(steps, within, run, clock)
    _judge_rates(found, run, table["_file"], clock)
    typical = 1 / np.minimum(found, clock.rate) if clock.resample else np.full(len(found), 1 / clock.rate)
    gaps = within & (steps > np.maximum(GAP * typical[run[1:]], clock.gap * (1 + 1e-9)))
    if gaps.any():
        warnings.warn(
            f"{int(gaps.sum()):,} gaps in {clock.column!r}, the longest of {steps[gaps].max():.3g} seconds: each ends "
            "a recording, so that no window spans a gap. With resample = true, the key `gap` fills short ones",
            stacklevel=4,
        )
    run = np.r_[0, np.cumsum(~within | gaps)]
    return _resampled(table, run, seconds, clock.rate, list(channels)) if clock.resample else (table, run)


def _seconds(column: pd.Series, run: np.ndarray, clock: Clock) -> np.ndarray:
    """Return times as seconds. Each recording's numbers have the unit whose median step fits the rate best."""
    if pd.api.types.is_numeric_dtype(column):
        values = column.to_numpy(dtype=float)
        steps = np.abs(np.diff(values))
        moving = pd.Series(np.where((np.diff(run) == 0) & (steps > 0), steps, np.nan)).groupby(run[1:])
        # of a coarse clock, many samples share a time
        step = moving.median() * moving.count() / moving.size()
        typical = step.reindex(range(run.max() + 1)).fillna(1.0).to_numpy()
        units = np.asarray(UNITS)
        unit = units[np.abs(np.log(typical[:, None] / units * clock.rate)).argmin(axis=1)]
        seconds = (values - pd.Series(values).groupby(run).transform("first").to_numpy()) / unit[run]
    else:
        times = column if column.dtype.kind == "M" else _continuous(column, run)
        seconds = ((times - times.iloc[0]) / pd.Timedelta(seconds=1)).to_numpy(dtype=float)
    if not np.isfinite(seconds).all():
        first = column.iloc[int(np.flatnonzero(~np.isfinite(seconds))[0])]
        raise ValueError(
            f"column {clock.column!r} has cells that are no time, such as {first!r}: give numbers of seconds or "
            "milliseconds, or points in time such as 2026-01-31T08:00:00.020"
        )
    return seconds


def _continuous(column: pd.Series, run: np.ndarray) -> pd.Series:
    """Return the times of texts. If no date shows whether the day is first, the reading with shorter steps counts."""
    within = np.diff(run) == 0
    readings = [parse_moments(column, day_first=first) for first in (False, True)]
    spans = [(times.diff().dt.total_seconds().abs().to_numpy()[1:][within]).sum() for times in readings]
    return readings[int(np.argmin(np.where(np.isnan(spans), np.inf, spans)))]


def _spread(seconds: np.ndarray, run: np.ndarray, files: pd.Series, clock: Clock) -> np.ndarray:
    """Return times in which equal ones are spread up to the next; a clock of whole seconds has many of them."""
    fresh = np.r_[True, (np.diff(seconds) > 0) | (np.diff(run) != 0)]
    if fresh.all():
        return seconds
    at = np.flatnonzero(fresh)
    sizes = np.diff(np.r_[at, len(seconds)])
    last = np.r_[run[at][1:] != run[at][:-1], True]
    share = np.where(last, np.nan, np.r_[seconds[at][1:] - seconds[at][:-1], np.nan]) / sizes
    typical = pd.Series(share).groupby(run[at]).transform("median").fillna(1 / clock.rate).to_numpy()
    # a pause is no reason to slow the samples before it
    step = np.where(last | (share > GAP * typical), typical, share)
    begin = seconds[at]
    # a clock of whole seconds may begin within one: then the first samples end with it
    coarse = pd.Series(sizes).groupby(run[at]).transform("median").to_numpy() > 1
    first = np.r_[True, last[:-1]] & ~last & coarse
    step = np.where(first, np.fmin(step, typical), step)
    begin = np.where(first, begin + sizes * (share - step), begin)
    which = np.cumsum(fresh) - 1
    warnings.warn(
        f"{int((~fresh).sum()):,} samples have the same {clock.column!r} as the sample before, the first in "
        f"{files.iloc[int(np.flatnonzero(~fresh)[0])]}: they are spread evenly up to the next time",
        stacklevel=5,
    )
    return begin[which] + (np.arange(len(seconds)) - at[which]) * step[which]


def times_of(column: pd.Series) -> pd.Series:
    """Return times as numbers: texts as seconds since 1970, numbers in their own unit."""
    if pd.api.types.is_numeric_dtype(column):
        return column.astype(float)
    times = column if column.dtype.kind == "M" else parse_moments(column)
    return (times - pd.Timestamp(0, tz=times.dt.tz)) / pd.Timedelta(seconds=1)


def _refuse_disorder(table: pd.DataFrame, steps: np.ndarray, within: np.ndarray, clock: Clock) -> None:
    for wrong, what, remedy in (
        (steps < 0, "is out of order", "Sort the rows, or set resample = true"),
        (steps == 0, "has equal times", "Set resample = true to spread them evenly"),
    ):
        if (back := within & wrong).any():
            at = int(np.flatnonzero(back)[0]) + 1
            raise ValueError(
                f"{table['_file'].iloc[at]}: column {clock.column!r} {what}: {table[clock.column].iloc[at]} "
                f"follows {table[clock.column].iloc[at - 1]} ({int(back.sum()):,} times in all). {remedy}"
            )


def _rates(steps: np.ndarray, within: np.ndarray, run: np.ndarray, clock: Clock) -> np.ndarray:
    """Return each recording's samples per second; those of a recording of one sample are the rate."""
    medians = pd.Series(np.where(within, steps, np.nan)).groupby(run[1:]).median()
    return 1 / medians.reindex(range(run.max() + 1)).fillna(1 / clock.rate).to_numpy()


def _judge_rates(found: np.ndarray, run: np.ndarray, files: pd.Series, clock: Clock) -> None:
    """Refuse recordings with another rate; if they are resampled, warn of those with fewer samples per second."""
    off = found < clock.rate * (1 - _OFF) if clock.resample else np.abs(found / clock.rate - 1) > _OFF
    if not off.any():
        return
    where = files.to_numpy()[np.unique(run, return_index=True)[1]]
    named = {f"{rate:.4g}": where[off & (found == rate)] for rate in pd.unique(found[off])}
    said = " and ".join(f"{rate} samples per second in {_listed(some)}" for rate, some in list(named.items())[:_MOST])
    text = f"column {clock.column!r} has {said}, but rate = {clock.rate:g}"
    if not clock.resample:
        raise ValueError(f"{text}: correct the rate, describe these files apart, or set resample = true")
    warnings.warn(f"{text}: interpolation adds samples that nobody measured", stacklevel=4)


def _listed(files: Iterable[str]) -> str:
    names = list(dict.fromkeys(files))
    return ", ".join(names[:_MOST]) + (f" and {len(names) - _MOST:,} more files" if len(names) > _MOST else "")


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
