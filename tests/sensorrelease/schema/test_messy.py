"""Tables as people have them: each is read as it was written, or refused in one line; never misread in silence.

The inputs are synthetic: they test ways of writing a table. What a reader must find is known from what was written.
"""

import bz2
import gzip
import lzma
import uuid
import warnings
from collections.abc import Callable
from decimal import Decimal
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from sensorrelease.schema.draft import draft
from sensorrelease.schema.read import read

ROWS = 240
Writer = Callable[[pd.DataFrame, Path], Path]


def table(rows: int = ROWS, seed: int = 0) -> pd.DataFrame:
    """Return a clean table: load shows the room, voice the owner, temp and mode show nothing."""
    draw = np.random.default_rng(seed)
    room, owner = draw.integers(0, 2, rows), draw.integers(0, 4, rows)
    return pd.DataFrame(
        {
            "load": (1000 + 300 * room + draw.normal(0, 60, rows)).round(1),
            "voice": (owner + draw.normal(0, 0.3, rows)).round(2),
            "temp": draw.normal(20, 2, rows).round(1),
            "mode": draw.choice(["eco", "auto", "boost"], rows),
            "room": np.where(room, "kitchen", "hall"),
            "owner": np.array(["ann", "bob", "cy", "dee"])[owner],
        }
    )


def packed(path: Path, content: bytes) -> Path:
    """Write bytes, packed as the ending says, and return the path."""
    pack = {".gz": gzip.compress, ".bz2": bz2.compress, ".xz": lzma.compress}.get(path.suffix, bytes)
    path.write_bytes(pack(content))
    return path


def _text(name: str, encoding: str = "utf-8", **options: Any) -> Writer:
    def write(frame: pd.DataFrame, folder: Path) -> Path:
        frame.to_csv(folder / name, index=False, encoding=encoding, **options)
        return folder / name

    return write


def _raw(name: str, change: Callable[[str], str], encoding: str = "utf-8") -> Writer:
    def write(frame: pd.DataFrame, folder: Path) -> Path:
        (folder / name).write_bytes(change(frame.to_csv(index=False)).encode(encoding))
        return folder / name

    return write


def _thousands(frame: pd.DataFrame, folder: Path) -> Path:
    frame.assign(load=frame["load"].map("{:,.1f}".format)).to_csv(folder / "home.csv", index=False)
    return folder / "home.csv"


def _german(frame: pd.DataFrame, folder: Path) -> Path:
    load = frame["load"].map(lambda value: f"{value:,.1f}".translate(str.maketrans(",.", ".,")))
    frame.assign(load=load).to_csv(folder / "home.csv", index=False, sep=";", decimal=",")
    return folder / "home.csv"


def _gzip(frame: pd.DataFrame, folder: Path) -> Path:
    (folder / "home.csv.gz").write_bytes(gzip.compress(frame.to_csv(index=False).encode()))
    return folder / "home.csv.gz"


def _nested(frame: pd.DataFrame, folder: Path) -> Path:
    nested = frame.assign(load=[{"watts": value} for value in frame["load"]])
    nested.to_json(folder / "home.jsonl", orient="records", lines=True)
    return folder / "home.jsonl"


def _saved(name: str, how: str, **options: Any) -> Writer:
    def write(frame: pd.DataFrame, folder: Path) -> Path:
        getattr(frame, how)(folder / name, **options)
        return folder / name

    return write


def _with(name: str, cells: Any, at: Any = slice(None), write: Writer | None = None) -> Writer:
    """Return a writer of the table with a new column, or with other cells in some rows of one of its columns."""

    def changed(frame: pd.DataFrame, folder: Path) -> Path:
        frame = frame.copy()
        values = cells(len(frame)) if callable(cells) else cells
        if at == slice(None):
            frame[name] = values
        else:
            frame[name] = frame[name].astype(object)
            frame.loc[at, name] = values
        return (write or _text("home.csv"))(frame, folder)

    return changed


def _uuids(n: int) -> list[str]:
    return [str(uuid.UUID(int=77 * at + 5)) for at in range(n)]


def _addresses(kind: str) -> Callable[[int], list[str]]:
    def cells(n: int) -> list[str]:
        if kind == "mac":
            return [f"a4:c1:38:{at % 7:02x}:{at % 11:02x}:{at % 5:02x}" for at in range(n)]
        return [f"192.168.{at % 3}.{at % 17}" for at in range(n)]

    return cells


def _shuffled_seconds(n: int) -> np.ndarray:
    return np.random.default_rng(1).permutation(1_767_600_000 + 2220 * np.arange(n))


