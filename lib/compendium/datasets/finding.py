"""Find a set on this machine, without a network: locate its members in folders and archives, and verify them.

The SHA-256 of verified files is kept in the user's cache.
"""

import contextlib
import hashlib
import json
import os
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from fnmatch import fnmatch
from pathlib import Path
from typing import BinaryIO

from compendium.datasets.archives import BROKEN, Address, files_below, is_tar, is_zip, zip_members
from compendium.datasets.catalogue import Dataset, Form, Listing, Member
from compendium.datasets.errors import CorruptDataError
from compendium.paths import command, local_folders
from sensorprivacy.paths import cache_folder, listing_digest, write_atomically


@dataclass(frozen=True)
class Located:
    """A set that is on this machine, with every member verified. Readers use it as `files.Files`.

    Attributes
    ----------
    name, form : str
        The set, and the form of it that was found.
    addresses : mapping of str to Address
        Address of each member.
    digest : str
        One SHA-256 over all members, for provenance; the same in every folder and archive.
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
        """The file that holds the set, or the folder that holds its files."""
        outer = {str(address.path) for address in self.addresses.values()}
        return Path(outer.pop()) if len(outer) == 1 else Path(os.path.commonpath(outer))

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
        return self.addresses[member].open()

    def read(self, member: str) -> bytes:
        """Return the content of a member."""
        with self.open(member) as stream:
            return stream.read()


class Search:
    """Search for a set in the folders of this machine.

    Parameters
    ----------
    entry : Dataset
        The set.
    folders : iterable of pathlib.Path, optional
        Folders to search, in order; by default the set's folder in each of `paths.local_folders`.
    fresh : bool
        Hash every file again, instead of trusting files that did not change since they were verified.

    Attributes
    ----------
    tars : list of pathlib.Path
        Tars in the folders. A search does not look into them: reading one file of a compressed tar means reading all.
    broken : list of tuple (pathlib.Path, str)
        Archives that cannot be read, and the reason.
    """

    def __init__(self, entry: Dataset, folders: Iterable[Path] | None = None, *, fresh: bool = False) -> None:
        if folders is None:
            folders = [folder / entry.folder for folder in local_folders()]
        self._entry = entry
        self._digests = Digests(entry.name, fresh=fresh)
        self.tars: list[Path] = []
        self.broken: list[tuple[Path, str]] = []
        self._places = [list(self._files(folder)) for folder in folders]

    def located(self) -> Located | None:
        """Return the first form of the set that is complete, or None.

        Raises
        ------
        CorruptDataError
            If a member differs from the content that the catalogue pins.
        """
        try:
            if not self._entry.pinned:
                return self._own_copy()
            for form in self._entry.forms:
                addresses = self._form(form)
                if addresses is not None:
                    return Located(self._entry.name, form.name, addresses, form.digest)
            return None
        finally:
            self._digests.save()

    def missing(self, form: Form) -> Form:
        """Return the part of a form that is missing on this machine, with its optional members."""
        members = tuple(member for member in form.members if self._member(member) is None)
        listing = form.listing if form.listing and self._listed(form.listing) is None else None
        self._digests.save()
        return Form(form.name, members, listing)

    def _files(self, folder: Path) -> Iterator[Address]:
        """Yield the plain files and the files in zips of a folder; none if the folder does not exist."""
        for path in files_below(folder):
            if is_tar(path.name):
                self.tars.append(path)
            elif is_zip(path.name):
                try:
                    yield from zip_members(path)
                except BROKEN as error:
                    self.broken.append((path, f"{type(error).__name__}: {error}"))
            else:
                yield Address(path)

    def _form(self, form: Form) -> dict[str, Address] | None:
        addresses: dict[str, Address] = {}
        for member in form.members:
            address = self._member(member)
            if address is not None:
                addresses[member.path] = address
            elif not member.optional:
                return None
        if form.listing:
            listed = self._listed(form.listing)
            if listed is None:
                return None
            addresses |= listed
        return addresses

    def _member(self, member: Member) -> Address | None:
        """Return the address of a member. Several files may have its name; the one with the pinned content counts."""
        for place in self._places:
            named = [address for address in place if address.name.endswith("/" + member.path)]
            found = [self._digest(address, member.sha256) for address in named]
            if member.sha256 in found:
                return named[found.index(member.sha256)]
            if named:
                raise CorruptDataError(str(named[0]), f"SHA-256 {member.sha256}", found[0], remedy(self._entry))
        return None

    def _listed(self, listing: Listing) -> dict[str, Address] | None:
        """Return the addresses of the listed members, from the first folder or archive that holds all of them."""
        for place in self._places:
            groups: dict[str, dict[str, Address]] = {}
            for address in place:
                split = listing.split(address.name)
                if split:
                    groups.setdefault(split[0], {})[split[1]] = address
            wrong = []
            for head, group in groups.items():
                if len(group) != listing.count:
                    wrong.append((head, f"{listing.count} members", f"{len(group)} members"))
                    continue
                found = listing_digest({name: self._digest(at, "a readable member") for name, at in group.items()})
                if found == listing.sha256:
                    return group
                wrong.append((head, f"listing SHA-256 {listing.sha256}", found))
            if wrong:
                raise CorruptDataError(*wrong[0], remedy(self._entry))
        return None

    def _own_copy(self) -> Located | None:
        """Return the user's copy of a set without pinned members: every file that fits the set's patterns."""
        for place in self._places:
            fitting = [a for a in place if any(fnmatch(Path(a.name).name, p) for p in self._entry.patterns)]
            if fitting:
                top = f"/{self._entry.folder}/"
                addresses = {address.name.rpartition(top)[2] or address.name: address for address in fitting}
                found = {name: self._digests.of(address) for name, address in addresses.items()}
                return Located(self._entry.name, "own copy", addresses, listing_digest(found))
        return None

    def _digest(self, address: Address, expected: str) -> str:
        try:
            return self._digests.of(address)
        except BROKEN as error:
            found = f"{type(error).__name__}: {error}"
            raise CorruptDataError(str(address), expected, found, remedy(self._entry)) from error


def remedy(entry: Dataset) -> str:
    """Return what a user should do about a corrupt member. The library never replaces a user's file by itself."""
    return f"Delete or repair it. To get it again: {how(entry)}"


