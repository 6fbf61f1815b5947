"""Tables and recordings as people have them, each given to every door as a new user would.

The inputs are synthetic: they test ways of writing a table, not a finding. What a reader must find is known from what
was written. `tests/sensorrelease/test_messy.py` reads the same inputs.

    python bench/messy_inputs.py --full      # about ten minutes; writes bench/results/messy_inputs.md
"""

import argparse
import bz2
import contextlib
import gzip
import io
import json
import lzma
import re
import sys
import tempfile
import uuid
import warnings
from collections.abc import Callable, Sequence
from decimal import Decimal
from functools import partial
from pathlib import Path
from typing import Any
from unittest.mock import patch

import numpy as np
import pandas as pd

from sensorrelease.card import measure_table
from sensorrelease.cli import main
from sensorrelease.publishing import tables as publishing
from sensorrelease.read.formats import read_table
from sensorrelease.read.recordings import user_windows
from sensorrelease.tables import load_table

ROWS = 240
DOORS = ("minimize", "compare", "publish", "Python")
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
_NOTHING = "cannot be learned from the columns"  # 59 of 60 test rows, or all, are of one class
EXPECTED: dict[str, dict[str, Any]] = {
    "missing numbers": {"missing": {"load": 31}},
    "? for missing numbers": {"missing": {"temp": 31}},
    "missing numbers, --missing drop": {"rows": 209},
    "infinite numbers": {"missing": {"load": 4}},
    "rows without task": {"rows": 227},
    "rows without user": {"rows": 227},
    "a user with one row": {"rows": 239},
    "a class with one row": {"rows": 239},
    "JSON lines with nested values": {"refused": "column 'load' has nested values"},
    "missing numbers, --missing error": {"refused": _ERROR},
    "one user": {"refused": "two different values|two or more users"},
    "a continuous task": {"refused": _CLASS},
    "a class with 99 % of the rows": {"refused_by": {"compare": _NOTHING, "publish": _NOTHING}},
    "two columns of one name": {"refused": "more than one column named load"},
    "an old Excel file": {"refused": "save it as .xlsx or .csv"},
    "CIC: Infinity": {"missing": {"load": 4}},
    "Excel with hidden rows": {"rows": 200},
    "unavailable among numbers": {"missing": {"load": 2}},
    "unknown and unavailable among numbers": {"missing": {"load": 2}},
    "one word among numbers": {"missing": {"load": 1}},
    "numbers where a comma has two meanings": {"refused": "the comma can mean thousands or decimals"},
    "decimal commas and decimal points": {"refused": "mixes decimal commas"},
    "Parquet with lists": {"refused": "column 'load' has nested values"},
    "JSON lines without some keys": {"missing": {"voice": 30}},
    "a file .json": {"refused": "one record per line and name it .jsonl"},
    "a file .ods": {"refused": "save it as .xlsx or .csv"},
    "a file .zip": {"refused": "unpack it first"},
    "an empty file": {"refused": "is empty"},
    "a folder": {"refused": "is a folder"},
    "bytes named .csv": {"refused": "is not text, although its name says so"},
    "rows longer than the header": {"refused": "line 10 has 9 values, but the header has 6 names"},
    "only a header": {"refused": "0 rows|has no rows"},
    "a task that names the user": {"refused": "identifies the user"},
}  # fmt: skip


def doors(name: str, folder: Path, chosen: Sequence[str] = DOORS) -> dict[str, str]:
    """Give one input to every door, and return what each one did otherwise than expected; "ok" if nothing.

    Notes are not compared here; `test_messy.py` compares them. A warning of a third party is no "ok".
    """
    write, words = INPUTS[name]
    file, expected = write(table(), folder), EXPECTED.get(name, {})
    refused, rows = expected.get("refused", ""), expected.get("rows", ROWS)
    given = ["--user", "owner", *(["--task", "room"] if "--task" not in words else []), *words]
    roles = dict(zip(given[::2], given[1::2], strict=True))
    task, user = roles["--task"], roles["--user"]

    def read() -> str:
        options = {key.strip("-"): [value] if key in ("--keep", "--drop") else value for key, value in roles.items()}
        return _wrong_values(load_table(file, **options), expected, rows)

    def minimized() -> str:
        small = folder / "small.csv"
        _run("minimize", file, given, "--trees", "5", "--preselect", "3", "--repeat", "0", "--out", str(small))
        held = pd.read_csv(small)
        return _wrong_release(held, task, user, rows)

    def compared() -> str:
        told = folder / "compared.json"
        fast = ("--defences", "none", "--trees", "5", "--jobs", "1", "--store", str(folder / "s.jsonl"))
        _run("compare", file, given, *fast, "--json", str(told))
        return "" if told.stat().st_size else "no result"

    def published() -> str:
        _run("publish", file, given, "--defence", "none", "--out", str(folder / "out"))
        card = json.loads((folder / "out" / "card.json").read_text())
        data = next(path for path in (folder / "out").iterdir() if path.stem != "card")
        held = pd.read_parquet(data) if data.suffix == ".parquet" else read_table(data)
        return f"card: {card['rows']} rows" if card["rows"] != rows else _wrong_release(held, task, user, rows)

    by_door = expected.get("refused_by", {})
    every = {"minimize": minimized, "compare": compared, "publish": published, "Python": read}
    return {door: _judged(every[door], by_door.get(door, refused)) for door in chosen}


