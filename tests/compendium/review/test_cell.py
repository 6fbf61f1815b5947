"""One printed value recomputed: what is run, what is shown, and what a wrong word or a failed run leads to."""

import pandas as pd
import pytest

from compendium.cli import main
from compendium.paths import figures_dir
from compendium.review import cell
from compendium.run.runs import read_runs
from compendium.run.states import FAILED, OK, RunState
from compendium.verdicts.printed import printed_values
from compendium.verdicts.verdicts import read_verdicts

CLAIM, RUN = "2-T10-r1-utility", "21_threeway_division-adult"
SUMMARY_CLAIM, SUMMARY = "1-T1-iot23-users", "12_game_summary"


@pytest.fixture
def pretend(monkeypatch, tmp_path):
    """Let the batch write a verdict of its own choice instead of running for minutes; return the calls."""
    calls, read, starts = [], read_verdicts, iter(["committed", "2026-11-25T10:00:00", "2026-11-25T11:00:00"])

    def set_value(ours, status=OK, *, repeated=True):
        def reproduce(profile, look, *, cores, only):
            calls.append((profile, cores, only, cell.status_file(RUN, profile).is_file()))
            return {only[0]: RunState(status, "the reason")}

        def both(path):
            found = read(figures_dir("paper") / "verdicts.csv")
            return found if path.parent.name != "quick" else found.assign(ours=ours, low=0.61, high=0.72, unit="rows")

        monkeypatch.setattr(cell, "status_file", lambda run, profile: tmp_path / run)
        (tmp_path / RUN).touch()
        monkeypatch.setattr(cell, "_started", lambda run, profile: next(starts) if repeated else "yesterday")
        monkeypatch.setattr(cell, "reproduce", reproduce)
        monkeypatch.setattr(cell, "read_verdicts", both)
        return calls

    return set_value


def test_printed_recomputed_and_committed_are_shown(pretend, capsys):
    calls = pretend("0.6814")
    assert main(["review", CLAIM, "--cores", "2"]) == 0
    assert calls == [("quick", 2, [RUN], True)]
    said = capsys.readouterr().out
    assert f"{CLAIM} needs 1 run(s) and the report, about 0.4 min on two idle cores: {RUN}" in said
    assert f"{CLAIM}: paper 2, Table 10, row '(0.50, 0.50)', column 'Utility'\nprinted     0.68\n" in said
    assert "recomputed  0.681 [0.610, 0.720], unit rows  exact (basis rows; quick profile)" in said
    assert "committed   0.681  exact (basis rows; paper profile)" in said
    assert f"run         {RUN}\ncell        printed-pairs, alpha=0.5; beta=0.5, utility\n" in said
    assert "utility\ncode        notebooks/21_threeway_division.ipynb, code cell " in said
    assert 'run.table(beside["printed-pairs"], "printed-pairs")\n' in said
    assert said.endswith(f"repeated    {RUN}, started 2026-11-25T11:00:00\n")


def test_every_mapped_table_has_a_line_of_its_notebook():
    values, runs = cell.printed_values(), cell.read_runs()
    pairs = {
        (runs[run].notebook, table) for run, table in zip(values["run"], values["our_table"], strict=True) if table
    }
    lost = [(path.stem, table) for path, table in sorted(pairs) if ":" not in cell.code_of_table(path, table)]
    assert lost == [], "a reader finds no code for the value"


def test_a_value_of_a_log_is_not_called_recomputed():
    """44 of paper 1's values come from rows; 181 are selected from the logs that its authors published."""
    row = pd.Series(
        {"claim_id": "1-x", "paper": 1, "table": "4", "row": "a", "column": "b", "printed": "1", "ours": "1"}
    )
    row = pd.concat([row, pd.Series({"verdict": "exact", "basis": "log", "reason": "", "low": None, "unit": ""})])
    row["run"] = "a_run"
    said = cell._text("place", "code", "quick", row, row, "then", {"a_run": "now"}, {}).splitlines()
    assert said[2].startswith("selected from the log 1  exact (basis log; quick")
    assert said[3].startswith("committed             1  exact")
    assert "recomputed" not in " ".join(said)


def test_a_value_that_nothing_was_run_for_is_not_called_recomputed(pretend, capsys):
    calls = pretend("0.6814", repeated=False)
    assert main(["review", CLAIM]) == 0
    said = capsys.readouterr().out
    assert "kept        0.681" in said
    assert "recomputed" not in said
    assert said.endswith(f"not run     {RUN}: up to date since yesterday; FORCE=1 repeats it\n")
    assert main(["review", CLAIM, "--force"]) == 0
    assert [kept for *_, kept in calls] == [True, False]


