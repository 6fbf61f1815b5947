"""Tables as text: the same bytes everywhere, nothing lost."""

import io

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from compendium.show.tables import csv_text, markdown_text, number_text, shown_table


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0.1 + 0.2, "0.3"),
        (0.30000000000000004 - 0.3, "0"),
        (1309.0, "1309"),
        (48842, "48842"),
        (float("nan"), ""),
        (None, ""),
        (pd.NA, ""),
        (pd.NaT, ""),
        (np.float64(0.123456789), "0.123457"),
        (np.int64(7), "7"),
        (float("inf"), "inf"),
        (True, "yes"),
        (np.False_, "no"),
        ({"b", "a"}, "a, b"),
        (("b", 1.0), "b, 1"),
        (-0.0, "0"),
        (1e-9, "1e-09"),
    ],
)
def test_cells(value, text):
    assert number_text(value) == text


@given(st.floats(-1e6, 1e6, allow_nan=False))
def test_numbers_survive_csv_to_ten_digits(value):
    read = pd.read_csv(io.StringIO(csv_text(pd.DataFrame({"a": [value, 1.5]}))))["a"][0]
    assert read == pytest.approx(value, rel=1e-9, abs=1e-11)


def test_csv_is_the_same_whatever_the_last_bits():
    one, other = pd.DataFrame({"a": [0.1 + 0.2]}), pd.DataFrame({"a": [0.3]})
    assert csv_text(one) == csv_text(other) == "a\n0.3\n"


def test_an_index_that_says_what_a_row_is_is_kept():
    named = pd.DataFrame({"n": [1]}, index=pd.Index(["titanic"], name="set"))
    nameless = pd.DataFrame({"n": [1]}, index=["titanic"])
    assert csv_text(named) == "set,n\ntitanic,1\n"
    assert csv_text(nameless) == ",n\ntitanic,1\n"
    assert "titanic" in markdown_text(nameless)


def test_an_index_that_only_counts_is_not():
    frame = pd.DataFrame({"n": [1, 2, 3]})
    assert csv_text(frame[frame["n"] > 1]) == "n\n2\n3\n"
    assert csv_text(frame.rename_axis("round")) == "round,n\n0,1\n1,2\n2,3\n"


def test_levels_of_index_and_columns_are_laid_flat():
    index = pd.MultiIndex.from_tuples([(2, "7")], names=["paper", "table"])
    columns = pd.MultiIndex.from_tuples([("ours", "low"), ("ours", "high")])
    frame = pd.DataFrame([[0.1, 0.2]], index=index, columns=columns)
    assert csv_text(frame) == "paper,table,ours low,ours high\n2,7,0.1,0.2\n"


def test_columns_given_twice_are_refused():
    with pytest.raises(ValueError, match="more than one column named a"):
        csv_text(pd.DataFrame([[1, 2]], columns=["a", "a"]))


def test_markdown_aligns_numbers_and_escapes_bars():
    frame = pd.DataFrame({"name": ["a|b", "c\nd"], "n": [1.5, 2.0]})
    assert markdown_text(frame, "A caption") == (
        "**A caption**\n\n| name | n |\n| :--- | ---: |\n| a\\|b | 1.5 |\n| c d | 2 |\n"
    )


def test_a_shown_table_is_html_with_its_caption():
    shown = shown_table(pd.DataFrame({"<a>": ["x & y"], "n": [0.5]}), "Caption <1>")
    html = shown._repr_html_()
    assert "Caption &lt;1&gt;" in html
    assert "&lt;a&gt;" in html
    assert "x &amp; y" in html
    assert '<td style="text-align:right">0.5</td>' in html
    assert repr(shown) == shown.text


def test_an_empty_table_is_its_head():
    empty = pd.DataFrame({"a": pd.Series(dtype=float)})
    assert csv_text(empty) == "a\n"
    assert markdown_text(empty) == "| a |\n| ---: |\n"
    assert "<thead>" in shown_table(empty, "")._repr_html_()
