"""Take a set's members out of whatever carries them: each is verified before it gets its name."""

import contextlib
import itertools
import shutil
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import IO

from sensorprivacy.datasets.archives import is_tar, is_zip, unpack
from sensorprivacy.datasets.catalogue import Form, Member, listing_digest
from sensorprivacy.datasets.digests import sha256
from sensorprivacy.progress import tqdm

#: Folder, in a set's own, of what is not yet finished; hidden, so that it is never taken for data.
PARTIAL = ".partial"
_BAR_FROM = 10 * 2**20  # smaller sets unpack in the blink of an eye


class MismatchError(Exception):
    """A carrier holds a member of the name, but not the pinned one."""

    def __init__(self, file: str, expected: str, found: str) -> None:
        super().__init__(file, expected, found)
        self.file, self.expected, self.found = file, expected, found


def gather(
    carrier: Path, form: Form, members: tuple[Member, ...], listing: bool, folder: Path, *, progress: bool
) -> bool:
    """Put the wanted members that a carrier holds into the folder, each verified before it gets its name.

    Parameters
    ----------
    carrier : pathlib.Path
        An archive; or a plain file, which is the one wanted member, whatever its name.
    form : Form
        The form of the set.
    members : tuple of Member
        Which of its members are wanted.
    listing : bool
        Whether the listed members are wanted.
    folder : pathlib.Path
        Where they go.
    progress : bool
        Whether to draw a bar on stderr.

    Returns
    -------
    bool
        Whether the carrier held any of them.

    Raises
    ------
    MismatchError
        If it holds a member of the name, but none with the pinned content; such a file is not kept.
    """
    stage = Path(tempfile.mkdtemp(dir=made(folder / PARTIAL), prefix="stage-"))
    taken: dict[str, list[tuple[Path, str]]] = {}
    heads: dict[str, dict[str, str]] = {}
    plain, number = not is_archive(carrier.name), itertools.count()

    def take(path: str, content: IO[bytes]) -> None:
        for member in members:
            if plain or f"/{path}".endswith("/" + member.path):
                file = stage / str(next(number))
                with file.open("wb") as out:
                    taken.setdefault(member.path, []).append((file, sha256(content, out)))
                return
        split = form.listing.split(path) if form.listing and listing else None
        if split:
            head, name = split
            group = list(heads).index(head) if head in heads else len(heads)
            file = stage / f"listing-{group}" / name
            with made(file.parent).joinpath(file.name).open("wb") as out:
                heads.setdefault(head, {})[name] = sha256(content, out)

    try:
        with _bar(form, progress) as advance:
            unpack(carrier, take, advance)
        for member in members:
            _keep_member(member, taken.get(member.path, []), folder)
        if form.listing and listing and heads:
            _keep_listing(form, heads, stage, folder)
        return bool(taken or heads)
    finally:
        shutil.rmtree(stage, ignore_errors=True)


def _keep_member(member: Member, taken: list[tuple[Path, str]], folder: Path) -> None:
    for file, digest in taken:
        if digest == member.sha256:
            target = folder / member.path
            made(target.parent)
            file.replace(target)
            return
    if taken:
        raise MismatchError(member.path, f"SHA-256 {member.sha256}", taken[0][1])


def _keep_listing(form: Form, heads: dict[str, dict[str, str]], stage: Path, folder: Path) -> None:
    """Move the unpacked folder whose listing is the pinned one into place, in one step."""
    listing = form.listing
    assert listing is not None
    found = {head: listing_digest(digests) for head, digests in heads.items()}
    for number, digest in enumerate(found.values()):
        if digest == listing.sha256:
            (stage / f"listing-{number}").replace(folder / form.name)
            return
    best = max(heads, key=lambda head: len(heads[head]))
    expected = f"{listing.count} members with listing SHA-256 {listing.sha256}"
    raise MismatchError(best, expected, f"{len(heads[best])} members with {found[best]}")


@contextlib.contextmanager
def _bar(form: Form, progress: bool) -> Iterator[Callable[[int], object]]:
    quiet = not progress or form.size < _BAR_FROM
    with tqdm(
        total=form.size, unit="B", unit_scale=True, desc="unpacking", disable=quiet, leave=False, file=sys.stderr
    ) as bar:
        yield bar.update


def is_archive(name: str) -> bool:
    """Tell whether a name is that of something to look into."""
    return is_zip(name) or is_tar(name)


def made(folder: Path) -> Path:
    """Return a folder, made if it was not there."""
    folder.mkdir(parents=True, exist_ok=True)
    return folder
