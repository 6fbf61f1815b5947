"""A committed result is stale, wrong or absent exactly if something that made it changed, or it was changed itself."""

import hashlib
import json

import pandas as pd
import pytest

from compendium.run import committed
from compendium.run.definitions import code_of
from compendium.run.runs import Run
from compendium.run.states import DataState, data_state_file, write_data_state

TABLE = b"a,b\n1,2\n"


@pytest.fixture
def made(root, tmp_path, monkeypatch):
    """Return a run, its folder with a record that fits, and a function that changes the record."""
    monkeypatch.setenv("SENSORPRIVACY_OUTPUT", str(tmp_path))
    notebook = root / "notebooks" / "21_threeway_division.ipynb"
    values = {"dataset": "adult"}
    run = Run(
        name="21_x-adult", notebook=notebook, about="a", minutes={"paper": 1}, parameters=values, needs=("adult",)
    )
    folder = committed.figures_dir("paper") / run.name
    folder.mkdir(parents=True)
    (folder / "t.csv").write_bytes(TABLE)
    complete = committed.complete(committed.read_parameters(notebook), run.values("paper"))
    record = {
        "files": {"t.csv": hashlib.sha256(TABLE).hexdigest()},
        "code": code_of(notebook, root / "lib", run.reads).digest,
        "modules": code_of(notebook, root / "lib", run.reads).modules(),
        "parameters": json.loads(json.dumps(complete)),
        "packages": {"pandas": pd.__version__, "torch": f"{_pin(root, 'torch')}+cpu", "python": "3.0"},
        "data": {"adult": "abc"},
    }

    def change(**values):
        (folder / "run.json").write_text(json.dumps(record | values))

    change()
    return run, folder, change


def _pin(root, name):
    lines = (root / "requirements.lock").read_text().splitlines()
    return next(line for line in lines if line.startswith(f"{name}==")).split("==")[1].split()[0]


def findings(run):
    return [(kind, what) for kind, _, what in committed.findings(run)]


COMPUTED = ("computed", "code, parameters, packages and data are those of today")


def test_a_result_that_fits_was_computed_by_this_code(made):
    assert findings(made[0]) == [COMPUTED]
    assert committed.is_current(made[0])


@pytest.mark.parametrize(
    ("changed", "what"),
    [
        ({"code": "0"}, "code"),
        ({"parameters": {"dataset": "adult"}}, "parameters"),
        ({"packages": {"pandas": "1.0"}}, "packages (pandas)"),
        ({"code": "0", "packages": {"torch": "2.0+cpu"}}, "code, packages (torch)"),
    ],
)
def test_a_run_is_stale_if_what_made_it_changed(made, changed, what):
    run, _, change = made
    change(**changed)
    assert findings(run) == [("stale", what)]


def test_the_account_names_the_modules_that_changed(made):
    run, folder, change = made
    modules = json.loads((folder / "run.json").read_text())["modules"]
    change(code="0", modules=modules | {"sensorprivacy.threeway.division": "0", "sensorprivacy.gone": "0"})
    assert findings(run) == [("stale", "code of sensorprivacy.gone, sensorprivacy.threeway.division")]
    assert not committed.is_current(run)
    change(code="0", modules=dict.fromkeys(sorted(modules), "0"))
    assert findings(run)[0][1].endswith(f" and {len(modules) - 4} more modules")


def test_a_run_is_carried_over_if_joins_lead_from_its_code_to_that_of_today(made):
    run, folder, change = made
    today = json.loads((folder / "run.json").read_text())["code"]
    change(code="0")
    joins = [
        {"old": "0", "new": "1", "files": 3, "against": "a" * 40},
        {"old": "1", "new": today, "files": 3, "against": "b" * 40},
    ]
    (folder / "replay.json").write_text(json.dumps(joins))
    assert findings(run) == [("carried over", "3 files were the same in replay against bbbbbbbb")]
    assert committed.is_current(run)
    (folder / "replay.json").write_text(json.dumps(joins[1:]))
    assert findings(run)[0][0] == "stale"
    (folder / "replay.json").write_text(json.dumps(joins))
    change(code="0", parameters={"dataset": "adult"})
    assert findings(run) == [("stale", "parameters")]


def test_a_run_is_stale_if_its_parameters_are_no_longer_those_of_the_list(made):
    run, _, _ = made
    other = run.model_copy(update={"parameters": {"dataset": "bank"}})
    assert findings(other) == [("stale", "code of compendium.readers.tabular, parameters")]
    unknown = run.model_copy(update={"parameters": {"dataset": "adult", "no_such": 1}})
    assert findings(unknown) == [("stale", "parameters")]


def test_data_on_this_machine_must_be_those_of_the_run_and_absent_data_are_not_asked_for(made):
    run, _, _ = made
    assert not data_state_file("adult").exists()
    write_data_state(DataState("adult", digest="abc"))
    assert findings(run) == [COMPUTED]
    write_data_state(DataState("adult", digest="other"))
    assert findings(run) == [("stale", "data")]
    write_data_state(DataState("adult"))
    assert findings(run) == [COMPUTED]


def test_a_record_of_an_early_version_is_stale_and_no_error(made):
    run, folder, _ = made
    (folder / "run.json").write_text("{}")
    assert findings(run) == [("stale", "code, parameters")]


def test_changed_missing_and_unmade_files_are_found(made):
    run, folder, _ = made
    (folder / "t.csv").write_bytes(TABLE.replace(b"2", b"3"))
    assert findings(run) == [("wrong", "was changed"), COMPUTED]
    (folder / "t.csv").unlink()
    assert findings(run) == [("wrong", "is missing"), COMPUTED]
    (folder / "run.json").unlink()
    assert findings(run) == [("absent", "needs adult")]
