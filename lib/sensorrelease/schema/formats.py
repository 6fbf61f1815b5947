"""Read JSON lines, Excel sheets, Parquet and Feather files as columns of arrow."""

import importlib
import json
import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from itertools import chain, islice
from pathlib import Path
from typing import Any, TextIO
from zipfile import ZipFile

import pyarrow as pa
import pyarrow.parquet as pq

from sensorrelease.schema.cells import check_names
from sensorrelease.schema.dialect import Dialect
from sensorrelease.schema.files import (
    MOST_BYTES,
    Batch,
    Lines,
    csv_batches,
    csv_rows,
    explained,
    joined,
    open_text,
    read_header,
    refuse_size,
)
from sensorrelease.schema.model import Schema

_PIECE = 2**27  # bytes of a piece
_EXCEL_ROWS = 2**20
_HIDDEN = re.compile(rb"<(?:row|col) [^>]*hidden=\"(?:1|true)\"")


def json_batches(file: Path, schema: Schema, rows: int, wanted: Sequence[str] | None) -> Iterator[Batch]:
    """Yield JSON lines as columns of text. Numbers keep the text that they have in the file."""
    names = [field.name for field in schema.fields]
    with explained(file, "JSON lines"), open_text(file, schema) as stream:
        lines = json_lines(stream, file, schema)
        while some := list(islice(lines, rows)):
            records = [json_record(file, at, line) for at, line in some]
            for (at, _), record in zip(some, records, strict=True):
                if unknown := [name for name in record if names and name not in names]:
                    raise ValueError(f"{file}, line {at} has the key {unknown[0]!r}, which the schema does not declare")
            keys = names or list(dict.fromkeys(chain.from_iterable(records)))
            columns = {}
            for name in keys if wanted is None else [name for name in keys if name in wanted]:
                cells = [record.get(name) for record in records]
                nested = [row for row, cell in enumerate(cells) if isinstance(cell, list | dict)]
                if nested and names:
                    said = "holds nested values: give each of them a key, or withhold the column"
                    raise ValueError(f"{file}, line {some[nested[0]][0]}: column {name!r} {said}")
                if nested:  # a draft withholds it
                    columns[name] = pa.nulls(len(cells), pa.binary())
                    continue
                texts = [str(cell).lower() if isinstance(cell, bool) else cell for cell in cells]
                columns[name] = pa.array(texts, pa.large_string())
            yield Batch(len(records), columns)


def json_lines(stream: TextIO, file: Path, schema: Schema) -> Iterator[tuple[int, str]]:
    """Yield the lines that are not empty, with their numbers."""
    lines = enumerate(Lines(stream, file, schema.dialect), 1)
    return ((at, line) for at, line in lines if line.strip())


