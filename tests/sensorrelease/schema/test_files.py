"""A row of a file that does not fit is named with its line; none is misread or lost."""

import bz2
import gzip
import lzma

import numpy as np
import openpyxl
import pandas as pd
import pyarrow as pa
import pyarrow.feather
import pyarrow.parquet as pq
import pytest

from sensorrelease.schema import Constraints, Dialect, Field, Pieces, Schema, draft, read

HEAD = "load,room,owner"
ROWS = [f"{k * 37 % 61 / 2},{'hall' if k % 3 else 'bath'},P{k % 4}" for k in range(60)]
FRAME = pd.DataFrame([row.split(",") for row in ROWS], columns=HEAD.split(",")).astype({"load": float})


def schema(**keys):
    load = Field(name="load", type="number", role="feature", constraints={"minimum": 0, "maximum": 99}, step=0.5)
    room = Field(name="room", role="task", constraints=Constraints(enum=["hall", "bath"]))
    return Schema(fields=[load, room, Field(name="owner", role="user")], **keys)


def write(tmp_path, lines, name="home.csv", end="\n", encoding="utf-8"):
    file = tmp_path / name
    file.write_bytes((end.join(lines) + end).encode(encoding))
    return file


def same(found):
    pd.testing.assert_frame_equal(found.frame, FRAME, check_dtype=False)


BROKEN = {
    "long row": (31, "1,hall,P1,2", "line 32 has 4 cells, but the header has 3 names: correct the line"),
    "short row": (31, "1,hall", "line 32 has 2 cells"),
    "open quote": (31, '1,hall,"P1', "line 32: a quote is not closed"),
    "text after a quote": (31, '1,hall,"P1" x', "line 32: a quote is not closed"),
    "zeros": (31, "\0\0\0", "line 32 holds NUL bytes, as after a power cut"),
    "zero in a cell": (31, "1,hall,P\0", "line 32, column 'owner': the cell holds NUL bytes"),
    "no number": (31, "1 kW,hall,P1", "line 32, column 'load': '1 kW' is no number: correct the cell or the schema"),
    "out of range": (31, "100,hall,P1", "line 32, column 'load': 100 is outside 0.0 to 99.0"),
    "no level": (31, "1,attic,P1", "line 32, column 'room': 'attic' is none of the levels"),
    "header again": (31, HEAD, "line 32, column 'load': 'load' is no number"),
}


@pytest.mark.parametrize("kind", [*BROKEN])
@pytest.mark.parametrize("packed", [False, True])
def test_a_broken_row_is_named_with_its_line(tmp_path, kind, packed):
    at, row, said = BROKEN[kind]
    file = write(tmp_path, [HEAD, *ROWS[: at - 1], row, *ROWS[at:]])
    if packed:  # read by Python, not by DuckDB
        file = tmp_path / "home.csv.gz"
        file.write_bytes(gzip.compress((tmp_path / "home.csv").read_bytes()))
    with pytest.raises(ValueError, match=r"home\.csv") as caught:
        read(file, schema(compression="gz" if packed else None))
    assert said in str(caught.value)
    assert "\n" not in str(caught.value)


def test_line_numbers_count_quoted_line_breaks(tmp_path):
    file = write(tmp_path, ["load,room,owner,note", '1,hall,P1,"a\nb\nc"', "x,hall,P1,d"])
    with_note = schema().model_copy(update={"fields": [*schema().fields, Field(name="note")]})
    with pytest.raises(ValueError, match="line 6, column 'load'"):
        read(file, with_note)


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "cp1252"])
@pytest.mark.parametrize("mark", [",", ";", "\t", "|"])
def test_texts_are_read_however_they_are_written(tmp_path, end, encoding, mark):
    file = write(tmp_path, [line.replace(",", mark) for line in (HEAD, *ROWS)], end=end, encoding=encoding)
    same(read(file, draft(file, "room", "owner")))


def test_line_ends_may_be_mixed_and_lines_empty(tmp_path):
    file = tmp_path / "home.csv"
    file.write_bytes(
        f"{HEAD}\r\n\n".encode() + "\n".join(ROWS[:30]).encode() + b"\r\n\r\n" + "\r\n".join(ROWS[30:]).encode()
    )
    same(read(file, schema()))


