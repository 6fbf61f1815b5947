"""Sources of randomness for the mechanisms: secure noise for releases, seeded noise for tables and tests."""

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
