"""Tables of any library as frames of pandas, and the cells in them: numbers, texts, missing ones."""

import hashlib
from typing import Any, cast

import numpy as np
import pandas as pd


def as_frame(table: Any) -> pd.DataFrame:
    """Return a pandas, polars or Arrow table as a pandas data frame.

    Raises
    ------
    TypeError
        If it is none of these.
    """
    if isinstance(table, pd.DataFrame):
        return table
    table = table.collect() if hasattr(table, "collect") else table  # a lazy frame of polars
    if not hasattr(table, "to_pandas"):
        raise TypeError(f"a table must be a pandas, polars or Arrow table, or a path, got {type(table).__name__}")
    return cast(pd.DataFrame, table.to_pandas())


def plain_frame(table: Any) -> pd.DataFrame:
    """Return a table as a frame whose columns are named by texts, and whose rows are numbered.

    Raises
    ------
    TypeError, ValueError
        If it is no table, is empty, or has two columns of one name.
    """
    frame = as_frame(table).reset_index(drop=True)
    frame = frame.set_axis([str(name) for name in frame], axis=1)
    if frame.empty:
        raise ValueError(f"the table has {frame.shape[0]} rows and {frame.shape[1]} columns, but needs one of each")
    if twice := frame.columns[frame.columns.duplicated()].tolist():
        raise ValueError(f"the table has more than one column named {', '.join(twice)}: rename them")
    return frame


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
