"""All verdicts together, from runs that ended well, lacked data, or failed."""

from dataclasses import dataclass

import pandas as pd
import pytest

from sensorprivacy.report import collect, counts, open_run, printed_values, write_replication
from sensorprivacy.report.replication import CollectError, claims_table, read_verdicts, replication_text
from sensorprivacy.report.verdicts import COLUMNS
from sensorprivacy.runner.runs import read_runs


@dataclass(frozen=True)
class State:
    status: str
    reason: str = ""
    claims: tuple[str, ...] = ()


@pytest.fixture
def home(tmp_path, monkeypatch, root):
    """Return an empty checkout that has the printed values."""
    for folder in ("notebooks", "lib", "data"):
        (tmp_path / folder).mkdir()
    (tmp_path / "data" / "paper").symlink_to(root / "data" / "paper")
    monkeypatch.setenv("SENSORPRIVACY_HOME", str(tmp_path))
    return tmp_path


@pytest.fixture
def values():
    """Return a paper of two tables."""
    whole = printed_values(2)
    return whole[whole["table"].isin(["2", "7"])].reset_index(drop=True)


def ran(name, ours, **options):
    with open_run(name, parameters={}) as run:
        run.claims(ours, **options)


def table_2(values, **other):
    own = values[values["table"] == "2"]
    return dict(zip(own["claim_id"], own["value"], strict=True)) | other


def test_every_printed_value_has_a_row(home, values):
    ran("20_x", table_2(values))
    lacking = State("no data", "titanic: fetch it\nby hand", ("2-T7-*",))
    whole = collect("quick", {"20_x": State("ok", claims=("2-T2-*",)), "21_x": lacking}, values=values)
    assert tuple(whole.columns) == COLUMNS
    assert whole["claim_id"].tolist() == values["claim_id"].tolist()
    assert whole["verdict"].value_counts().to_dict() == {"exact": 12, "no data": 12}
    absent = whole[whole["verdict"] == "no data"]
    assert set(absent["reason"]) == {"titanic: fetch it by hand"}
    assert set(absent["run"]) == {"21_x"}


def test_the_file_is_what_is_returned_and_byte_stable(home, values):
    ran("20_x", table_2(values))
    states = {"20_x": State("ok", claims=("2-T2-*",)), "21_x": State("no data", "why", ("2-T7-*",))}
    whole = collect("quick", states, values=values)
    path = home / "figures" / "quick" / "verdicts.csv"
    first = path.read_bytes()
    pd.testing.assert_frame_equal(read_verdicts(path), whole.astype(read_verdicts(path).dtypes.to_dict()))
    collect("quick", states, values=values)
    assert path.read_bytes() == first
    assert not (home / "figures" / "verdicts.csv").exists()


def test_by_default_all_claims_of_the_papers_that_runs_answer_for(home):
    whole = collect("quick", {"x": State("no data", "why", ("2-*",))})
    assert whole["claim_id"].tolist() == printed_values(2)["claim_id"].tolist()
    assert collect("quick", {}).empty


def test_a_failed_run_is_told_from_missing_data(home, values):
    failed = State("failed", "NotebookFailedError in cell 3", ("2-*",))
    whole = collect("quick", {"20_x": failed}, values=values)
    assert set(whole["verdict"]) == {"no data"}
    assert set(whole["reason"]) == {"run 20_x failed: NotebookFailedError in cell 3"}


def test_verdicts_of_a_run_that_failed_later_are_not_used(home, values):
    ran("20_x", table_2(values))
    whole = collect("quick", {"20_x": State("failed", "cell 1", ("2-*",))}, values=values)
    assert set(whole["verdict"]) == {"no data"}


def test_the_closest_pattern_says_which_run_answers(home, values):
    states = {"a": State("no data", "all", ("2-*",)), "b": State("no data", "seven", ("2-T7-*",))}
    whole = collect("quick", states, values=values).set_index("claim_id")
    assert whole.loc["2-T2-age", "reason"] == "all"
    assert whole.loc["2-T7-age", "reason"] == "seven"


def test_a_claim_that_its_run_did_not_judge_is_an_error(home, values):
    ran("20_x", {"2-T2-age": 1.0})
    states = {"20_x": State("ok", claims=("2-T2-*",)), "21_x": State("no data", "why", ("2-T7-*",))}
    with pytest.raises(
        CollectError, match=r"11 printed values are not judged: 2-T2-work \(run 20_x does not compute it"
    ):
        collect("quick", states, values=values)
    whole = collect("quick", states, values=values, unjudged="no data")
    assert "run 20_x does not compute it in this profile" in set(whole["reason"])


def test_a_claim_that_a_summary_judges_may_lack_while_the_summary_has_not_run(home, values):
    ran("20_x", {"2-T2-age": 1.0})
    states = {"20_x": State("ok", claims=("2-*",)), "22_summary": State("not run", "make reproduce")}
    whole = collect("quick", states, values=values)
    assert whole["verdict"].value_counts()["no data"] == len(values) - 1


def test_a_claim_that_no_run_answers_for_is_an_error(home, values):
    states = {"21_x": State("no data", "why", ("2-T7-*",))}
    with pytest.raises(CollectError, match=r"12 printed values .* \(no run judges it\)"):
        collect("quick", states, values=values)


