"""Digits that are labels stay text: 0100 and 100 are two households."""

import pytest

from sensorrelease.read.text import label_columns


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("id,x\n0100,1\n100,2\n", ["id"]),
        ("id,x\n100,0\n101,0.5\n", []),  # a single 0 and 0.5 are numbers
        ("id,x\n0100,1\nabc,2\n", []),  # text already
        ("id,x\n1234567890123456,1\n,2\n", ["id"]),  # a gap makes floats, which round such a number
        ("id,x\n1234567890123456,1\n1234567890123457,2\n", []),
    ],
)
def test_columns_of_labels(tmp_path, text, expected):
    file = tmp_path / "table.csv"
    file.write_text(text)
    assert label_columns(file, "", "utf-8", sep=",") == expected
