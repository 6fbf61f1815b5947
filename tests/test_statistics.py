"""Statistics of windows, held against numpy and scipy, one window at a time."""

import numpy as np
import pytest
import scipy.stats
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from sensorprivacy.statistics import window_statistics


def plain_window(signal, rate):
    """The definitions of the docstring, for one channel of one window."""
    centred = signal - signal.mean()
    power = np.abs(np.fft.fft(centred)[1 : len(signal) // 2 + 1]) ** 2
    return {
        "mean": np.mean(signal),
        "std": np.std(signal),
        "min": np.min(signal),
        "q1": np.percentile(signal, 25),
        "median": np.median(signal),
        "q3": np.percentile(signal, 75),
        "max": np.max(signal),
        "energy": np.mean(np.square(signal)),
        "deviation": np.mean(np.abs(centred)),
        "change": np.mean(np.abs(np.diff(signal))),
        "skewness": scipy.stats.skew(signal),
        "kurtosis": scipy.stats.kurtosis(signal),
        "crossings": np.mean((centred[1:] > 0) != (centred[:-1] > 0)),
        "frequency": np.fft.fftfreq(len(signal), 1 / rate)[1 : len(signal) // 2][
            power[: len(signal) // 2 - 1].argmax()
        ],
        "spectral_entropy": scipy.stats.entropy(power) / np.log(len(power)),
    }


def test_windows_against_scipy():
    rng = np.random.default_rng(5)
    values = rng.normal(size=(20, 3, 64)).cumsum(axis=2).astype(np.float32)
    found = window_statistics(values, ["a", "b", "c"], 50.0, correlated=["a", "c"])
    assert found.shape == (20, 3 * 15 + 1)
    for row in range(20):
        for at, channel in enumerate("abc"):
            expected = plain_window(values[row, at].astype(float), 50.0)
            assert list(found.columns[15 * at : 15 * (at + 1)]) == [f"{channel}_{name}" for name in expected]
            for name, value in expected.items():
                assert found.loc[row, f"{channel}_{name}"] == pytest.approx(value, rel=1e-7, abs=1e-9), name
        wanted = np.corrcoef(values[row, 0].astype(float), values[row, 2].astype(float))[0, 1]
        assert found.loc[row, "correlation_a_c"] == pytest.approx(wanted)


def test_a_sine_has_its_frequency_and_no_spectral_entropy():
    time = np.arange(100) / 50
    found = window_statistics(np.sin(2 * np.pi * 4 * time + 0.3)[None, None], ["a"], 50.0).iloc[0]
    assert found["a_frequency"] == pytest.approx(4.0)
    assert found["a_spectral_entropy"] == pytest.approx(0, abs=1e-9)
    assert found["a_energy"] == pytest.approx(0.5)


@given(arrays(np.float32, (2, 2, 8), elements=st.floats(-100, 100, width=32)), st.floats(-100, 100, width=32))
def test_no_window_gives_a_missing_value(values, level):
    values[0, 0] = level  # a sensor that is stuck
    found = window_statistics(values, ["a", "b"], 50.0, correlated=["a", "b"])
    assert np.isfinite(found).all(axis=None)
    undefined = ["std", "skewness", "kurtosis", "frequency", "spectral_entropy", "crossings"]
    assert found.loc[0, [f"a_{name}" for name in undefined] + ["correlation_a_b"]].abs().max() < 1e-6


def test_every_channel_needs_a_name():
    with pytest.raises(ValueError, match=r"1 channel names \(a\) for windows of shape \(3, 2, 9\)"):
        window_statistics(np.zeros((3, 2, 9)), ["a"], 50.0)
