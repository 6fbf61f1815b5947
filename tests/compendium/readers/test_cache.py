"""Tables kept as parquet: made once, and made again if anything they depend on changes or the file is damaged."""

import pandas as pd
import pytest

from compendium.readers.cache import derived


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.setenv("SENSORPRIVACY_CACHE", str(tmp_path))
    return tmp_path / "derived"


class Maker:
    def __init__(self):
        self.times = 0

    def __call__(self):
        self.times += 1
        return pd.DataFrame({"a": [1, 2], "b": ["x", "y"]}).astype({"a": "int8"})


def test_made_once(folder):
    make = Maker()
    first = derived("table", make, digest="d", stride=2)
    second = derived("table", make, stride=2, digest="d")
    assert make.times == 1
    pd.testing.assert_frame_equal(first, second)
    assert [path.suffix for path in folder.iterdir()] == [".parquet"]  # nothing half-written is left


def test_made_anew_for_other_members_choices_and_readers(folder, monkeypatch):
    make = Maker()
    derived("table", make, digest="d", stride=2)
    derived("table", make, digest="e", stride=2)
    derived("table", make, digest="d", stride=3)
    derived("other", make, digest="d", stride=2)
    monkeypatch.setattr("compendium.readers.cache.READER_VERSION", 99)
    derived("table", make, digest="d", stride=2)
    assert make.times == 5


@pytest.mark.parametrize("damage", [b"", b"PAR1 and then nothing"])
def test_damaged_table_is_made_anew(folder, damage):
    make = Maker()
    derived("table", make, digest="d")
    (path,) = folder.iterdir()
    path.write_bytes(damage)
    assert derived("table", make, digest="d").equals(Maker()())
    assert make.times == 2
    derived("table", make, digest="d")
    assert make.times == 2


def test_table_is_returned_where_the_cache_cannot_be_written(folder):
    folder.write_text("a file where the folder should be")
    with pytest.warns(UserWarning, match="the table table cannot be stored for the next run"):
        assert derived("table", Maker(), digest="d").equals(Maker()())


def test_a_maker_that_fails_leaves_nothing(folder):
    def fail():
        raise RuntimeError("no")

    with pytest.raises(RuntimeError, match="no"):
        derived("table", fail, digest="d")
    assert not folder.exists()
