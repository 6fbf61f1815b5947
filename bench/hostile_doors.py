# ruff: noqa: D103 - the names of the short functions say what they do; no path here is written to
"""Give hostile files, names and texts to every command: each must end right, or with one clear line.

    python bench/hostile_doors.py [--only WORD]     # about ten minutes; writes bench/results/hostile_doors.csv and .md

Each case runs in a child of its own, which may take 2 GB and two minutes of processor time. A planted code that runs
makes a file called OWNED. `bench/hostile_inputs.py` changes valid files at random; these here are made on purpose.
"""

import argparse
import bz2
import contextlib
import csv
import gzip
import io
import itertools
import json
import lzma
import os
import random
import re
import resource
import shutil
import signal
import socket
import sys
import tempfile
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq

from hostile_inputs import change_folder, fitted, table

MOST, SECONDS = 2 * 2**30, 120
ESCAPE, RTL = "\x1b]0;owned\x07\x1b[2J", "\u202efdp.exe"
HTML = "<script>alert(1)</script>![x](http://evil.example/p.png)"
CODE = "__import__('os').system('touch OWNED')"
RAW = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202e]")
ROLES = ["--task", "room", "--user", "owner", "--quiet"]
DOORS = {
    "schema": ["schema", "FILE", *ROLES, "--out", "new.yaml"],
    "minimize": ["minimize", "FILE", *ROLES, "--trees", "5", "--repeat", "0", "--preselect", "3", "--json", "a.json"],
    "compare": ["compare", "FILE", *ROLES, "--trees", "5", "--defences", "none", "--defences", "noise", "--report",
                "a.html", "--store", "a.jsonl"],
    "publish": ["publish", "FILE", *ROLES, "--defence", "round:digits=1", "--accept-draft", "--although-identifying",
                "--sample", "200", "--out", "out"],
    "dataset": ["FILE"],
}  # fmt: skip
FITTED = ["publish", "home.csv", "--fitted", "saved", "--although-identifying", "--quiet", "--out", "out"]
Make = Callable[[Path], Any]
Case = tuple[str, str, list[str], Make]


# --- tables ---


def relabelled(column: str, label: str) -> pd.DataFrame:
    made = table()
    return made.assign(**{column: made[column].replace(made[column].iloc[0], label)})


def named(name: str) -> pd.DataFrame:
    return table().rename(columns={"load": name})


def numbers(*values: Any) -> pd.DataFrame:
    made = table().astype({"load": object})
    made.loc[: len(values) - 1, "load"] = [str(one) for one in values]
    return made


TABLES: dict[str, Callable[[], pd.DataFrame]] = {
    "formula in a level": lambda: relabelled("mode", "=cmd|' /C calc'!A1"),
    "formula in the task": lambda: relabelled("room", " =1+1"),
    "HTML in the task": lambda: relabelled("room", HTML),
    "escape codes in a level": lambda: relabelled("mode", f"a{ESCAPE}"),
    "text that runs backwards": lambda: relabelled("room", RTL),
    "template in a level": lambda: relabelled("room", "{{ 7*7 }}{% include '/etc/passwd' %}"),
    "code in a level": lambda: relabelled("room", f"{{{CODE}}}"),
    "path in a column": lambda: named("../../../etc/passwd"),
    "HTML in a column": lambda: named(HTML),
    "escape codes in a column": lambda: named(f"lo{ESCAPE}ad"),
    "code in a column": lambda: named(f"@{CODE}"),
    "formula in a column": lambda: named("=1+1"),
    "numbers without end": lambda: numbers("1e308", "-1e308", "inf", "nan", "1e400", "9" * 400),
    "a cell of 3 MB": lambda: relabelled("mode", "x" * 3_000_000),
    "2,000 columns": lambda: pd.concat([table(), pd.DataFrame(np.eye(200, 2000)).add_prefix("c")], axis=1),
    "one row": lambda: table(1),
    "no row": lambda: table().head(0),
    "each row a user": lambda: table().assign(owner=[f"p{at}" for at in range(200)]),
}


def written(make: Callable[[], pd.DataFrame], name: str) -> Make:
    def write(folder: Path) -> None:
        made, file, suffix = make(), folder / name, name.partition(".")[2]
        if suffix == "csv":
            made.to_csv(file, index=False)
        elif suffix == "tsv":
            made.to_csv(file, index=False, sep="\t")
        elif suffix in ("jsonl", "ndjson"):
            made.to_json(file, orient="records", lines=True)
        elif suffix == "json":
            made.to_json(file, orient="records")
        elif suffix in ("csv.gz", "csv.xz", "csv.bz2", "csv.zip", "zip"):
            made.to_csv(file, index=False)
        elif suffix == "xlsx":
            clean = made.rename(columns=lambda one: re.sub(RAW, "", one))
            clean = clean.map(lambda one: re.sub(RAW, "", one)[:32000] if isinstance(one, str) else one)
            clean.to_excel(file, index=False)
        else:
            made = made.astype({name: str for name in made if made[name].dtype == object})
            {"parquet": made.to_parquet, "feather": made.to_feather}[suffix](file)

    return write


