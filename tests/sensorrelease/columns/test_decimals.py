"""Numbers with a decimal comma are numbers, and unclear ones are refused."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sensorrelease.columns.decimals import Numbers
from sensorrelease.read.formats import read_table


def read(tmp_path, text):
    (tmp_path / "t.csv").write_text(text, encoding="utf-8")
    return read_table(tmp_path / "t.csv")


def decided(frame):
    return Numbers().observe(frame).decide("t.csv").apply(frame)


def test_decimal_commas_are_read_as_numbers(tmp_path):
    """REVIEW A9: they became text, and then numbers of categories."""
    found = read(tmp_path, "name;a;b;n\nx;1,5;-0,25;1\ny;2;1.234,5;2\nz;;3e2;3\n")
    assert found["a"].tolist()[:2] == [1.5, 2.0]
    assert np.isnan(found["a"][2])
    assert found["b"].tolist() == [-0.25, 1234.5, 300.0]
    assert found["n"].dtype == np.int64
    assert found["name"].tolist() == ["x", "y", "z"]


def test_quoted_decimal_commas_between_commas(tmp_path):
    assert read(tmp_path, 'a,b\n"1,5",x\n"2,25",y\n')["a"].tolist() == [1.5, 2.25]


@given(st.lists(st.floats(-1e9, 1e9).map(lambda x: round(x, 4)), min_size=2, max_size=9), st.sampled_from(["", "."]))
def test_numbers_come_back_as_spreadsheets_write_them(numbers, thousands):
    cells = [f"{number:,.4f}".replace(",", "_").replace(".", ",").replace("_", thousands) for number in numbers]
    found = decided(pd.DataFrame({"x": cells, "text": "1,2,3"}))
    assert found["x"].tolist() == numbers
    assert found["text"].tolist() == ["1,2,3"] * len(numbers)


def test_one_clear_number_decides_for_the_file(tmp_path):
    assert read(tmp_path, "a;b\n1,234;0,5\n2,345;1,5\n")["a"].tolist() == [1.234, 2.345]


@pytest.mark.parametrize(
    ("text", "numbers"),
    [
        ("a;b\n1,234,567;x\n2,345;y\n", [1234567, 2345]),  # two commas separate thousands
        ("a;b\n1,234.5;x\n2,345;y\n", [1234.5, 2345]),
        ("a;b\n1,234;0.5\n2,345;1.5\n", [1234, 2345]),  # the file has decimal points
        ("a;b\n1 234.5;x\n2 345;y\n", [1234.5, 2345]),
        ("a;b\n1'234.5;x\n17;y\n", [1234.5, 17]),
    ],
)
def test_thousands(tmp_path, text, numbers):
    assert read(tmp_path, text)["a"].tolist() == numbers


def test_a_mark_in_a_column_of_numbers_is_missing(tmp_path):
    found = read(tmp_path, "a,b,c\n1.5,?,?\n-,x,2\n3,y,4\n")
    assert found["a"].tolist()[::2] == [1.5, 3]
    assert found["a"].isna().tolist() == [False, True, False]
    assert found["b"].tolist() == ["?", "x", "y"]
    assert found.attrs["numbers"] == {
        "a": "1 cell counts as missing",
        "c": "1 cell counts as missing",
    }


@pytest.mark.parametrize(
    "cells", [["room 1,5", "room 2"], ["1,2,3", "4,5"], ["12.05.2024", "13.05.2024"], [",", "1,5"]]
)
def test_other_texts_stay_texts(cells):
    frame = pd.DataFrame({"x": cells})
    assert decided(frame) is frame


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("a;b\n1,234;x\n2,345;y\n", r"t\.csv: column 'a' holds numbers such as '1,234', where the comma can mean"),
        ("a;b\n1,234.5;0,5\n2,345.5;0,7\n", r"mixes decimal commas \(column 'b'\) and decimal points \(column 'a'\)"),
        ("a;b\n1,5;2.5\n2,5;3.5\n", r"t\.csv mixes decimal commas \(column 'a'\) and decimal points \(column 'b'\)"),
    ],
)
def test_unclear_numbers_are_refused(tmp_path, text, says):
    with pytest.raises(ValueError, match=says + ".*write numbers with a decimal point"):
        read(tmp_path, text)
