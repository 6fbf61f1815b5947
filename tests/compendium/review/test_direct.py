"""Values that need no run are recomputed without one, with the committed value, verdict and basis."""

import pandas as pd
import pytest

from compendium.cli import main
from compendium.paths import figures_dir
from compendium.review import cell, direct
from compendium.run.runs import read_runs
from compendium.verdicts import judge
from compendium.verdicts.replication import read_verdicts

COMPARED = ["ours", "low", "high", "unit", "verdict", "basis"]


@pytest.fixture(scope="module")
def committed():
    return read_verdicts(figures_dir("paper") / "verdicts.csv").set_index("claim_id", drop=False)


@pytest.fixture
def no_runs(monkeypatch):
    """Fail if a run is started."""

    def reproduce(*_, **__):
        raise AssertionError("a run was started")

    monkeypatch.setattr(cell, "reproduce", reproduce)


def without_run(claim, committed):
    return direct.without_run(claim, read_runs()[committed.loc[claim, "run"]], "quick")


def check(claim, committed, source):
    row, words = without_run(claim, committed)
    pd.testing.assert_series_equal(row[COMPARED], committed.loc[claim, COMPARED], check_names=False)
    assert words == source


@pytest.mark.parametrize("claim", ["1-T12-thr001-accuracy", "1-text-flows"])
def test_a_log_cell_needs_the_logs_only(claim, committed, mirror, no_runs, capsys):
    assert main(["review", claim]) == 0
    said = capsys.readouterr().out
    assert f"{claim} needs no run: it is recomputed from the authors' published logs" in said
    row = committed.loc[claim]
    assert f"recomputed  {row['ours']}  {row['verdict']} (basis log; without a run)" in said
    assert f"committed   {row['ours']}  {row['verdict']} (basis log; paper profile)" in said
    assert said.endswith("12_game_summary, not run: recomputed from the authors' published logs\n")


def test_an_arithmetic_cell_divides_two_printed_numbers(committed, no_runs, capsys):
    """It trained autoencoders for 796 s, and cited an entry on another library."""
    assert main(["review", "3-T4-gender-per-embedding"]) == 0
    said = capsys.readouterr().out
    assert "recomputed  0.00057262217  not reproducible (basis arithmetic; without a run)" in said
    assert "D52: " in said
    assert "D54" not in said


def test_every_log_cell_equals_the_committed_one(committed, mirror):
    run = read_runs()["12_game_summary"]
    found = direct._logs("1-text-flows", run, "quick")
    judged = judge(found.ours, run=run.name, unexplained="allow", **found.options)
    own = committed[committed["basis"] == "log"]
    judged = judged.set_index("claim_id", drop=False).loc[own.index]
    pd.testing.assert_frame_equal(judged[COMPARED], own[COMPARED])


def test_every_relative_effectiveness_equals_the_committed_one(committed):
    found = direct._printed_1()
    judged = judge(found.ours, run="12_game_summary").set_index("claim_id", drop=False)
    own = committed[(committed["basis"] == "arithmetic") & (committed["run"] == "12_game_summary")]
    assert len(own) == 75
    pd.testing.assert_frame_equal(judged.loc[own.index, COMPARED], own[COMPARED])


def test_cells_of_a_set_on_this_machine_are_left_to_its_run(committed, mirror, monkeypatch):
    assert without_run("1-T3-netml-rank1", committed)[0]["verdict"] == "no data"
    monkeypatch.setattr(direct, "_absent_1", dict)
    for claim in ("1-T12-thr001-accuracy", "1-T3-netml-rank1"):
        assert without_run(claim, committed) is None


@pytest.mark.parametrize(
    ("claim", "source"),
    [
        ("1-text-methods", "the paper's own printed values"),
        ("3-T5-activity-type", "the printed tables, the settings and the networks' layers"),
        ("3-T7-activity-batch", "the printed tables, the settings and the networks' layers"),
        ("3-T6-encoder-0-time", "the printed tables, the settings and the networks' layers"),
    ],
)
def test_a_setting_needs_no_data(claim, source, committed):
    check(claim, committed, source)


@pytest.mark.parametrize(
    ("claim", "source"),
    [
        ("1-T1-iot23-users", "the data set iot-23"),
        ("3-text-motionsense-trials", "the data set motionsense"),
        ("3-text-decoder-in-cloud", "the networks' layers, the sampling rate and the printed times"),
    ],
)
def test_a_size_needs_its_data_set_only(claim, source, committed, mirror):
    check(claim, committed, source)


@pytest.mark.parametrize("claim", ["1-text-best-first", "3-T4-encoder-0-embeddings", "2-T10-r1-utility"])
def test_a_value_that_needs_a_model_needs_its_run(claim, committed):
    assert without_run(claim, committed) is None


def test_a_record_of_a_board_is_left_to_its_run(committed):
    run = read_runs()["40_edge_timing-motionsense"]
    named = run.model_copy(update={"parameters": {**run.parameters, "records": ["board.json"]}})
    assert direct.without_run("3-T6-encoder-0-time", named, "quick") is None
