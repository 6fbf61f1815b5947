"""The first call of a notebook: its parameters are checked, and its run gets a name and a folder."""

import re
import subprocess
import sys

import nbformat
import pytest

from compendium.run import begin
from compendium.run.parameters import ParameterError, complete, read_parameters
from compendium.run.runs import PROFILES, read_runs, run_name


@pytest.fixture
def home(tmp_path, root, monkeypatch):
    """Return a checkout that shares all but its results with this one."""
    home = tmp_path / "home"
    home.mkdir()
    for name in ("notebooks", "data", "lib", "runs.yaml"):
        (home / name).symlink_to(root / name)
    monkeypatch.setenv("SENSORPRIVACY_HOME", str(home))
    return home


def named(root, notebook, **given):
    path = root / "notebooks" / f"{notebook}.ipynb"
    return run_name(path, complete(read_parameters(path), given))


@pytest.mark.slow
def test_a_run_of_runs_yaml_keeps_its_name():
    for run in {run.notebook: run for run in read_runs().values()}.values():  # the last one of each notebook
        declared = read_parameters(run.notebook)
        for profile in run.minutes:
            assert run_name(run.notebook, complete(declared, run.values(profile))) == (run.name, True)


def test_a_default_that_is_given_changes_nothing(root):
    assert named(root, "21_threeway_division", step="0.05", dataset="titanic") == ("21_threeway_division-titanic", True)


def test_other_values_get_a_name_of_their_own(root):
    names = {
        named(root, "21_threeway_division", step=step, profile=profile) for step in (0.01, 0.1) for profile in PROFILES
    }
    assert len(names) == 4
    assert all(re.fullmatch(r"21_threeway_division-adult-[0-9a-f]{8}", name) for name, _ in names)
    assert not any(replicates for _, replicates in names)
    assert re.fullmatch(r"20_threeway_example-[0-9a-f]{8}", named(root, "20_threeway_example", alpha=0.8)[0])


def test_files_of_one_name_get_names_of_their_own(root, tmp_path):
    names = set()
    for folder, text in (("a", "x,y\n1,2\n"), ("b", "x,y\n1,3\n"), ("a", "x,y\n1,4\n")):  # the last file has changed
        file = tmp_path / folder / "titanic.csv"
        file.parent.mkdir(exist_ok=True)
        file.write_text(text)
        names.add(named(root, "21_threeway_division", dataset=str(file)))
    assert len(names) == 3
    assert all(name.startswith("21_threeway_division-titanic-") and not replicates for name, replicates in names)


def test_a_file_whose_name_cannot_be_a_folders_gets_one_that_can(root, tmp_path):
    file = tmp_path / "Größe, meine.csv"
    file.write_text("x\n1\n")
    assert re.fullmatch(
        r"21_threeway_division-Gr_e_meine-[0-9a-f]{8}", named(root, "21_threeway_division", dataset=str(file))[0]
    )


def test_another_recording_changes_the_name(root, tmp_path):
    described = tmp_path / "watch.schema.yaml"
    described.write_text("fields: []")
    names = [named(root, "30_vae_anonymization", dataset=str(described))]
    (tmp_path / "watch").mkdir()
    (tmp_path / "watch" / "rec1.csv").write_text("x\n1\n")
    names += [named(root, "30_vae_anonymization", dataset=str(described))]
    (tmp_path / "video.mp4").write_text("elsewhere")
    names += [named(root, "30_vae_anonymization", dataset=str(described))]
    assert names[0] != names[1] == names[2]


@pytest.mark.slow
def test_the_record_has_every_parameter_in_its_type(home):
    namespace = {"step": "0.1", "dataset": "adult"}  # papermill -r gives text
    run = begin("21_threeway_division", namespace)
    assert namespace["step"] == 0.1
    assert set(run._record["parameters"]) == set(read_parameters(home / "notebooks" / "21_threeway_division.ipynb"))
    assert (run.replicates, run.folder) == (False, home / "figures" / "own" / run.name)
    assert re.fullmatch("[0-9a-f]{64}", run._record["code"])  # C5: results say which code made them
    assert begin("21_threeway_division", {}).folder == home / "figures" / "quick" / "21_threeway_division-adult"


@pytest.mark.parametrize(
    ("namespace", "words"),
    [
        ({"profile": "paperr"}, "profile='paperr'.*Did you mean 'paper'"),
        ({"epsilon": -3}, "epsilon=-3.*above 0"),
        ({"step": 2.0}, "step=2.0"),
        ({"search": "literally"}, "Did you mean 'literal'"),
        ({"In": ["", "# Parameters\nstpe = 0.1\n"], "stpe": 0.1}, "unknown parameter 'stpe'. Did you mean 'step'"),
    ],
)
def test_a_wrong_parameter_is_refused_and_nothing_is_written(home, namespace, words):
    with pytest.raises(ParameterError, match=words):
        begin("21_threeway_division", namespace)
    assert not (home / "figures").exists()


@pytest.mark.slow
def test_plain_papermill_is_refused_in_the_first_cell(home, tmp_path):
    source, output = home / "notebooks" / "21_threeway_division.ipynb", tmp_path / "out.ipynb"
    words = [sys.executable, "-m", "papermill", str(source), str(output), "-p", "stpe", "0.1"]
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    assert done.returncode
    assert "ParameterError: unknown parameter" in done.stderr
    executed = [cell for cell in nbformat.read(output, 4).cells if cell.get("execution_count")]
    assert executed[-1].source.startswith('run = begin("21_threeway_division", globals())')
    assert not (home / "figures").exists()
