"""The map from printed value to ours: every value has a cell, and each cell is read in one way."""

import pandas as pd
import pytest

from compendium.paths import data_dir
from compendium.run.runs import read_runs
from compendium.verdicts import cells, layout, printed_values, recompute
from compendium.verdicts.printed import missing_words
from compendium.verdicts.verdicts import Ours, VerdictError

VALUES = printed_values()


def claim(**fields):
    known = {"claim_id": "1-T1-x", "printed": "0.5", "value": 0.5, "basis": "rows", "needs": "", "undecided": ""}
    known |= {"our_table": "t", "where": "level=0.1", "our_column": "accuracy"}
    return pd.DataFrame([known | fields])


def table(**columns):
    return pd.DataFrame(columns, dtype=str)


def read(claims, missing=None, **tables):
    return cells.read(claims, tables.get, lambda name: (missing or {}).get(name, ""))


def test_every_printed_value_has_a_run_and_a_cell():
    assert (VALUES[["run", "our_table", "where", "our_column"]] != "").all(axis=None)
    assert set(VALUES["run"]) <= set(read_runs())


def test_what_a_value_needs_is_a_data_set_or_a_known_word():
    runs = read_runs().values()
    known = {name for run in runs for name in run.sets} | set(missing_words())
    words = {word for text in VALUES["needs"] for word in text.split(", ") if word}
    assert words <= known


def test_the_committed_verdicts_follow_from_the_committed_tables():
    differ = recompute.differences("paper")
    assert differ.empty, f"python -m compendium report verdicts\n{differ.head(20).to_string()}"


def test_the_index_is_up_to_date():
    written = (data_dir() / "paper" / "index.md").read_text(encoding="utf-8")
    assert written == layout.index_page(), "python -m compendium report index"


def test_a_cell_is_read_with_its_interval():
    plain = table(level=["0", "0.1"], accuracy=["0.9", "0.4"])
    ends = plain.assign(accuracy_low=["", "0.3"], accuracy_high=["", "0.6"])
    assert read(claim(), t=plain).ours["1-T1-x"] == Ours(0.4)
    assert read(claim(), t=ends).ours["1-T1-x"].unit == "rows"
    counted = ends.assign(accuracy_unit="draws", accuracy_n="6")
    assert read(claim(), t=counted).ours["1-T1-x"] == Ours(0.4, 0.3, 0.6, over="draws", n=6)


@pytest.mark.parametrize(
    ("printed", "column", "ours"),
    [
        ("{a, b}", "names", ["b", "a"]),
        ("(0.5, 0.3)", "(alpha, beta)", (0.5, 0.25)),
        ("true", "holds", False),
        ("1.9k", "windows", "1.9k"),
        ("Light", "word", "light"),
    ],
)
def test_a_cell_is_read_as_what_is_printed(printed, column, ours):
    cells_of = {"names": "b, a", "alpha": "0.5", "beta": "0.25", "holds": "no", "windows": "1947", "word": "light"}
    rows = pd.DataFrame([{"level": "0.1"} | cells_of])
    found = read(claim(printed=printed, value=float("nan"), our_column=column), t=rows)
    assert found.ours["1-T1-x"].value == ours


def test_the_first_cell_with_a_value_counts_and_has_its_basis():
    two = claim(our_table="t | log", where="level=0.1 | line=3", our_column="accuracy | log", basis="rows | log")
    log = table(line=["3"], log=["0.7"])
    for tables, value, basis in (({"t": table(level=["0.1"], accuracy=["0.4"])}, 0.4, "rows"), ({}, 0.7, "log")):
        found = read(two, **tables, log=log)
        assert (found.ours["1-T1-x"].value, found.basis) == (value, {"1-T1-x": basis})


def test_a_row_may_be_undecided_and_a_statement_without_a_value_is():
    rows = table(level=["0.1"], accuracy=["0.4"], undecided=["a busy board"])
    assert read(claim(), t=rows).undecided == {"1-T1-x": "a busy board"}
    assert read(claim(), t=rows.assign(accuracy="")).ours == {}
    assert read(claim(undecided="one sweep"), t=rows.assign(undecided="")).undecided == {"1-T1-x": "one sweep"}


def test_without_a_cell_the_missing_data_are_the_reason():
    asked = claim(needs="opportunity, pi3")
    assert read(asked, {"pi3": "no board", "opportunity": "get it"}).no_data == {"1-T1-x": "get it; no board"}
    assert read(asked, {"pi3": "no board"}).no_data == {"1-T1-x": "no board"}
    assert read(asked).no_data == {"1-T1-x": "the run has no table t"}
    older = read(asked, t=table(level=["0.2"], accuracy=["0.4"]))
    assert older.undecided == {"1-T1-x": "the run's table t has no row where level=0.1"}


def test_a_selector_that_does_not_fit_its_table_is_an_error():
    rows = table(level=["0.1", "0.1"], accuracy=["1", "2"])
    with pytest.raises(VerdictError, match=r"1-T1-x, table t: 'level=0\.1' names 2 rows"):
        read(claim(), t=rows)
    with pytest.raises(VerdictError, match="1-T1-x, table t: no column 'threshold' among level, accuracy"):
        read(claim(where="threshold=0.1"), t=rows)
    with pytest.raises(VerdictError, match="1-T1-x: no column 'recall' among level, accuracy"):
        read(claim(our_column="recall"), t=rows.head(1))
