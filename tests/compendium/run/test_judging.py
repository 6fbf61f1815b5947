"""A run's printed values are judged by its own tables, and what it lacks is recorded."""

import pandas as pd
import pytest

from compendium.datasets import store
from compendium.run import judging
from compendium.run.provenance import Run
from compendium.verdicts.verdicts import UnexplainedError

SUMMARY = "20_threeway_example"
TABLE_2 = pd.DataFrame({"attribute": ["Work", "Age"], "entropy (nats)": [0.802, 2.8], "evaluation": [0.29, 9.0]})


def example(age=1.0, **options):
    """Return a run that reproduces printed values, with a table that holds two of them."""
    run = Run(SUMMARY, parameters={}, **options)
    run.table(TABLE_2.replace(9.0, age), "table-2", "Table 2")
    return run


@pytest.fixture
def home(tmp_path, monkeypatch, root):
    """Return an empty checkout that has the printed values."""
    for folder in ("notebooks", "lib", "data"):
        (tmp_path / folder).mkdir()
    (tmp_path / "data" / "paper").symlink_to(root / "data" / "paper")
    monkeypatch.setenv("SENSORPRIVACY_HOME", str(tmp_path))
    return tmp_path


def test_values_are_read_from_the_tables_of_the_run(home):
    run = example()
    judged = run.verdicts({"2-text-sample-attributes": 12, "2-text-sample-age-highest": None}).set_index("claim_id")
    assert isinstance(judged, pd.DataFrame)
    assert judged.loc[["2-T2-work", "2-T2-age"], "verdict"].tolist() == ["exact", "exact"]
    assert judged.loc[["2-text-sample-attributes", "2-text-sample-age-highest"], "verdict"].tolist() == [
        "exact",
        "undecided",
    ]
    assert judged.loc["2-text-sample-instances", "verdict"] == "undecided"  # the table has no such row
    text = (run.close() / "verdicts.csv").read_text().splitlines()
    assert text[0] == "claim_id,paper,table,row,column,printed,ours,low,high,unit,verdict,basis,reason,run"
    assert [row.split(",")[0] for row in text[1:3]] == ["2-T2-age", "2-T2-work"]
    assert (run.folder / "statements.csv").read_text().splitlines()[1] == "2-text-sample-attributes,12,"


def test_verdicts_show_themselves(home):
    html = example().verdicts()._repr_html_()
    assert "49 printed values: 3 exact, 10 undecided, 36 no data; " in html
    assert "<b>=</b> 0.290 " in html


def test_with_the_paper_s_settings_a_difference_needs_a_reason(home):
    with pytest.raises(UnexplainedError, match=r"2-T2-age \(printed 1\.0, ours 0\.9\)"):
        example(0.9, profile="paper").verdicts()


@pytest.mark.slow
def test_what_is_missing_is_recorded(home, monkeypatch):
    monkeypatch.setattr(store, "state", lambda name: {"why": f"get {name}"})
    run = Run("22_threeway_summary", parameters={})
    judged = run.verdicts().set_index("claim_id")
    assert judged.loc["2-T4-titanic-records", ["verdict", "reason"]].tolist() == ["no data", "get titanic"]
    assert "titanic,get titanic" in (run.close() / "missing.csv").read_text().splitlines()


def test_a_run_of_ones_own_is_not_judged(home):
    run = example(replicates=False)
    assert run.verdicts({"2-text-sample-attributes": 12}).empty
    written = {path.name for path in run.close().iterdir()}
    assert written == {"run.json", "machine.json", "table-2.csv"}


def test_a_statement_without_a_value_is_undecided():
    table = judging.statement_table({"a": True, "b": None, "c": 3}, {"c": "too few"})
    assert table["undecided"].tolist() == ["", "the test does not decide", "too few"]


def test_a_statement_on_no_printed_value_is_refused_with_the_nearest_id():
    judging.check_ids(["2-T2-age", "3-text-outperforms-aae"])
    with pytest.raises(LookupError, match=r"there is no printed value '2-T2-aeg'\. Did you mean '2-T2-age'\?"):
        judging.check_ids(["2-T2-age", "2-T2-aeg"])


COMMITTED = {"2-T2-age": "exact", "2-T2-work": "differs", "2-T2-country": "exact", "2-T2-gender": "no data"}


def verdicts_of(found, ours="0.5"):
    """Return verdicts by claim, each with our value."""
    return pd.DataFrame(
        [{"claim_id": name, "ours": ours, "verdict": verdict, "reason": ""} for name, verdict in found.items()]
    )


@pytest.mark.parametrize(
    ("claim", "quick", "shown"),
    [
        ("2-T2-age", "differs", "undecided"),  # IoT Sentinel: 11 of 22 values, all of which come out
        ("2-T2-work", "exact", "undecided"),  # a rival of one epoch, which our method beats
        ("2-T2-country", "exact", "exact"),
        ("2-T2-country", "no data", "no data"),
        ("2-T2-gender", "exact", "undecided"),
        ("2-T2-unknown", "differs", "differs"),
    ],
)
def test_short_settings_never_contradict_the_committed_verdict(claim, quick, shown):
    found = judging.undecided_if_short(verdicts_of({claim: quick}, "0.4"), verdicts_of(COMMITTED)).iloc[0]
    assert (found["verdict"], found["ours"]) == (shown, "0.4")
    full = f"undecided (short settings); the paper profile has: {COMMITTED.get(claim)}, ours 0.5"
    assert found["reason"] == (full if shown == "undecided" else "")


def test_the_committed_verdicts_of_a_short_run_are_asked_for(home, root, monkeypatch):
    (home / "figures").mkdir()
    committed = pd.read_csv(root / "figures" / "verdicts.csv", dtype=str, keep_default_na=False)
    committed[committed["claim_id"] == "2-T2-age"].to_csv(home / "figures" / "verdicts.csv", index=False)
    monkeypatch.setattr(judging, "_is_shortened", lambda run: True)
    judged = example(0.9, profile="quick").verdicts().set_index("claim_id")
    assert judged.loc["2-T2-age", "verdict"] == "undecided"
    assert judged.loc["2-T2-age", "reason"].startswith("undecided (short settings); the paper profile has: exact, ours")
    assert judged.loc["2-T2-work", "verdict"] == "exact"


def test_runs_are_shortened_by_their_profiles(root, monkeypatch):
    monkeypatch.setenv("SENSORPRIVACY_HOME", str(root))
    assert judging._is_shortened("10_reidentification_game-iot-sentinel")
    assert not judging._is_shortened("20_threeway_example")
    assert judging._is_shortened("12_game_summary")  # its own settings are whole, but it reads shortened runs