class _StoppedError(Exception):
    """A command ended with an exit code and this message."""


def _run(command: str, file: Path, *words: Any) -> None:
    """Run a command, and raise its error."""
    given = [str(word) for part in words for word in (part if isinstance(part, list) else [part])]
    err, few = io.StringIO(), partial(measure_table, trees=5)
    with (
        contextlib.redirect_stdout(io.StringIO()),
        contextlib.redirect_stderr(err),
        patch.object(publishing, "measure_table", few),
    ):
        try:
            code = main([command, str(file), *given, "--quiet"])
        except SystemExit as error:
            code = int(error.code or 0)
    if code:
        raise _StoppedError(f"exit {code}: {(err.getvalue().strip().splitlines() or [''])[-1]}")


def _judged(work: Callable[[], str], refused: str) -> str:
    """Return "ok" if some work did what is expected, or what it did instead."""
    with warnings.catch_warnings(record=True) as heard:
        warnings.simplefilter("always")
        try:
            wrong = work()
        except (_StoppedError, ValueError, OSError) as error:
            said = " ".join(str(error).split())
            return (
                "ok" if refused and re.search(refused, said) and "Traceback" not in said else f"refused: {said[-160:]}"
            )
        except Exception as error:
            return f"traceback: {type(error).__name__}: {' '.join(str(error).split())[:120]}"
    foreign = [one for one in heard if "sensorprivacy" not in one.filename and one.category is RuntimeWarning]
    if refused:
        return "not refused"
    return wrong or (f"warning: {foreign[0].message}" if foreign else "ok")


def _wrong_values(found: Any, expected: dict[str, Any], rows: int) -> str:
    """Return how a table that was read differs from the clean one; an empty text if it does not."""
    problem, clean = found.problem, table()
    if problem.n_records != rows:
        return f"{problem.n_records} rows instead of {rows}"
    missing = {name: int(count) for name, count in problem.features.isna().sum().items() if name in clean and count}
    known = {name: count for name, count in missing.items() if name in ("load", "voice", "temp")}
    if known != expected.get("missing", {}):
        return f"missing {known}"
    for name in {"load", "voice", "temp"} & set(problem.features) if rows == ROWS else ():
        cells = problem.features[name].astype(float)
        if not np.allclose(cells.dropna(), clean[name][cells.notna().to_numpy()], rtol=1e-6):
            return f"other values in {name}"
    return ""


def _wrong_release(held: pd.DataFrame, task: str, user: str, rows: int) -> str:
    """Return what is wrong with a released table; an empty text if nothing is."""
    if user in held or task not in held:
        return f"columns {', '.join(held)}"
    if len(held) != rows:
        return f"{len(held)} rows instead of {rows}"
    clean = table()
    if "load" in held and rows == ROWS and held["load"].notna().all() and held["load"].dtype.kind in "if":
        same = np.isin(held["load"].round(1), clean["load"]).mean()
        return "" if same > 0.85 else "other values in load"  # missing cells may be filled with the median
    return ""


