"""Read the rows of a file as columns of arrow, strictly: a row that does not fit is named with file and line."""

import bz2
import codecs
import csv
import gzip
import lzma
import os
import zlib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from io import TextIOWrapper
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple, TextIO, cast
from zipfile import BadZipFile

import duckdb
import pyarrow as pa

from sensorrelease.schema.cells import ZEROS, check_names
from sensorrelease.schema.dialect import Dialect
from sensorrelease.schema.model import Schema

MOST_BYTES = 2**30  # of a table in memory
_LINE = 10_000_000  # characters of a line
_RATIO, _UNPACKED = 100, 2**27  # a file that unpacks to so many times its size, and to more characters, is no table
OPENERS: dict[str | None, Any] = {None: open, "gz": gzip.open, "bz2": bz2.open, "xz": lzma.open}
_SETTINGS: dict[str, Any] = {"autoinstall_known_extensions": "false", "autoload_known_extensions": "false"}


class Batch(NamedTuple):
    """Some rows: columns by name."""

    rows: int
    columns: dict[str, Any]


@contextmanager
def explained(file: Path, kind: str) -> Iterator[None]:
    """Raise the errors of the readers as one line that names the file."""
    try:
        yield
    except UnicodeError as error:
        said = f"it is not text in {getattr(error, 'encoding', 'this encoding')}: correct `encoding`, such as cp1252"
        raise ValueError(f"{file} cannot be read as {kind}: {said}") from error
    except (pa.ArrowException, OSError, EOFError, lzma.LZMAError, zlib.error, BadZipFile, csv.Error) as error:
        if isinstance(error, FileNotFoundError | PermissionError | IsADirectoryError):
            raise
        raise ValueError(f"{file} cannot be read as {kind}: {' '.join(str(error).split())[:200]}") from error


def refuse_size(file: Any, size: float, limit: int) -> None:
    """Raise ValueError if a table is too large for memory."""
    if size > limit:
        raise ValueError(
            f"{file} needs more than {limit / 2**20:,.0f} MiB of memory once it is read, which is the limit: give "
            "fewer rows or columns"
        )


def refuse_ratio(file: Path, size: int) -> None:
    """Raise ValueError if a file unpacks to far more than its size."""
    if size > max(_UNPACKED, _RATIO * file.stat().st_size):
        raise ValueError(f"{file} unpacks to more than {_RATIO} times its size: is it a table?")


class Lines:
    """The lines of a text, without those that hold no record.

    Attributes
    ----------
    given : list of int
        Numbers of the lines that were given since the list was last cleared.
    """

    def __init__(self, stream: TextIO, file: Path, dialect: Dialect) -> None:
        self._stream, self._file, self._dialect, self._at = stream, file, dialect, 0
        self.given: list[int] = []

    def __iter__(self) -> Iterator[str]:
        size = 0
        skipped, mark = set(self._dialect.commentRows), self._dialect.commentChar
        while line := self._stream.readline(_LINE):
            self._at += 1
            size += len(line)
            refuse_ratio(self._file, size)
            if len(line) == _LINE:
                raise ValueError(f"{self._file}, line {self._at} has more than {_LINE:,} characters: is it a table?")
            if self._at in skipped or self._at < self._dialect.headerRows[0] or (mark and line.startswith(mark)):
                continue
            self.given.append(self._at)
            yield line


def open_text(file: Path, schema: Schema) -> TextIO:
    """Open a text for reading, unpacked and decoded."""
    encoding = "utf-8-sig" if codecs.lookup(schema.encoding).name == "utf-8" else schema.encoding
    stream = OPENERS[schema.compression](file, "rb")
    return TextIOWrapper(cast(Any, stream), encoding=encoding, newline="")


def _csv_options(dialect: Dialect) -> dict[str, Any]:
    quoted = dialect.quoteChar != "none"
    return {
        "delimiter": dialect.delimiter,
        "quoting": csv.QUOTE_MINIMAL if quoted else csv.QUOTE_NONE,
        "quotechar": dialect.quoteChar if quoted else None,
        "doublequote": dialect.doubleQuote,
        "strict": True,
    }


def read_header(file: Path, schema: Schema) -> list[str]:
    """Return the names of the columns of a CSV file; a column without a name is called by its place: field3."""
    with explained(file, "CSV"), open_text(file, schema) as stream:
        return _header(Lines(stream, file, schema.dialect), file, schema.dialect)[0]


def _header(lines: Lines, file: Path, dialect: Dialect) -> tuple[list[str], Iterator[str]]:
    """Return the names, and the lines below them."""
    source = iter(lines)
    rows: list[list[str]] = []
    while len(rows) < len(dialect.headerRows):
        line = next(source, None)
        if line is None:
            raise ValueError(f"{file} has no header in line {dialect.headerRows[0]}: correct `headerRows`")
        try:
            rows.append(next(csv.reader([line], **_csv_options(dialect)), []))
        except csv.Error as error:
            raise ValueError(f"{file}, line {lines.given[-1]} is no header ({error}): correct the line") from error
    width = max(map(len, rows))
    if dialect.trailingDelimiter and width > 1 and all(not row[width - 1 : width] or not row[-1] for row in rows):
        width -= 1
    names = joined([row[:width] for row in rows])
    check_names(names, file)
    return names, source


