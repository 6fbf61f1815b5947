"""Errors that finding, fetching and reading a data set can raise."""

import difflib
from collections.abc import Sequence


def nearest(word: str, known: Sequence[str]) -> str:
    """Return a hint at the known word that is closest to a misspelt one, or an empty text."""
    near = difflib.get_close_matches(word, known, n=1)
    return f" Did you mean {near[0]!r}?" if near else ""


class UnknownDatasetError(LookupError):
    """Raise for a name that is not the name of a data set.

    Parameters
    ----------
    name : str
        The unknown name.
    known : sequence of str
        The names that exist.
    """

    def __init__(self, name: str, known: Sequence[str]) -> None:
        super().__init__(f"unknown data set {name!r}.{nearest(name, known)} Known: {', '.join(known)}")


class DataUnavailableError(LookupError):
    """Raise if a set is not on this machine and cannot be fetched now. The message is one line and says what to do."""


class CorruptDataError(ValueError):
    """Raise if a file differs from the content that the catalogue pins. Nothing replaces the file silently.

    Parameters
    ----------
    file : str
        The file, and the archives around it.
    expected, found : str
        Digests; or a description, if the file cannot be read at all.
    remedy : str
        What the user should do; empty where only a caller knows it.
    """

    def __init__(self, file: str, expected: str, found: str, remedy: str = "") -> None:
        super().__init__(f"{file} is corrupt: expected {expected}, found {found}. {remedy}")
        self.file, self.expected, self.found = file, expected, found
