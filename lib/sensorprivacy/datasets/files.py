"""The files that a reader reads: a set of the catalogue, or a folder of the user."""

from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import BinaryIO, Protocol

import pooch

from sensorprivacy.datasets.catalogue import listing_digest


class Files(Protocol):
    """The files of a set: the result of `store.fetch`, or `OwnFiles`."""

    @property
    def members(self) -> tuple[str, ...]:
        """Paths of the files."""

    @property
    def digest(self) -> str:
        """SHA-256 over all files."""

    def open(self, member: str) -> BinaryIO:
        """Open a file for reading bytes."""

    def read(self, member: str) -> bytes:
        """Return the content of a file."""


@dataclass(frozen=True)
class OwnFiles:
    """A folder or a file of the user, in place of a set of the catalogue.

    Parameters
    ----------
    path : pathlib.Path
        Folder, or a single file.
    """

    path: Path

    @cached_property
    def members(self) -> tuple[str, ...]:
        """Paths of the files, relative to the folder."""
        if self.path.is_file():
            return (self.path.name,)
        return tuple(sorted(file.relative_to(self.path).as_posix() for file in self.path.rglob("*") if file.is_file()))

    def open(self, member: str) -> BinaryIO:
        """Open a file for reading bytes."""
        return self._path(member).open("rb")

    def read(self, member: str) -> bytes:
        """Return the content of a file."""
        with self.open(member) as stream:
            return stream.read()

    @cached_property
    def digest(self) -> str:
        """SHA-256 over the paths and digests of all files."""
        return listing_digest({member: pooch.file_hash(str(self._path(member))) for member in self.members})

    def _path(self, member: str) -> Path:
        return self.path if self.path.is_file() else self.path / member
