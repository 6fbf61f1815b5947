"""Compiled functions of the shared forest that find the best split of a node and divide its rows.

All functions are inlined into the main loop of `kernel`. Its documentation defines items, lists and codes. Indices in
loops are unsigned: Numba lets signed indices count from the end, and testing for that costs a sixth of the time.
"""

# mypy: allow-untyped-defs, disable-error-code="assignment"

from typing import NamedTuple

import numpy as np
from numba import njit

from .primitives import BARE, draw, sort_by_code

_U0, _U1, _U2 = (np.uint64(number) for number in (0, 1, 2))

# Functions called for each node are inlined, because passing a dozen arrays costs as much as a small node's work.
# Together with omitted reference counts, this saves two fifths of the time.
_inner = njit(**BARE, forceinline=True)
# contraction allows fused instructions; the sums of integers are exact in any case
_scanned = njit(**BARE, forceinline=True, fastmath={"contract"}, error_model="numpy")


class Layout(NamedTuple):
    """Positions of the parts of an item, all numpy.uint64."""

    classes: np.uint64  # mask of the class
    weight: np.uint64  # shift of the weight
    weights: np.uint64  # its mask, once shifted
    row: np.uint64  # shift of the row
    rows: np.uint64  # its mask, once shifted
    code: np.uint64  # shift of the code, which has the remaining bits


class Rows(NamedTuple):
    """One subset of the coded columns, with equal rows grouped.

    Equal training rows of the same class form one *group*. So do equal held-out rows. Bootstrap weights and scores
    count the rows of a group.
    """

    codes: np.ndarray  # unsigned, (k, groups): coded columns of the training groups
    ordered: np.ndarray  # uint64, (k, groups): items of weight zero, sorted by each column; (0, groups) if wide
    group: np.ndarray  # uint32, (n,): group of each training row
    classes: np.ndarray  # int64, (groups,): class of each group
    test_codes: np.ndarray  # unsigned, (k, held): coded columns of the held-out groups
    values: np.ndarray  # float32: distinct values by code, column after column
    offsets: np.ndarray  # int64, (k,): start of each column's values


class Work(NamedTuple):
    """Working memory of a thread: mainly (k + 3) items per training row."""

    items: np.ndarray  # uint64, (k + 3, groups): k sorted lists, the unsorted list, two rows to sort in
    is_left: np.ndarray  # uint8, (groups,)
    tests: np.ndarray  # uint32, (held,)
    spare: np.ndarray  # uint32, (held,)
    said: np.ndarray  # uint32, (held groups,): predictions of the pure leaves of the current tree
    bins: np.ndarray  # int32
    features: np.ndarray  # int64, (k,): 0 ... k - 1, except while a node is split
    swaps: np.ndarray  # int64, (k,)
    counts: np.ndarray  # float64, (2 * classes,): weight of each class in the node, and on the tracked side
    bounds: np.ndarray  # int64, (STACK, 5): start and end of a pending node, of its held-out rows, and its list
    marks: np.ndarray  # uint64, (STACK, 2): random key, and bits of the features known to be constant


@_inner
def count(items, at, start, end, counts, lay):
    """Count a node's weight in each class. Return its total weight and the sum of the squared counts."""
    weight = 0.0
    square = 0.0
    for i in range(np.uint64(start), np.uint64(end)):
        c = _U2 * (items[at, i] & lay.classes)
        w = np.float64(np.int64((items[at, i] >> lay.weight) & lay.weights))
        before = counts[c]
        square += w * (before + w)
        counts[c] = before + (w + w)
        weight += w
    return weight, square


@_inner
def clear(items, at, start, end, counts, lay):
    """Reset the counts of a node, by class or by item, whichever is faster."""
    if counts.shape[0] <= 2 * (end - start):
        for c in range(counts.shape[0]):
            counts[c] = 0.0
    else:
        for i in range(np.uint64(start), np.uint64(end)):
            c = _U2 * (items[at, i] & lay.classes)
            counts[c] = 0.0
            counts[c + _U1] = 0.0


@_scanned
def _scan(items, at, begin, m, counts, full, weight, square, lay, best):
    """Return the best proxy improvement above ``best`` over the cuts of sorted items, and the cut (0: none).

    The proxy is scikit-learn's: on each side, the sum of squared class weights divided by the side's weight, added up.
    One side is tracked. Its counts grow from zero to those of the node (left side), or fall to zero (right side, with
    ``full``). So every scan leaves the counts as the next one needs them. The squares of the other side follow from
    sum (T - V)^2 = sum T^2 - 2 sum T V + sum V^2. A row costs O(1) for any number of classes.
    """
    sign = -1 if full else 1
    squares = square if full else 0.0
    excess = -square if full else square  # sum T^2 - 2 sum T V: excess of the other side over this one
    tracked = weight if full else 0.0
    start = np.uint64(begin)
    cut = start
    # a cheap test without division comes first; the exact one has scikit-learn's own rounding
    floor = best * (1.0 - 1e-12)
    item = items[at, start]
    for i in range(start + _U1, start + np.uint64(m)):
        c = _U2 * (item & lay.classes)
        w = np.float64(sign * np.int64((item >> lay.weight) & lay.weights))
        twice = counts[c + _U1]
        squares += w * (twice + w)
        excess -= w * counts[c]
        counts[c + _U1] = twice + (w + w)
        tracked += w
        following = items[at, i]
        if (following ^ item) >> lay.code:
            others = excess + squares
            rest = weight - tracked
            if squares * rest + others * tracked > floor * (tracked * rest):
                proxy = squares / tracked + others / rest
                if proxy > best:
                    best = proxy
                    floor = best * (1.0 - 1e-12)
                    cut = i
        item = following
    counts[_U2 * (item & lay.classes) + _U1] += 2.0 * np.float64(sign * np.int64((item >> lay.weight) & lay.weights))
    return best, np.int64(cut - start)