def json_record(file: Path, at: int, line: str) -> dict[str, Any]:
    """Return the record in a line; numbers are texts."""

    def record(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        if len(found := dict(pairs)) < len(pairs):
            raise ValueError("it has a key twice")
        return found

    try:
        found = json.loads(line, parse_float=str, parse_int=str, parse_constant=str, object_pairs_hook=record)
    except (ValueError, RecursionError) as error:
        raise ValueError(f"{file}, line {at} is no JSON record ({error}): write one record per line") from error
    if not isinstance(found, dict):
        raise ValueError(f"{file}, line {at} is no JSON record: write one record with keys per line")
    return found


@contextmanager
def opened_book(file: Path) -> Iterator[Any]:
    """Open a workbook without hidden rows and columns; raise ValueError if it is damaged or unpacks to too much."""
    try:
        openpyxl = importlib.import_module("openpyxl")
    except ModuleNotFoundError as error:
        said = f"{file} is an Excel file, and reading it needs openpyxl: pip install openpyxl, or save it as CSV"
        raise ModuleNotFoundError(said, name="openpyxl") from error
    _check_workbook(file)
    with explained(file, "Excel"):
        try:
            book = openpyxl.load_workbook(file, read_only=True, data_only=True)
            yield book
            book.close()
        except (KeyError, ValueError, TypeError, AttributeError, IndexError) as error:
            if str(file) in str(error):
                raise
            raise ValueError(f"{file} cannot be read as Excel: {error}; save it as CSV") from error


def sheet_rows(file: Path, book: Any, dialect: Dialect) -> Iterator[tuple[int, list[str]]]:
    """Yield the rows of a sheet from the header on, as texts, without empty cells at their end."""
    shown = [sheet.title for sheet in book.worksheets if sheet.sheet_state == "visible"]
    if dialect.sheet is not None and dialect.sheet not in shown:
        raise ValueError(f"{file} has no visible sheet {dialect.sheet!r}; it has {', '.join(shown)}")
    sheet = book[dialect.sheet or shown[0]]
    refuse_size(file, 8.0 * (sheet.max_row or 0) * (sheet.max_column or 0), MOST_BYTES)
    sheet.reset_dimensions()  # some programs write wrong ones, and rows beyond them would be lost
    cells = 0
    for at, row in enumerate(sheet.iter_rows(values_only=True), 1):
        if at > _EXCEL_ROWS:
            raise ValueError(f"{file} has more than {_EXCEL_ROWS:,} rows, which no program of spreadsheets writes")
        refuse_size(file, 8 * (cells := cells + len(row) + 1), MOST_BYTES)
        if at >= dialect.headerRows[0] and at not in dialect.commentRows:
            texts = [_cell_text(cell) for cell in row]
            while texts and not texts[-1]:
                texts.pop()
            yield at, texts


def _cell_text(cell: Any) -> str:
    if cell is None:
        return ""
    if isinstance(cell, bool):
        return str(cell).lower()
    if isinstance(cell, float) and cell.is_integer() and abs(cell) < 1e15:
        return str(int(cell))
    return cell.isoformat() if hasattr(cell, "isoformat") else str(cell)


def excel_batches(file: Path, schema: Schema, rows: int, wanted: Sequence[str] | None) -> Iterator[Batch]:
    """Yield a sheet as columns of text."""
    with opened_book(file) as book:
        yield from _sheet(file, book, schema.dialect, rows, wanted)


def _sheet(file: Path, book: Any, dialect: Dialect, rows: int, wanted: Sequence[str] | None) -> Iterator[Batch]:
    source = sheet_rows(file, book, dialect)
    header = [row for _, row in islice(source, len(dialect.headerRows))]
    names = joined(header or [[]])
    if unnamed := [at for at, name in enumerate(names, 1) if name == f"field{at}"]:
        said = f"has no name in the header of column {unnamed[0]}"
        raise ValueError(f"{file} {said}: name it, or delete what stands beside the table")
    check_names(names, file)
    places = [(name, at) for at, name in enumerate(names) if wanted is None or name in wanted]
    while some := [(at, row) for at, row in islice(source, rows)]:
        for at, row in some:
            if len(row) > len(names):
                said = f"has {len(row)} cells, but the header has {len(names)} names"
                raise ValueError(f"{file}, row {at} {said}: delete what stands beside the table")
        full = [row + [""] * (len(names) - len(row)) for _, row in some if row]
        if full:
            yield Batch(len(full), {name: pa.array([row[at] for row in full], pa.string()) for name, at in places})


def _check_workbook(file: Path) -> None:
    """Raise ValueError if a workbook unpacks to too much, or has hidden rows or columns."""
    with explained(file, "Excel"), ZipFile(file) as archive:
        refuse_size(file, sum(member.file_size for member in archive.infolist()), MOST_BYTES)
        for member in archive.namelist():
            if member.startswith("xl/worksheets/") and member.endswith(".xml"):
                with archive.open(member) as stream:
                    tail = b""
                    while block := stream.read(2**20):
                        if _HIDDEN.search(tail + block):
                            raise ValueError(f"{file} has hidden rows or columns: unhide or delete them")
                        tail = block[-1000:]


def arrow_batches(file: Path, schema: Schema, rows: int, wanted: Sequence[str] | None) -> Iterator[Batch]:
    """Yield the columns of a Parquet or Feather file with their own types, as far as they are wanted."""
    kind = "Parquet" if schema.format == "parquet" else "Feather"
    with explained(file, kind):
        if kind == "Feather":
            with pa.ipc.open_file(pa.memory_map(str(file))) as source:
                for at in range(source.num_record_batches):
                    batch = source.get_batch(at)
                    refuse_size(file, batch.nbytes, MOST_BYTES)
                    for start in range(0, batch.num_rows, rows):
                        yield _checked(batch.slice(start, rows), wanted)
            return
        texts = [field.name for field in pq.read_schema(file) if pa.types.is_string(field.type)]
        with pq.ParquetFile(file, read_dictionary=texts) as source:  # a long text that repeats is kept once
            _check_texts(file, source)
            names = [name for name in source.schema_arrow.names if wanted is None or name in wanted]
            step = max(1, min(rows, _PIECE // (8 * max(1, len(names)))))
            for batch in source.iter_batches(step, columns=names):
                yield _checked(batch, wanted)


def _check_texts(file: Path, source: Any) -> None:
    for group in range(source.metadata.num_row_groups):
        about = source.metadata.row_group(group)
        refuse_size(file, about.total_byte_size, MOST_BYTES)
        for at in range(about.num_columns):
            if "DELTA_BYTE_ARRAY" in about.column(at).encodings:  # a few bytes can stand for gigabytes
                said = "has texts in the encoding DELTA_BYTE_ARRAY, whose size is not known before it is read"
                raise ValueError(f"{file} {said}: save it as CSV, or with another encoding")


def _checked(batch: pa.RecordBatch, wanted: Sequence[str] | None) -> Batch:
    batch.validate(full=True)  # forged offsets would read other memory
    names = batch.schema.names
    return Batch(
        batch.num_rows,
        {name: batch.column(at) for at, name in enumerate(names) if wanted is None or name in wanted},
    )


_READERS: dict[str, Callable[[Path, Schema, int, Sequence[str] | None], Iterator[Batch]]] = {
    "csv": csv_batches,
    "jsonl": json_batches,
    "xlsx": excel_batches,
    "parquet": arrow_batches,
    "feather": arrow_batches,
}


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


def line_of(file: Path, schema: Schema, row: int) -> str:
    """Return where a row stands in a file, in words."""
    if schema.format == "csv":
        return f"line {next(islice(csv_rows(file, schema), row, None))[0]}"
    if schema.format == "jsonl":
        with open_text(file, schema) as stream:
            return f"line {next(islice(json_lines(stream, file, schema), row, None))[0]}"
    return f"row {row + 1}"


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
