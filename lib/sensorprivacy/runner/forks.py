"""Start runs and their kernels as forks of one process that has imported their packages.

Each run needs a process for papermill and another one for its kernel. Both import packages, which takes several seconds
of a processor, and `reproduce` has about fifty runs. So it starts one more process, the *source*. The source imports
what a notebook imports, once, and every run and kernel is a fork of it. A fork has its own arguments, environment,
working folder, streams and random numbers, as a new process has. It ends with the process that asked for it.

The source itself computes nothing, draws no random numbers and starts no threads, because a fork would share or lose
them. (PyArrow's allocator has a thread, and starts it again in a fork.) This works on Linux only. A program runs as a
new process where there is no source, where the source's packages were imported with other settings, or where the
library has changed since.
"""

import gc
import importlib
import json
import os
import random
import re
import runpy
import select
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from functools import cache
from pathlib import Path
from typing import Any

from sensorprivacy.paths import project_root
from sensorprivacy.runner.processes import TERMINATED, end_children

DOOR = "SENSORPRIVACY_FORKS"
"""Environment variable: the socket on which the source listens."""

_ALWAYS = ("sensorprivacy.cli", "papermill", "ipykernel.kernelapp")  # what every run and kernel needs
_READ_AT_IMPORT = re.compile(r"\w+_(NUM_THREADS|MAXIMUM_THREADS)|(OMP|KMP|MKL|OPENBLAS|NUMBA|CUDA|MPL|LD|PYTHON)_?\w+")
_THREADED = ("onnxruntime",)  # start a thread when they are imported
_LATE = re.compile(r"^ +(?:import|from) (shap|sklearn\.\w+)\b", re.MULTILINE)  # what functions import, and runs use
_SIZE = 8  # bytes of the length of a request


class Fork:
    """A process that the source has forked for us; its methods are those of `subprocess.Popen`.

    Attributes
    ----------
    pid : int
        Its number.
    returncode : int or None
        Its exit code, once it has ended; 143 if it ended without saying one.
    """

    stdin = stdout = stderr = None

    def __init__(self, line: socket.socket, pid: int) -> None:
        self.pid = pid
        self.returncode: int | None = None
        self._line = line

    def poll(self) -> int | None:
        """Return the exit code, or None while it runs."""
        if self.returncode is None and select.select([self._line], [], [], 0)[0]:
            self.wait()
        return self.returncode

    def wait(self) -> int:
        """Wait for its end and return the exit code."""
        if self.returncode is None:
            with suppress(ConnectionResetError):
                self.returncode = int(_read_line(self._line) or TERMINATED)
                _read_line(self._line)  # it has ended when it has closed the line
            self.returncode = TERMINATED if self.returncode is None else self.returncode
            self._line.close()
        return self.returncode

    def send_signal(self, number: int) -> None:
        """Send a signal."""
        if self.poll() is None:
            os.kill(self.pid, number)

    def terminate(self) -> None:
        """Send SIGTERM."""
        self.send_signal(signal.SIGTERM)

    def kill(self) -> None:
        """Send SIGKILL."""
        self.send_signal(signal.SIGKILL)


@contextmanager
def source() -> Iterator[None]:
    """Start the source, and end it afterwards; an environment variable names it to all processes started meanwhile.

    It imports nothing until the first program asks for a fork.
    """
    if sys.platform != "linux":
        yield
        return
    with tempfile.TemporaryDirectory(prefix="sensorprivacy-", ignore_cleanup_errors=True) as folder:
        door = str(Path(folder) / "door")
        child = _start(door)
        if child is None:
            yield
            return
        with child:
            os.environ[DOOR] = door
            try:
                yield
            finally:
                del os.environ[DOOR]
                child.stdin.close()  # type: ignore[union-attr]


def _start(door: str) -> subprocess.Popen[bytes] | None:
    """Start the source behind this socket. Return None if the path is too long for a socket."""
    with socket.socket(socket.AF_UNIX) as listening:
        try:
            listening.bind(door)
        except OSError:
            return None
        listening.listen()
        number = listening.fileno()
        # It ends when its standard input ends, which is when we end, in whatever way.
        return subprocess.Popen(
            [sys.executable, "-m", __name__, "--serve", door, str(number)],
            cwd=project_root(),
            pass_fds=[number],
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )


def ask(
    words: Sequence[str],
    *,
    environment: Mapping[str, str] | None = None,
    folder: str | Path | None = None,
    notebook: str | None = None,
    new_session: bool = False,
) -> Fork | None:
    """Ask the source for a fork that runs ``python -m <words>``.

    Parameters
    ----------
    words : sequence of str
        The module and its arguments.
    environment : mapping of str to str, optional
        Its environment; ours by default.
    folder : path, optional
        Its working folder; ours by default.
    notebook : str, optional
        A notebook. The source first imports what the notebook imports from the library, for this fork and later ones.
    new_session : bool, default=False
        Whether it gets a session of its own, which Ctrl-C in the terminal does not reach.

    Returns
    -------
    Fork or None
        None if there is no source, or it refuses because a fork would differ from a new process.
    """
    path = os.environ.get(DOOR)
    if path is None:
        return None
    request = {
        "words": list(words),
        "environment": dict(os.environ if environment is None else environment),
        "folder": str(Path.cwd() if folder is None else folder),
        "notebook": notebook,
        "new_session": new_session,
    }
    text = json.dumps(request).encode()
    line = socket.socket(socket.AF_UNIX)
    try:
        line.connect(path)
        with Path(os.devnull).open("rb") as nothing:
            socket.send_fds(line, [len(text).to_bytes(_SIZE, "big")], [nothing.fileno(), 1, 2])
        line.sendall(text)
        pid = _read_line(line)
    except OSError:  # the source has ended
        pid = ""
    if not pid:
        line.close()
        return None
    return Fork(line, int(pid))


