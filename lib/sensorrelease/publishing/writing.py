"""Write rows in random order, even if they do not fit in memory, to files and folders that appear when complete."""

import errno
import secrets
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from itertools import chain
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq

from sensorprivacy.paths import check_writable, part_folder
from sensorrelease.running import unwound_by_sigterm

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


def write_rows(pieces: Iterable[pd.DataFrame], file: Path, *, rows: int, in_order: bool = False) -> int:
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

    Returns
    -------
    int
        Number of rows written.
    """
    rest = iter(pieces)
    first = next(rest)
    every, schema, written = chain([first], rest), _schema(first), 0
    generator = np.random.default_rng(secrets.randbits(256))
    buckets = 1 if in_order else min(_most_files(), -(-rows // max(1, len(first))))
    with _opened(file, schema) as write:
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


def _most_files() -> int:
    """Return how many files may be open at a time: half of those that the process may open."""
    try:
        import resource
    except ModuleNotFoundError:  # Windows
        return _MOST_FILES
    limit = resource.getrlimit(resource.RLIMIT_NOFILE)[0]
    return _MOST_FILES if limit == resource.RLIM_INFINITY else max(2, min(_MOST_FILES, limit // 2))


@contextmanager
def _opened(file: Path, schema: pa.Schema) -> Iterator[Callable[[pd.DataFrame], object]]:
    """Open a CSV or Parquet file, and yield a function that appends a piece."""
    if file.suffix == ".parquet":
        with pq.ParquetWriter(file, schema) as parquet:
            yield lambda piece: parquet.write_table(_arrow(piece, schema))
    else:
        with file.open("w", encoding="utf-8", newline="") as text:
            yield lambda piece: piece.to_csv(text, header=not text.tell(), index=False)


def _schema(piece: pd.DataFrame) -> pa.Schema:
    """Return the types of a piece's columns; a column of which this piece has no cell is text."""
    found = pa.Schema.from_pandas(piece, preserve_index=False).remove_metadata()
    return pa.schema([(field.name, pa.string() if pa.types.is_null(field.type) else field.type) for field in found])


def _arrow(piece: pd.DataFrame, schema: pa.Schema) -> pa.Table:
    return pa.Table.from_pandas(piece, schema=schema, preserve_index=False)
