"""Rows are written once each, in an order that says nothing, and folders appear only when complete."""

import numpy as np
import pandas as pd
import pytest

from sensorprivacy.own.publishing.writing import check_new, new_folder, write_rows


@pytest.fixture
def table():
    return pd.DataFrame({"x": np.arange(200) / 8, "name": [None] * 50 + ['a,\n"b"'] * 150, "n": range(200)})


def pieces(table, rows):
    return (table.iloc[start : start + rows] for start in range(0, len(table), rows))


def read(file):
    return pd.read_csv(file) if file.suffix == ".csv" else pd.read_parquet(file)


@pytest.mark.parametrize("suffix", [".csv", ".parquet"])
@pytest.mark.parametrize("rows", [200, 50, 23])
def test_all_rows_are_written_in_random_order(table, tmp_path, rows, suffix):
    file = tmp_path / f"out{suffix}"
    assert write_rows(pieces(table, rows), file, rows=200) == 200
    found = read(file)
    again = found.sort_values("n", ignore_index=True)
    pd.testing.assert_frame_equal(again, table, check_dtype=False)
    assert abs(np.corrcoef(found["n"], range(200))[0, 1]) < 0.4
    assert abs(np.diff(found["n"])).mean() > 40  # 67 for a random order, also across pieces
    assert [path.name for path in tmp_path.iterdir()] == [file.name]


def test_the_order_is_kept_on_request(table, tmp_path):
    write_rows(pieces(table, 23), tmp_path / "out.csv", rows=200, in_order=True)
    assert read(tmp_path / "out.csv")["n"].tolist() == list(range(200))


@pytest.mark.parametrize("error", [ValueError("wrong"), KeyboardInterrupt()])
def test_a_failure_leaves_nothing(table, tmp_path, error):
    def broken():
        yield table.iloc[:50]
        raise error

    with pytest.raises(type(error)), new_folder(tmp_path / "out", "--out") as folder:
        write_rows(broken(), folder / "t.csv", rows=200)
    assert list(tmp_path.iterdir()) == []


def test_a_folder_appears_at_the_end(tmp_path):
    out = tmp_path / "out"
    out.mkdir()  # an empty one may be replaced
    with new_folder(out, "--out") as folder:
        (folder / "file").write_text("x")
        assert list(out.iterdir()) == []
    assert [path.name for path in out.iterdir()] == ["file"]
    with pytest.raises(ValueError, match="exists already"):
        check_new(out, "--out")
    with pytest.raises(ValueError, match="there is no folder"):
        check_new(tmp_path / "no" / "out", "--out")
