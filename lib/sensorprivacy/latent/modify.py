"""Modify of Algorithm 1: to which private class a window is moved, and the randomness behind it."""

import secrets
from collections.abc import Mapping, Sequence
from typing import Literal, Protocol, get_args

import numpy as np

Modify = Literal["deterministic", "probabilistic", "uniform", "constant"]


class Source(Protocol):
    """Where an anonymizer's randomness comes from."""

    def bytes(self, count: int) -> bytes:
        """Return so many random bytes."""


class SecretSource:
    """The operating system's secure generator, through Python's ``secrets``: what runs in production."""

    def bytes(self, count: int) -> bytes:
        """Return so many bytes that nobody can foresee or repeat."""
        return secrets.token_bytes(count)


class SeededSource:
    """Repeatable randomness for tests and experiments; whoever knows the seed undoes the change.

    Parameters
    ----------
    seed : int
        Fixes the stream.
    """

    def __init__(self, seed: int) -> None:
        self._generator = np.random.default_rng(seed)

    def bytes(self, count: int) -> bytes:
        """Return the next bytes of the stream."""
        return self._generator.bytes(count)


def generator_of(source: Source) -> np.random.Generator:
    """Return a fast generator seeded with 256 bits of a source, for noise and for the choice of donors.

    Its stream is as secret as its seed, but it is no cryptographic generator; decisions of Modify never come from it.
    """
    return np.random.default_rng(int.from_bytes(source.bytes(32), "big"))


def coins(source: Source, count: int) -> np.ndarray:
    """Return independent fair decisions, one a window, bool."""
    return np.unpackbits(np.frombuffer(source.bytes(-(-count // 8)), dtype=np.uint8))[:count].astype(bool)


def uniform(source: Source, count: int, classes: int) -> np.ndarray:
    """Return uniformly drawn class codes; 64 bits each, so that the remainder favours none by more than 1e-18."""
    return (np.frombuffer(source.bytes(8 * count), dtype=np.uint64) % np.uint64(classes)).astype(np.int64)


def bijection_codes(bijection: Mapping[str, str] | None, classes: Sequence[str]) -> np.ndarray:
    """Return where each class goes, as codes; without a bijection each goes to the next, the last to the first.

    Raises
    ------
    ValueError
        If it does not send every class to another one-to-one.
    """
    if bijection is None:
        return (np.arange(len(classes)) + 1) % len(classes)
    if sorted(bijection) != sorted(classes) or sorted(bijection.values()) != sorted(classes):
        raise ValueError(
            f"bijection {dict(bijection)} must send each of {', '.join(classes)} to one of them, one-to-one"
        )
    return np.array([list(classes).index(bijection[name]) for name in classes], dtype=np.int64)


def targets(private: np.ndarray, modify: Modify, mapping: np.ndarray, source: Source) -> np.ndarray:
    """Return the private class that each window is moved to, p' = Modify(p).

    Parameters
    ----------
    private : numpy.ndarray of int64, shape (n,)
        Inferred private class p.
    modify : {"deterministic", "probabilistic", "uniform", "constant"}
        ``deterministic``: the bijection, always. ``probabilistic``: the paper's, a coin a window decides whether the
        bijection is applied. ``uniform`` (ours): any class, independent of p; with two classes the same thing.
        ``constant`` (ours): every window to the first class.
    mapping : numpy.ndarray of int64, shape (classes,)
        The bijection.
    source : Source
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
