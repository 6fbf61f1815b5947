"""A run's folder: what is in it, when it is written, what happens if the run fails."""

import hashlib
import json
import os
import shutil
import subprocess
import tempfile
from contextlib import closing
from pathlib import Path

import matplotlib.pyplot as plt
import pandas as pd
import pytest

from compendium.run.provenance import Run, RunError, _came_out
from compendium.show.captions import CaptionError

FRAME = pd.DataFrame({"a": [1.0, 2.5]})
CAPTIONS = """
[table.noise]
caption = "Noise"
drawn = true
[table.noted]
caption = "Caption"
note = "only {people} people"
closing = "Compare the sizes of {people} people."
"""


@pytest.fixture
def home(tmp_path, monkeypatch, root):
    """Return an empty checkout that has the printed values."""
    for folder in ("notebooks", "lib", "data"):
        (tmp_path / folder).mkdir()
    (tmp_path / "data" / "paper").symlink_to(root / "data" / "paper")
    (tmp_path / "notebooks" / "captions").mkdir()
    (tmp_path / "notebooks" / "captions" / "21_x.toml").write_text(CAPTIONS)
    monkeypatch.setenv("SENSORPRIVACY_HOME", str(tmp_path))
    return tmp_path


@pytest.fixture
def shown(monkeypatch):
    """Return what runs show in the notebook."""
    results = []
    monkeypatch.setattr("compendium.run.provenance._show", results.append)
    return results


def line():
    fig, axes = plt.subplots()
    axes.plot([1, 2])
    return fig


def fill(run):
    run.table(FRAME, "numbers", "Some numbers")
    run.figure(line(), "line", "A line")
    run.table(FRAME, "noise")
    run.verdicts()
    return run.close()


def record(folder):
    return json.loads((folder / "run.json").read_text(encoding="utf-8"))


def contents(folder):
    return {p.relative_to(folder).as_posix(): p.read_bytes() for p in folder.rglob("*") if p.is_file()}


def test_a_run_leaves_figures_tables_verdicts_and_its_record(home):
    run = Run("21_x-adult", parameters={"step": 0.05, "seed": 7})
    run.uses({"adult": "abc"}, precision="float32")
    folder = fill(run)
    assert folder == home / "figures" / "quick" / "21_x-adult"
    stable = {"numbers.csv", "line.png", "verdicts.csv"}
    assert set(contents(folder)) == stable | {"drawn/noise.csv", "run.json", "machine.json"}
    said = record(folder)
    assert {name: hashlib.sha256(contents(folder)[name]).hexdigest() for name in stable} == said["files"]
    assert said["drawn"] == ["drawn/noise.csv"]
    captions = {"numbers.csv": "Some numbers", "line.png": "A line", "drawn/noise.csv": "Noise"}
    assert said["captions"] == {name: f"{words} [quick]" for name, words in captions.items()}
    assert (said["run"], said["notebook"], said["profile"]) == ("21_x-adult", "21_x", "quick")
    assert (said["parameters"], said["data"], said["seed"]) == ({"step": 0.05, "seed": 7}, {"adult": "abc"}, 7)
    assert said["chosen"] == {"precision": "float32"}  # the parameter says auto, the machine decided
    assert said["packages"]["pandas"] == pd.__version__
    assert "shap" in said["packages"], "the record depends on what is installed, not on what was imported before"


def test_what_changes_from_run_to_run_is_kept_apart(home):
    folder = fill(Run("21_x", parameters={}))
    machine = json.loads((folder / "machine.json").read_text())
    assert {"started", "seconds", "platform", "processors", "commit", "dirty", "drawn"} <= set(machine)
    assert not {"started", "seconds", "commit", "dirty"} & set(record(folder))
    assert 0.2 < machine["processor_seconds"] <= sum(os.times()[:4]) + 0.1, "other programs on the machine do not count"
    assert 50 < machine["peak_mb"] < 50_000  # pandas and matplotlib are loaded
    assert set(machine["drawn"]) == {"drawn/noise.csv"}
    assert (machine["commit"], machine["dirty"]) == (None, None)  # this home is no git checkout


