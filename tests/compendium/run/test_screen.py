"""The last screen of `make reproduce`."""

import pytest

from compendium.datasets import network
from compendium.paths import command, figures_dir
from compendium.run import screen
from compendium.run.runs import read_runs, select
from compendium.run.screen import absences, counted, numbers, shortfalls, summary
from compendium.run.states import FAILED, NO_DATA, NOT_RUN, OK, DataState, RunState

GAME = "10_reidentification_game-cic-ids-2017"
WATCH = "10_reidentification_game-smartwatch"
TABLES = {
    "base": "unit,accuracy,identifiability,identifiability_chance\nrows,0.95,{before},0.1\ngroups,0.9,0.3,0.1\n",
    "selection": "threshold,accuracy,identifiability\n0,0.9,0.5\n0.01,0.46,{after}\n",
}


@pytest.fixture
def home(tmp_path, monkeypatch, root):
    """Return a function that writes the tables of a run of paper 1, in a checkout without results."""
    for name in ("notebooks", "data", "lib", "runs.yaml"):
        (tmp_path / name).symlink_to(root / name)
    monkeypatch.setenv("SENSORPRIVACY_HOME", str(tmp_path))

    def write(run, before, after):
        folder = figures_dir("quick") / run
        folder.mkdir(parents=True)
        for name, text in TABLES.items():
            (folder / f"{name}.csv").write_text(text.format(before=before, after=after))

    return write


def ended(status=NOT_RUN, **states):
    return dict.fromkeys(select(read_runs(), [], "quick"), RunState(status)) | states


def test_of_the_data_sets_of_a_paper_the_first_that_a_run_read_gives_the_number(home):
    home(WATCH, 0.92, 0.22)
    states = ended() | {GAME: RunState(NO_DATA), WATCH: RunState(OK)}
    own = {
        "paper": "1",
        "what": "smartwatch: people identified",
        "printed": "none",
        "ours": "92% -> 22%",
        "chance": "10%",
        "task": "95% -> 46%",
    }
    assert numbers(states, "quick")[0] == own
    home(GAME, 0.61, 0.41)
    first = numbers(states | {GAME: RunState(OK)}, "quick")[0]
    assert (first["printed"], first["ours"]) == ("57.68% -> 45.85%", "61% -> 41%")
    home(GAME.replace("cic", "other"), 0, 0)
    assert numbers(states | {GAME: RunState(FAILED)}, "quick")[0] == own, "a failed run left old tables"


def test_a_number_without_a_run_says_why(home):
    for status in (NO_DATA, FAILED):
        rows = numbers(ended(status), "quick")
        assert [row["paper"] for row in rows] == ["1", "1", "2", "2", "3", "3"]
        assert {(row["ours"], row["printed"], row["chance"], row["task"]) for row in rows} == {(status, "", "", "")}


def test_every_number_and_picture_is_of_a_run(home):
    runs = read_runs()
    for entry in screen.contents()["number"]:
        for choice in entry["choices"]:
            places = [*choice["ours"], *choice.get("task", []), *filter(None, [choice.get("chance")])]
            assert {place.partition("/")[0] for place in places} <= set(runs)
    for entry in screen.contents()["picture"]:
        assert {name.partition("/")[0] for name in entry["files"]} <= set(runs)


def test_absent_sets_are_named_once_for_each_reason(monkeypatch):
    down = network.Network()
    monkeypatch.setattr(network, "NETWORK", down)
    monkeypatch.setattr(screen, "NETWORK", down)
    absent = [DataState(name) for name in ("motionsense", "mobiact", "titanic", "amir")]
    on_request = f"no data: mobiact, amir: on request, see {command('data list NAME')}"
    again = "try again: make data"
    assert absences(absent) == [f"no data: motionsense, titanic: not downloaded; {again}", on_request]
    down.unreachable |= dict.fromkeys(("raw.githubusercontent.com", "github.com"), "name not resolved")
    assert absences(absent, 1)[0] == f"no data: motionsense and 1 more: no connection; {again}"


def test_the_worst_end_fits_a_screen(home):
    """28 runs without data were 28 lines, and a failure could be a page."""
    home(WATCH, 0.92, 0.22)
    states = ended(FAILED)
    for at, name in enumerate(states):
        states[name] = RunState(
            [OK, NO_DATA, FAILED, NOT_RUN][at % 4], [f"cause {at} " + 200 * "x", f"{name} failed"][at % 4 == 3], "a.log"
        )
    page = figures_dir("quick").parents[1] / "build" / "pages" / "quick" / "index.html"
    lines = summary(states, "quick", page).splitlines()
    assert len(lines) <= 24
    assert max(map(len, lines)) <= screen.WIDTH
    assert lines[0] == f"quick profile, {len(states)} runs: {counted(states)}"
    assert lines[-1] == "open build/pages/quick/index.html"
    assert sum(line.startswith("failed: ") for line in lines) == 4
    assert not [line for line in lines if line.startswith("no data") and line.endswith(" ...")], "a remedy is cut"


def test_failures_and_what_did_not_run_are_named():
    states = {"10_a": RunState(OK), "20_b": RunState(NOT_RUN), "30_c": RunState(FAILED, "why", "a.log")}
    states |= {"40_d": RunState(NOT_RUN, "30_c failed")}
    assert counted(states) == "1 ok, 1 failed, 2 not run"
    assert shortfalls(states) == [
        "failed: 30_c (a.log): why",
        "not run: nobody asked for them: 20_b",
        "not run: 30_c failed: 40_d",
    ]
