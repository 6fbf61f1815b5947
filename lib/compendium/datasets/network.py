"""Download files that resume after a break, and wheels from the user's package index; notice once if a host is down."""

import json
import logging
import re
import subprocess
import sys
import time
from pathlib import Path
from urllib.parse import urlsplit

import requests
from requests.exceptions import ChunkedEncodingError, ConnectionError, ConnectTimeout, RequestException, SSLError

from compendium.datasets.errors import DataUnavailableError
from compendium.paths import without_password
from sensorprivacy.progress import tqdm

TIMEOUT = (4.0, 30.0)  # seconds, to connect and between two packets
ATTEMPTS = 3  # breaks in a row without any progress
PATIENCE = 10.0  # seconds at most before the one retry of a busy server (503)
_CHUNK = 2**14  # bytes; a break loses at most this much

log = logging.getLogger("compendium.datasets")


class NotThereError(DataUnavailableError):
    """Raise if a host cannot be reached, or does not send the file."""


class TooLongError(RequestException):
    """Raise if an answer is longer than the file can be."""


class Network:
    """Remember which hosts answer and which do not, so that each failure costs time and a warning only once."""

    def __init__(self) -> None:
        self.answering: set[str] = set()
        self.unreachable: dict[str, str] = {}

    def ask(self, host: str) -> None:
        """Raise `NotThereError` if a request to this host would be in vain."""
        if host in self.unreachable:
            raise NotThereError(f"{host} cannot be reached ({self.unreachable[host]})")

    def failed(self, host: str, why: str) -> None:
        """Note that a host could not be reached, and warn."""
        self.unreachable[host] = why
        log.warning("%s cannot be reached (%s): data sets that are not on this machine may be missing", host, why)


NETWORK = Network()
INDEX = "the package index"
_BROKE = "the connection broke off"


def download(url: str, target: Path, most: int | None = None) -> Path:
    """Download a file, and resume an earlier download of it if there is one.

    The content goes to ``<target>.part``, with a note of its address and its mark (ETag) beside it. The complete file
    is renamed. If the server has another version of the file, or cannot resume, the download starts again. A server
    that is busy (503) is asked once more.

    Parameters
    ----------
    url : str
        Address, http or https.
    target : pathlib.Path
        Path of the file; its folder must exist.
    most : int, optional
        Largest size of the file in bytes; a longer answer is cut off and refused.

    Returns
    -------
    pathlib.Path
        The target.

    Raises
    ------
    NotThereError
        If the host cannot be reached, does not have the file, sends a longer one, or breaks off again and again.
    """
    host = host_of(url)
    NETWORK.ask(host)
    part, note = partial_file(target), target.with_name(f"{target.name}.part.json")
    part.touch()
    why, stalled, busy = "", 0, False
    while stalled < ATTEMPTS:
        before = part.stat().st_size
        try:
            _transfer(url, part, note, most)
        except TooLongError as error:
            why = str(error)
            part.write_bytes(b"")
            break
        except RequestException as error:
            why = _reason(error)
            status = error.response.status_code if error.response is not None else None
            silent = status is None and host not in NETWORK.answering
            if silent or isinstance(error, ConnectTimeout | SSLError):
                NETWORK.failed(host, why)
                break
            if error.response is not None and status == requests.codes.unavailable and not busy:
                busy = True
                time.sleep(_pause(error.response))
                continue
            if status not in (None, requests.codes.requested_range_not_satisfiable):
                break
        else:
            note.unlink(missing_ok=True)
            return part.replace(target)
        stalled = 0 if part.stat().st_size > before else stalled + 1
    if not part.stat().st_size:
        part.unlink()
        note.unlink(missing_ok=True)
    elif why == _BROKE and not _mark(url, part, note):
        why += f" {ATTEMPTS} times, and the server cannot resume: try again on a better connection"
    raise NotThereError(f"{without_password(url)}: {why}")


def host_of(url: str) -> str:
    """Return the host and the port of an address."""
    return urlsplit(without_password(url)).netloc


def partial_file(target: Path) -> Path:
    """Return the path of the unfinished download of a file."""
    return target.with_name(f"{target.name}.part")


