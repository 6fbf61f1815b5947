"""Tables of any library as frames of pandas, and the cells in them: numbers, texts, missing ones."""

import hashlib
from typing import Any

import numpy as np
import pandas as pd

from sensorprivacy.data import as_frame as as_frame

_NESTED = (dict, list, tuple, set, np.ndarray)


def bare_frame(table: Any) -> pd.DataFrame:
    """Return the cells of a table alone: what lies beside them, such as notes and unused categories, stays behind.

    A named index, which some formats keep apart, becomes a column. Columns are named by texts, and rows are numbered.

    Raises
    ------
    TypeError, ValueError
        If it is no table, has two columns of one name, or nested cells.
    """
    frame = as_frame(table)
    named = [name for name in frame.index.names if name is not None and name not in frame]
    frame = (frame.reset_index(named) if named else frame).reset_index(drop=True)
    frame = frame.set_axis([str(name).strip() for name in frame], axis=1)
    frame.attrs = {}
    if twice := frame.columns[frame.columns.duplicated()].tolist():
        raise ValueError(f"the table has more than one column named {', '.join(twice)}: rename them")
    for name, column in frame.items():
        if isinstance(column.dtype, pd.CategoricalDtype):
            frame[name] = pd.Series(np.asarray(column), column.index)
        elif column.dtype == object and column.map(lambda cell: isinstance(cell, _NESTED)).any():
            raise ValueError(f"column {name!r} has nested values: give each of them a column of its own")
    return frame


def plain_frame(table: Any) -> pd.DataFrame:
    """Return a `bare_frame` with at least one row and one column.

    Raises
    ------
    TypeError, ValueError
        As `bare_frame`, or if the table is empty.
    """
    frame = bare_frame(table)
    if frame.empty:
        raise ValueError(f"the table has {frame.shape[0]} rows and {frame.shape[1]} columns, but needs one of each")
    return frame


def is_table(value: Any) -> bool:
    """Return whether `as_frame` takes a value."""
    return isinstance(value, pd.DataFrame) or hasattr(value, "to_pandas") or hasattr(value, "collect")


def is_text(column: pd.Series) -> bool:
    """Return whether the cells of a column are no numbers and no durations: texts, truth values, points in time."""
    if pd.api.types.is_bool_dtype(column):
        return True
    return not pd.api.types.is_numeric_dtype(column) and column.dtype.kind != "m" and not is_decimal(column)


def is_decimal(column: pd.Series) -> bool:
    """Return whether the cells are decimal numbers of Python, as some databases give them."""
    return column.dtype.kind == "O" and pd.api.types.infer_dtype(column, skipna=True) == "decimal"


def as_text(column: pd.Series) -> pd.Series:
    """Return the cells of a column as text; missing cells stay missing."""
    return column.map(str, na_action="ignore").astype(object)


def missing_cells(table: pd.DataFrame) -> pd.DataFrame:
    """Return which cells of a table are missing; infinite numbers count as missing."""
    found = table.isna()
    for name, column in table.items():
        if column.dtype.kind == "f":
            found[name] |= np.isinf(column.to_numpy(dtype=float, na_value=np.nan))
    return found


def table_digest(table: pd.DataFrame) -> str:
    """Return the SHA-256 of a table's names and cells."""
    hashed = pd.util.hash_pandas_object(table, index=False).to_numpy()
    return hashlib.sha256("\0".join(map(str, table.columns)).encode() + hashed.tobytes()).hexdigest()
