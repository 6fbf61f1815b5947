"""The time that a comparison may take: by the clock, and for main methods by the processor."""

import os
import time

_OVERRUN, _OVERRUN_SECONDS = 0.05, 2.0  # a defence may end this much after the budget, then it is stopped
_MAIN = 3.0  # the first of a family is started if it is expected to take up to so many times the time that is left
_PATIENCE = 3.0  # by the clock, main methods end after so many times the budget, however loaded the machine is


def busy() -> float:
    """Return the processor time of this process and its ended children, in seconds."""
    return sum(os.times()[:4])


class Budget:
    """Time that a comparison may take.

    Variants count time by the clock. The first defence of each family counts the processor time of this process: other
    programs may take most of a machine, and must not decide which kinds of defences are tried.

    Parameters
    ----------
    seconds : float
        The budget.
    began : float, optional
        Value of ``time.monotonic()`` when it began. Default: now.
    """

    def __init__(self, seconds: float, began: float | None = None) -> None:
        self.seconds, self.began = seconds, time.monotonic() if began is None else began
        self._busy = busy() - (time.monotonic() - self.began)  # before, this process had the processor to itself

    @property
    def spent(self) -> float:
        """Seconds by the clock."""
        return time.monotonic() - self.began

    @property
    def pace(self) -> float:
        """Seconds by the clock for each second of the processor so far: above 1 under load, below with threads."""
        return self.spent / max(busy() - self._busy, 0.001)

    def left(self, main: bool) -> float:
        """Return the seconds that are left; of a main method, those that this process would need alone."""
        spent = self.spent
        if not main:
            return self.seconds - spent
        return min(self.seconds - spent / max(self.pace, 1.0), _PATIENCE * self.seconds - spent)

    def allows(self, expected: float, main: bool) -> bool:
        """Return whether a defence may start that is expected to take so many seconds of the processor."""
        if main:
            return expected * min(self.pace, 1.0) <= self.left(main) * _MAIN
        return expected * self.pace <= self.left(main)

    def stop(self, main: bool) -> float:
        """Return after how many seconds by the clock a running defence is stopped."""
        left = self.left(main)
        if main:
            left = min(left * max(self.pace, 1.0), _PATIENCE * self.seconds - self.spent)
        return left + _OVERRUN * self.seconds + _OVERRUN_SECONDS
