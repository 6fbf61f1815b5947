"""End a worker with its parent: a killed process cannot end its workers. Without imports that delay the watch."""

import os
import signal
import time
from contextlib import suppress
from threading import Thread

ENDS = [signal.SIGTERM, *([signal.SIGHUP] if hasattr(signal, "SIGHUP") else [])]  # "end", and a closed terminal


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
