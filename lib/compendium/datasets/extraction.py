"""Extract the members of a set from an archive. A member gets its name only after its digest was verified."""

import shutil
import tempfile
from itertools import count
from pathlib import Path

from compendium.datasets.archives import is_archive, walk
from compendium.datasets.cache import sha256
from compendium.datasets.catalogue import Form, Member
from compendium.datasets.network import bytes_bar
from sensorprivacy.readers.files import listing_digest

#: Folder inside a set's folder for unfinished files; it is hidden, so that its files never count as data.
PARTIAL = ".partial"
_BAR_FROM = 10 * 2**20  # bytes; smaller sets are unpacked at once


class MismatchError(Exception):
    """Raise if an archive holds a file with the name of a member, but with other content."""

    def __init__(self, file: str, expected: str, found: str) -> None:
        super().__init__(file, expected, found)
        self.file, self.expected, self.found = file, expected, found


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
    MismatchError
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
                with opener() as content, file.open("w+b") as out:
                    shutil.copyfileobj(content, out)
                    bar.update(out.tell())
                    out.seek(0)
                    digest = sha256(out)
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
        raise MismatchError(member.path, f"SHA-256 {member.sha256}", next(iter(copies)))
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
    raise MismatchError(best, expected, f"{len(heads[best])} members with {found[best]}")
