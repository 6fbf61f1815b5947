"""Show control characters as text wherever text leaves: a file must not steer a terminal or reorder a line."""

import re
import sys
from collections.abc import Iterator
from contextlib import contextmanager, redirect_stderr, redirect_stdout
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


class _Visible:
    """A stream that shows control characters; ``raw`` is the stream below, for progress bars."""

    def __init__(self, raw: Any) -> None:
        self.raw = raw

    def write(self, text: str) -> int:
        return int(self.raw.write(visible(text)))

    def __getattr__(self, name: str) -> Any:
        return getattr(self.raw, name)


@contextmanager
def visible_streams() -> Iterator[None]:
    """Show the control characters of everything that a block prints: pages, notices, errors, warnings, tracebacks."""
    with redirect_stdout(_Visible(sys.stdout)), redirect_stderr(_Visible(sys.stderr)):
        yield
