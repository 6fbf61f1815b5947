"""All verdicts together, from runs that ended well, lacked data, or failed."""

import re
import tomllib
from contextlib import closing
from dataclasses import dataclass
from fnmatch import fnmatchcase

import pandas as pd
import pytest

from compendium.datasets.catalogue import catalogue
from compendium.paths import data_dir
from compendium.run.provenance import Run
from compendium.verdicts import collect, counts, headline, judge, printed_values, write_replication
from compendium.verdicts.printed import claims_file, missing_words
from compendium.verdicts.replication import CollectError, headline_table, replication_text, summary_line
from compendium.verdicts.verdicts import COLUMNS, read_verdicts


@dataclass(frozen=True)
class State:
    status: str
    reason: str = ""


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
    """Return a paper of two tables, each of its own run."""
    whole = printed_values(2)
    whole = whole[whole["table"].isin(["2", "7"])].reset_index(drop=True)
    return whole.assign(run=whole["table"].map({"2": "20_x", "7": "21_x"}))


def ran(name, ours, **options):
    """Write verdicts as a run does, on any values."""
    with closing(Run(name, parameters={})) as run:
        run._judged = judge(ours, run=name, **options)


def table_2(values, **other):
    own = values[values["table"] == "2"]
    return dict(zip(own["claim_id"], own["value"], strict=True)) | other


def rest(paper, reason="why"):
    """Return the runs of a paper, all without data."""
    return dict.fromkeys(printed_values(paper)["run"].unique(), State("no data", reason))


def test_every_printed_value_has_a_row(home, values):
    ran("20_x", table_2(values))
    lacking = State("no data", "titanic: fetch it\nby hand")
    whole = collect("quick", {"20_x": State("ok"), "21_x": lacking}, values=values)
    assert tuple(whole.columns) == COLUMNS
    assert whole["claim_id"].tolist() == values["claim_id"].tolist()
    assert whole["verdict"].value_counts().to_dict() == {"exact": 12, "no data": 12}
    absent = whole[whole["verdict"] == "no data"]
    assert set(absent["reason"]) == {"titanic: fetch it by hand"}
    assert set(absent["run"]) == {"21_x"}


def test_the_file_is_what_is_returned_and_byte_stable(home, values):
    ran("20_x", table_2(values))
    states = {"20_x": State("ok"), "21_x": State("no data", "why")}
    whole = collect("quick", states, values=values)
    path = home / "figures" / "quick" / "verdicts.csv"
    first = path.read_bytes()
    pd.testing.assert_frame_equal(read_verdicts(path), whole.astype(read_verdicts(path).dtypes.to_dict()))
    collect("quick", states, values=values)
    assert path.read_bytes() == first
    assert not (home / "figures" / "verdicts.csv").exists()


def test_by_default_all_claims_of_the_papers_that_runs_answer_for(home):
    runs = printed_values(2)["run"].unique()
    whole = collect("quick", dict.fromkeys(runs, State("no data", "why")))
    assert whole["claim_id"].tolist() == printed_values(2)["claim_id"].tolist()
    assert collect("quick", {}).empty


def test_a_failed_run_is_told_from_missing_data(home, values):
    failed = State("failed", "NotebookFailedError in cell 3")
    whole = collect("quick", {"20_x": failed}, values=values)
    assert set(whole["verdict"]) == {"no data"}
    assert set(whole["reason"]) == {
        "run 20_x failed: NotebookFailedError in cell 3",
        "run 21_x is not in the profile quick",
    }


def test_verdicts_of_a_run_that_failed_later_are_not_used(home, values):
    ran("20_x", table_2(values))
    whole = collect("quick", {"20_x": State("failed", "cell 1")}, values=values)
    assert set(whole["verdict"]) == {"no data"}


def test_a_claim_that_its_run_did_not_judge_is_an_error(home, values):
    ran("20_x", {"2-T2-age": 1.0})
    states = {"20_x": State("ok"), "21_x": State("no data", "why")}
    with pytest.raises(CollectError, match=r"11 printed values are not judged: 2-T2-work \(run 20_x did not judge it"):
        collect("quick", states, values=values)


def test_verdicts_changed_by_hand_are_refused(home, values):
    ran("20_x", {"2-T2-age": 0.9}, unexplained="allow")
    path = home / "figures" / "quick" / "20_x" / "verdicts.csv"
    path.write_text(path.read_text().replace("differs", "exact"))
    with pytest.raises(CollectError, match="is not what run 20_x wrote"):
        collect("quick", {"20_x": State("ok")}, values=values)


def test_a_run_that_is_ok_but_left_nothing_is_an_error(home, values):
    with pytest.raises(CollectError, match=r"run 20_x is ok but left no run\.json"):
        collect("quick", {"20_x": State("ok")}, values=values)


def test_a_run_that_answers_for_nothing_need_leave_nothing(home):
    assert collect("quick", {"00_x": State("ok")}).empty


