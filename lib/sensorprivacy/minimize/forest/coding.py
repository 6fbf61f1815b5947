"""Replace the values of each column by integer ranks, for the shared forest.

The splits of a tree depend only on the order of the values. So each value can be replaced by its rank among the
distinct values of its column. Ranks are computed once and shared by all subsets. They need two bytes per value for up
to 65,536 distinct values in every column, and four bytes above.
"""

from dataclasses import dataclass

import numpy as np
import pandas as pd

from sensorprivacy.minimize.forest.primitives import sorted_items
from sensorprivacy.minimize.forest.splitting import Layout, Rows

WIDE = 40
"""From this number of columns on, nodes sort by the features that they try, instead of keeping all sorted lists."""

_ITEM_BITS = 64
_FEW = 256  # integers of a smaller range are ranked by counting


@dataclass(frozen=True, eq=False)
class CodedColumns:
    """Training and held-out rows as ranks, column by column.

    Attributes
    ----------
    train, test : numpy.ndarray of uint16 or uint32, shapes (d, n_train) and (d, n_test)
        Rank of each value among the distinct values of its column, over both parts together.
    values : numpy.ndarray of float32
        The distinct values, column after column, ascending within each.
    offsets : numpy.ndarray of int64, shape (d + 1,)
        Start of each column in `values`.
    """

    train: np.ndarray
    test: np.ndarray
    values: np.ndarray
    offsets: np.ndarray

    def __sizeof__(self) -> int:
        return object.__sizeof__(self) + self.train.nbytes + self.test.nbytes + self.values.nbytes + self.offsets.nbytes


def code_columns(train: np.ndarray, test: np.ndarray) -> CodedColumns:
    """Replace every value by its rank among the distinct values of its column.

    Values are converted to float32, as in scikit-learn's trees. Values that are then equal count as one value. Held-out
    rows are ranked together with the training rows, so that held-out values between two training values get their own
    ranks. This changes no tree, because a tree depends only on the order.

    Parameters
    ----------
    train, test : array-like of numbers, shapes (n_train, d) and (n_test, d)
        The rows.

    Returns
    -------
    CodedColumns

    Raises
    ------
    ValueError
        If there is no row or column, the widths differ, or a value is missing, infinite or too large for float32.
    """
    parts = [np.asarray(part, dtype=float) for part in (train, test)]
    if any(part.ndim != 2 or 0 in part.shape for part in parts) or parts[0].shape[1] != parts[1].shape[1]:
        shapes = " and ".join(str(part.shape) for part in parts)
        raise ValueError(f"give two tables of equal width with at least one row and column, not of shapes {shapes}")
    n_train = len(parts[0])
    with np.errstate(over="ignore"):
        both = np.concatenate(parts).astype(np.float32)
    finite = np.isfinite(both)
    if not finite.all():
        at = int(np.argmin(finite.all(axis=0)))
        bad = np.flatnonzero(~finite[:, at])
        where = f"in {len(bad)} rows (first: row {bad[0]} of training and held-out rows together)"
        raise ValueError(f"column {at} has missing, infinite or too large values {where}: fill or drop them")
    small = (both.max(axis=0) - both.min(axis=0) < _FEW) & (both == np.floor(both)).all(axis=0)
    codes, values = np.empty(both.T.shape, dtype=np.uint32), [both[:0, 0]] * both.shape[1]
    if small.any():
        codes[small], counted = _rank_integers(both[:, small])
        for column, distinct in zip(np.flatnonzero(small), counted, strict=True):
            values[column] = distinct
    for column in np.flatnonzero(~small):
        values[column], codes[column] = np.unique(both[:, column], return_inverse=True)
    if max(map(len, values)) <= 2**16:
        codes = codes.astype(np.uint16)
    offsets = np.cumsum([0, *map(len, values)])
    return CodedColumns(
        np.ascontiguousarray(codes[:, :n_train]),
        np.ascontiguousarray(codes[:, n_train:]),
        np.concatenate(values),
        offsets,
    )


def _rank_integers(values: np.ndarray) -> tuple[np.ndarray, list[np.ndarray]]:
    """Return the ranks and the distinct values of columns of integers from a small range, without sorting.

    Header bits and codes of categories are such integers. Counting ranks them several times faster.

    Parameters
    ----------
    values : numpy.ndarray of float32, shape (n, d)
        Integers; those of a column differ by less than `_FEW`.

    Returns
    -------
    ranks : numpy.ndarray of int, shape (d, n)
    distinct : list of numpy.ndarray of float32
        For each column, ascending.
    """
    lowest = values.min(axis=0)
    above = (values - lowest).astype(np.intp)
    above += _FEW * np.arange(values.shape[1])
    occurs = np.bincount(above.ravel(), minlength=_FEW * values.shape[1]).reshape(-1, _FEW) > 0
    ranks = (occurs.cumsum(axis=1) - 1).ravel()[above.T]
    column, step = np.nonzero(occurs)
    distinct = (lowest.astype(float)[column] + step).astype(np.float32)
    return ranks, np.split(distinct, np.cumsum(occurs.sum(axis=1))[:-1])


