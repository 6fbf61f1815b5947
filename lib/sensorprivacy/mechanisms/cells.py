"""The two mechanisms that noise a column, cell by cell: Laplace for numbers, randomized response for categories.

Each cell is noised by itself, so the guarantee is local: whatever a cell held, its published value is at most
e^epsilon times more likely than had it held anything else in the column's domain. No other row is needed for it.
"""

import math
import secrets
from typing import Protocol

import numpy as np
import opendp.prelude as dp

dp.enable_features("contrib")

LARGEST_EPSILON = 100.0
_CHUNK = 65_536  # cells handed to OpenDP at a time, which takes them as a list of Python numbers


class Noiser(Protocol):
    """A source of randomness. Only :class:`SecureNoiser` makes a release private; tests pass a seeded one."""

    def laplace(self, values: np.ndarray, scale: float) -> np.ndarray:
        """Return float64 or int64 values with noise of the (discrete, for integers) Laplace distribution added."""

    def flags(self, n: int, probability: float) -> np.ndarray:
        """Return n flags, each true with a probability of at most .5."""

    def integers(self, n: int, k: int) -> np.ndarray:
        """Return n whole numbers, uniform over 0, 1, ..., k - 1."""


class SecureNoiser:
    """Noise from OpenDP and the operating system's secure generator; cannot be seeded."""

    def laplace(self, values: np.ndarray, scale: float) -> np.ndarray:
        """See :class:`Noiser`; OpenDP's sampler is exact and safe against floating-point attacks."""
        measurement = laplace_measurement(scale, integer=values.dtype.kind == "i")
        out = np.empty_like(values)
        for start in range(0, len(values), _CHUNK):
            out[start : start + _CHUNK] = measurement(values[start : start + _CHUNK].tolist())
        return out

    def flags(self, n: int, probability: float) -> np.ndarray:
        """See :class:`Noiser`; OpenDP's exact Bernoulli sampler, all n in one call."""
        # the bit-vector mechanism turns each bit over with probability f / 2; turned on zeros, that is the flags
        flip = dp.m.make_randomized_response_bitvec(
            dp.bitvector_domain(max_weight=1), dp.discrete_distance(), f=2 * probability
        )
        return np.unpackbits(np.frombuffer(flip(bytes((n + 7) // 8)), dtype=np.uint8), count=n).astype(bool)

    def integers(self, n: int, k: int) -> np.ndarray:
        """See :class:`Noiser`."""
        return np.fromiter((secrets.randbelow(k) for _ in range(n)), dtype=np.int64, count=n)


def laplace(values: np.ndarray, low: float, high: float, epsilon: float, noiser: Noiser) -> np.ndarray:
    """Noise numbers by the Laplace mechanism.

    Parameters
    ----------
    values : numpy.ndarray
        n values, int64 or float64, without missing ones. They are clipped to [low, high].
    low, high : float
        Bounds of the domain. A cell can change by at most high - low, so that is the (global) sensitivity.
    epsilon : float
        Privacy loss of each cell, above 0.
    noiser : Noiser
        Where the noise comes from.

    Returns
    -------
    numpy.ndarray
        n noised values of the same type; integers get discrete Laplace noise. They may lie outside the bounds.

    References
    ----------
    Ali et al. (2022), Eq. (1), with the global sensitivity in place of their Eq. (2).
    """
    clipped = np.clip(values, low, high).astype(values.dtype)
    if high == low:
        return clipped  # one possible value: there is nothing to tell apart
    return noiser.laplace(clipped, laplace_scale(low, high, epsilon, integer=values.dtype.kind == "i"))


def laplace_scale(low: float, high: float, epsilon: float, *, integer: bool) -> float:
    """Return the smallest noise scale (to a part in 10^15) for which OpenDP certifies the asked-for epsilon.

    Parameters
    ----------
    low, high : float
        Bounds of the domain, low < high.
    epsilon : float
        Privacy loss, above 0.
    integer : bool
        Whether the noise is discrete.

    Returns
    -------
    float
        (high - low) / epsilon, raised by as much as OpenDP's own, conservatively rounded privacy map asks for.
    """
    check_epsilon(epsilon)
    width = int(high) - int(low) if integer else float(high) - float(low)
    scale = width / epsilon
    while laplace_measurement(scale, integer=integer).map(width) > epsilon:
        scale *= 1 + 2**-51
    return scale


def laplace_measurement(scale: float, *, integer: bool) -> dp.Measurement:
    """Return OpenDP's Laplace mechanism over a vector of integers or of floats."""
    kind = "i64" if integer else "f64"
    atom = dp.atom_domain(T=kind) if integer else dp.atom_domain(T=kind, nan=False)
    return dp.m.make_laplace(dp.vector_domain(atom), dp.l1_distance(T=kind), scale=scale)


def randomized_response(codes: np.ndarray, k: int, epsilon: float, noiser: Noiser) -> np.ndarray:
    """Noise categories by k-ary randomized response.

    A cell is kept with the probability of :func:`keep_share` and otherwise drawn anew, uniformly from all k
    categories. Its true value then comes out e^epsilon times as often as any other.

    Parameters
    ----------
    codes : numpy.ndarray
        n categories as whole numbers 0 to k - 1.
    k : int
        Number of categories of the domain.
    epsilon : float
        Privacy loss of each cell, above 0.
    noiser : Noiser
        Where the randomness comes from.

    Returns
    -------
    numpy.ndarray
        n noised codes.

    References
    ----------
    P. Kairouz, S. Oh, P. Viswanath, "Extremal mechanisms for local differential privacy", JMLR 17 (2016). OpenDP's
    ``make_randomized_response`` is the same mechanism for one cell a call; drawn over a whole column it costs some
    forty times less (bench/threeway_noise.py).
    """
    check_epsilon(epsilon)
    if k < 2:
        return codes.copy()
    kept, redrawn = keep_share(k, epsilon)
    # the rarer of the two events is drawn, so that its probability is exact to the last bit
    again = noiser.flags(len(codes), redrawn) if redrawn <= 0.5 else ~noiser.flags(len(codes), kept)
    out = codes.astype(np.int64)
    out[again] = noiser.integers(int(again.sum()), k)
    return out


def keep_share(k: int, epsilon: float) -> tuple[float, float]:
    """Return the probabilities that randomized response keeps a cell and that it draws it anew.

    Parameters
    ----------
    k : int
        Number of categories, at least 2.
    epsilon : float
        Privacy loss, above 0.

    Returns
    -------
    tuple of float
        (e^epsilon - 1) / (e^epsilon + k - 1) and k / (e^epsilon + k - 1), each rounded to the private side, the first
        down and the second up by a part in 10^12.
    """
    shrunk = math.exp(-epsilon)
    whole = 1 + (k - 1) * shrunk
    return -math.expm1(-epsilon) / whole * (1 - 1e-12), k * shrunk / whole * (1 + 1e-12)


def check_epsilon(epsilon: float) -> None:
    """Raise ValueError unless 0 < epsilon <= 100."""
    if not 0 < epsilon <= LARGEST_EPSILON:  # false for NaN too
        raise ValueError(
            f"epsilon={epsilon}: must lie above 0 (no noise is finite there) and at most at {LARGEST_EPSILON:g}"
        )