def _cards(n: int) -> list[str]:
    """Return card numbers of which each belongs to one owner; each owner has three."""
    owners = table(n)["owner"].astype("category").cat.codes
    return [f"c{3 * owner + at % 3}" for at, owner in enumerate(owners)]


def _positions(frame: pd.DataFrame, folder: Path) -> Path:
    draw = np.random.default_rng(2)
    places = {"lat": 52.5 + draw.normal(0, 0.02, len(frame)), "lon": 13.4 + draw.normal(0, 0.02, len(frame))}
    return _text("home.csv")(frame.assign(**{name: cells.round(5) for name, cells in places.items()}), folder)


HOURS = pd.date_range("2026-01-05 08:00", periods=ROWS, freq="37min")
TASK = ["--task", "room"]
INPUTS: dict[str, tuple[Writer, list[str]]] = {
    "semicolons": (_text("home.csv", sep=";"), []),
    "tabs": (_text("home.tsv", sep="\t"), []),
    "bars": (_text("home.txt", sep="|"), []),
    "semicolons and decimal commas": (_text("home.csv", sep=";", decimal=","), []),
    "first line sep=; from a spreadsheet": (_raw("home.csv", lambda text: "sep=;\n" + text.replace(",", ";")), []),
    "commas between thousands": (_thousands, []),
    "points between thousands, decimal commas": (_german, []),
    "Latin-1": (_with("mode", "café", slice(0, 60), _text("home.csv", "latin-1")), []),
    "Windows-1252": (_with("mode", "5 €", slice(0, 60), _text("home.csv", "cp1252")), []),
    "UTF-16 with a byte order mark": (_text("home.csv", "utf-16"), []),
    "UTF-16, tabs (Excel's Unicode text)": (_text("home.txt", "utf-16", sep="\t"), []),
    "gzip": (_gzip, []),
    "xz": (_text("home.csv.xz"), []),
    "Parquet": (_saved("home.parquet", "to_parquet", index=False), []),
    "Excel": (_saved("home.xlsx", "to_excel", index=False), []),
    "Feather": (_saved("home.feather", "to_feather"), []),
    "JSON lines": (_saved("home.jsonl", "to_json", orient="records", lines=True), []),
    "JSON lines, gzip": (_saved("home.ndjson.gz", "to_json", orient="records", lines=True), []),
    "JSON lines with nested values": (_nested, []),
    "spaces around names": (_raw("home.csv", lambda text: text.replace(",", " , ", 5)), []),
    "an unnamed index column": (lambda frame, folder: _text("home.csv")(frame.reset_index(names=""), folder), []),
    "truth values in words, some missing": (_with("door", ["yes", "no", None] * (ROWS // 3)), []),
    "missing numbers": (_with("load", np.nan, slice(0, 30)), []),
    "missing texts": (_with("mode", None, slice(0, 30)), []),
    "? for missing numbers": (_with("temp", "?", slice(0, 30)), []),
    "missing numbers, --missing drop": (_with("load", np.nan, slice(0, 30)), ["--missing", "drop"]),
    "missing numbers, --missing error": (_with("load", np.nan, slice(0, 30)), ["--missing", "error"]),
    "infinite numbers": (_with("load", np.inf, slice(0, 3)), []),
    "an empty column": (_with("note", np.nan), []),
    "a constant column": (_with("floor", 1), []),
    "rows without task": (_with("room", None, slice(0, 12)), []),
    "rows without user": (_with("owner", None, slice(0, 12)), []),
    "a user with one row": (_with("owner", "eve", [5]), []),
    "a class with one row": (_with("room", "attic", [5]), []),
    "one user": (_with("owner", "ann"), []),
    "a continuous task": (lambda frame, folder: _text("home.csv")(frame, folder), ["--task", "load"]),
    "a class with 99 % of the rows": (_with("rare", lambda n: ["on" if at % 80 == 3 else "off" for at in range(n)]),
                                      ["--task", "rare"]),
    "row numbers": (_with("record_id", lambda n: list(range(1, n + 1))), []),
    "UUIDs": (_with("uuid", _uuids), []),
    "e-mail addresses": (_with("mail", lambda n: [f"p{at % 40}@home.org" for at in range(n)]), []),
    "MAC addresses": (_with("device", _addresses("mac")), []),
    "IP addresses": (_with("source", _addresses("ip")), []),
    "timestamps": (_with("time", HOURS.astype(str)), []),
    "timestamps, --keep": (_with("time", HOURS.astype(str)), ["--keep", "time"]),
    "dates, day first": (_with("day", HOURS.strftime("%d.%m.%Y")), []),
    "integers beyond 2^53": (_with("serial", lambda n: [2**60 + 977 * at for at in range(n)]), []),
    "clock times of one day": (_with("clock", HOURS.strftime("%H:%M:%S")), []),
    "times in words": (_with("when", HOURS.strftime("%A, %d %B %Y %H:%M")), []),
    "seconds since 1970, unsorted": (_with("seen", _shuffled_seconds), []),
    "e-mail addresses, some of them none": (_with("mail", lambda n: ["none" if at % 3 else f"p{at % 40}@home.org"
                                                                      for at in range(n)]), []),
    "cards of which each belongs to one person": (_with("card", _cards), []),
    "a copy of the user in capitals": (lambda frame, folder: _text("home.csv")(
        frame.assign(name=frame["owner"].str.upper()), folder), []),
    "vehicle numbers": (_with("car", lambda n: [f"WVWZZZ1JZXW{100000 + 37 * at:06d}" for at in range(n)]), []),
    "telephone numbers": (_with("phone", lambda n: [f"+49 30 {5550000 + 91 * (at % 60)}" for at in range(n)]), []),
    "bank accounts": (_with("account", lambda n: [f"DE{10 + at % 80}37040044{532013000 + 7 * at:010d}"
                                                   for at in range(n)]), []),
    "free text": (_with("remark", lambda n: [f"call {at} about the heating, it was cold" for at in range(n)]), []),
    "positions": (_positions, []),
    "labels with leading zeros": (_with("household", lambda n: ["0100", "100", "0200", "200"] * (n // 4)), []),
    "--drop": (_text("home.csv"), ["--drop", "voice"]),
    "two columns of one name": (_raw("home.csv", lambda text: text.replace("voice", "load", 1)), []),
    "an old Excel file": (_raw("home.xls", lambda _: "\xd0\xcf\x11\xe0", "latin-1"), []),
}  # fmt: skip


def _bytes(name: str, content: Callable[[], bytes]) -> Writer:
    return lambda frame, folder: packed(folder / name, content())


def _sheet(change: Callable[[Any], None], **options: Any) -> Writer:
    """Return a writer of an Excel file whose first sheet is changed with openpyxl."""

    def write(frame: pd.DataFrame, folder: Path) -> Path:
        with pd.ExcelWriter(folder / "home.xlsx", engine="openpyxl") as book:
            frame.to_excel(book, index=False, **options)
            change(book.book.worksheets[0])
        return folder / "home.xlsx"

    return write


def _cells(**cells: tuple[int, Any]) -> Callable[[Any], None]:
    def change(sheet: Any) -> None:
        for place, text in cells.items():
            sheet[place] = text

    return change


def _hide_rows(sheet: Any) -> None:
    for row in range(2, 42):
        sheet.row_dimensions[row].hidden = True


def _hide_column(sheet: Any) -> None:
    sheet.column_dimensions["C"].hidden = True


def _hidden_sheet(frame: pd.DataFrame, folder: Path) -> Path:
    with pd.ExcelWriter(folder / "home.xlsx", engine="openpyxl") as book:
        frame.assign(load=0).to_excel(book, sheet_name="old", index=False)
        frame.to_excel(book, sheet_name="new", index=False)
        book.book.worksheets[0].sheet_state = "hidden"
        book.book.active = 1
    return folder / "home.xlsx"


def _lines(*added: tuple[int, str]) -> Writer:
    """Return a writer of a CSV with more lines, each before a line of the file."""

    def change(text: str) -> str:
        lines = text.splitlines()
        for at, line in sorted(added, reverse=True):
            lines.insert(at if at >= 0 else len(lines), line)
        return "\n".join(lines) + "\n"

    return _raw("home.csv", change)


def _as_type(name: str, kind: Any, file: str = "home.parquet") -> Writer:
    def write(frame: pd.DataFrame, folder: Path) -> Path:
        frame = frame.assign(**{name: kind(frame[name]) if callable(kind) else frame[name].astype(kind)})
        return _saved(file, "to_parquet")(frame, folder)

    return write


def _attributes(frame: pd.DataFrame, folder: Path) -> Path:
    frame.attrs = {"codebook": {"ann": "Ann Miller"}}
    return _saved("home.parquet", "to_parquet")(frame, folder)


def _indexed(frame: pd.DataFrame, folder: Path) -> Path:
    frame.set_index("owner").to_parquet(folder / "home.parquet")
    return folder / "home.parquet"


def _missing_keys(frame: pd.DataFrame, folder: Path) -> Path:
    rows = [row for _, row in frame.iterrows()]
    lines = [row.drop("voice").to_json() if at < 30 else row.to_json() for at, row in enumerate(rows)]
    (folder / "home.jsonl").write_text("\n".join(lines))
    return folder / "home.jsonl"


def _folder(frame: pd.DataFrame, folder: Path) -> Path:
    (folder / "home.csv").mkdir()
    return folder / "home.csv"


def _names(change: Callable[[str], str]) -> Writer:
    return lambda frame, folder: _text("home.csv")(frame.rename(columns=change), folder)


def _numbers(form: str, sep: str = ",") -> Writer:
    return lambda frame, folder: _text("home.csv", sep=sep)(
        frame.assign(load=frame["load"].map(lambda value: format(value, form).replace("_", "\u00a0"))), folder
    )


DRAW = np.random.default_rng(4)
BORN = DRAW.integers(12_000, 36_000, ROWS)  # days of a spreadsheet, 1932 to 1998
INPUTS |= {
    "a CSV named .log": (_text("home.log"), []),
    "CIC: spaces before all names": (_names(lambda name: f" {name}"), []),
    "CIC: Infinity": (_with("load", ["Infinity"] * 4, slice(0, 3)), []),
    "CIC: the header again": (_lines((100, "load,voice,temp,mode,room,owner")), []),
    "Excel with a title": (_sheet(_cells(A1="Export of my home"), startrow=1), []),
    "Excel with a title and a blank row": (_sheet(_cells(A1="Export of my home"), startrow=2), []),
    "Excel with four rows above the header": (_sheet(_cells(A1="Home", A2="Device", B2="Plug 7"), startrow=4), []),
    "Excel from column B on": (_sheet(lambda sheet: None, startcol=1), []),
    "Excel with a hidden column": (_sheet(_hide_column), []),
    "Excel with hidden rows": (_sheet(_hide_rows), []),
    "Excel with a hidden first sheet": (_hidden_sheet, []),
    "unavailable among numbers": (_with("load", "unavailable", [5, 9]), []),
    "unknown and unavailable among numbers": (_with("load", ["unknown", "unavailable"], [5, 9]), []),
    "one word among numbers": (_with("load", "Error 17", [5]), []),
    "a row of units": (_lines((1, "W,Hz,C,,,")), []),
    "the header at the end": (_lines((-1, "load,voice,temp,mode,room,owner")), []),
    "TOA5": (_raw("home.csv", lambda text: '"TOA5","6843","CR3000","6843"\n' + text), []),
    "ActiGraph's banner": (_raw("home.csv", lambda text: "--- Data File ---\nSerial Number: 7\n-----\n" + text), []),
    "a title and a blank line": (_raw("home.csv", lambda text: "Export of my home\n\n" + text), []),
    "comments before the header": (_raw("home.csv", lambda text: "# logger 2\n# unit: W\n" + text), []),
    "blank lines": (_lines((50, ""), (120, "")), []),
    "commas at the ends of lines": (_raw("home.csv", lambda text: text.replace("\n", ",\n")), []),
    "CR LF": (_text("home.csv", lineterminator="\r\n"), []),
    "CR": (_text("home.csv", lineterminator="\r"), []),
    "every cell in quotes": (_text("home.csv", quoting=1), []),
    "quotes within texts": (_with("mode", 'so "called"', slice(0, 60)), []),
    "line breaks within texts": (_with("mode", "two\nlines", slice(0, 60)), []),
    "UTF-8 with a byte order mark": (_text("home.csv", "utf-8-sig"), []),
    "UTF-16 without a mark": (_text("home.csv", "utf-16-le"), []),
    "UTF-32": (_text("home.csv", "utf-32"), []),
    "bzip2": (_text("home.csv.bz2"), []),
    "spaces between thousands": (_numbers("_.1f".replace("_", ","), ";"), []),
    "numbers in scientific form": (_numbers(".6e"), []),
    "numbers with a plus": (_numbers("+.1f"), []),
    "numbers where a comma has two meanings": (lambda frame, folder: _text("home.csv", sep=";")(
        frame[["room", "owner"]].assign(load=[f"{at % 9 + 1},{at % 7}00" for at in range(ROWS)]), folder), []),
    "decimal commas and decimal points": (_with("load", lambda n: [f"{at},5" for at in range(n)],
                                                write=_text("home.csv", sep=";")), []),
    "Parquet with categories": (_as_type("mode", "category"), []),
    "Parquet with 32-bit numbers": (_as_type("temp", "float32"), []),
    "Parquet with decimals": (_as_type("load", lambda cells: [Decimal(str(cell)) for cell in cells]), []),
    "Parquet with durations": (_as_type("temp", lambda cells: pd.to_timedelta(cells, unit="s")), []),
    "Parquet with an index": (_indexed, []),
    "Parquet with a codebook beside the cells": (_attributes, []),
    "Parquet with lists": (_as_type("load", lambda cells: [[cell] for cell in cells]), []),
    "JSON lines without some keys": (_missing_keys, []),
    "a file .json": (_raw("home.json", str), []),
    "a file .ods": (_raw("home.ods", str), []),
    "a file .zip": (_raw("home.zip", str), []),
    "an empty file": (_bytes("home.csv", bytes), []),
    "a folder": (_folder, []),
    "bytes named .csv": (_bytes("home.csv", lambda: bytes(range(256)) * 9), []),
    "rows longer than the header": (_lines((9, "1,2,3,eco,hall,ann,7,8,9")), []),
    "only a header": (_raw("home.csv", lambda text: text.splitlines()[0] + "\n"), []),
    "a task that names the user": (lambda frame, folder: _text("home.csv")(
        frame.assign(room=frame["owner"] + "s " + frame["room"]), folder), []),
    "a column named after a user": (_with("pulse of ann", lambda n: DRAW.normal(70, 5, n).round(1)), []),
    "birth dates": (_with("born", pd.Timestamp("1899-12-30") + pd.to_timedelta(BORN, unit="D")), []),
    "birth dates as days of a spreadsheet": (_with("born", BORN), []),
    "milliseconds since 1970": (_with("seen", 1_767_600_000_000 + 2_220_123 * np.arange(ROWS)), []),
    "postcodes": (_with("postcode", [f"0{1067 + at % 3}" for at in range(ROWS)]), []),
    "NA as a label": (lambda frame, folder: _text("home.csv")(frame.replace({"room": {"hall": "NA"}}), folder), []),
}  # fmt: skip

# What must be found: rows, missing cells, columns that no release holds, or words of the refusal. Known from what was
# written above: `_with` writes rows 0 to 30, and table() has 240 rows without a missing cell.
_ERROR, _CLASS = "missing values of 240|missing or infinite", "divide it in classes|give classes"

# Inputs that the draft refuses, and the words of the refusal. All others are read.
REFUSED = {
    "one user": "has 1 user: a release needs two",
    "two columns of one name": r"same name: 'load' \(columns 1, 2\)",
    "an old Excel file": r"save it as \.xlsx or \.csv",
    "CIC: the header again": "repeats the header",
    "the header at the end": "repeats the header",
    "Excel from column B on": "no name in the header of column 1",
    "Excel with a hidden column": "hidden rows or columns",
    "Excel with hidden rows": "hidden rows or columns",
    "UTF-16 without a mark": "is not text",
    "a file .json": r"one record per line and name it \.jsonl",
    "a file .ods": r"save it as \.xlsx or \.csv",
    "a file .zip": "unpack it first",
    "an empty file": "is empty",
    "a folder": "holds no recording",
    "bytes named .csv": "is not text in UTF-8 or Windows-1252",
    "rows longer than the header": "line 10 has 9 cells, but the header has 6 names",
    "only a header": "no rows below its header",
    "a task that names the user": "name nobody",
}


@pytest.mark.parametrize("name", INPUTS)
def test_a_table_is_read_as_it_was_written_or_refused_in_one_line(name, tmp_path):
    write, words = INPUTS[name]
    file, given = write(table(), tmp_path), dict(zip(words[::2], words[1::2], strict=True))
    roles = {"--task": "room", "--user": "owner"} | given
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        if name in REFUSED:
            with pytest.raises((ValueError, OSError), match=REFUSED[name]) as caught:
                read(file, draft(file, roles["--task"], roles["--user"], identifying=True))
            assert "\n" not in str(caught.value)
            return
        found = read(file, draft(file, roles["--task"], roles["--user"], identifying=True))
    assert len(found.frame) == ROWS
    for column in {"load", "temp"} & set(found.frame):
        cells = pd.to_numeric(found.frame[column], errors="coerce").astype(float)
        np.testing.assert_allclose(cells.dropna(), table()[column][cells.notna().to_numpy()], rtol=1e-6)
        assert cells.isna().sum() == found.missing.get(column, 0) + found.nonconforming.get(column, 0)