def how(entry: Dataset) -> str:
    """Return how a user gets a set: the command that downloads it, or what to do by hand."""
    return command(f"data fetch {entry.name}") if entry.origins else entry.how


class Digests:
    """Remember the SHA-256 of the files of one set, so that unchanged files are hashed once.

    Parameters
    ----------
    name : str
        The set; its digests are stored in the cache under this name.
    fresh : bool
        Ignore stored digests and hash every file again.

    Notes
    -----
    A file is hashed again if its size or time of change differs. ``data verify`` hashes every file again.
    If the cache cannot be written, the files are hashed in each run.
    """

    def __init__(self, name: str, *, fresh: bool = False) -> None:
        self._file = cache_folder() / "verified" / f"{name}.json"
        self._known: dict[str, dict] = {}
        if not fresh:
            with contextlib.suppress(OSError, ValueError, TypeError):  # a damaged file is as good as none
                self._known = dict(json.loads(self._file.read_bytes()))
        self._changed = False

    def of(self, address: Address) -> str:
        """Return the SHA-256 of a file; a stored digest is used if the file, or the archive around it, is unchanged."""
        stat = address.path.stat()
        key, inner = str(address.path.absolute()), "\0".join(address.inner)
        known = self._known.get(key)
        if known is None or (known["size"], known["mtime_ns"]) != (stat.st_size, stat.st_mtime_ns):
            known = self._known[key] = {"size": stat.st_size, "mtime_ns": stat.st_mtime_ns, "sha256": {}}
        if inner not in known["sha256"]:
            with address.open() as stream:
                known["sha256"][inner] = sha256(stream)
            self._changed = True
        return str(known["sha256"][inner])

    def save(self) -> None:
        """Store new digests for the next run."""
        if self._changed:
            with contextlib.suppress(OSError):
                write_atomically(self._file, lambda part: part.write_text(json.dumps(self._known), encoding="utf-8"))
            self._changed = False


def sha256(stream: BinaryIO) -> str:
    """Return the SHA-256 of the rest of a stream."""
    return hashlib.file_digest(stream, "sha256").hexdigest()  # type: ignore[arg-type]
