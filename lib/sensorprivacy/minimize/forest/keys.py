"""Compiled helpers of the shared forest: numbers drawn by key, rows grouped by value, items sorted by code.

All of them release the interpreter lock and write to nothing but the arrays they are given.
"""

# mypy: allow-untyped-defs, disable-error-code="assignment"

from typing import Any

import numpy as np
from numba import njit

GOLDEN = np.uint64(0x9E3779B97F4A7C15)
_MIX_1 = np.uint64(0xBF58476D1CE4E5B9)
_MIX_2 = np.uint64(0x94D049BB133111EB)
_U1, _U27, _U30, _U31, _U32 = (np.uint64(bits) for bits in (1, 27, 30, 31, 32))
_NO_STEP = np.uint64(0)

_BARE: dict[str, Any] = {"nogil": True, "cache": True, "_nrt": False}  # allocates nothing, counts no references

SMALL = 24  # up to this many items are sorted by insertion
MAX_BINS = 8192  # buckets of one distribution pass: 32 KiB of counters
CROWDED = 32  # a bucket of several codes with more items than this is sorted digit by digit
DIGIT = 11  # bits of a digit there


@njit(nogil=True, cache=True, inline="always")
def mix(state):
    """Return 64 well mixed bits of a 64-bit state: the finalizer of SplitMix64 (Steele et al., OOPSLA 2014)."""
    state = (state ^ (state >> _U30)) * _MIX_1
    state = (state ^ (state >> _U27)) * _MIX_2
    return state ^ (state >> _U31)


@njit(nogil=True, cache=True, inline="always")
def draw(key, counter, bound):
    """Return what a key and a counter draw from 0 ... bound - 1, uniform but for a bias below bound / 2**32."""
    bits = mix(key + GOLDEN * np.uint64(counter))
    return np.int64(((bits >> _U32) * np.uint64(bound)) >> _U32)


@njit(nogil=True, cache=True)
def _same_row(codes, labels, one, other):
    same = labels[one] == labels[other]
    for f in range(codes.shape[0]):
        same = same and codes[f, one] == codes[f, other]
    return same


@njit(nogil=True, cache=True)
def group_rows(codes, labels):
    """Group the rows that agree in every column and in the label.

    Parameters
    ----------
    codes : ndarray of unsigned integers, shape (k, n)
        Coded columns.
    labels : ndarray of int64, shape (n,)
        A further column.

    Returns
    -------
    group : ndarray of int64, shape (n,)
        Group of each row; groups are numbered in the order of their first rows.
    first : ndarray of int64, shape (groups,)
        First row of each group.
    """
    k, n = codes.shape
    hashes = np.empty(n, np.uint64)
    for i in range(n):
        hashes[i] = mix(np.uint64(labels[i]) + GOLDEN)
    for f in range(k):
        for i in range(n):
            hashes[i] = mix(hashes[i] + GOLDEN + np.uint64(codes[f, i]))
    slots = 16
    while slots < 2 * n:
        slots *= 2
    mask = np.uint64(slots - 1)
    table = np.full(slots, -1, np.int64)
    group = np.empty(n, np.int64)
    first = np.empty(n, np.int64)
    n_groups = 0
    for i in range(n):
        slot = hashes[i] & mask
        # equal hashes are not trusted: the rows themselves are compared
        while table[slot] >= 0:
            known = first[table[slot]]
            if hashes[known] == hashes[i] and _same_row(codes, labels, known, i):
                break
            slot = (slot + _U1) & mask
        if table[slot] < 0:
            table[slot] = n_groups
            first[n_groups] = i
            n_groups += 1
        group[i] = table[slot]
    return group, first[:n_groups].copy()


@njit(**_BARE, forceinline=True)
def _insertion(rows, at, m, shift):
    """Sort rows[at, :m] by what stands above the lowest ``shift`` bits."""
    for i in range(1, m):
        key = rows[at, i]
        code = key >> shift
        j = i
        while j > 0 and (rows[at, j - 1] >> shift) > code:
            rows[at, j] = rows[at, j - 1]
            j -= 1
        rows[at, j] = key


@njit(**_BARE)
def _distribute(rows, source, target, m, low, shift, step, mask, bins, n_bins):
    """Bring the filled ``bins`` into running order and write every item where its bin stands."""
    total = 0
    for b in range(n_bins):
        count = bins[b]
        bins[b] = total
        total += count
    for i in range(m):
        key = rows[source, i]
        b = (((key >> shift) - low) >> step) & mask
        rows[target, bins[b]] = key
        bins[b] += 1


@njit(**_BARE)
def _tally(rows, at, m, low, shift, step, mask, bins, n_bins):
    """Count the items of each bin; return the largest count."""
    for b in range(n_bins):
        bins[b] = 0
    for i in range(m):
        bins[(((rows[at, i] >> shift) - low) >> step) & mask] += 1
    most = 0
    for b in range(n_bins):
        most = max(most, bins[b])
    return most


@njit(**_BARE)
def sort_by_code(rows, at, spare, m, low, high, shift, bins):
    """Sort rows[at, :m] by their codes; return which of the rows ``at`` and ``spare`` holds the result.

    The way depends on the node. Few items: insertion. Otherwise one distribution pass over the leading bits of the
    code: where a bucket stands for one code the items are sorted (counting sort), else insertion finishes the nearly
    sorted rest; codes are ranks, so a few times as many buckets as items keep that short. Where codes crowd in a few
    buckets all the same: a radix sort, which no distribution can slow down.

    Parameters
    ----------
    rows : ndarray of uint64, shape (r, capacity)
        Items; their codes stand above the lowest `shift` bits.
    at, spare : int
        Where the items are, and a row to work in.
    m : int
        Number of items.
    low, high : uint64
        Smallest and largest code.
    shift : uint64
        Bits below the code.
    bins : ndarray of int32, shape (MAX_BINS + 1,)
        Counters to work with.
    """
    if m <= SMALL:
        _insertion(rows, at, m, shift)
        return at
    span = high - low
    wanted = np.uint64(min(4 * m, MAX_BINS))
    step = _NO_STEP
    while (span >> step) >= wanted:
        step += _U1
    n_bins = np.int64(span >> step) + 1
    most = _tally(rows, at, m, low, shift, step, ~_NO_STEP, bins, n_bins)
    if step == _NO_STEP or most <= CROWDED:
        _distribute(rows, at, spare, m, low, shift, step, ~_NO_STEP, bins, n_bins)
        if step > _NO_STEP:
            _insertion(rows, spare, m, shift)
        return spare
    mask = np.uint64((1 << DIGIT) - 1)
    step = _NO_STEP
    while (span >> step) > 0:
        _tally(rows, at, m, low, shift, step, mask, bins, 1 << DIGIT)
        _distribute(rows, at, spare, m, low, shift, step, mask, bins, 1 << DIGIT)
        at, spare = spare, at
        step += np.uint64(DIGIT)
    return at


@njit(nogil=True, cache=True)
def tree_keys(seed, subset, n_trees):
    """Return the random key of each tree, which depends on the seed, the subset's columns and the tree alone.

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
