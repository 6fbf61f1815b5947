"""A file of recordings: read as it is, or refused with a reason."""

import pandas as pd
import pytest

from compendium.datasets import table
from sensorrelease.read.formats import read_table
from sensorrelease.read.text import infer_delimiter


@pytest.mark.parametrize("delimiter", [",", ";", "\t", "|"])
def test_delimiter_is_inferred(tmp_path, delimiter):
    frame = pd.DataFrame({"name": ["x, y", "z; w"], "v": [1.5, 2.0], "n": [1, 2]})
    frame.to_csv(tmp_path / "t.csv", sep=delimiter, index=False)
    pd.testing.assert_frame_equal(read_table(tmp_path / "t.csv"), frame)


def test_decimal_commas_in_semicolons():
    assert infer_delimiter(["a;b\n", "1,5;2,5\n", "2,5;3,5\n", "4,5;1,0\n"]) == ";"


def test_one_column_and_a_cell_over_two_lines(tmp_path):
    (tmp_path / "one.csv").write_text("only\n1\n2\n")
    assert read_table(tmp_path / "one.csv").shape == (2, 1)
    (tmp_path / "two.csv").write_text('a,b\n"over\ntwo",2\n')
    assert read_table(tmp_path / "two.csv")["a"].tolist() == ["over\ntwo"]


def test_byte_order_mark_is_no_part_of_a_name(tmp_path):
    (tmp_path / "t.csv").write_bytes("\ufeffa,b\n1,2\n".encode())
    assert list(read_table(tmp_path / "t.csv")) == ["a", "b"]


def test_parquet(tmp_path):
    frame = pd.DataFrame({"a": [1, 2], "b": ["x", None]})
    frame.to_parquet(tmp_path / "t.parquet")
    pd.testing.assert_frame_equal(read_table(tmp_path / "t.parquet"), frame)
    pd.testing.assert_frame_equal(table(str(tmp_path / "t.parquet")), frame)


@pytest.mark.parametrize(
    ("name", "content", "error", "says"),
    [
        ("none.csv", None, FileNotFoundError, "there is no file"),
        ("empty.csv", b"", ValueError, "is empty: remove it, or copy it again"),
        ("empty.parquet", b"", ValueError, "is empty"),
        ("head.csv", b"a,b\n", ValueError, "0 rows and 2 columns"),
        ("blank.csv", b"\n\n\n", ValueError, "blank.csv"),
        ("twins.csv", b"a,b,a,b\n1,2,3,4\n", ValueError, "more than one column named a, b"),
        ("spaces.csv", b"a, a\n1,2\n", ValueError, "more than one column named a"),
        ("long.csv", b"a,b\n1,2\n1,2,3\n", ValueError, "long.csv: line 3 has 3 values, but the header has 2"),
        ("index.csv", b"a,b\n9,1,2\n9,1,2\n", ValueError, "more values than the header"),
        ("zip.csv", b"PK\3\4\xff\xfe\0\0", ValueError, "is not text"),
        ("half.csv.gz", b"\x1f\x8b\x08\0\0", ValueError, "cannot be unpacked"),
        ("plain.csv.gz", b"a,b\n1,2\n", ValueError, "cannot be unpacked"),
        ("lines.jsonl", b"[1, 2", ValueError, "cannot be read as JSON lines"),
        ("text.feather", b"a,b\n1,2\n", ValueError, "cannot be read as Feather"),
        ("table.json", b"[]", ValueError, "one record per line and name it .jsonl"),
        ("text.parquet", b"a,b\n1,2\n", ValueError, "cannot be read as Parquet"),
        ("book.xlsx", b"x", ValueError, "cannot be read as Excel"),
        ("book.xls", b"x", ValueError, "save it as .xlsx or .csv"),
    ],
)
def test_refused_with_a_reason_that_names_the_file(tmp_path, name, content, error, says):
    if content is not None:
        (tmp_path / name).write_bytes(content)
    with pytest.raises(error, match=says) as caught:
        read_table(tmp_path / name)
    assert name in str(caught.value)


def test_a_description_of_recordings_names_the_commands_that_read_it(tmp_path):
    (tmp_path / "my.toml").write_text("name = 1")
    with pytest.raises(ValueError, match="unknown format: compare and publish read descriptions of recordings"):
        read_table(tmp_path / "my.toml")


def test_a_folder_is_refused(tmp_path):
    (tmp_path / "d.csv").mkdir()
    with pytest.raises(ValueError, match="is a folder"):
        read_table(tmp_path / "d.csv")


def test_parquet_with_twins(tmp_path):
    import pyarrow as pa
    import pyarrow.parquet as pq

    pq.write_table(pa.Table.from_arrays([pa.array([1]), pa.array([2])], names=["a", "a"]), tmp_path / "t.parquet")
    with pytest.raises(ValueError, match="more than one column named a"):
        read_table(tmp_path / "t.parquet")


@pytest.mark.slow
def test_a_wide_and_long_file_is_read_without_mixed_types(tmp_path):
    rows = "\n".join(f"{n},{'x' if n > 250_000 else n}" for n in range(300_000))
    (tmp_path / "t.csv").write_text(f"a,b\n{rows}\n")
    assert {type(value) for value in read_table(tmp_path / "t.csv")["b"]} == {str}


def _texts(frame):
    return {str(name) for name, column in frame.items() if not pd.api.types.is_numeric_dtype(column)}


def test_digits_with_leading_zeros_stay_texts(tmp_path):
    """A tester found that 0100 and 100 became one household, and that the postcode 01067 was published as 1067."""
    lines = ["who;zip;reading;serial;mark;load;level", "0100;01067;0012,5;1234567890123456781;0007;0,5;3",
             "100;10115;12,5;;?;1,5;40", "0101;04109;7,25;1234567890123456782;0008;2,5;5"]  # fmt: skip
    (tmp_path / "t.csv").write_text("\n".join(lines) + "\n")
    found = read_table(tmp_path / "t.csv")
    assert _texts(found) == {"who", "zip", "serial", "mark"}
    assert found["who"].tolist() == ["0100", "100", "0101"]
    assert found["serial"].nunique() == 2
    assert found["reading"].tolist() == [12.5, 12.5, 7.25]


def test_numbers_stay_numbers(tmp_path):
    text = "a,b,c,d,e\n0,0.5,-1,2024-01-05,1234567890123456781\n10,00.25,-007,2024-01-06,1234567890123456782\n"
    (tmp_path / "t.csv").write_text(text)
    assert _texts(read_table(tmp_path / "t.csv")) == {"d"}
    assert read_table(tmp_path / "t.csv")["e"].nunique() == 2
