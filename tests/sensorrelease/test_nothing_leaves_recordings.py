"""One secret, planted in a place of recordings, is in no file and no text that `compare` and `publish` give back."""

import contextlib
import io
import warnings

import numpy as np
import pandas as pd
import pyarrow.parquet as pq
import pytest
import torch

from sensorprivacy.latent.adversaries import Attacker
from sensorrelease.cli import main
from sensorrelease.publishing import recordings as module
from sensorrelease.schema import load, save

SECRET = "Zaphodine"  # the name of a person who was recorded
PEOPLE, ACTIVITIES = (SECRET, "bob", "cyd", "dee"), ("walk", "sit")
BEGIN = 1_763_856_000  # seconds since 1970, which no output holds


def phone(folder, change=lambda table, person: table, suffix=".csv", **labels):
    """Write a file for each person, activity and session, and a table of people; return the folder."""
    (folder / "rec").mkdir(parents=True)
    for at, person in enumerate(PEOPLE):
        for number, activity in enumerate(ACTIVITIES):
            for session in labels.get("sessions", ("1", "2")):
                draw = np.random.default_rng([at, number, int(session[-1])])
                times, wave = np.arange(900) / 50, np.sin(np.arange(900) * (0.25 if number else 0.05))
                cells = {axis: (at + wave * (2 - number) + draw.normal(0, 0.2, 900)).round(4) for axis in "xy"}
                table = change(pd.DataFrame({"time": BEGIN + times, **cells, "note": "ok"}), person)
                file = folder / "rec" / f"{activity}_{person}_{session}{suffix}"
                table.to_parquet(file) if suffix == ".parquet" else table.to_csv(file, index=False)
    people = pd.DataFrame({"person": PEOPLE, "gender": ["f", "m", "f", "m"]})
    people.to_csv(folder / "rec" / "people.csv", index=False)
    return folder / "rec"


def _attrs(table, person):
    table.attrs = {"codebook": SECRET}
    return table


def _people(folder):
    rec = phone(folder)
    people = pd.read_csv(rec / "people.csv")
    people.assign(remark=f"lives with {SECRET}").to_csv(rec / "people.csv", index=False)


def _metadata(folder):
    pd.DataFrame({"device": [f"phone of {SECRET}"]}).to_csv(phone(folder) / "Metadata.txt", index=False)


PLACES = {
    "the name of the folder": lambda folder: phone(folder),
    "a cell of a sensor's file": lambda folder: phone(folder, lambda table, who: table.assign(note=f"by {SECRET}")),
    "a column name": lambda folder: phone(folder, lambda table, who: table.rename(columns={"note": f"of {SECRET}"})),
    "a column of the table of people": _people,
    "a file beside the recordings": _metadata,
    "a session": lambda folder: phone(folder, sessions=(f"{SECRET}1", f"{SECRET}2")),
    "Parquet attrs": lambda folder: phone(folder, _attrs, ".parquet"),
    "a comment": lambda folder: phone(folder),
}


def held(folder):
    """Return files that hold the secret or the time of the recording; numbers of a table are compared as numbers."""
    found = []
    for file in (path for path in folder.rglob("*") if path.is_file()):
        content = file.read_bytes().lower()
        if file.suffix == ".parquet":
            table = pq.read_table(file)
            content += f"{table.schema}{table.schema.metadata}{table.to_pydict()}".lower().encode()
        found += [file.name] if SECRET.lower().encode() in content or b"17638560" in content else []
    return found


def run(*words, may_name_the_folder=False):
    said = io.StringIO()
    with warnings.catch_warnings(), contextlib.redirect_stdout(said), contextlib.redirect_stderr(said):
        warnings.simplefilter("ignore")
        code = main([*map(str, words), "--quiet"])
    assert code or may_name_the_folder or SECRET.lower() not in said.getvalue().lower(), said.getvalue()
    return code, said.getvalue()


@pytest.fixture(autouse=True)
def quick(monkeypatch):
    torch.set_num_threads(1)
    monkeypatch.setattr(module, "attackers", lambda _: (Attacker("trees on statistics", "trees"),))
    monkeypatch.setattr(module, "TASK_MODELS", module.TASK_MODELS[:1])


NAMES = "{activity}_{person}_{session}"


