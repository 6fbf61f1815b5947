"""End workers with their parent: a killed process cannot end them. Without imports that delay a worker's start.

A worker watches its parent, but only from the end of its imports on, and those take seconds on a busy machine. On
Linux a keeper therefore ends the workers that still start: a small process that waits for the end of the parent.
"""

import os
import subprocess
import sys
import time
from contextlib import suppress
from functools import cache
from pathlib import Path
from threading import Thread

_KEEPER = """
import os, sys, time
sys.stdin.buffer.read()  # returns when the parent has ended
mark, since = sys.argv[1].encode(), time.monotonic()
while time.monotonic() - since < 0.5:
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            words, names = (open(f"/proc/{pid}/{part}", "rb").read() for part in ("cmdline", "environ"))
            if mark in names and (b"popen_loky" in words or b"ipykernel" in words):
                os.kill(int(pid), 9)
                since = time.monotonic()
        except OSError:
            pass
    time.sleep(0.05)
"""


def keep_workers() -> None:
    """Make sure that joblib's workers and the kernels that this process starts from now on end with it."""
    _keep(os.getpid())


@cache  # one keeper for each process; its pipe stays open as long as the process lives
def _keep(pid: int) -> tuple[int, subprocess.Popen] | None:
    if not Path("/proc/self").is_dir():
        return None
    mark = f"SENSORPRIVACY_PARENT_{pid}_{time.time_ns()}"  # an environment variable, which descendants inherit
    end, ours = os.pipe()
    words = [sys.executable, "-I", "-S", "-c", _KEEPER, mark]
    keeper = subprocess.Popen(
        words, stdin=end, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True
    )
    os.close(end)
    os.environ[mark] = ""
    return ours, keeper


def end_with(parent: int) -> None:
    """Watch for the end of the process that started this worker. Windows shows no such end."""
    if os.name == "posix" and os.getpid() != parent:
        Thread(target=_watch, args=(parent, os.getppid()), daemon=True).start()


def _watch(parent: int, above: int) -> None:
    with suppress(ProcessLookupError):
        while os.getppid() == above:
            os.kill(parent, 0)  # does nothing to a process that exists
            time.sleep(0.3)
    os._exit(1)