def test_a_run_may_judge_nothing(home, values):
    with closing(Run("00_x", parameters={})) as run:
        run.table(pd.DataFrame({"a": [1]}), "t", "c")
    states = {"00_x": State("ok"), "21_x": State("no data", "why")}
    assert len(collect("quick", states, values=values)) == len(values)


def test_counts_by_table_in_the_papers_order(home):
    ran("20_x", {"2-T11-r1-utility": 0.5952, "2-T2-age": 1.0})
    states = {"20_x": State("ok")} | rest(2)
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
    assert counts(collect("quick", states), by=("paper",)).loc[2, "printed"] == 492


def test_counts_by_basis_in_the_order_of_the_bases(home):
    ran(
        "20_x",
        {"2-T4-adult-attributes": 15, "2-text-datasets": 5, "2-T2-age": 1.0, "2-text-step": 0.1},
        unexplained="allow",
    )
    states = {"20_x": State("ok")} | rest(2)
    whole = collect("quick", states)
    counted = counts(whole, by=("paper", "basis"))
    assert counted.index.get_level_values("basis").tolist() == [
        "rows",
        "text",
        "construction",
        "arithmetic",
        "configuration",
    ]
    assert counted.loc[(2, "configuration"), ["printed", "exact", "differs"]].tolist() == [99, 2, 1]
    assert set(headline(whole)["basis"]) == {"rows", "text"}
    line = "336 of 492 printed values need data, published logs or a test for a check: 1 exact, 335 no data."
    assert summary_line(whole) == line


def test_values_by_construction_are_counted_apart_in_a_headline(home):
    ran("20_x", {"2-T9-r1-ambiguous": 0, "2-T9-r1-stability": 0.0, "2-T9-r1-utility": 0.42})
    table = headline_table(collect("quick", {"20_x": State("ok")} | rest(2)), "quick").set_index("claim")
    own = table.loc["Groups, utility, stability and suitability along the search (Tables 9 to 13)"]
    assert own["verdict"] == "1 exact, 134 no data; 15 by construction"


def test_the_page_shows_headlines_with_their_values_and_what_cannot_be_tested(home):
    ours = {"2-text-algorithm-stops": False, "2-text-final-titanic": (0.95, 0.05), "2-text-final-student": (0.95, 0.25)}
    why = {"2-text-algorithm-stops": "it moves back and forth"}
    ran("20_x", ours, impossible=why)
    states = {"20_x": State("ok")} | rest(2, "titanic: get it")
    text = replication_text(collect("quick", states), profile="quick")
    row = next(line for line in text.splitlines() if line.startswith("| 2 | Algorithm 1 as written stops"))
    cells = [cell.strip() for cell in row.split("|")[1:-1]]
    assert cells[2:] == ["true", "false", "not reproducible [D6](../../DEVIATIONS.md#d6)", "text", "[20_x](20_x/)"]
    row = next(line for line in text.splitlines() if "The determined thresholds" in line)
    assert "| 5 values |  | 1 exact, 1 differs, 3 no data | rows |" in row
    assert "| 489 | 2: Table 2, 2: Table 3," in text
    assert "titanic: get it" in text
    assert "**Profile quick: not the papers' own settings.**" in text


def test_each_link_of_a_quick_page_leads_to_its_file(home, root):
    """Links of figures/quick/REPLICATION.md started from the checkout, and led nowhere."""
    for name in ("DEVIATIONS.md", "runs.yaml"):
        (home / name).symlink_to(root / name)
    ran("20_x", {"2-text-algorithm-stops": False}, impossible={"2-text-algorithm-stops": "D6: back and forth"})
    path = write_replication(collect("quick", {"20_x": State("ok")} | rest(2)), profile="quick")
    text = path.read_text(encoding="utf-8")
    targets = set(re.findall(r"\]\(([^)#]+)", text))
    assert {path.parent / target for target in targets} >= {path.parent / "20_x/", path.parent / "verdicts.csv"}
    assert [target for target in targets if not (path.parent / target).exists()] == []
    assert {"../../DEVIATIONS.md", "../../runs.yaml"} <= targets
    assert "[figures/quick/verdicts.csv](verdicts.csv)" in text


def test_comparisons_with_other_people_are_shown_and_not_counted(home):
    compared = pd.DataFrame({"paper": 3, "table": "2", "verdict": ["within", "undecided", "within"]})
    compared = compared.assign(basis="rows, 8 of 36 people")
    with closing(Run("30_x", parameters={})) as run:
        run.table(compared, "comparison", "c")
    states = {"30_x": State("ok")} | rest(3)
    verdicts = collect("quick", states)
    text = replication_text(verdicts, profile="quick")
    assert "| 3: Table 2 | 3 | 2 within, 1 undecided | rows, 8 of 36 people | [30_x](30_x/) |" in text
    assert set(verdicts["verdict"]) == {"no data"}


