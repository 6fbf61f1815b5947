"""One secret, planted in a random place of an input, is in no output of any command, and in no frame given back."""

import contextlib
import gzip
import io
import json
import re
import sys
import warnings
import zipfile

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from sklearn.ensemble import RandomForestClassifier

from sensorprivacy import feature_minimize
from sensorrelease.cli import main
from sensorrelease.publishing.tables import publish

SECRET = "Zaphodine"  # the name of a person, who is a user of the table
COMMON = ["--task", "room", "--user", "owner", "--quiet", "--trees", "5"]
ACCEPTED = ["--accept-draft", "--although-identifying"]


def home(rows=160, seed=0):
    draw = np.random.default_rng(seed)
    room, owner = draw.integers(0, 2, rows), draw.integers(0, 4, rows)
    return pd.DataFrame(
        {
            "load": (1000 + 300 * room + draw.normal(0, 60, rows)).round(1),
            "count": draw.integers(0, 9, rows),
            "mode": np.where(draw.random(rows) < 0.8, np.where(room, "eco", "boost"), "auto"),
            "room": np.where(room, "kitchen", "hall"),
            "owner": np.array([SECRET, "bob", "cyd", "dee"])[owner],
        }
    )


def _csv(table, folder, name="home.csv"):
    table.to_csv(folder / name, index=False)
    return folder / name


def _parquet(table, folder, **metadata):
    cells = pa.Table.from_pandas(table, preserve_index=None)
    notes = dict(cells.schema.metadata or {}) | {name.encode(): text.encode() for name, text in metadata.items()}
    pq.write_table(cells.replace_schema_metadata(notes), folder / "home.parquet")
    return folder / "home.parquet"


def _attrs(table, folder, at):
    table.attrs = {"codebook": {"S1": SECRET}}
    table.to_parquet(folder / "home.parquet")
    return folder / "home.parquet"


def _unused(table, folder, at):
    for name in ("mode", "room"):
        table[name] = pd.Categorical(table[name], categories=sorted({*table[name], SECRET}))
    return _parquet(table, folder)


def _feather(table, folder, at):
    table["mode"] = pd.Categorical(table["mode"], categories=sorted({*table["mode"], SECRET}))
    table.to_feather(folder / "home.feather")
    return folder / "home.feather"


def _excel(kind):
    def write(table, folder, at):
        file = folder / "home.xlsx"
        with pd.ExcelWriter(file) as book:
            table.to_excel(book, index=False, sheet_name="data")
            if kind == "hidden sheet":
                table.assign(mode=SECRET).to_excel(book, index=False, sheet_name="notes")
                book.book.worksheets[1].sheet_state = "hidden"
                book.book.move_sheet("notes", -1)
            elif kind == "sheet name":
                book.book.worksheets[0].title = SECRET
            elif kind == "comment":
                from openpyxl.comments import Comment

                book.book.worksheets[0]["A2"].comment = Comment(SECRET, SECRET)
            else:
                book.book.properties.creator = book.book.properties.title = SECRET
        return file

    return write


def _cell(column, text):
    def write(table, folder, at):
        table[column] = table[column].astype(object)
        table.loc[at % len(table), column] = text
        return _csv(table, folder)

    return write


def _json(table, folder, at):
    records = table.rename(columns={"count": f"count of {SECRET}"}).to_dict("records")
    (folder / "home.jsonl").write_text("\n".join(map(json.dumps, records)))
    return folder / "home.jsonl"


PLACES = {
    "cell of text": _cell("mode", f"{SECRET}s lamp"),
    "cell of text alone": _cell("mode", SECRET.lower()),
    "cell among numbers": _cell("load", SECRET),
    "cell among whole numbers": _cell("count", f"ask {SECRET}"),
    "column name": lambda table, folder, at: _csv(table.rename(columns={"count": f"badge of {SECRET}"}), folder),
    "column name in camel case": lambda table, folder, at: _csv(
        table.rename(columns={"load": f"{SECRET}Load"}), folder
    ),
    "JSON key": _json,
    "file name": lambda table, folder, at: _csv(table, folder, f"{SECRET}.csv"),
    "Parquet attrs": _attrs,
    "Parquet metadata": lambda table, folder, at: _parquet(table, folder, author=SECRET),
    "Parquet index": lambda table, folder, at: _parquet(table.set_index(pd.Index(table["owner"].to_numpy())), folder),
    "Parquet index by name": lambda table, folder, at: _parquet(table.set_index("owner"), folder),
    "unused category, Parquet": _unused,
    "unused category, Feather": _feather,
    "Excel, hidden sheet": _excel("hidden sheet"),
    "Excel, sheet name": _excel("sheet name"),
    "Excel, properties": _excel("properties"),
    "Excel, comment": _excel("comment"),
    "banner": lambda table, folder, at: _banner(table, folder),
    "footer": lambda table, folder, at: _footer(table, folder),
}