def subset_rows(
    columns: CodedColumns, subset: np.ndarray, classes: np.ndarray, most: tuple[int, int] | None = None
) -> tuple[Rows, Layout, np.ndarray]:
    """Return the rows of a subset in the form that the kernel reads, with equal rows grouped.

    Training rows that are equal in the subset's columns and in their class become one row with a larger weight.
    Held-out rows that are equal in these columns get one prediction. The result is the same, but tables with few
    columns and few values become much smaller.

    Parameters
    ----------
    columns : CodedColumns
        All columns.
    subset : numpy.ndarray of int64
        Positions of the columns.
    classes : numpy.ndarray of int64, shape (n_train,)
        Class of each training row, 0 ... c - 1.
    most : tuple of int, optional
        Numbers of training and held-out groups of all columns together, as `most_groups` returns them.

    Returns
    -------
    rows : Rows
        The grouped rows.
    layout : Layout
        Layout of the kernel's items.
    held_groups : numpy.ndarray of int64, shape (n_test,)
        Group of each held-out row.

    Raises
    ------
    ValueError
        If there are more rows, classes and distinct values than an item of 64 bits can represent.
    """
    codes, test_codes = columns.train[subset], columns.test[subset]
    most_train, most_held = most or (None, None)
    group, first = group_rows(codes, classes, most_train)
    held_groups, first_held = group_rows(test_codes, np.zeros(test_codes.shape[1], np.int64), most_held)
    codes = np.ascontiguousarray(codes[:, first])
    layout = lay_out(int(classes.max()), len(first) - 1, int(codes.max()))
    kept_sorted = codes if len(codes) < WIDE else codes[:0]
    rows = Rows(
        codes,
        sorted_items(kept_sorted, classes[first], layout),
        group.astype(np.uint32),
        classes[first],
        np.ascontiguousarray(test_codes[:, first_held]),
        columns.values,
        columns.offsets[subset],
    )
    return rows, layout, held_groups


def most_groups(columns: CodedColumns, classes: np.ndarray) -> tuple[int, int] | None:
    """Return the numbers of training and held-out groups of all columns. No subset has more.

    None for a wide table, because its groups take too long to find.
    """
    if len(columns.train) >= WIDE:
        return None
    held = np.zeros(columns.test.shape[1], np.int64)
    return len(group_rows(columns.train, classes)[1]), len(group_rows(columns.test, held)[1])


def group_rows(codes: np.ndarray, labels: np.ndarray, most: int | None = None) -> tuple[np.ndarray, np.ndarray]:
    """Group the rows that are equal in every column and in the label.

    Parameters
    ----------
    codes : numpy.ndarray of unsigned integers, shape (k, n)
        Coded columns.
    labels : numpy.ndarray of int64, shape (n,)
        One more column.
    most : int, optional
        A number of groups that no more columns can raise. The grouping stops there.

    Returns
    -------
    group : numpy.ndarray of int64, shape (n,)
        Group of each row, numbered in the order of their first rows.
    first : numpy.ndarray of int64, shape (groups,)
        First row of each group.
    """
    group = pd.factorize(labels)[0]
    if len(codes) >= WIDE:  # one step over whole rows, instead of a step for each column
        rows = np.ascontiguousarray(codes.T).view(np.dtype((np.void, codes.itemsize * len(codes)))).ravel()
        codes = pd.factorize(np.array(rows.tolist(), dtype=object))[0][np.newaxis]
    tops = codes.max(axis=1)
    for at in np.argsort(-tops.astype(np.int64), kind="stable"):  # columns with many values first
        group, found = pd.factorize(group * (int(tops[at]) + 1) + codes[at])
        if len(found) == (most or len(group)):
            break
    # groups are numbered in the order of their first rows
    return group, np.flatnonzero(np.diff(np.maximum.accumulate(group), prepend=-1))


def lay_out(top_class: int, top_row: int, top_code: int) -> Layout:
    """Divide the 64 bits of an item among class, weight, row and code. The weight gets the remaining bits.

    Parameters
    ----------
    top_class, top_row, top_code : int
        Largest number of each kind.

    Returns
    -------
    Layout

    Raises
    ------
    ValueError
        If fewer than four bits remain for the weight.
    """
    class_bits, row_bits, code_bits = (max(1, int(top).bit_length()) for top in (top_class, top_row, top_code))
    # weights are 32-bit integers
    weight_bits = min(32, _ITEM_BITS - class_bits - row_bits - code_bits)
    if weight_bits < 4:
        many = f"{top_row + 1} distinct rows, {top_class + 1} classes and {top_code + 1} distinct values"
        raise ValueError(f"{many} are too many for the shared forest: use engine='sklearn'")
    shift = class_bits + weight_bits
    masks = [2**bits - 1 for bits in (class_bits, weight_bits, row_bits)]
    numbers = (masks[0], class_bits, masks[1], shift, masks[2], shift + row_bits)
    return Layout(*map(np.uint64, numbers))
