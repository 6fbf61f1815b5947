"""End processes together with those that they started, however they end.

`reproduce` starts Snakemake, Snakemake starts ``compendium run``, and that starts a kernel. Ctrl-C
and SIGTERM leave time to end the others. A process that is killed has no time, so its descendants watch for its end:
they wait for a file lock that it holds, which the operating system releases with the process.
"""

import os
import signal
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from functools import cache
from pathlib import Path

import filelock
import psutil  # type: ignore[import-untyped]

from sensorprivacy.parents import ENDS
from sensorprivacy.paths import temporary_files

LIFELINE = "SENSORPRIVACY_LIFELINE"  # environment variable: the lock file that descendants watch
# Exit codes that shells report.
TERMINATED, INTERRUPTED = 128 + signal.SIGTERM, 128 + signal.SIGINT
_SECONDS = 0.5  # between two looks at the lock


@contextmanager
def lifeline(folder: Path) -> Iterator[None]:
    """Hold a lock that all processes started meanwhile watch; an environment variable names it to them.

    Parameters
    ----------
    folder : path
        Folder for the lock file. A lock file of a killed process is removed first, and its descendants get the time to
        end, so that no notebook runs twice at once.
    """
    stale = list(folder.glob("lifeline-*.lock"))
    for path in stale:
        path.unlink(missing_ok=True)
    time.sleep(4 * _SECONDS if stale else 0)
    own = folder / f"lifeline-{os.getpid()}.lock"
    with filelock.FileLock(own), temporary_files():
        os.environ[LIFELINE] = str(own)
        try:
            yield
        finally:
            del os.environ[LIFELINE]
            own.unlink(missing_ok=True)


def guard() -> None:
    """Make this process end its children when it gets SIGTERM or SIGHUP, or when the process above it ends.

    Above it is the process that holds the lifeline, or the ``make`` that started it.
    """
    for each in ENDS:
        if signal.getsignal(each) == signal.SIG_DFL:  # nohup ignores SIGHUP
            signal.signal(each, lambda *_: _end())
    end_with_make()
    if path := os.environ.get(LIFELINE):
        threading.Thread(target=_watch, args=(path,), daemon=True).start()


@cache
def end_with_make() -> None:
    """Let this process and its children end with the ``make`` that started it, if it was one."""
    parents = psutil.Process().parents() if "MAKELEVEL" in os.environ else []
    for above in [each for each in parents if each.name() in ("make", "gmake")][:1]:
        threading.Thread(target=_watch_process, args=(above,), daemon=True).start()


def _watch_process(above: psutil.Process) -> None:
    with suppress(psutil.NoSuchProcess):
        while above.is_running() and above.status() != psutil.STATUS_ZOMBIE:
            time.sleep(_SECONDS)
    _end()


def end_children(patience: float = 0) -> None:
    """End all descendants of this process.

    Parameters
    ----------
    patience : float, default=0
        Seconds to wait for them to end by themselves, before they get SIGTERM. After one more second, they are killed.
    """
    children = [each for each in psutil.Process().children(recursive=True) if not _removes_leftovers(each)]
    _, alive = psutil.wait_procs(children, timeout=patience)
    for end in (psutil.Process.terminate, psutil.Process.kill):
        for child in alive:
            with suppress(psutil.NoSuchProcess):
                end(child)
        _, alive = psutil.wait_procs(alive, timeout=1)


def _removes_leftovers(process: "psutil.Process") -> bool:
    """Return whether a process removes what workers leave, such as shared memory, and then ends by itself."""
    import psutil

    try:
        return any("resource_tracker" in word for word in process.cmdline())
    except psutil.Error:
        return False


def _watch(path: str) -> None:
    filelock.FileLock(path).acquire(poll_interval=_SECONDS)  # returns when the holder has ended
    _end()


def _end() -> None:
    end_children()
    os._exit(TERMINATED)  # the only exit that a thread can take for the whole process


if __name__ == "__main__":  # python -m compendium.run.processes MODULE WORDS: run a module that ends with us
    import runpy

    guard()
    sys.argv = sys.argv[1:]
    runpy.run_module(sys.argv[0], run_name="__main__", alter_sys=True)
