"""Tables of text and escaped HTML."""

import pytest
from jinja2 import UndefinedError

from sensorrelease.pages import columns_page, render, text_table


def test_a_row_may_lack_the_last_cells():
    rows = [{"loss": "1%", "best": "none"}, {"loss": "10%", "best": "noise", "attack": "20%"}]
    assert text_table(rows).splitlines() == [
        "loss  best   attack",
        "----  -----  ------",
        "1%    none",
        "10%   noise  20%",
    ]


def test_columns_are_listed_up_to_a_limit():
    read = [{"column": f"c{at}", "read": "numbers", "used": "feature", "missing": at, "coded": ""} for at in range(42)]
    found = columns_page({"columns": read, "form": "CSV", "rows_read": 1000})
    assert found.startswith("Columns (CSV, 1,000 rows)")
    assert "c39" in found
    assert found.endswith("and 2 more columns; --json FILE writes all of them")
    assert columns_page({}) == ""


def test_a_value_that_a_template_needs_is_not_forgotten():
    with pytest.raises(UndefinedError, match="adversary"):
        render("verdict.txt")
