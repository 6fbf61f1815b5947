"""Files in folders, in archives, and in archives in archives: walk them, open them by their address."""

import gzip
import io
import lzma
import os
import tarfile
import tempfile
import zipfile
import zlib
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import IO, BinaryIO, cast

ZIPS = (".zip", ".whl")
TARS = (".tar", ".tar.gz", ".tgz", ".tar.xz", ".txz", ".tar.bz2", ".tbz2")
MAX_DEPTH = 5  # archives in archives; a bomb nests deeper
_IN_MEMORY = 64 * 2**20

#: What reading a damaged archive raises.
BROKEN = (
    zipfile.BadZipFile,
    tarfile.TarError,
    zlib.error,
    lzma.LZMAError,
    gzip.BadGzipFile,
    EOFError,
    NotImplementedError,
)


@dataclass(frozen=True, order=True)
class Address:
    """Where a file lies: a path, and for a file in zips (or wheels) the names from the outer archive to the inner.

    Attributes
    ----------
    path : pathlib.Path
        The file on disk.
    inner : tuple of str
        Empty for a plain file; else the names on the way in, the last being the file's own.
    """

    path: Path
    inner: tuple[str, ...] = ()

    def __str__(self) -> str:
        return " in ".join((*reversed(self.inner), str(self.path)))

    @property
    def name(self) -> str:
        """Full path with forward slashes: what the end of a member's path is compared with."""
        return "/".join((self.path.as_posix(), *self.inner))

    def open(self) -> BinaryIO:
        """Open the file for reading; the archives around it close with it.

        Returns
        -------
        binary file
            Positioned at the start.
        """
        if not self.inner:
            return self.path.open("rb")
        with ExitStack() as stack:
            stream: IO[bytes] = stack.enter_context(self.path.open("rb"))
            for name in self.inner:
                archive = stack.enter_context(zipfile.ZipFile(stream))
                stream = stack.enter_context(archive.open(name))
            return cast(BinaryIO, _Closing(stream, stack.pop_all()))


class _Closing(io.BufferedReader):
    """A stream that closes what it came out of."""

    def __init__(self, stream: IO[bytes], stack: ExitStack) -> None:
        super().__init__(cast(io.RawIOBase, stream))
        self._stack = stack

    def close(self) -> None:
        try:
            super().close()
        finally:
            self._stack.close()


def is_zip(name: str) -> bool:
    """Tell whether a name is that of a zip or a wheel."""
    return name.lower().endswith(ZIPS)


def is_tar(name: str) -> bool:
    """Tell whether a name is that of a tar, compressed or not."""
    return name.lower().endswith(TARS)


def files_below(folder: Path) -> Iterator[Path]:
    """Yield the files at and below a folder in a fixed order, without hidden ones (locks, half-downloaded files)."""
    for where, folders, names in os.walk(folder):
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        for name in sorted(names):
            if not name.startswith("."):
                yield Path(where, name)


def zip_members(path: Path) -> Iterator[Address]:
    """Yield the address of every file in a zip, and in zips in it, without reading their content.

    Parameters
    ----------
    path : pathlib.Path
        A zip or a wheel.

    Yields
    ------
    Address
        Of each file; tars in it are yielded as files.

    Raises
    ------
    zipfile.BadZipFile
        If it, or an archive in it, is damaged.
    """
    with path.open("rb") as stream:
        yield from _zip_members(stream, Address(path), 0)


def _zip_members(stream: IO[bytes], outer: Address, depth: int) -> Iterator[Address]:
    with zipfile.ZipFile(stream) as archive:
        for entry in archive.infolist():
            if entry.is_dir():
                continue
            address = Address(outer.path, (*outer.inner, entry.filename))
            if is_zip(entry.filename) and depth < MAX_DEPTH:
                with archive.open(entry) as inner:
                    yield from _zip_members(inner, address, depth + 1)
            else:
                yield address


def unpack(path: Path, take: Callable[[str, IO[bytes]], None], progress: Callable[[int], object] | None = None) -> None:
    """Hand every file of an archive, and of archives in it, to `take`, in one pass from front to back.

    Parameters
    ----------
    path : pathlib.Path
        A zip, wheel or tar; or any other file, which is handed over as it is.
    take : callable
        Called with the full path in the archive and the open content.
    progress : callable, optional
        Called with the number of bytes of each file handed over.

    Raises
    ------
    zipfile.BadZipFile, tarfile.TarError, EOFError, OSError
        If the archive is damaged.
    """
    with path.open("rb") as stream:
        _unpack(stream, path.name, take, progress, 0)


def _unpack(
    stream: IO[bytes],
    name: str,
    take: Callable[[str, IO[bytes]], None],
    progress: Callable[[int], object] | None,
    depth: int,
) -> None:
    if depth <= MAX_DEPTH and is_zip(name):
        with zipfile.ZipFile(stream) as archive:
            for entry in archive.infolist():
                if not entry.is_dir():
                    with archive.open(entry) as inner:
                        _unpack(_seekable(inner, entry.filename), f"{name}/{entry.filename}", take, progress, depth + 1)
    elif depth <= MAX_DEPTH and is_tar(name):
        with tarfile.open(fileobj=stream, mode="r:*") as archive:
            for member in archive:
                content = archive.extractfile(member) if member.isfile() else None
                if content is not None:
                    with content:
                        _unpack(content, f"{name}/{member.name}", take, progress, depth + 1)
    else:
        take(name, stream)
        if progress is not None:
            progress(stream.tell())


def _seekable(stream: IO[bytes], name: str) -> IO[bytes]:
    """Return an archive in a zip as a stream that seeks fast (zipfile reads from the start at each step back)."""
    if not (is_zip(name) or is_tar(name)):
        return stream
    copy = tempfile.SpooledTemporaryFile(max_size=_IN_MEMORY)  # noqa: SIM115  (closed when the walk lets go of it)
    while block := stream.read(2**20):
        copy.write(block)
    copy.seek(0)
    return copy
