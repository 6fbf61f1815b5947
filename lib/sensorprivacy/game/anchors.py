"""Match rows by how often they occur, or by another fit: attacks on transformations that are the same for equal rows.

Equal rows stay equal, whatever columns become. So a row that occurs 17 times becomes one that occurs 17 times. If no
other row of its label does, the pair is an *anchor*. A regression on the anchors predicts the published values of the
other rows; sure matches are new anchors.
"""

from itertools import product
from typing import Any

import numpy as np
import pandas as pd
from scipy.stats import rankdata, skew
from sklearn.neighbors import KDTree

from sensorprivacy.data import draw_rows
from sensorprivacy.game.linkage import as_numbers

_ROUNDS = 12
_SURE = 0.1  # a match is sure if the second nearest row is ten times as far as the nearest
_MOST = 60_000  # numbers in a regression's rows
_FEW = 15  # columns whose products are terms, too
_TINY = 1e-15
_MOVES, _TIE = 40, 1e-9  # rounds of matching and moving, from each start; distance of equal rows


def match_by_anchors(
    original: np.ndarray, published: np.ndarray, known: np.ndarray, at: np.ndarray, refit: np.ndarray | None = None
) -> np.ndarray | None:
    """Return with which probability an attacker finds the published row of some original rows.

    Parameters
    ----------
    original : numpy.ndarray of shape (n, d)
        Original rows, categories as codes.
    published : numpy.ndarray of shape (n, k)
        The same rows after the transformation; the attacker does not use their order.
    known : numpy.ndarray of int, shape (n,)
        Code of a label that is published unchanged.
    at : numpy.ndarray of int
        Positions of the attacked rows.
    refit : numpy.ndarray of shape (n, m), optional
        What another fit of the transformation returns for the original rows.

    Returns
    -------
    numpy.ndarray of shape (len(at),) or None
        1/k if the row is among the k equal rows that the attacker chose, else 0. None without two anchors.
    """
    of_truth, first, sizes = _equal_rows(original, known)
    of_shown, first_shown, sizes_shown = _equal_rows(published, known)
    labels, labels_shown = known[first], known[first_shown]
    often = pd.MultiIndex.from_arrays([labels, sizes]), pd.MultiIndex.from_arrays([labels_shown, sizes_shown])
    once = [pd.Series(np.arange(len(some)), some)[~some.duplicated(keep=False)] for some in often]
    anchors = once[0].to_frame("one").join(once[1].rename("other"), how="inner").to_numpy()
    if len(anchors) < 2:
        return None
    goal = _centred(published)[first_shown]
    more = _MOST // (1 + goal.shape[1])  # rows that are not attacked help the regression, too
    asked = np.unique(np.concatenate([of_truth[at], anchors[:, 0], np.arange(len(first))[:: 1 + len(first) // more]]))
    start = np.searchsorted(asked, anchors[:, 0]), anchors[:, 1]
    values = _centred(original)[first[asked]]
    ranks = np.column_stack([rankdata(column) / len(column) for column in original.T])[first[asked]]
    terms = [values, np.column_stack([values, ranks])]
    if values.shape[1] <= _FEW:
        pairs = np.triu_indices(values.shape[1])
        terms.append(np.column_stack([values, values[:, pairs[0]] * values[:, pairs[1]]]))
    bases = [None] if refit is None else [_centred(refit)[first[asked]], None]
    best, surest = np.full(len(asked), -1), 0
    best[start[0]] = start[1]
    for group, group_shown in ((often[0][asked], often[1]), (pd.Index(labels[asked]), pd.Index(labels_shown))):
        codes = pd.factorize(group.append(group_shown))[0]
        search = _Search(codes[: len(asked)], codes[len(asked) :], goal)
        for wide, base in product(terms, bases):
            pairs = start
            for _ in range(_ROUNDS):
                gaps, second, partners = search.nearest(_predicted(wide, base, goal, *pairs))
                sure = np.flatnonzero(gaps <= _SURE * second)
                if (many := len(np.unique(partners[sure]))) > surest:
                    best, surest = partners, many
                if len(sure) < 2 or (np.array_equal(sure, pairs[0]) and np.array_equal(partners[sure], pairs[1])):
                    break
                pairs = sure, partners[sure]
    chosen, own = best[np.searchsorted(asked, of_truth[at])], of_shown[at]
    return np.asarray((chosen == own) / sizes_shown[own])


class _Search:
    """Nearest published rows among those of a group."""

    def __init__(self, groups: np.ndarray, groups_shown: np.ndarray, goal: np.ndarray) -> None:
        shown = pd.Series(np.arange(len(groups_shown))).groupby(groups_shown).indices
        self.parts = [
            (rows, shown[group], KDTree(goal[shown[group]]))
            for group, rows in pd.Series(groups).groupby(groups).indices.items()
            if group in shown
        ]

    def nearest(self, moved: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return the distances of the nearest and the second nearest row, and which row is nearest."""
        gaps, second, partners = np.full(len(moved), np.inf), np.full(len(moved), np.inf), np.full(len(moved), -1)
        second -= 1  # without any row of the group, no match is sure
        for rows, places, tree in self.parts:
            far, near = tree.query(moved[rows], k=min(2, len(places)))
            gaps[rows], partners[rows] = far[:, 0], places[near[:, 0]]
            second[rows] = far[:, 1] if len(places) > 1 else np.inf
        return gaps, second, partners


def _equal_rows(values: np.ndarray, known: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return the class of equal rows of each row, the first row of each class, and the classes' sizes."""
    # sums of the same numbers in another order differ in the last digits
    digits = np.char.mod("%.9e", values) if values.dtype.kind == "f" else values
    table = pd.DataFrame(digits).assign(label=known)
    codes = table.groupby(list(table), sort=False, dropna=False).ngroup().to_numpy()
    return codes, np.unique(codes, return_index=True)[1], np.bincount(codes)


def _centred(values: np.ndarray) -> np.ndarray:
    """Return columns around their median, so that the many small values keep all their digits."""
    return np.nan_to_num((values - np.nanmedian(values, axis=0)) / np.maximum(np.nanstd(values, axis=0), _TINY))


def _predicted(
    wide: np.ndarray, base: np.ndarray | None, goal: np.ndarray, rows: np.ndarray, partners: np.ndarray
) -> np.ndarray:
    """Predict published values from original ones by regression on pairs; another fit fills in what pairs do not show.

    Large rows count less: their rounding errors are as large as the small rows.
    """
    size = 1 / (1e-6 + np.abs(wide[rows]).max(axis=1, keepdims=True))
    found = np.zeros((len(wide), goal.shape[1]))
    for some in (wide,) if base is None else (base, wide):
        terms = np.column_stack([some, np.ones(len(some))])
        left = goal[partners] - found[rows]
        found = found + terms @ np.linalg.lstsq(size * terms[rows], size * left, rcond=_TINY)[0]
    return found


def moved(
    original: pd.DataFrame, refit: pd.DataFrame, published: pd.DataFrame, *, rows: int, seed: Any
) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Move the attacker's values onto the published ones: match the nearest rows, move all by regression, repeat.

    Another fit can turn, shift and scale the new columns, and choose others. So published values are regressed on the
    original ones and on those of the other fit. The order of the rows is not used. Values are compared as
    ranks among the published ones, so that a few large ones do not hide the differences of the others.
    """
    if list(refit) != list(published) or any(as_numbers(published[name]) is None for name in published):
        return refit, published
    target, values = published.to_numpy(dtype=float), refit.to_numpy(dtype=float)
    numbers = [column for name in original if (column := as_numbers(original[name])) is not None]
    wide = np.nan_to_num(np.column_stack([*numbers, values, np.ones(len(values))]))
    spread, at = np.maximum(target.std(axis=0), 1e-12), draw_rows(len(values), rows, seed)
    ranked = _ranks(target, target)
    # the scale of each column is the published one, and its direction that of its skewness
    turned = np.sign(skew(target) * skew(values)) * spread / np.maximum(values.std(axis=0), 1e-12)
    start = np.nan_to_num((values - values.mean(axis=0)) * turned + target.mean(axis=0))
    best, closest, judge = ranked * 0, np.inf, KDTree(ranked)
    own = _ranks(values, values)  # equal to those of the published rows if each column keeps its order
    if (far := judge.query(own[at])[0].mean() + KDTree(own).query(ranked[at])[0].mean()) < closest:
        best, closest = own, far
    for place, in_ranks in ((values, False), (values, True), (start, False), (start, True)):
        tree, before = KDTree(ranked if in_ranks else target / spread), np.empty(0)
        for _ in range(_MOVES):
            now = _ranks(place, target)
            # both ways, or all rows in one place would be near; the attacker sees this distance, too
            far = judge.query(now[at])[0].mean() + KDTree(now).query(ranked[at])[0].mean()
            if far < closest:
                best, closest = now, far
            gaps, partners = (part[:, 0] for part in tree.query(now[at] if in_ranks else place[at] / spread))
            if closest < _TIE or np.array_equal(partners, before):
                break
            near, before = gaps <= np.quantile(gaps, 0.5 if in_ranks else 1), partners
            place = wide @ np.linalg.lstsq(wide[at][near], target[partners[near]], rcond=None)[0]
    return pd.DataFrame(best, columns=published.columns), pd.DataFrame(ranked, columns=published.columns)


def _ranks(values: np.ndarray, among: np.ndarray) -> np.ndarray:
    """Return where numbers lie among the numbers of each column, as shares, linear between them."""
    columns = []
    for column, known in zip(values.T, among.T, strict=True):
        steps, counts = np.unique(known, return_counts=True)
        columns.append(np.interp(column, steps, (np.cumsum(counts) - counts / 2) / len(known)))
    return np.column_stack(columns)
