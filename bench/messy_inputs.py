"""Tables as people have them, each given to `sensorprivacy minimize` as a new user would.

The inputs are synthetic: they test ways of writing a table, not a finding. `tests/own/test_messy.py` reads the
same inputs.

    python bench/messy_inputs.py --full      # about two minutes; writes bench/results/messy_inputs.md
"""

import argparse
import bz2
import contextlib
import gzip
import io
import lzma
import re
import sys
import tempfile
import uuid
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

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


def outcome(name: str) -> str:
    """Give one input to the command, and return its exit code with the error, or with what the page notes."""
    from sensorprivacy.cli import main

    write, words = INPUTS[name]
    out, err = io.StringIO(), io.StringIO()
    with tempfile.TemporaryDirectory() as folder, contextlib.ExitStack() as stack:
        file = write(table(), Path(folder))
        stack.enter_context(warnings.catch_warnings())
        warnings.simplefilter("ignore")
        stack.enter_context(contextlib.redirect_stdout(out))
        stack.enter_context(contextlib.redirect_stderr(err))
        roles = [*([] if "--task" in words else TASK), "--user", "owner", *words]
        try:
            code = main(["minimize", str(file), *roles, "--trees", "10", "--quiet"])
        except SystemExit as error:
            code = int(error.code or 0)
        except Exception as error:
            return f"traceback: {type(error).__name__}: {' '.join(str(error).split())[:160]}"
    lines = [line.strip() for line in out.getvalue().splitlines()]
    if code:
        last = (err.getvalue().strip().splitlines() or [""])[-1]
        return f"exit {code}: {last.replace(folder, '').replace('/home.', 'home.')[:220]}"
    began = lines.index("Features to keep")
    notes = re.sub(r" repeated with .*?kept in [^.]*\.( The choice [^.]*\.)?", "", " ".join(lines[began + 1 :]))
    return f"ok: {notes[: notes.index(' Cost: accuracy')].strip()}"[:400]


def page(found: dict[str, str]) -> str:
    """Return a Markdown table of all inputs with their outcomes."""
    good = sum(one.startswith("ok") for one in found.values())
    lines = [
        f"# {good} of {len(found)} ways to write a table are read, and the others are refused with a reason",
        "",
        "`python bench/messy_inputs.py --full`: each input went through `sensorprivacy minimize FILE --task room "
        "--user owner --trees 10`. *ok* means that there was a page, and what it says.",
        "",
        "| input | outcome |",
        "|---|---|",
    ]
    return "\n".join([*lines, *(f"| {name} | {text.replace('|', '/')} |" for name, text in found.items()), ""])


def run() -> None:
    """Try every input, and write the outcomes."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--full", action="store_true", help="write the results")
    arguments = parser.parse_args()
    found = {}
    for name in INPUTS:
        found[name] = outcome(name)
        print(f"{name}: {found[name]}", file=sys.stderr)
    if arguments.full:
        Path(__file__).with_name("results").joinpath("messy_inputs.md").write_text(page(found), encoding="utf-8")


if __name__ == "__main__":
    run()