def _banner(table, folder):
    (folder / "home.csv").write_text(f"Recorded by {SECRET}\n" + table.to_csv(index=False))
    return folder / "home.csv"


def _footer(table, folder):
    (folder / "home.csv").write_text(table.to_csv(index=False) + f"exported by {SECRET}\n")
    return folder / "home.csv"


def holds_secret(folder):
    """Return the files in a folder whose name or content has the secret, in any encoding of a table file."""
    found = []
    for file in (path for path in folder.rglob("*") if path.is_file()):
        content = unpacked(file.read_bytes()).lower()
        if file.suffix in (".parquet", ".feather"):
            table = pq.read_table(file)
            content += str(table.schema).lower().encode() + str(table.to_pydict()).lower().encode()
            content += str(table.schema.metadata).lower().encode()
        if SECRET.lower().encode() in content or SECRET.lower() in file.name.lower():
            found.append(file.name)
    return found


def unpacked(content):
    """Return bytes with the members of a zip, or the content of a gzip, behind them."""
    if content.startswith(b"PK"):
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            return content + b"".join(unpacked(archive.read(name)) + name.encode() for name in archive.namelist())
    return content + (gzip.decompress(content) if content.startswith(bytes.fromhex("1f8b")) else b"")


def run(*words):
    """Run a command and return its exit code; what it accepts of a draft stands on the publisher's screen only."""
    said, errors = io.StringIO(), io.StringIO()
    with warnings.catch_warnings(), contextlib.redirect_stdout(said), contextlib.redirect_stderr(errors):
        warnings.simplefilter("ignore")
        code = main([*map(str, words)])
    print(said.getvalue())
    print(errors.getvalue(), file=sys.stderr)
    return code


@pytest.mark.slow
@settings(max_examples=10, deadline=None, phases=[Phase.generate], suppress_health_check=list(HealthCheck))
@given(
    place=st.sampled_from(sorted(PLACES)),
    at=st.integers(0, 10_000),
    word=st.sampled_from(["none", "round:digits=2", "prediction", "noise:epsilon=8", "threeway:epsilon=8", "minimize"]),
)
def test_a_secret_planted_somewhere_is_in_no_output(place, at, word, tmp_path_factory):
    check_planted(place, at, tmp_path_factory, word)


@pytest.mark.first(4)
@pytest.mark.parametrize("place", sorted(PLACES))
def test_a_secret_planted_in_each_place_is_in_no_output(place, tmp_path_factory):
    check_planted(place, 5, tmp_path_factory)


def check_planted(place, at, tmp_path_factory, word="none"):
    folder = tmp_path_factory.mktemp("planted")
    given_folder, out = folder / "in", folder / "out"
    given_folder.mkdir()
    out.mkdir()
    table = PLACES[place](home(seed=at % 7), given_folder, at)
    files = ["--out", out / "small", "--json", out / "small.json"]
    minimized = run("minimize", table, *COMMON, *ACCEPTED, "--threshold", ".5", "--repeat", 0, *files)
    whole = ["--defence", word, "--out", out / "whole", "--save", folder / "fit"]
    published = run("publish", table, *COMMON[:5], *ACCEPTED, *whole)
    again = run("publish", table, "--fitted", folder / "fit", "--quiet", ACCEPTED[1], "--out", out / "again")
    strict = 2 if place == "footer" else 0  # a row that does not fit stops the reading
    assert (published, again) == (strict, strict)
    assert minimized in (strict, 2)  # without the column that holds the secret, the task may be beyond learning
    assert holds_secret(out) == []


COMPARED = ["cell of text", "cell among numbers", "column name", "JSON key", "file name", "Parquet attrs"]
COMPARED += ["Parquet index by name", "unused category, Feather", "Excel, sheet name", "banner"]


