"""Read numbers as people and devices write them: decimal commas, separated thousands, words among the numbers.

A column holds numbers if nearly all of its cells are numbers. The other cells are missing, and are counted and named.
"""

import re
from collections import Counter
from collections.abc import Callable, Collection, Sequence
from pathlib import Path

import numpy as np
import pandas as pd

from sensorprivacy.checks import counted, rows_in_words

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
MISSING = frozenset({"?", "-", "--", "\u2013", "\u2014", ".", "*", "n.a.", "n.v.", "missing", "unknown", "unavailable"})
"""Cells that stand for a missing number in a column of numbers. pandas reads "", NA, NaN, null and others itself."""


NA = frozenset(
    {"", "NA", "N/A", "n/a", "#N/A", "#NA", "#N/A N/A", "<NA>", "NaN", "-NaN", "nan", "-nan", "NULL", "null"}
)
NA |= {"None", "1.#IND", "1.#QNAN", "-1.#IND", "-1.#QNAN"}
"""Texts that are missing cells, in every format; in a column of labels only the empty one is."""
NEARLY_ALL = 0.9  # share of numbers from which a column holds numbers, and its other cells are missing
_MOST_WORDS = 1000  # different cells that are no numbers, from which a column is text without counting
_TOP = 3  # rows below the header that can state units
_SHOWN = 5


class Numbers:
    """Which columns of text are numbers in one table, how they are written, and which rows are no records.

    First `observe` all pieces of the table, then `decide`, then `apply` the decision to each piece.

    Parameters
    ----------
    labels : sequence of str
        Columns of labels, such as task and user: they are numbers only if all their cells are.

    Attributes
    ----------
    converted : dict of str to str
        Columns that become numbers, with the reason, such as "decimal commas". Filled by `decide`.
    notices : list of str
        Rows that are no records, and cells that count as missing. Filled by `decide`.
    counts : list of str
        The same for a card that is handed on: it shows no cell.
    """

    def __init__(self, labels: Collection[str] = ()) -> None:
        self.converted: dict[str, str] = {}
        self.notices: list[str] = []
        self.counts: list[str] = []
        self._labels = set(labels)
        self._ways: dict[str, dict[str, str]] = {}  # an example of each way of writing, by column
        self._numbers: Counter[str] = Counter()  # cells that are numbers
        self._words: dict[str, Counter[str]] = {}  # cells that are not, of each column of text
        self._texts: set[str] = set()  # columns with too many such cells
        self._points: dict[str, None] = {}  # columns with decimal points
        self._top: pd.DataFrame | None = None
        self._units, self._headers = 0, 0  # rows that are no records
        self._read: Callable[[str], str] = str

    def observe(self, frame: pd.DataFrame) -> "Numbers":
        """Look at the cells of a piece, and return this object."""
        rows, frame = len(frame), _without_headers(frame)
        self._headers += rows - len(frame)
        if self._top is None:
            self._top = frame.head(_TOP)
        for name, column in frame.items():
            if pd.api.types.is_numeric_dtype(column) and not pd.api.types.is_bool_dtype(column):
                self._ways.setdefault(str(name), {})["1"] = "1"
                self._numbers[str(name)] += int(column.count())
                if pd.api.types.is_float_dtype(column) and (column.dropna() % 1 != 0).any():
                    self._points[str(name)] = None
            elif str(name) not in self._texts:
                self._look(str(name), column)
        return self

    def _look(self, name: str, column: pd.Series) -> None:
        if not _is_string(column):
            self._texts.add(name)
            return
        seen, words = self._ways.setdefault(name, {}), self._words.setdefault(name, Counter())
        for cell, rows in column.dropna().map(str).str.strip().value_counts().items():
            way = _way(str(cell))
            if way in ("", "?"):
                words[str(cell)] += int(rows) if name in self._labels or str(cell) not in NA else 0
            else:
                self._numbers[name] += int(rows)
            if way:
                seen.setdefault(way, str(cell))
            if len(words) > _MOST_WORDS:
                self._texts.add(name)
                return

    def decide(self, file: Path | str) -> "Numbers":
        """Decide what the commas of the table mean, and which rows are no records, and return this object.

        Raises
        ------
        ValueError
            If commas may separate thousands, or one column has decimal commas and another one decimal points.
        """
        fractions = {"1,5", "1.5", "1,234.5"}
        labels = {name for name, ways in self._ways.items() if "01" in ways and not fractions & set(ways)}
        texts = self._texts | labels | {name for name in self._words if self._share(name) < NEARLY_ALL}
        texts |= {name for name in self._labels if any(map(_is_word, self._words.get(name, ())))}
        found = {name: ways for name, ways in self._ways.items() if name not in texts and set(ways) - {"?"}}
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
        self._find_units([name for name in found if name not in self._labels])
        written = "decimal commas" if decimal is not None else "commas between thousands"
        for name in [name for name in found if name in self._words]:
            ways, words = found[name], +self._words[name]
            reasons = [written] * (name in commas) + ["separated thousands"] * ("1 234" in ways)
            if words:
                reasons.append(f"{counted(sum(words.values()), 'cell', 'counts', 'count')} as missing")
            if reasons or name not in self._labels:
                self.converted[name] = ", ".join(reasons) or "written as text"
            if any(map(str.isalpha, "".join(words))):
                many = sum(words.values())
                verb = "counts" if many == 1 else "count"
                self.notices.append(f"column {name} holds numbers; {_in_words(words)} {verb} as missing")
                are = "is no number counts" if many == 1 else "are no numbers count"
                self.counts.append(f"{counted(many, 'cell')} of {name} that {are} as missing")
        for name in self._labels & set(self._words) - set(self.converted):
            if kept := Counter({cell: rows for cell, rows in self._words[name].items() if cell in NA}):
                said = f"{_in_words(kept)} in {name} {'is a label' if sum(kept.values()) == 1 else 'are labels'}: "
                said += "empty such cells if they mean missing ones"
                self.notices.append(said)
        return self

    def _share(self, name: str) -> float:
        """Return the share of numbers among the cells of a column that are no marks of missing ones."""
        words = sum(rows for cell, rows in self._words[name].items() if _is_word(cell))
        return self._numbers[name] / max(1, self._numbers[name] + words)

    def _find_units(self, names: Sequence[str]) -> None:
        """Count the rows below the header in which no cell is a number, and in two columns of numbers a word is.

        Such words, as "m/s" and "Smp", occur nowhere else in their columns.
        """
        top = pd.DataFrame() if self._top is None else self._top[list(names)]
        rows = [{str(name): str(cell).strip() for name, cell in row.dropna().items()} for _, row in top.iterrows()]
        stated: list[dict[str, str]] = []
        for row in rows:
            words = {name: cell for name, cell in row.items() if cell not in NA}
            if len(words) < 2 or any(cell not in self._words.get(name, ()) for name, cell in words.items()):
                break
            stated.append(words)
        alone = Counter(pair for words in stated for pair in words.items())
        if stated and all(self._words[name][cell] == many for (name, cell), many in alone.items()):
            self._units = len(stated)
            for name, cell in alone:
                del self._words[name][cell]
            shown = ", ".join(cell for words in stated for cell in words.values())
            said = rows_in_words(self._units, "of units below the header", "left out")
            self.counts.append(said)
            self.notices.append(f"{said}: {shown[:60]}")
        if self._headers:
            again = rows_in_words(self._headers, "with the header again", "left out")
            self.counts.append(again)
            self.notices.append(again)

    def apply(self, frame: pd.DataFrame, *, first: bool = True) -> pd.DataFrame:
        """Return the records of a piece; the first piece has the top of the table. Columns of numbers are float64."""
        frame = _without_headers(frame)
        frame = frame.iloc[self._units :] if first and self._units else frame
        cells: dict[str, pd.Series] = {}
        for name, column in frame.items():
            if str(name) in self.converted and not pd.api.types.is_numeric_dtype(column):
                cells[str(name)] = self._as_numbers(column)
            elif str(name) not in self._labels and _is_string(column) and (gone := column.isin(NA)).any():
                cells[str(name)] = column.mask(gone, None)
        return frame.assign(**cells) if cells else frame

    def _as_numbers(self, column: pd.Series) -> pd.Series:
        cells = {cell: str(cell).strip() for cell in column.dropna().unique()}
        values = {
            cell: float(self._read(text)) if _way(text) not in ("", "?") else np.nan for cell, text in cells.items()
        }
        return column.map(values).astype(float)


