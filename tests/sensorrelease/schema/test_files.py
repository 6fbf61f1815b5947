"""A row of a file that does not fit is named with its line; none is misread or lost."""

import bz2
import gzip
import lzma

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from sensorrelease.schema import Dialect, Field, Schema, draft, files, read

HEAD = "load,room,owner"
ROWS = [f"{k * 37 % 61 / 2},{'hall' if k % 3 else 'bath'},P{k % 4}" for k in range(60)]
FRAME = pd.DataFrame([row.split(",") for row in ROWS], columns=HEAD.split(",")).astype({"load": float})


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
def test_a_broken_row_is_named_with_its_line(tmp_path, kind, packed, home):
    at, row, said = BROKEN[kind]
    file = home.write(tmp_path, [HEAD, *ROWS[: at - 1], row, *ROWS[at:]])
    if packed:  # read by Python, not by DuckDB
        file = tmp_path / "home.csv.gz"
        file.write_bytes(gzip.compress((tmp_path / "home.csv").read_bytes()))
    with pytest.raises(ValueError, match=r"home\.csv") as caught:
        read(file, home.schema(compression="gz" if packed else None))
    assert said in str(caught.value)
    assert "\n" not in str(caught.value)


def test_line_numbers_count_quoted_line_breaks(tmp_path, home):
    file = home.write(tmp_path, ["load,room,owner,note", '1,hall,P1,"a\nb\nc"', "x,hall,P1,d"])
    with_note = home.schema().model_copy(update={"fields": [*home.schema().fields, Field(name="note")]})
    with pytest.raises(ValueError, match="line 5, column 'load'"):
        read(file, with_note)


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "cp1252"])
@pytest.mark.parametrize("mark", [",", ";", "\t", "|"])
def test_texts_are_read_however_they_are_written(tmp_path, end, encoding, mark, home):
    file = home.write(tmp_path, [line.replace(",", mark) for line in (HEAD, *ROWS)], end=end, encoding=encoding)
    home.same(read(file, draft(file, "room", "owner")))


def test_line_ends_may_be_mixed_and_lines_empty(tmp_path, home):
    file = tmp_path / "home.csv"
    file.write_bytes(
        f"{HEAD}\r\n\n".encode() + "\n".join(ROWS[:30]).encode() + b"\r\n\r\n" + "\r\n".join(ROWS[30:]).encode()
    )
    home.same(read(file, home.schema()))


@pytest.mark.parametrize(("ending", "pack"), [("gz", gzip.compress), ("bz2", bz2.compress), ("xz", lzma.compress)])
def test_packed_texts_are_read_and_damaged_ones_named(tmp_path, ending, pack, home):
    file = tmp_path / f"home.csv.{ending}"
    content = pack("\n".join([HEAD, *ROWS]).encode())
    file.write_bytes(content)
    home.same(read(file, draft(file, "room", "owner")))
    file.write_bytes(content[:-20])
    with pytest.raises(ValueError, match=r"home.csv.* cannot be read as"):
        read(file, home.schema(compression=ending))


def test_a_packed_file_that_bursts_is_refused(tmp_path, home):
    file = tmp_path / "home.csv.gz"
    file.write_bytes(gzip.compress(HEAD.encode() + b"\n" + b"1" * 30_000_000))
    with pytest.raises(ValueError, match="line 2 has more than 10,000,000 characters"):
        read(file, home.schema(compression="gz"))


def test_comments_banners_units_and_several_header_lines_are_declared(tmp_path, home):
    file = home.write(tmp_path, ["# made by Anna", "a banner", HEAD, "W,,", *ROWS])
    home.same(read(file, home.schema(dialect=Dialect(headerRows=[3], commentRows=[4]))))
    file = home.write(tmp_path, ["# made by Anna", HEAD, *ROWS[:9], "# pause", *ROWS[9:]])
    home.same(read(file, home.schema(dialect=Dialect(headerRows=[2], commentChar="#"))))
    file = home.write(tmp_path, [f"{HEAD},", *(f"{row}," for row in ROWS)])
    home.same(read(file, home.schema(dialect=Dialect(trailingDelimiter=True))))
    with pytest.raises(ValueError, match="field4"):
        read(file, home.schema())


def test_a_name_with_a_pattern_is_the_name_of_one_file(tmp_path, home):
    home.write(tmp_path, [HEAD, "9,hall,P9"], name="a1.csv")
    home.same(read(home.write(tmp_path, [HEAD, *ROWS], name="a[1].csv"), home.schema()))


def _numbers(**keys):
    return Schema(fields=[Field(name=name, type="number", role="time") for name in "ab"], **keys)


@pytest.mark.slow
def test_a_last_line_that_exceeds_the_buffer_is_not_dropped(tmp_path, home):
    """DuckDB drops a last line of more than 32 MB without a word."""
    file = home.write(tmp_path, [HEAD, *ROWS, "1" * 40_000_000])
    with pytest.raises(ValueError, match=r"has more than 10,000,000 characters: is it a table\?"):
        read(file, home.schema())


def test_packed_texts_that_unpack_to_much_are_refused(tmp_path, monkeypatch):
    monkeypatch.setattr(files, "_UNPACKED", 1_000_000)
    with gzip.open(tmp_path / "bomb.csv.gz", "wb") as file:
        file.write(b"a,b\n" + b"1,2\n" * 1_000_000)
    with pytest.raises(ValueError, match=r"bomb.csv.gz unpacks to more than 100 times its size"):
        read(tmp_path / "bomb.csv.gz", _numbers(compression="gz"))


@pytest.mark.slow
def test_a_parquet_file_of_many_equal_rows_is_refused_by_its_footer(tmp_path):
    group = pa.table({name: pa.array(np.zeros(1_000_000, np.int8)).dictionary_encode() for name in "ab"})
    with pq.ParquetWriter(tmp_path / "bomb.parquet", group.schema) as writer:
        for _ in range(101):
            writer.write_table(group)
    assert (tmp_path / "bomb.parquet").stat().st_size < 2e6
    before = pa.total_allocated_bytes()
    with pytest.raises(ValueError, match="needs more than 1,024 MiB of memory once it is read"):
        read(tmp_path / "bomb.parquet", _numbers(format="parquet"))
    assert pa.total_allocated_bytes() - before < 1e6


def test_too_many_columns_are_counted_and_refused(tmp_path):
    """A header of 200,000 names kept the draft busy for more than two minutes."""
    table = pd.DataFrame([[0] * 10_001], columns=[f"c{at}" for at in range(10_001)])
    table.to_csv(tmp_path / "home.csv", index=False)
    for source in (tmp_path / "home.csv", table):
        with pytest.raises(ValueError, match="has 10,001 columns, and at most 10,000 are read: leave some out"):
            draft(source, "c1", "c2")