def bytes_bar(total: int, name: str, shown: bool = True) -> tqdm:
    """Return a progress bar of bytes on stderr."""
    return tqdm(total=total, desc=name, unit="B", unit_scale=True, leave=False, disable=not shown, file=sys.stderr)


def _transfer(url: str, part: Path, note: Path, most: int | None) -> None:
    """Download the missing rest of `part`, or raise an error of `requests`."""
    headers = {"Accept-Encoding": "identity"}
    if mark := _mark(url, part, note):
        headers |= {"Range": f"bytes={part.stat().st_size}-", "If-Range": mark}
    answer = requests.get(url, headers=headers, stream=True, timeout=TIMEOUT)
    NETWORK.answering.add(host_of(url))
    if answer.status_code in (requests.codes.ok, requests.codes.requested_range_not_satisfiable):
        part.write_bytes(b"")  # the server sends the whole file, or the part is longer than the file
        new = answer.headers.get("ETag") or answer.headers.get("Last-Modified") or ""
        # a weak tag may belong to other bytes; a server that sends all of the same file cannot resume
        new = "" if new.startswith("W/") or new == mark else new
        note.write_text(json.dumps({"url": without_password(url), "mark": new}), encoding="utf-8")
    answer.raise_for_status()
    more = int(answer.headers.get("Content-Length") or 0)
    _check_length(part.stat().st_size + more, most)
    with part.open("ab") as out, bytes_bar(more, part.name.removesuffix(".part")) as bar:
        for chunk in answer.iter_content(_CHUNK):
            _check_length(out.tell() + len(chunk), most)
            bar.update(out.write(chunk))


def _check_length(length: int, most: int | None) -> None:
    if most is not None and length > most:
        raise TooLongError(f"the answer is longer than the {most / 1e6:.3g} MB that the file may have")


def _pause(answer: requests.Response) -> float:
    """Return the seconds to wait that a busy server asks for; a second if it names none, and never long."""
    asked = answer.headers.get("Retry-After", "")
    return min(float(asked), PATIENCE) if asked.isdecimal() else 1.0


def _mark(url: str, part: Path, note: Path) -> str:
    """Return the server's mark of the file that `part` is the start of, or an empty text if it cannot be resumed."""
    try:
        known = json.loads(note.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return ""
    return str(known.get("mark", "")) if known.get("url") == without_password(url) and part.stat().st_size else ""


def _reason(error: RequestException) -> str:
    """Return the cause of an error in a few words, without the object addresses in the message of `requests`."""
    if error.response is not None:
        return f"the server answers {error.response.status_code} {error.response.reason}"
    found = re.search("not known|name resolution|resolve|refused|timed out|certificate", str(error))
    if found is None:
        return _BROKE if isinstance(error, ChunkedEncodingError | ConnectionError) else type(error).__name__
    return found[0] if found[0] in ("refused", "timed out", "certificate") else "name not resolved"


def download_wheel(requirement: str, folder: Path, ignore_requires_python: bool) -> Path:
    """Download a wheel from the package index of the user's pip, without installing it.

    Parameters
    ----------
    requirement : str
        ``name==version``.
    folder : pathlib.Path
        Folder for the wheel.
    ignore_requires_python : bool
        Accept a wheel for another Python; only its data files are used.

    Returns
    -------
    pathlib.Path
        The wheel.

    Raises
    ------
    NotThereError
        If pip is missing, or does not download exactly one wheel.
    """
    NETWORK.ask(INDEX)
    options = "--no-deps --only-binary=:all: --disable-pip-version-check --no-input --quiet --timeout 10 --retries 1"
    command = [sys.executable, "-m", "pip", "download", *options.split(), "--dest", str(folder)]
    command += ["--ignore-requires-python"] if ignore_requires_python else []
    done = subprocess.run([*command, requirement], capture_output=True, text=True, check=False)
    wheels = list(folder.glob("*.whl"))
    if done.returncode == 0 and len(wheels) == 1:
        return wheels[0]
    if re.search("NewConnection|ConnectTimeout|name resolution|Max retries|timed out|ProxyError|refused", done.stderr):
        NETWORK.failed(INDEX, "no connection")
    message = done.stderr.strip().splitlines()
    raise NotThereError(f"wheel {requirement}: {message[-1] if message else f'pip downloaded {len(wheels)} files'}")
