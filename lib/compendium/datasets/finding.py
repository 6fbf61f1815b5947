"""Find a set on this machine, without a network: locate its members in folders, and verify them.

The SHA-256 of verified files is kept in the user's cache.
"""

import contextlib
import json
from collections.abc import Iterable
from fnmatch import fnmatch
from pathlib import Path

import pooch

from compendium.datasets.archives import files_below, is_archive
from compendium.datasets.catalogue import Dataset, Form, Listing, Member
from compendium.datasets.errors import CorruptDataError
from compendium.paths import command, local_folders
from compendium.readers.files import Files
from sensorprivacy.paths import cache_folder, listing_digest, write_atomically


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
    archives : list of pathlib.Path
        Archives in the folders. A search does not look into them: `fetching.unpack` does.
    """

    def __init__(self, entry: Dataset, folders: Iterable[Path] | None = None, *, fresh: bool = False) -> None:
        if folders is None:
            folders = [folder / entry.folder for folder in local_folders()]
        self._entry = entry
        self._digests = Digests(entry.name, fresh=fresh)
        below = [list(files_below(folder)) for folder in folders]  # none in a folder that does not exist
        self.archives = [path for files in below for path in files if is_archive(path.name)]
        self._places = [[path for path in files if not is_archive(path.name)] for files in below]

    def located(self) -> Files | None:
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
                    return Files(self._entry.name, form.name, addresses, form.digest)
            return None
        finally:
            self._digests.save()

    def missing(self, form: Form) -> Form:
        """Return the part of a form that is missing on this machine, with its optional members."""
        members = tuple(member for member in form.members if self._member(member) is None)
        listing = form.listing if form.listing and self._listed(form.listing) is None else None
        self._digests.save()
        return Form(form.name, members, listing)

    def _form(self, form: Form) -> dict[str, Path] | None:
        addresses: dict[str, Path] = {}
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

    def _member(self, member: Member) -> Path | None:
        """Return the address of a member. Several files may have its name; the one with the pinned content counts."""
        for place in self._places:
            named = [address for address in place if address.as_posix().endswith("/" + member.path)]
            found = [self._digests.of(address) for address in named]
            if member.sha256 in found:
                return named[found.index(member.sha256)]
            if named:
                raise CorruptDataError(str(named[0]), f"SHA-256 {member.sha256}", found[0], remedy(self._entry))
        return None

    def _listed(self, listing: Listing) -> dict[str, Path] | None:
        """Return the addresses of the listed members, from the first folder that holds all of them."""
        for place in self._places:
            groups: dict[str, dict[str, Path]] = {}
            for address in place:
                split = listing.split(address.as_posix())
                if split:
                    groups.setdefault(split[0], {})[split[1]] = address
            wrong = []
            for head, group in groups.items():
                if len(group) != listing.count:
                    wrong.append((head, f"{listing.count} members", f"{len(group)} members"))
                    continue
                found = listing_digest({name: self._digests.of(at) for name, at in group.items()})
                if found == listing.sha256:
                    return group
                wrong.append((head, f"listing SHA-256 {listing.sha256}", found))
            if wrong:
                raise CorruptDataError(*wrong[0], remedy(self._entry))
        return None

    def _own_copy(self) -> Files | None:
        """Return the user's copy of a set without pinned members: every file that fits the set's patterns."""
        for place in self._places:
            fitting = [a for a in place if any(fnmatch(a.name, p) for p in self._entry.patterns)]
            if fitting:
                top = f"/{self._entry.folder}/"
                addresses = {address.as_posix().rpartition(top)[2]: address for address in fitting}
                found = {name: self._digests.of(address) for name, address in addresses.items()}
                return Files(self._entry.name, "own copy", addresses, listing_digest(found))
        return None


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

    def of(self, path: Path) -> str:
        """Return the SHA-256 of a file; a stored digest is used if the file is unchanged."""
        stat, key = path.stat(), str(path.absolute())
        stamp = [stat.st_size, stat.st_mtime_ns]
        if self._known.get(key, {}).get("stamp") != stamp:
            self._known[key], self._changed = {"stamp": stamp, "digest": pooch.file_hash(str(path))}, True
        return str(self._known[key]["digest"])

    def save(self) -> None:
        """Store new digests for the next run."""
        if self._changed:
            with contextlib.suppress(OSError):
                write_atomically(self._file, lambda part: part.write_text(json.dumps(self._known), encoding="utf-8"))
            self._changed = False
