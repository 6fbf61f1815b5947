"""Your own recordings: a folder that is read by its schema, cut in windows."""

import warnings
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pooch

from sensorprivacy.data import Windows
from sensorprivacy.paths import listing_digest
from sensorprivacy.windowing import cut, window_starts
from sensorrelease.own_table import find_schema
from sensorrelease.schema.coarse import Census, levels_of
from sensorrelease.schema.command import ENDING
from sensorrelease.schema.files import MOST_BYTES, refuse_size
from sensorrelease.schema.gate import Gate
from sensorrelease.schema.model import FILE, RUN, Schema
from sensorrelease.schema.read import ROWS, read
from sensorrelease.schema.sources import Files

_MOST_BYTES = 2**29  # of all samples: texts and further columns need as much again


def is_recorded(source: Any) -> bool:
    """Return whether a path is a folder of recordings, or the schema beside it."""
    return isinstance(source, str | Path) and (Path(source).is_dir() or str(source).endswith((ENDING, ".toml")))


def located(source: Path | str, schema: Any = None) -> tuple[Path, Any]:
    """Return the folder of recordings and its schema, if the source is the schema beside the folder.

    A description in TOML is refused.
    """
    path = Path(source).expanduser()
    if path.suffix == ".toml":
        raise ValueError(
            f"{path}: descriptions in TOML are no longer read. Draft a schema for the folder of the recordings: "
            f"sensorprivacy schema {path.parent} --task COLUMN --user COLUMN"
        )
    if not path.name.endswith(ENDING):
        return path, schema
    return path.with_name(path.name.removesuffix(ENDING)), schema or path


def user_windows(source: str | Path, *, length: int = 128, stride: int = 10) -> Windows:
    """Return the windows of your own recordings.

    Parameters
    ----------
    source : path
        The folder of the recordings, or the schema beside it: ``phone`` or ``phone.schema.yaml``.
    length, stride : int
        Samples. A window lies within one recording.

    Returns
    -------
    Windows
        n x channels x length.

    Raises
    ------
    FileNotFoundError, ValueError
        As `read_recordings`; or if every recording is shorter than a window.

    Warns
    -----
    UserWarning
        If recordings are shorter than a window, or a class of a private attribute has one person only.
    """
    return read_recordings(source).windows(length, stride)


@dataclass(frozen=True, eq=False)
class OwnRecordings:
    """Recordings as one table: samples of one user, recording and task that follow each other are one recording.

    Attributes
    ----------
    gate : Gate
        What may leave, with the schema.
    table : pandas.DataFrame
        All samples that may be used, with the columns of the schema.
    run : numpy.ndarray of int64, shape (samples,)
        Number of each sample's recording: 0, 1, ...
    provenance : dict
        SHA-256 over all files and the schema, where the schema comes from, and what was left out.
    folder : path
        Where the recordings lie.
    """

    gate: Gate
    table: pd.DataFrame
    run: np.ndarray
    provenance: dict[str, Any]
    folder: Path

    @property
    def schema(self) -> Schema:
        """How the recordings are read."""
        return self.gate.schema

    @property
    def rate(self) -> float:
        """Samples per second."""
        assert self.schema.recordings is not None
        return self.schema.recordings.rate

    @property
    def users(self) -> pd.Series:
        """User of each sample."""
        return self.table[self.schema.user].astype(str)

    def hidden(self, hide: str | None) -> str:
        """Return a private attribute, or ``subject`` for the user; raises ValueError if there is no such attribute."""
        if hide in (None, "subject", self.schema.user):
            return "subject"
        if hide not in self.schema.private:
            known = ", ".join([*self.schema.private, str(self.schema.user)])
            raise ValueError(f"{hide!r} is no private attribute of the schema: choose from {known}")
        return hide

    def starts(self, length: int, stride: int) -> np.ndarray:
        """Return the first sample of each window; the first window of a recording begins at its first sample."""
        starts = window_starts(self.run, length, stride, "file")
        if not len(starts):
            raise ValueError(
                f"no recording in {self.folder} has {length} samples; the longest has {np.bincount(self.run).max()}"
            )
        if short := len(np.unique(self.run)) - len(np.unique(self.run[starts])):
            lost = set(self.users) - set(self.users.iloc[starts])
            who = f"; {len(lost)} people have no window: {', '.join(sorted(lost)[:10])}" if lost else ""
            warnings.warn(
                f"{short:,} recordings are shorter than a window of {length} samples and are left out{who}",
                stacklevel=4,
            )
        return starts

    def windows(self, length: int, stride: int) -> Windows:
        """Return the windows, see `user_windows`."""
        schema, starts = self.schema, self.starts(length, stride)
        refuse_size(f"cutting {self.folder}", 4.0 * len(starts) * length * len(schema.features), MOST_BYTES)
        first = self.table.iloc[starts].reset_index(drop=True)
        signal = self.table[[one.name for one in schema.features]].to_numpy(np.float32)
        facts = {"channels": self.gate.features, "rate": self.rate, "length": length, "stride": stride}
        return Windows(
            cut(signal, starts, length),
            public=self.gate.classes(first).rename(self.gate.task),
            private=first[[name for name in schema.private if name in first]],  # new recordings need none
            subject=self.users.iloc[starts].reset_index(drop=True),
            trial=first[schema.recording or FILE],
            name=schema.name,
            provenance=self.provenance | facts | {"windowing": "file"},
        )


