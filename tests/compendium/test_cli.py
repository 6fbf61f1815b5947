"""The command line: what each word does, what is refused, exit codes."""

import shutil
import subprocess
import sys
from pathlib import Path

import nbformat
import pytest

from compendium.__main__ import main
from compendium.datasets import store
from compendium.datasets.errors import CorruptDataError, DataUnavailableError
from compendium.run import reproduce as workflow
from compendium.run.states import FAILED, NO_DATA, OK, RunState
from sensorrelease.__main__ import main as own_main


@pytest.fixture
def notebook(tmp_path):
    cell = nbformat.v4.new_code_cell("step: float = 0.05  # how far", metadata={"tags": ["parameters"]})
    made = nbformat.v4.new_notebook(cells=[cell, nbformat.v4.new_code_cell("assert step < 1, 'too far'")])
    nbformat.write(made, tmp_path / "a.ipynb")
    return tmp_path / "a.ipynb"


def said(capsys):
    captured = capsys.readouterr()
    return captured.out + captured.err


def test_no_word_and_a_wrong_one_are_told_what_there_is(capsys):
    assert main([]) == 2
    assert "reproduce  Run every notebook" in said(capsys)
    assert main(["rn"]) == 2
    assert "No such command 'rn'" in said(capsys)


@pytest.mark.parametrize(
    "word", ["run", "reproduce", "data", "report", "review", "book", "lessons", "export", "data fetch"]
)
def test_every_command_says_what_it_takes(capsys, word):
    assert main([*word.split(), "--help"]) == 0
    assert f"Usage: compendium {word}" in said(capsys)


@pytest.mark.parametrize("word", ["minimize", "compare", "publish", "edge"])
def test_every_command_of_the_library_says_what_it_takes(capsys, word):
    assert own_main([word, "--help"]) == 0
    assert f"Usage: sensorprivacy {word}" in said(capsys)


def test_show_lists_the_parameters_and_runs_nothing(notebook, capsys):
    assert main(["run", str(notebook), "--show"]) == 0
    assert said(capsys).strip() == "step: float = 0.05  how far"


@pytest.mark.slow
def test_run_executes_with_the_given_value_and_fails_with_the_cells_error(notebook, tmp_path, capsys):
    words = ["run", str(notebook), "-o", str(tmp_path / "b.ipynb"), "--log", str(tmp_path / "log")]
    assert main([*words, "-p", "step", "-0.5"]) == 0
    assert f"notebook: {tmp_path / 'b.ipynb'}" in said(capsys)
    assert main([*words, "-p", "step", "2"]) == 1
    message = said(capsys)
    assert "a: a.ipynb failed in cell [3]: assert step < 1, 'too far'" in message
    assert "AssertionError: too far" in message
    assert "Traceback" not in message


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (["-p", "stp", "1"], "unknown parameter 'stp'. Did you mean 'step'?"),
        (["-p", "step", "far"], "step='far': input should be a valid number"),
    ],
)
def test_a_refused_parameter_is_exit_code_two_and_runs_nothing(notebook, tmp_path, capsys, words, expected):
    assert main(["run", str(notebook), "-o", str(tmp_path / "b.ipynb"), *words]) == 2
    message = said(capsys)
    assert expected in message
    assert "step: float = 0.05  how far" in message
    assert not (tmp_path / "b.ipynb").exists()


def test_a_missing_notebook_is_an_error_with_the_nearest_name(notebook, capsys):
    assert main(["run", str(notebook.with_name("b.ipynb"))]) == 1
    assert "error: no notebook" in said(capsys)


def test_reproduce_lists_its_runs(capsys):
    assert main(["reproduce", "--list", "20*", "21*", "22*"]) == 0
    lines = said(capsys).splitlines()
    assert len({line[:2] for line in lines}) == 3
    assert lines[0].startswith("20_threeway_example ")
    assert all(line.startswith("2") for line in lines)


@pytest.mark.parametrize(("status", "code"), [(OK, 0), (NO_DATA, 0), (FAILED, 1)])
def test_reproduce_fails_only_where_a_run_failed(monkeypatch, capsys, status, code):
    states = {"20_threeway_example": RunState(OK), "22_threeway_summary": RunState(status, "why")}
    monkeypatch.setattr(workflow, "reproduce", lambda *_, **__: states)
    assert main(["reproduce"]) == code
    printed = said(capsys)
    assert ("failed: 22_threeway_summary: why" in printed) == bool(code)
    assert Path(printed.rpartition("open ")[2].strip()).name == "index.html"


def test_reproduce_refuses_an_unknown_profile_run_or_no_cores(capsys):
    for words in (["--profile", "fast"], ["--cores", "0"], ["--cores", "many"]):
        assert main(["reproduce", *words]) == 2
    assert main(["reproduce", "99_nothing"]) == 2
    assert "no run '99_nothing'" in said(capsys)


def test_an_interrupt_is_one_line(monkeypatch, capsys):
    def interrupted(*_, **__):
        raise KeyboardInterrupt

    monkeypatch.setattr(workflow, "reproduce", interrupted)
    assert main(["reproduce"]) == 130
    assert said(capsys).strip() == "interrupted; finished runs are kept"


