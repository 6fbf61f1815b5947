"""JSON lines, sheets, Parquet and Feather are read strictly, and none bursts."""

import numpy as np
import openpyxl
import pandas as pd
import pyarrow as pa
import pyarrow.feather
import pyarrow.parquet as pq
import pytest

from sensorrelease.schema import draft, read

HEAD = "load,room,owner"
ROWS = [f"{k * 37 % 61 / 2},{'hall' if k % 3 else 'bath'},P{k % 4}" for k in range(60)]
FRAME = pd.DataFrame([row.split(",") for row in ROWS], columns=HEAD.split(",")).astype({"load": float})


WHO = ["2000", '"2E3"', "1e4", "null"]


def test_json_lines_keep_labels_and_name_wrong_lines(tmp_path, home):
    lines = [f'{{"load": {k}, "room": "hall", "owner": {who}}}' for k, who in enumerate(WHO)]
    found = read(home.write(tmp_path, lines, "home.jsonl"), home.schema(format="jsonl")).frame
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
            read(home.write(tmp_path, ["", *lines, line], "home.jsonl"), home.schema(format="jsonl"))


def sheet(tmp_path, change=None):
    book = openpyxl.Workbook()
    for row in [HEAD.split(","), *FRAME.to_numpy().tolist()]:
        book.active.append(row)
    if change:
        change(book.active)
    book.save(tmp_path / "home.xlsx")
    return tmp_path / "home.xlsx"


def test_a_sheet_is_read_and_what_stands_beside_it_named(tmp_path, home):
    home.same(read(sheet(tmp_path), home.schema(format="xlsx")))
    for cell, said in (("F9", "row 9 has 6 cells"), ("E1", "no name in the header of column 4"), ("XFD1048576", "MiB")):
        with pytest.raises(ValueError, match=said):
            read(sheet(tmp_path, lambda page, cell=cell: page.__setitem__(cell, "x")), home.schema(format="xlsx"))


def test_hidden_rows_and_columns_are_refused(tmp_path, home):
    def hide_row(page):
        page.row_dimensions[5].hidden = True

    def hide_column(page):
        page.column_dimensions["B"].hidden = True

    for hide in (hide_row, hide_column):
        with pytest.raises(ValueError, match="hidden rows or columns"):
            read(sheet(tmp_path, hide), home.schema(format="xlsx"))
    (tmp_path / "home.xlsx").write_bytes(b"PK\3\4 no workbook")
    with pytest.raises(ValueError, match="cannot be read as Excel"):
        read(tmp_path / "home.xlsx", home.schema(format="xlsx"))


def test_parquet_and_feather_are_read_with_their_types(tmp_path, home):
    FRAME.to_parquet(tmp_path / "home.parquet")
    home.same(read(tmp_path / "home.parquet", home.schema(format="parquet")))
    pa.feather.write_feather(FRAME, tmp_path / "home.feather")
    home.same(read(tmp_path / "home.feather", home.schema(format="feather")))
    (tmp_path / "home.parquet").write_bytes(b"PAR1 nothing PAR1")
    with pytest.raises(ValueError, match="cannot be read as Parquet"):
        read(tmp_path / "home.parquet", home.schema(format="parquet"))


def test_files_that_burst_are_refused_before_they_are_read(tmp_path, home):
    rows = 20
    long = pa.table({"load": np.ones(rows), "room": ["hall"] * rows, "owner": ["a" * 5_000_000] * rows})
    pq.write_table(long, tmp_path / "long.parquet", compression="zstd")
    with pytest.raises(ValueError, match=r"row 1, column .owner.: .* or more than 10,000"):
        read(tmp_path / "long.parquet", home.schema(format="parquet"))
    many = pa.table({"load": np.zeros(3_000_000), "room": np.zeros(3_000_000), "owner": np.zeros(3_000_000)})
    pq.write_table(many, tmp_path / "many.parquet", compression="zstd")
    with pytest.raises(ValueError, match=r"many.parquet needs more than 64 MiB"):
        read(tmp_path / "many.parquet", home.schema(format="parquet"), limit=2**26)
    delta = {"use_dictionary": False, "column_encoding": {"owner": "DELTA_BYTE_ARRAY"}}
    pq.write_table(long.slice(0, 2), tmp_path / "delta.parquet", **delta)
    with pytest.raises(ValueError, match="DELTA_BYTE_ARRAY"):
        read(tmp_path / "delta.parquet", home.schema(format="parquet"))


def test_nested_values_are_withheld_by_a_draft_and_refused_by_a_schema(tmp_path):
    record = '{"load": %d.5, "room": "%s", "owner": "p%d", "node": {"name": "Ann"}}\n'
    (tmp_path / "home.jsonl").write_text("".join(record % (k * 37 % 61, "ab"[k % 2], k % 3) for k in range(30)))
    found = draft(tmp_path / "home.jsonl", "room", "owner")
    assert found.field("node").role == "withheld"
    assert list(read(tmp_path / "home.jsonl", found).frame) == ["load", "room", "owner"]
    fields = [one.model_copy(update={"role": "feature"}) if one.name == "node" else one for one in found.fields]
    with pytest.raises(ValueError, match=r"home\.jsonl, line 1: column 'node' holds nested values"):
        read(tmp_path / "home.jsonl", found.model_copy(update={"fields": fields}))


def test_a_sheet_has_no_more_rows_than_excel(tmp_path, monkeypatch):
    """A workbook of 300 kB with ten million rows kept a command busy for more than two minutes."""
    pd.DataFrame({"load": range(40), "room": ["a", "b"] * 20, "owner": ["p", "q"] * 20}).to_excel(
        tmp_path / "home.xlsx", index=False
    )
    monkeypatch.setattr("sensorrelease.schema.formats._EXCEL_ROWS", 30)
    with pytest.raises(ValueError, match=r"home\.xlsx has more than 30 rows"):
        draft(tmp_path / "home.xlsx", "room", "owner")
