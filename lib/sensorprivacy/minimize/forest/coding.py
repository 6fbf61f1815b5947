"""Replace the values of each column by integer ranks, for the shared forest.

The splits of a tree depend only on the order of the values. So each value can be replaced by its rank among the
distinct values of its column. Ranks are computed once and shared by all subsets. They need two bytes per value for up
to 65,536 distinct values in every column, and four bytes above.
"""

from dataclasses import dataclass

import numpy as np
import pandas as pd

from sensorprivacy.minimize.forest.splitting import Layout, Rows

WIDE = 40
"""From this number of columns on, nodes sort by the features that they try, instead of keeping all sorted lists."""

_ITEM_BITS = 64


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
        raise ValueError(
            f"training and held-out rows must be tables of equal width with at least one row and column, got shapes "
            f"{parts[0].shape} and {parts[1].shape}"
        )
    n_train, width = parts[0].shape
    ranks, values = [], []
    for column in range(width):
        with np.errstate(over="ignore"):
            both = np.concatenate([part[:, column] for part in parts]).astype(np.float32)
        if not np.isfinite(both).all():
            row = int(np.argmin(np.isfinite(both)))
            raise ValueError(
                f"column {column} has missing, infinite or too large values in {int((~np.isfinite(both)).sum())} rows "
                f"(first: row {row} of training and held-out rows together): fill or drop them"
            )
        distinct, rank = np.unique(both, return_inverse=True)
        values.append(distinct)
        ranks.append(rank)
    widest = max(map(len, values))
    codes = np.array(ranks, dtype=np.uint16 if widest <= 2**16 else np.uint32)
    offsets = np.cumsum([0, *map(len, values)])
    return CodedColumns(
        np.ascontiguousarray(codes[:, :n_train]),
        np.ascontiguousarray(codes[:, n_train:]),
        np.concatenate(values),
        offsets,
    )


def subset_rows(columns: CodedColumns, subset: np.ndarray, classes: np.ndarray) -> tuple[Rows, Layout, np.ndarray]:
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
    group, first = group_rows(codes, classes)
    held_groups, first_held = group_rows(test_codes, np.zeros(test_codes.shape[1], np.int64))
    codes = np.ascontiguousarray(codes[:, first])
    layout = lay_out(int(classes.max()), len(first) - 1, int(codes.max()))
    kept_sorted = codes if len(codes) < WIDE else codes[:0]
    order = np.argsort(kept_sorted, axis=1, kind="stable")
    ordered = np.take_along_axis(kept_sorted, order, axis=1).astype(np.uint64) << layout.code
    ordered |= (order.astype(np.uint64) << layout.row) | classes[first][order].astype(np.uint64)
    rows = Rows(
        codes,
        ordered,
        group.astype(np.uint32),
        classes[first],
        np.ascontiguousarray(test_codes[:, first_held]),
        columns.values,
        columns.offsets[subset],
    )
    return rows, layout, held_groups


def group_rows(codes: np.ndarray, labels: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Group the rows that are equal in every column and in the label.

    Parameters
    ----------
    codes : numpy.ndarray of unsigned integers, shape (k, n)
        Coded columns.
    labels : numpy.ndarray of int64, shape (n,)
        One more column.

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
    for column in codes:
        group = pd.factorize(group * (int(column.max()) + 1) + column)[0]
    return group, np.unique(group, return_index=True)[1]


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
        raise ValueError(
            f"{top_row + 1} distinct rows, {top_class + 1} classes and {top_code + 1} distinct values are too many "
            "for the shared forest: use engine='sklearn'"
        )
    shift = class_bits + weight_bits
    masks = [2**bits - 1 for bits in (class_bits, weight_bits, row_bits)]
    numbers = (masks[0], class_bits, masks[1], shift, masks[2], shift + row_bits)
    return Layout(*map(np.uint64, numbers))
