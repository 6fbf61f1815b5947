"""Read a table by its schema, whole or in pieces: each cell conforms, or is counted, or stops the reading."""

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq

from sensorprivacy.checks import counted
from sensorprivacy.progress import tqdm
from sensorrelease.schema.cells import Converter, as_arrow
from sensorrelease.schema.files import (
    MOST_BYTES,
    Batch,
    csv_batches,
    csv_rows,
    explained,
    open_text,
    read_header,
    refuse_size,
)
from sensorrelease.schema.formats import arrow_batches, excel_batches, json_batches, json_lines
from sensorrelease.schema.model import OTHER, Field, Schema

_REMEDY = ": correct the cell or the schema, or set `nonconforming: missing`, which counts such cells"
ROWS = 100_000  # of a piece
_READERS: dict[str, Callable[[Path, Schema, int, Sequence[str] | None], Iterator[Batch]]] = {
    "csv": csv_batches,
    "jsonl": json_batches,
    "xlsx": excel_batches,
    "parquet": arrow_batches,
    "feather": arrow_batches,
}


class Table(NamedTuple):
    """A table that was read.

    Attributes
    ----------
    frame : pandas.DataFrame
        Its rows. Columns are those of the schema that are not withheld, in its order: float64 for numbers, boolean,
        datetime64, and object for texts; missing cells are missing.
    missing, nonconforming : dict of str to int
        Cells by column.
    notices : list of str
        What was counted, in words without any cell.
    """

    frame: pd.DataFrame
    missing: dict[str, int]
    nonconforming: dict[str, int]
    notices: list[str]


class Pieces:
    """The rows of a table, in pieces; each pass reads the table again, and needs memory for one piece.

    Parameters
    ----------
    source : path or table in memory
        A file, or a table of pandas, polars, Arrow or NumPy.
    schema : Schema
        How it is read.
    rows : int
        Rows of a piece.
    progress : bool
        Whether to show a bar.

    Attributes
    ----------
    columns : list of str
        Those of the schema that are not withheld.
    rows : int
        Number of rows, after a complete pass.
    missing, nonconforming : Counter
        Cells by column, after a complete pass.

    Raises
    ------
    FileNotFoundError
        If there is no such file.
    ValueError
        If a cell, row or column does not conform, with file, line, column, cell and remedy.
    """

    def __init__(self, source: Any, schema: Schema, rows: int = ROWS, *, progress: bool = False) -> None:
        self.schema, self._rows, self._progress = schema, rows, progress
        self._file = check_file(source) if isinstance(source, str | Path) else None
        self._table = as_arrow(source) if self._file is None else {}
        self.called = str(self._file or "the table")
        self.fields = [field for field in schema.fields if field.role != "withheld"]
        self.columns = [field.name for field in self.fields]
        self._check_columns()
        self._reset()

    def _reset(self) -> None:
        self.rows, self.merged = 0, 0
        self.missing: Counter[str] = Counter()
        self.nonconforming: Counter[str] = Counter()

    def _check_columns(self) -> None:
        found = list(self._table) if self._file is None else column_names(self._file, self.schema)
        names = self.schema.names
        if found is None:  # JSON lines have no header
            return
        if unknown := [name for name in found if name not in names]:
            shown = ", ".join(map(repr, unknown[:8]))
            raise ValueError(f"{self.called} has columns that the schema does not declare: {shown}: draft it again")
        if absent := [name for name in names if name not in found]:
            shown = ", ".join(map(repr, absent[:8]))
            raise ValueError(
                f"{self.called} has no column {shown}, which the schema declares; it has {', '.join(found)}"
            )

    def __iter__(self) -> Iterator[pd.DataFrame]:
        """Yield the pieces in order, with the positions of the rows in the whole table as index."""
        self._reset()
        converters = [Converter(field, self.schema) for field in self.fields]
        with tqdm(unit=" rows", desc="reading", disable=not self._progress) as bar:
            for batch in self._batches():
                columns = {}
                for field, converter in zip(self.fields, converters, strict=True):
                    columns[field.name] = self._convert(field, converter, batch)
                frame = pd.DataFrame(columns, index=pd.RangeIndex(self.rows, self.rows + batch.rows), copy=False)
                self.rows += batch.rows
                bar.update(batch.rows)
                yield frame
        self.merged = sum(len(converter.merged) for converter in converters)
        if not self.rows:
            raise ValueError(f"{self.called} has no rows below its header: a table needs one")

    def _convert(self, field: Field, converter: Converter, batch: Batch) -> Any:
        if field.name not in batch.columns:  # a key that no record of this piece has
            batch.columns[field.name] = pa.nulls(batch.rows, pa.string())
        try:
            cells = converter.convert(batch.columns[field.name])
        except ValueError as error:
            raise ValueError(f"{self.called}: {error}") from error
        if (wrong := int(cells.wrong.sum())) and (cells.broken or field.nonconforming == "error"):
            where = self._line(self.rows + int(cells.wrong.argmax()))
            remedy = "" if cells.broken else _REMEDY
            raise ValueError(f"{self.called}, {where}, column {field.name!r}: {cells.reason}{remedy}")
        self.missing[field.name] += int(cells.missing.sum())
        self.nonconforming[field.name] += wrong
        return cells.data

    def _batches(self) -> Iterator[Batch]:
        if self._file is not None:
            yield from batches(self._file, self.schema, self._rows, self.columns)
            return
        rows = max((len(column) for column in self._table.values()), default=0)
        for start in range(0, rows, self._rows):
            parts = {name: self._table[name].slice(start, self._rows) for name in self.columns}
            whole = {name: _one(part) for name, part in parts.items()}
            yield Batch(min(self._rows, rows - start), whole)

    def _line(self, row: int) -> str:
        """Return where a row stands in the file."""
        if self._file is None or self.schema.format not in ("csv", "jsonl"):
            return f"row {row + 1}"
        if self.schema.format == "jsonl":
            with open_text(self._file, self.schema) as stream:
                return f"line {next(islice(json_lines(stream, self._file, self.schema), row, None))[0]}"
        return f"line {next(islice(csv_rows(self._file, self.schema), row, None))[0]}"

    @property
    def notices(self) -> list[str]:
        """What the last complete pass counted, in words without any cell."""
        said = [f"{counted(many, 'missing cell')} in {name}" for name, many in self.missing.items() if many]
        for name, many in self.nonconforming.items():
            became = OTHER if self.schema.field(name).nonconforming == "other" else "missing"
            said += [f"{counted(many, 'cell')} of {name} did not conform: now {became}"] if many else []
        if self.merged:
            said.append(f"{counted(self.merged, 'further spelling')} of users count as the same users")
        return said


