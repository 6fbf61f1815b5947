"""Columns as integer ranks: what the shared forest sees instead of values, without losing any.

A tree splits by order alone, so a column may be replaced by the rank of each value among the column's distinct values.
Ranks are computed once, shared by all subsets and small: two bytes a value up to 65,536 distinct values in every
column, four bytes above.
"""

from dataclasses import dataclass

import numpy as np

from sensorprivacy.minimize.forest.keys import group_rows
from sensorprivacy.minimize.forest.splitting import Layout, Rows

WIDE = 40
"""From this many columns on, nodes are sorted by the features that are tried instead of kept sorted by all."""

_ITEM_BITS = 64


@dataclass(frozen=True, eq=False)
class CodedColumns:
    """Training and held-out rows, column by column, as ranks.

    Attributes
    ----------
    train, test : numpy.ndarray of uint16 or uint32, shapes (d, n_train) and (d, n_test)
        Rank of each value among the distinct values of its column, of both parts together.
    values : numpy.ndarray of float32
        The distinct values, column after column, ascending within each.
    offsets : numpy.ndarray of int64, shape (d + 1,)
        Where the values of each column begin.
    """

    train: np.ndarray
    test: np.ndarray
    values: np.ndarray
    offsets: np.ndarray

    def __sizeof__(self) -> int:
        return object.__sizeof__(self) + self.train.nbytes + self.test.nbytes + self.values.nbytes + self.offsets.nbytes


def code_columns(train: np.ndarray, test: np.ndarray) -> CodedColumns:
    """Replace every value by its rank among the distinct values of its column.

    Values are read as float32, as scikit-learn's trees read them: values that are equal in it are one value. Held-out
    rows are ranked together with the training rows, so that a threshold between two training values can be told from
    the held-out values on either side of it; that changes no tree, for a tree sees only the order.

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
        If there is no row or column, the widths differ, or a value is missing, infinite or beyond float32.
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
                f"column {column} is missing, infinite or beyond float32 in {int((~np.isfinite(both)).sum())} rows "
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


def gather(columns: CodedColumns, subset: np.ndarray, classes: np.ndarray) -> tuple[Rows, Layout, np.ndarray]:
    """Return the rows of a subset as the kernel reads them, equal rows taken together.

    Training rows that agree in every column of the subset and in their class are one row of larger weight to a tree,
    and held-out rows that agree in every column get one answer. Nothing is lost, and few columns of few values shrink
    to a fraction.

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
        How the kernel's items are laid out.
    asked : numpy.ndarray of int64, shape (n_test,)
        Group of each held-out row.

    Raises
    ------
    ValueError
        If there are more rows, classes and distinct values than an item of 64 bits can tell apart.
    """
    codes, test_codes = columns.train[subset], columns.test[subset]
    group, first = group_rows(codes, classes)
    asked, first_asked = group_rows(test_codes, np.zeros(test_codes.shape[1], np.int64))
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
        np.ascontiguousarray(test_codes[:, first_asked]),
        columns.values,
        columns.offsets[subset],
    )
    return rows, layout, asked


def lay_out(top_class: int, top_row: int, top_code: int) -> Layout:
    """Divide the 64 bits of an item among class, weight, row and code; the weight gets what the others leave.

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
        If fewer than four bits are left for the weight.
    """
    class_bits, row_bits, code_bits = (max(1, int(top).bit_length()) for top in (top_class, top_row, top_code))
    # a weight is counted in 32 bits
    weight_bits = min(32, _ITEM_BITS - class_bits - row_bits - code_bits)
    if weight_bits < 4:
        raise ValueError(
            f"{top_row + 1} distinct rows, {top_class + 1} classes and {top_code + 1} distinct values are more than "
            "the shared forest can pack: use engine='sklearn'"
        )
    shift = class_bits + weight_bits
    numbers = (
        2**class_bits - 1, class_bits, 2**weight_bits - 1, shift, 2**row_bits - 1, shift + row_bits,
    )  # fmt: skip
    return Layout(*map(np.uint64, numbers))
