"""Utility that the activity's label alone does not keep: cadence and intensity of the movement."""

import warnings
from collections.abc import Callable, Mapping

import numpy as np
import pandas as pd

from sensorprivacy.data import Windows
from sensorprivacy.latent.windows import recording_of

_SLOWEST, _FASTEST = 45.0, 220.0  # steps per minute
_CLEAR = 0.3  # autocorrelation of a rhythm
_HARMONIC = 0.85  # a peak at a multiple of the period is seldom this much higher than the first


def acceleration(windows: Windows) -> np.ndarray:
    """Return the magnitude of the acceleration, n x samples.

    The channels whose name begins with "acc" are used; without such names, all channels.
    """
    names = [str(name).lower() for name in windows.provenance.get("channels", [])]
    chosen = [at for at, name in enumerate(names) if name.startswith("acc")] or list(range(windows.n_channels))
    signal = windows.values[:, chosen].astype(float)  # noqa: PD011 (windows)
    return np.asarray(np.sqrt((signal**2).sum(axis=1)))


def intensity(windows: Windows) -> np.ndarray:
    """Return the root mean square of each window's acceleration around its mean, in the channel's unit."""
    return np.asarray(acceleration(windows).std(axis=1))


def cadence(windows: Windows) -> np.ndarray:
    """Return the steps per minute of each window, by the first high peak of the acceleration's autocorrelation.

    Parameters
    ----------
    windows : Windows
        Windows. Their ``provenance["rate"]`` (Hz) is needed; at least one and a half steps must fit in a window.

    Returns
    -------
    numpy.ndarray of float64, shape (n,)
        From 45 to 220; 0 for a window without a rhythm.
    """
    rate, signal = float(windows.provenance.get("rate", 50)), acceleration(windows)
    signal = signal - signal.mean(axis=1, keepdims=True)
    length = signal.shape[1]
    power = np.abs(np.fft.rfft(signal, 2 * length, axis=1)) ** 2
    # unbiased: a lag has fewer pairs of samples, the longer it is
    correlation = np.fft.irfft(power, axis=1)[:, :length] / np.arange(length, 0, -1)
    correlation /= np.maximum(correlation[:, :1], 1e-12)
    first = max(2, int(np.floor(60 * rate / _FASTEST)))
    last = min(int(np.ceil(60 * rate / _SLOWEST)), int(0.7 * length))
    if last <= first + 1:
        return np.zeros(len(signal))
    inside = correlation[:, first : last + 1]
    peak = (inside >= correlation[:, first - 1 : last]) & (inside > correlation[:, first + 1 : last + 2])
    heights = np.where(peak, inside, -1.0)
    highest = heights.max(axis=1)
    lag = first + (heights >= _HARMONIC * highest[:, None]).argmax(axis=1)
    rows = np.arange(len(signal))
    left, middle, right = (correlation[rows, lag + by] for by in (-1, 0, 1))
    bend = left - 2 * middle + right
    lag = lag + np.where(np.abs(bend) > 1e-12, 0.5 * (left - right) / np.where(bend == 0, 1, bend), 0)
    return np.where(highest > _CLEAR, 60 * rate / lag, 0.0)


def measured(windows: Windows) -> pd.DataFrame:
    """Return ``cadence`` (steps per minute) and ``intensity`` (unit of the acceleration) of each window."""
    return pd.DataFrame({"cadence": cadence(windows), "intensity": intensity(windows)})


def utility_table(releases: Mapping[str, Callable[[Windows], Windows]], test: Windows) -> pd.DataFrame:
    """Return the error of cadence and intensity that are measured on published windows.

    Parameters
    ----------
    releases : mapping of str to callable
        Functions that publish windows, by name. A release that estimates both itself (``estimated``) is taken at that.
    test : Windows
        Raw test windows. Those without a rhythm are left out of the errors of cadence.

    Returns
    -------
    pandas.DataFrame
        By release: ``cadence_error`` (steps per minute) and ``intensity_error`` (unit of the acceleration), medians of
        the absolute errors over windows; the same over recordings with the ending ``_recording``, where the median of a
        recording's windows is compared. A published window without a rhythm has cadence 0.
    """
    raw, recordings, rows = measured(test), recording_of(test), {}
    for name, release in releases.items():
        try:
            estimated = getattr(release, "estimated", None)
            found = estimated(test) if estimated is not None else measured(release(test))
        except (ValueError, ArithmeticError, RuntimeError) as error:
            warnings.warn(f"{name}: {error}", stacklevel=2)
            continue
        row = {}
        for column in ("cadence", "intensity"):
            known = (raw["cadence"] > 0).to_numpy() if column == "cadence" else np.ones(len(raw), dtype=bool)
            pairs = pd.DataFrame({"raw": raw[column], "found": found[column].to_numpy()})[known]
            by_recording = pairs.groupby(recordings[known]).median()
            for ending, both in (("", pairs), ("_recording", by_recording)):
                row[f"{column}_error{ending}"] = float((both["raw"] - both["found"]).abs().median())
        rows[name] = row
    return pd.DataFrame.from_dict(rows, orient="index").rename_axis("release")
