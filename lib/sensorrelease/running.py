"""Stop work when its time is over or its process is told to end, and print warnings as plain notices."""

import signal
import sys
import threading
import time
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from sensorprivacy.parents import ENDS
from sensorrelease.printing import visible

_NEVER = 1e8  # seconds
_AGAIN = 0.5  # seconds until the next attempt, if the work caught the first exception


class OutOfTimeError(BaseException):
    """Raised inside work that is out of time; no ``except Exception`` of the work catches it."""


@contextmanager
def at_most(seconds: float) -> Iterator[None]:
    """Raise `OutOfTimeError` in a block that runs longer than some seconds.

    A timer of the operating system interrupts Python code: loops, waiting, the training of a forest between two trees.
    One call into compiled code ends first. Only the main thread can be interrupted; other threads run to the end. So
    does everything on Windows, which has no such timer.

    Parameters
    ----------
    seconds : float
        Time of the block.
    """
    in_main = threading.current_thread() is threading.main_thread()
    if not (in_main and hasattr(signal, "setitimer")) or seconds > _NEVER:
        yield
        return
    running = [True]

    def stop(*_: Any) -> None:
        if running:
            raise OutOfTimeError

    began, handler = time.perf_counter(), signal.signal(signal.SIGALRM, stop)
    left, interval = signal.setitimer(signal.ITIMER_REAL, max(seconds, 0.001), _AGAIN)
    try:
        try:
            yield
        finally:
            running.clear()
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, handler)
        if left:  # another timer was running, such as that of pytest-timeout
            signal.setitimer(signal.ITIMER_REAL, max(left - (time.perf_counter() - began), 0.001), interval)


@contextmanager
def unwound_by_sigterm() -> Iterator[None]:
    """Let SIGTERM and SIGHUP end a block as an exception does, so that hidden files are removed.

    The exit codes are 143 and 129. A signal that is ignored, as by ``nohup``, stays so.
    """
    in_main = threading.current_thread() is threading.main_thread()
    ends = [each for each in ENDS if in_main and signal.getsignal(each) == signal.SIG_DFL]
    for each in ends:
        signal.signal(each, lambda number, _: sys.exit(128 + number))
    try:
        yield
    finally:
        for each in ends:
            signal.signal(each, signal.SIG_DFL)


@contextmanager
def plain_notices() -> Iterator[None]:
    """Print each warning for the user once, as one line on standard error; other warnings stay as they are.

    Examples
    --------
    >>> with plain_notices():
    ...     warnings.warn("2 gaps")
    """
    said: set[str] = set()
    before = warnings.showwarning

    def show(message: Any, category: type[Warning], *rest: Any, **options: Any) -> None:
        if category is not UserWarning:
            before(message, category, *rest, **options)
        elif str(message) not in said:
            said.add(str(message))
            print(f"note: {visible(str(message), one_line=True)}", file=sys.stderr)

    with warnings.catch_warnings():
        warnings.filterwarnings("always", category=UserWarning)
        warnings.filterwarnings("ignore", "DataFrame is highly fragmented")  # a wide table is no fault of its user
        warnings.showwarning = show
        yield
