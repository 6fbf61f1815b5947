"""Strict papermill: small notebooks made here are run through it."""

import os
import re
import shutil
import subprocess
import sys
import textwrap
from pathlib import Path

import nbformat
import pytest

from compendium.run import execute
from compendium.run.execute import NotebookFailedError, run
from compendium.run.parameters import ParameterError


def notebook(path: Path, *cells: str, parameters: str = "times: int = 2  # how often") -> Path:
    kernel = {"name": "python3", "display_name": "Python 3", "language": "python"}
    made = nbformat.v4.new_notebook(metadata={"kernelspec": kernel})
    first = nbformat.v4.new_code_cell(textwrap.dedent(parameters), metadata={"tags": ["parameters"]})
    made.cells = [first, *(nbformat.v4.new_code_cell(textwrap.dedent(cell)) for cell in cells)]
    nbformat.write(made, path)
    return path


def printed(path: Path) -> str:
    return "".join(
        output.get("text", "") for cell in nbformat.read(path, 4).cells for output in cell.get("outputs", [])
    )


def test_a_notebook_runs_with_its_parameters_in_this_environment(tmp_path):
    code = "import os, sys, warnings\nwarnings.warn('old')\nprint('x' * times, sys.prefix, os.getcwd())"
    source = notebook(tmp_path / "a.ipynb", code)
    before = source.read_bytes()
    done = run(source, {"times": "3"}, output=tmp_path / "out" / "b.ipynb", log=tmp_path / "log.txt")
    assert printed(done.output).split() == ["xxx", sys.prefix, os.getcwd()]  # noqa: PTH109 - what the kernel says too
    assert "xxx" in done.log.read_text()
    assert "UserWarning: old" in done.log.read_text()  # in the log, but not in the notebook
    assert source.read_bytes() == before


def test_a_refused_parameter_runs_nothing(tmp_path):
    source = notebook(tmp_path / "a.ipynb", f"open({str(tmp_path / 'ran')!r}, 'w').close()")
    with pytest.raises(ParameterError, match="Did you mean 'times'"):
        run(source, {"tims": 1}, output=tmp_path / "b.ipynb")
    with pytest.raises(ParameterError, match="times='often'"):
        run(source, {"times": "often"}, output=tmp_path / "b.ipynb")
    assert not (tmp_path / "ran").exists()
    assert not (tmp_path / "b.ipynb").exists()


def test_a_failing_cell_ends_with_its_error_in_short_and_the_partial_notebook(tmp_path):
    source = notebook(
        tmp_path / "a.ipynb",
        "print('so far')",
        "import json\njson.loads('{' * times)",
        "print('never')",
    )
    with pytest.raises(NotebookFailedError) as failed:
        run(source, output=tmp_path / "b.ipynb", log=tmp_path / "log.txt")
    message = str(failed.value)
    assert "a.ipynb failed in cell [3]: json.loads('{' * times)" in message
    assert "JSONDecodeError: Expecting property name" in message
    assert str(tmp_path / "b.unfinished.ipynb") in message
    assert str(tmp_path / "log.txt") in message
    assert len(message.splitlines()) < 8
    assert "so far" in printed(tmp_path / "b.unfinished.ipynb")
    assert "never" not in printed(tmp_path / "b.unfinished.ipynb")
    assert "decoder.py" in (tmp_path / "log.txt").read_text()


def test_a_kernel_that_dies_is_a_failure_not_a_hang(tmp_path):
    source = notebook(tmp_path / "a.ipynb", "import os\nos._exit(9)")
    with pytest.raises(NotebookFailedError, match="Kernel died"):
        run(source, output=tmp_path / "b.ipynb", log=tmp_path / "log.txt")


def test_the_source_is_never_overwritten(tmp_path):
    source = notebook(tmp_path / "a.ipynb")
    with pytest.raises(ValueError, match="would overwrite"):
        run(source, output=source)


