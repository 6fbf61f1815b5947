"""Find and open files in folders, in archives, and in archives inside archives."""

import gzip
import io
import lzma
import os
import shutil
import tarfile
import tempfile
import zipfile
import zlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import lru_cache, partial
from pathlib import Path
from typing import IO, BinaryIO, cast

ZIPS = (".zip", ".whl")
TARS = (".tar", ".tar.gz", ".tgz", ".tar.xz", ".txz", ".tar.bz2", ".tbz2")
MAX_DEPTH = 5  # archives inside archives; a zip bomb is nested more deeply
_IN_MEMORY = 64 * 2**20

#: Errors that a damaged archive raises.
BROKEN: tuple[type[Exception], ...] = (zipfile.BadZipFile, tarfile.TarError, zlib.error, lzma.LZMAError)
BROKEN += (gzip.BadGzipFile, EOFError, NotImplementedError)


Opener = Callable[[], IO[bytes]]


@dataclass(frozen=True, order=True)
class Address:
    """Locate a file: its path on disk, or its path inside one or more zips (or wheels).

    Attributes
    ----------
    path : pathlib.Path
        The file on disk; for a file in an archive, the outer archive.
    inner : tuple of str
        Empty for a plain file; else the name inside each archive, from the outer to the inner.
    """

    path: Path
    inner: tuple[str, ...] = ()

    def __str__(self) -> str:
        return " in ".join((*reversed(self.inner), str(self.path)))

    @property
    def name(self) -> str:
        """Full path with forward slashes, through all archives."""
        return "/".join((self.path.as_posix(), *self.inner))

    def open(self) -> BinaryIO:
        """Open the file for reading bytes; a file in an archive is read into memory, and its checksum verified."""
        if not self.inner:
            return self.path.open("rb")
        stat = self.path.stat()
        archive = _opened(self.path, self.inner[:-1], (stat.st_size, stat.st_mtime_ns), os.getpid())
        return io.BytesIO(archive.read(self.inner[-1]))


@lru_cache(maxsize=2)
def _opened(path: Path, inner: tuple[str, ...], state: tuple[int, int], process: int) -> zipfile.ZipFile:
    """Return an open archive: reading the directory of an archive for each of its files takes longer than the files.

    It is opened again if the file has changed, and in each process, because processes share the position in a file.
    """
    archive = zipfile.ZipFile(path)
    for name in inner:
        archive = zipfile.ZipFile(io.BytesIO(archive.read(name)))
    return archive


def is_zip(name: str) -> bool:
    """Return whether a file name is that of a zip or a wheel."""
    return name.lower().endswith(ZIPS)


def is_tar(name: str) -> bool:
    """Return whether a file name is that of a tar, compressed or not."""
    return name.lower().endswith(TARS)


def is_archive(name: str) -> bool:
    """Return whether a file name is that of an archive that `walk` can read."""
    return is_zip(name) or is_tar(name)


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


def zip_members(path: Path) -> Iterator[Address]:
    """Yield the address of every file in a zip, and in zips inside it; a tar inside it counts as a file.

    Raises
    ------
    zipfile.BadZipFile
        If the zip, or one inside it, is damaged.
    """
    return (Address(path, inner) for inner, _ in walk(path, tars=False))


def walk(path: Path, *, tars: bool = True) -> Iterator[tuple[tuple[str, ...], Opener]]:
    """Yield every file of an archive, and of archives inside it, in one pass from front to back.

    Parameters
    ----------
    path : pathlib.Path
        A zip, wheel or tar. Any other file yields itself.
    tars : bool
        Look into tars inside zips as well.

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
        yield from _walk(stream, (path.name,), tars)


def _walk(stream: IO[bytes], names: tuple[str, ...], tars: bool) -> Iterator[tuple[tuple[str, ...], Opener]]:
    with zipfile.ZipFile(stream) if is_zip(names[-1]) else tarfile.open(fileobj=stream, mode="r:*") as archive:
        for name, opener in _entries(archive):
            if len(names) <= MAX_DEPTH and (is_zip(name) or (tars and is_tar(name))):
                # zipfile would read an inner archive again from its start at each step back
                with opener() as content, tempfile.SpooledTemporaryFile(max_size=_IN_MEMORY) as copy:
                    shutil.copyfileobj(content, copy)
                    copy.seek(0)
                    yield from _walk(copy, (*names, name), tars)
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
