"""Files that are read whole: a bomb and a missing cell."""

import pytest

from sensorrelease.read import whole


def test_an_excel_file_that_unpacks_too_far_is_refused(tmp_path, monkeypatch):
    import pandas as pd

    pd.DataFrame({"a": [1], "b": [2]}).to_excel(tmp_path / "a.xlsx", index=False)
    assert whole.read_excel(tmp_path / "a.xlsx", ())[0].shape == (1, 2)
    monkeypatch.setattr(whole, "_MOST_UNPACKED", 10)
    with pytest.raises(ValueError, match="it unpacks to more than 10 bytes"):
        whole.read_excel(tmp_path / "a.xlsx", ())


def test_twins_are_named():
    with pytest.raises(ValueError, match="more than one column named a"):
        whole.refuse_twins(["a", "b", " a"], "x.csv")