@pytest.mark.parametrize("package", ["sensorrelease", "compendium"])
def test_wrong_words_are_refused_without_waiting_for_pandas(package):
    code = f"import sys; from {package}.cli import main\ntry: main(['rn'])\nexcept SystemExit: pass\n"
    code += "print('pandas' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False"


def test_a_run_finds_its_folder_without_pandas(root):
    code = "import sys; from pathlib import Path; from compendium.run.parameters import complete, read_parameters\n"
    code += "from compendium.run import execute, runs\n"
    code += f"path = Path({str(root / 'notebooks' / '20_threeway_example.ipynb')!r})\n"
    code += "runs.run_name(path, complete(read_parameters(path), {}))\n"
    code += "print([name for name in ('pandas', 'matplotlib', 'sklearn') if name in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_a_corrupted_list_of_runs_is_refused_before_anything_runs(tmp_path, monkeypatch, capsys):
    for name in ("notebooks", "data", "lib"):
        (tmp_path / name).mkdir()
    monkeypatch.setenv("SENSORPRIVACY_HOME", str(tmp_path))
    run = "  10_a:\n    about: x\n    minutes: {quick: 1, paper: 1}\n    needs: [titanik]\n"
    (tmp_path / "runs.yaml").write_text(f"runs:\n{run}")
    assert main(["reproduce"]) == 1
    assert "Did you mean 'titanic'?" in said(capsys)
    assert not (tmp_path / "build" / "runs").exists()


@pytest.mark.slow
def test_data_lists_every_set_with_size_licence_and_presence(capsys):
    assert main(["data", "list"]) == 0
    listed = said(capsys)
    assert "CC BY 4.0" in listed
    assert all(name in listed for name in store.names())


def test_data_list_of_one_says_all_that_is_known(capsys):
    assert main(["data", "list", "mobiact"]) == 0
    card = said(capsys)
    assert "on request from its owner" in card
    assert "Vavoulas" in card
    assert "data/raw/mobiact/" in card


def test_data_refuses_unknown_and_missing_names(capsys):
    assert main(["data", "where", "titanik"]) == 1
    assert "Did you mean 'titanic'?" in said(capsys)
    assert main(["data", "fetch"]) == 2
    assert "name data sets" in said(capsys)


def test_data_fetch_fails_for_a_named_set_but_not_for_all(monkeypatch, capsys):
    monkeypatch.setattr(store, "fetch", _unavailable)
    assert main(["data", "fetch", "adult"]) == 1
    assert main(["data", "fetch", "--all"]) == 0
    assert "adult is not here" in said(capsys)
    monkeypatch.setattr(store, "fetch", _corrupt)
    assert main(["data", "fetch", "--all"]) == 1
    assert "x.csv is corrupt: expected aa, found bb" in said(capsys)


def test_data_verify_counts_what_it_hashed(mirror, capsys):
    assert main(["data", "verify", "heart"]) == 0
    assert "heart: " in (line := said(capsys))
    assert "members verified" in line


def test_pages_are_written_from_their_sources(root, tmp_path, monkeypatch, capsys):
    for name in ("notebooks", "lib"):
        (tmp_path / name).mkdir()
    shutil.copytree(root / "data" / "paper", tmp_path / "data" / "paper")
    shutil.copy(root / "data" / "README.md", tmp_path / "data")
    monkeypatch.setenv("SENSORPRIVACY_HOME", str(tmp_path))
    for name in ("figures", "bench"):
        (tmp_path / name).symlink_to(root / name)
    start, mark, rest = (root / "README.md").read_text().partition("<!-- findings")
    (tmp_path / "README.md").write_text(f"{start}{mark}: -->\nold numbers\n<!-- end of findings -->{rest[-9:]}")
    pages = {"ledger": "DEVIATIONS.md", "data": "data/README.md", "readme": "README.md"}
    for word, page in pages.items():
        assert main(["report", word]) == 0
        assert said(capsys).strip() == str(tmp_path / page)
        assert (tmp_path / page).read_text().partition("\n")[0] == (root / page).read_text().partition("\n")[0]
    text = (tmp_path / "README.md").read_text()
    assert "1. **No defence" in text
    assert "old numbers" not in text
    with monkeypatch.context() as patch:
        patch.setattr("pathlib.Path.replace", lambda *_: 1 / 0)
        with pytest.raises(ZeroDivisionError):
            main(["report", "readme"])
    assert (tmp_path / "README.md").read_text() == text


@pytest.mark.parametrize("package", ["sensorrelease", "compendium"])
def test_python_m_works_from_any_folder(tmp_path, package):
    words = [sys.executable, "-m", package, "--version"]
    done = subprocess.run(words, cwd=tmp_path, capture_output=True, text=True, check=True)
    assert done.stdout.strip()


def _unavailable(name: str, **_: object):
    raise DataUnavailableError(f"{name} is not here")


def _corrupt(name: str, **_: object):
    raise CorruptDataError("x.csv", "aa", "bb", "delete it")
