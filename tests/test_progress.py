"""Progress bars appear where somebody watches: on a terminal and in a live notebook."""

import io
import sys

import pytest

from sensorprivacy.progress import BATCH, tqdm


class Terminal(io.StringIO):
    """Text that is written to a terminal."""

    def isatty(self):
        return True


@pytest.mark.parametrize(
    ("stream", "kernel", "batch", "shown"),
    [
        (Terminal, False, False, True),
        (io.StringIO, False, False, False),  # a piped log
        (io.StringIO, True, False, True),
        (io.StringIO, True, True, False),
    ],
)
def test_a_bar_is_shown_only_where_somebody_watches(stream, kernel, batch, shown, monkeypatch):
    written = stream()
    monkeypatch.setattr(sys, "stderr", written)
    monkeypatch.delitem(sys.modules, "ipykernel", raising=False)
    monkeypatch.delenv(BATCH, raising=False)
    if kernel:
        monkeypatch.setitem(sys.modules, "ipykernel", object())
    if batch:
        monkeypatch.setenv(BATCH, "1")
    assert list(tqdm([1, 2], "work", file=written)) == [1, 2]
    assert ("work" in written.getvalue()) == shown


def test_a_caller_can_switch_the_bar_off(monkeypatch):
    written = Terminal()
    monkeypatch.setattr(sys, "stderr", written)
    assert list(tqdm([1, 2], "work", disable=True)) == [1, 2]
    assert written.getvalue() == ""
