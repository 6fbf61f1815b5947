"""Nothing from a file steers a terminal or becomes markup. Oracle: a Markdown library renders the text itself."""

import html
import os
import sys
from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from sensorprivacy.progress import terminal
from sensorrelease.printing import markdown, steady_streams, visible

HOSTILE = [
    "<script>alert(1)</script>",
    "![x](http://evil.example/p.png)",
    "[click](javascript:alert(1))",
    "# heading",
    "1. item",
    "12) item",
    "- item",
    "a\n\n# heading\n",
    "`code` ``more``",
    "x|y",
    "_em_ __strong__ *em*",
    "<https://evil.example>",
    "https://evil.example www.evil.example a@evil.example",
    "&lt;b&gt; &#60;",
    "$x$ ~~gone~~",
    ":::{note}",
    "% comment",
    "(target)=",
    "===",
    "> quote",
    "[^1]: note",
    "\\",
    "\x1b]0;title\x07\x9b2J\u202egnp.exe",
]


@pytest.mark.parametrize("text", ["\x1b[31m", "\x9b2J", "a\rb", "\x7f", "\u202e", "\u2028", "\udc80", "\x00", "\x08"])
def test_control_characters_are_shown(text):
    shown = visible(text)
    assert shown.isprintable()
    assert shown == text.encode("unicode_escape").decode()


def test_lines_and_words_stay():
    text = "café 温度\tü\nnext"
    assert visible(text) == text
    assert visible(text, one_line=True) == "café 温度\\tü\\nnext"


def test_everything_printed_is_visible_and_bars_are_not(capfd):
    with steady_streams():
        print("page \x1b[2J")
        print("error \x9b2J", file=sys.stderr)
        terminal(sys.stderr).write("\r\x1b[K")
    out, err = capfd.readouterr()
    assert out == "page \\x1b[2J\n"
    assert "error \\x9b2J" in err
    assert err.endswith("\r\x1b[K")
    assert err.count("\x1b") == 1


def rendered(text):
    return MarkdownIt("gfm-like", {"linkify": False}).render(f"- Name: {markdown(text)} end\n\n{markdown(text)}")


@pytest.mark.parametrize("text", HOSTILE)
def test_markup_becomes_text(text):
    shown = html.escape(visible(text, one_line=True).strip())
    assert rendered(text).replace("'", "&#x27;") == f"<ul>\n<li>Name: {shown} end</li>\n</ul>\n<p>{shown}</p>\n"


@given(st.text(st.sampled_from("ab1 _*`[]()<>!#+-=|~&\\:./@$%{}^\"'\n\t"), min_size=1, max_size=12))
@example("a_b_c")
@example("_a_")
def test_any_text_is_rendered_as_itself(text):
    shown = html.escape(visible(text, one_line=True).strip())
    if shown:
        found = MarkdownIt("gfm-like", {"linkify": False}).render(f"x\n\n{markdown(text)}\n\ny")
        assert found.replace("'", "&#x27;") == f"<p>x</p>\n<p>{shown}</p>\n<p>y</p>\n"


def test_usual_names_stay_readable():
    for name in ("heart_rate", "gyro.x", "noise:epsilon=4", "method:pca", "Température (°C)", "-", "3.5 to 4"):
        assert markdown(name).replace("\\", "") == name
    for name in ("heart_rate, gyro.x, lux", "noise:epsilon=4", "95.3 % of 1,000 rows (by whole groups)"):
        assert markdown(name) == name


@pytest.fixture
def unread():
    """Return a stream whose reader has ended, as after ``| head``."""
    reader, writer = os.pipe()
    os.close(reader)
    with os.fdopen(writer, "w") as stream:
        yield stream


@pytest.mark.parametrize("name", ["stdout", "stderr"])
@pytest.mark.parametrize("shown", [True, False])
def test_work_goes_on_when_the_reader_has_ended(monkeypatch, unread, name, shown):
    done = []
    monkeypatch.setattr(sys, name, unread)
    with steady_streams(shown=shown):
        for _ in range(3):
            print("x" * 100_000, file=getattr(sys, name), flush=True)
        done.append(1)
    assert done == [1]


def test_work_goes_on_without_a_terminal(monkeypatch):
    monkeypatch.setattr(sys, "stdout", None)
    monkeypatch.setattr(sys, "stderr", None)
    with steady_streams():
        print("x")
        print("x", file=sys.stderr)


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="a device of Linux")
def test_a_full_disk_below_the_output_is_an_error_at_the_end(monkeypatch):
    done = []
    with Path("/dev/full").open("w") as full:
        monkeypatch.setattr(sys, "stdout", full)
        streams = steady_streams()
        streams.__enter__()
        print("x")
        done.append(1)
        with pytest.raises(OSError, match="the standard output cannot be written: No space left"):
            streams.__exit__(None, None, None)
    assert done == [1]
