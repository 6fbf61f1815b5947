"""Compiled functions of the shared forest that draw random numbers and sort items by code.

Random numbers are computed from a key and a counter, so they do not depend on the order of calls. All functions release
the interpreter lock and write only to the arrays that they are given.
"""

# mypy: allow-untyped-defs, disable-error-code="assignment"

from typing import Any

import numpy as np
from numba import njit

GOLDEN = np.uint64(0x9E3779B97F4A7C15)
_MIX_1 = np.uint64(0xBF58476D1CE4E5B9)
_MIX_2 = np.uint64(0x94D049BB133111EB)
_U27, _U30, _U31, _U32 = (np.uint64(bits) for bits in (27, 30, 31, 32))


@njit(nogil=True, cache=True, inline="always")
def mix(state):
    """Mix the bits of a 64-bit state with the finalizer of SplitMix64 (Steele et al., OOPSLA 2014)."""
    state = (state ^ (state >> _U30)) * _MIX_1
    state = (state ^ (state >> _U27)) * _MIX_2
    return state ^ (state >> _U31)


@njit(nogil=True, cache=True, inline="always")
def draw(key, counter, bound):
    """Draw a number from 0 ... bound - 1 by key and counter, uniform up to a bias below bound / 2**32."""
    bits = mix(key + GOLDEN * np.uint64(counter))
    return np.int64(((bits >> _U32) * np.uint64(bound)) >> _U32)


@njit(nogil=True, cache=True)
def tree_keys(seed, subset, n_trees):
    """Return a random key for each tree. It depends only on the seed, the subset's columns and the tree.

    Parameters
    ----------
    seed : uint64
        Seed of the forest.
    subset : ndarray of int64
        Positions of the columns, ascending.
    n_trees : int
        Number of trees.

    Returns
    -------
    ndarray of uint64, shape (n_trees,)
    """
    base = mix(seed + GOLDEN)
    for i in range(subset.shape[0]):
        base = mix(base + GOLDEN * np.uint64(subset[i] + 1))
    keys = np.empty(n_trees, np.uint64)
    for tree in range(n_trees):
        keys[tree] = mix(base + GOLDEN * np.uint64(tree + 1))
    return keys


SMALL = 24  # up to this many items are sorted by insertion
DIGIT = 8  # bits of a digit of the radix sort
BINS = 1 << DIGIT

# functions compiled with these options allocate nothing and count no references
BARE: dict[str, Any] = {"nogil": True, "cache": True, "_nrt": False}
_MASK, _STEP = np.uint64(BINS - 1), np.uint64(DIGIT)


@njit(**BARE, forceinline=True)
def _insertion(rows, at, m, shift):
    """Sort rows[at, :m] by the bits above the lowest ``shift`` bits."""
    for i in range(1, m):
        key = rows[at, i]
        code = key >> shift
        j = i
        while j > 0 and (rows[at, j - 1] >> shift) > code:
            rows[at, j] = rows[at, j - 1]
            j -= 1
        rows[at, j] = key


@njit(**BARE)
def _sort_by_digit(rows, source, target, m, low, shift, bins):
    """Write the items of one row to another, sorted by one digit of their codes; equal digits keep their order."""
    for b in range(BINS):
        bins[b] = 0
    for i in range(m):
        bins[((rows[source, i] - low) >> shift) & _MASK] += 1
    total = 0
    for b in range(BINS):
        count = bins[b]
        bins[b] = total
        total += count
    for i in range(m):
        key = rows[source, i]
        b = ((key - low) >> shift) & _MASK
        rows[target, bins[b]] = key
        bins[b] += 1


@njit(**BARE)
def sort_by_code(rows, at, spare, m, low, high, shift, bins):
    """Sort rows[at, :m] by their codes; return which of the rows ``at`` and ``spare`` has the result.

    Few items are sorted by insertion, more by a radix sort. The time of a radix sort does not depend on the
    distribution of the codes.

    Parameters
    ----------
    rows : ndarray of uint64, shape (r, capacity)
        Items. Their codes are the bits above the lowest `shift` bits.
    at, spare : int
        Row with the items, and a spare row.
    m : int
        Number of items.
    low, high : uint64
        Smallest and largest code.
    shift : uint64
        Bits below the code.
    bins : ndarray of int32, shape (BINS,)
        Spare counters.
    """
    if m <= SMALL:
        _insertion(rows, at, m, shift)
        return at
    digit, lowest = shift, low << shift
    while (high - low) >> (digit - shift) > 0:
        _sort_by_digit(rows, at, spare, m, lowest, digit, bins)
        at, spare = spare, at
        digit += _STEP
    return at


@njit(nogil=True, cache=True)
def sorted_items(codes, classes, lay):
    """Return the items of weight zero of each column, sorted by code; equal codes keep the order of the rows.

    Parameters
    ----------
    codes : ndarray of unsigned integers, shape (k, n)
        Coded columns.
    classes : ndarray of int64, shape (n,)
        Class of each row.
    lay : Layout
        Layout of the items.

    Returns
    -------
    ndarray of uint64, shape (k, n)
    """
    k, n = codes.shape
    ordered = np.empty((k, n), np.uint64)
    lists = np.empty((2, n), np.uint64)
    bins = np.empty(BINS, np.int32)
    for f in range(k):
        low = high = np.uint64(codes[f, 0])
        for i in range(np.uint64(n)):
            code = np.uint64(codes[f, i])
            low, high = min(low, code), max(high, code)
            lists[0, i] = (code << lay.code) | (np.uint64(i) << lay.row) | np.uint64(classes[i])
        ordered[f] = lists[sort_by_code(lists, 0, 1, n, low, high, lay.code, bins)]
    return ordered
