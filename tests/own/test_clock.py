"""The times of recordings are checked, and resampled with known answers."""

import warnings

import numpy as np
import pandas as pd
import pytest

from sensorprivacy.own.read.clock import Clock, timed


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


def test_of_equal_times_the_first_counts():
    found, _ = timed(recording([0, 1, 1, 2], [0, 1, 9, 2]), np.zeros(4, int), Clock("t", 1, resample=True), ["x"])
    assert found["x"].tolist() == [0, 1, 2]
    with pytest.raises(ValueError, match=r"a\.csv: column 't' is out of order: 1 follows 1 \(1 times in all\)"):
        timed(recording([0, 1, 1, 2]), np.zeros(4, int), Clock("t", 1), ["x"])


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
