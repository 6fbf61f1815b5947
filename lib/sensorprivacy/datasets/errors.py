"""What can go wrong between a name and its data."""

import difflib
from collections.abc import Sequence


class UnknownDatasetError(LookupError):
    """A name that the catalogue does not have.

    Parameters
    ----------
    name : str
        The name asked for.
    known : sequence of str
        The names there are.
    """

    def __init__(self, name: str, known: Sequence[str]) -> None:
        near = difflib.get_close_matches(name, known, n=1)
        hint = f" Did you mean {near[0]!r}?" if near else ""
        super().__init__(f"unknown data set {name!r}.{hint} Known: {', '.join(known)}")
        self.name = name
        self.known = tuple(known)


class DataUnavailableError(LookupError):
    """A set that is not on this machine and cannot be had now; the message is one line: what, why, how to get it."""


class CorruptDataError(ValueError):
    """A member that is not what the catalogue pins; it is never replaced silently.

    Parameters
    ----------
    file : str
        The file, with the archives it lies in.
    expected, found : str
        Digests, or words where there is none (a damaged archive).
    remedy : str
        What the user does about it.
    """

    def __init__(self, file: str, expected: str, found: str, remedy: str) -> None:
        super().__init__(f"{file} is corrupt: expected {expected}, found {found}. {remedy}")
        self.file = file
        self.expected = expected
        self.found = found
