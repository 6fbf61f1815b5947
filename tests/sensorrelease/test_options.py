"""Options that click lacks refuse what is no number; the size of a table is said before anything is loaded."""

import click
import pytest

from sensorrelease import options
from sensorrelease.options import Jobs, Numbers


@pytest.mark.parametrize(("kind", "value"), [(Jobs(-1, 8), "0"), (Jobs(-1, 8), "-2"), (Numbers(0, 1), "nan")])
def test_no_work_and_no_number_are_refused(kind, value):
    with pytest.raises(click.BadParameter):
        kind.convert(value, None, None)
    assert kind.convert("1", None, None) == 1


def test_a_large_text_has_an_expectation(tmp_path, monkeypatch):
    file = tmp_path / "home.csv"
    file.write_text("a,b,c\n" + "1,2,3\n" * 1000)
    assert options.expectation(file) == ""
    monkeypatch.setattr(options, "LARGE", 1000)
    assert options.expectation(file) == "about 1,001 rows of 3 columns: about 2 minutes on two free cores"
    assert options.expectation(tmp_path / "none.csv") == options.expectation(file.rename(tmp_path / "x.parquet")) == ""
