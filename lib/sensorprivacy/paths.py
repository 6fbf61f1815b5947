"""Find the user's cache, and write files so that nobody reads half of one."""

import glob
import hashlib
import json
import os
import platform
import re
import secrets
import shutil
import tempfile
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import Any

CACHE_VARIABLE = "SENSORPRIVACY_CACHE"
_MADE = "SENSORPRIVACY_TEMPORARY"  # environment variable: the folder for temporary files that we made
_JOBLIB = "JOBLIB_TEMP_FOLDER"
_LONGEST = 70  # characters of this folder
_LEAST_MB = 20
_MOST_JSON = 32 * 2**20  # bytes; Python needs about twenty times as much for short values


def check_writable(folder: Path) -> None:
    """Make a folder, and check that files can be written to it.

    Raises
    ------
    OSError
        If the folder cannot be made or written to, or its disk is full.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=folder) as probe:
            probe.write(b"probe")
        free = shutil.disk_usage(folder).free / 1e6
    except OSError as error:
        raise OSError(f"cannot write to {folder}: {error.strerror}; make it a writable folder") from None
    if free < _LEAST_MB:
        raise OSError(f"cannot write to {folder}: only {free:.0f} MB are free, {_LEAST_MB} are needed; make room")


def read_json(path: Path) -> Any:
    """Return the content of a JSON file; raises ValueError, with its path, if it is too large, too deep or no JSON."""
    if (size := path.stat().st_size) > _MOST_JSON:
        raise ValueError(f"{path} has {size:,} bytes, at most {_MOST_JSON:,} are read")
    try:
        return json.loads(path.read_text(encoding="utf-8"))
    except RecursionError:
        raise ValueError(f"{path} is nested too deeply") from None
    except ValueError as error:
        raise ValueError(f"{path} is no JSON: {error}") from error


def write_atomically(path: Path, write: Callable[[Path], object]) -> None:
    """Let `write` make a file beside its target, then rename it, so that nobody ever reads half a file."""
    path.parent.mkdir(parents=True, exist_ok=True)
    part = path.with_name(f".{path.name}.{secrets.token_hex(4)}.part")  # two processes may write the same file
    try:
        write(part)
        part.replace(path)
    finally:
        part.unlink(missing_ok=True)


def resumed(path: Path | None, work: Callable[[int], Iterable[dict[str, Any]]]) -> Iterator[dict[str, Any]]:
    """Yield results of long work, and keep each in a file as it ends: first those that the file has, then the rest.

    Parameters
    ----------
    path : path, optional
        The file, one line of JSON for each result. Without it, nothing is kept.
    work : callable
        ``work(n)`` yields the results from number n on: dicts of numbers and texts.
    """
    if path is None:
        yield from work(0)
        return
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("a+", encoding="utf-8") as stream:
        stream.seek(0)
        whole = [line for line in stream.readlines() if line.endswith("\n")]  # a killed process may leave half a line
        stream.truncate(len("".join(whole).encode()))
        yield from map(json.loads, whole)
        for result in work(len(whole)):
            stream.write(f"{json.dumps(result)}\n")
            stream.flush()
            yield result


def cache_folder() -> Path:
    """Return the user's cache: the folder in ``SENSORPRIVACY_CACHE``, else the system's folder for caches."""
    import pooch  # a board has none

    named = os.environ.get(CACHE_VARIABLE)
    return Path(named).expanduser().resolve() if named else Path(pooch.os_cache("sensorprivacy"))


def listing_digest(digests: Mapping[str, str]) -> str:
    """Return the SHA-256 over the lines ``<digest>  <path>``, sorted by path.

    Parameters
    ----------
    digests : mapping of str to str
        SHA-256 of each file by its path.

    Returns
    -------
    str
        Hexadecimal digest.
    """
    lines = "".join(f"{digests[path]}  {path}\n" for path in sorted(digests))
    return hashlib.sha256(lines.encode()).hexdigest()


def part_of(path: Path) -> Path:
    """Return a hidden name beside a file or folder for its unfinished content.

    The name says whose it is: host, process, when that began and a random number. What processes of this host have
    left, because they were killed, is removed first.
    """
    host = re.sub(r"\W", "", platform.node())[:12]
    for left in path.parent.glob(f".{glob.escape(path.name)}.{host}-*.part") if os.name == "posix" else ():
        owner, began = ["", "", *left.name.removesuffix(".part").split("-")][-3:-1]
        if owner.isdecimal() and _began(int(owner)) not in (began, None):
            with suppress(OSError):  # of another account, or removed meanwhile
                shutil.rmtree(left) if left.is_dir() and not left.is_symlink() else left.unlink()
    own = os.getpid()
    return path.with_name(f".{path.name}.{host}-{own}-{_began(own)}-{secrets.token_hex(3)}.part")


def _began(process: int) -> str | None:
    """Return when a process began, as numbers of processes are used again: "" if there is none, None if unknown."""
    try:
        os.kill(process, 0)  # does nothing to a process that exists
        return Path(f"/proc/{process}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()[19]
    except (ProcessLookupError, OverflowError):
        return ""
    except (OSError, IndexError):  # of another account, or a system without /proc
        return None


@contextmanager
def part_folder(path: Path, mode: int = 0o777) -> Iterator[Path]:
    """Make a folder for the unfinished content of a file or folder, and remove it at the end unless it was renamed."""
    part = part_of(path)
    part.parent.mkdir(parents=True, exist_ok=True)
    try:
        part.mkdir(mode=mode)
        yield part
    finally:
        shutil.rmtree(part, ignore_errors=True)


def replace_folder(folder: Path, made: Path | None = None) -> None:
    """Put a folder that was made beside it in the place of an older one, or only remove that one.

    Nobody ever sees half of either.
    """
    with part_folder(folder) as old:
        with suppress(FileNotFoundError):
            folder.rename(old / folder.name)
        if made is not None:
            made.rename(folder)


@contextmanager
def temporary_files() -> Iterator[None]:
    """Keep the temporary files of this process, and of those that it starts, in a folder that is removed at the end.

    What a killed process left is removed by the next one of this user.
    """
    user = os.getuid() if hasattr(os, "getuid") else ""
    with ExitStack() as stack:
        with suppress(OSError):  # who needs a temporary file says so
            if _MADE not in os.environ:
                place = Path(tempfile.gettempdir(), f"sensorprivacy-{user}")
                folder = str(stack.enter_context(part_folder(place, 0o700)))
                names = [_MADE, *(["TMPDIR"] if len(folder) <= _LONGEST else [])]  # sockets need short paths
                names += [_JOBLIB] if _JOBLIB not in os.environ else []  # else it keeps arrays in /dev/shm
                stack.callback(_restore, {name: os.environ.get(name) for name in names}, tempfile.tempdir)
                os.environ.update(dict.fromkeys(names, folder))
                tempfile.tempdir = None  # found again
        yield


def _restore(variables: Mapping[str, str | None], folder: str | None) -> None:
    for name, value in variables.items():
        os.environ.pop(name) if value is None else os.environ.update({name: value})
    tempfile.tempdir = folder
