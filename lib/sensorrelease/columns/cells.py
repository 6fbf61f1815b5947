"""The cells of tables of any library, and their digest."""

import hashlib
from typing import Any

import numpy as np
import pandas as pd

from sensorprivacy.data import as_frame

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


def table_digest(table: pd.DataFrame) -> str:
    """Return the SHA-256 of a table's names and cells."""
    hashed = pd.util.hash_pandas_object(table, index=False).to_numpy()
    return hashlib.sha256("\0".join(map(str, table.columns)).encode() + hashed.tobytes()).hexdigest()
