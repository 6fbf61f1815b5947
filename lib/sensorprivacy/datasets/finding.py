"""Find a set on this machine, without network: its members verified, wherever and in whatever they lie."""

import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from fnmatch import fnmatch
from pathlib import Path
from typing import BinaryIO

from sensorprivacy.datasets.archives import BROKEN, Address, files_below, is_tar, is_zip, zip_members
from sensorprivacy.datasets.catalogue import Dataset, Form, Listing, Member, listing_digest
from sensorprivacy.datasets.digests import Digests
from sensorprivacy.datasets.errors import CorruptDataError
from sensorprivacy.datasets.places import places


@dataclass(frozen=True)
class Located:
    """A set that is on this machine, every member verified.

    Attributes
    ----------
    name, form : str
        The set, and which of its forms was found.
    addresses : mapping of str to Address
        Where each member lies.
    digest : str
        One SHA-256 over the set's members, for provenance; the same wherever the form lies.
    """

    name: str
    form: str
    addresses: Mapping[str, Address]
    digest: str

    @property
    def members(self) -> tuple[str, ...]:
        """Paths of the members in the set, sorted."""
        return tuple(sorted(self.addresses))

    @property
    def path(self) -> Path:
        """The file, or the folder around the files, that holds the set."""
        outer = {str(address.path) for address in self.addresses.values()}
        return Path(outer.pop()) if len(outer) == 1 else Path(os.path.commonpath(outer))

    def address(self, member: str) -> Address:
        """Return where a member lies.

        Raises
        ------
        KeyError
            If the set has no such member; the message names some that it has.
        """
        if member not in self.addresses:
            some = ", ".join(self.members[:8]) + (", ..." if len(self.members) > 8 else "")
            raise KeyError(f"{self.name} has no member {member!r}; it has {some}")
        return self.addresses[member]

    def open(self, member: str) -> BinaryIO:
        """Open a member for reading bytes."""
        return self.address(member).open()

    def read(self, member: str) -> bytes:
        """Return a member's content."""
        with self.open(member) as stream:
            return stream.read()


@dataclass
class Scan:
    """What lies in one folder of a set.

    Attributes
    ----------
    files : list of Address
        Plain files and files in zips.
    tars : list of pathlib.Path
        Tars, which are not looked into: reading one file of a compressed tar means reading it all.
    broken : list of tuple (pathlib.Path, str)
        Archives that cannot be read, and why.
    """

    files: list[Address] = field(default_factory=list)
    tars: list[Path] = field(default_factory=list)
    broken: list[tuple[Path, str]] = field(default_factory=list)


def scan(folder: Path) -> Scan:
    """Return what lies at and below a folder; nothing if there is none."""
    found = Scan()
    for path in files_below(folder):
        if is_tar(path.name):
            found.tars.append(path)
        elif is_zip(path.name):
            try:
                found.files.extend(zip_members(path))
            except BROKEN as error:
                found.broken.append((path, f"{type(error).__name__}: {error}"))
        else:
            found.files.append(Address(path))
    return found


def find(entry: Dataset, scans: Iterable[Scan], *, fresh: bool = False) -> Located | None:
    """Return the first form of a set whose members are all there and sound.

    Parameters
    ----------
    entry : Dataset
        The set.
    scans : iterable of Scan
        What lies in the folders to look at, in order of precedence.
    fresh : bool
        Whether to hash everything anew.

    Returns
    -------
    Located or None
        None if no form is complete.

    Raises
    ------
    CorruptDataError
        If a member is there, with other content than the catalogue pins.
    """
    looked, digests = list(scans), Digests(entry.name, fresh=fresh)
    try:
        if not entry.pinned:
            return _own_copy(entry, looked, digests)
        for form in entry.forms:
            addresses = _form(entry, form, looked, digests)
            if addresses is not None:
                return Located(entry.name, form.name, addresses, form.digest)
        return None
    finally:
        digests.save()


def missing(entry: Dataset, form: Form, scans: Iterable[Scan]) -> tuple[tuple[Member, ...], bool]:
    """Return the members of a form, optional ones included, that are not there, and whether its listing is not."""
    looked, digests = list(scans), Digests(entry.name)
    absent = tuple(member for member in form.members if _member(entry, member, looked, digests) is None)
    unlisted = form.listing is not None and _listed(entry, form.listing, looked, digests) is None
    digests.save()
    return absent, unlisted


def scan_places(entry: Dataset) -> list[Scan]:
    """Return what lies in the set's folder at each place of this machine."""
    return [scan(place.folder / entry.folder) for place in places()]


def _form(entry: Dataset, form: Form, scans: list[Scan], digests: Digests) -> dict[str, Address] | None:
    addresses: dict[str, Address] = {}
    for member in form.members:
        address = _member(entry, member, scans, digests)
        if address is not None:
            addresses[member.path] = address
        elif not member.optional:
            return None
    if form.listing:
        listed = _listed(entry, form.listing, scans, digests)
        if listed is None:
            return None
        addresses |= listed
    return addresses


def _member(entry: Dataset, member: Member, scans: list[Scan], digests: Digests) -> Address | None:
    """Return where a member lies; of several of its name in one place, the one that is it."""
    for place in scans:
        named = [address for address in place.files if address.name.endswith("/" + member.path)]
        found = [_digest(entry, address, member.sha256, digests) for address in named]
        if member.sha256 in found:
            return named[found.index(member.sha256)]
        if named:
            raise CorruptDataError(str(named[0]), f"SHA-256 {member.sha256}", found[0], remedy(entry))
    return None


def _listed(entry: Dataset, listing: Listing, scans: list[Scan], digests: Digests) -> dict[str, Address] | None:
    """Return where the listed members lie: the first folder or archive that holds them all, and sound."""
    for place in scans:
        groups: dict[str, dict[str, Address]] = {}
        for address in place.files:
            split = listing.split(address.name)
            if split:
                groups.setdefault(split[0], {})[split[1]] = address
        wrong = []
        for head, group in groups.items():
            if len(group) == listing.count:
                found = listing_digest(
                    {name: _digest(entry, at, "a readable member", digests) for name, at in group.items()}
                )
                if found == listing.sha256:
                    return group
                wrong.append((head, f"listing SHA-256 {listing.sha256}", found))
            else:
                wrong.append((head, f"{listing.count} members", f"{len(group)} members"))
        if wrong:
            raise CorruptDataError(*wrong[0], remedy(entry))
    return None


def _own_copy(entry: Dataset, scans: list[Scan], digests: Digests) -> Located | None:
    """Return what a user put there of a set that is not pinned, every file that fits its patterns."""
    for place in scans:
        fitting = [a for a in place.files if any(fnmatch(Path(a.name).name, pattern) for pattern in entry.patterns)]
        if fitting:
            top = f"/{entry.folder}/"
            addresses = {address.name.rpartition(top)[2] or address.name: address for address in fitting}
            found = {name: digests.of(address) for name, address in addresses.items()}
            return Located(entry.name, "own copy", addresses, listing_digest(found))
    return None


def _digest(entry: Dataset, address: Address, expected: str, digests: Digests) -> str:
    try:
        return digests.of(address)
    except BROKEN as error:
        raise CorruptDataError(str(address), expected, f"{type(error).__name__}: {error}", remedy(entry)) from error


def remedy(entry: Dataset) -> str:
    """Return what a user does about a corrupt member of a set: nothing of theirs is ever replaced silently."""
    return f"Delete or mend it, then run: python -m sensorprivacy data fetch {entry.name}"
