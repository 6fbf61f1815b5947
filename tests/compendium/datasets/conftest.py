"""A machine without any data, a toy catalogue, and a small web server that can break off."""

import contextlib
import hashlib
import http.server
import io
import re
import tarfile
import textwrap
import threading
import tomllib
import zipfile
from pathlib import Path
from types import SimpleNamespace

import pytest

from compendium.datasets import catalogue as catalogue_module


def sha(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


def zipped(files: dict[str, bytes]) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in files.items():
            archive.writestr(name, content)
    return buffer.getvalue()


def tarred(files: dict[str, bytes], mode: str = "w:xz") -> bytes:
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode=mode) as archive:
        for name, content in files.items():
            member = tarfile.TarInfo(name)
            member.size = len(content)
            archive.addfile(member, io.BytesIO(content))
    return buffer.getvalue()


def put(folder: Path, files: dict[str, bytes]) -> None:
    for name, content in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(content)


A = b"a,b\n" + b"1,2\n" * 50
B = b"the second member\n"
LISTED = {f"walk_{trial}/sub_{person}.csv": b"%d,%d\n" % (trial, person) for trial in (1, 2) for person in (1, 2, 3)}


def listing_of(prefix: str, files: dict[str, bytes]) -> str:
    """Return the digest as shared/data/README.md defines it, written apart from the library."""
    lines = "".join(f"{sha(files[name])}  {prefix}{name}\n" for name in sorted(files))
    return sha(lines.encode())


TOY = f"""
[toy]
title = "Toy"
role = "tests"
folder = "toy-folder"
licence = "none"
citation = "none"
homepage = ""
counts = "two files"
how = "make it yourself"
download_mb = 40
mirror = ["toy.zip"]
[toy.forms.plain]
"a.csv" = {{ size = {len(A)}, sha256 = "{sha(A)}" }}
"deep/b.txt" = {{ size = {len(B)}, sha256 = "{sha(B)}" }}
"notes.txt" = {{ size = 5, sha256 = "{sha(b"notes")}", optional = true }}
[toy.forms.wheel]
"both.bin" = {{ size = {len(A + B)}, sha256 = "{sha(A + B)}" }}
ORIGINS

[walks]
title = "Walks"
role = "tests"
folder = "walks"
licence = "none"
citation = "none"
homepage = ""
counts = "six files"
how = "walk"
download_mb = 1
mirror = ["walks.tar.xz", "people.csv"]
[walks.forms.csv]
"people.csv" = {{ size = {len(B)}, sha256 = "{sha(B)}" }}
[walks.listings.csv]
tail = 'walk_\\d+/sub_\\d+\\.csv'
prefix = "top/"
count = 6
size = {sum(map(len, LISTED.values()))}
sha256 = "{listing_of("top/", LISTED)}"

[large]
title = "Large"
role = "tests"
folder = "large"
licence = "none"
citation = "none"
homepage = ""
counts = "one file"
how = "carry it"
download_mb = 72
[large.forms.plain]
"a.csv" = {{ size = {len(A)}, sha256 = "{sha(A)}" }}
[[large.origins]]
form = "plain"
url = "http://127.0.0.1:9/never.zip"

[asked]
title = "Asked for"
role = "tests"
folder = "asked"
licence = "on request"
citation = "none"
homepage = ""
counts = "?"
how = "ask the owner"
patterns = ["*.csv"]
"""


def toy_text(*origins: str) -> str:
    """Return the toy catalogue; each origin is the TOML after ``[[toy.origins]]``."""
    return TOY.replace("ORIGINS", "\n".join(f"[[toy.origins]]\n{textwrap.dedent(origin)}" for origin in origins))


def use_text(text: str) -> None:
    """Put a catalogue in place of the real one, in this process (tests in other processes call it there)."""
    entries = {name: catalogue_module.read_entry(name, entry) for name, entry in tomllib.loads(text).items()}
    catalogue_module.catalogue = lambda: entries


@pytest.fixture
def cache(tmp_path):
    return tmp_path / "cache"


@pytest.fixture
def toys(machine, monkeypatch):
    """Install the toy catalogue; call with origins to give the toy set some."""
    monkeypatch.setattr(catalogue_module, "catalogue", catalogue_module.catalogue)  # so that it comes back
    use_text(toy_text())
    return lambda *origins: use_text(toy_text(*origins))


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_GET(self):
        web = self.server.web
        content = web.files.get(self.path)
        web.asked.append((self.path, self.headers.get("Range")))
        if web.password and self.headers.get("Authorization") != web.password:
            self.send_error(401)
            return
        if content is None:
            self.send_error(404)
            return
        if web.busy:
            web.busy -= 1
            self.send_response(503)
            self.send_header("Retry-After", "0")
            self.send_header("Content-Length", "0")
            self.end_headers()
            return
        if web.endless:
            self.send_response(200)
            self.send_header("Transfer-Encoding", "chunked")
            self.end_headers()
            with contextlib.suppress(ConnectionError):
                while True:
                    self.wfile.write(b"4000\r\n" + bytes(0x4000) + b"\r\n")
                    web.sent += 0x4000
            self.close_connection = True
            return
        start, code = 0, 200
        wanted = re.match(r"bytes=(\d+)-", self.headers.get("Range", ""))
        if wanted and web.ranges and self.headers.get("If-Range", web.tag) == web.tag:
            start, code = int(wanted[1]), 206
            if start >= len(content):
                self.send_response(416)
                self.send_header("Content-Length", "0")
                self.end_headers()
                return
        self.send_response(code)
        self.send_header("Content-Length", str(len(content) - start))
        if web.tag:
            self.send_header("ETag", web.tag)
        if code == 206:
            self.send_header("Content-Range", f"bytes {start}-{len(content) - 1}/{len(content)}")
        self.end_headers()
        body = content[start:]
        if web.break_after:
            body, self.close_connection = body[: web.break_after.pop(0)], True
        if web.hold is not None:
            self.wfile.write(body[: len(body) // 2])
            self.wfile.flush()
            web.hold.wait(20)
            body = body[len(body) // 2 :]
        web.sent += len(body)
        try:
            self.wfile.write(body)
        except (BrokenPipeError, ConnectionResetError):
            self.close_connection = True

    def log_message(self, *_):
        pass


class Web:
    """Files by path, and what was asked for; it breaks off after so many bytes, once an entry of `break_after`.

    It answers `busy` times that it is busy, sends an `endless` answer, or asks for a `password`, if it is told to.
    """

    def __init__(self):
        self.files, self.asked, self.break_after = {}, [], []
        self.ranges, self.tag, self.sent, self.hold = True, '"one"', 0, None
        self.busy, self.endless, self.password = 0, False, ""
        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.server.daemon_threads = True
        self.server.web = self
        self.url = f"http://127.0.0.1:{self.server.server_port}"
        self.thread = threading.Thread(target=self.server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
        self.thread.start()


@pytest.fixture
def web():
    served = Web()
    yield served
    served.server.shutdown()
    served.server.server_close()


@pytest.fixture(scope="session")
def kit():
    """What tests make files with (test modules cannot import this one)."""
    return SimpleNamespace(
        A=A, B=B, LISTED=LISTED, sha=sha, zipped=zipped, tarred=tarred, put=put, toy_text=toy_text, path=Path(__file__)
    )