def test_results_of_earlier_runs_do_not_make_the_code_dirty(home):
    for words in (["init", "-q"], ["add", "."], ["-c", "user.name=a", "-c", "user.email=a@b", "commit", "-qm", "all"]):
        subprocess.run(["git", *words], cwd=home, check=True)

    def dirty():
        folder = fill(Run("21_x", profile="paper", parameters={}))
        return json.loads((folder / "machine.json").read_text())["dirty"]

    assert (dirty(), dirty()) == (False, False), "the first one left its results in figures/"
    (home / "lib" / "new.py").write_text("x = 1\n")
    assert dirty() is True


def test_the_checkout_knows_its_commit(root, monkeypatch):
    monkeypatch.setenv("SENSORPRIVACY_HOME", str(root))
    run = Run("21_x", parameters={})
    assert len(run._machine()["commit"]) == 40


def test_another_state_of_the_code_keeps_its_parts_elsewhere(home):
    one, other = (Run("21_x", parameters={}, code=code).kept for code in ("a" * 64, "b" * 64))
    assert one != other
    assert one.is_relative_to(home / "build" / "kept" / "21_x")


def test_a_rerun_leaves_the_same_bytes(home):
    first = contents(fill(Run("21_x", parameters={"b": 1, "a": 2})))
    second = contents(fill(Run("21_x", parameters={"a": 2, "b": 1})))
    del first["machine.json"], second["machine.json"]
    assert first == second


def test_the_paper_profile_is_committed_and_not_stamped(home, shown):
    paper = Run("21_x", profile="paper", parameters={})
    paper.table(FRAME, "t", "Caption")
    paper.table(FRAME, "noted", people=9)
    texts = [result.text.partition("\n")[0] for result in shown]
    assert texts == ["**Caption**", "**Caption; only 9 people**"]
    assert fill(paper) == home / "figures" / "21_x"
    quick = Run("21_x", parameters={})
    quick.table(FRAME, "t", "Caption")
    assert shown[-1].text.startswith("**Caption [quick]**")
    folder = fill(quick)
    assert (folder / "line.png").read_bytes() != (home / "figures" / "21_x" / "line.png").read_bytes()


def test_nothing_is_written_before_close(home):
    run = Run("21_x", parameters={})
    run.table(FRAME, "numbers", "Some numbers")
    assert contents(home / "figures") == {}


def test_a_run_that_fails_leaves_the_last_one_as_it_was(home):
    before = contents(fill(Run("21_x", parameters={})))

    Run("21_x", parameters={"other": 1}).table(FRAME * 2, "numbers", "Other numbers")  # and never gets to its end
    assert contents(home / "figures" / "quick" / "21_x") == before


@pytest.fixture
def small_disk(tmp_path_factory):
    """Return a folder on a disk of one megabyte; skip where this user cannot mount one."""
    folder = tmp_path_factory.mktemp("disk")
    mount = ["mount", "-t", "tmpfs", "-o", "size=1m", "tmpfs", str(folder)]
    if shutil.which("mount") is None or subprocess.run(mount, capture_output=True, check=False).returncode:
        pytest.skip("cannot mount a small disk here")
    yield folder
    subprocess.run(["umount", str(folder)], check=True)


def test_a_full_disk_is_noticed_before_the_work_starts(home, small_disk):
    (home / "figures").symlink_to(small_disk)
    with pytest.raises(OSError, match=r"cannot write to .*figures/quick: only 1 MB are free"):
        Run("21_x", parameters={})