def _one(column: Any) -> pa.Array:
    """Return a column in one block."""
    found = column.combine_chunks() if isinstance(column, pa.ChunkedArray) else column
    return pa.concat_arrays(found.chunks) if isinstance(found, pa.ChunkedArray) else found


def read(source: Any, schema: Schema, *, limit: int = MOST_BYTES, progress: bool = False) -> Table:
    """Read a table whole.

    Parameters
    ----------
    source : path or table in memory
        A file, or a table of pandas, polars, Arrow or NumPy.
    schema : Schema
        How it is read.
    limit : int
        Most bytes of the columns in memory.
    progress : bool
        Whether to show a bar.

    Raises
    ------
    FileNotFoundError
        If there is no such file.
    ValueError
        If a cell, row or column does not conform, or the table is larger than the limit.
    """
    found = Pieces(source, schema, progress=progress)
    if isinstance(source, str | Path) and schema.format == "parquet":
        refuse_size(found.called, 8.0 * pq.read_metadata(source).num_rows * len(found.columns), limit)
    size = 0.0
    parts: dict[str, list[Any]] = {name: [] for name in found.columns}
    for piece in found:
        size += piece.memory_usage(index=False).sum()
        refuse_size(found.called, size, limit)
        for name in parts:
            parts[name].append(piece[name].array)
    # column by column, so that the table is never twice in memory
    whole = {name: _joined(parts.pop(name)) for name in found.columns}
    frame = pd.DataFrame(whole, index=pd.RangeIndex(found.rows), copy=False)
    return Table(frame, dict(+found.missing), dict(+found.nonconforming), found.notices)


def _joined(parts: list[Any]) -> Any:
    if len(parts) == 1:
        return parts[0]
    if parts[0].dtype.kind in "fO" and isinstance(parts[0].dtype, np.dtype):
        return np.concatenate([part.to_numpy() for part in parts])
    return pd.concat([pd.Series(part) for part in parts], ignore_index=True).array


def batches(file: Path, schema: Schema, rows: int, wanted: Sequence[str] | None) -> Iterator[Batch]:
    """Yield the columns of a file, as far as they are wanted, as texts or with the types of the file."""
    return _READERS[schema.format](file, schema, rows, wanted)


def column_names(file: Path, schema: Schema) -> list[str] | None:
    """Return the names of the columns of a file, or None if it is read to find them."""
    if schema.format == "jsonl":
        return None
    if schema.format == "csv":
        return read_header(file, schema)
    if schema.format == "parquet":
        with explained(file, "Parquet"):
            return list(pq.read_schema(file).names)
    first = next(batches(file, schema, 1, None), None)
    return None if first is None else list(first.columns)


def check_file(path: str | Path) -> Path:
    """Return the path of a file; raise FileNotFoundError or ValueError if it is none, or empty."""
    file = Path(path).expanduser()
    if not file.exists():
        raise FileNotFoundError(f"there is no file {file}")
    if not file.is_file():
        raise ValueError(f"{file} is {'a folder' if file.is_dir() else 'no regular file'}: give the path of a table")
    if not file.stat().st_size:
        raise ValueError(f"{file} is empty: remove it, or copy it again from its source")
    return file
