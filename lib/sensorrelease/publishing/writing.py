"""Write rows in random order, even if they do not fit in memory, to files and folders that appear when complete."""

import errno
import re
import secrets
import shutil
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from itertools import chain
from pathlib import Path
from typing import Literal

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq

from sensorprivacy.checks import check_choice
from sensorprivacy.columns.cells import as_text, is_text
from sensorprivacy.paths import check_writable, part_folder, write_atomically
from sensorrelease.pages import some
from sensorrelease.read.formats import PARQUET_SUFFIXES, TEXT_SUFFIXES
from sensorrelease.running import unwound_by_sigterm

_FORMULA = re.compile(r"[=@\t\r]|[+-](?![\d.,:/ -]*$)")  # but not a number, a date or a dash
_MOST_FILES = 200  # open at a time


def check_new(folder: Path, option: str) -> None:
    """Raise an error unless a folder can be made: it does not exist or is empty, and its parent can be written to."""
    if not folder.absolute().parent.is_dir():
        raise ValueError(f"{option} {folder}: there is no folder {folder.absolute().parent}: make it first")
    if folder.exists() and not (folder.is_dir() and not any(folder.iterdir())):
        raise ValueError(f"{option} {folder} exists already: name a new folder, or remove this one first")
    _check_parent(folder, option)


def check_targets(files: Mapping[str, Path | None], source: Path) -> None:
    """Reject files that could not be written, or that would replace another file, before any time is spent.

    Parameters
    ----------
    files : mapping
        The file of each option of a command; None is not written.
    source : path
        The file that the command reads.

    Raises
    ------
    ValueError
        If a file is a folder, its folder does not exist, or another option or the input has the same file.
    OSError
        If its folder is read-only, or its disk is full.
    """
    taken = {source.resolve(): "the input table itself"}
    for option, file in files.items():
        if file is None:
            continue
        if file.is_dir() or not file.absolute().parent.is_dir():
            reason = "this is a folder" if file.is_dir() else f"there is no folder {file.absolute().parent}"
            raise ValueError(f"{option} {file}: {reason}")
        if (other := taken.get(file.resolve())) is not None:
            raise ValueError(f"{option} {file} is {other}: name another file")
        taken[file.resolve()] = f"the file of {option}"
        _check_parent(file, option)


def _check_parent(path: Path, option: str) -> None:
    try:
        check_writable(path.absolute().parent)
    except OSError as error:
        raise OSError(f"{option} {path}: {error}") from None


def check_room(out: Path, source: Path) -> None:
    """Raise ValueError or OSError unless a table of the size of another file can be written to a file.

    Raises
    ------
    ValueError
        If its type is unknown.
    OSError
        If the folder is read-only, or its disk has less free space than the size of the input.
    """
    folder, suffixes = out.absolute().parent, TEXT_SUFFIXES + PARQUET_SUFFIXES
    if out.suffix.lower() not in suffixes:
        raise ValueError(f"--out {out}: the name must end in {', '.join(suffixes)}")
    free, needed = shutil.disk_usage(folder).free, source.stat().st_size if source.exists() else 0
    if free < needed:
        raise OSError(f"--out {out}: the disk has {free:,} free bytes, but the output can need {needed:,}; free space")
    check_writable(folder)


def write_table(table: pd.DataFrame, out: Path) -> None:
    """Write a table, with its rows in random order. After a failure, the old file is still complete."""
    try:
        write_atomically(out, lambda part: write_rows([table], part, rows=len(table), suffix=out.suffix.lower()))
    except OSError as error:
        raise OSError(
            f"--out {out}: cannot write the kept columns ({error}); free space or name another file"
        ) from error


@contextmanager
def new_folder(folder: Path, option: str) -> Iterator[Path]:
    """Make a hidden folder beside the given one and rename it at the end.

    After a failure, Ctrl-C or SIGTERM, nothing is left.
    """
    check_new(folder, option)
    mode = 0o700 if "save" in option else 0o777  # a saved defence describes people
    with unwound_by_sigterm(), part_folder(folder.absolute(), mode) as part:
        try:
            yield part
        except OSError as error:
            if error.filename is None and error.errno in (errno.ENOSPC, errno.EFBIG, errno.EDQUOT):
                raise OSError(f"--{option} {folder} cannot be written: {error.strerror}") from error
            raise
        try:
            if folder.exists():
                folder.rmdir()  # empty, see `check_new`
            part.rename(folder)
        except OSError as error:
            raise FileExistsError(f"--{option} {folder} was made meanwhile: name a new folder") from error


