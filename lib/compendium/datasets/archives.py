"""List the files in folders, in archives, and in archives inside archives."""

import gzip
import lzma
import os
import shutil
import tarfile
import tempfile
import zipfile
import zlib
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import IO, cast

ZIPS = (".zip", ".whl")
TARS = (".tar", ".tar.gz", ".tgz", ".tar.xz", ".txz", ".tar.bz2", ".tbz2")
MAX_DEPTH = 5  # archives inside archives; a zip bomb is nested more deeply
_IN_MEMORY = 64 * 2**20

#: Errors that a damaged archive raises.
BROKEN: tuple[type[Exception], ...] = (zipfile.BadZipFile, tarfile.TarError, zlib.error, lzma.LZMAError)
BROKEN += (gzip.BadGzipFile, EOFError, NotImplementedError)


Opener = Callable[[], IO[bytes]]


def is_archive(name: str) -> bool:
    """Return whether a file name is that of an archive that `walk` can read: a zip, a wheel or a tar."""
    return name.lower().endswith((*ZIPS, *TARS))


def is_packed(path: Path) -> bool:
    """Return whether a file begins as an archive does, even if it is damaged."""
    with path.open("rb") as stream:
        return stream.read(6).startswith((b"PK\3\4", b"\x1f\x8b", b"BZh", b"\xfd7zXZ"))


def files_below(folder: Path) -> Iterator[Path]:
    """Yield all files in a folder and its subfolders, in a fixed order and without hidden files."""
    for where, folders, names in os.walk(folder):
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        for name in sorted(names):
            if not name.startswith("."):
                yield Path(where, name)


def walk(path: Path) -> Iterator[tuple[tuple[str, ...], Opener]]:
    """Yield every file of an archive, and of archives inside it, in one pass from front to back.

    Parameters
    ----------
    path : pathlib.Path
        A zip, wheel or tar. Any other file yields itself.

    Yields
    ------
    inner : tuple of str
        The name inside each archive, from the outer to the inner; empty for a plain file.
    opener : callable
        Opens the file. Call it before requesting the next file.

    Raises
    ------
    Exception
        One of `BROKEN`, if an archive is damaged.
    """
    if not is_archive(path.name):
        yield (), cast(Opener, partial(path.open, "rb"))
        return
    with path.open("rb") as stream:
        yield from _walk(stream, (path.name,))


def _walk(stream: IO[bytes], names: tuple[str, ...]) -> Iterator[tuple[tuple[str, ...], Opener]]:
    zipped = names[-1].lower().endswith(ZIPS)
    with zipfile.ZipFile(stream) if zipped else tarfile.open(fileobj=stream, mode="r:*") as archive:
        for name, opener in _entries(archive):
            if len(names) <= MAX_DEPTH and is_archive(name):
                # zipfile would read an inner archive again from its start at each step back
                with opener() as content, tempfile.SpooledTemporaryFile(max_size=_IN_MEMORY) as copy:
                    shutil.copyfileobj(content, copy)
                    copy.seek(0)
                    yield from _walk(copy, (*names, name))
            else:
                yield (*names[1:], name), opener


def _entries(archive: zipfile.ZipFile | tarfile.TarFile) -> Iterator[tuple[str, Opener]]:
    """Yield name and opener of each file of an archive."""
    if isinstance(archive, zipfile.ZipFile):
        for entry in archive.infolist():
            if not entry.is_dir():
                yield entry.filename, partial(archive.open, entry)
    else:
        for member in archive:
            if member.isfile():
                yield member.name, cast(Opener, partial(archive.extractfile, member))
