"""Turn the cells of a table into numbers that models can learn from, and say how each column was coded."""

from dataclasses import dataclass

import numpy as np
import pandas as pd

from sensorprivacy.columns.decimals import looks_like_number
from sensorprivacy.columns.moments import parse_moments

_TRUTH = ({"true", "false"}, {"yes", "no"}, {"on", "off"}, {"y", "n"}, {"t", "f"}, {"ja", "nein"}, {"oui", "non"})
_TRUE = {"true", "yes", "on", "y", "t", "ja", "oui"}
_NUMBERS, _CATEGORIES = "median", "most_frequent"  # how missing cells are filled


@dataclass(frozen=True)
class Coded:
    """One feature as numbers.

    Attributes
    ----------
    numbers : pandas.Series
        Numbers; missing cells are NaN.
    read : str
        What the cells are: numbers, truth values, points in time, durations, texts.
    how : str
        How they were coded, in words.
    fill : {"median", "most_frequent"}
        The value that suits a missing cell.
    example : str
        A cell that is no plain number, if most cells of a column of text look like numbers.
    """

    numbers: pd.Series
    read: str
    how: str = "as it is"
    fill: str = _NUMBERS
    example: str = ""


def code_column(column: pd.Series, kind: str = "") -> Coded:
    """Return a column as numbers.

    Parameters
    ----------
    column : pandas.Series
        Numbers, truth values (true/false, yes/no, on/off), points in time, durations, decimals, texts or categories.
    kind : str
        Kind of identifier that `identifiers.find_identifiers` found: texts that are points in time are parsed.

    Returns
    -------
    Coded
        Infinite numbers count as missing. Points in time become seconds since the first one. A text becomes the number
        of its category in sorted order.

    Examples
    --------
    >>> code_column(pd.Series(["yes", None, "no"])).numbers.tolist()
    [1.0, nan, 0.0]
    """
    if pd.api.types.is_bool_dtype(column):
        return Coded(_numbers(column), "truth values", "false 0, true 1", _CATEGORIES)
    if isinstance(column.dtype, pd.CategoricalDtype):
        column = column.astype(column.cat.categories.dtype)
    if pd.api.types.is_numeric_dtype(column):
        values = _numbers(column)
        infinite = np.isinf(values.to_numpy(dtype=float))
        how = f"{int(infinite.sum())} infinite cells count as missing" if infinite.any() else "as it is"
        return Coded(values.mask(infinite) if infinite.any() else values, "numbers", how)
    if column.dtype.kind == "m":
        return Coded(column.dt.total_seconds(), "durations", "seconds")
    if pd.api.types.infer_dtype(column, skipna=True) == "decimal":
        return Coded(column.astype(float), "numbers")
    if column.dtype.kind == "M" or kind == "points in time":
        times = _times(column)
        if times is not None:
            seconds = (times - times.min()) / pd.Timedelta(seconds=1)
            return Coded(seconds, "points in time", f"seconds since {times.min()}")
    return _code_text(column)


def with_numbers(features: pd.DataFrame) -> pd.DataFrame:
    """Return a table with durations as seconds and decimals as floats."""
    for name, column in features.items():
        if column.dtype.kind == "m":
            features[name] = column.dt.total_seconds()
        elif pd.api.types.infer_dtype(column) == "decimal":
            features[name] = column.astype(float)
    return features


def missing_cells(table: pd.DataFrame) -> pd.DataFrame:
    """Return which cells of a table are missing; infinite numbers count as missing."""
    found = table.isna()
    for name, column in table.items():
        if column.dtype.kind == "f":
            found[name] |= np.isinf(column.to_numpy(dtype=float, na_value=np.nan))
    return found


def _code_text(column: pd.Series) -> Coded:
    texts = column.map(str, na_action="ignore").astype(object)
    cells = {str(cell).strip().lower() for cell in texts.dropna().unique()}
    if cells and any(cells <= pair for pair in _TRUTH):
        true = texts.map(lambda cell: float(cell.strip().lower() in _TRUE), na_action="ignore").astype(float)
        named = ", ".join(f"{cell} {int(cell in _TRUE)}" for cell in sorted(cells))
        return Coded(_whole(true), "truth values", named, _CATEGORIES)
    codes = column.astype("category").cat.codes.astype(np.int64)
    values = codes.where(codes >= 0).astype(float) if (codes < 0).any() else codes
    how = f"numbers of {len(cells):,} categories in sorted order"
    return Coded(values, "texts", how, _CATEGORIES, _number_in(texts))


def _numbers(column: pd.Series) -> pd.Series:
    """Return numbers and truth values in one of NumPy's types, with NaN for missing cells."""
    if isinstance(column.dtype, np.dtype) and column.dtype.kind in "iuf":
        return column
    if column.isna().any():
        return column.astype("Float64").astype(float)
    return column.astype(np.int64 if column.dtype.kind in "biu" else float)


def _whole(values: pd.Series) -> pd.Series:
    return values if values.isna().any() else values.astype(np.int64)


def _times(column: pd.Series) -> pd.Series | None:
    """Return points in time, missing where a text states none, or None if no text does."""
    if column.dtype.kind == "M":
        return column
    times = parse_moments(column)
    return times if times.notna().any() else None


def _number_in(column: pd.Series) -> str:
    """Return a cell that is no plain number, if most cells of a text column look like numbers, else an empty text."""
    cells = column.dropna().astype(str).str.strip()
    numbers = cells.map({cell: looks_like_number(cell) for cell in cells.unique()}).astype(bool)
    if not len(cells) or numbers.mean() < 0.5:
        return ""
    return str(cells[~numbers].iloc[0] if not numbers.all() else cells.iloc[0])
