"""Tables of other libraries as pandas data frames."""

from typing import Any, cast

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
    if not hasattr(table, "to_pandas"):
        raise TypeError(f"a table must be a pandas, polars or Arrow table, or a path, got {type(table).__name__}")
    if hasattr(table, "collect"):
        table = table.collect()
    return cast(pd.DataFrame, table.to_pandas())