@_inner
def _keys(rows, items, at, start, m, feature, lay, bins):
    """Sort a node's unsorted items by a feature. Return the row with the result, or -1 for a constant feature."""
    behind = at + 1
    low = ~_U0
    high = _U0
    for i in range(np.uint64(m)):
        item = items[at, np.uint64(start) + i]
        code = np.uint64(rows.codes[feature, (item >> lay.row) & lay.rows])
        low = min(low, code)
        high = max(high, code)
        items[behind, i] = item | (code << lay.code)
    if low == high:
        return -1
    return sort_by_code(items, behind, behind + 1, m, low, high, lay.code, bins)


@_inner
def best_split(rows, work, at, start, end, node, constant, weight, square, candidates, lay):
    """Try features drawn without replacement. Return the best one, its cut, the codes next to it, the constant ones.

    Constant features count as drawn, but drawing continues until one that is not constant is found.
    """
    items, features, k = work.items, work.features, rows.codes.shape[0]
    m = end - start
    unsorted = items.shape[0] - 3
    best, best_feature, best_cut, below, above = -1.0, -1, 0, _U0, _U0
    visited = 0
    scanned = 0
    # no cut is better than one that separates the classes: its proxy is exactly the node's weight
    while visited < k and (visited < candidates or scanned == 0) and best < weight:
        j = visited + draw(node, visited, k - visited)
        feature = features[j]
        features[j] = features[visited]
        features[visited] = feature
        work.swaps[visited] = j
        visited += 1
        bit = _U1 << np.uint64(feature) if feature < 64 else _U0
        if constant & bit:
            continue
        if at < unsorted:
            line, begin = feature, start
            if (items[line, start] >> lay.code) == (items[line, end - 1] >> lay.code):
                line = -1
        else:
            line, begin = _keys(rows, items, at, start, m, feature, lay, work.bins), 0
        if line < 0:
            constant |= bit
            continue
        best, cut = _scan(items, line, begin, m, work.counts, scanned % 2 == 1, weight, square, lay, best)
        scanned += 1
        if cut > 0:
            best_feature, best_cut = feature, cut
            below = items[line, begin + cut - 1] >> lay.code
            above = items[line, begin + cut] >> lay.code
    # restore the order of the features, because a draw must not depend on earlier nodes
    for v in range(visited - 1, -1, -1):
        j = work.swaps[v]
        feature = features[j]
        features[j] = features[v]
        features[v] = feature
    return best_feature, best_cut, below, above, constant


@_inner
def part_unsorted(rows, items, at, start, end, feature, code, lay):
    """Move the items whose code is at most ``code`` to the front."""
    front = np.uint64(start)
    back = _U0
    for i in range(np.uint64(start), np.uint64(end)):
        item = items[at, i]
        goes = np.uint64(rows.codes[feature, (item >> lay.row) & lay.rows] <= code)
        items[at, front] = item
        items[at + 1, back] = item
        front += goes
        back += goes ^ _U1
    for i in range(back):
        items[at, front + i] = items[at + 1, i]


@_inner
def part_sorted(work, start, middle, end, best, constant, lay):
    """Divide the sorted lists of a node like the list of the best feature, and keep every order."""
    items, is_left = work.items, work.is_left
    behind = items.shape[0] - 1
    for i in range(np.uint64(start), np.uint64(middle)):
        is_left[(items[best, i] >> lay.row) & lay.rows] = 1
    for i in range(np.uint64(middle), np.uint64(end)):
        is_left[(items[best, i] >> lay.row) & lay.rows] = 0
    for f in range(items.shape[0] - 3):
        if f == best or (constant >> np.uint64(f)) & _U1:
            continue
        front = np.uint64(start)
        back = _U0
        for i in range(np.uint64(start), np.uint64(end)):
            item = items[f, i]
            goes = np.uint64(is_left[(item >> lay.row) & lay.rows])
            items[f, front] = item
            items[behind, back] = item
            front += goes
            back += goes ^ _U1
        for i in range(np.uint64(end) - front):
            items[f, front + i] = items[behind, i]


@_inner
def part_tests(rows, work, start, end, feature, below, above):
    """Move the held-out rows that go left to the front. Return where the others begin.

    Values go left up to the midpoint of the training values on both sides of the cut. Their codes are ``below`` and
    ``above``. For rows with other codes, the code decides. For rows between the two, the value decides. Values are
    far away in memory, so they are read only if there is such a row.
    """
    tests, spare = work.tests, work.spare
    front = np.uint64(start)
    back = _U0
    between = _U0
    for i in range(np.uint64(start), np.uint64(end)):
        row = tests[i]
        code = np.uint64(rows.test_codes[feature, row])
        goes = np.uint64(code <= below)
        between += np.uint64(code < above) ^ goes
        tests[front] = row
        spare[back] = row
        front += goes
        back += goes ^ _U1
    for i in range(np.uint64(end) - front):
        tests[front + i] = spare[i]
    if between > _U0:
        values, offset = rows.values, rows.offsets[feature]
        middle = np.float64(values[offset + np.int64(below)]) / 2.0 + np.float64(values[offset + np.int64(above)]) / 2.0
        for i in range(front, np.uint64(end)):
            row = tests[i]
            code = rows.test_codes[feature, row]
            if code < above and np.float64(values[offset + np.int64(code)]) <= middle:
                tests[i] = tests[front]
                tests[front] = row
                front += _U1
    return np.int64(front)
