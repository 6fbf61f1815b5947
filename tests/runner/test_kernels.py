"""Kernels that are forks of the source behave like others."""

import json
import os
import sys

import nbformat
import psutil
import pytest
from jupyter_client.provisioning.factory import KernelProvisionerFactory

from sensorprivacy.runner import forks
from sensorprivacy.runner.execute import NotebookFailedError, run

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="forks are used on Linux only")
REPORT = """
import json, os, signal, sys
from pathlib import Path
loaded = "sensorprivacy.game.play" in sys.modules
import matplotlib
from ipykernel.kernelapp import IPKernelApp
from sensorprivacy.game import play
found = {
    "parent": os.getppid(), "loaded": loaded, "watched": IPKernelApp.instance().parent_handle, "main": __name__,
    "session": os.getsid(0) == os.getpid(), "folder": os.getcwd(), "argv": Path(sys.argv[0]).name,
    "backend": matplotlib.get_backend(), "interrupt": signal.getsignal(signal.SIGINT) is signal.default_int_handler,
}
Path(to).write_text(json.dumps(found))
"""


@pytest.fixture(autouse=True)
def as_before():
    """Forget afterwards that Jupyter starts kernels as forks."""
    yield
    KernelProvisionerFactory.clear_instance()


@pytest.fixture
def execute(tmp_path, monkeypatch, root):
    """Return a function that runs a cell and returns what it reports."""
    for folder in ("notebooks", "data"):
        (tmp_path / folder).mkdir()
    (tmp_path / "lib").symlink_to(root / "lib")
    monkeypatch.setenv("SENSORPRIVACY_HOME", str(tmp_path))

    def execute(code):
        to = tmp_path / "found.json"
        cells = [
            nbformat.v4.new_code_cell(f"to: str = {str(to)!r}  # file", metadata={"tags": ["parameters"]}),
            nbformat.v4.new_code_cell(code),
        ]
        nbformat.write(nbformat.v4.new_notebook(cells=cells), tmp_path / "a.ipynb")
        run(tmp_path / "a.ipynb", output=tmp_path / "b.ipynb", log=tmp_path / "log")
        return json.loads(to.read_text())

    return execute


def test_a_kernel_is_a_fork_of_the_source_and_otherwise_like_others(execute):
    other = execute(REPORT)
    with forks.source():
        (source,) = [each for each in psutil.Process().children() if "--serve" in each.cmdline()]
        fork = execute(REPORT)
    assert (other.pop("parent"), fork.pop("parent")) == (os.getpid(), source.pid)
    assert (other.pop("loaded"), fork.pop("loaded")) == (False, True)
    assert fork == other
    assert fork["watched"] == os.getpid()


def test_a_kernel_that_dies_is_a_failure(execute):
    with forks.source(), pytest.raises(NotebookFailedError, match=r"cell \[2\]|[Kk]ernel died"):
        execute("import os; os._exit(3)")


def test_without_the_entry_point_kernels_start_as_usual(execute, monkeypatch):
    monkeypatch.setattr("sensorprivacy.runner.kernels.entry_points", lambda **_: ())
    with forks.source():
        assert execute(REPORT)["parent"] == os.getpid()
