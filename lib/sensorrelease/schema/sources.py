"""Where rows come from: a table in memory, a file, or a folder of recordings as one long table."""

import re
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import pyarrow as pa

from sensorprivacy.paths import read_json
from sensorrelease.schema.cells import as_arrow
from sensorrelease.schema.dialect import Recordings
from sensorrelease.schema.files import Batch
from sensorrelease.schema.formats import batches, check_file, column_names, line_of
from sensorrelease.schema.model import Schema

_STATED = ("card.json", "defence.json")  # what folders that this program wrote hold


class Part(NamedTuple):
    """A file, the labels in its name, and its number."""

    file: Path
    labels: dict[str, str]
    number: int


class Files:
    """A file, or the files of a folder of recordings.

    Parameters
    ----------
    path : path
        The file or folder.
    schema : Schema
        How it is read.

    Attributes
    ----------
    parts : list of Part
        The files.
    number : int
        Number of the file that is read.
    """

    def __init__(self, path: str | Path, schema: Schema) -> None:
        self.schema, self.called, self.number = schema, str(path), 0
        if schema.recordings is None:
            self.parts = [Part(check_file(path), {}, 0)]
        else:
            self.called = str(folder := check_folder(path))
            files = recorded_files(folder, schema.recordings)
            names = schema.recordings.names
            self.parts = [Part(file, labels_in(file, names), at) for at, file in enumerate(files)]
        self._starts: list[int] = []

    @property
    def place(self) -> str:
        """The file that is read."""
        return str(self.parts[self.number].file)

    def check(self, names: Sequence[str]) -> None:
        """Raise ValueError if a file lacks one of these columns, or has others."""
        for file, labels, _ in self.parts:
            found = column_names(file, self.schema)
            if found is not None:  # JSON lines have no header
                check_columns(found, [name for name in names if name not in labels], str(file))

    def batches(self, rows: int, wanted: Sequence[str] | None) -> Iterator[Batch]:
        """Yield the rows in pieces, with the labels in the names of the files as further columns."""
        self._starts, done = [], 0
        for file, labels, number in self.parts:
            self.number = number
            self._starts.append(done)
            columns = None if wanted is None else [name for name in wanted if name not in labels]
            for batch in batches(file, self.schema, rows, columns):
                more = {name: pa.array([text] * batch.rows, pa.string()) for name, text in labels.items()}
                done += batch.rows
                yield Batch(batch.rows, batch.columns | more)

    def where(self, row: int) -> str:
        """Return file and line of a row, of those that were read."""
        at = bisect_right(self._starts, row) - 1
        file = self.parts[at].file
        return f"{file}, {line_of(file, self.schema, row - self._starts[at])}"


class Memory:
    """A table of pandas, polars, Arrow or NumPy."""

    called = place = "the table"
    number = 0

    def __init__(self, table: Any) -> None:
        self._table = as_arrow(table)

    def check(self, names: Sequence[str]) -> None:
        """Raise ValueError if the table lacks one of these columns, or has others."""
        check_columns(list(self._table), names, self.called)

    def batches(self, rows: int, wanted: Sequence[str] | None) -> Iterator[Batch]:
        """Yield the rows in pieces."""
        size = max((len(column) for column in self._table.values()), default=0)
        names = list(self._table) if wanted is None else wanted
        for start in range(0, size, rows):
            parts = {name: _one(self._table[name].slice(start, rows)) for name in names}
            yield Batch(min(rows, size - start), parts)

    def where(self, row: int) -> str:
        """Return the place of a row."""
        return f"{self.called}, row {row + 1}"


def _one(column: Any) -> pa.Array:
    """Return a column in one block."""
    found = column.combine_chunks() if isinstance(column, pa.ChunkedArray) else column
    return pa.concat_arrays(found.chunks) if isinstance(found, pa.ChunkedArray) else found


def check_columns(found: Sequence[str], names: Sequence[str], called: str) -> None:
    """Raise ValueError unless a table has exactly the declared columns."""
    if unknown := [name for name in found if name not in names]:
        shown = ", ".join(map(repr, unknown[:8]))
        raise ValueError(f"{called} has columns that the schema does not declare: {shown}: declare or remove them")
    if absent := [name for name in names if name not in found]:
        shown = ", ".join(map(repr, absent[:8]))
        raise ValueError(f"{called} has no column {shown}, which the schema declares; it has {', '.join(found)}")


def check_folder(path: str | Path) -> Path:
    """Return the path of a folder; raise FileNotFoundError or ValueError if it is none."""
    folder = Path(path).expanduser()
    if not folder.exists():
        raise FileNotFoundError(f"there is no folder {folder}")
    if not folder.is_dir():
        raise ValueError(f"{folder} is a file, but its schema has `recordings`: give the folder of the recordings")
    return folder


def recorded_files(folder: Path, given: Recordings) -> list[Path]:
    """Return the files of recordings in their order: no hidden ones, and none in folders that this program wrote."""
    found = [file for file in sorted(folder.glob(given.files)) if file.is_file() and file != folder / str(given.people)]
    kept = [file for file in found if not _is_beside(file.relative_to(folder), folder)]
    for file in [*kept, *([folder / given.people] if given.people else [])]:
        try:
            file.relative_to(folder).as_posix().encode()
        except UnicodeEncodeError:
            raise ValueError(f"the name of {str(file)!a} has characters that are no text: rename it") from None
        if not file.resolve().is_relative_to(folder.resolve()):
            raise ValueError(f"{file} leads out of {folder}: copy the file into the folder")
    if not kept:
        raise FileNotFoundError(f"there is no file {given.files!r} in {folder}")
    return [check_file(file) for file in kept]


def _is_beside(file: Path, folder: Path) -> bool:
    """Return whether a file lies beside recordings: it is hidden, or in a folder that this program wrote."""
    if any(part.startswith((".", "~$")) or part == "__MACOSX" for part in file.parts):
        return True
    inner = [folder / parent for parent in file.parents if parent != Path()]
    return any(_states_a_format(parent / name) for parent in inner for name in _STATED)


def _states_a_format(file: Path) -> bool:
    try:
        content = read_json(file) if file.is_file() else {}
    except (OSError, ValueError):
        return False
    return isinstance(content, dict) and str(content.get("format", "")).startswith("sensorprivacy-")


def labels_in(file: Path, pattern: str | None) -> dict[str, str]:
    """Return the labels in the name of a file, and of as many of its folders as the pattern names.

    Examples
    --------
    >>> labels_in(Path("ann/walk-1.csv"), "{person}/{activity}-*.csv")
    {'person': 'ann', 'activity': 'walk'}
    """
    if pattern is None:
        return {}
    name = "/".join(file.parts[-1 - pattern.count("/") :])
    expression = re.sub(r"\\\{(\w+)\\\}", r"(?P<\1>[^_/]+?)", re.escape(pattern)).replace(r"\*", "[^/]*")
    match = re.fullmatch(expression, name)
    if match is None:
        said = "a label holds no _, and * stands for any text: rename the file, or correct `names`"
        raise ValueError(f"the file name {name!r} does not fit names: {pattern}: {said}")
    return match.groupdict()
