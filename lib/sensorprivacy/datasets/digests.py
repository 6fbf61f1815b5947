"""SHA-256 of files, remembered by path, size and time of change, so that a second look costs nothing."""

import contextlib
import hashlib
import json
import os
import tempfile
from pathlib import Path
from typing import IO

from sensorprivacy.datasets.archives import Address
from sensorprivacy.datasets.places import cache_folder

_BLOCK = 2**20


class Digests:
    """Digests of the files of one set.

    Parameters
    ----------
    name : str
        The set; its digests are kept in the user's cache under this name.
    fresh : bool
        Whether to hash everything anew, whatever is remembered.

    Notes
    -----
    A file changed without a trace in its size and time of change is not noticed, unless `fresh` is asked for
    (``data verify``). A cache that cannot be written costs a hash each time and nothing else.
    """

    def __init__(self, name: str, *, fresh: bool = False) -> None:
        self._file = cache_folder() / "verified" / f"{name}.json"
        self._known: dict[str, dict] = {} if fresh else _read(self._file)
        self._changed = False

    def of(self, address: Address) -> str:
        """Return the SHA-256 of a file, from memory if the file (or the archive around it) has not changed."""
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
        """Write down what was hashed anew."""
        if self._changed:
            with contextlib.suppress(OSError):
                write_atomically(self._file, json.dumps(self._known).encode())
            self._changed = False


def sha256(stream: IO[bytes], copy_to: IO[bytes] | None = None) -> str:
    """Return the SHA-256 of what is left of a stream, copying it on the way if asked."""
    digest = hashlib.sha256()
    while block := stream.read(_BLOCK):
        digest.update(block)
        if copy_to is not None:
            copy_to.write(block)
    return digest.hexdigest()


def write_atomically(path: Path, content: bytes) -> None:
    """Write a file so that nobody ever sees half of it; its folder is made if need be."""
    path.parent.mkdir(parents=True, exist_ok=True)
    handle, temporary = tempfile.mkstemp(dir=path.parent, prefix=".")
    try:
        with os.fdopen(handle, "wb") as out:
            out.write(content)
        Path(temporary).replace(path)
    except BaseException:
        Path(temporary).unlink(missing_ok=True)
        raise


def _read(file: Path) -> dict[str, dict]:
    try:
        known = json.loads(file.read_bytes())
    except (OSError, ValueError):
        return {}
    return known if isinstance(known, dict) else {}