def test_by_default_results_go_to_the_ignored_build_folder(tmp_path, monkeypatch):
    monkeypatch.setattr(execute, "_execute", lambda notebook, output, *_: shutil.copy(notebook, output))
    for name in ("notebooks", "data", "lib"):
        (tmp_path / name).mkdir()
    monkeypatch.setenv("SENSORPRIVACY_HOME", str(tmp_path))
    done = run(notebook(tmp_path / "notebooks" / "a.ipynb"), {"times": 4})
    assert re.fullmatch(r"a-[0-9a-f]{8}", done.output.stem)  # no run of runs.yaml
    assert done.output == tmp_path / "build" / "executed" / "own" / f"{done.output.stem}.ipynb"
    assert done.log == tmp_path / "build" / "logs" / "own" / f"{done.output.stem}.log"
    assert done.output.is_file()


@pytest.mark.slow
def test_a_notebook_runs_where_the_home_folder_cannot_be_written(tmp_path):
    """IPython raised FileNotFoundError: /proc/.ipython. A process of its own, because its variables stay."""
    source = notebook(tmp_path / "a.ipynb", "import os\nprint(os.environ['SENSORPRIVACY_CACHE'])")
    names = {"IPYTHONDIR", "JUPYTER_CONFIG_DIR", "JUPYTER_DATA_DIR", "JUPYTER_RUNTIME_DIR", "MPLCONFIGDIR"}
    kept = {name: value for name, value in os.environ.items() if name not in {*names, "SENSORPRIVACY_CACHE"}}
    code = "import sys; from compendium.run.execute import run; run(sys.argv[1], output=sys.argv[2], log=sys.argv[3])"
    words = [sys.executable, "-c", code, source, tmp_path / "b.ipynb", tmp_path / "log.txt"]
    environment = kept | {"HOME": "/proc", "SENSORPRIVACY_OUTPUT": str(tmp_path)}
    done = subprocess.run([*map(str, words)], env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert printed(tmp_path / "b.ipynb").strip() == str(tmp_path / "build" / "home" / "sensorprivacy_cache")


def test_a_slow_cell_is_reported_and_the_log_has_a_line_for_each(tmp_path, monkeypatch):
    monkeypatch.setattr(execute, "SLOW_SECONDS", 1)
    said = []
    source = notebook(tmp_path / "a.ipynb", "pass", "import time\ntime.sleep(3)")
    done = run(source, {"times": 1}, output=tmp_path / "b.ipynb", log=tmp_path / "log.txt", say=said.append)
    lines = [line for line in done.log.read_text().splitlines() if ": cell " in line]
    assert [line.partition(": ")[2] for line in lines] == [f"cell {number} of 4" for number in (1, 2, 3, 4)]
    assert said == lines[-1:]


def test_plain_papermill_takes_the_same_notebook(tmp_path):
    source = notebook(tmp_path / "a.ipynb", "print('x' * times)")
    words = [sys.executable, "-m", "papermill", str(source), str(tmp_path / "b.ipynb"), "-p", "times", "5"]
    subprocess.run(words, check=True, capture_output=True)
    assert "xxxxx" in printed(tmp_path / "b.ipynb")


def test_the_log_of_a_success_does_not_end_with_the_kernels_interrupt(tmp_path, monkeypatch):
    """Jupyter interrupts a kernel before it asks it to end; with figures, the kernel reports that as an error."""

    def executed(notebook: Path, output: Path, values: dict, log, hooks: dict) -> None:
        shutil.copy(notebook, output)
        log.write("cell 1\nKeyboardInterrupt in a cell\n[IPKernelApp] ERROR | KeyboardInterrupt caught in kernel\n")

    monkeypatch.setattr(execute, "_execute", executed)
    done = run(notebook(tmp_path / "a.ipynb"), output=tmp_path / "b.ipynb", log=tmp_path / "log")
    first, *others, ended = done.log.read_text().splitlines()
    assert str(tmp_path / "a.ipynb") in first
    assert others == ["cell 1", "KeyboardInterrupt in a cell", ""]
    assert ended.startswith("ended after")
