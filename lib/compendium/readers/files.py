"""The files that a reader reads."""

import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO


@dataclass(frozen=True)
class Files:
    """The files of a set on this machine, with every member verified: the result of `store.fetch`.

    Attributes
    ----------
    name, form : str
        The set, and the form of it that was found.
    addresses : mapping of str to pathlib.Path
        Path of each member on this machine.
    digest : str
        One SHA-256 over all members, for provenance; the same in every folder.
    """

    name: str
    form: str
    addresses: Mapping[str, Path]
    digest: str

    @property
    def members(self) -> tuple[str, ...]:
        """Paths of the members in the set, sorted."""
        return tuple(sorted(self.addresses))

    @property
    def path(self) -> Path:
        """The only file of the set, or the folder that holds its files."""
        return Path(os.path.commonpath(self.addresses.values()))

    def open(self, member: str) -> BinaryIO:
        """Open a member for reading bytes.

        Raises
        ------
        KeyError
            If the set has no such member; the message lists some of its members.
        """
        if member not in self.addresses:
            some = ", ".join(self.members[:8]) + (", ..." if len(self.members) > 8 else "")
            raise KeyError(f"{self.name} has no member {member!r}; it has {some}")
        return self.addresses[member].open("rb")

    def read(self, member: str) -> bytes:
        """Return the content of a member."""
        with self.open(member) as stream:
            return stream.read()