def declared(folder, place, declare):
    """Write recordings with a secret in a place, and their schema; return the folder."""
    PLACES[place](folder)
    rec = folder / "rec"
    if "folder" in place:
        rec = rec.rename(folder / f"{SECRET}s phone")
    suffix = ".parquet" if list(rec.glob("*.parquet")) else ".csv"
    declare(rec, "--names", f"{NAMES}{suffix}")
    if place == "a comment":
        file = rec.with_name("rec.schema.yaml")
        file.write_text(f"# recorded by {SECRET}\n{file.read_text()}")
    return rec


@pytest.mark.slow
@pytest.mark.parametrize("place", PLACES)
def test_a_secret_in_recordings_is_in_no_output(place, tmp_path, monkeypatch, declare):
    given, out = tmp_path / "in", tmp_path / "out"
    out.mkdir()
    rec = declared(given, place, declare)
    few = "latent:epochs=1,inference_epochs=1,length=64,stride=32"
    for name, word in (("statistics", "none"), ("rewritten", few)):
        saved = ["--save", tmp_path / f"fit {name}"]
        code, said = run("publish", rec, "--hide", "gender", "--defence", word, "--out", out / name, *saved)
        assert code == 0, said
        code, said = run("publish", rec, "--fitted", tmp_path / f"fit {name}", "--out", out / f"{name} again")
        assert code == 0, said
    assert held(out) == []


@pytest.mark.first(1)
@pytest.mark.parametrize("place", ["the name of the folder", "a column name", "a session"])
@pytest.mark.parametrize("hide", ["gender", "person"])
def test_a_secret_in_recordings_is_on_no_page_of_compare(place, hide, tmp_path, declare):
    given, out = tmp_path / "in", tmp_path / "out"
    out.mkdir()
    rec = declared(given, place, declare)
    words = ["--defences", "none", "--trees", "5", "--jobs", "1", "--store", tmp_path / "store.jsonl"]
    words += ["--report", out / "page.html", "--json", out / "all.json"]
    code, said = run("compare", rec, "--hide", hide, *words, may_name_the_folder=True)
    assert code == 0, said
    assert held(out) == []


def test_a_channel_that_names_a_person_leaves_under_another_title(tmp_path, declare):
    rec = declare(phone(tmp_path, lambda table, who: table.rename(columns={"x": f"{SECRET}.x"})))
    titles = [one.title for one in load(rec.with_name("rec.schema.yaml")).features]
    assert titles == ["x2", "y"]


def test_an_activity_that_names_a_person_is_no_level(tmp_path, declare):
    rec = phone(tmp_path)
    for file in rec.glob("walk_bob*"):
        file.rename(file.with_name(f"walk of {SECRET}{file.name[4:]}"))
    declare(rec, "--names", f"{NAMES}.csv")
    assert load(rec.with_name("rec.schema.yaml")).field("activity").constraints.enum == ["sit"]


@pytest.mark.parametrize("words", [[], ["--accept-draft", "--although-identifying"]])
def test_recordings_leave_only_by_a_schema_that_a_person_accepts(words, tmp_path):
    rec = phone(tmp_path)
    given = ["--task", "activity", "--user", "person", "--defence", "none", "--out", tmp_path / "out"]
    code, said = run("publish", rec, *given, *words)
    assert code == (0 if words else 2), said
    assert ("data leave only by a schema that a person confirmed" in said) != bool(words)


@pytest.mark.slow
def test_what_leaves_lies_in_the_declared_range_and_at_the_step(tmp_path, declare):
    """Whatever the networks computed, a published number is one that the schema allows."""
    rec = declare(phone(tmp_path))
    path = rec.with_name("rec.schema.yaml")
    schema = load(path)
    coarse = [
        one.model_copy(update={"step": 0.5, "title": "east"}) if one.name == "x" else one for one in schema.fields
    ]
    save(schema.model_copy(update={"fields": coarse}).confirm(schema.confirmed), path)
    few = "latent:epochs=1,inference_epochs=1,length=64,stride=32"
    code, said = run("publish", rec, "--hide", "gender", "--defence", few, "--out", tmp_path / "out")
    assert code == 0, said
    for file in (tmp_path / "out").glob("recording-*.csv"):
        found = pd.read_csv(file)
        assert list(found) == ["east", "y", "activity"]
        assert (found["east"] % 0.5 == 0).all()
        for name, title in (("x", "east"), ("y", "y")):
            ends = schema.field(name).constraints
            assert found[title].between(ends.minimum, ends.maximum).all()
        assert np.allclose(found["y"], found["y"].round(4))
