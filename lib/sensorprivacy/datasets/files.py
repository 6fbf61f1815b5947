"""What a reader asks of the place where files are, and a user's own folder as such a place."""

import hashlib
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import IO, Protocol

from sensorprivacy.datasets.catalogue import listing_digest


class Source(Protocol):
    """Where the files of a set are: what `store.fetch` returns, or `OwnFiles`."""

    @property
    def members(self) -> tuple[str, ...]:
        """Paths of the files."""

    def open(self, member: str) -> IO[bytes]:
        """Open one file for reading."""

    def read(self, member: str) -> bytes:
        """Return the content of one file."""


@dataclass(frozen=True)
class OwnFiles:
    """A folder or a file of the user's own, in place of a set of the catalogue.

    Parameters
    ----------
    path : pathlib.Path
        Folder, or a single file.
    """

    path: Path

    @cached_property
    def members(self) -> tuple[str, ...]:
        """Paths of the files, below the folder."""
        if self.path.is_file():
            return (self.path.name,)
        return tuple(sorted(file.relative_to(self.path).as_posix() for file in self.path.rglob("*") if file.is_file()))

    def open(self, member: str) -> IO[bytes]:
        """Open one file for reading."""
        return (self.path if self.path.is_file() else self.path / member).open("rb")

    def read(self, member: str) -> bytes:
        """Return the content of one file."""
        with self.open(member) as stream:
            return stream.read()

    @cached_property
    def digest(self) -> str:
        """SHA-256 over the digests and paths of all files."""
        digests = {}
        for member in self.members:
            with self.open(member) as stream:
                digest = hashlib.sha256()
                while block := stream.read(2**20):
                    digest.update(block)
            digests[member] = digest.hexdigest()
        return listing_digest(digests)