def read_recordings(
    source: Path | str,
    schema: Schema | Path | str | None = None,
    *,
    task: str | None = None,
    user: str | None = None,
    recording: str | None = None,
    progress: bool = False,
) -> OwnRecordings:
    """Read your own recordings.

    Parameters
    ----------
    source : path
        As for `user_windows`.
    schema, task, user, recording, progress
        As for `find_schema`.

    Raises
    ------
    FileNotFoundError
        If there is no such folder, or no file of it is a recording.
    ValueError
        If a cell or a column does not conform, times are out of order, equal, of another rate or have gaps, a private
        attribute changes within a recording, or fewer than two classes of the task may leave.

    Warns
    -----
    UserWarning
        With what was left out, and if one person only has a class of a private attribute.
    """
    path, schema = located(source, schema)
    declared, whence = find_schema(path, schema, task=task, user=user, recording=recording, progress=progress)
    if declared.recordings is None:
        raise ValueError(f"the schema of {path} describes a table, and {path} is a folder: draft one for the folder")
    return as_declared(path, declared, whence, progress=progress)


def as_declared(folder: Path, schema: Schema, whence: str, gate: Gate | None = None, **how: bool) -> OwnRecordings:
    """Return recordings as a schema declares them; without a gate, it is learned from them."""
    frame, _, _, notices = read(folder, schema, limit=_MOST_BYTES, **how)
    pieces = [frame.iloc[start : start + ROWS] for start in range(0, len(frame), ROWS)]  # texts of all would be large
    if gate is None:
        census = Census(schema)
        for piece in pieces:
            census.add(piece)
        gate = Gate.learn(schema, census)
        if len(gate.levels[gate.task]) < 2:
            raise ValueError(f"the task {schema.task!r} has fewer than two classes that {schema.k} users share")
    one = gate.declared[gate.task]
    known = np.concatenate([levels_of(piece[one.name], one).isin(gate.levels[gate.task]) for piece in pieces])
    if not known.all():
        notices = [*notices, f"{(~known).sum():,} samples of a class of the task that few users have left out"]
        frame = frame[known].reset_index(drop=True)
    for notice in notices:
        warnings.warn(notice, stacklevel=3)
    run = pd.factorize(frame[RUN])[0]
    _check_private(frame, run, schema)
    facts = {"digest": _digest(folder, schema), "schema": whence, "notices": notices}
    return OwnRecordings(gate, frame.drop(columns=RUN), run, facts, folder)


def _digest(folder: Path, schema: Schema) -> str:
    """Return the SHA-256 over the schema, the files that it names and the table of people; no other file."""
    files = [part.file for part in Files(folder, schema).parts]
    people = getattr(schema.recordings, "people", None)
    files += [folder / people] if people else []
    names = {file.relative_to(folder).as_posix(): pooch.file_hash(str(file)) for file in files}
    return listing_digest(names | {"schema": schema.content_digest()})


def _check_private(table: pd.DataFrame, run: np.ndarray, schema: Schema) -> None:
    """Refuse an attribute that changes within a recording; warn of a class of one person, whom it identifies."""
    for name in schema.private:
        if len(table[[name]].assign(run=run).drop_duplicates()) > run.max() + 1:
            raise ValueError(f"{name!r} changes within a recording, but a private attribute must be constant there")
        people = table.groupby(name)[str(schema.user)].nunique()
        if (people == 1).any() and len(people) < table[schema.user].nunique():
            alone = ", ".join(map(str, people.index[people == 1][:5]))
            warnings.warn(
                f"one person only has {name} {alone}: a model of {name} can recognize that person instead of the "
                "attribute. Add people, or merge classes",
                stacklevel=4,
            )


def signal_gated(values: np.ndarray, gate: Gate) -> np.ndarray:
    """Return windows of shape (n, channels, length) as they may leave: in the declared ranges and at the steps."""
    flat = values.transpose(0, 2, 1).reshape(-1, values.shape[1])
    cells = gate.cells(pd.DataFrame(flat, columns=gate.features))
    return cells.to_numpy(float).reshape(len(values), -1, values.shape[1]).transpose(0, 2, 1)