def test_a_headline_in_words_shows_its_measurement(home):
    name, judge_of = "31_reidentification_attack-motionsense-gender", "32_anonymization_summary"
    strongest = pd.DataFrame({"level": ["window", "recording"], "score": [0.9, 0.7678], "low": [0.8, 0.7138]})
    strongest = strongest.assign(release="probabilistic", about="gender", high=0.8119, n="24 people", chance=0.5698)
    with closing(Run(name, parameters={})) as run:
        run.table(strongest, "strongest", "c")
    claims = printed_values(3).query("run == @judge_of")["claim_id"]
    ran(judge_of, {}, undecided=dict.fromkeys(claims, "why"))
    states = rest(3) | {judge_of: State("ok")}
    table = headline_table(collect("quick", states), "quick").set_index("claim")
    row = table.loc["After the probabilistic change, re-identification is prevented to a great extent"]
    assert row["ours"] == "accuracy on recordings 0.768 [0.714, 0.812] (24 people), chance 0.57"
    assert row["verdict"] == "undecided"


def test_the_committed_results_have_every_measurement_that_a_headline_shows(root):
    """A renamed column left both headlines on re-identification without interval and chance."""
    table = headline_table(read_verdicts(root / "figures" / "verdicts.csv")).set_index("claim")["ours"]
    shown = [entry["claim"] for entry in claims_file()["headline"] if "shown" in entry]
    assert len(shown) == 2
    measured = r"accuracy on \w+s 0\.\d+ \[0\.\d+, [01][.\d]*\] \(24 people\), chance 0\.\d+"
    for claim in shown:
        assert re.fullmatch(measured, table[claim]), claim


def test_three_to_six_headlines_for_each_paper_and_three_pages(root):
    verdicts = read_verdicts(root / "figures" / "verdicts.csv")
    table = headline_table(verdicts)
    assert table["paper"].value_counts().between(3, 6).all()
    assert (table["verdict"] != "").all()
    percentages = table[table["printed"].str.endswith("%")]
    assert percentages["ours"].str.match(r"\d+\.\d+%").sum() > 2  # one unit in a row
    assert not percentages["ours"].str.match(r"0\.").any()
    text = replication_text(verdicts)
    assert (root / "REPLICATION.md").read_text(encoding="utf-8") == text, "run the notebook 90_replication_report"
    assert len(text.splitlines()) <= 115  # two pages, and a third with the tests
    assert len(text) <= 12_000


def test_every_headline_names_printed_values():
    ids = printed_values()["claim_id"]
    headlines = tomllib.loads((data_dir() / "paper" / "claims.toml").read_text(encoding="utf-8"))["headline"]
    for entry in headlines:
        for pattern in entry["values"]:
            found = [name for name in ids if fnmatchcase(name, pattern)]
            assert found, pattern
            assert {name[0] for name in found} == {str(entry["paper"])}


def test_no_committed_page_pairs_a_quick_command_with_results_of_the_paper_profile(root):
    """C6: the table of claims named folders and minutes of the quick profile beside results of the paper profile."""
    text = (root / "REPLICATION.md").read_text(encoding="utf-8")
    assert "quick" not in text
    for folder in re.findall(r"\]\((figures/[^)]+)/\)", text):
        assert (root / folder / "run.json").is_file()


def test_the_page_goes_where_its_profile_belongs(home):
    verdicts = collect("quick", rest(2))
    assert write_replication(verdicts) == home / "REPLICATION.md"
    assert write_replication(verdicts, profile="quick") == home / "figures" / "quick" / "REPLICATION.md"


HELP = ("data/raw/", "data fetch", "on request from", "Raspberry Pi 3 Model B", "download", "notebooks 10 and 11")


def test_no_data_says_what_would_help(root):
    """Each reason in the committed verdicts, each word of the map, and each data set that may be absent."""
    committed = read_verdicts(root / "figures" / "verdicts.csv")
    words = [*committed.loc[committed["verdict"] == "no data", "reason"], *missing_words().values()]
    words += [one.how for one in catalogue().values() if not one.origins]
    assert len(words) > 100
    for reason in words:
        assert any(word in reason for word in HELP), reason
        assert "make reproduce" not in reason


def test_every_claim_in_words_states_test_unit_and_margin():
    values = printed_values()
    words = values[values["basis"].str.contains("text") | values["printed"].isin(["true", "false"])]
    decided = claims_file()["decided"]
    for claim in words["claim_id"]:
        groups = [entry for entry in decided if any(fnmatchcase(claim, pattern) for pattern in entry["values"])]
        assert len(groups) == 1, f"{claim}: {len(groups)} entries [[decided]] in claims.toml"
    for entry in decided:
        assert all(entry[name] for name in ("test", "unit", "margin"))
        for pattern in entry["values"]:
            assert any(fnmatchcase(claim, pattern) for claim in words["claim_id"]), (
                f"{pattern} decides no claim in words"
            )
