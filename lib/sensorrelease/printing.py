"""Show control characters as text wherever text leaves: a file must not steer a terminal or reorder a line."""

import os
import re
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, redirect_stderr, redirect_stdout, suppress
from pathlib import Path
from typing import Any

# Control characters besides tab and newline, marks that reorder text, line separators, and halves of characters
_CONTROL = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff]")
_BREAKS = re.compile(f"[\t\n]|{_CONTROL.pattern}")
# What Markdown reads as markup: anywhere, at the start of a block, and as the start of a link
_MARKUP = re.compile(r"[\\`*\[\]<&|~$@]|(?<![^\W_])_|_(?![^\W_])|:(?=//)|(?<=www)\.|^[#+\-=:%({>]", re.I)
_NUMBERED = re.compile(r"^(\d+)([.)])(?=\s|$)")


def visible(text: str, *, one_line: bool = False) -> str:
    r"""Return a text with its control characters written as Python writes them, such as ``\x1b``.

    Parameters
    ----------
    text : str
        Any text.
    one_line : bool
        Also show tabs and newlines so.

    Examples
    --------
    >>> print(visible("room\x1b[2J"))
    room\x1b[2J
    """
    return (_BREAKS if one_line else _CONTROL).sub(lambda found: found[0].encode("unicode_escape").decode(), text)


def markdown(text: str) -> str:
    r"""Return Markdown that shows a text as it is, on one line: no element, heading, link or image.

    Examples
    --------
    >>> print(markdown("heart_rate ![x](http://h/p.png)"))
    heart_rate !\[x\](http\://h/p.png)
    """
    line = visible(text, one_line=True).strip()
    return _NUMBERED.sub(r"\1\\\2", _MARKUP.sub(lambda found: f"\\{found[0]}", line))


class OutputError(OSError):
    """The standard output cannot be written, such as on a full disk."""


class _Steady:
    """A stream that writes nowhere once nobody reads it, so that the work and its files are finished.

    If `shown`, it shows control characters; ``raw`` does not, for progress bars.
    """

    def __init__(self, stream: Any, *, shown: bool = False) -> None:
        self.error: OSError | None = None
        self.stream = Path(os.devnull).open("w", encoding="utf-8") if stream is None else stream  # noqa: SIM115
        self.shown, self.raw = shown, _Steady(self.stream) if shown else self

    def write(self, text: str) -> int:
        try:
            return int(self.stream.write(visible(text) if self.shown else text))
        except OSError as error:
            self._give_up(error)
        return len(text)

    def flush(self) -> None:
        try:
            self.stream.flush()
        except OSError as error:
            self._give_up(error)

    def _give_up(self, error: OSError) -> None:
        self.error = self.error or error
        nowhere = os.open(os.devnull, os.O_WRONLY)
        with suppress(OSError, ValueError):  # a stream of a test has no number
            os.dup2(nowhere, self.stream.fileno())
        os.close(nowhere)

    def __getattr__(self, name: str) -> Any:
        return getattr(self.stream, name)


@contextmanager
def steady_streams(*, shown: bool = True) -> Iterator[None]:
    """Let a block finish its work whatever happens to the terminal, such as ``| head`` or a closed output.

    Parameters
    ----------
    shown : bool
        Show the control characters of everything that the block prints: pages, notices, errors, warnings, tracebacks.

    Raises
    ------
    OutputError
        At the end, if the output could not be written. A reader that has ended is no error.
    """
    while sys.stdout is None and os.open(os.devnull, os.O_RDWR) < 3:  # no file may get the number of the output
        pass
    out, err = (_Steady(stream, shown=shown) for stream in (sys.stdout, sys.stderr))
    with redirect_stdout(out), redirect_stderr(err):
        try:
            yield
        finally:
            for stream in (out, err):
                stream.flush()
    if (error := out.error) is not None and not isinstance(error, BrokenPipeError):
        raise OutputError(f"the standard output cannot be written: {error.strerror}")


def steadily(command: Callable[[], int], *, shown: bool = True) -> int:
    """Return the exit code of a command that runs within `steady_streams`; 1 if its output could not be written."""
    try:
        with steady_streams(shown=shown):
            return command()
    except OutputError as error:  # everything else is written
        print(f"error: {error}", file=sys.stderr)
        return 1