@pytest.mark.parametrize(("ending", "pack"), [("gz", gzip.compress), ("bz2", bz2.compress), ("xz", lzma.compress)])
def test_packed_texts_are_read_and_damaged_ones_named(tmp_path, ending, pack):
    file = tmp_path / f"home.csv.{ending}"
    content = pack("\n".join([HEAD, *ROWS]).encode())
    file.write_bytes(content)
    same(read(file, draft(file, "room", "owner")))
    file.write_bytes(content[:-20])
    with pytest.raises(ValueError, match=r"home.csv.* cannot be read as"):
        read(file, schema(compression=ending))


def test_a_packed_file_that_bursts_is_refused(tmp_path):
    file = tmp_path / "home.csv.gz"
    file.write_bytes(gzip.compress(HEAD.encode() + b"\n" + b"1" * 30_000_000))
    with pytest.raises(ValueError, match="line 2 has more than 10,000,000 characters"):
        read(file, schema(compression="gz"))


def test_comments_banners_units_and_several_header_lines_are_declared(tmp_path):
    file = write(tmp_path, ["# made by Anna", "a banner", HEAD, "W,,", *ROWS])
    same(read(file, schema(dialect=Dialect(headerRows=[3], commentRows=[4]))))
    file = write(tmp_path, ["# made by Anna", HEAD, *ROWS[:9], "# pause", *ROWS[9:]])
    same(read(file, schema(dialect=Dialect(headerRows=[2], commentChar="#"))))
    file = write(tmp_path, [f"{HEAD},", *(f"{row}," for row in ROWS)])
    same(read(file, schema(dialect=Dialect(trailingDelimiter=True))))
    with pytest.raises(ValueError, match="field4"):
        read(file, schema())


def test_columns_of_file_and_schema_must_agree(tmp_path):
    file = write(tmp_path, ["load,room,owner,mail", "1,hall,P1,x"])
    with pytest.raises(ValueError, match="columns that the schema does not declare: 'mail'"):
        read(file, schema())
    file = write(tmp_path, ["load,room", "1,hall"])
    with pytest.raises(ValueError, match="no column 'owner', which the schema declares"):
        read(file, schema())
    file = write(tmp_path, ["load,load,room,owner", "1,1,hall,P1"])
    with pytest.raises(ValueError, match=r"'load' .columns 1, 2.: rename them"):
        read(file, schema())


def test_a_table_without_rows_is_an_error(tmp_path):
    for lines in ([HEAD], [HEAD, ""]):
        with pytest.raises(ValueError, match="no rows below its header"):
            read(write(tmp_path, lines), schema())
    (tmp_path / "empty.csv").touch()
    with pytest.raises(ValueError, match="is empty"):
        read(tmp_path / "empty.csv", schema())
    with pytest.raises(FileNotFoundError):
        read(tmp_path / "none.csv", schema())
    with pytest.raises(ValueError, match="a folder"):
        read(tmp_path, schema())


def test_a_name_with_a_pattern_is_the_name_of_one_file(tmp_path):
    write(tmp_path, [HEAD, "9,hall,P9"], name="a1.csv")
    same(read(write(tmp_path, [HEAD, *ROWS], name="a[1].csv"), schema()))


def test_nonconforming_cells_are_counted_if_the_schema_says_so(tmp_path):
    known = schema()
    fields = [known.fields[0].model_copy(update={"nonconforming": "missing"}), *known.fields[1:]]
    file = write(tmp_path, [HEAD, "x,hall,P1", "1e9,hall,P1", ",hall,P2", "3,bath,P2"])
    found = read(file, known.model_copy(update={"fields": fields}))
    assert found.nonconforming == {"load": 2}
    assert found.missing == {"load": 1}
    assert found.frame["load"].count() == 1
    assert found.notices == ["1 missing cell in load", "2 cells of load did not conform: now missing"]


@pytest.mark.parametrize("rows", [1, 7, 60])
def test_pieces_are_the_whole_table(tmp_path, rows):
    parts = Pieces(write(tmp_path, [HEAD, *ROWS]), schema(), rows)
    for _ in range(2):
        pd.testing.assert_frame_equal(pd.concat(parts), FRAME, check_dtype=False)
    assert parts.rows == 60


WHO = ["2000", '"2E3"', "1e4", "null"]


