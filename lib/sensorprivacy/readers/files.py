"""The files that a reader reads, and one digest over many files."""

import hashlib
from collections.abc import Mapping
from typing import BinaryIO, Protocol


class Files(Protocol):
    """The files of a set: such as the result of `store.fetch`."""

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
