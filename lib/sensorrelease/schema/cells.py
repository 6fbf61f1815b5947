"""Convert the cells of one column to the type that its field declares; say which of them do not conform."""

import datetime as dt
import re
from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc

from sensorrelease.schema.model import MOMENTS, OTHER, Field, Schema, fold

LONGEST = 10_000  # characters of a cell
MOST_COLUMNS = 10_000  # a draft of so many takes a minute, and is a schema of 1.2 MB
ZEROS = "holds NUL bytes, as after a power cut: delete the line"
_POINT = re.compile(r"[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?", re.ASCII)
_TRUTH = {"true": True, "false": False, "1": True, "0": False}
_SPACES = " \u00a0\u202f"
_NESTED = "holds nested values or bytes: write each of them in a column of its own, or withhold the column"
_WHAT = {
    "number": "is no number",
    "integer": "is no whole number",
    "boolean": "is neither true nor false",
    "string": "holds characters that no text has, or more than 10,000",
    "datetime": "is no time",
    "date": "is no date",
    "time": "is no time of day",
}


class Cells(NamedTuple):
    """The cells of a column in a piece.

    Attributes
    ----------
    data : array
        Of type float64 (numbers), boolean, datetime64 or object (texts), of shape (rows,).
    missing : numpy.ndarray of bool
        Which cells are missing in the file.
    wrong : numpy.ndarray of bool
        Which cells do not conform.
    reason : str
        What is wrong with the first of them, with its text.
    broken : bool
        Whether a cell holds NUL bytes, which no declaration allows.
    """

    data: Any
    missing: np.ndarray
    wrong: np.ndarray
    reason: str = ""
    broken: bool = False