class Formulas:
    """Quote what a spreadsheet would run as a formula, or count it only.

    Parameters
    ----------
    mode : {"quote", "keep"}
        Write an apostrophe before such texts, or leave them.

    Attributes
    ----------
    found : Counter
        Cells by column, and 1 for the name of a column; complete after all pieces of a table.
    """

    def __init__(self, mode: Literal["quote", "keep"]) -> None:
        check_choice("formulas", mode, Literal["quote", "keep"])
        self.mode, self.found = mode, Counter[str]()

    def __call__(self, piece: pd.DataFrame) -> pd.DataFrame:
        """Return some rows, with quoted texts and names if they are to be quoted."""
        piece = piece.copy(deep=False)
        for name in [name for name in piece if is_text(piece[name])]:
            texts = as_text(piece[name])
            runs = texts.str.match(_FORMULA).fillna(False).astype(bool)
            if runs.any():
                self.found[str(name)] += int(runs.sum())
                if self.mode == "quote":
                    piece[name] = texts.where(~runs, "'" + texts)
        named = {name: f"'{name}" for name in piece if _FORMULA.match(str(name))}
        self.found |= dict.fromkeys(map(str, named), 1)
        return piece.rename(columns=named) if self.mode == "quote" else piece

    @property
    def said(self) -> list[str]:
        """What was found, in a sentence; empty if nothing was."""
        if not self.found:
            return []
        done = "are quoted with '" if self.mode == "quote" else "are left as they are: a spreadsheet may run them"
        return [f"Texts that begin as a spreadsheet's formula {done}. Columns: {some(list(self.found))}."]


def write_rows(
    pieces: Iterable[pd.DataFrame], file: Path, *, rows: int, in_order: bool = False, suffix: str = ""
) -> int:
    """Write a table that comes in pieces as CSV or Parquet, with its rows in random order.

    Parameters
    ----------
    pieces : iterable of pandas.DataFrame
        Equal columns in every piece. The index is not written.
    file : pathlib.Path
        The file.
    rows : int
        Number of all rows. The first piece shows how many fit in memory.
    in_order : bool
        Keep the order instead of drawing one from the operating system's secure generator.
    suffix : str
        Ending that decides the format; by default that of the file.

    Returns
    -------
    int
        Number of rows written.
    """
    rest = iter(pieces)
    first = next(rest)
    every, schema, written = chain([first], rest), _schema(first), 0
    generator = np.random.default_rng(secrets.randbits(256))
    buckets = 1 if in_order else min(_MOST_FILES, -(-rows // max(1, len(first))))
    with _opened(file, suffix or file.suffix, schema) as write:
        if buckets == 1:  # everything at once, or pieces as they come
            for piece in every:
                write(piece if in_order else piece.iloc[generator.permutation(len(piece))])
                written += len(piece)
            return written
        paths = [file.with_name(f"{file.name}.{at}.part") for at in range(buckets)]
        with ExitStack() as writers:
            to = [writers.enter_context(pa.ipc.new_file(str(path), schema)) for path in paths]
            for piece in every:
                places = generator.integers(buckets, size=len(piece))
                for at in np.unique(places):
                    to[at].write(_arrow(piece[places == at], schema))
        for path in paths:
            with pa.ipc.open_file(str(path)) as bucket:
                piece = bucket.read_pandas()
            write(piece.iloc[generator.permutation(len(piece))])
            written += len(piece)
            path.unlink()
    return written


@contextmanager
def _opened(file: Path, suffix: str, schema: pa.Schema) -> Iterator[Callable[[pd.DataFrame], object]]:
    """Open a CSV or Parquet file, and yield a function that appends a piece."""
    if suffix in PARQUET_SUFFIXES:
        with pq.ParquetWriter(file, schema) as parquet:
            yield lambda piece: parquet.write_table(_arrow(piece, schema))
    else:
        separator = "\t" if suffix == ".tsv" else ","
        with file.open("w", encoding="utf-8", newline="") as text:
            yield lambda piece: piece.to_csv(text, header=not text.tell(), index=False, sep=separator)


def _schema(piece: pd.DataFrame) -> pa.Schema:
    """Return the types of a piece's columns; a column of which this piece has no cell is text."""
    found = pa.Schema.from_pandas(piece, preserve_index=False).remove_metadata()
    return pa.schema([(field.name, pa.string() if pa.types.is_null(field.type) else field.type) for field in found])


def _arrow(piece: pd.DataFrame, schema: pa.Schema) -> pa.Table:
    return pa.Table.from_pandas(piece, schema=schema, preserve_index=False)