FORMATS = ("csv", "tsv", "jsonl", "xlsx", "parquet", "feather", "csv.gz")


def tables() -> Iterator[Case]:
    doors = itertools.cycle(DOORS)
    for at, (kind, make) in enumerate(TABLES.items()):
        for form in (FORMATS[(at + step) % len(FORMATS)] for step in (0, 2, 5)):
            door = next(doors)
            yield f"table: {kind}", f"{door} {form}", put(door, f"home.{form}"), written(make, f"home.{form}")
    for form in ("json", "zip", "csv.zip", "ods", "csv.exe", "ndjson", "csv.bz2", "csv.xz"):
        make = written(table, f"home.{form}") if form not in ("ods", "csv.exe") else bytes_of(f"home.{form}", b"PK\3\4")
        yield "table: other formats", f"publish {form}", put("publish", f"home.{form}"), make


def put(door: str, file: str) -> list[str]:
    return [door, *(file if word == "FILE" else word for word in DOORS[door])]


def bytes_of(name: str, content: bytes) -> Make:
    return lambda folder: (folder / name).write_bytes(content)


# --- files that are none, and names ---


def fifo(folder: Path) -> None:
    os.mkfifo(folder / "home.csv")


def unix_socket(folder: Path) -> None:
    here = os.getcwd()  # noqa: PTH109 - a socket's path is short
    os.chdir(folder)
    with socket.socket(socket.AF_UNIX) as made:
        made.bind("home.csv")
    os.chdir(here)


def linked(target: str) -> Make:
    return lambda folder: (folder / "home.csv").symlink_to(target)


PLACES: dict[str, Make] = {
    "a folder": lambda folder: (folder / "home.csv").mkdir(),
    "a pipe": fifo,
    "a socket": unix_socket,
    "link to /dev/zero": linked("/dev/zero"),
    "link to /dev/random": linked("/dev/random"),
    "link to itself": linked("home.csv"),
    "link to nothing": linked("gone.csv"),
    "link to /proc/self/mem": linked("/proc/self/mem"),
    "an empty file": bytes_of("home.csv", b""),
    "no file": lambda folder: None,
}
NAMES = ("a\nb.csv", f"a{ESCAPE}.csv", f"{RTL}.csv", "--help.csv", "a" * 250 + ".csv", "a\udcff.csv", "$\\frac{a.csv",
         "=cmd.csv", "a b'\";$(touch OWNED).csv", "..csv", "[a]*.csv", "`touch OWNED`.csv")  # fmt: skip


def places() -> Iterator[Case]:
    for kind, make in PLACES.items():
        for door in ("schema", "compare", "publish"):
            yield "place", f"{door}: {kind}", put(door, "home.csv"), make
    for at, name in enumerate(NAMES):
        door = ("publish", "compare", "minimize", "schema")[at % 4]
        yield "name", f"{door}: {ascii(name)[:30]}", put(door, f"./{name}"), named_file(name)
    for word in ("", "\0", "/", "http://[::1", "file:///etc/passwd", "~root/x.csv", "//host/x.csv", "-", "x" * 5000):
        yield "name", f"publish: {ascii(word)[:20]}", put("publish", word), lambda folder: None


def named_file(name: str) -> Make:
    return lambda folder: table().to_csv(folder / name, index=False)


# --- files that grow ---


def packed(opener: Any, name: str, content: bytes = b"0,1\n" * 2**20, times: int = 500) -> Make:
    def write(folder: Path) -> None:
        with opener(folder / name, "wb") as file:
            file.write(b"room,owner\n")
            for _ in range(times):
                file.write(content)

    return write


def workbook(change: Callable[[dict[str, bytes]], None]) -> Make:
    def write(folder: Path) -> None:
        table().to_excel(folder / "valid.xlsx", index=False)
        with zipfile.ZipFile(folder / "valid.xlsx") as archive:
            parts = {name: archive.read(name) for name in archive.namelist()}
        (folder / "valid.xlsx").unlink()
        change(parts)
        with zipfile.ZipFile(folder / "home.xlsx", "w", zipfile.ZIP_DEFLATED) as archive:
            for name, content in parts.items():
                archive.writestr(name, content)

    return write


def in_sheet(old: bytes, new: bytes) -> Make:
    def change(parts: dict[str, bytes]) -> None:
        parts["xl/worksheets/sheet1.xml"] = parts["xl/worksheets/sheet1.xml"].replace(old, new, 1)

    return workbook(change)


LAUGHS = b'<!DOCTYPE a [<!ENTITY l0 "ha">' + b"".join(
    b'<!ENTITY l%d "%s">' % (at, b"&l%d;" % (at - 1) * 10) for at in range(1, 11)
) + b"]>"  # fmt: skip
FAR = b'<row r="1048576"><c r="XFD1048576"><v>1</v></c></row></sheetData>'
MERGED = b'</sheetData><mergeCells count="1"><mergeCell ref="A1:XFD1048576"/></mergeCells>'
OUTSIDE = b'<!DOCTYPE a [<!ENTITY x SYSTEM "file:///etc/passwd">]>'


