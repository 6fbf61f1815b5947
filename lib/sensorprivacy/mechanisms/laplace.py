"""The Laplace mechanism for one column of numbers."""

import numpy as np

from sensorprivacy.mechanisms.noise import NoiseSource, check_epsilon, laplace_measurement


def laplace(values: np.ndarray, low: float, high: float, epsilon: float, source: NoiseSource) -> np.ndarray:
    """Clip numbers to their bounds and add Laplace noise to each.

    Parameters
    ----------
    values : numpy.ndarray
        n values, int64 or float64, without missing ones.
    low, high : float
        Finite bounds of the column's domain. One cell can change by at most high - low, its global sensitivity.
    epsilon : float
        Privacy loss of each cell, above 0 and at most 100.
    source : NoiseSource
        Source of the noise.

    Returns
    -------
    numpy.ndarray
        n noisy values of the same type; integers get discrete Laplace noise. Values can lie outside the bounds.

    Raises
    ------
    ValueError
        If epsilon or the bounds are invalid.

    References
    ----------
    Ali et al. (2022), Eq. (1), with the global sensitivity in place of their Eq. (2).
    """
    if not (np.isfinite([low, high]).all() and low <= high):
        raise ValueError(f"bounds {(low, high)}: give two finite numbers, low <= high")
    clipped = np.clip(values, low, high).astype(values.dtype)
    if high == low:
        return clipped  # only one value is possible, so there is nothing to hide
    return source.laplace(clipped, laplace_scale(low, high, epsilon, integer=values.dtype.kind == "i"))


def laplace_scale(low: float, high: float, epsilon: float, *, integer: bool) -> float:
    """Return the smallest noise scale for which OpenDP certifies the given epsilon, to a part in 10^15.

    Parameters
    ----------
    low, high : float
        Bounds of the domain, low < high.
    epsilon : float
        Privacy loss, above 0 and at most 100.
    integer : bool
        Whether the noise is discrete.

    Returns
    -------
    float
        (high - low) / epsilon, raised until OpenDP's conservatively rounded privacy map accepts it.
    """
    check_epsilon(epsilon)
    width = int(high) - int(low) if integer else float(high) - float(low)
    scale = width / epsilon
    while laplace_measurement(scale, integer=integer).map(width) > epsilon:
        scale *= 1 + 2**-51
    return scale
