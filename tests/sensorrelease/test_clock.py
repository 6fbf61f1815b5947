"""The times of recordings are checked, and resampled with known answers."""

import warnings

import numpy as np
import pandas as pd
import pytest

from sensorrelease.read.clock import Clock, timed


def recording(times, signal=None):
    times = np.asarray(times)
    values = times if signal is None else signal
    return pd.DataFrame({"t": times, "x": np.asarray(values, dtype=float), "who": "ann", "_file": "a.csv"})


def test_resampling_interpolates_each_recording_alone():
    table = pd.concat([recording([0.0, 0.5, 1.0]), recording([0.2, 0.0, 0.4])], ignore_index=True)
    found, run = timed(table, np.repeat([0, 1], 3), Clock("t", 4, resample=True), ["x"])
    assert run.tolist() == [0] * 5 + [1] * 2
    np.testing.assert_allclose(found["x"], [0, 0.25, 0.5, 0.75, 1, 0, 0.25])
    assert set(found["who"]) == {"ann"}


def whole_seconds(rate: int, seconds: int, begin: float = 0.0) -> tuple[pd.DataFrame, np.ndarray]:
    """Return a recording whose clock drops the part of a second, and the true times."""
    true = begin + np.arange(rate * seconds) / rate
    return recording(np.floor(true), np.sin(true)), true


def test_equal_times_are_spread_and_counted():
    with pytest.warns(UserWarning, match=r"1 samples have the same 't' as the sample before, the first in a\.csv"):
        found, _ = timed(recording([0, 1, 1, 2], [0, 1, 9, 2]), np.zeros(4, int), Clock("t", 1, resample=True), ["x"])
    assert found["x"].tolist() == [0, 1, 2]
    with pytest.raises(ValueError, match=r"a\.csv: column 't' has equal times: 1 follows 1 \(1 times in all\)"):
        timed(recording([0, 1, 1, 2]), np.zeros(4, int), Clock("t", 1), ["x"])


@pytest.mark.parametrize("begin", [0.0, 0.4, 0.98])
@pytest.mark.parametrize("rate", [2, 30, 50])
def test_a_clock_of_whole_seconds_keeps_all_samples(rate, begin):
    table, true = whole_seconds(rate, 8, begin)
    with pytest.warns(UserWarning, match="spread evenly"):
        found, run = timed(table, np.zeros(len(table), int), Clock("t", rate, resample=True), ["x"])
    assert set(run) == {0}
    assert abs(len(found) - len(true)) <= 1
    size = min(len(found), len(true))
    off = np.abs(found["x"].to_numpy()[:size] - np.sin(true)[:size])
    assert off.max() < 1.5 / rate  # the signal changes by at most 1 in a second


def test_equal_times_in_milliseconds_and_in_batches_are_spread():
    true = np.arange(96) / 48
    for name, times in {"triples": np.floor(np.arange(96) / 3) * 62.5, "batches": np.repeat([0.0, 1000.0], 48)}.items():
        with pytest.warns(UserWarning, match="spread evenly"):
            found, _ = timed(recording(times, true), np.zeros(96, int), Clock("t", 48, resample=True), ["x"])
        np.testing.assert_allclose(found["x"], true[: len(found)], atol=1e-6, err_msg=name)
        assert len(found) >= 95


def test_a_pause_does_not_slow_the_samples_before_it():
    table, _ = whole_seconds(10, 4)
    table["t"] += np.where(table["t"] >= 2, 60, 0)
    with pytest.warns(UserWarning, match="1 gaps in 't', the longest of"):
        _, run = timed(table, np.zeros(40, int), Clock("t", 10, resample=True), ["x"])
    assert np.bincount(run).tolist() == [20, 20]


def test_each_recording_has_its_own_unit_of_time():
    true = np.arange(20) / 10
    units = {"s": 1, "ms": 1e3, "us": 1e6, "ns": 1e9, "from 1970, ms": 1e3}
    parts = [recording(true * unit + (1.7e12 if "1970" in name else 0), true) for name, unit in units.items()]
    table, run = pd.concat(parts, ignore_index=True), np.repeat(np.arange(len(parts)), 20)
    for resample in (False, True):
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            found, runs = timed(table, run, Clock("t", 10, resample=resample), ["x"])
        assert np.bincount(runs).tolist() == [20] * 5
        np.testing.assert_allclose(found["x"], np.tile(true, 5), atol=1e-6)


