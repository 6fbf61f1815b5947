"""Read a table piece by piece, so that it may be larger than memory, and draw a sample of its rows."""

import hashlib
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd
import pooch

from sensorprivacy.datasets.own.decimals import read_decimal_commas
from sensorprivacy.datasets.own.tables import PARQUET_SUFFIXES, check_file, read_parquet, read_table, read_text

IN_MEMORY = 32 * 2**20  # bytes of a file that is read in one piece
MOST_CATEGORIES = 10_000  # different cells of a column of text
_CELLS = 1_000_000  # of a piece


class Pieces:
    """The rows of a table, in pieces. Every pass reads the file again.

    Parameters
    ----------
    table : pathlib.Path or pandas.DataFrame
        CSV or Parquet file, or a table in memory.
    rows : int, optional
        Rows of a piece. By default a file of at most 32 MB is one piece, and others are cut in about 1,000,000 cells.

    Attributes
    ----------
    name, suffix, digest : str
        Name without and with its ending; SHA-256 of the file or of the table's cells.
    columns : list of str
        Names of the columns.

    Raises
    ------
    FileNotFoundError, ValueError
        As `tables.read_table`; or if a large file has decimal commas.
    """

    def __init__(self, table: Path | pd.DataFrame, rows: int | None = None) -> None:
        self._file: Path | None = None
        self._table, self._rows = table, rows
        if isinstance(table, pd.DataFrame):
            self.name, self.suffix = "table", ".csv"
            self._table = table.reset_index(drop=True).set_axis([str(name) for name in table], axis=1)
            hashed = pd.util.hash_pandas_object(self._table, index=False).to_numpy()
            self.digest = hashlib.sha256("\0".join(self._table.columns).encode() + hashed.tobytes()).hexdigest()
        else:
            file = check_file(table)
            self.name, self.suffix, self.digest = file.stem, file.suffix.lower(), pooch.file_hash(str(file))
            if rows is None and file.stat().st_size <= IN_MEMORY:
                self._table = read_table(file)
            else:
                self._file = file
                self._types = self._infer_types(file)
        self.columns = list(next(iter(self)).columns)

    def __iter__(self) -> Iterator[pd.DataFrame]:
        """Yield the pieces in order, with positions in the whole table as index."""
        if isinstance(self._table, pd.DataFrame):
            step = self._rows or len(self._table)
            yield from (self._table.iloc[start : start + step] for start in range(0, len(self._table), step))
            return
        start = 0
        for piece in self._read(self._types):
            yield piece.set_axis(pd.RangeIndex(start, start + len(piece)), axis=0)
            start += len(piece)

    def _read(self, types: dict[str, str] | None) -> Iterator[pd.DataFrame]:
        assert self._file is not None
        if self.suffix in PARQUET_SUFFIXES:
            return read_parquet(self._file, self._rows)
        return read_text(self._file, self._rows, types)

    def _infer_types(self, file: Path) -> dict[str, str]:
        """Return the type of each column of a CSV file over all its pieces, as one reading of all rows infers it."""
        head = next(read_parquet(file, 1) if self.suffix in PARQUET_SUFFIXES else read_text(file, 1), None)
        if head is None or head.empty:
            read_table(file)  # raises
            raise ValueError(f"{file} has no rows")
        self._rows = self._rows or max(1000, _CELLS // head.shape[1])
        if self.suffix in PARQUET_SUFFIXES:
            return {}
        kinds: dict[str, set[str]] = {str(name): set() for name in head}
        for number, piece in enumerate(self._read(None)):
            if number == 0 and not read_decimal_commas(piece, file).dtypes.equals(piece.dtypes):
                raise ValueError(f"{file} has decimal commas and is read in pieces: write numbers with a decimal point")
            for name, column in piece.items():
                if not column.isna().all():
                    kinds[str(name)].add(column.dtype.kind)
                if column.isna().any():
                    kinds[str(name)].add("f")
        return {name: _common(found) for name, found in kinds.items()}


def _common(kinds: set[str]) -> str:
    """Return the type of a column whose pieces have these kinds."""
    if kinds <= {"i", "u", "f"}:
        return "float64" if "f" in kinds or not kinds else "int64" if kinds == {"i"} else "float64"
    return "bool" if kinds == {"b"} else "str"


@dataclass(frozen=True)
class Survey:
    """What one pass over a table finds.

    Attributes
    ----------
    rows : int
        Number of rows.
    sample : pandas.DataFrame
        Random rows in the table's order, with their positions as index; all rows if there are not more.
    head : pandas.DataFrame
        The first rows, which show what is numbered from row to row.
    categories : dict of str to list
        All cells of each column of text, sorted, after None if cells are missing. Not of columns with more than
        `MOST_CATEGORIES`.
    most_rows : int
        Rows of the user with the most rows; 0 without a user column.
    """

    rows: int
    sample: pd.DataFrame
    head: pd.DataFrame
    categories: dict[str, list[str | None]]
    most_rows: int


def survey(pieces: Pieces, rows: int, *, user: str | None = None, seed: int = 42) -> Survey:
    """Pass over a table once, and draw a sample that does not depend on the size of the pieces.

    Parameters
    ----------
    pieces : Pieces
        The table.
    rows : int
        Rows of the sample.
    user : str, optional
        Column whose labels are counted.
    seed : int
        Seed of the sample.
    """
    draw, count = np.random.default_rng(seed), 0
    kept, keys = pd.DataFrame(), np.empty(0)
    head = next(iter(pieces)).head(rows)
    cells: dict[str, set[str | None]] = {name: set() for name in pieces.columns}
    users: Counter[str] = Counter()
    for piece in pieces:
        key = draw.random(len(piece))
        count += len(piece)
        wanted = key < (keys.max() if len(keys) == rows else 1)
        kept = pd.concat([kept, piece[wanted]]) if len(kept) else piece[wanted]
        keys = np.concatenate([keys, key[wanted]])
        best = np.sort(np.argsort(keys, kind="stable")[:rows])
        kept, keys = kept.iloc[best], keys[best]
        for name, column in piece.items():
            known = cells[str(name)]
            if is_text(column) and len(known) <= MOST_CATEGORIES:
                known.update(as_text(column.dropna().drop_duplicates()))
                known.update([None] * bool(column.isna().any()))
        if user is not None:
            users.update({str(who): int(rows) for who, rows in piece[user].value_counts().items()})
    texts = [name for name in pieces.columns if is_text(kept[name])]
    categories = {
        name: sorted(cells[name], key=lambda cell: cell or "") for name in texts if len(cells[name]) <= MOST_CATEGORIES
    }
    return Survey(count, kept, head, categories, max(users.values(), default=0))


def is_text(column: pd.Series) -> bool:
    """Return whether the cells of a column are neither numbers nor points in time."""
    return not pd.api.types.is_numeric_dtype(column) or pd.api.types.is_bool_dtype(column)


def as_text(column: pd.Series) -> pd.Series:
    """Return the cells of a column as text; missing cells stay missing."""
    return column.map(str, na_action="ignore").astype(object)