@pytest.fixture
def alone(monkeypatch):
    """Let a summary end at once instead of running; return the runs that were started."""
    started = []

    def perform(name, profile):
        started.append((name, profile))
        return RunState(status)

    def none(*_, **__):
        raise AssertionError("no other run is needed")

    status = OK
    starts = iter(["committed", "before", *["of a run"] * 22, "after"])
    monkeypatch.setattr(cell, "_started", lambda run, profile: next(starts))
    monkeypatch.setattr(cell, "perform", perform)
    monkeypatch.setattr(cell, "reproduce", none)
    return started


@pytest.mark.parametrize("profile", [(), ("--profile", "paper")])
def test_a_summary_is_repeated_alone_from_the_committed_tables(alone, profile, capsys):
    """Table 1 of paper 1 is in notebook 12, which reads 22 runs of eleven hours."""
    assert main(["review", SUMMARY_CLAIM, *profile]) == 0
    assert alone == [(SUMMARY, "paper")]
    said = capsys.readouterr().out
    assert f"{SUMMARY_CLAIM} needs {SUMMARY} alone: it reads the committed tables of " in said
    assert "recomputed  36  differs (basis configuration; paper profile)" in said
    assert said.endswith(f"repeated    {SUMMARY}, started after\n")


def test_every_summary_is_repeated_alone():
    """A summary needs no data set of its own, and reads other runs."""
    runs = read_runs()
    assert {name for name, run in runs.items() if run.summarizes} == {SUMMARY, "32_anonymization_summary"}
    assert all("earlier_runs" in runs[name].notebook.read_text() for name in (SUMMARY, "32_anonymization_summary"))


def test_a_failed_summary_is_an_error(alone, monkeypatch, capsys):
    monkeypatch.setattr(cell, "perform", lambda *_: RunState(FAILED, "the reason"))
    assert main(["review", SUMMARY_CLAIM]) == 1
    assert f"{SUMMARY} failed: the reason" in capsys.readouterr().err


def test_tables_without_a_record_of_their_time_are_of_an_unknown_date(monkeypatch, tmp_path):
    """Committed tables have no date of the run; git knows when they were committed, and an archive has no git."""
    monkeypatch.setattr(cell, "figures_dir", lambda profile: tmp_path / profile)
    monkeypatch.setattr(cell, "git", lambda *_: "2026-11-20")
    assert cell._started("no_run", "paper") == "an unknown date (committed on 2026-11-20)"
    monkeypatch.setattr(cell, "git", lambda *_: None)
    assert cell._started("no_run", "paper") == "an unknown date"


def test_the_age_of_the_committed_value_is_stated(pretend, monkeypatch, capsys):
    pretend("0.6814")
    monkeypatch.setattr(cell, "_started", lambda run, profile: f"{profile} date")
    assert main(["review", CLAIM]) == 0
    assert "profile)\n            from tables of paper date\n" in capsys.readouterr().out


def test_ours_has_the_unit_of_the_printed_value():
    """A reviewer read 50.86% beside 0.5348."""
    row = {"printed": "50.86%", "ours": "0.5348", "low": 0.3141, "high": 0.6666, "unit": "5 draws"}
    assert cell._value(pd.Series(row)) == "53.48% [31.41, 66.66], unit 5 draws"
    assert cell._value(pd.Series({"printed": "true", "ours": "", "low": None, "high": None, "unit": ""})) == "none"


def test_an_unknown_value_is_named_with_similar_ones(capsys):
    assert main(["review", "2-T10-r1-utilty"]) == 1
    assert "no printed value 2-T10-r1-utilty; similar: 2-T10-r1-utility" in capsys.readouterr().err


def test_a_run_of_the_other_profile_is_named_with_the_remedy(monkeypatch, capsys):
    runs = read_runs()
    runs |= {RUN: runs[RUN].model_copy(update={"minutes": {"paper": 9}})}
    monkeypatch.setattr(cell, "read_runs", lambda: runs)
    assert main(["review", CLAIM]) == 2
    assert f"{RUN} is in the profile paper only: add --profile paper" in capsys.readouterr().err


def test_a_failed_run_is_an_error(pretend, capsys):
    pretend("", FAILED)
    assert main(["review", CLAIM]) == 1
    assert f"{RUN} failed: the reason" in capsys.readouterr().err


def test_every_printed_value_has_a_run():
    verdicts = read_verdicts(figures_dir("paper") / "verdicts.csv")
    assert set(verdicts["claim_id"]) == set(printed_values()["claim_id"])
    assert set(printed_values()["run"]) <= cell.read_runs().keys()
    assert dict(zip(verdicts["claim_id"], verdicts["run"], strict=True)) == dict(
        zip(printed_values()["claim_id"], printed_values()["run"], strict=True)
    )