def test_recordings_with_another_rate_are_named():
    parts = [recording(np.arange(20) / rate).assign(_file=f"{rate}.csv") for rate in (10, 10.1, 20, 5)]
    table, run = pd.concat(parts, ignore_index=True), np.repeat(np.arange(4), 20)
    with pytest.raises(
        ValueError, match=r"20 samples per second in 20\.csv and 5 samples per second in 5\.csv, but rate"
    ):
        timed(table, run, Clock("t", 10), ["x"])
    with pytest.warns(UserWarning, match=r"has 5 samples per second in 5\.csv, but rate = 10: interpolation adds"):
        found, runs = timed(table, run, Clock("t", 10, resample=True), ["x"])
    assert np.bincount(runs).tolist() == [20, 19, 10, 39]
    assert found["x"].is_monotonic_increasing is False


def test_pauses_up_to_the_key_gap_are_filled():
    times = np.delete(np.arange(50) / 10, [20, 30, 31, 32, 33])
    with pytest.warns(UserWarning, match="1 gaps in 't', the longest of 0.5 seconds"):
        found, run = timed(recording(times), np.zeros(45, int), Clock("t", 10, resample=True, gap=0.2), ["x"])
    assert np.bincount(run).tolist() == [30, 16]
    np.testing.assert_allclose(found["x"], np.r_[np.arange(30), np.arange(34, 50)] / 10)


def test_small_jitter_is_no_gap_and_a_lost_sample_is():
    jitter = np.arange(50) / 10 + np.random.default_rng(0).normal(0, 0.005, 50)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        _, run = timed(recording(jitter), np.zeros(50, int), Clock("t", 10), ["x"])
    assert set(run) == {0}
    with pytest.warns(UserWarning, match="1 gaps in 't', the longest of 0.2 seconds"):
        _, run = timed(recording(np.delete(np.arange(50) / 10, 20)), np.zeros(49, int), Clock("t", 10), ["x"])
    assert np.bincount(run).tolist() == [20, 29]


def test_times_of_recordings_are_read_as_those_of_tables():
    """12/11, then 13/11: the day is first, as the reader of tables knows."""
    days = [f"{day}/11/2026 08:00:00" for day in (12, 13, 14)]
    table = recording([0.0, 1.0, 2.0]).assign(t=days)
    found, run = timed(table, np.zeros(3, int), Clock("t", 1 / 86_400), ["x"])
    assert run.tolist() == [0, 0, 0]
    assert found["x"].tolist() == [0, 1, 2]


@pytest.mark.parametrize("form", ["%d/%m/%Y %H:%M:%S.%f", "%m/%d/%Y %H:%M:%S.%f", "%d.%m.%Y %H:%M:%S.%f"])
@pytest.mark.parametrize("start", ["2026-11-11 23:59:58", "2026-12-11 23:59:58", "2026-02-03 23:59:58"])
def test_a_midnight_without_a_day_above_twelve_is_no_gap(form, start):
    times = (pd.Timestamp(start) + pd.to_timedelta(np.arange(40) / 10, unit="s")).strftime(form)
    table = recording(np.arange(40) / 10).assign(t=list(times))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        _, run = timed(table, np.zeros(40, int), Clock("t", 10), ["x"])
    assert set(run) == {0}


STAMPS = {
    "seconds": lambda times: times,
    "milliseconds": lambda times: times * 1e3,
    "nanoseconds since 1970": lambda times: ((1.7e9 + times) * 1e9).astype("int64"),
    "ISO": lambda times: _text(times, "%Y-%m-%dT%H:%M:%S.%f"),
    "day first": lambda times: _text(times, "%d/%m/%Y %H:%M:%S.%f"),
    "month first": lambda times: _text(times, "%m/%d/%Y %I:%M:%S.%f %p"),
}


def _text(times, form):
    return (pd.Timestamp("2026-11-12 23:59:58") + pd.to_timedelta(times, unit="s")).strftime(form)


@pytest.mark.parametrize("form", STAMPS)
def test_a_lost_sample_is_filled_in_every_form_of_times(form):
    """REVIEW C15: one lost sample ended a recording, also with `resample`."""
    times = np.delete(np.arange(50) / 10, 20)
    table = recording(times).assign(t=STAMPS[form](times))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found, run = timed(table, np.zeros(49, int), Clock("t", 10, resample=True, gap=0.25), ["x"])
    assert set(run) == {0}
    np.testing.assert_allclose(found["x"], np.arange(50) / 10, atol=1e-6)
    with pytest.warns(UserWarning, match="1 gaps in 't', the longest of 0.2 seconds"):
        _, run = timed(table, np.zeros(49, int), Clock("t", 10, resample=True), ["x"])
    assert len(set(run)) == 2