def test_a_claim_judged_by_two_runs_is_an_error(home, values):
    ran("20_x", {"2-T2-age": 1.0})
    ran("22_x", {"2-T2-age": 1.0})
    states = {name: State("ok", claims=("2-*",)) for name in ("20_x", "22_x")}
    with pytest.raises(CollectError, match="2-T2-age by 20_x, 22_x"):
        collect("quick", states, values=values)


def test_verdicts_changed_by_hand_are_refused(home, values):
    ran("20_x", {"2-T2-age": 0.9}, unexplained="allow")
    path = home / "figures" / "quick" / "20_x" / "verdicts.csv"
    path.write_text(path.read_text().replace("differs", "exact"))
    with pytest.raises(CollectError, match="is not what run 20_x wrote"):
        collect("quick", {"20_x": State("ok", claims=("2-*",))}, values=values)


def test_a_run_that_is_ok_but_left_nothing_is_an_error(home, values):
    with pytest.raises(CollectError, match=r"run 20_x is ok but left no run\.json"):
        collect("quick", {"20_x": State("ok", claims=("2-*",))}, values=values)


def test_a_run_that_answers_for_nothing_need_leave_nothing(home):
    assert collect("quick", {"00_x": State("ok")}).empty


def test_a_run_may_judge_nothing(home, values):
    with open_run("00_x", parameters={}) as run:
        run.table(pd.DataFrame({"a": [1]}), "t", "c")
    states = {"00_x": State("ok"), "21_x": State("no data", "why", ("2-*",))}
    assert len(collect("quick", states, values=values)) == len(values)


def test_another_word_for_unjudged_is_refused(home):
    with pytest.raises(ValueError, match="unjudged='skip': choose error or no data"):
        collect("quick", {}, unjudged="skip")


def test_counts_by_table_in_the_papers_order(home):
    ran("20_x", {"2-T11-r1-utility": 0.5952, "2-T2-age": 1.0})
    states = {"20_x": State("ok"), "x": State("no data", "why", ("2-*",))}
    counted = counts(collect("quick", states))
    assert counted.columns.tolist() == [
        "printed",
        "exact",
        "within",
        "differs",
        "undecided",
        "no data",
        "not reproducible",
    ]
    assert counted.index.get_level_values("table").tolist() == [*map(str, range(2, 16)), "text"]
    assert counted.loc[(2, "2")].tolist() == [12, 1, 0, 0, 0, 11, 0]
    assert counted.loc[(2, "11")].tolist() == [30, 0, 0, 1, 0, 29, 0]
    assert counts(collect("quick", states), by=("paper",)).loc[2, "printed"] == 485


def test_the_page_names_every_claim_that_is_not_exact_with_a_link_to_its_entry(home):
    ours = {"2-T11-r1-utility": 0.5952, "2-T2-age": 1.0, "2-T3-r1-stability": 0.0, "2-T6-d02-object": "door contact"}
    ran("20_x", ours, impossible={"2-T3-r1-stability": "nothing can be ambiguous"})
    states = {"20_x": State("ok"), "x": State("no data", "titanic: get it", ("2-*",))}
    text = replication_text(collect("quick", states), profile="quick")
    assert (
        "| 2-T11-r1-utility | 11 | (0.50, 0.50) | Utility | 0.59 | 0.5952 | 0.0052 | rows | [D16](DEVIATIONS.md#d16):"
        in text
    )
    assert "### Not reproducible (1)" in text
    assert "nothing can be ambiguous; [D9](DEVIATIONS.md#d9):" in text
    assert "### Exact, with a corrected misprint (1)" in text
    assert "titanic: get it" in text
    assert "**Profile quick: not the papers' own settings.**" in text
    assert "2-T2-age" not in text


def test_the_page_goes_where_its_profile_belongs(home):
    verdicts = collect("quick", {"x": State("no data", "why", ("2-*",))})
    assert write_replication(verdicts) == home / "REPLICATION.md"
    assert write_replication(verdicts, profile="quick") == home / "figures" / "quick" / "REPLICATION.md"
    assert write_replication(verdicts, home / "page.md").read_text() == (home / "REPLICATION.md").read_text()


def test_the_page_names_the_engines_of_runs_that_had_a_choice(home):
    verdicts = collect("quick", {"x": State("no data", "why", ("2-*",))})
    trained = pd.DataFrame([("10_x", 1, "shared", 7, 3)], columns=["run", "judged", "engine", "trees", "seed"])
    assert "## Engines" not in replication_text(verdicts, engines=trained.head(0))
    text = replication_text(verdicts, engines=trained)
    assert "## Engines" in text
    assert [cell.strip() for cell in text.splitlines()[-1].split("|")[1:-1]] == ["10_x", "1", "shared", "7", "3"]


def test_every_run_that_judges_claims_has_its_row_on_the_page(home, root):
    rows = claims_table()
    runs = read_runs(root / "runs.yaml")
    judging = {name for name, run in runs.items() if run.claims}
    named = rows["command"].str.extract("ONLY=([^`]+)")[0]
    assert named.is_unique
    assert judging <= set(named) <= set(runs)
    assert rows["results"].tolist() == [f"`figures/quick/{name}/`" for name in named]
    text = replication_text(collect("quick", {"x": State("no data", "why", ("2-*",))}))
    assert all(command in text for command in rows["command"])
