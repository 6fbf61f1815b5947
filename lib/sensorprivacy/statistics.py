"""Compute summary statistics of many windows at once, without a Python loop over them."""

from collections.abc import Sequence
from itertools import combinations

import numpy as np
import pandas as pd


def window_statistics(
    values: np.ndarray, channels: Sequence[str], rate: float, correlated: Sequence[str] = ()
) -> pd.DataFrame:
    """Return dense statistics of each window, the features of classical activity recognition.

    Parameters
    ----------
    values : numpy.ndarray of shape (n, channels, length)
        Windows, all values finite.
    channels : sequence of str
        Name of each channel.
    rate : float
        Samples a second, Hz.
    correlated : sequence of str
        Channels whose pairwise correlations are added.

    Returns
    -------
    pandas.DataFrame
        n rows. For each channel, columns ``<channel>_<statistic>``: mean; std; min; q1, median, q3; max; energy (mean
        square); deviation (mean absolute deviation from the mean); change (mean absolute difference of neighbouring
        samples); skewness and (excess) kurtosis; crossings (share of neighbouring samples on both sides of the mean);
        frequency (Hz) of the strongest component of the spectrum; spectral_entropy of the power spectrum, from 0 (one
        line) to 1 (flat). Both leave out the constant component. Then ``correlation_<a>_<b>`` for each pair of
        `correlated`. In a window without variation, skewness, kurtosis, frequency, spectral entropy and correlation
        are undefined and therefore 0.

    Raises
    ------
    ValueError
        If the numbers of channels and of names differ.
    """
    if values.ndim != 3 or values.shape[1] != len(channels):
        raise ValueError(f"{len(channels)} channel names ({', '.join(channels)}) for windows of shape {values.shape}")
    values = np.asarray(values, dtype=float)
    centred = values - values.mean(axis=2, keepdims=True)
    table = _channel_statistics(values, centred, rate)
    columns = {
        f"{channel}_{statistic}": found[:, at]
        for at, channel in enumerate(channels)
        for statistic, found in table.items()
    }
    norm = np.sqrt((centred**2).sum(axis=2))
    for one, other in combinations([list(channels).index(name) for name in correlated], 2):
        product = (centred[:, one] * centred[:, other]).sum(axis=1)
        columns[f"correlation_{channels[one]}_{channels[other]}"] = _ratio(product, norm[:, one] * norm[:, other])
    return pd.DataFrame(columns)


def _channel_statistics(values: np.ndarray, centred: np.ndarray, rate: float) -> dict[str, np.ndarray]:
    """Return each statistic of `window_statistics`, of shape (n, channels)."""
    length = values.shape[2]
    low, q1, median, q3, high = np.quantile(values, [0, 0.25, 0.5, 0.75, 1], axis=2)
    square = centred * centred
    variance = square.mean(axis=2)
    # rounding gives a constant channel a variance near 0, but not 0
    variance = np.where(variance > 1e-12 * np.maximum(np.abs(values).max(axis=2) ** 2, 1e-300), variance, 0)
    power = np.abs(np.fft.rfft(centred, axis=2)[:, :, 1:]) ** 2
    share = _ratio(power, power.sum(axis=2, keepdims=True)) * (variance > 0)[:, :, None]
    strongest = (power.argmax(axis=2) + 1) * rate / length
    entropy = -(share * np.log(np.where(share > 0, share, 1))).sum(axis=2) / np.log(max(share.shape[2], 2))
    return {
        "mean": values.mean(axis=2),
        "std": np.sqrt(variance),
        "min": low,
        "q1": q1,
        "median": median,
        "q3": q3,
        "max": high,
        "energy": (values**2).mean(axis=2),
        "deviation": np.abs(centred).mean(axis=2),
        "change": np.abs(np.diff(values, axis=2)).mean(axis=2),
        # products: numpy's powers of arrays take 30 times as long
        "skewness": _ratio((square * centred).mean(axis=2), variance**1.5),
        "kurtosis": _ratio((square * square).mean(axis=2), variance**2, otherwise=3.0) - 3,
        "crossings": (np.diff(centred > 0, axis=2) & (variance > 0)[:, :, None]).mean(axis=2),
        "frequency": np.where(variance > 0, strongest, 0),
        "spectral_entropy": entropy,
    }


def _ratio(over: np.ndarray, under: np.ndarray, otherwise: float = 0.0) -> np.ndarray:
    """Return over / under, and `otherwise` where under is 0."""
    over, under = np.broadcast_arrays(over, under)
    return np.divide(over, under, out=np.full(over.shape, otherwise), where=under > 0)