def tidied(frame: pd.DataFrame, labels: Collection[str], source: Path | str) -> pd.DataFrame:
    """Return the records of a whole table, with its columns of numbers as numbers; ``attrs`` say what was done."""
    numbers = Numbers(labels).observe(frame).decide(source)
    frame = numbers.apply(frame).reset_index(drop=True)
    frame.attrs |= {"numbers": numbers.converted, "notices": numbers.notices, "counts": numbers.counts}
    return frame


def _without_headers(frame: pd.DataFrame) -> pd.DataFrame:
    """Return a piece without the rows that repeat the names of all columns."""
    if frame.shape[1] < 2 or not all(_is_string(column) for _, column in frame.items()):
        return frame
    again = np.logical_and.reduce([column.map(str).str.strip().eq(str(name)) for name, column in frame.items()])
    return frame[~again] if again.any() else frame


def _is_string(column: pd.Series) -> bool:
    return column.dtype.kind in "OUT" or isinstance(column.dtype, pd.StringDtype)


def _is_word(cell: str) -> bool:
    """Return whether a cell that is no number is no mark of a missing one either."""
    return cell.lower() not in MISSING and cell not in NA


def _in_words(cells: Counter[str]) -> str:
    """Return how many cells there are, and the most frequent of them."""
    shown = ", ".join(f"{cell[:40]!r} {rows:,}" for cell, rows in cells.most_common(_SHOWN))
    return f"{counted(sum(cells.values()), 'cell')} ({shown}{', ...' if len(cells) > _SHOWN else ''})"


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
