"""Read tables in the formats that people have, whole or in pieces, with an error where a reader would guess."""

import csv
import re
import sys
import warnings
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from io import StringIO
from itertools import islice
from pathlib import Path
from typing import Any, cast

import pandas as pd
import pyarrow as pa
import pyarrow.dataset as arrow_dataset
import pyarrow.parquet as pq

from sensorrelease.columns.cells import bare_frame
from sensorrelease.columns.decimals import tidied
from sensorrelease.read.text import (
    OPENERS,
    find_encoding,
    find_header,
    infer_delimiter,
    is_number,
    label_columns,
    open_text,
)
from sensorrelease.read.whole import LOOK_AT, missing_cells, read_excel, refuse_twins

TEXT_SUFFIXES = (".csv", ".tsv", ".txt")
PARQUET_SUFFIXES = (".parquet", ".pq")
JSON_SUFFIXES = (".jsonl", ".ndjson")
LOG_SUFFIXES = (".log",)  # CSV or JSON lines
SUFFIXES = (*TEXT_SUFFIXES, *PARQUET_SUFFIXES, ".feather", *JSON_SUFFIXES, ".xlsx", *LOG_SUFFIXES)
WHOLE = (".xlsx",)  # formats that are not read in pieces
_TEXTS = (*TEXT_SUFFIXES, *JSON_SUFFIXES, *LOG_SUFFIXES)
_NAMES = {"utf-8-sig": "UTF-8", "utf-16": "UTF-16", "utf-16-le": "UTF-16", "utf-16-be": "UTF-16", "utf-32": "UTF-32"}
_NAMES |= {"cp1252": "Windows-1252", "latin-1": "Latin-1"}
MOST_CELLS = 200_000_000  # of a table in memory
csv.field_size_limit(sys.maxsize)  # a cell may hold a whole window
_REMEDIES = {
    ".xls": "save it as .xlsx or .csv",
    ".ods": "save it as .xlsx or .csv",
    ".json": "write one record per line and name it .jsonl",
    ".zip": "unpack it first",
    ".toml": "compare and publish read descriptions of recordings",
}


@dataclass(frozen=True)
class Form:
    """How a file is written.

    Attributes
    ----------
    suffix : str
        Ending that decides the format, such as ``.csv`` for ``home.csv.gz``.
    packed : str
        Ending of the compression, such as ``.gz``, or an empty text.
    encoding : str
        Of a text: Python's name.
    delimiter : str
        Of a CSV file.
    skipped : int
        Lines before the header: a spreadsheet's ``sep=;``, or the banner of a logger.
    """

    suffix: str
    packed: str = ""
    encoding: str = ""
    delimiter: str = ""
    skipped: int = 0

    def describe(self) -> str:
        """Return a few words for a report, such as "CSV with ; in Windows-1252, gzip"."""
        names = {".feather": "Feather", ".xlsx": "Excel"}
        names |= dict.fromkeys(PARQUET_SUFFIXES, "Parquet") | dict.fromkeys(JSON_SUFFIXES, "JSON lines")
        words = names.get(self.suffix, "CSV")
        if words == "CSV":
            words += f" with {'tabs' if self.delimiter == chr(9) else self.delimiter}"
        words += f" in {_NAMES[self.encoding]}" if self.encoding else ""
        words += f", {self.skipped} lines before the header" if self.skipped > 1 else ""
        return words + ({".gz": ", gzip", ".bz2": ", bzip2", ".xz": ", xz"}.get(self.packed, ""))


def _endings(file: Path) -> tuple[str, str]:
    """Return the ending that decides the format, and that of the compression."""
    last = file.suffix.lower()
    return (Path(file.stem).suffix.lower(), last) if last in OPENERS else (last, "")


def read_table(path: str | Path, labels: Collection[str] = ()) -> pd.DataFrame:
    """Return a file as a data frame.

    Parameters
    ----------
    path : str or pathlib.Path
        CSV (.csv, .tsv, .txt; with a header; delimiter comma, semicolon, tab or bar; decimal point or comma; UTF-8,
        UTF-16, Windows-1252 or Latin-1), JSON lines (.jsonl, .ndjson), Parquet (.parquet, .pq), Feather (.feather),
        Excel (.xlsx, visible rows and columns of the first visible sheet). Texts may be packed (.gz, .bz2, .xz).
    labels : sequence of str
        Columns of labels, in which NA and None are labels.

    Returns
    -------
    pandas.DataFrame
        Its rows and columns, at least one of each. Digits with leading zeros stay texts: 0100 and 100 are different
        labels. So do long digits that a number would round. ``attrs["form"]`` says how the file is written,
        ``attrs["numbers"]`` which columns were converted to numbers, ``attrs["notices"]`` which rows are no records.
        Other metadata of the file are not read.

    Raises
    ------
    FileNotFoundError
        If there is no such file.
    ValueError
        If it is empty, of another type or unreadable, has equal column names or rows longer than its header, or has
        numbers whose commas can mean decimals or thousands.
    ModuleNotFoundError
        If a package that the format needs is not installed.
    """
    file = check_file(path)
    form = form_of(file)
    said: list[str] = []
    if form.suffix in WHOLE:
        frame, said = read_excel(file, labels)
        frame = bare_frame(frame)
    else:
        parts = list(read_pieces(file, form, labels=labels))
        frame = pd.concat(parts) if len(parts) > 1 else parts[0] if parts else pd.DataFrame()
    if frame.empty:
        raise ValueError(f"{file} has {frame.shape[0]} rows and {frame.shape[1]} columns, but needs one of each")
    frame = tidied(frame, labels, file)
    frame.attrs["form"] = form.describe()
    frame.attrs |= {about: said + frame.attrs[about] for about in ("notices", "counts")}
    return frame


