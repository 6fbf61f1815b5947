"""Checks that several readers share: the message quotes the input and lists what is allowed."""

from typing import Literal

import pytest

from sensorprivacy.checks import check_choice, require_columns


def test_an_unknown_choice_is_quoted_beside_the_choices():
    check_choice("form", "csv", Literal["csv", "zeek"])
    with pytest.raises(ValueError, match="form 'xml' is unknown, one of csv, zeek"):
        check_choice("form", "xml", Literal["csv", "zeek"])


def test_missing_columns_are_named_beside_the_first_columns():
    columns = [f"c{number}" for number in range(20)]
    require_columns(columns, ["c19"], "table.csv")
    with pytest.raises(ValueError, match=r"table\.csv has no column 'x', 'y'; it has c0, c1, .*c11, \.\.\.$"):
        require_columns(columns, ["x", "c1", "y"], "table.csv")