@pytest.mark.first(2)
@pytest.mark.parametrize("place", COMPARED)
def test_a_comparison_has_no_secret(place, tmp_path):
    """The JSON file named the most exposed user, and the page did if the user was recognized."""
    (tmp_path / "in").mkdir()
    (tmp_path / "out").mkdir()
    table = home()
    table["voice"] = table["owner"].astype("category").cat.codes + np.random.default_rng(1).normal(0, 0.1, len(table))
    table = PLACES[place](table, tmp_path / "in", 3)
    words = ["--defences", "none", "round:digits=2", "--minutes", "1", "--store", tmp_path / "store.jsonl", "--jobs", 1]
    out = tmp_path / "out"
    assert run("compare", table, *COMMON, *words, "--report", out / "page.html", "--json", out / "all.json") == 0
    assert holds_secret(out) == []
    exposed = {one["exposed"] for one in json.loads((out / "all.json").read_text())["defences"]}
    assert exposed & {f"{number} of 4" for number in range(1, 5)}
    assert "numbered in the order of their labels" in (out / "page.html").read_text()


def test_the_page_of_minimize_numbers_the_most_exposed_user(tmp_path, capsys):
    """It said "the most exposed user is Zaphodine"; in the other tests, a search of few trees recognizes nobody."""
    table = home(400)
    who, draw = table["owner"].astype("category").cat.codes, np.random.default_rng(1)
    table["voice"] = who + draw.normal(0, 0.1, len(table))
    table["room"] = np.where((who % 2 == 1) ^ (draw.random(len(table)) < 0.1), "kitchen", "hall")
    table = table[["voice", "room", "owner"]]
    assert run("minimize", _csv(table, tmp_path), *COMMON, "--repeat", 0) == 0
    said = " ".join(capsys.readouterr().out.split())
    assert re.search(r"most exposed user is number \d of 4 in the order of their labels", said), said


def _kinds(table):
    import polars as pl

    arrow = pa.Table.from_pandas(table)
    noted = arrow.replace_schema_metadata({b"author": SECRET.encode()})
    return {"pandas": table, "polars": pl.from_pandas(table), "lazy": pl.from_pandas(table).lazy(), "arrow": noted}


@pytest.mark.parametrize("kind", ["pandas", "polars", "lazy", "arrow"])
def test_a_frame_given_back_has_cells_only(kind):
    """REVIEW C3, C12: notes beside the cells survived `feature_minimize`; LazyFrame was refused."""
    table = home()
    table["mode"] = pd.factorize(table["mode"])[0]
    table.attrs = {"codebook": SECRET}
    given_table = _kinds(table)[kind]
    features = (
        given_table.drop(["room", "owner"])
        if kind in ("polars", "lazy")
        else (
            given_table.drop(columns=["room", "owner"])
            if kind == "pandas"
            else given_table.drop_columns(["room", "owner"])
        )
    )
    small = feature_minimize(features, table["room"], table["owner"], 0.5, estimator=RandomForestClassifier(5))
    assert type(small) is type(features)
    frame = small.collect() if kind == "lazy" else small
    assert SECRET not in str(getattr(frame, "attrs", "")) + str(frame.schema if kind == "arrow" else "")
    if kind == "arrow":
        assert SECRET not in str(frame)


@pytest.mark.parametrize("kind", ["pandas", "polars", "lazy", "arrow"])
def test_a_published_table_in_memory_has_no_secret(kind, tmp_path):
    table = home().rename(columns={"count": f"badge of {SECRET}"})
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        card = publish(
            _kinds(table)[kind], task="room", user="owner", defence="none", out=tmp_path / "out", accept_draft=True
        )
    assert holds_secret(tmp_path / "out") == []
    assert card.facts["columns"]["published"] == ["load", "x2", "mode", "room"]


@pytest.mark.parametrize("names", ["bob", "cyd and dee", SECRET])
@pytest.mark.parametrize("command", ["minimize", "publish", "compare"])
def test_classes_that_name_users_leave_by_no_command(command, names, tmp_path):
    """REVIEW C1: `minimize --out` wrote rooms called after their owners. Such a class is "other"."""
    table = home()
    table["room"] = np.where(np.arange(len(table)) % 5 == 0, f"room of {names}", table["room"])
    file = _csv(table, tmp_path)
    (tmp_path / "out").mkdir()
    where = {"minimize": ["--out", tmp_path / "out" / "small", *ACCEPTED, "--json", tmp_path / "out" / "small.json"]}
    where |= {"publish": ["--out", tmp_path / "out" / "whole", *ACCEPTED]}
    where |= {"compare": ["--report", tmp_path / "out" / "page.html", "--json", tmp_path / "out" / "all.json"]}
    words = ["--defence", "none"] if command == "publish" else COMMON[5:]
    words += ["--defences", "none", "--store", tmp_path / "store"] if command == "compare" else []
    assert run(command, file, *COMMON[:5], *where[command], *words) == 0
    for path in (tmp_path / "out").rglob("*"):
        assert path.is_dir() or f"room of {names}".lower() not in path.read_text().lower()
