"""Progress bars appear where somebody watches: as text on a terminal, as a widget in a live notebook."""

import io
import sys
from types import SimpleNamespace

import pytest

from sensorprivacy import progress
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
        (io.StringIO, True, False, True),  # without ipywidgets, text is shown in a live notebook
        (io.StringIO, True, True, False),
    ],
)
def test_a_bar_is_shown_only_where_somebody_watches(stream, kernel, batch, shown, monkeypatch):
    written = stream()
    monkeypatch.setattr(sys, "stderr", written)
    monkeypatch.delitem(sys.modules, "ipykernel", raising=False)
    monkeypatch.delenv(BATCH, raising=False)
    monkeypatch.setattr(progress, "_widget", lambda: None)
    if kernel:
        monkeypatch.setitem(sys.modules, "ipykernel", object())
        monkeypatch.setattr("IPython.get_ipython", lambda: SimpleNamespace(user_ns={}))
    if batch:
        monkeypatch.setenv(BATCH, "1")
    assert list(tqdm([1, 2], "work", file=written)) == [1, 2]
    assert ("work" in written.getvalue()) == shown


def test_a_process_that_only_imported_ipykernel_is_no_notebook(monkeypatch):
    """A test that started a kernel made the bars of later tests widgets."""
    monkeypatch.setitem(sys.modules, "ipykernel", object())
    monkeypatch.setattr("IPython.get_ipython", lambda: None)
    assert not progress.live_notebook()


def test_a_caller_can_switch_the_bar_off(monkeypatch):
    written = Terminal()
    monkeypatch.setattr(sys, "stderr", written)
    assert list(tqdm([1, 2], "work", disable=True)) == [1, 2]
    assert written.getvalue() == ""


@pytest.fixture
def in_kernel(monkeypatch):
    """Behave as in a Jupyter kernel that has run some cells, and return the list of these cells."""
    cells = ["", "1 + 1"]
    shell = SimpleNamespace(user_ns={"In": cells})
    monkeypatch.setitem(sys.modules, "ipykernel", SimpleNamespace(version_info=(7, 0)))
    monkeypatch.setattr("IPython.get_ipython", lambda: shell)
    monkeypatch.delenv(BATCH, raising=False)
    return cells


def test_a_live_notebook_has_a_widget(in_kernel, monkeypatch):
    notebook = pytest.importorskip("tqdm.notebook")
    if notebook.IProgress is None:
        pytest.skip("ipywidgets is not installed")
    monkeypatch.setattr(notebook, "display", lambda shown: None)
    bar = tqdm([1, 2], "work", leave=False)
    assert type(bar) is notebook.tqdm
    assert list(bar) == [1, 2]
    assert bar.container.children[0].value.startswith("work")


def test_a_hidden_bar_and_a_notebook_without_ipywidgets_have_no_widget(in_kernel, monkeypatch):
    assert type(tqdm([1], disable=True)) is tqdm
    monkeypatch.setattr(progress, "_widget", lambda: None)
    assert type(tqdm([1], file=io.StringIO())) is tqdm


def test_batches_have_no_widget(in_kernel, monkeypatch):
    monkeypatch.setattr(sys, "stderr", io.StringIO())
    in_kernel.append("# Parameters\nseed = 1")  # the cell that papermill adds
    plain = tqdm([1])
    assert (type(plain), plain.disable) == (tqdm, True)
    in_kernel.pop()
    monkeypatch.setenv(BATCH, "1")
    assert type(tqdm([1])) is tqdm
