"""The user's cache, and files that nobody reads half."""

import pytest

from sensorprivacy import paths


def test_an_atomic_write_that_fails_leaves_the_old_file_and_nothing_else(tmp_path, monkeypatch):
    path = tmp_path / "table.csv"
    paths.write_atomically(path, lambda part: part.write_text("old"))

    def fails(self, target):
        raise OSError(28, "disk full")

    monkeypatch.setattr("pathlib.Path.replace", fails)
    with pytest.raises(OSError, match="disk full"):
        paths.write_atomically(path, lambda part: part.write_text("new"))
    assert path.read_text() == "old"
    assert [file.name for file in tmp_path.iterdir()] == ["table.csv"]
