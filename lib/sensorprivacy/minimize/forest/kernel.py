"""Compiled main loop of the shared forest: trees that vote on held-out rows while they grow.

Trees are never stored. Nodes are processed one after another, and the held-out rows move down together with the
training rows. At a leaf, held-out rows get its class shares as votes. The votes of leaves with one class are counted
when the tree is complete. A node without held-out rows is not grown. The data of a training row are packed into one
64-bit word, its *item*::

    code in one feature | row | bootstrap weight | class        (each with as many bits as the problem needs)

A large node has one list of its items per feature, sorted by code. A split divides these lists and keeps their order,
so nothing is sorted again. A small node has one unsorted list and sorts it by the feature that is tried. So do all
nodes of very wide tables, because dividing all lists would cost more than sorting the few that are tried.

All functions release the interpreter lock and write only to the arrays that they are given.
"""

# mypy: allow-untyped-defs, disable-error-code="assignment"

import numpy as np
from numba import njit

from .primitives import BARE, BINS, GOLDEN, draw, mix
from .splitting import Work, best_split, clear, count, part_sorted, part_tests, part_unsorted

LARGE = 8  # nodes of more items than this are kept sorted
STACK = 64  # pending nodes: the smaller child is processed first, so log2(rows) of them are enough
_VOTED = np.uint32(0xFFFFFFFF)  # marks a row that has voted already
TOO_HEAVY = -1  # `vote` returns this if a weight does not fit into its bits of the item

_U0, _U1, _U2 = (np.uint64(number) for number in (0, 1, 2))
_RIGHT = np.uint64(0xBF58476D1CE4E5B9)

_outer = njit(nogil=True, cache=True)
_bare = njit(**BARE)
_inner = njit(**BARE, forceinline=True)


@_outer
def _draw_weights(weights, group, key, bootstrap):
    """Draw n of n rows with replacement (or take each once). Return the largest weight of a group."""
    n = group.shape[0]
    weights[:] = 0
    for i in range(n):
        weights[group[np.uint64(draw(key, i, n) if bootstrap else i)]] += np.uint32(1)
    return np.uint64(weights.max())


@_outer
def _fill(rows, items, n_lists, weights, lay):
    """Write the items of the drawn groups to the sorted lists and the unsorted one. Return their number."""
    m = _U0
    for g in range(np.uint64(weights.shape[0])):
        items[n_lists, m] = (
            (np.uint64(g) << lay.row) | (np.uint64(weights[g]) << lay.weight) | np.uint64(rows.classes[g])
        )
        m += np.uint64(weights[g] > 0)
    for f in range(n_lists):
        m = _U0
        for i in range(np.uint64(weights.shape[0])):
            item = rows.ordered[f, i]
            weight = weights[(item >> lay.row) & lay.rows]
            items[f, m] = item | (np.uint64(weight) << lay.weight)
            m += np.uint64(weight > 0)
    return np.int64(m)


@_inner
def _say_pure(work, at, start, end, t_start, t_end, lay):
    """Record the prediction of a node if it has one class only. Return whether it has."""
    items = work.items
    first = items[at, start] & lay.classes
    for i in range(np.uint64(start + 1), np.uint64(end)):
        if (items[at, i] & lay.classes) != first:
            return False
    _say(work, t_start, t_end, first)
    return True


@_inner
def _say(work, t_start, t_end, said):
    """Record the prediction of a leaf for its held-out rows. It is counted when the tree is complete."""
    for t in range(np.uint64(t_start), np.uint64(t_end)):
        work.said[work.tests[t]] = said


@_inner
def _vote_mixed(work, at, start, end, t_start, t_end, votes, weight, lay):
    """Add the class shares of a leaf with several classes to the votes, and reset the counts."""
    counts = work.counts
    for i in range(start, end):
        c = np.int64(work.items[at, i] & lay.classes)
        if counts[2 * c] > 0.0:
            share = 0.5 * counts[2 * c] / weight
            for t in range(np.uint64(t_start), np.uint64(t_end)):
                votes[work.tests[t], c] += share
            counts[2 * c] = 0.0
    _say(work, t_start, t_end, _VOTED)


@_inner
def _vote_said(said, asked, votes):
    """Add the recorded predictions of a tree to the votes, row by row, in the order of the memory."""
    for t in range(np.uint64(asked.shape[0])):
        row = asked[t]
        if said[row] != _VOTED:
            votes[row, said[row]] += 1.0


@_inner
def _push(work, depth, start, end, t_start, t_end, at, node, constant):
    """Put a node on the stack and return the new depth."""
    bounds, marks = work.bounds, work.marks
    bounds[depth, 0], bounds[depth, 1], bounds[depth, 2], bounds[depth, 3] = start, end, t_start, t_end
    bounds[depth, 4] = at
    marks[depth, 0], marks[depth, 1] = node, constant
    return depth + 1