def read_bare(path: Path, columns: Sequence[str]) -> pd.DataFrame:
    """Return a text file without a header, whose columns are separated by commas, semicolons, tabs or spaces.

    Lines may end with ``;``, and a line may hold several records that end so. A first line with the names is skipped.

    Raises
    ------
    FileNotFoundError
        If there is no such file.
    ValueError
        If a record has another number of values than there are names.
    """
    packed = _endings(path)[1]
    with open_text(path, packed, find_encoding(path, packed)) as lines:
        text = lines.read()
    if "," in text:
        text = text.replace(";", "\n")
    separator = next((one for one in ",;\t" if one in text), r"\s+")
    try:
        first = [name.strip() for name in re.split(separator, text.split("\n", 1)[0].strip())]
        table = pd.read_csv(StringIO(text), sep=separator, header=None, skiprows=int(first == list(columns)))
        table.columns = pd.Index(columns)
    except ValueError as error:
        raise ValueError(f"{path.name} does not fit the {len(columns)} names of key `columns`: {error}") from error
    return table


def raw_fields(path: Path) -> list[str]:
    """Return the first fields of a text without a header, or whose lines end with ``;``; none of another file."""
    form = form_of(check_file(path))
    if form.suffix not in TEXT_SUFFIXES:
        return []
    with open_text(path, form.packed, form.encoding) as stream:
        head, *others = [line.strip() for line in islice(stream, form.skipped, form.skipped + 3)] or [""]
    marked = form.delimiter == "," and bool(others) and all(line.endswith(";") for line in others)
    fields = head.rstrip(";").split(form.delimiter) if form.delimiter in head else head.split()
    numbers = [is_number(field.strip()) for field in fields]
    if not (marked or (any(numbers) if form.delimiter in head else all(numbers) and len(numbers) > 1)):
        return []
    return [*fields[:-1], f"{fields[-1]};" if marked else fields[-1]]


def check_file(path: str | Path) -> Path:
    """Return the path of a table; raise FileNotFoundError or ValueError unless its format is known."""
    file = Path(path).expanduser()
    if not file.exists():
        raise FileNotFoundError(f"there is no file {file}")
    if not file.is_file():
        what = (
            "a folder: give the path of the table in it" if file.is_dir() else "a socket or a device: save it as a file"
        )
        raise ValueError(f"{file} is {what}")
    if file.stat().st_size == 0:
        raise ValueError(f"{file} is empty: remove it, or copy it again from its source")
    suffix, packed = _endings(file)
    if suffix not in SUFFIXES or (packed and suffix not in _TEXTS):
        remedy = _REMEDIES.get(suffix or packed, "save it as CSV, or correct its name")
        raise ValueError(
            f"{file} has an unknown format: {remedy}. A name must end in {', '.join(SUFFIXES)}, or in .gz, .bz2 or .xz "
            "after the ending of a text"
        )
    return file


def form_of(file: Path) -> Form:
    """Return how a file is written; raises ValueError if it is no text although its name says so."""
    suffix, packed = _endings(file)
    if suffix not in _TEXTS:
        return Form(suffix, packed)
    form = Form(suffix, packed, find_encoding(file, packed))
    if suffix in JSON_SUFFIXES:
        return form
    try:
        with open_text(file, form.packed, form.encoding) as stream:
            head = [line for _, line in zip(range(LOOK_AT), stream, strict=False)]
    except UnicodeError as error:
        raise ValueError(f"{file} is not text, although its name says so: save it as CSV in UTF-8") from error
    if suffix in LOG_SUFFIXES:
        suffix = ".csv"
        if head and head[0].startswith("{"):
            return Form(".jsonl", packed, form.encoding)
    if head and head[0].lower().startswith("sep="):  # written by Excel, for Excel
        return Form(suffix, packed, form.encoding, head[0].strip('\r\n"')[4:5] or ",", 1)
    delimiter = infer_delimiter(head)
    return Form(suffix, packed, form.encoding, delimiter, find_header(head, delimiter))