def _read_line(line: socket.socket) -> str:
    """Return the next line without its end; empty if the other side has closed the connection."""
    text = b""
    while not text.endswith(b"\n"):
        more = line.recv(1)
        if not more:
            return ""
        text += more
    return text.decode().strip()


def serve(door: str, number: int) -> int:
    """Be the source: fork for every program that asks, until the standard input ends or Ctrl-C.

    Parameters
    ----------
    door : str
        Path of the socket.
    number : int
        File descriptor of the socket.

    Returns
    -------
    int
        The exit code. A fork returns from here as well, with that of its program.
    """
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # the system removes forks that have ended
    loaded = None
    try:
        with socket.socket(fileno=number) as listening:
            while True:
                ready, _, _ = select.select([listening, sys.stdin], [], [])
                if sys.stdin in ready:
                    break
                line, _ = listening.accept()
                with line, suppress(OSError, EOFError):
                    request, streams = _receive(line)
                    settings = _settings(request["environment"])
                    if loaded is None:
                        os.environ.update(request["environment"])
                        loaded = settings
                    if settings == loaded:
                        _load(request["notebook"])
                        if os.fork() == 0:
                            listening.close()
                            return _become(request, streams, line.dup())
                    for stream in streams:
                        os.close(stream)
    except KeyboardInterrupt:
        with suppress(ChildProcessError):
            os.waitpid(-1, 0)  # the forks are interrupted as well; this returns when the last one has ended
    shutil.rmtree(Path(door).parent, ignore_errors=True)  # if reproduce was killed, nobody else does
    return 0


def _receive(line: socket.socket) -> tuple[dict[str, Any], list[int]]:
    head, streams, _, _ = socket.recv_fds(line, _SIZE, 3)
    left, parts = int.from_bytes(head, "big"), []
    while left:
        part = line.recv(left)
        if not part:
            raise EOFError
        parts.append(part)
        left -= len(part)
    return json.loads(b"".join(parts)), list(streams)


def _settings(environment: Mapping[str, str]) -> tuple[dict[str, str], dict[str, int]]:
    """Return what imported packages depend on: some variables, and when each file of the library was changed."""
    read = {name: value for name, value in environment.items() if _READ_AT_IMPORT.fullmatch(name)}
    package = Path(__file__).parents[1]
    return read, {str(path): path.stat().st_mtime_ns for path in package.rglob("*.py")}


@cache
def _load(notebook: str | None) -> None:
    """Import what every run needs, and the part of the library that a notebook imports."""
    from sensorprivacy.runner.dependencies import package_files

    # A kernel sets this before it imports matplotlib.
    os.environ.setdefault("MPLBACKEND", "module://matplotlib_inline.backend_inline")
    lib = project_root() / "lib"
    files = [] if notebook is None else package_files(project_root() / notebook, lib)
    code = [path for path in files if path.suffix == ".py"]
    modules = [".".join(path.relative_to(lib).with_suffix("").parts).removesuffix(".__init__") for path in code]
    late = {name for path in code for name in _LATE.findall(path.read_text(encoding="utf-8"))}
    # With None, they cannot be imported here. What needs them is imported in the fork.
    sys.modules.update(dict.fromkeys(_THREADED))  # type: ignore[arg-type]
    for name in (*_ALWAYS, *modules, *sorted(late)):
        with suppress(ImportError):
            importlib.import_module(name)
    for name in _THREADED:
        del sys.modules[name]
    gc.collect()
    gc.freeze()  # the collector of a fork leaves these objects, and so the memory that all share


def _become(request: Mapping[str, Any], streams: Sequence[int], line: socket.socket) -> int:
    """Run a program in this fork, tell its exit code, and return it."""
    for number, stream in enumerate(streams):
        os.dup2(stream, number)
        os.close(stream)
    if request["new_session"]:
        os.setsid()
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    signal.signal(signal.SIGINT, signal.default_int_handler)
    os.chdir(request["folder"])
    os.environ.clear()
    os.environ.update(request["environment"])
    random.seed()
    if "numpy" in sys.modules:
        sys.modules["numpy"].random.seed()
    threading.Thread(target=_end_with, args=(line.dup(),), daemon=True).start()
    line.sendall(f"{os.getpid()}\n".encode())
    code = _run(request["words"])
    sys.stdout.flush()
    with suppress(OSError):
        line.sendall(f"{code}\n".encode())
    return code


def _end_with(line: socket.socket) -> None:
    """End this process and its children when the process at the other end of the line has ended."""
    with suppress(OSError):
        line.recv(1)
    end_children()
    os._exit(TERMINATED)


def _run(words: Sequence[str]) -> int:
    """Run ``python -m <words>`` here, and return its exit code."""
    sys.argv = list(words)
    try:
        runpy.run_module(words[0], run_name="__main__", alter_sys=True)
    except SystemExit as end:
        return end.code if isinstance(end.code, int) else int(end.code is not None)
    except BaseException:
        sys.excepthook(*sys.exc_info())
        return 1
    return 0


def main(words: Sequence[str]) -> int:
    """Run ``MODULE WORDS``: a module as ``python -m`` runs it, in a fork if there is a source, or else here."""
    if words[0] == "--serve":
        return serve(words[1], int(words[2]))
    fork = ask(words)
    if fork is None:
        return _run(words)
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C reaches the fork as well, which then ends
    return fork.wait()


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
