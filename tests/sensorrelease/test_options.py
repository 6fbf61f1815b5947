"""The size of a table is said before anything is loaded."""

from sensorrelease import options


def test_a_large_text_has_an_expectation(tmp_path, monkeypatch):
    file = tmp_path / "home.csv"
    file.write_text("a,b,c\n" + "1,2,3\n" * 1000)
    assert options.expectation(file) == ""
    monkeypatch.setattr(options, "LARGE", 1000)
    assert options.expectation(file) == "about 1,001 rows of 3 columns: about 2 minutes on two free cores"
    assert options.expectation(tmp_path / "none.csv") == options.expectation(file.rename(tmp_path / "x.parquet")) == ""