def test_a_disk_that_fills_up_leaves_the_last_results_whole(home, small_disk, monkeypatch):
    (home / "figures").symlink_to(small_disk)
    monkeypatch.setattr("sensorprivacy.paths._LEAST_MB", 0)
    folder = fill(Run("21_x", parameters={}))
    before = contents(folder)
    run = Run("21_x", parameters={"other": 1})
    run.table(FRAME * 2, "numbers", "Other numbers")
    (small_disk / "other").write_bytes(bytes(shutil.disk_usage(small_disk).free - 4096))
    run.table(pd.DataFrame({"a": range(9000)}), "zeros", "A long table")
    with pytest.raises(RunError, match=r"No space left on device; the earlier files there are unchanged"):
        run.close()
    assert contents(folder) == before
    (small_disk / "other").unlink()
    run.close()  # the disk has room again
    assert record(folder)["parameters"] == {"other": 1}


def test_a_failure_while_writing_leaves_the_last_results_whole(home, monkeypatch):
    before = contents(fill(Run("21_x", parameters={})))
    run = Run("21_x", parameters={"other": 1})
    run.table(FRAME * 2, "numbers", "Other numbers")
    monkeypatch.setattr("pathlib.Path.write_bytes", fails_for("numbers.csv", "pathlib.Path.write_bytes"))
    with pytest.raises(RunError, match="disk full"):
        run.close()
    assert contents(run.folder) == before


def fails_for(name, of):
    """Return a method of Path that raises for files of one name."""
    method = getattr(Path, of.rpartition(".")[2])

    def wrapped(path, *words):
        if path.name == name:
            raise OSError("disk full")
        return method(path, *words)

    return wrapped


@pytest.mark.parametrize("place", ["figures", "figures/quick", "figures/quick/21_x"])
def test_a_folder_that_is_a_file_is_noticed_before_the_work_starts(home, place):
    (home / place).parent.mkdir(parents=True, exist_ok=True)
    (home / place).write_text("")
    with pytest.raises(OSError, match=r"cannot write to .*figures/quick.*; make it a writable folder"):
        Run("21_x", parameters={})


def test_a_read_only_folder_is_noticed_before_the_work_starts(home, monkeypatch):
    def refuses(dir):
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(tempfile, "TemporaryFile", refuses)
    with pytest.raises(OSError, match=r"figures/quick: Permission denied; make it a writable folder"):
        Run("21_x", parameters={})


@pytest.mark.parametrize(("replicates", "why"), [(True, "no printed value"), (False, "its own data or settings")])
def test_a_run_without_verdicts_says_so(home, replicates, why):
    shown = Run("21_x", parameters={}, replicates=replicates).verdicts()
    for text in (repr(shown), shown._repr_html_()):
        assert "This run has no verdicts" in text
        assert f"Files of this run: figures/{'quick' if replicates else 'own'}/21_x/" in text
        assert why in text


def test_the_record_has_the_digest_of_the_code(home):
    """C5."""
    with closing(Run("21_x", parameters={}, code="c0de")) as run:
        pass
    assert record(run.folder)["code"] == "c0de"


def test_what_an_earlier_run_left_goes_and_nothing_else(home):
    folder = fill(Run("21_x", parameters={}))
    (folder / "notes.txt").write_text("by hand")
    with closing(Run("21_x", parameters={})) as run:
        run.table(FRAME, "numbers", "Some numbers")
    assert set(contents(folder)) == {"numbers.csv", "run.json", "machine.json", "notes.txt"}


def test_a_record_cannot_make_it_remove_files_elsewhere(home):
    folder = home / "figures" / "quick" / "21_x"
    folder.mkdir(parents=True)
    (home / "keep.txt").write_text("mine")
    (folder / "run.json").write_text(json.dumps({"files": {"../../../keep.txt": "x", "/etc/hostname": "x"}}))
    with closing(Run("21_x", parameters={})) as run:
        run.table(FRAME, "numbers", "Some numbers")
    assert (home / "keep.txt").read_text() == "mine"


def test_closing_again_does_nothing(home):
    run = Run("21_x", parameters={})
    run.table(FRAME, "numbers", "Some numbers")
    folder = run.close()
    (folder / "run.json").unlink()
    assert run.close() == folder
    assert not (folder / "run.json").exists()


