"""The command: a page on stdout, a table on disk, errors before minutes are spent."""

import json
import re
import subprocess
import sys
from unittest.mock import Mock

import numpy as np
import pandas as pd
import pytest

from sensorprivacy import minimize, paths
from sensorprivacy.game import Measure
from sensorrelease import cli, commands
from sensorrelease.pages import render

FAST = ["--trees", "5", "--quiet"]


@pytest.fixture
def run():
    def call(*words):
        return cli.main(["minimize", *map(str, words)])

    return call


@pytest.fixture
def refused(run, capsys):
    """Return a function that runs a command with wrong words and checks what it says."""

    def call(*words, match, code=2):
        assert run(*words) == code
        said = " ".join(capsys.readouterr().err.split())
        assert re.search(match, said), said

    return call


@pytest.fixture
def table(problem):
    place = np.where(problem.features["task"] + 0.3 * problem.features["noise"] > 0.5, "kitchen", "hall")
    owner = [f"owner {number}" for number in problem.users]
    return problem.features.assign(corner=place, device=problem.task, owner=owner)


@pytest.fixture
def file(table, tmp_path):
    table.to_csv(tmp_path / "home.csv", index=False)
    return tmp_path / "home.csv"


@pytest.mark.first(1)
def test_page_and_release(run, refused, file, table, tmp_path, capsys):
    """With --out, data leave: by a confirmed schema or an accepted draft, with the card and the rules of publish."""
    out = tmp_path / "small"
    words = [file, *OWN, "--threshold", ".05", "--out", out, *FAST]
    refused(
        *words, match="data leave only by a schema that a person confirmed, and this one is drafted, .*--accept-draft"
    )
    assert run(*words, "--accept-draft") == 0
    said = capsys.readouterr().out
    for part in ("DATA MINIMIZATION OF data", "Features to keep", "Cost: accuracy", "Identifiability: share"):
        assert part in said
    page = said.split("DATA MIN")[1].split("# Data card")[0].splitlines()
    assert max(map(len, page)) <= 120
    assert len(page) < 70
    assert "Accepted without confirmation (drafted, not confirmed)" in said
    assert {path.name for path in out.iterdir()} == {"data.csv", "card.json", "card.md"}
    written = pd.read_csv(out / "data.csv")
    kept = list(written.columns[:-1])
    assert written.columns[-1] == "device"
    assert "task" in kept
    assert not {"user", "owner"} & set(kept)
    expected = table[[*kept, "device"]]
    assert not np.allclose(written["task"], expected["task"])  # in the old order, anyone could join the rows
    np.testing.assert_allclose(sorted(written["task"]), sorted(expected["task"]), atol=0.001)
    for name in kept:
        assert name in said.split("keep ")[1].split("drop ")[0]


def test_a_large_file_gets_an_estimate_at_once(run, file, capsys, monkeypatch):
    monkeypatch.setattr("sensorrelease.options.LARGE", 100)
    monkeypatch.setattr(commands, "minimize", lambda _: 0)
    assert run(file, *OWN) == 0
    assert re.match(r"about 2\d\d rows of 7 columns: about 2 minutes", capsys.readouterr().err)