def read_pieces(
    file: Path,
    form: Form,
    rows: int | None = None,
    types: Mapping[str, str] | None = None,
    labels: Collection[str] = (),
) -> Iterator[pd.DataFrame]:
    """Yield a file as it is written, in pieces of at most so many rows, or in one piece.

    Parameters
    ----------
    file : pathlib.Path
        The file, of no format in `WHOLE`.
    form : Form
        How it is written.
    rows : int, optional
        Rows of a piece.
    types : mapping, optional
        Type of each column of a text. By default pandas infers it, for each piece anew; columns of digits with leading
        zeros are texts.
    labels : sequence of str
        As in `read_table`.

    Raises
    ------
    ValueError, ModuleNotFoundError
        As `read_table`.
    """
    if form.delimiter:
        pieces = _read_csv(file, form, rows, types, labels)
    elif form.suffix in JSON_SUFFIXES:
        pieces = _read_json(file, form, rows)
    else:
        pieces = _read_arrow(file, form, rows)
    try:
        for piece in pieces:
            yield bare_frame(piece)
    except ValueError as error:
        raise error if str(file) in str(error) else ValueError(f"{file}: {error}") from error


def _read_csv(
    file: Path, form: Form, rows: int | None, types: Mapping[str, str] | None, labels: Collection[str]
) -> Iterator[pd.DataFrame]:
    options: Any = {"sep": form.delimiter, "index_col": False, "low_memory": False, "skiprows": form.skipped}
    try:
        with open_text(file, form.packed, form.encoding) as stream:
            head = [line for _, line in zip(range(LOOK_AT), stream, strict=False)][form.skipped :]
        names = next(csv.reader(head, delimiter=form.delimiter), [])
        refuse_twins(names, file)  # pandas would rename them: x, x.1
        if types is None:
            types = dict.fromkeys(label_columns(file, form.packed, form.encoding, **options), "str")
        else:  # names in the file may have spaces around them
            types = {name: types[name.strip()] for name in names if name.strip() in types}
        options |= missing_cells(names, labels)
        with (
            open_text(file, form.packed, form.encoding) as stream,
            pd.read_csv(stream, dtype=types, iterator=True, **options) as reader,
        ):
            while (piece := _next_piece(reader, rows)) is not None:
                yield piece
    except pd.errors.ParserWarning as error:
        raise ValueError(f"{file} cannot be read as CSV: rows have more values than the header has names") from error
    except (pd.errors.ParserError, pd.errors.EmptyDataError, csv.Error, UnicodeError) as error:
        if found := re.search(r"Expected (\d+) fields in line (\d+), saw (\d+)", str(error)):
            raise ValueError(
                f"{file}: line {found[2]} has {found[3]} values, but the header has {found[1]} names: correct the line"
            ) from error
        raise ValueError(f"{file} cannot be read as CSV: {error}") from error


def _next_piece(reader: Any, rows: int | None) -> pd.DataFrame | None:
    with warnings.catch_warnings():
        # pandas only warns if rows are longer than the header, and drops their last values
        warnings.simplefilter("error", pd.errors.ParserWarning)
        try:
            return cast(pd.DataFrame, reader.read(rows))
        except StopIteration:
            return None


def _read_json(file: Path, form: Form, rows: int | None) -> Iterator[pd.DataFrame]:
    options: Any = {"lines": True, "dtype": False, "chunksize": rows}
    try:
        with open_text(file, form.packed, form.encoding) as stream:
            found = pd.read_json(stream, **options)
            yield from [found] if isinstance(found, pd.DataFrame) else found
    except ValueError as error:
        raise ValueError(f"{file} cannot be read as JSON lines (one record per line): {error}") from error


def _read_arrow(file: Path, form: Form, rows: int | None) -> Iterator[pd.DataFrame]:
    """Yield a Parquet or Feather file in pieces of at most so many rows, or in one piece."""
    kind = "Feather" if form.suffix == ".feather" else "Parquet"
    try:
        if kind == "Parquet":
            refuse_twins(pq.read_schema(file).names, file)  # a data set of Parquet files cannot have twins
        table = arrow_dataset.dataset(file, format="ipc" if kind == "Feather" else "parquet")
        refuse_twins(table.schema.names, file)
        cells = table.count_rows() * len(table.schema.names)  # the footer has it
        if rows is None and cells > MOST_CELLS:
            raise ValueError(
                f"{file} has {table.count_rows():,} rows and {len(table.schema.names):,} columns, which is too much "
                f"for memory (more than {MOST_CELLS:,} cells): give fewer rows or columns"
            )
        pieces = [table.to_table()] if rows is None else table.to_batches(batch_size=rows)
        for piece in pieces:  # pandas's notes in the file say which columns are an index without a name
            piece.validate(full=True)  # forged offsets would read other memory
            columns = [name for name in piece.schema.names if not name.startswith("__index_level_")]
            yield piece.select(columns).replace_schema_metadata(None).to_pandas()
    except (pa.ArrowException, OSError) as error:
        raise ValueError(f"{file} cannot be read as {kind}: {error}") from error
