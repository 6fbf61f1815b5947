"""Read a table piece by piece, so that it may be larger than memory: draw a sample, and choose the rows to publish."""

from collections import Counter
from collections.abc import Collection, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pooch

from sensorprivacy.checks import require_columns, rows_in_words
from sensorprivacy.columns.cells import as_text, is_text, missing_cells, plain_frame, table_digest
from sensorprivacy.columns.decimals import Numbers, tidied
from sensorprivacy.columns.labels import FEWEST, find_rare
from sensorrelease.read.formats import (
    PARQUET_SUFFIXES,
    TEXT_SUFFIXES,
    WHOLE,
    check_file,
    form_of,
    read_pieces,
    read_table,
    table_name,
)

IN_MEMORY = 32 * 2**20  # bytes of a file that is read in one piece
MOST_CATEGORIES = 10_000  # different cells of a column of text
_CELLS = 1_000_000  # of a piece


class Pieces:
    """The rows of a table, in pieces. Every pass reads the file again.

    Parameters
    ----------
    table : path or pandas, polars or Arrow table
        A file of any format of `formats.read_table`, or a table in memory. Excel sheets and captures are read whole.
    rows : int, optional
        Rows of a piece. By default a file of at most 32 MB is one piece, and others are cut in about 1,000,000 cells.
    labels : sequence of str
        Columns of labels, see `formats.read_table`.

    Attributes
    ----------
    name, suffix, digest : str
        Name without endings; ending of a published copy (.csv, .tsv, .txt, .parquet or .pq); SHA-256 of the file or of
        the table's cells.
    columns : list of str
        Names of the columns.
    counts : list of str
        Rows that are no records, and cells of numbers that count as missing.
    numbers : dict of str to str
        Columns of numbers that were written in another way, with this way.

    Raises
    ------
    FileNotFoundError, ValueError
        As `formats.read_table`.
    """

    def __init__(self, table: Any, rows: int | None = None, labels: Collection[str] = ()) -> None:
        self._table: pd.DataFrame | None = None
        self._rows, self._labels = rows, labels
        self.called = Path(table).name if isinstance(table, Path | str) else "the table"  # in errors
        if not isinstance(table, Path | str):
            self.name, self.suffix, plain = "table", ".csv", plain_frame(table)
            self.digest, self._table = table_digest(plain), tidied(plain, labels, "the table")
        else:
            self._file = check_file(table)
            self._form = form_of(self._file)
            self.name, self.digest = table_name(self._file), pooch.file_hash(str(self._file))
            as_is = self._form.suffix in TEXT_SUFFIXES + PARQUET_SUFFIXES
            self.suffix = self._form.suffix if as_is else ".parquet" if self._form.suffix == ".feather" else ".csv"
            most = IN_MEMORY // (8 if self._form.packed else 1)
            if self._form.suffix in WHOLE or (rows is None and self._file.stat().st_size <= most):
                self._table = read_table(self._file, labels)
            else:
                self._types = self._infer_types()
        self.columns = list(next(iter(self)).columns)
        self.counts = self._numbers.counts if self._table is None else self._table.attrs["counts"]
        self.numbers = self._numbers.converted if self._table is None else self._table.attrs["numbers"]

    def __iter__(self) -> Iterator[pd.DataFrame]:
        """Yield the pieces in order, with positions in the whole table as index."""
        if self._table is not None:
            step = self._rows or len(self._table)
            yield from (self._table.iloc[start : start + step] for start in range(0, len(self._table), step))
            return
        start = 0
        for at, piece in enumerate(read_pieces(self._file, self._form, self._rows, self._types, self._labels)):
            piece = self._numbers.apply(self._typed(piece), first=at == 0)
            yield piece.set_axis(pd.RangeIndex(start, start + len(piece)), axis=0)
            start += len(piece)

    def _typed(self, piece: pd.DataFrame) -> pd.DataFrame:
        """Return a piece of JSON lines with the types of the whole file; CSV has them already."""
        if self._form.delimiter or not self._types:
            return piece
        piece = piece.reindex(columns=list(self._types))
        return piece.assign(
            **{name: as_text(piece[name]) if kind == "str" else piece[name].astype(np.dtype(kind))
               for name, kind in self._types.items()}
        )  # fmt: skip

    def _infer_types(self) -> dict[str, str]:
        """Return the type of each column of a text over all its pieces, as one reading of all rows infers it."""
        head = next(read_pieces(self._file, self._form, 1), None)
        if head is None or head.empty:
            read_table(self._file)  # raises
            raise ValueError(f"{self._file} has no rows")
        self._rows = self._rows or max(1000, _CELLS // head.shape[1])
        self._numbers = Numbers(self._labels)
        kinds: dict[str, set[str]] = {}
        for piece in read_pieces(self._file, self._form, self._rows, labels=self._labels):
            self._numbers.observe(piece)
            for name, column in piece.items():
                found = kinds.setdefault(str(name), set())
                if not column.isna().all():
                    found.add(column.dtype.kind)
                if column.isna().any():
                    found.add("f")
        self._numbers.decide(self._file)
        if not self._form.encoding:
            return {}
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


def survey(pieces: Any, rows: int, *, user: str | None = None, seed: int = 42) -> Survey:
    """Pass over a table once, and draw a sample that does not depend on the size of the pieces.

    Parameters
    ----------
    pieces : Pieces
        The table, or an iterable with the same ``columns``.
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


@dataclass(eq=False)
class Selection:
    """The rows that may be published, in pieces. Every pass reads the table again, and counts the rows left out.

    Parameters
    ----------
    pieces : Pieces
        The table.
    labels : dict of str to str
        Columns that every row needs a cell in, by role: task, user, groups.
    gaps : tuple of str
        Other columns that every row needs a cell in.
    rare : dict of str to frozenset
        Labels whose rows are left out, by role; see `find_rare`.

    Attributes
    ----------
    columns : list of str
        Names of the columns.
    left_out : list of str
        How many rows the last complete pass left out, and why. No label is named.
    """

    pieces: Pieces
    labels: dict[str, str]
    gaps: tuple[str, ...] = ()
    rare: dict[str, frozenset[str]] = field(default_factory=dict)
    left_out: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.columns = self.pieces.columns
        require_columns(pd.Index(self.columns), list(self.labels.values()), self.pieces.called)
        self._pairs: Counter[tuple[str, ...]] = Counter()

    def __iter__(self) -> Iterator[pd.DataFrame]:
        """Yield the pieces without the rows left out, with positions in the whole table as index."""
        counts: Counter[str] = Counter()
        pairs: Counter[tuple[str, ...]] = Counter()
        some = False
        for piece in self.pieces:
            kept = self.select(piece, counts)
            if {"task", "user"} <= set(self.labels):
                texts = (as_text(kept[self.labels[role]]) for role in ("user", "task"))
                pairs.update(zip(*texts, strict=True))
            if len(kept):
                some = True
                yield kept
        if not some:
            named = ", ".join([*self.labels.values(), *self.gaps][:8])
            raise ValueError(f"the table has no row with a cell in every column of {named}: fill some")
        self.left_out = [f"{rows_in_words(count)} {why} left out" for why, count in counts.items()]
        self._pairs = pairs

    def select(self, piece: pd.DataFrame, counts: "Counter[str] | None" = None) -> pd.DataFrame:
        """Return the rows of a piece that may be published, and count the others."""
        counts = Counter() if counts is None else counts
        for why, missing in self._reasons(piece):
            gone = missing.reindex(piece.index)
            if gone.any():
                counts[why] += int(gone.sum())
                piece = piece[~gone]
        return piece

    def _reasons(self, piece: pd.DataFrame) -> Iterator[tuple[str, pd.Series]]:
        for role, name in self.labels.items():
            yield f"without {role}", piece[name].isna()
        if self.gaps:
            yield "with missing values", missing_cells(piece[list(self.gaps)]).any(axis=1)
        for role, labels in self.rare.items():
            yield f"of a {role} with fewer than {FEWEST} rows", as_text(piece[self.labels[role]]).isin(labels)

    def find_rare(self) -> dict[str, frozenset[str]]:
        """Return users and classes with one row in the last complete pass, also after the others are left out."""
        found = zip(("user", "task"), find_rare(self._pairs), strict=False)
        return {role: frozenset(labels) for role, labels in found if labels}
