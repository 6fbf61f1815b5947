"""Cells alone, and their digest."""

import pandas as pd
import pytest

from sensorrelease.columns.cells import bare_frame, table_digest


def test_what_lies_beside_the_cells_stays_behind():
    table = pd.DataFrame({" a ": pd.Categorical(["x", "y"], ["x", "y", "secret"]), "b": [1, 2]}, index=[7, 8])
    table.attrs["note"] = "secret"
    found = bare_frame(table.rename_axis("row"))
    assert found.to_dict("list") == {"row": [7, 8], "a": ["x", "y"], "b": [1, 2]}
    assert "secret" not in f"{found.attrs} {found['a'].dtype}"
    with pytest.raises(ValueError, match="more than one column named a"):
        bare_frame(pd.DataFrame([[1, 2]], columns=["a", "a "]))
    with pytest.raises(ValueError, match="column 'a' has nested values"):
        bare_frame(pd.DataFrame({"a": [[1]]}))


def test_the_digest_covers_names_and_cells_and_not_the_index():
    table = pd.DataFrame({"a": [1, 2], "b": ["x", None]})
    assert table_digest(table) == table_digest(table.set_axis([5, 6]))
    others = [table.rename(columns={"a": "c"}), table.assign(a=[2, 1]), table.assign(b="x"), table.iloc[:1]]
    assert len({table_digest(each) for each in [table, *others]}) == 5
