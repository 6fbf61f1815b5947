"""Results kept in the user's cache: SHA-256 digests of files, and tables that take long to compute."""

import contextlib
import hashlib
import json
from typing import BinaryIO

from compendium.datasets.archives import Address
from sensorprivacy.paths import cache_folder, write_atomically


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
