"""Read numbers as people write them: decimal commas, separated thousands, and marks for missing numbers."""

import re
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas as pd

# 3 | 3,5 | 1.234,5 | -,5e3: digits with a decimal comma, and points or spaces between thousands
_COMMA = re.compile(r"[+-]?(?=[\d,])(?:\d{1,3}(?:[. \u00a0\u202f]\d{3})+|\d*)(?:,\d+)?(?:[eE][+-]?\d+)?")
# 1,234 | 1,234,567.8: commas between thousands
_THOUSANDS = re.compile(r"[+-]?[1-9]\d{0,2}(?:,\d{3})+(?:\.\d+)?")
# 1 234.5 | 1'234.5: spaces or apostrophes between thousands
_SPACED = re.compile(r"[+-]?\d{1,3}(?:[ '\u2019\u00a0\u202f]\d{3})+(?:\.\d+)?")
_POINT = re.compile(r"[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?")
_LABEL = re.compile(r"0\d+|\d{16,}")  # 0100, and more digits than a float holds
_BETWEEN = re.compile(r"[ '\u2019\u00a0\u202f]")
_REMEDY = "write numbers with a decimal point and without thousands separators"
MISSING = frozenset({"?", "-", "--", "\u2013", "\u2014", ".", "*", "n.a.", "n.v.", "missing", "unknown"})
"""Cells that stand for a missing number in a column of numbers. pandas reads "", NA, NaN, null and others itself."""


class Numbers:
    """Which columns of text are numbers in one file, and how they are written.

    First `observe` all pieces of the file, then `decide`, then `apply` the decision to each piece.

    Attributes
    ----------
    converted : dict of str to str
        Columns that become numbers, with the reason, such as "decimal commas". Filled by `decide`.
    """

    def __init__(self) -> None:
        self.converted: dict[str, str] = {}
        self._cells: dict[str, dict[str, str]] = {}  # an example of each way of writing, by column
        self._texts: set[str] = set()  # columns with a cell that is no number
        self._points: dict[str, None] = {}  # columns with decimal points
        self._read: Callable[[str], str] = str

    def observe(self, frame: pd.DataFrame) -> "Numbers":
        """Look at the cells of a piece, and return this object."""
        for name, column in frame.items():
            if pd.api.types.is_numeric_dtype(column) and not pd.api.types.is_bool_dtype(column):
                self._cells.setdefault(str(name), {})["1"] = "1"
            if pd.api.types.is_float_dtype(column):
                if (column.dropna() % 1 != 0).any():
                    self._points[str(name)] = None
            elif not pd.api.types.is_numeric_dtype(column) and str(name) not in self._texts:
                self._look(str(name), column)
        return self

    def _look(self, name: str, column: pd.Series) -> None:
        seen = self._cells.setdefault(name, {})
        if column.dtype.kind not in "OUT" and not isinstance(column.dtype, pd.StringDtype):
            self._texts.add(name)
            return
        for cell in map(str, map(str.strip, map(str, column.dropna().unique()))):
            way = _way(cell)
            if not way:
                self._texts.add(name)
                return
            seen.setdefault(way, cell)

    def decide(self, file: Path | str) -> "Numbers":
        """Decide what the commas of the file mean, and return this object.

        Raises
        ------
        ValueError
            If commas may separate thousands, or one column has decimal commas and another one decimal points.
        """
        fractions = {"1,5", "1.5", "1,234.5"}
        labels = {name for name, ways in self._cells.items() if "01" in ways and not fractions & set(ways)}
        texts = self._texts | labels
        found = {name: ways for name, ways in self._cells.items() if name not in texts and set(ways) - {"?"}}
        commas = {name: ways for name, ways in found.items() if {"1,5", "1,234", "1,234.5"} & set(ways)}
        points = [*self._points, *(name for name, ways in found.items() if "1.5" in ways and name not in commas)]
        decimal = next((name for name, ways in commas.items() if "1,5" in ways), None)
        thousands = next((name for name, ways in commas.items() if "1,234.5" in ways), None)
        if decimal is not None and (points or thousands):
            raise ValueError(
                f"{file} mixes decimal commas (column {decimal!r}) and decimal points (column "
                f"{points[0] if points else thousands!r}): {_REMEDY}"
            )
        for name, ways in commas.items():
            unclear = ways.get("1,234") if decimal is None and thousands is None and not points else None
            unclear = ways.get("1.5") if decimal is not None and "1.5" in ways else unclear
            if unclear:
                raise ValueError(
                    f"{file}: column {name!r} holds numbers such as {unclear!r}, where the comma can mean thousands or "
                    f"decimals: {_REMEDY}"
                )
        marks = (".", ",") if decimal is not None else (",", ".")
        self._read = lambda cell: _BETWEEN.sub("", cell).replace(marks[0], "").replace(marks[1], ".")
        words = "decimal commas" if decimal is not None else "commas between thousands"
        for name, ways in found.items():
            reasons = [words] * (name in commas) + ["separated thousands"] * ("1 234" in ways)
            if "?" in ways:
                reasons.append(f"{ways['?']!r} is missing")
            if reasons:
                self.converted[name] = ", ".join(reasons)
        return self

    def apply(self, frame: pd.DataFrame) -> pd.DataFrame:
        """Return a piece in which these columns are float64; the same object if there are none."""
        texts = [name for name in self.converted if not pd.api.types.is_numeric_dtype(frame[name])]
        return frame.assign(**{name: self._numbers(frame[name]) for name in texts}) if texts else frame

    def _numbers(self, column: pd.Series) -> pd.Series:
        cells = column.dropna().unique()
        values = {cell: np.nan if str(cell).strip() in MISSING else float(self._read(str(cell))) for cell in cells}
        return column.map(values).astype(float)


def looks_like_number(cell: str) -> bool:
    """Return whether a text is a number with a point or a comma, or one with separated thousands."""
    return any(pattern.fullmatch(cell) for pattern in (_COMMA, _THOUSANDS, _SPACED, _POINT))


def _way(cell: str) -> str:
    """Return how a number is written, shown by an example; an empty text if the cell is no number."""
    if cell.lower() in MISSING:
        return "?"
    if _LABEL.fullmatch(cell):
        return "01"
    if _THOUSANDS.fullmatch(cell):
        return "1,234.5" if "." in cell or cell.count(",") > 1 else "1,234"
    if "," in cell:
        return "1,5" if _COMMA.fullmatch(cell) else ""
    if _POINT.fullmatch(cell):
        return "1.5" if "." in cell and not re.fullmatch(r"[+-]?\d{1,3}\.\d{3}", cell) else "1"
    if _SPACED.fullmatch(cell):
        return "1 234"
    return "1" if _COMMA.fullmatch(cell) else ""