class Converter:
    """Convert the pieces of one column.

    Parameters
    ----------
    field : Field
        What the column holds.
    schema : Schema
        Its table, for the missing cells.

    Attributes
    ----------
    spellings : dict of str to str
        The spelling that stands for all others of a label, by its folded form: that of the levels, or the first one.
    merged : set of str
        Spellings of users that were replaced.
    """

    def __init__(self, field: Field, schema: Schema) -> None:
        self.field = field
        tokens = schema.missingValues if field.missingValues is None else field.missingValues
        self.tokens = frozenset(tokens)
        self._absent = [float(one) for one in tokens if _POINT.fullmatch(one)]
        self.levels = field.constraints.enum
        self.spellings = {fold(level): level for level in self.levels or ()}
        self.merged: set[str] = set()

    def convert(self, cells: pa.Array) -> Cells:
        """Return the cells with the declared type."""
        cells = cells.dictionary_decode() if pa.types.is_dictionary(cells.type) and self.field.is_number else cells
        if is_nested(cells.type):
            raise ValueError(f"column {self.field.name!r} {_NESTED}")
        if self.field.is_number:
            return self._check_range(self._fast(cells) or self._by_text(cells, self.number, float))
        if self.field.type == "boolean":
            return self._by_text(cells, self._truth, "boolean")
        if self.field.type in MOMENTS:
            return self._moments(cells)
        return self._by_text(cells, self._label, "str")

    def _fast(self, cells: pa.Array) -> Cells | None:
        """Return numbers, or None if one is written in a way that arrow does not read."""
        kind, field = cells.type, self.field
        if is_text := pa.types.is_string(kind) or pa.types.is_large_string(kind):
            if field.groupChar or not field.bareNumber:
                return None
            missing = pc.or_(pc.is_null(cells), pc.is_in(cells, pa.array(sorted(self.tokens), kind)))
            cells = pc.if_else(missing, pa.scalar(None, kind), cells)
            if field.decimalChar != ".":
                if pc.any(pc.match_substring(cells, ".")).as_py():
                    return None
                cells = pc.replace_substring(cells, field.decimalChar, ".")
        elif pa.types.is_duration(kind):
            cells = pc.divide(pc.cast(pc.cast(cells, pa.duration("ns")), pa.int64()), pa.scalar(1e9))
        elif not (pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_decimal(kind)):
            return None
        try:
            values = np.array(pc.cast(cells, pa.float64(), safe=False).to_numpy(zero_copy_only=False))
        except pa.ArrowInvalid:
            return None
        gone = np.isin(values, self._absent)
        if is_text:
            gone |= missing.to_numpy(zero_copy_only=False)
            if not np.isfinite(values[~gone]).all():  # the words nan and inf
                return None
        else:
            gone |= np.isnan(values)
        return Cells(np.where(gone, np.nan, values), gone, np.isinf(values) & ~gone, "an infinite number")

    def _by_text(self, cells: pa.Array, read: Callable[[str], Any], kind: Any) -> Cells:
        """Convert each different cell once; `read` returns None for one that does not conform."""
        coded = cells if pa.types.is_dictionary(cells.type) else pc.dictionary_encode(cells)
        codes = pc.cast(coded.indices, pa.int64()).fill_null(-1).to_numpy(zero_copy_only=False)
        texts = [self.text(cell) for cell in coded.dictionary.to_pylist()]
        values, states, reason = [], [], ""
        for text in texts:
            gone = text is None or text in self.tokens or text.strip() in self.tokens
            value = None if gone else read(str(text))
            values.append(value)
            rare = value == OTHER and self.levels is not None and fold(str(text)) not in self.spellings
            states.append(1 if gone else 2 if value is None or rare else 0)
        gone_codes = np.array([*states, 1], dtype=np.int8)[codes]
        if (wrong := gone_codes == 2).any():
            odd = [str(texts[code]) for code in np.unique(codes[wrong])]
            first = next((text for text in odd if "\0" in text), str(texts[codes[wrong.argmax()]]))
            reason = f"{first[:60]!r} {self._wrong()}"
            if "\0" in first:
                wrong = codes == texts.index(first)
                return Cells(None, wrong, wrong, f"the cell {ZEROS}", broken=True)
        table = np.empty(len(values) + 1, dtype=object)
        table[:-1] = values
        table[-1] = None
        found: Any = table[codes]
        if kind is float:
            found = np.array([np.nan if one is None else one for one in table], dtype=float)[codes]
        elif kind is not object:
            found = pd.array(found, dtype=kind)
        return Cells(found, gone_codes == 1, wrong, reason)

    def text(self, cell: Any) -> str | None:
        """Return the text of a cell, as it would stand in a CSV file."""
        if cell is None or isinstance(cell, str):
            return cell
        if isinstance(cell, bool):
            return str(cell).lower()
        if isinstance(cell, float):
            return None if np.isnan(cell) else str(int(cell)) if cell.is_integer() and abs(cell) < 1e15 else repr(cell)
        return cell.isoformat() if isinstance(cell, dt.date | dt.time) else str(cell)

    def _wrong(self) -> str:
        if self.levels is not None and self.field.type == "string":
            return "is none of the levels"
        unit = f" with the unit {self.field.unit}" if not self.field.bareNumber else ""
        return _WHAT[self.field.type] + unit

    def number(self, text: str) -> float | None:
        """Return the number that a text states, or None."""
        field, text = self.field, text.strip().replace("\u2212", "-")
        if not field.bareNumber:
            if not text.endswith(str(field.unit)):
                return None
            text = text.removesuffix(str(field.unit)).strip(_SPACES)
        if field.groupChar:
            whole, mark, rest = text.partition(field.decimalChar)
            parts = whole.replace("\u00a0", " ").replace("\u202f", " ").split(field.groupChar)
            if len(parts) > 1 and any(len(part) != 3 for part in parts[1:]):
                return None
            text = "".join(parts) + mark + rest
        if field.decimalChar != ".":
            if "." in text:
                return None
            text = text.replace(field.decimalChar, ".")
        number = float(text) if _POINT.fullmatch(text) else np.inf
        return number if np.isfinite(number) else None

    def _truth(self, text: str) -> bool | None:
        return _TRUTH.get(fold(text))

    def _label(self, text: str) -> str | None:
        if len(text) > LONGEST or "\0" in text:
            return None
        if self.levels is not None:
            level = self.spellings.get(fold(text))
            return OTHER if level is None and self.field.nonconforming == "other" else level
        if self.field.role != "user":
            return text
        first = self.spellings.setdefault(fold(text), text)
        if first != text:
            self.merged.add(text)
        return first

    def _moments(self, cells: pa.Array) -> Cells:
        how = self.field.format
        if pa.types.is_temporal(cells.type) and not pa.types.is_time(cells.type):
            found = pd.Series(cells.to_pandas())
        else:
            texts = self._by_text(cells, str, object)
            plain = pd.Series(texts.data, dtype=object)
            found = pd.to_datetime(plain, format=how or "ISO8601", errors="coerce", utc=how is None or "%z" in how)
            wrong = (found.isna() & plain.notna()).to_numpy()
            reason = f"{plain[wrong].iloc[0][:60]!r} {self._wrong()}" if wrong.any() else ""
            return Cells(found.array, texts.missing, wrong, reason)
        found = pd.to_datetime(found, utc=True, errors="coerce")
        return Cells(found.array, found.isna().to_numpy(), np.zeros(len(found), bool))

    def _check_range(self, cells: Cells) -> Cells:
        if cells.broken:
            return cells
        values, wrong = cells.data, cells.wrong
        low, high = self.field.constraints.minimum, self.field.constraints.maximum
        with np.errstate(invalid="ignore"):
            outside = values < (-np.inf if low is None else low)
            outside |= values > (np.inf if high is None else high)
            if self.field.type == "integer":
                outside |= ~np.isnan(values) & (values % 1 != 0)
        if not (outside & ~wrong).any():
            return cells._replace(data=np.where(wrong, np.nan, values + 0.0))  # one kind of zero and of NaN
        if not wrong.any():
            value = values[outside.argmax()]
            odd = self.field.type == "integer" and value % 1 != 0
            said = (
                "is no whole number"
                if odd
                else f"is outside {'' if low is None else low} to {'' if high is None else high}"
            )
            cells = cells._replace(reason=f"{value:.12g} {said}")
        return cells._replace(data=np.where(outside | wrong, np.nan, values + 0.0), wrong=outside | wrong)


