"""The page that `make reproduce` leaves."""

import re

import nbformat
import pytest

from compendium.book.overview import markdown, write_overview
from compendium.paths import build_dir, figures_dir
from compendium.run.runs import read_runs, select
from compendium.run.states import FAILED, NO_DATA, NOT_RUN, OK, RunState

PNG = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
GOOD, BAD = "20_threeway_example", "21_threeway_division-adult"


@pytest.fixture
def states(tmp_path, monkeypatch, root):
    """Return how the runs ended in a checkout with an executed notebook, and one that failed."""
    for name in ("notebooks", "data", "lib", "runs.yaml"):
        (tmp_path / name).symlink_to(root / name)
    monkeypatch.setenv("SENSORPRIVACY_HOME", str(tmp_path))
    new = nbformat.v4
    shown = [
        new.new_output(
            "display_data", data={"text/html": "<table><tr><td>4.2</td></tr></table>", "text/plain": "plain"}
        ),
        new.new_output("display_data", data={"image/png": PNG}),
        new.new_output("stream", text="1 < 2\n"),
        new.new_output("stream", name="stderr", text="a warning"),
    ]
    failed = [new.new_output("error", ename="KeyError", evalue="x", traceback=["\x1b[31mKeyError\x1b[0m: <x>"])]
    folder = build_dir() / "executed" / "quick"
    folder.mkdir(parents=True)
    text = new.new_markdown_cell("# A *title*\n\n* one <b>\n* [two](https://example.org)")
    for name, outputs in {GOOD: shown, f"{BAD}.unfinished": failed}.items():
        cells = [text, new.new_code_cell("a = 1 < 2", outputs=outputs)]
        nbformat.write(new.new_notebook(cells=cells), folder / f"{name}.ipynb")
    runs = select(read_runs(), [], "quick")
    return dict.fromkeys(runs, RunState(NO_DATA, "a long reason")) | {
        GOOD: RunState(OK),
        BAD: RunState(FAILED, "KeyError: <x>"),
    }


def test_every_run_has_a_line_and_every_notebook_a_page(states):
    page = write_overview(states, "quick")
    text = page.read_text()
    assert page == build_dir() / "pages" / "quick" / "index.html"
    assert all(f">{name}<" in text for name in states)
    assert "<td>no data: titanic</td>" in text
    assert "<td>failed: KeyError: &lt;x&gt;</td>" in text
    assert set(re.findall(r'href="([^"]+)"', text)) == {f"{GOOD}.html", f"{BAD}.html"}
    good = (page.parent / f"{GOOD}.html").read_text()
    assert "<h1>A <em>title</em></h1>" in good
    assert '<li>one &lt;b&gt;</li><li><a href="https://example.org">two</a></li>' in good
    assert "<td>4.2</td>" in good
    assert f"data:image/png;base64,{PNG}" in good
    assert "<pre>1 &lt; 2\n</pre>" in good
    assert "plain" not in good
    assert "a warning" not in good
    assert "<pre>KeyError: &lt;x&gt;</pre>" in (page.parent / f"{BAD}.html").read_text()


def test_the_page_comes_out_when_nothing_ran(states):
    text = write_overview(dict.fromkeys(states, RunState(NOT_RUN)), "quick").read_text()
    assert "<img" not in text
    assert "href=" not in text


def test_the_main_picture_of_a_paper_is_embedded(states):
    import base64

    folder = figures_dir("quick") / "21_threeway_division-adult"
    folder.mkdir(parents=True)
    (folder / "partition.png").write_bytes(base64.b64decode(PNG))
    assert write_overview(states, "quick").read_text().count(f"data:image/png;base64,{PNG}") == 1


def test_markdown_of_notebooks_becomes_html():
    assert markdown("## Two\nlines `a*b*c`\n\n| a |\n|---|\n| *b* |") == (
        "<h2>Two</h2>\n<p>lines <code>a*b*c</code></p>\n<pre>| a |\n|---|\n| *b* |</pre>"
    )
    assert markdown("the sum $a < b$ of **two**").startswith("<p>the sum <math")
    assert "<mi>a</mi>" in markdown("$$a_1 * b * c$$")
    assert markdown(r"$\nothing{$ and $5") == r"<p>$\nothing{$ and $5</p>"