def repeated(folder: Path, rows: int = 30_000_000) -> None:
    values = pa.chunked_array([pa.array(np.zeros(10**6))] * (rows // 10**6))
    texts = pa.DictionaryArray.from_arrays(pa.array(np.zeros(10**6, np.int8)), pa.array(["a" * 1000]))
    column = pa.chunked_array([texts] * (rows // 10**6))
    pq.write_table(pa.table({"load": values, "room": column, "owner": column}), folder / "home.parquet")


def long_text(folder: Path) -> None:
    texts = pa.array(["x" * 20_000_000] * 300)
    owners = pa.array([f"p{at % 4}" for at in range(300)])
    pq.write_table(pa.table({"room": texts, "owner": owners, "load": np.arange(300.0)}), folder / "home.parquet")


def forged_feather(folder: Path) -> None:
    texts, file = pa.array(["abc", "de"]), folder / "home.feather"
    batch = pa.record_batch([texts, texts, pa.array([1.0, 2.0])], names=["room", "owner", "load"])
    with pa.ipc.new_file(str(file), batch.schema) as stream:
        stream.write_batch(batch)
    offsets = [np.array(some, np.int32).tobytes() for some in ([0, 3, 5], [0, 2**30, 5])]
    assert offsets[0] in file.read_bytes()
    file.write_bytes(file.read_bytes().replace(*offsets))


BOMBS: dict[str, tuple[str, Make]] = {
    "gz of 2 GB": ("home.csv.gz", packed(gzip.open, "home.csv.gz")),
    "bz2 of 2 GB": ("home.csv.bz2", packed(bz2.open, "home.csv.bz2")),
    "xz of 2 GB": ("home.csv.xz", packed(lzma.open, "home.csv.xz")),
    "gz of one line": ("home.csv.gz", packed(gzip.open, "home.csv.gz", b"a" * 2**22)),
    "gz of JSON": ("home.jsonl.gz", packed(gzip.open, "home.jsonl.gz", b'{"room":"a"}\n' * 10**5)),
    "a line of 100 MB": ("home.csv", bytes_of("home.csv", b"room,owner,load\n" + b"a" * 10**8)),
    "a quote that stays open": ("home.csv", bytes_of("home.csv", b'room,owner,load\n"' + b"a,b\n" * 10**6)),
    "200,000 columns": ("home.csv", bytes_of("home.csv", b",".join(b"c%d" % at for at in range(200_000)) + b"\n1\n")),
    "JSON of 100,000 levels": ("home.jsonl", bytes_of("home.jsonl", b'{"a":' * 100_000)),
    "JSON key twice": ("home.jsonl", bytes_of("home.jsonl", b'{"room":1,"room":2,"owner":1}\n' * 50)),
    "JSON of a million digits": ("home.jsonl", bytes_of("home.jsonl", b'{"room":' + b"9" * 10**6 + b',"owner":1}\n')),
    "null bytes": ("home.csv", bytes_of("home.csv", b"room,owner,load\n" + b"a\0,b,1\n" * 99)),
    "halves of characters": ("home.csv", bytes_of("home.csv", b"room,owner,load\n" + b"\xed\xa0\x80,b\xff,1\n" * 99)),
    "columns of one name": ("home.csv", bytes_of("home.csv", b"room,owner,load,load\n" + b"a,b,1,2\n" * 99)),
    "columns without name": ("home.csv", bytes_of("home.csv", b"room,owner,,\n" + b"a,b,1,2\n" * 99)),
    "no header": ("home.csv", bytes_of("home.csv", b"1,2,3\n" * 99)),
    "UTF-32": ("home.csv", bytes_of("home.csv", table().to_csv(index=False).encode("utf-32"))),
    "a far cell": ("home.xlsx", in_sheet(b"</sheetData>", FAR)),
    "merged to the end": ("home.xlsx", in_sheet(b"</sheetData>", MERGED)),
    "ten to the tenth laughs": ("home.xlsx", in_sheet(b"<worksheet", LAUGHS + b"<worksheet")),
    "entity of a file": ("home.xlsx", in_sheet(b"<worksheet", OUTSIDE + b"<worksheet")),
    "sheet of 3 GB": ("home.xlsx", in_sheet(b"</sheetData>", b"<row><c><v>1</v></c></row>" * 10**7 + b"</sheetData>")),
    "broken workbook": ("home.xlsx", bytes_of("home.xlsx", b"PK\3\4" + b"\0" * 99)),
    "30 million rows": ("home.parquet", repeated),
    "text of 20 MB, 300 times": ("home.parquet", long_text),
    "broken Parquet": ("home.parquet", bytes_of("home.parquet", b"PAR1" + b"\xff" * 60 + b"PAR1")),
    "forged offsets": ("home.feather", forged_feather),
    "broken Feather": ("home.feather", bytes_of("home.feather", b"ARROW1\0\0" + b"\xff" * 60 + b"ARROW1")),
}


def bombs() -> Iterator[Case]:
    for at, (kind, (name, make)) in enumerate(BOMBS.items()):
        for door in (tuple(DOORS)[at % 5], tuple(DOORS)[(at + 3) % 5])[: 1 + (at % 3 == 0)]:
            yield "file", f"{door}: {kind}", put(door, name), make


# --- schemas ---

VALID = """sensorprivacy: 1
name: data
k: 2
format: csv
fields:
- name: load
  type: number
  role: feature
  constraints: {minimum: -5.0, maximum: 5.0}
  step: 0.1
- {name: voice, role: withheld}
- {name: hour, role: withheld}
- name: mode
  type: string
  role: feature
  constraints: {enum: [eco, auto]}
- {name: room, type: string, role: task, constraints: {enum: [kitchen, hall]}}
- {name: owner, type: string, role: user}
"""
BOMB = "a: &a [x, x, x, x, x, x, x, x, x]\n" + "".join(
    f"{new}: &{new} [{', '.join([f'*{old}'] * 9)}]\n" for old, new in itertools.pairwise("abcdefghi")
)
SCHEMAS: dict[str, tuple[str, str]] = {
    "anchors that multiply": ("sensorprivacy: 1\n", f"sensorprivacy: 1\n{BOMB}"),
    "anchors in the levels": ("[eco, auto]", "&l [eco, auto, *l]"),
    "anchors in a name": ("name: data", "name: &n [*n]"),
    "tag of Python": ("name: data", f"name: !!python/object/apply:os.system ['{'touch OWNED'}']"),
    "tag of an object": ("k: 2", "k: !!python/name:os.system"),
    "merge key": ("k: 2", "<<: {k: 2}"),
    "key twice": ("k: 2", "k: 2\nk: 3"),
    "100,000 brackets": ("k: 2", "k: " + "[" * 100_000),
    "two documents": ("fields:", "---\nfields:"),
    "k of -1": ("k: 2", "k: -1"),
    "k of 1e400": ("k: 2", "k: 1e400"),
    "k of ten digits": ("k: 2", "k: 9999999999"),
    "k of a text": ("k: 2", "k: many"),
    "minimum not a number": ("minimum: -5.0", "minimum: .nan"),
    "maximum without end": ("maximum: 5.0", "maximum: .inf"),
    "minimum above maximum": ("minimum: -5.0", "minimum: 50"),
    "range of 1e308": ("minimum: -5.0, maximum: 5.0", "minimum: -1.0e+308, maximum: 1.0e+308"),
    "step of 0": ("step: 0.1", "step: 0"),
    "step of 1e-320": ("step: 0.1", "step: 1.0e-320"),
    "step of -1": ("step: 0.1", "step: -1"),
    "step not a number": ("step: 0.1", "step: .nan"),
    "step of 1e300": ("step: 0.1", "step: 1.0e+300"),
    "100,000 levels": ("[eco, auto]", f"[{', '.join(f'l{at}' for at in range(100_000))}]"),
    "level of 1 MB": ("[eco, auto]", f"[eco, auto, {'x' * 10**6}]"),
    "level of HTML": ("[eco, auto]", f"[eco, auto, '{HTML}']"),
    "level twice": ("[eco, auto]", "[eco, eco, auto]"),
    "name of a path": ("name: data", "name: ../../evil"),
    "name of an absolute path": ("name: data", "name: /tmp/evil"),
    "name with a line": ("name: data", 'name: "a\\nb\\e[2J"'),
    "name of a dot": ("name: data", "name: .."),
    "name of 300 letters": ("name: data", f"name: {'a' * 300}"),
    "title of HTML": ("- name: load", f"- name: load\n  title: '{HTML}'"),
    "title of a formula": ("- name: load", "- name: load\n  title: '=cmd|A1'"),
    "title with codes": ("- name: load", '- name: load\n  title: "\\e[2J\\u202e"'),
    "title twice": ("- name: load", "- name: load\n  title: mode"),
    "forged confirmation": ("k: 2", "k: 2\nconfirmed: 2026-11-27\ndigest: " + "0" * 64),
    "confirmed in the year 0": ("k: 2", "k: 2\nconfirmed: 0000-00-00\ndigest: x"),
    "encoding that unpacks": ("format: csv", "format: csv\nencoding: zlib"),
    "encoding that escapes": ("format: csv", "format: csv\nencoding: unicode_escape"),
    "encoding unknown": ("format: csv", "format: csv\nencoding: ../x"),
    "delimiter of a line": ("format: csv", 'format: csv\ndialect: {delimiter: "\\n"}'),
    "header in line 1e9": ("format: csv", "format: csv\ndialect: {headerRows: [1000000000]}"),
    "header of 0 lines": ("format: csv", "format: csv\ndialect: {headerRows: []}"),
    "header of a million": ("format: csv", f"format: csv\ndialect: {{headerRows: [{', '.join(['1'] * 10**5)}]}}"),
    "quote of two marks": ("format: csv", "format: csv\ndialect: {quoteChar: '\"\"'}"),
    "another format": ("format: csv", "format: parquet"),
    "compressed, and is not": ("format: csv", "format: csv\ncompression: xz"),
    "all cells missing": ("format: csv", "format: csv\nmissingValues: [eco, auto, kitchen, hall]"),
    "two users": ("{name: hour, role: withheld}", "{name: hour, role: user}"),
    "no user": ("role: user", "role: withheld"),
    "another type": ("type: number", "type: string"),
    "unknown key": ("k: 2", "k: 2\nrun: touch OWNED"),
    "nothing": (VALID, ""),
    "a list": (VALID, "- 1\n- 2\n"),
    "bytes": (VALID, "\x01\x02"),
}


def schemas() -> Iterator[Case]:
    doors = (["publish", *DOORS["publish"][:2], "--schema", "s.yaml", *DOORS["publish"][6:]],
             ["schema", "schema", "s.yaml", "--confirm"],
             ["compare", *DOORS["compare"][:2], "--schema", "s.yaml", *DOORS["compare"][6:]])  # fmt: skip
    for at, (kind, (old, new)) in enumerate(SCHEMAS.items()):
        assert VALID.count(old) >= 1, kind
        words = ["home.csv" if word == "FILE" else word for word in doors[at % 2 if at % 5 else 2]]
        yield "schema.yaml", f"{words[0]}: {kind}", [*words], schema_file(VALID.replace(old, new, 1))


def schema_file(text: str) -> Make:
    def write(folder: Path) -> None:
        table().to_csv(folder / "home.csv", index=False)
        (folder / "s.yaml").write_bytes(text.encode())

    return write


# --- texts for the card, other words, fitted folders, expressions ---

TEXTS = (
    HTML,
    f"a{ESCAPE}",
    RTL,
    "=cmd|A1",
    "a\n# b\n- c",
    "{{ 7*7 }}",
    "x" * 100_000,
    "\udcff",
    "",
    "| a | b |\n|---|",
)
WORDS = (
    ["--defence", f"minimize:threshold={CODE}"], ["--defence", "minimize:threshold=1e400"], ["--defence", "x" * 10_000],
    ["--defence", "noise:epsilon=nan"], ["--defence", "round:digits=99999999999"], ["--defence", f"a{ESCAPE}"],
    ["--task", f"ro{ESCAPE}om"], ["--user", "room"], ["--seed", "9" * 5000], ["--sample", "-1"],
    ["--recording", "gone"], ["--out", "/dev/null/x"], ["--out", "a\n/b"], ["--save", "out"], ["--schema", "/dev/zero"],
    ["--schema", "."], ["--fitted", "/dev"], ["--schema", "home.csv"],
)  # fmt: skip


def home(folder: Path) -> None:
    table().to_csv(folder / "home.csv", index=False)


def words() -> Iterator[Case]:
    for at, text in enumerate(TEXTS):
        option = ("--purpose", "--publisher", "--contact")[at % 3]
        yield "text for the card", f"{option} {ascii(text)[:20]}", [*put("publish", "home.csv"), option, text], home
    for more in WORDS:
        yield "option", ascii(" ".join(more))[:40], [*put("publish", "home.csv"), *more], home


def saved_with(change: Callable[[Path], Any]) -> Make:
    def make(folder: Path) -> None:
        shutil.copytree(VALID_FITTED / "saved", folder / "saved")
        home(folder)
        change(folder / "saved")

    return make


VALID_FITTED = Path()
PICKLE = b"cos\nsystem\n(S'touch OWNED'\ntR."
FOLDERS: dict[str, Callable[[Path], Any]] = {
    "pickle beside it": lambda saved: (saved / "step.pkl").write_bytes(PICKLE),
    "pickle as step": lambda saved: (saved / "step.skops").write_bytes(PICKLE),
    "pickle as JSON": lambda saved: (saved / "defence.json").write_bytes(PICKLE),
    "pipe as JSON": lambda saved: (saved / "defence.json").unlink() or os.mkfifo(saved / "defence.json"),
    "link to /dev/zero": lambda saved: (
        (saved / "defence.json").unlink() or (saved / "defence.json").symlink_to("/dev/zero")
    ),
    "JSON of 100 MB": lambda saved: (saved / "defence.json").write_bytes(b"[" + b"1," * 50_000_000 + b"1]"),
    "JSON of 100,000 levels": lambda saved: (saved / "defence.json").write_bytes(b"[" * 100_000),
    "folder in it": lambda saved: (saved / "cache").mkdir(),
    "no files": lambda saved: [path.unlink() for path in saved.iterdir()],
    "only a name": lambda saved: shutil.rmtree(saved) or saved.touch(),
}


def folders() -> Iterator[Case]:
    for kind, change in FOLDERS.items():
        yield "fitted folder", kind, ["publish", *FITTED], saved_with(change)
    for seed in range(12):
        changed = saved_with(lambda saved, seed=seed: change_folder(saved.parent, random.Random(seed)))
        yield "fitted folder", f"changed at random, {seed}", ["publish", *FITTED], changed


EXPRESSIONS = (
    CODE, f"@{CODE}", "().__class__.__base__.__subclasses__()", "20_threeway_example/x.csv | a.b", "a | b | c | d",
    "../../../etc/passwd | x", "/etc/passwd | x", "x" * 100_000, "(" * 5000, "{" * 5000, "a/b.csv:c where d == " + CODE,
    "\0", "a/b.csv | `x`", "1e400", "%s%s%n",
)  # fmt: skip


def expressions() -> Iterator[Case]:
    for text in EXPRESSIONS:
        for door in ("ledger", "caption"):
            yield "expression", f"{door}: {ascii(text)[:24]}", [door, text], lambda folder: None


# --- folders of recordings ---

PEOPLE = ("ann", "bob", "cy", "di")
RECORDED = """sensorprivacy: 1
name: data
k: 2
format: csv
fields:
- {name: t, type: number, role: time, unit: s}
- {name: x, type: number, role: feature, constraints: {minimum: -50.0, maximum: 50.0}, step: 0.01}
- {name: y, type: number, role: feature, constraints: {minimum: -50.0, maximum: 50.0}, step: 0.01}
- {name: activity, type: string, role: task, constraints: {enum: [sit, walk]}}
- {name: person, type: string, role: user}
- {name: day, type: string, role: recording}
- {name: side, type: string, role: private}
recordings:
  files: "*.csv"
  names: "{activity}_{person}_{day}.csv"
  rate: 50
  people: people.csv
"""
SEEN = ["recordings", "--task", "activity", "--user", "person"]
OF_RECORDINGS = {
    "schema": ["schema", *SEEN, "--out", "new.yaml", "--quiet"],
    "publish": ["publish", "recordings", "--schema", "s.yaml", "--hide", "side", "--accept-draft", "--quiet",
                "--although-identifying", "--defence", "latent:epochs=1,inference_epochs=1", "--out", "out"],
    "compare": ["compare", "recordings", "--schema", "s.yaml", "--hide", "side", "--quiet", "--trees", "5",
                "--defences", "none", "--defences", "noise", "--report", "a.html", "--store", "a.jsonl"],
}  # fmt: skip
FIRST = "recordings/walk_ann_1.csv"


def samples(folder: Path) -> None:
    draw = np.random.default_rng(0)
    (folder / "recordings").mkdir()
    for person, doing, day in itertools.product(PEOPLE, ("sit", "walk"), "12"):
        values = draw.normal(size=(600, 2)) * (1 + 4 * (doing == "walk")) + PEOPLE.index(person)
        made = pd.DataFrame({"t": np.arange(600) / 50, "x": values[:, 0].round(3), "y": values[:, 1].round(3)})
        made.to_csv(folder / "recordings" / f"{doing}_{person}_{day}.csv", index=False)
    people = pd.DataFrame({"person": PEOPLE, "side": ["left", "right"] * 2})
    people.to_csv(folder / "recordings" / "people.csv", index=False)
    (folder / "s.yaml").write_text(RECORDED, encoding="utf-8")


def recorded(change: Callable[[Path], Any]) -> Make:
    def make(folder: Path) -> None:
        samples(folder)
        change(folder)

    return make


def declared(old: str, new: str) -> Make:
    assert RECORDED.count(old) == 1, old
    return recorded(lambda folder: (folder / "s.yaml").write_bytes(RECORDED.replace(old, new).encode()))


def instead(content: bytes) -> Callable[[Path], Any]:
    return lambda folder: (folder / FIRST).write_bytes(content)


def linked_to(target: str) -> Callable[[Path], Any]:
    return lambda folder: (folder / FIRST).unlink() or (folder / FIRST).symlink_to(target)


def renamed(name: str) -> Callable[[Path], Any]:
    return lambda folder: (folder / FIRST).rename(folder / "recordings" / name)


DECLARED: dict[str, tuple[str, str]] = {
    "files above": ('"*.csv"', '"../*.csv"'),
    "files of the root": ('"*.csv"', '"/etc/*"'),
    "files of all folders": ('"*.csv"', '"**/**/**/*"'),
    "files of no pattern": ('"*.csv"', '"[a"'),
    "a number of files": ('"*.csv"', "7"),
    "people above": ("people: people.csv", "people: ../../people.csv"),
    "people of the root": ("people: people.csv", "people: /etc/passwd"),
    "people of a device": ("people: people.csv", "people: /dev/zero"),
    "names with attributes": ('"{activity}_{person}_{day}.csv"', '"{activity.__class__}_{person}_{day}.csv"'),
    "names without end": ('"{activity}_{person}_{day}.csv"', f'"{"{activity}" * 5000}"'),
    "names without a sign between": ('"{activity}_{person}_{day}.csv"', '"{activity}{person}{day}.csv"'),
    "names of a regex": ('"{activity}_{person}_{day}.csv"', '"(a+)+{activity}_{person}_{day}.csv"'),
    "rate of 0": ("rate: 50", "rate: 0"),
    "rate of -1": ("rate: 50", "rate: -1"),
    "rate not a number": ("rate: 50", "rate: .nan"),
    "rate of 1e300": ("rate: 50", "rate: 1.0e+300"),
    "rate of 1e-300": ("rate: 50", "rate: 1.0e-300"),
    "gap of -1": ("rate: 50", "rate: 50\n  gap: -1"),
    "gaps by a command": ("rate: 50", f"rate: 50\n  gaps: \"{CODE}\""),
    "unknown key": ("rate: 50", "rate: 50\n  run: touch OWNED"),
    "tag of Python": ("rate: 50", "rate: !!python/object/apply:os.system ['touch OWNED']"),
    "unit of a script": ("unit: s", f"unit: '{HTML}'"),
    "two times": ("{name: y, type: number, role: feature", "{name: y, type: number, role: time, unit: s"),
    "range of 1e308": ("{name: x, type: number, role: feature, constraints: {minimum: -50.0, maximum: 50.0}",
                       "{name: x, type: number, role: feature, constraints: {minimum: -1.0e+308, maximum: 1.0e+308}"),
}  # fmt: skip
HEAD = b"t,x,y\n"
CHANGED: dict[str, Callable[[Path], Any]] = {
    "an empty file": instead(b""),
    "only a header": instead(HEAD),
    "one sample": instead(HEAD + b"0,1,2\n"),
    "a clock that stands": instead(HEAD + b"0,1,2\n" * 600),
    "a clock that goes back": instead(HEAD + b"".join(b"%d,1,2\n" % -at for at in range(600))),
    "a clock of 1e308": instead(HEAD + b"".join(b"%de306,1,2\n" % at for at in range(99))),
    "numbers without end": instead(HEAD + b"".join(b"%.2f,1e308,-inf\n" % (at / 50) for at in range(600))),
    "texts as samples": instead(HEAD + b"".join(b"%.2f,=cmd|A1,nan\n" % (at / 50) for at in range(600))),
    "bytes": instead(b"\xff\xfe\x00" * 5000),
    "a line of 100 MB": instead(HEAD + b"1" * 10**8),
    "200,000 columns": instead(b",".join(b"c%d" % at for at in range(200_000)) + b"\n1\n"),
    "other columns": instead(b"a,b\n" + b"1,2\n" * 600),
    "10 million samples": instead(HEAD + b"".join(b"%.2f,1,2\n" % (at / 50) for at in range(10**7))),
    "link to /dev/zero": linked_to("/dev/zero"),
    "link to /etc/passwd": linked_to("/etc/passwd"),
    "link to its folder": linked_to("."),
    "a pipe": lambda folder: (folder / FIRST).unlink() or os.mkfifo(folder / FIRST),
    "a folder": lambda folder: (folder / FIRST).unlink() or (folder / FIRST).mkdir(),
    "name of another form": renamed("walk.csv"),
    "name with codes": renamed(f"walk_a{ESCAPE}_1.csv".replace("/", "")),
    "name of a formula": renamed("walk_=1+1_1.csv"),
    "name that runs backwards": renamed(f"walk_{RTL}_1.csv"),
    "name of half a character": renamed("walk_a\udcff_1.csv"),
    "3,000 files": lambda folder: [(folder / f"recordings/walk_p{at}_1.csv").write_bytes(HEAD) for at in range(3000)],
    "no file": lambda folder: [path.unlink() for path in (folder / "recordings").iterdir()],
    "people of HTML": lambda folder: (folder / "recordings/people.csv").write_text(f'person,side\nann,"{HTML}"\n'),
    "people without persons": lambda folder: (folder / "recordings/people.csv").write_text("side\nleft\n"),
    "people as a pipe": lambda folder: (
        (folder / "recordings/people.csv").unlink() or os.mkfifo(folder / "recordings/people.csv")
    ),
}


def recordings() -> Iterator[Case]:
    yield from (("recordings", door, [door, *words_], samples) for door, words_ in OF_RECORDINGS.items())
    for at, (kind, (old, new)) in enumerate(DECLARED.items()):
        door = ("publish", "compare")[at % 2]
        yield "recordings: schema.yaml", f"{door}: {kind}", [door, *OF_RECORDINGS[door]], declared(old, new)
    for at, (kind, change) in enumerate(CHANGED.items()):
        for door in ("schema", ("publish", "compare")[at % 2]):
            yield "recordings: files", f"{door}: {kind}", [door, *OF_RECORDINGS[door]], recorded(change)


def cases() -> Iterator[Case]:
    for some in (tables, places, bombs, schemas, words, folders, expressions, recordings):
        yield from some()


# --- running them ---


def call(words_: list[str]) -> int:
    """Call a command, or what a notebook or the ledger calls; return the exit code."""
    door, *rest = words_
    if door in ("ledger", "caption", "dataset"):
        try:
            if door == "dataset":
                from sensorrelease.running import plain_notices
                from sensorrelease.tables import load_table

                with plain_notices():
                    load_table(rest[0], task="room", user="owner")
            elif door == "ledger":
                from compendium.verdicts.quotes import quoted

                quoted("{" + rest[0] + "}")
            else:
                from compendium.show.expressions import value_of

                value_of(rest[0], pd.DataFrame({"a": [1.0, 2.0], "b": ["x", "y"]}))
        except (LookupError, OSError, ValueError, RuntimeError) as error:
            print(f"error: {' '.join(ascii(str(error))[1:-1].split())}", file=sys.stderr)
            return 2
        return 0
    from sensorrelease.cli import main

    return main(rest)


def apart(make: Make, folder: Path) -> None:
    """Call a function in a child: OpenMP, once it has computed in a process, crashes the children of that process."""
    child = os.fork()
    if not child:
        code = 1
        try:
            make(folder)
            code = 0
        finally:
            os._exit(code)
    assert os.waitpid(child, 0)[1] == 0, make


def attempt(case: Case, folder: Path) -> dict[str, Any]:
    """Run a case in a child, and return how it ended."""
    kind, name, words_, make = case
    apart(make, folder)
    before = {path.name for path in folder.parent.iterdir()}
    child = os.fork()
    if not child:
        os.chdir(folder)
        for number, name_ in ((1, "said"), (2, "errors")):
            os.dup2(os.open(name_, os.O_CREAT | os.O_RDWR), number)
        sys.stdin = None
        resource.setrlimit(resource.RLIMIT_CPU, (SECONDS, SECONDS))
        resource.setrlimit(resource.RLIMIT_AS, (8 * 2**30, 8 * 2**30))
        signal.alarm(20 * SECONDS)
        code = 99
        try:
            code = call(words_)
        except BaseException as error:  # reported as a traceback by Python
            print(f"Traceback: {type(error).__name__}: {error}"[:300], file=sys.stderr)
        with contextlib.suppress(BaseException):
            sys.stdout.flush()
            sys.stderr.flush()
        os._exit(code)
    _, status, usage = os.wait4(child, 0)
    said, errors = ((folder / part).read_bytes().decode("utf-8", "replace") for part in ("said", "errors"))
    lines, said = [line for line in errors.splitlines() if not line.startswith("note: ")], said + errors
    code, faults = os.waitstatus_to_exitcode(status), []
    if code < 0 or code == 99:
        faults.append(f"ended by {code}")
    if "Traceback" in said or re.search(r"^\S+:\d+: \w+Warning", said, re.MULTILINE):
        faults.append("traceback or warning")
    if code and (len(lines) != 1 or not lines[0].startswith("error: ") or len(lines[0]) > 6000):
        usage_ = len(lines) <= 4 and any(line.startswith("Error: ") for line in lines)  # click shows the usage, too
        faults += [] if usage_ else [f"{len(lines)} lines"]
    if RAW.search(said):
        faults.append("raw control characters")
    for page in [*folder.glob("a.html"), *folder.glob("a.json"), *folder.glob("out/card.*")]:
        text = page.read_text(encoding="utf-8")
        if RAW.search(text) or ("<script>alert" in text.replace("\\<", "") and page.suffix != ".json"):
            faults.append(f"raw text in {page.name}")
    peak = usage.ru_maxrss * 1024
    faults += ["memory"] * (peak > MOST)
    faults += ["code ran"] * bool([*folder.rglob("OWNED"), *folder.parent.glob("OWNED")])
    faults += ["file outside"] * ({path.name for path in folder.parent.iterdir()} != before)
    faults += ["folder left"] * bool([*folder.glob(".*.part")])
    for written_ in folder.glob("out/*.csv"):
        with written_.open(newline="", encoding="utf-8") as stream:
            cells = [cell for row in csv.reader(stream) for cell in row]
        faults += ["formula"] * any(re.match(r"\s*(?:[=@]|[+-][^\d.i])", cell) for cell in cells)
    last = ascii(lines[-1].replace(str(Path.home()), "~")[:160])[1:-1] if code and lines else ""
    return {"kind": kind, "case": name, "code": code, "mib": round(peak / 2**20), "cpu": round(usage.ru_utime, 1),
            "faults": "; ".join(faults), "said": last}  # fmt: skip


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--only", default="", help="cases whose kind or name holds this word")
    options.add_argument("--first", type=int, default=0, help="leave out so many cases")
    options.add_argument("--out", type=Path, default=Path(__file__).parent / "results" / "hostile_doors.csv")
    given = options.parse_args()
    import compendium.show.expressions
    import compendium.verdicts.quotes  # noqa: F401
    import sensorrelease.compare_page
    import sensorrelease.publishing.recordings
    import sensorrelease.publishing.tables  # noqa: F401 - children need not load them again

    global VALID_FITTED
    found = []
    with tempfile.TemporaryDirectory() as root:
        VALID_FITTED = Path(root) / "fitted"
        VALID_FITTED.mkdir()
        os.environ["SENSORPRIVACY_CACHE"] = str(VALID_FITTED / "cache")
        with contextlib.redirect_stdout(io.StringIO()):
            apart(fitted("noise:epsilon=4"), VALID_FITTED)
        chosen = [case for case in cases() if given.only in f"{case[0]} {case[1]}"][given.first :]
        for at, case in enumerate(chosen):
            folder = Path(root) / f"cases{at}" / "here"
            folder.mkdir(parents=True)
            found.append(attempt(case, folder))
            shutil.rmtree(folder.parent)
            if found[-1]["faults"]:
                print(json.dumps(found[-1]), flush=True)
            pd.DataFrame(found).to_csv(given.out, index=False)
    table_ = pd.DataFrame(found).assign(
        ended=lambda one: np.select([one["faults"] != "", one["code"] == 0], ["fault", "done"], "one line")
    )
    counts = table_.groupby(["kind", "ended"]).size()
    print(counts.unstack(fill_value=0).to_string())  # noqa: PD010
    print(f"{len(table_)} inputs, most memory {table_['mib'].max()} MiB, most processor time {table_['cpu'].max()} s")


if __name__ == "__main__":
    main()