def is_nested(kind: pa.DataType) -> bool:
    """Return whether cells of a type are no single values: lists, records, bytes, intervals and periods of pandas."""
    more = isinstance(kind, pa.BaseExtensionType)
    return bool(more or pa.types.is_nested(kind) or pa.types.is_binary(kind) or pa.types.is_large_binary(kind))


def as_arrow(table: Any) -> dict[str, pa.ChunkedArray]:
    """Return the columns of a table in memory: of pandas with any types, polars, arrow or NumPy.

    Raises
    ------
    TypeError, ValueError
        If it is none of these, or two columns have one name.
    """
    if isinstance(table, np.ndarray) and table.dtype.names:
        table = pd.DataFrame(table)
    elif isinstance(table, np.ndarray):
        table = pd.DataFrame(table if table.ndim > 1 else table[:, None])
        table.columns = [f"x{place}" for place in range(table.shape[1])]
    if hasattr(table, "collect"):  # a lazy frame of polars
        table = table.collect()
    if isinstance(table, pd.DataFrame):
        named = [name for name in table.index.names if name is not None and name not in table]
        table = table.reset_index(named) if named else table
        columns: Sequence[tuple[Any, Any]] = [(name, _arrow_of(table.iloc[:, at])) for at, name in enumerate(table)]
    elif hasattr(table, "to_arrow") or isinstance(table, pa.Table):
        arrow = table if isinstance(table, pa.Table) else table.to_arrow()
        columns = list(zip(arrow.schema.names, arrow.columns, strict=True))
    else:
        raise TypeError(
            f"a table must be a pandas, polars, Arrow or NumPy table, or a path, got {type(table).__name__}"
        )
    names = [str(name).strip() or f"field{at + 1}" for at, (name, _) in enumerate(columns)]
    check_names(names, "the table")
    return dict(zip(names, (column for _, column in columns), strict=True))


def _arrow_of(column: pd.Series) -> pa.ChunkedArray:
    if isinstance(column.dtype, pd.CategoricalDtype):
        column = pd.Series(np.asarray(column), column.index)  # without unused categories
    try:
        found = pa.Array.from_pandas(column)
    except (pa.ArrowInvalid, pa.ArrowTypeError, pa.ArrowNotImplementedError):
        found = pa.Array.from_pandas(column.map(str, na_action="ignore").astype(object))
    return found if isinstance(found, pa.ChunkedArray) else pa.chunked_array([found])


def check_names(names: Sequence[str], source: Any) -> None:
    """Raise ValueError if two columns have one name, or there are too many columns."""
    if len(names) > MOST_COLUMNS:
        raise ValueError(f"{source} has {len(names):,} columns, and at most {MOST_COLUMNS:,} are read: leave some out")
    if twice := sorted(name for name, many in Counter(names).items() if many > 1):
        places = {name: [str(at + 1) for at, other in enumerate(names) if other == name] for name in twice[:5]}
        said = "; ".join(f"{name!r} (columns {', '.join(at)})" for name, at in places.items())
        raise ValueError(f"{source}: columns have the same name: {said}: rename them")