def joined(rows: Sequence[Sequence[str]]) -> list[str]:
    """Return the names of a header of one or more rows; a column without a name is called by its place."""
    width = max(map(len, rows))
    parts = [[row[at].strip() if at < len(row) else "" for row in rows] for at in range(width)]
    return [" ".join(filter(None, part)) or f"field{at + 1}" for at, part in enumerate(parts)]


def csv_rows(file: Path, schema: Schema) -> Iterator[tuple[int, list[str]]]:
    """Yield the records of a CSV file with the number of their first line.

    Raises
    ------
    ValueError
        If a row has another number of cells than the header, or a quote is not closed.
    """
    dialect = schema.dialect
    with explained(file, "CSV"), open_text(file, schema) as stream:
        lines = Lines(stream, file, dialect)
        names, source = _header(lines, file, dialect)
        lines.given.clear()
        reader = csv.reader(source, **_csv_options(dialect))
        while True:
            try:
                row = next(reader, None)
            except csv.Error as error:
                where = f"{file}, line {lines.given[0] if lines.given else 1}"
                raise ValueError(
                    f"{where}: a quote is not closed, or a cell is too long ({error}): correct it"
                ) from error
            if row is None:
                return
            at = lines.given[0]
            lines.given.clear()
            if not row:
                continue
            if dialect.trailingDelimiter and len(row) == len(names) + 1 and not row[-1]:
                row.pop()
            if len(row) != len(names):
                raise ValueError(f"{file}, line {at} {_misfit(row, names, reader, dialect)}")
            yield at, row


def _misfit(row: list[str], names: list[str], reader: Iterator[list[str]], dialect: Dialect) -> str:
    if any("\0" in cell for cell in row):
        return ZEROS
    said = f"has {len(row)} cells, but the header has {len(names)} names"
    others = [len(other) for other in islice(reader, 20)]
    if others and set(others) == {len(row)}:
        if len(row) == len(names) + 1 and not row[-1]:
            return f"{said}, as all lines: set `trailingDelimiter: true`"
        return f"{said}, as the lines below it: is it a second table, or does the header lack a name? Correct the file"
    cells = dialect.delimiter.join(row)
    return f"{said}: correct the line ({cells[:60]!r})"


def csv_batches(file: Path, schema: Schema, rows: int, wanted: Sequence[str] | None) -> Iterator[Batch]:
    """Yield a CSV file as columns of text."""
    names, done = read_header(file, schema), 0
    if _suits_duckdb(file, schema):
        try:
            for batch in _by_duckdb(file, schema, names, rows, wanted):
                yield batch
                done += batch.rows
            return
        except duckdb.Error:  # our own reader says what is wrong, or goes on where line ends differ
            pass
    places = [(name, at) for at, name in enumerate(names) if wanted is None or name in wanted]
    records = (row for _, row in csv_rows(file, schema))
    for _ in islice(records, done):
        pass
    while some := list(islice(records, rows)):
        columns = list(zip(*some, strict=True))
        yield Batch(len(some), {name: pa.array(columns[at], pa.large_string()) for name, at in places})


def _suits_duckdb(file: Path, schema: Schema) -> bool:
    dialect = schema.dialect
    above = sorted({*dialect.headerRows, *dialect.commentRows})
    first = dialect.headerRows[0]
    return (
        codecs.lookup(schema.encoding).name == "utf-8"
        and schema.compression is None
        and dialect.commentChar is None
        and not dialect.trailingDelimiter
        and above[-1] - max(first, above[0]) < len(above)
        and dialect.quoteChar != "none"
        and not set("*?[") & set(str(file))
        and _ends_short(file)
    )


def _ends_short(file: Path) -> bool:
    """Return whether the last line is no longer than lines may be: DuckDB drops one that exceeds its buffer."""
    with file.open("rb") as stream:
        size = stream.seek(0, os.SEEK_END)
        stream.seek(max(0, size - _LINE))
        return size <= _LINE or b"\n" in stream.read().rstrip(b"\r\n")


def _by_duckdb(
    file: Path, schema: Schema, names: Sequence[str], rows: int, wanted: Sequence[str] | None
) -> Iterator[Batch]:
    dialect = schema.dialect
    places = [at for at, name in enumerate(names) if wanted is None or name in wanted]
    if not places:
        raise duckdb.Error("no column is wanted")
    types = ", ".join(f"'c{at}': 'VARCHAR'" for at in range(len(names)))
    query = (  # no text of the file is part of it
        f"SELECT {', '.join(f'c{at}' for at in places)} FROM read_csv(?, auto_detect=false, header=false, delim=?, "
        f"quote=?, escape=?, skip={max([*dialect.headerRows, *dialect.commentRows])}, columns={{{types}}}, "
        "strict_mode=true, nullstr='')"
    )
    escape = dialect.quoteChar if dialect.doubleQuote else "\\"
    with duckdb.connect(config=_SETTINGS) as base:
        relation = base.sql(query, params=[str(file), dialect.delimiter, dialect.quoteChar, escape])
        for batch in relation.to_arrow_reader(rows):
            yield Batch(batch.num_rows, {names[at]: batch.column(k) for k, at in enumerate(places)})
