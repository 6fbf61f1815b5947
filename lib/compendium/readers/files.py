"""The files that a reader reads."""

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
