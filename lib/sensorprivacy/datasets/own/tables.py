"""Read your own table, CSV or Parquet, with an error in cases where pandas would guess or repair silently."""

import csv
import warnings
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pooch
import pyarrow as pa
import pyarrow.parquet as pq

from sensorprivacy.datasets.checks import require_columns
from sensorprivacy.datasets.own.decimals import looks_like_number, read_decimal_commas
from sensorprivacy.datasets.own.identifiers import IdentifierWarning, find_identifiers
from sensorprivacy.datasets.types import Problem

TEXT_SUFFIXES = (".csv", ".tsv", ".txt")
PARQUET_SUFFIXES = (".parquet", ".pq")
_DELIMITERS = (",", ";", "\t", "|")
_LOOK_AT = 50  # lines from which the delimiter is inferred


def is_path(name: str | Path) -> bool:
    """Return whether a name is the path of a file, and not the name of a data set."""
    suffixes = TEXT_SUFFIXES + PARQUET_SUFFIXES
    return isinstance(name, Path) or "/" in name or "\\" in name or name.lower().endswith(suffixes)


def read_table(path: str | Path) -> pd.DataFrame:
    """Return a CSV or Parquet file as a data frame.

    Parameters
    ----------
    path : str or pathlib.Path
        A file that ends in .csv, .tsv or .txt (UTF-8 with a header; delimiter comma, semicolon, tab or bar; decimal
        point or comma), or in .parquet or .pq.

    Returns
    -------
    pandas.DataFrame
        Its rows and columns, at least one of each.

    Raises
    ------
    FileNotFoundError
        If there is no such file.
    ValueError
        If it is empty, of another type or unreadable, has equal column names or rows longer than its header, or has
        numbers whose commas can mean decimals or thousands.
    """
    file = check_file(path)
    frame = _parquet(file) if file.suffix.lower() in PARQUET_SUFFIXES else _text(file)
    if frame.empty:
        raise ValueError(f"{file} has {frame.shape[0]} rows and {frame.shape[1]} columns, but needs one of each")
    return frame


def check_file(path: str | Path) -> Path:
    """Return the path of a table; raise FileNotFoundError or ValueError unless it is a CSV or Parquet file."""
    file = Path(path).expanduser()
    if not file.exists():
        raise FileNotFoundError(f"there is no file {file}")
    if not file.is_file():
        raise ValueError(f"{file} is a folder: give the path of the CSV or Parquet file in it")
    if file.stat().st_size == 0:
        raise ValueError(f"{file} is empty")
    if file.suffix.lower() not in TEXT_SUFFIXES + PARQUET_SUFFIXES:
        raise ValueError(
            f"{file} is neither CSV nor Parquet: its name must end in {', '.join(TEXT_SUFFIXES + PARQUET_SUFFIXES)}"
        )
    return file


def _text(file: Path) -> pd.DataFrame:
    return read_decimal_commas(pd.concat(read_text(file)), file)


def read_text(file: Path, rows: int | None = None, types: Mapping[str, str] | None = None) -> Iterator[pd.DataFrame]:
    """Yield a text file as it is written, in pieces of so many rows, or in one piece.

    Parameters
    ----------
    file : pathlib.Path
        CSV with a header.
    rows : int, optional
        Rows of a piece.
    types : mapping, optional
        Type of each column. By default pandas infers it, for each piece anew.

    Raises
    ------
    ValueError
        As `read_table`.
    """
    try:
        with file.open(encoding="utf-8-sig", newline="") as stream:
            head = [line for _, line in zip(range(_LOOK_AT), stream, strict=False)]
        delimiter = infer_delimiter(head)
        names = next(csv.reader(head, delimiter=delimiter), [])
        _refuse_twins(names, file)  # pandas would rename them: x, x.1
        options: Any = {"sep": delimiter, "encoding": "utf-8-sig", "index_col": False, "low_memory": False}
        with pd.read_csv(file, dtype=types, iterator=True, **options) as reader:
            while (piece := _next_piece(reader, rows)) is not None:
                yield piece
    except UnicodeDecodeError as error:
        raise ValueError(f"{file} is not UTF-8 text (byte {error.start}): save it as UTF-8") from error
    except pd.errors.ParserWarning as error:
        raise ValueError(f"{file} cannot be read as CSV: rows have more values than the header has names") from error
    except (pd.errors.ParserError, pd.errors.EmptyDataError, csv.Error) as error:
        raise ValueError(f"{file} cannot be read as CSV: {error}") from error


def _next_piece(reader: Any, rows: int | None) -> pd.DataFrame | None:
    with warnings.catch_warnings():
        # pandas only warns if rows are longer than the header, and drops their last values
        warnings.simplefilter("error", pd.errors.ParserWarning)
        try:
            return reader.read(rows)
        except StopIteration:
            return None