@_inner
def _take_side(work, best, start, end, t_start, t_end, lay):
    """Decide how a child in the list of ``best`` is processed.

    Returns -1 if it is complete, because it has no held-out row or one class only. Otherwise returns the list that it
    is read from: that of ``best``, or the unsorted one for a small child.
    """
    if t_start == t_end or _say_pure(work, best, start, end, t_start, t_end, lay):
        return -1
    unsorted = work.items.shape[0] - 3
    if best == unsorted or end - start > LARGE:
        return best
    below_code = (_U1 << lay.code) - _U1
    for i in range(np.uint64(start), np.uint64(end)):
        work.items[unsorted, i] = work.items[best, i] & below_code
    return unsorted


@_bare
def _grow(rows, work, n_items, candidates, key, votes, lay):
    """Grow one tree over the given items and add its votes."""
    items, tests, counts, bounds = work.items, work.tests, work.counts, work.bounds
    unsorted = items.shape[0] - 3
    at = 0 if unsorted > 0 and n_items > LARGE else unsorted
    if _say_pure(work, at, 0, n_items, 0, tests.shape[0], lay):
        return
    depth = _push(work, 0, 0, n_items, 0, tests.shape[0], at, key, _U0)
    while depth > 0:
        depth -= 1
        start, end, t_start, t_end = bounds[depth, 0], bounds[depth, 1], bounds[depth, 2], bounds[depth, 3]
        at = bounds[depth, 4]
        node, constant = work.marks[depth, 0], work.marks[depth, 1]
        weight, square = count(items, at, start, end, counts, lay)
        best, cut, below, above, constant = best_split(
            rows, work, at, start, end, node, constant, weight, square, candidates, lay
        )
        if best < 0:
            _vote_mixed(work, at, start, end, t_start, t_end, votes, weight, lay)
            continue
        clear(items, at, start, end, counts, lay)
        middle = start + cut
        t_middle = part_tests(rows, work, t_start, t_end, best, below, above)
        line = best
        if at == unsorted:
            part_unsorted(rows, items, at, start, end, best, below, lay)
            line = unsorted
        at_left = _take_side(work, line, start, middle, t_start, t_middle, lay)
        at_right = _take_side(work, line, middle, end, t_middle, t_end, lay)
        if 0 <= at_left < unsorted or 0 <= at_right < unsorted:
            part_sorted(work, start, middle, end, best, constant, lay)
        right_last = middle - start > end - middle
        if at_right >= 0 and not right_last:
            depth = _push(work, depth, middle, end, t_middle, t_end, at_right, mix(node ^ _RIGHT), constant)
        if at_left >= 0:
            depth = _push(work, depth, start, middle, t_start, t_middle, at_left, mix(node ^ GOLDEN), constant)
        if at_right >= 0 and right_last:
            depth = _push(work, depth, middle, end, t_middle, t_end, at_right, mix(node ^ _RIGHT), constant)


@_outer
def vote(rows, lay, candidates, bootstrap, keys, asked, votes):
    """Grow trees and add their votes on the held-out rows.

    Parameters
    ----------
    rows : Rows
        The subset.
    lay : Layout
        Layout of the items of `rows`.
    candidates : int
        Number of features tried at a node.
    bootstrap : bool
        Whether each tree draws n rows with replacement.
    keys : ndarray of uint64
        Random key of each tree to grow.
    asked : ndarray of uint32
        Held-out groups to predict.
    votes : ndarray of float64, shape (held, n_classes)
        Class shares are added here.

    Returns
    -------
    int
        Number of trees, or TOO_HEAVY if a bootstrap weight does not fit into an item.
    """
    k, n_groups = rows.codes.shape
    n_classes = votes.shape[1]
    n_lists = rows.ordered.shape[0]
    work = Work(
        np.empty((n_lists + 3, n_groups), np.uint64),
        np.zeros(n_groups, np.uint8),
        np.empty_like(asked),
        np.empty_like(asked),
        np.empty(votes.shape[0], np.uint32),
        np.empty(BINS, np.int32),
        np.arange(k),
        np.empty(k, np.int64),
        np.zeros(2 * n_classes),
        np.empty((STACK, 5), np.int64),
        np.empty((STACK, 2), np.uint64),
    )
    weights = np.empty(n_groups, np.uint32)
    for tree in range(keys.shape[0]):
        heaviest = _draw_weights(weights, rows.group, mix(keys[tree] + _U1), bootstrap)
        if heaviest > lay.weights:
            return TOO_HEAVY
        n_items = _fill(rows, work.items, n_lists, weights, lay)
        work.tests[:] = asked
        _grow(rows, work, n_items, candidates, mix(keys[tree] + _U2), votes, lay)
        _vote_said(work.said, asked, votes)
    return keys.shape[0]


@_outer
def undecided(votes, asked, remaining):
    """Return the held-out rows whose predicted class can still change.

    Each tree adds one vote per row. If the leading class is ahead by more votes than trees remain, the prediction of
    the row cannot change.
    """
    kept = np.empty_like(asked)
    n_kept = 0
    for t in range(asked.shape[0]):
        first = -1.0
        second = -1.0
        for c in range(votes.shape[1]):
            share = votes[asked[t], c]
            if share > first:
                second = first
                first = share
            elif share > second:
                second = share
        if first - second < remaining + 1e-6:
            kept[n_kept] = asked[t]
            n_kept += 1
    return kept[:n_kept].copy()