def _recordings() -> dict[str, tuple[Callable[[Path], None], str, str]]:
    """Return recordings: what writes them, lines of their description, and the windows, or the words of a refusal."""
    people, acts, rate, length = ("p1", "p2", "p3"), ("walk", "sit"), 50, 1300

    def write(
        change: Callable[[pd.DataFrame, str], pd.DataFrame], name: str = "{who}_{act}.csv", **options: Any
    ) -> Any:
        def all_files(folder: Path) -> None:
            draw = np.random.default_rng(5)
            for who in people:
                for act in acts:
                    time = np.arange(length) / rate
                    noise = {axis: draw.normal(size=length) for axis in "xyz"}
                    noise["x"] *= 1 + 3 * (act == "walk")  # x shows the activity, y the person
                    noise["y"] += 2 * people.index(who)
                    frame = pd.DataFrame({"time": time, **{axis: cells.round(4) for axis, cells in noise.items()}})
                    path = folder / name.format(who=who, act=act)
                    path.parent.mkdir(parents=True, exist_ok=True)
                    changed = change(frame, who)
                    if path.suffix == ".parquet":
                        changed.to_parquet(path)
                    else:
                        changed.to_csv(path, index=False, **options)

        return all_files

    def scaled(by: float, start: float = 0) -> Callable[[pd.DataFrame, str], pd.DataFrame]:
        return lambda frame, who: frame.assign(time=(start + frame["time"] * by).round(6))

    def dated(form: str) -> Callable[[pd.DataFrame, str], pd.DataFrame]:
        begin = pd.Timestamp("2026-11-12 23:59:47")
        return lambda frame, who: frame.assign(
            time=(begin + pd.to_timedelta(frame["time"], unit="s")).dt.strftime(form)
        )

    def same(frame: pd.DataFrame, who: str) -> pd.DataFrame:
        return frame

    names, timed = 'file_name = "{who}_{act}.csv"', 'time = "time"'
    every = 6 * ((length - 128) // 10 + 1)
    return {
        "one CSV for each recording": (write(same), f"{names}\n{timed}", str(every)),
        "without times": (write(lambda frame, who: frame.drop(columns="time")), names, str(every)),
        "semicolons": (write(same, sep=";"), f"{names}\n{timed}", str(every)),
        "semicolons and decimal commas": (write(same, sep=";", decimal=","), f"{names}\n{timed}", str(every)),
        "tabs": (write(same, sep="\t"), f"{names}\n{timed}", str(every)),
        "folders of people": (write(same, "{who}/{act}.csv"), f'file_name = "{{who}}/{{act}}.csv"\n{timed}',
                              str(every)),
        "Parquet": (write(same, "{who}_{act}.parquet"), f'file_name = "{{who}}_{{act}}.parquet"\n{timed}', str(every)),
        "milliseconds": (write(scaled(1e3)), f"{names}\n{timed}", str(every)),
        "seconds since 1970": (write(scaled(1, 1_767_600_000)), f"{names}\n{timed}", str(every)),
        "milliseconds since 1970": (write(scaled(1e3, 1.7676e12)), f"{names}\n{timed}", str(every)),
        "ISO times": (write(dated("%Y-%m-%d %H:%M:%S.%f")), f"{names}\n{timed}", str(every)),
        "dates with the day first": (write(dated("%d.%m.%Y %H:%M:%S.%f")), f"{names}\n{timed}", str(every)),
        "a missing sample": (write(lambda frame, who: frame.assign(x=frame["x"].mask(frame.index == 9))),
                             f"{names}\n{timed}", "column 'x' has 6 missing values"),
        "another rate than described": (write(scaled(0.5)), f"{names}\n{timed}", "rate|Hz"),
        "one person at another rate": (write(lambda frame, who: frame.assign(time=frame["time"] * (1 + (who == "p3")))),
                                       f"{names}\n{timed}", "rate|Hz"),
        "times backwards": (write(lambda frame, who: frame.assign(time=frame["time"].to_numpy()[::-1])),
                            f"{names}\n{timed}", "order|back"),
        "words in a channel": (write(lambda frame, who: frame.assign(x=["low"] * length)), f"{names}\n{timed}",
                               "channel 'x' is not numeric"),
        "no channel": (write(lambda frame, who: frame.drop(columns="z")), f"{names}\n{timed}", "has no column 'z'"),
        "names that do not fit": (write(same, "{who}-{act}.csv"), f"{names}\n{timed}", "does not fit file_name"),
        "too short for a window": (write(lambda frame, who: frame[:100]), f"{names}\n{timed}", "has 128 samples"),
    }  # fmt: skip


def recorded(name: str, folder: Path, chosen: Sequence[str] = DOORS) -> dict[str, str]:
    """Give one input of recordings to every door, as `doors` does; `compare` and `publish` with few trees or epochs.

    `publish` writes one row of statistics for each window of 128 samples, 10 for each of the 6 recordings. The first
    input is also published as recordings.
    """
    write, lines, expected = RECORDINGS[name]
    write(folder)
    ending = "*.parquet" if "parquet" in lines else "*/*.csv" if "{who}/" in lines else "*.csv"
    text = f'name = "{folder.name}"\nfiles = "{ending}"\nrate = 50\nchannels = ["x", "y", "z"]\n'
    text += f'subject = "who"\npublic = "act"\nprivate = ["who"]\n{lines}\n'
    file = folder / "recordings.toml"
    file.write_text(text)
    refused = "" if expected.isdigit() else expected

    def read() -> str:
        found = user_windows(file)
        count = len(found.public)
        return "" if count == int(expected) else f"{count} windows instead of {expected}"

    def minimized() -> str:
        _run("minimize", file, ["--task", "act", "--user", "who"])
        return ""

    roles = ["--task", "act", "--hide", "who"]

    def compared() -> str:
        told = folder / "compared.json"
        fast = ("--defences", "none", "--trees", "5", "--jobs", "1", "--minutes", "30")
        _run("compare", file, roles, *fast, "--store", str(folder / "s.jsonl"), "--json", str(told))
        return "" if told.stat().st_size else "no result"

    def published() -> str:
        _run("publish", file, roles, "--defence", "none", "--out", str(folder / "out"))
        rows = json.loads((folder / "out" / "card.json").read_text())["rows"]
        if rows != 60 or name != next(iter(RECORDINGS)):
            return "" if rows == 60 else f"{rows} rows instead of 60"
        _run("publish", file, roles, "--defence", "latent:epochs=1", "--out", str(folder / "out2"))
        held = [pd.read_csv(path) for path in (folder / "out2").glob("*.csv")]
        return "" if [len(one) for one in held] == [1280] * 6 else f"{[len(one) for one in held]} samples"

    every = {"minimize": minimized, "compare": compared, "publish": published, "Python": read}
    return {door: _judged(every[door], r"\.toml" if door == "minimize" else refused) for door in chosen}


RECORDINGS = _recordings()


def page(found: dict[str, dict[str, str]]) -> str:
    """Return a Markdown table of all inputs with what each door did."""
    answers = [one for each in found.values() for one in each.values()]
    good = sum(one == "ok" for one in answers)
    lines = [
        f"# {len(found)} messy inputs: {good} of {len(answers)} answers are as expected",
        "",
        "`python bench/messy_inputs.py --full`: each table went through `minimize`, `compare --defences none`,",
        "`publish --defence none` and `load_table`. *ok* means the expected rows, missing cells and values, no user,",
        "no warning of NumPy, or the expected refusal. `minimize` refuses recordings; `compare` and `publish` make a",
        "table of statistics of them, and `publish` also rewrites the first ones (with one epoch). Attackers have five",
        "trees, because nothing is said of attacks here.",
        "",
        "| input | expected | " + " | ".join(DOORS) + " |",
        "|---" * (len(DOORS) + 2) + "|",
    ]
    for name, each in found.items():
        cells = [each.get(door, "").replace("|", "/") for door in DOORS]
        lines.append(f"| {name} | {_in_words(name)} | {' | '.join(cells)} |")
    return "\n".join([*lines, ""])


def _in_words(name: str) -> str:
    if name.startswith("recordings: "):
        says = RECORDINGS[name.removeprefix("recordings: ")][2]
        return f"{says} windows" if says.isdigit() else "refused"
    expected = EXPECTED.get(name, {})
    missing = "".join(f", {count} missing in {one}" for one, count in expected.get("missing", {}).items())
    by_door = "".join(f", {door} refuses" for door in expected.get("refused_by", {}))
    return "refused" if "refused" in expected else f"{expected.get('rows', ROWS)} rows{missing}{by_door}"


def run() -> None:
    """Try every input, and write the outcomes."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--full", action="store_true", help="write the results")
    parser.add_argument("--only", help="only inputs whose names hold this text")
    arguments = parser.parse_args()
    found = {}
    for name in [*INPUTS, *(f"recordings: {name}" for name in RECORDINGS)]:
        if arguments.only is None or arguments.only in name:
            with tempfile.TemporaryDirectory() as folder:
                short = name.removeprefix("recordings: ")
                found[name] = (recorded if short != name else doors)(short, Path(folder))
            print(f"{name}: {found[name]}", file=sys.stderr, flush=True)
    if arguments.full:
        Path(__file__).with_name("results").joinpath("messy_inputs.md").write_text(page(found), encoding="utf-8")


if __name__ == "__main__":
    run()
