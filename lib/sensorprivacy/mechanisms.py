"""Add differentially private noise: Laplace noise to numbers, randomized response to categories, sampled by OpenDP.

Each cell gets its own noise, so the guarantee is local. Whatever value a cell holds, every published value is at most
e^epsilon times more likely than under any other value of the column's domain. The guarantee needs no other rows.
Secure noise is for releases, seeded noise for tables of results and tests.
"""

import math
import secrets
from typing import Any, Protocol

import numpy as np
from opendp.domains import atom_domain, bitvector_domain, vector_domain
from opendp.measurements import make_laplace, make_randomized_response_bitvec
from opendp.metrics import discrete_distance, l1_distance
from opendp.mod import Measurement, enable_features

enable_features("contrib")

LARGEST_EPSILON = 100.0
_CHUNK = 65_536  # cells per call: OpenDP takes them as a list of Python numbers


class NoiseSource(Protocol):
    """A source of randomness. Only :class:`SecureNoise` makes a release private."""

    def laplace(self, values: np.ndarray, scale: float) -> np.ndarray:
        """Add Laplace noise to float64 values, or discrete Laplace noise to int64 values."""

    def flags(self, n: int, probability: float) -> np.ndarray:
        """Draw n booleans that are true with the given probability, at most 0.5."""

    def integers(self, n: int, k: int) -> np.ndarray:
        """Draw n integers uniformly from 0, 1, ..., k - 1."""


class SecureNoise:
    """Noise from OpenDP and the operating system's secure generator. It cannot be seeded."""

    def laplace(self, values: np.ndarray, scale: float) -> np.ndarray:
        """Add noise with OpenDP's exact sampler, which resists floating-point attacks; see :class:`NoiseSource`."""
        measurement = laplace_measurement(scale, integer=values.dtype.kind == "i")
        out = np.empty_like(values)
        for start in range(0, len(values), _CHUNK):
            out[start : start + _CHUNK] = measurement(values[start : start + _CHUNK].tolist())
        return out

    def flags(self, n: int, probability: float) -> np.ndarray:
        """Draw n booleans with OpenDP's exact Bernoulli sampler, in one call; see :class:`NoiseSource`."""
        # The mechanism flips each bit of a vector with probability f / 2. Applied to zeros, it draws the flags.
        flip = make_randomized_response_bitvec(bitvector_domain(max_weight=1), discrete_distance(), f=2 * probability)
        return np.unpackbits(np.frombuffer(flip(bytes((n + 7) // 8)), dtype=np.uint8), count=n).astype(bool)

    def integers(self, n: int, k: int) -> np.ndarray:
        """See :class:`NoiseSource`."""
        return np.fromiter((secrets.randbelow(k) for _ in range(n)), dtype=np.int64, count=n)


class SeededNoise:
    """Reproducible noise from a seeded NumPy generator, for result tables and tests. It protects nobody.

    Anyone who knows the seed can subtract the noise, and the floating-point digits can reveal the input.

    Parameters
    ----------
    seed : int or None
        Seed of the generator.
    """

    def __init__(self, seed: int | None) -> None:
        self.generator = np.random.default_rng(seed)

    def laplace(self, values: np.ndarray, scale: Any) -> np.ndarray:
        """Add noise of one scale, or of one scale per column; integers get rounded noise. See :class:`NoiseSource`."""
        noise = self.generator.laplace(size=values.shape) * scale
        return values + (np.rint(noise).astype(np.int64) if values.dtype.kind == "i" else noise)

    def flags(self, n: int, probability: float) -> np.ndarray:
        """See :class:`NoiseSource`."""
        return self.generator.random(n) < probability

    def integers(self, n: int, k: int) -> np.ndarray:
        """See :class:`NoiseSource`."""
        return self.generator.integers(k, size=n)


def laplace_measurement(scale: float, *, integer: bool) -> Measurement:
    """Return OpenDP's Laplace mechanism for a vector of integers or of floats."""
    kind = "i64" if integer else "f64"
    atom = atom_domain(T=kind) if integer else atom_domain(T=kind, nan=False)
    return make_laplace(vector_domain(atom), l1_distance(T=kind), scale=scale)


def check_epsilon(epsilon: float) -> None:
    """Raise ValueError unless 0 < epsilon <= 100."""
    if not 0 < epsilon <= LARGEST_EPSILON:  # false for NaN too
        raise ValueError(f"epsilon={epsilon}: give a privacy loss above 0 and at most {LARGEST_EPSILON:g}")


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