@pytest.mark.slow
def test_two_stages_groups_and_a_store(run, file, table, tmp_path, capsys):
    table.assign(day=np.arange(240) // 8).to_csv(file, index=False)
    words = [file, "--task", "device", "--user", "owner", "--recording", "day", "--preselect", "2", "--score", "gini"]
    assert run(*words, "--store", tmp_path / "scores.sqlite", *FAST) == 0
    said = capsys.readouterr().out
    assert "2 of 4 features preselected by gini ratio" in said
    assert "3 subsets" in said
    assert "grouped" in said
    assert (tmp_path / "scores.sqlite").exists()


def test_stability_linkage_and_columns_are_on_the_page_and_in_the_json(run, refused, file, table, tmp_path, capsys):
    table = table.drop(columns="corner")
    table.assign(code=np.random.default_rng(3).permutation(240) * 7919 % 100_003, floor=1).to_csv(file, index=False)
    words = ["--threshold", "1", "--repeat", "2", "--json", tmp_path / "found.json"]
    assert run(file, *OWN, *words, *FAST) == 0
    said = " ".join(capsys.readouterr().out.split())
    assert "repeated with 2 other seeds (5 trees, up to 1,000 rows), kept in" in said
    assert said.index("can be matched to") < said.index("Features to keep") < said.index("Linkage: share of rows")
    assert re.search(r"equal values +9\d.\d\d% \(control", said)
    assert "withheld by the schema: 4 columns, with the user." in said
    assert "Warning: one column alone joins: noise" in said
    found = json.loads((tmp_path / "found.json").read_text())
    assert found["matched"][0]["share"] > 0.9
    assert found["stability"]["repetitions"] == 2
    read = {row["column"]: row["coded"] for row in found["table"]["columns"]}
    assert read["device"] == "2 levels"
    assert "step 0.001" in read["noise"]
    assert set(read) == {"user", "task", "noise", "device"}
    assert "home" not in (tmp_path / "found.json").read_text()
    refused(file, *OWN, "--json", file, match="--json .* is the input table itself")
    refused(file, *OWN, "--json", tmp_path / "x", "--store", tmp_path / "x", match="is the file of --json")


def test_a_task_with_one_large_class_is_flagged(run, file, table, capsys):
    rare = np.where(np.arange(240) % 17 == 0, "on", "off")
    table[["noise", "owner"]].assign(device=rare).to_csv(file, index=False)
    assert run(file, *OWN, "--repeat", "0", *FAST) == 0
    said = " ".join(capsys.readouterr().out.split())
    assert "Warning: the accuracy is not above the share of the most frequent class (off: 93.8% of the rows)" in said


def test_a_large_table_is_searched_on_a_sample(run, file, capsys):
    assert run(file, *OWN, "--max-rows", "60", "--repeat", "0", *FAST) == 0
    said = " ".join(capsys.readouterr().out.split())
    assert "on a sample of 60 of 168 training rows with 5 trees" in said
    assert "the final evaluation trains on 168 rows and uses all 36 test rows" in said
    assert "The loss counts from all columns" in said


@pytest.mark.slow
def test_threshold_table_says_what_is_undefined(run, file, capsys):
    run(file, "--task", "device", "--user", "owner", *FAST)
    rows = capsys.readouterr().out.split("threshold")[-1].splitlines()
    assert "N/A" in rows[2]


@pytest.fixture
def measured():
    return {
        "score": 0.5, "low": 0.4, "high": 0.6, "n": 100, "unit": "rows", "chance": 0.25, "p": 0.001, "p_any": 0.001,
        "balanced": 0.5, "auc": 0.7, "exposed": "ann", "exposed_recall": 1.0, "exposed_precision": 0.8, "unseen": 0.0,
    }  # fmt: skip


def test_a_recognized_user_has_a_number_and_no_name(measured):
    said = render("verdict.txt", adversary=Measure(**measured), exposed="1 of 3")
    assert "2.0 times the chance level" in said
    assert "most exposed user is number 1 of 3 in the order of their labels: 100% of this user's rows" in said
    assert "ann" not in said


def test_an_accuracy_below_chance_hides_no_recognized_user(measured):
    """REVIEW A1: "it learns nothing" was printed although one user was recognized in every row."""
    said = render("verdict.txt", adversary=Measure(**measured | {"score": 0.2, "p": 0.9}), exposed="1 of 3")
    assert "about the chance level over all users; users are recognized" in said
    assert "nothing" not in said


def test_no_sign_of_recognition_is_not_called_proof(measured):
    said = render(
        "verdict.txt", adversary=Measure(**measured | {"score": 0.2, "p": 0.9, "p_any": 0.4}), exposed="1 of 3"
    )
    assert said.startswith("No sign that any user is recognized")
    assert "That is no proof" in said


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--out", "no/such/small"], "there is no folder"),
        (["--schema", "none.yaml"], "there is no file none.yaml"),
        (["--trees", "0"], "--trees"),
        (["--threshold", "2"], "--threshold"),
        (["--seed", "-1"], "--seed"),
        (["--recording", "owner"], "different columns"),
    ],
)
def test_wrong_words(refused, file, words, message):
    refused(file, "--task", "device", "--user", "owner", "--quiet", *words, match=message)


def test_input_is_never_replaced(refused, file):
    before = file.read_bytes()
    refused(file, "--task", "device", "--user", "owner", "--out", file, match="exists already")
    assert file.read_bytes() == before


