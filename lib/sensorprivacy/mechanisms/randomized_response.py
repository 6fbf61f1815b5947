"""Randomized response for one column of categories."""

import math

import numpy as np

from sensorprivacy.mechanisms.noise import NoiseSource, check_epsilon


def randomized_response(codes: np.ndarray, k: int, epsilon: float, source: NoiseSource) -> np.ndarray:
    """Replace some categories by random ones (k-ary randomized response).

    A cell keeps its category with the first probability of :func:`response_probabilities`. Otherwise it gets one of
    the k categories at random. Its true category is then e^epsilon times as likely as any other.

    Parameters
    ----------
    codes : numpy.ndarray
        n categories as integers 0 to k - 1.
    k : int
        Number of categories of the domain.
    epsilon : float
        Privacy loss of each cell, above 0 and at most 100.
    source : NoiseSource
        Source of the randomness.

    Returns
    -------
    numpy.ndarray
        n noisy codes.

    References
    ----------
    P. Kairouz, S. Oh, P. Viswanath, "Extremal mechanisms for local differential privacy", JMLR 17 (2016). OpenDP's
    ``make_randomized_response`` is the same mechanism for one cell per call. Drawing a whole column at once is about
    forty times faster (bench/threeway_noise.py).
    """
    check_epsilon(epsilon)
    if k < 2:
        return codes.copy()
    kept, redrawn = response_probabilities(k, epsilon)
    # Draw the rarer of the two events, so that its probability is exact to the last bit.
    replace = source.flags(len(codes), redrawn) if redrawn <= 0.5 else ~source.flags(len(codes), kept)
    out = codes.astype(np.int64)
    out[replace] = source.integers(int(replace.sum()), k)
    return out


def response_probabilities(k: int, epsilon: float) -> tuple[float, float]:
    """Return the probabilities that randomized response keeps a cell and that it redraws it.

    Parameters
    ----------
    k : int
        Number of categories, at least 2.
    epsilon : float
        Privacy loss, above 0.

    Returns
    -------
    tuple of float
        (e^epsilon - 1) / (e^epsilon + k - 1), rounded down by a part in 10^12, and k / (e^epsilon + k - 1), rounded up
        by as much. Both roundings favour privacy.
    """
    shrunk = math.exp(-epsilon)
    whole = 1 + (k - 1) * shrunk
    return -math.expm1(-epsilon) / whole * (1 - 1e-12), k * shrunk / whole * (1 + 1e-12)