def infer_delimiter(lines: list[str]) -> str:
    """Return the delimiter for which most lines have as many fields as the header; among equals, the most fields.

    Parameters
    ----------
    lines : list of str
        The first lines of the file.

    Returns
    -------
    str
        A comma if there is only one column.
    """

    def fit(delimiter: str) -> tuple[bool, int, int]:
        rows = [row for row in csv.reader(lines, delimiter=delimiter) if row]
        columns = len(rows[0]) if rows else 0
        return columns > 1, sum(len(row) == columns for row in rows[:-1]) if columns > 1 else 0, columns

    return max(_DELIMITERS, key=fit)


def _parquet(file: Path) -> pd.DataFrame:
    return next(read_parquet(file))


def read_parquet(file: Path, rows: int | None = None) -> Iterator[pd.DataFrame]:
    """Yield a Parquet file in pieces of at most so many rows, or in one piece; raises as `read_table`."""
    try:
        _refuse_twins(pq.read_schema(file).names, file)
        if rows is None:
            yield pd.read_parquet(file)
        else:
            with pq.ParquetFile(file) as pieces:
                yield from (piece.to_pandas() for piece in pieces.iter_batches(rows))
    except (pa.ArrowException, OSError) as error:
        raise ValueError(f"{file} cannot be read as Parquet: {error}") from error


def _refuse_twins(names: Iterable[str], file: Path) -> None:
    if twice := [name for name, count in Counter(map(str.strip, names)).items() if name and count > 1]:
        raise ValueError(f"{file} has more than one column named {', '.join(twice)}: rename them")


def table_problem(path: Path, *, task: str, user: str, groups: str | None = None, keep: Sequence[str] = ()) -> Problem:
    """Return your own table as a problem for the re-identification game.

    Parameters
    ----------
    path : pathlib.Path
        CSV or Parquet.
    task, user : str
        Columns with the task label, and with the person that the record belongs to.
    groups : str, optional
        Column with the recording of each record.
    keep : sequence of str
        Columns that stay features although they look like identifiers.

    Returns
    -------
    Problem
        All other columns are features, except identifiers, points in time and row numbers, see `identifiers`: the
        provenance lists them under ``left_out`` and a warning names them. Truth values become 0 and 1, durations
        seconds. A text becomes the number of its category in sorted order, and a missing text -1; the provenance lists
        these columns under ``coded``, and those that seem to hold numbers under ``numbers_as_text``.

    Raises
    ------
    FileNotFoundError, ValueError
        As `read_table`; or if a column is missing, has two roles, or no column is left for the features.

    Warns
    -----
    IdentifierWarning
        If columns are left out.
    """
    table = read_table(path)
    roles = [task, user, *([groups] if groups is not None else [])]
    if len(set(roles)) < len(roles):
        raise ValueError(f"task, user and groups must be different columns, got {', '.join(map(repr, roles))}")
    require_columns(table.columns, [*roles, *keep], path.name)
    if both := [name for name in keep if name in roles]:
        raise ValueError(f"{both} are task, user or groups, so they cannot be features: leave them out of `keep`")
    features = with_numbers(table.drop(columns=roles))
    left_out = find_identifiers(features.drop(columns=list(keep)), [table[name] for name in roles[1:]])
    features = features.drop(columns=list(left_out))
    _report(left_out, bool(features.shape[1]), path.name)
    coded = [column for column in features if not pd.api.types.is_numeric_dtype(features[column])]
    as_text = {column: example for column in coded if (example := _number_in(features[column]))}
    for column in coded:
        features[column] = features[column].astype("category").cat.codes.astype(np.int64)
    features = features.astype(dict.fromkeys(features.select_dtypes("bool"), np.int64))
    digest = pooch.file_hash(str(path.expanduser()))
    facts = {"coded": coded, "left_out": left_out, "numbers_as_text": as_text}
    return Problem(
        features,
        task=table[task],
        users=table[user],
        groups=None if groups is None else table[groups],
        name=path.stem,
        provenance={"file": path.name, "digest": digest, **facts},
    )


def with_numbers(features: pd.DataFrame) -> pd.DataFrame:
    """Return a table with durations as seconds and decimals as floats."""
    for name, column in features.items():
        if column.dtype.kind == "m":
            features[name] = column.dt.total_seconds()
        elif pd.api.types.infer_dtype(column) == "decimal":
            features[name] = column.astype(float)
    return features


def _report(left_out: Mapping[str, str], any_left: bool, file: str) -> None:
    """Warn about columns that are left out; raise ValueError if no feature remains."""
    if not left_out:
        return
    named = ", ".join(f"{name} ({kind})" for name, kind in left_out.items())
    message = f"{file}: columns that identify rows are not used as features: {named}"
    if not any_left:
        raise ValueError(f"{message}. No other column is left: add one, or name one of these in `keep`")
    warnings.warn(f"{message}. To use one, name it in `keep`", IdentifierWarning, stacklevel=3)


def _number_in(column: pd.Series) -> str:
    """Return a cell that is no plain number, if most cells of a text column look like numbers, else an empty text."""
    cells = column.dropna().astype(str).str.strip()
    numbers = cells.map({cell: looks_like_number(cell) for cell in cells.unique()}).astype(bool)
    if not len(cells) or numbers.mean() < 0.5:
        return ""
    return str(cells[~numbers].iloc[0] if not numbers.all() else cells.iloc[0])