def test_json_lines_keep_labels_and_name_wrong_lines(tmp_path):
    lines = [f'{{"load": {k}, "room": "hall", "owner": {who}}}' for k, who in enumerate(WHO)]
    found = read(write(tmp_path, lines, "home.jsonl"), schema(format="jsonl")).frame
    assert found["owner"].tolist()[:3] == ["2000", "2E3", "1e4"]
    assert found["owner"].isna().tolist() == [False, False, False, True]
    for line, said in (
        ('{"load": {"W": 1}}', "line 6: column 'load' holds nested values"),
        ('{"load": 1, "load": 2}', "line 6 is no JSON record .it has a key twice"),
        ("[1]", "line 6 is no JSON record"),
        ('{"mail": 1}', "line 6 has the key 'mail', which the schema does not declare"),
        ("{" * 5000, "line 6 is no JSON record"),
        ('{"load": "x"}', "line 6, column 'load': 'x' is no number"),
    ):
        with pytest.raises(ValueError, match=said):
            read(write(tmp_path, ["", *lines, line], "home.jsonl"), schema(format="jsonl"))


def sheet(tmp_path, change=None):
    book = openpyxl.Workbook()
    for row in [HEAD.split(","), *FRAME.to_numpy().tolist()]:
        book.active.append(row)
    if change:
        change(book.active)
    book.save(tmp_path / "home.xlsx")
    return tmp_path / "home.xlsx"


def test_a_sheet_is_read_and_what_stands_beside_it_named(tmp_path):
    same(read(sheet(tmp_path), schema(format="xlsx")))
    for cell, said in (("F9", "row 9 has 6 cells"), ("E1", "no name in the header of column 4"), ("XFD1048576", "MiB")):
        with pytest.raises(ValueError, match=said):
            read(sheet(tmp_path, lambda page, cell=cell: page.__setitem__(cell, "x")), schema(format="xlsx"))


def test_hidden_rows_and_columns_are_refused(tmp_path):
    def hide_row(page):
        page.row_dimensions[5].hidden = True

    def hide_column(page):
        page.column_dimensions["B"].hidden = True

    for hide in (hide_row, hide_column):
        with pytest.raises(ValueError, match="hidden rows or columns"):
            read(sheet(tmp_path, hide), schema(format="xlsx"))
    (tmp_path / "home.xlsx").write_bytes(b"PK\3\4 no workbook")
    with pytest.raises(ValueError, match="cannot be read as Excel"):
        read(tmp_path / "home.xlsx", schema(format="xlsx"))


def test_parquet_and_feather_are_read_with_their_types(tmp_path):
    FRAME.to_parquet(tmp_path / "home.parquet")
    same(read(tmp_path / "home.parquet", schema(format="parquet")))
    pa.feather.write_feather(FRAME, tmp_path / "home.feather")
    same(read(tmp_path / "home.feather", schema(format="feather")))
    (tmp_path / "home.parquet").write_bytes(b"PAR1 nothing PAR1")
    with pytest.raises(ValueError, match="cannot be read as Parquet"):
        read(tmp_path / "home.parquet", schema(format="parquet"))


def test_files_that_burst_are_refused_before_they_are_read(tmp_path):
    rows = 20
    long = pa.table({"load": np.ones(rows), "room": ["hall"] * rows, "owner": ["a" * 5_000_000] * rows})
    pq.write_table(long, tmp_path / "long.parquet", compression="zstd")
    with pytest.raises(ValueError, match=r"row 1, column .owner.: .* or more than 10,000"):
        read(tmp_path / "long.parquet", schema(format="parquet"))
    many = pa.table({"load": np.zeros(3_000_000), "room": np.zeros(3_000_000), "owner": np.zeros(3_000_000)})
    pq.write_table(many, tmp_path / "many.parquet", compression="zstd")
    with pytest.raises(ValueError, match=r"many.parquet needs more than 64 MiB"):
        read(tmp_path / "many.parquet", schema(format="parquet"), limit=2**26)
    delta = {"use_dictionary": False, "column_encoding": {"owner": "DELTA_BYTE_ARRAY"}}
    pq.write_table(long.slice(0, 2), tmp_path / "delta.parquet", **delta)
    with pytest.raises(ValueError, match="DELTA_BYTE_ARRAY"):
        read(tmp_path / "delta.parquet", schema(format="parquet"))
