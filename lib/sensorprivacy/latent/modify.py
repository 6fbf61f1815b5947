"""Randomness of an anonymizer: Modify of Algorithm 1 chooses the private class that each window is moved to.

Noise replaces the fine detail that decoding loses; it has the same spectrum. This module needs only NumPy and the
standard library, because devices without PyTorch use it.
"""

import secrets
from collections.abc import Mapping, Sequence
from typing import Literal, Protocol, get_args

import numpy as np

Modify = Literal["deterministic", "probabilistic", "uniform", "constant"]


class RandomSource(Protocol):
    """A source of random bytes for an anonymizer."""

    def bytes(self, count: int) -> bytes:
        """Return `count` random bytes."""


class SecretSource:
    """The operating system's secure generator, through Python's ``secrets``. Use it in production."""

    def bytes(self, count: int) -> bytes:
        """Return `count` bytes that nobody can predict or repeat."""
        return secrets.token_bytes(count)


class SeededSource:
    """Repeatable randomness for tests and experiments. Anyone who knows the seed can undo the change.

    Parameters
    ----------
    seed : int or sequence of int
        Fixes the stream.
    """

    def __init__(self, seed: int | Sequence[int]) -> None:
        self._generator = np.random.default_rng(seed)

    def bytes(self, count: int) -> bytes:
        """Return the next `count` bytes of the stream."""
        return self._generator.bytes(count)


def generator_of(source: RandomSource) -> np.random.Generator:
    """Return a fast generator seeded with 256 bits of a source, for noise and for the choice of donors.

    Its stream is as secret as its seed, but it is not a cryptographic generator. Modify never uses it.
    """
    return np.random.default_rng(int.from_bytes(source.bytes(32), "big"))


def coins(source: RandomSource, count: int) -> np.ndarray:
    """Return `count` independent fair decisions, as bool."""
    return np.unpackbits(np.frombuffer(source.bytes(-(-count // 8)), dtype=np.uint8))[:count].astype(bool)


def uniform(source: RandomSource, count: int, classes: int) -> np.ndarray:
    """Return `count` uniformly drawn class codes; the remainder of 64 random bits favours no class by over 1e-18."""
    return (np.frombuffer(source.bytes(8 * count), dtype=np.uint64) % np.uint64(classes)).astype(np.int64)


def bijection_codes(bijection: Mapping[str, str] | None, classes: Sequence[str]) -> np.ndarray:
    """Return the code of each class's new class. By default each class becomes the next, and the last the first.

    Raises
    ------
    ValueError
        If the bijection does not map all classes one-to-one onto themselves.
    """
    if bijection is None:
        return (np.arange(len(classes)) + 1) % len(classes)
    if sorted(bijection) != sorted(classes) or sorted(bijection.values()) != sorted(classes):
        raise ValueError(f"bijection {dict(bijection)} must map {', '.join(classes)} one-to-one onto themselves")
    return np.array([list(classes).index(bijection[name]) for name in classes], dtype=np.int64)


def targets(private: np.ndarray, modify: Modify, mapping: np.ndarray, source: RandomSource) -> np.ndarray:
    """Return the private class that each window is moved to, p' = Modify(p).

    Parameters
    ----------
    private : numpy.ndarray of int64, shape (n,)
        Inferred private class p.
    modify : {"deterministic", "probabilistic", "uniform", "constant"}
        ``deterministic`` (the paper's): always apply the bijection. ``probabilistic`` (the paper's): toss a fair coin
        for each window to decide whether to apply it. ``uniform`` (ours): any class, independent of p; for two classes
        this equals ``probabilistic``. ``constant`` (ours): the first class for every window.
    mapping : numpy.ndarray of int64, shape (classes,)
        The bijection.
    source : RandomSource
        Randomness.

    Returns
    -------
    numpy.ndarray of int64
        p' of each window.

    References
    ----------
    Paper 3, Algorithm 1 and section 4.3.
    """
    if modify not in get_args(Modify):
        raise ValueError(f"modify {modify!r} is unknown: choose from {', '.join(get_args(Modify))}")
    if modify == "uniform":
        return uniform(source, len(private), len(mapping))
    if modify == "constant":
        return np.zeros_like(private)
    moved = mapping[private]
    return moved if modify == "deterministic" else np.where(coins(source, len(private)), moved, private)


def lost_spectra(lost: np.ndarray, private: np.ndarray, classes: int) -> np.ndarray:
    """Return the spectrum of what decoding lost, for each private class.

    Parameters
    ----------
    lost : numpy.ndarray of shape (n, channels, length)
        Scaled windows minus their reconstructions.
    private : numpy.ndarray of int, shape (n,)
        Private class of each window.
    classes : int
        Number of private classes. Each needs at least one window.

    Returns
    -------
    numpy.ndarray of float32, shape (classes, channels, length // 2 + 1)
        Root mean square of each Fourier coefficient.
    """
    power = np.abs(np.fft.rfft(lost, axis=2)) ** 2
    return np.stack([np.sqrt(power[private == code].mean(axis=0)) for code in range(classes)]).astype(np.float32)


def draw_noise(spectra: np.ndarray, length: int, generator: np.random.Generator) -> np.ndarray:
    """Draw stationary Gaussian noise with given spectra; channels are independent.

    Parameters
    ----------
    spectra : numpy.ndarray of shape (n, channels, length // 2 + 1)
        Root mean square of each Fourier coefficient, see `lost_spectra`.
    length : int
        Samples per window.
    generator : numpy.random.Generator
        Source of randomness.

    Returns
    -------
    numpy.ndarray of float32, shape (n, channels, length)
    """
    white = np.fft.rfft(generator.standard_normal((*spectra.shape[:2], length)), axis=2) / np.sqrt(length)
    return np.fft.irfft(white * spectra, length, axis=2).astype(np.float32)
