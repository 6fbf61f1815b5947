"""The files that a reader reads: a set of the catalogue, or a folder of the user."""

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import BinaryIO, Protocol

import pooch


class Files(Protocol):
    """The files of a set: the result of `store.fetch`, or `OwnFiles`."""

    @property
    def members(self) -> tuple[str, ...]:
        """Paths of the files."""

    @property
    def form(self) -> str:
        """Name of the form of the set, or "own"."""

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
    form: str = "own"

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


def listing_digest(digests: Mapping[str, str]) -> str:
    """Return the SHA-256 over the lines ``<digest>  <path>``, sorted by path.

    Parameters
    ----------
    digests : mapping of str to str
        SHA-256 of each file by its path.

    Returns
    -------
    str
        Hexadecimal digest.
    """
    lines = "".join(f"{digests[path]}  {path}\n" for path in sorted(digests))
    return hashlib.sha256(lines.encode()).hexdigest()
