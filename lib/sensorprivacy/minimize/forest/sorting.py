"""Compiled functions of the shared forest that sort items by code.

All functions release the interpreter lock and write only to the arrays that they are given.
"""

# mypy: allow-untyped-defs, disable-error-code="assignment"

from typing import Any

import numpy as np
from numba import njit

SMALL = 24  # up to this many items are sorted by insertion
MAX_BINS = 8192  # buckets of one distribution pass: 32 KiB of counters
CROWDED = 32  # a bucket of several codes with more items than this is sorted digit by digit
DIGIT = 11  # bits of a digit

# functions compiled with these options allocate nothing and count no references
BARE: dict[str, Any] = {"nogil": True, "cache": True, "_nrt": False}
_NO_STEP, _U1 = np.uint64(0), np.uint64(1)


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
def _distribute(rows, source, target, m, low, shift, step, mask, bins, n_bins):
    """Write the items of every bin to the target, bin after bin."""
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


@njit(**BARE)
def _tally(rows, at, m, low, shift, step, mask, bins, n_bins):
    """Count the items of each bin and return the largest count."""
    for b in range(n_bins):
        bins[b] = 0
    for i in range(m):
        bins[(((rows[at, i] >> shift) - low) >> step) & mask] += 1
    most = 0
    for b in range(n_bins):
        most = max(most, bins[b])
    return most


@njit(**BARE)
def sort_by_code(rows, at, spare, m, low, high, shift, bins):
    """Sort rows[at, :m] by their codes; return which of the rows ``at`` and ``spare`` has the result.

    Few items are sorted by insertion. Otherwise, one pass distributes the items by the leading bits of their codes. If
    a bucket has one code only, the items are then sorted (counting sort). If not, insertion finishes the nearly sorted
    items. Codes are ranks, so there are a few times as many buckets as items, and insertion is short. If many items
    share a few buckets nevertheless, a radix sort is used, whose time does not depend on the distribution.

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
    bins : ndarray of int32, shape (MAX_BINS + 1,)
        Spare counters.
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
