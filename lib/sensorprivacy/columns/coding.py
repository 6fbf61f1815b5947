"""Read the cells of a column as numbers that models can learn from: the first rows, and new rows in the same way."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pandas as pd

from sensorprivacy.checks import counted
from sensorprivacy.columns.cells import as_text, is_decimal, is_text
from sensorprivacy.columns.decimals import MISSING, looks_like_number
from sensorprivacy.columns.moments import parse_moments

_TRUTH = ({"true", "false"}, {"yes", "no"}, {"on", "off"}, {"y", "n"}, {"t", "f"}, {"ja", "nein"}, {"oui", "non"})
_TRUE = {"true", "yes", "on", "y", "t", "ja", "oui"}
UNSEEN = -1  # the number of a text that was not among the first rows


@dataclass(frozen=True)
class Reading:
    """How one column is read; learned by `read_column`.

    Attributes
    ----------
    read : str
        What the cells are: numbers, truth values, points in time, durations, texts.
    how : str
        How they become numbers, in words.
    categories : list of str or None
        Cells of texts; their positions are their numbers. None stands for missing cells, if it is listed.
    start : str
        First point in time, from which seconds count.
    example : str
        A cell that is no plain number, if most cells of a column of text look like numbers.
    """

    read: str
    how: str = "as it is"
    categories: list[str | None] = field(default_factory=list)
    start: str = ""
    example: str = ""

    def numbers(self, column: pd.Series) -> pd.Series:
        """Return cells as numbers: missing and infinite ones are NaN, and texts that were not learned are `UNSEEN`.

        Raises
        ------
        ValueError
            If the column holds something else than the first rows did.
        """
        if self.read == "texts":
            places = {cell: place for place, cell in enumerate(self.categories)}
            codes = as_text(column).map(lambda cell: places.get(cell, UNSEEN), na_action="ignore").astype(float)
            return _whole(codes.where(codes.notna(), places[None]) if None in places else codes)
        if self.read == "truth values" and not pd.api.types.is_bool_dtype(column):
            words = as_text(column).str.strip().str.lower()
            true = words.map(lambda cell: float(cell in _TRUE), na_action="ignore").astype(float)
            known = words.isna() | words.isin(set().union(*_TRUTH)) | words.isin(MISSING)
            return _whole(true.mask(words.isin(MISSING)).where(known, UNSEEN))
        if self.read == "points in time":
            times = column if column.dtype.kind == "M" else parse_moments(column)
            return (times - pd.Timestamp(self.start)) / pd.Timedelta(seconds=1)
        if column.dtype.kind == "m":
            return column.dt.total_seconds()
        if isinstance(column.dtype, pd.CategoricalDtype):
            column = column.astype(column.cat.categories.dtype)
        if is_decimal(column):
            column = column.astype(float)
        if not pd.api.types.is_numeric_dtype(column) and column.notna().any():
            example = as_text(column.dropna().iloc[:1]).tolist()
            raise ValueError(f"column {column.name!r} held {self.read} when it was fitted, but now holds {example}")
        return _finite(column)


def read_column(column: pd.Series, kind: str = "", *, missing: bool = False) -> Reading:
    """Return how a column is read.

    Parameters
    ----------
    column : pandas.Series
        Numbers, truth values (true/false, yes/no, on/off), points in time, durations, decimals, texts or categories.
    kind : str
        Kind of identifier that `identifiers.find_identifiers` found: texts that are points in time are parsed.
    missing : bool
        Whether missing texts and truth values are a category of their own. Otherwise they stay missing.

    Returns
    -------
    Reading
        Infinite numbers count as missing. Points in time become seconds since the first one. A text becomes the number
        of its category in sorted order.

    Examples
    --------
    >>> words = pd.Series(["yes", None, "no"])
    >>> read_column(words).numbers(words).tolist()
    [1.0, nan, 0.0]
    """
    if pd.api.types.is_bool_dtype(column) and not (missing and column.isna().any()):
        return Reading("truth values", "false 0, true 1")
    if isinstance(column.dtype, pd.CategoricalDtype):
        column = column.astype(column.cat.categories.dtype)
    if column.dtype.kind == "m":
        return Reading("durations", "seconds")
    if (pd.api.types.is_numeric_dtype(column) and not pd.api.types.is_bool_dtype(column)) or is_decimal(column):
        infinite = int(np.isinf(column.to_numpy(dtype=float, na_value=np.nan)).sum())
        return Reading(
            "numbers", f"{counted(infinite, 'infinite cell', 'counts', 'count')} as missing" if infinite else "as it is"
        )
    if column.dtype.kind == "M" or kind == "points in time":
        times = column if column.dtype.kind == "M" else parse_moments(column)
        if times.notna().any():
            return Reading("points in time", f"seconds since {times.min()}", start=str(times.min()))
    return _read_texts(column, missing)


def read_texts(cells: Sequence[str | None]) -> Reading:
    """Return how texts are read whose cells are known, in this order."""
    missing = ", first the missing ones" if None in cells else ""
    return Reading("texts", f"numbers of {len(cells):,} categories in sorted order{missing}", list(cells))


def read_frame(table: pd.DataFrame, *, missing: bool = False) -> dict[Any, Reading]:
    """Return how each column of a table is read that is not numeric; `missing` as for `read_column`."""
    once = [name for name in table.columns.unique() if list(table).count(name) == 1]
    words = [name for name in once if not pd.api.types.is_numeric_dtype(table[name])]
    words += [name for name in once if missing and pd.api.types.is_bool_dtype(table[name]) and table[name].isna().any()]
    return {name: read_column(table[name], missing=missing) for name in dict.fromkeys(words)}


def coded(table: pd.DataFrame, readings: Mapping[Any, Reading]) -> pd.DataFrame:
    """Return a table with the numbers of the columns that have a reading; other columns stay as they are."""
    found = table.copy()
    for name in [name for name in readings if name in found]:
        found[name] = readings[name].numbers(table[name])
    return found


def misread(table: pd.DataFrame, names: Iterable[str]) -> dict[str, str]:
    """Return those of some columns that are texts although most of their cells are numbers, each with another cell."""
    texts = [name for name in names if name in table and is_text(table[name])]
    found = {name: read_column(table[name]).example for name in texts}
    return {name: cell for name, cell in found.items() if cell and not looks_like_number(cell.strip())}


def numbers_among(column: pd.Series) -> pd.Series:
    """Return the numbers among the cells of a text column; other cells are missing."""
    cells = as_text(column).str.strip()
    known = cells.map({cell: looks_like_number(cell) for cell in cells.dropna().unique()}).eq(True)
    return pd.to_numeric(cells.where(known).str.replace(",", "."), errors="coerce").astype(float)


def _read_texts(column: pd.Series, missing: bool) -> Reading:
    texts = as_text(column).dropna()
    every = {cell.strip().lower() for cell in texts.unique()}
    cells, gaps = every - MISSING, missing and column.isna().any()
    if cells and any(cells <= pair for pair in _TRUTH) and not gaps and not (missing and every & MISSING):
        named = ", ".join(f"{cell} {int(cell in _TRUE)}" for cell in sorted(cells))
        return Reading("truth values", named)
    found = read_texts([None] * bool(gaps) + sorted(texts.unique()))
    return Reading(found.read, found.how, found.categories, example=_number_in(texts))


def _finite(column: pd.Series) -> pd.Series:
    """Return numbers and truth values in one of NumPy's types, with NaN for missing and infinite cells."""
    if not (isinstance(column.dtype, np.dtype) and column.dtype.kind in "iuf"):
        if column.isna().any():
            column = column.astype("Float64").astype(float)
        else:
            column = column.astype(np.int64 if column.dtype.kind in "biu" else float)
    infinite = np.isinf(column.to_numpy(dtype=float))
    return column.mask(infinite) if infinite.any() else column


def _whole(values: pd.Series) -> pd.Series:
    return values if values.isna().any() else values.astype(np.int64)


def _number_in(texts: pd.Series) -> str:
    """Return a cell that is no plain number, if most cells of a text column look like numbers, else an empty text."""
    cells = texts.str.strip()
    numbers = cells.map({cell: looks_like_number(cell) for cell in cells.unique()}).astype(bool)
    if not len(cells) or numbers.mean() < 0.5:
        return ""
    return str(cells[~numbers].iloc[0] if not numbers.all() else cells.iloc[0])
