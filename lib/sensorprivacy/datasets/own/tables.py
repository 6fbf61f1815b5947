"""Read a table that a user brings, CSV or Parquet, with an error where pandas would guess or mend silently."""

import csv
import warnings
from collections.abc import Iterable
from pathlib import Path

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq

TEXT_SUFFIXES = (".csv", ".tsv", ".txt")
PARQUET_SUFFIXES = (".parquet", ".pq")
_DELIMITERS = (",", ";", "\t", "|")
_LOOK_AT = 50  # rows from which the delimiter is told


def read_table(path: str | Path) -> pd.DataFrame:
    """Return a CSV or Parquet file as a data frame.

    Parameters
    ----------
    path : str or pathlib.Path
        A file ending in .csv, .tsv or .txt (UTF-8, a header, delimited by comma, semicolon, tab or bar) or in .parquet
        or .pq.

    Returns
    -------
    pandas.DataFrame
        Its rows and columns, of which there is at least one each.

    Raises
    ------
    FileNotFoundError
        If there is no such file.
    ValueError
        If it is empty, of another type, unreadable, has columns of the same name, or rows longer than its header.
    """
    file = Path(path).expanduser()
    if not file.exists():
        raise FileNotFoundError(f"there is no file {file}")
    if not file.is_file():
        raise ValueError(f"{file} is a folder: name the CSV or Parquet file in it")
    if file.stat().st_size == 0:
        raise ValueError(f"{file} is empty")
    suffix = file.suffix.lower()
    if suffix in PARQUET_SUFFIXES:
        frame = _parquet(file)
    elif suffix in TEXT_SUFFIXES:
        frame = _text(file)
    else:
        raise ValueError(
            f"{file} is neither CSV nor Parquet: its name must end in {', '.join(TEXT_SUFFIXES + PARQUET_SUFFIXES)}"
        )
    if frame.empty:
        raise ValueError(f"{file} has {frame.shape[0]} rows and {frame.shape[1]} columns: there is nothing to work on")
    return frame


def _text(file: Path) -> pd.DataFrame:
    try:
        with file.open(encoding="utf-8-sig", newline="") as stream:
            head = [line for _, line in zip(range(_LOOK_AT), stream, strict=False)]
        delimiter = tell_delimiter(head)
        names = next(csv.reader(head, delimiter=delimiter), [])
        _refuse_twins(names, file)  # pandas would rename them: x, x.1
        with warnings.catch_warnings():
            # rows that are longer than the header lose their last values with no more than a warning
            warnings.simplefilter("error", pd.errors.ParserWarning)
            return pd.read_csv(file, sep=delimiter, encoding="utf-8-sig", index_col=False, low_memory=False)
    except UnicodeDecodeError as error:
        raise ValueError(f"{file} is not UTF-8 text (byte {error.start}): save it as UTF-8") from error
    except pd.errors.ParserWarning as error:
        raise ValueError(f"{file} cannot be read as CSV: rows have more values than the header has names") from error
    except (pd.errors.ParserError, pd.errors.EmptyDataError, csv.Error) as error:
        raise ValueError(f"{file} cannot be read as CSV: {error}") from error


def tell_delimiter(lines: list[str]) -> str:
    """Return the delimiter under which most of the lines have as many fields as the header, and the most fields.

    Parameters
    ----------
    lines : list of str
        The first lines of the file.

    Returns
    -------
    str
        A comma if there is but one column.
    """

    def fit(delimiter: str) -> tuple[bool, int, int]:
        rows = [row for row in csv.reader(lines, delimiter=delimiter) if row]
        columns = len(rows[0]) if rows else 0
        return columns > 1, sum(len(row) == columns for row in rows[:-1]) if columns > 1 else 0, columns

    return max(_DELIMITERS, key=fit)


def _parquet(file: Path) -> pd.DataFrame:
    try:
        _refuse_twins(pq.read_schema(file).names, file)
        return pd.read_parquet(file)
    except (pa.ArrowException, OSError) as error:
        raise ValueError(f"{file} cannot be read as Parquet: {error}") from error


def _refuse_twins(names: Iterable[str], file: Path) -> None:
    seen: set[str] = set()
    twice = [name for name in map(str.strip, names) if name in seen or seen.add(name)]  # type: ignore[func-returns-value]
    if any(twice):
        raise ValueError(f"{file} has more than one column named {', '.join(dict.fromkeys(twice))}: rename them")
