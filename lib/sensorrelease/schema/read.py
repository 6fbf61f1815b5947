"""Read a table by its schema, whole or in pieces: each cell conforms, or is counted, or stops the reading."""

from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq

from sensorprivacy.checks import counted
from sensorprivacy.progress import tqdm
from sensorrelease.schema.cells import Converter
from sensorrelease.schema.clock import Clock
from sensorrelease.schema.files import MOST_BYTES, Batch, refuse_size
from sensorrelease.schema.formats import check_file, column_names
from sensorrelease.schema.model import FILE, OTHER, RUN, Schema
from sensorrelease.schema.sources import Files, Memory, check_columns

_REMEDY = ": correct the cell or the schema, or set `nonconforming: missing`, which counts such cells"
ROWS = 100_000  # of a piece


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
        self._source = Files(source, schema) if isinstance(source, str | Path) else Memory(source)
        self.called = self._source.called
        self.fields = [field for field in schema.fields if field.role != "withheld"]
        self.columns = [field.name for field in self.fields]
        self._beside: list[str] = []  # columns of the table of people
        self._people = self._read_people(Path(self.called))
        self._source.check([name for name in schema.names if name not in self._beside])
        self._reset()

    def _reset(self) -> None:
        self.rows, self.merged = 0, 0
        self.missing: Counter[str] = Counter()
        self.nonconforming: Counter[str] = Counter()
        self.clock = None if self.schema.recordings is None else Clock(self.schema, self._source.where)

    def _read_people(self, folder: Path) -> pd.DataFrame:
        """Return the attributes of people by user; without columns if no table has them."""
        name, user = getattr(self.schema.recordings, "people", None), str(self.schema.user)
        if name is None:
            return pd.DataFrame()
        named = [user]
        if (folder / name).exists():
            named = column_names(check_file(folder / name), Schema(fields=[])) or []
        self._beside = [one for one in named if one != user]
        if not self.schema.private:
            return pd.DataFrame()
        check_columns(named, [one for one in self.schema.names if one in named], str(folder / name))
        fields = [self.schema.field(one) for one in named]
        table = read(folder / name, Schema(fields=fields, missingValues=self.schema.missingValues)).frame
        if user not in table:
            raise ValueError(f"{folder / name} has no column {user!r}, which is the user: add it")
        if (twice := table[user].duplicated()).any():
            raise ValueError(f"{folder / name} lists the {user} {table[user][twice].iloc[0]} more than once")
        return table.set_index(user)

    def __iter__(self) -> Iterator[pd.DataFrame]:
        """Yield the pieces in order, with the positions of the rows in the whole table as index."""
        self._reset()
        converters = [Converter(field, self.schema) for field in self.fields if field.name not in self._beside]
        with tqdm(unit=" rows", desc="reading", disable=not self._progress) as bar:
            for batch in self._source.batches(self._rows, [converter.field.name for converter in converters]):
                columns = {converter.field.name: self._convert(converter, batch) for converter in converters}
                frame = pd.DataFrame(columns, index=pd.RangeIndex(self.rows, self.rows + batch.rows), copy=False)
                self.rows += batch.rows
                bar.update(batch.rows)
                yield frame if self.clock is None else self.clock.number(self._with_people(frame))
        self.merged = sum(len(converter.merged) for converter in converters)
        if not self.rows:
            raise ValueError(f"{self.called} has no rows below its header: a table needs one")
        if self.clock is not None:
            self.clock.finish()

    def _with_people(self, frame: pd.DataFrame) -> pd.DataFrame:
        user = self.schema.user
        if len(self._people):
            known = self._people
            if len(unknown := frame[user][~frame[user].isin(known.index)].dropna()):
                said = (
                    f"the table of people lists no {user} {unknown.iloc[0]}, who is in {self._source.place}: add a row"
                )
                raise ValueError(f"{self.called}: {said}")
            frame = frame.assign(**{str(name): frame[user].map(column) for name, column in known.items()})
        return frame.assign(**{FILE: self._source.number})

    def _convert(self, converter: Converter, batch: Batch) -> Any:
        field = converter.field
        if field.name not in batch.columns:  # a key that no record of this piece has
            batch.columns[field.name] = pa.nulls(batch.rows, pa.string())
        try:
            cells = converter.convert(batch.columns[field.name])
        except ValueError as error:
            raise ValueError(f"{self._source.place}: {error}") from error
        if (wrong := int(cells.wrong.sum())) and (cells.broken or field.nonconforming == "error"):
            where = self._source.where(self.rows + int(cells.wrong.argmax()))
            remedy = "" if cells.broken else _REMEDY
            raise ValueError(f"{where}, column {field.name!r}: {cells.reason}{remedy}")
        self.missing[field.name] += int(cells.missing.sum())
        self.nonconforming[field.name] += wrong
        return cells.data

    @property
    def notices(self) -> list[str]:
        """What the last complete pass counted, in words without any cell."""
        said = [f"{counted(many, 'missing cell')} in {name}" for name, many in self.missing.items() if many]
        for name, many in self.nonconforming.items():
            became = OTHER if self.schema.field(name).nonconforming == "other" else "missing"
            said += [f"{counted(many, 'cell')} of {name} did not conform: now {became}"] if many else []
        if self.merged:
            said.append(f"{counted(self.merged, 'further spelling')} of users count as the same users")
        return said + (self.clock.notices if self.clock else [])


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
    if isinstance(source, str | Path) and schema.format == "parquet" and schema.recordings is None:
        refuse_size(found.called, 8.0 * pq.read_metadata(source).num_rows * len(found.columns), limit)
    size = 0.0
    names = [*found.columns, *([FILE, RUN] if schema.recordings else [])]
    parts: dict[str, list[Any]] = {name: [] for name in names}
    for piece in found:
        size += piece.memory_usage(index=False).sum()
        refuse_size(found.called, size, limit)
        for name in parts:
            parts[name].append(piece[name].array)
    # column by column, so that the table is never twice in memory
    whole = {name: _joined(parts.pop(name)) for name in names}
    frame = pd.DataFrame(whole, copy=False)
    return Table(frame, dict(+found.missing), dict(+found.nonconforming), found.notices)


def _joined(parts: list[Any]) -> Any:
    if len(parts) == 1:
        return parts[0]
    if parts[0].dtype.kind in "fO" and isinstance(parts[0].dtype, np.dtype):
        return np.concatenate([part.to_numpy() for part in parts])
    return pd.concat([pd.Series(part) for part in parts], ignore_index=True).array