def test_wrong_column_and_constant_feature(run, refused, file, table):
    refused(file, "--task", "room", "--user", "owner", "--quiet", match="'room'")
    table.assign(floor=1).to_csv(file, index=False)
    assert run(file, *OWN, "--repeat", "0", *FAST) == 0


OWN = ["--task", "device", "--user", "owner"]


def test_errors_name_options_of_the_command(refused, file, table, monkeypatch):
    refused(file, "--task", "noise", "--user", "owner", *FAST, match="the task column .noise. .*--bins")
    draw = np.random.default_rng(0)
    wide = table[["device", "owner"]].assign(**{f"m{at}": draw.normal(size=240).round(2) for at in range(8)})
    wide.assign(m0=wide["m0"] + 3 * (table["device"] == "tv")).to_csv(file, index=False)
    monkeypatch.setattr("sensorprivacy.minimize.search.exhaustive.HOUR", 0.0)
    refused(file, *OWN, *FAST, match=r"start it with --allow-long, or .* \(--preselect\)", code=1)


@pytest.mark.parametrize(("words", "advice"), [([], "nothing was saved"), (["--store"], "are saved in .*scores")])
def test_an_interruption_says_what_is_saved(run, file, tmp_path, capsys, monkeypatch, words, advice):
    def interrupted(*_, **__):
        raise KeyboardInterrupt

    monkeypatch.setattr("sensorrelease.commands.fit_problem", interrupted)
    words = [*words, tmp_path / "scores"] if words else []
    assert run(file, *OWN, *words, *FAST) == 130
    assert re.search(advice, capsys.readouterr().err)


def test_a_folder_that_cannot_be_written_is_found_before_the_search(refused, file, tmp_path, monkeypatch):
    monkeypatch.setattr("sensorrelease.commands.fit_problem", lambda *_, **__: pytest.fail("the search has started"))
    words = [file, *OWN, "--out", tmp_path / "small", *FAST]
    monkeypatch.setattr(paths.tempfile, "TemporaryFile", Mock(side_effect=OSError(30, "Read-only file system")))
    refused(*words, match=r"cannot write to .*: Read-only file system; make it a writable folder", code=1)


def test_a_store_that_cannot_be_written_gives_a_clear_error(refused, file, tmp_path):
    refused(file, *OWN, "--store", tmp_path, *FAST, match=r"--store .*: this is a folder", code=2)


@pytest.mark.parametrize("words", [["minimize", "--help"], ["compare", "--help"], ["publish", "x.csv", "--outt", "y"]])
def test_help_and_wrong_words_load_no_forest(words):
    code = (
        f"import sys; from sensorrelease.cli import main; main({words}); "
        "print([name for name in ('sklearn', 'pandas', 'numba', 'matplotlib', 'torch') if name in sys.modules])"
    )
    said = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert said.strip().splitlines()[-1] == "[]"


def test_names_of_the_package():
    assert all(getattr(minimize, name) is not None for name in minimize.__all__)
    assert set(minimize.__all__) <= set(dir(minimize))
    with pytest.raises(AttributeError, match="maximize"):
        _ = minimize.maximize


def test_a_race_is_on_the_page_and_in_the_json(run, refused, file, tmp_path, capsys):
    out = tmp_path / "all.json"
    words = [file, "--task", "device", "--user", "owner", "--trees", "8", "--score", "gini", "--quiet", "--race"]
    assert run(*words, "--repeat", "0", "--json", out) == 0
    said, raced = " ".join(capsys.readouterr().out.split()), json.loads(out.read_text())["race"]
    assert f"in a race, {raced['dropped']:,} subsets were dropped before their first tree or after a few" in said
    wrong = r"--race needs --engine shared and at least 8 trees.*--exhaustive"
    refused(*words, "--engine", "sklearn", match=wrong)


def test_a_search_races_exhausts_or_decides_by_its_length(monkeypatch):
    given = []
    monkeypatch.setattr(commands, "minimize", lambda options: given.append(options.race) or 0)
    words = ["minimize", "home.csv", "--task", "device", "--user", "owner"]
    for way in ([], ["--race"], ["--exhaustive"]):
        assert cli.main([*words, *way]) == 0
    assert given == [None, True, False]