@pytest.mark.parametrize(
    "late",
    [
        lambda run: run.table(FRAME, "late", "Late"),
        lambda run: run.figure(line(), "late", "Late"),
        lambda run: run.verdicts(),
    ],
)
def test_a_closed_run_takes_nothing(home, late):
    run = Run("21_x", parameters={})
    run.close()
    with pytest.raises(RunError, match="run 21_x is closed"):
        late(run)


@pytest.mark.parametrize("name", ["../up", "a/b", "", ".hidden", "run.json "])
def test_names_that_leave_the_folder_are_refused(home, name):
    with pytest.raises(ValueError, match="name"):
        Run(name, parameters={})
    with pytest.raises(ValueError, match="name"):
        Run("21_x", profile=name, parameters={})
    with pytest.raises(ValueError, match="name"):
        Run("21_x", parameters={}).table(FRAME, name or "/", "Caption")


def test_a_file_given_twice_is_refused(home):
    run = Run("21_x", parameters={})
    run.table(FRAME, "noise", "Some numbers")
    with pytest.raises(RunError, match=r"already has a file noise\.csv"):
        run.table(FRAME, "noise", "Some numbers")
    run.table(FRAME, "noise")  # drawn anew in every repetition: in another folder


def test_the_closing_sentence_is_below_the_table_and_not_in_its_file(home, shown):
    run = Run("21_x", profile="paper", parameters={})
    run.table(FRAME, "noted", people=9)
    sentence = "Compare the sizes of 9 people."
    assert shown[-1].closing == sentence
    folder = run.close()
    assert sentence not in (folder / "noted.csv").read_text() + (folder / "run.json").read_text()


def test_a_result_without_words_is_refused(home):
    run = Run("21_x", parameters={})
    with pytest.raises(CaptionError, match=r"captions/21_x\.toml has no entry \[table\.other\]: add one"):
        run.table(FRAME, "other")


def test_results_show_themselves_in_a_notebook(home, capsys):
    pytest.importorskip("IPython", reason="needs IPython: install the extra notebooks")
    from IPython.core.interactiveshell import InteractiveShell

    shell = InteractiveShell.instance()
    try:
        shell.user_ns |= {"run": Run("21_x", parameters={}), "frame": FRAME}
        shell.run_cell("run.table(frame, 'noted', people=9)\nrun.table(frame, 'noise')", store_history=False)
    finally:
        InteractiveShell.clear_instance()
    assert capsys.readouterr().out.count("**") == 4  # each caption once


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ([], ""),
        (["exact", "within"], "2 of 2 decided values came out as printed."),
        (["exact", "differs", "undecided"], "1 of 2 decided values came out as printed (1 undecided)."),
        (["differs", "no data", "no data"], "0 of 1 decided values came out as printed (2 without data)."),
        (["exact", "by construction"], "1 of 1 decided values came out as printed (1 hold by construction)."),
    ],
)
def test_verdicts_are_summed_up(words, said):
    basis = ["construction" if word == "by construction" else "rows" for word in words]
    assert _came_out(pd.DataFrame({"verdict": words, "basis": basis})) == said


def test_no_path_of_this_machine_gets_into_the_record(home):
    inside, outside = home / "data" / "my.csv", "/somewhere/else/my.parquet"
    run = Run("21_x", parameters={"a": str(inside), "b": [outside], "d": "as_printed"})
    assert record(run.close())["parameters"] == {
        "a": "data/my.csv",
        "b": ["my.parquet"],
        "d": "as_printed",
    }


def test_a_spoilt_record_of_an_earlier_run_is_no_obstacle(home):
    folder = home / "figures" / "quick" / "21_x"
    folder.mkdir(parents=True)
    (folder / "run.json").write_text('{"files": ')
    with closing(Run("21_x", parameters={})) as run:
        run.table(FRAME, "numbers", "Some numbers")
    assert "numbers.csv" in record(folder)["files"]
