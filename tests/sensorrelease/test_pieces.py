"""A table in pieces is the same table, and its sample does not depend on the pieces."""

import numpy as np
import pandas as pd
import pytest

from sensorrelease.read.formats import read_table
from sensorrelease.read.pieces import MOST_CATEGORIES, Pieces, survey


@pytest.fixture
def table():
    draw = np.random.default_rng(0)
    return pd.DataFrame(
        {
            "whole": draw.integers(9, size=50),
            "late": [1] * 40 + [0.5] * 10,  # whole numbers in the first pieces only
            "mixed": ["7"] * 40 + ["x"] * 10,
            "gap": [np.nan] * 20 + [3.0] * 30,
            "flag": draw.random(50) < 0.5,
            "who": draw.choice(["ann", "bob"], 50),
        }
    )


@pytest.mark.parametrize("suffix", [".csv", ".parquet"])
def test_pieces_together_are_the_table(table, tmp_path, suffix):
    file = tmp_path / f"home{suffix}"
    (table.to_csv if suffix == ".csv" else table.to_parquet)(file, index=False)
    pieces = Pieces(file, rows=7)
    assert [len(piece) for piece in pieces] == [7] * 7 + [1]
    together = pd.concat(list(pieces))
    pd.testing.assert_frame_equal(together, read_table(file))
    assert pieces.columns == list(table)
    assert len(list(Pieces(file))) == 1
    assert pieces.digest == Pieces(file).digest


def test_a_sample_does_not_depend_on_the_pieces(table, tmp_path):
    table.to_csv(tmp_path / "home.csv", index=False)
    found = [survey(Pieces(tmp_path / "home.csv", rows), 20, user="who", seed=3) for rows in (None, 7, 30)]
    for one in found:
        assert one.rows == 50
        assert one.most_rows == table["who"].value_counts().max()
        assert one.sample.index.is_monotonic_increasing
        assert one.categories == {"mixed": ["7", "x"], "flag": ["False", "True"], "who": ["ann", "bob"]}
        pd.testing.assert_frame_equal(one.sample, found[0].sample)
        pd.testing.assert_frame_equal(one.sample, table.loc[one.sample.index], check_dtype=False)
    assert len(survey(Pieces(table), 60).sample) == 50
    assert not survey(Pieces(table), 20, seed=4).sample.index.equals(found[0].sample.index)


def test_every_row_is_as_likely_in_the_sample():
    table, counts = pd.DataFrame({"x": range(300)}), np.zeros(300)
    for seed in range(30):
        counts[survey(Pieces(table, 100), 50, seed=seed).sample.index] += 1
    assert np.allclose(counts.reshape(6, 50).mean(axis=1) / 30, 1 / 6, atol=0.03)


def test_too_many_texts_are_not_collected():
    table = pd.DataFrame({"note": [f"n{at}" for at in range(MOST_CATEGORIES + 2)]})
    assert survey(Pieces(table, 3000), 10).categories == {}


@pytest.mark.parametrize(
    ("name", "how", "options"),
    [
        ("home.csv", "to_csv", {"sep": ";", "decimal": ",", "encoding": "utf-16"}),
        ("home.csv.gz", "to_csv", {"encoding": "cp1252"}),
        ("home.jsonl", "to_json", {"orient": "records", "lines": True}),
        ("home.feather", "to_feather", {}),
        ("home.xlsx", "to_excel", {}),
    ],
)
def test_pieces_of_every_format_are_the_table(table, tmp_path, name, how, options):
    file = tmp_path / name
    table["mixed"] = table["mixed"].replace("x", "\N{LATIN SMALL LETTER E WITH ACUTE}")
    getattr(table, how)(file, **({"index": False} if how in ("to_csv", "to_excel") else {}) | options)
    pieces = Pieces(file, rows=7)
    together = pd.concat(list(pieces))
    pd.testing.assert_frame_equal(together, read_table(file), check_dtype=how != "to_json")
    assert together["late"].tolist() == table["late"].tolist()
    assert pieces.name == "home"
    assert pieces.suffix in (".csv", ".parquet")


def test_numbers_are_judged_over_all_pieces(tmp_path):
    """A piece alone could not know that commas are decimal, or that a column holds texts."""
    (tmp_path / "home.csv").write_text("a;b;c\n1,234;1;1,5\n2,345;?;2,5\n0,7;3;x\n")
    together = pd.concat(list(Pieces(tmp_path / "home.csv", rows=1)))
    assert together["a"].tolist() == [1.234, 2.345, 0.7]
    assert together["b"].isna().tolist() == [False, True, False]
    assert together["c"].tolist() == ["1,5", "2,5", "x"]


@pytest.mark.parametrize(
    ("content", "words"),
    [("a;b\n1,234;2\n2,345;3\n", "decimal point"), ("a,b\n", "0 rows"), ("a,b\n1,2\n1,2,3\n", "line 3 has 3 values")],
)
def test_unfit_tables_are_refused(tmp_path, content, words):
    (tmp_path / "home.csv").write_text(content)
    with pytest.raises(ValueError, match=words):
        list(Pieces(tmp_path / "home.csv", rows=1))


def test_a_frame_keeps_no_index(table):
    assert "who" in Pieces(table.set_index("who")).columns  # a named index is a column, as in other formats
    frame = table.set_index(pd.Index(table["who"].to_numpy())).drop(columns="who")
    assert "who" not in Pieces(frame).columns
    assert next(iter(Pieces(frame))).index.equals(pd.RangeIndex(50))
