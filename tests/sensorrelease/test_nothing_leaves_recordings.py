"""One secret, planted in a place of recordings, is in no file and no text that `compare` and `publish` give back."""

import contextlib
import io
import json
import warnings

import numpy as np
import pandas as pd
import pyarrow.parquet as pq
import pytest
import torch

from sensorprivacy.latent.adversaries import Attacker
from sensorrelease.cli import main
from sensorrelease.publishing import recordings as module

SECRET = "Zaphodine"  # the name of a person who was recorded
PEOPLE, ACTIVITIES = (SECRET, "bob", "cyd", "dee"), ("walk", "sit")
BEGIN = 1_763_856_000  # seconds since 1970, which no output holds


def phone(folder, change=lambda table, person: table, suffix=".csv", **labels):
    """Write a file for each person, activity and session, and the description; return the keys."""
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
    people.to_csv(folder / "people.csv", index=False)
    keys = {"name": "phone", "files": f"rec/*{suffix}", "rate": 50, "channels": ["x", "y"], "subject": "person"}
    keys |= {"public": "activity", "private": ["gender"], "people": "people.csv", "time": "time", "trial": "session"}
    return keys | {"file_name": f"{{activity}}_{{person}}_{{session}}{suffix}"}


def described(folder, keys, comment=""):
    lines = [f"{name} = {json.dumps(value)}" for name, value in keys.items()]
    (folder / "my.toml").write_text("\n".join([*lines, comment]))


def _attrs(table, person):
    table.attrs = {"codebook": SECRET}
    return table


def _people(folder):
    keys, people = phone(folder), pd.read_csv(folder / "people.csv")
    people.assign(remark=f"lives with {SECRET}").to_csv(folder / "people.csv", index=False)
    return keys


def _metadata(folder):
    keys = phone(folder)
    pd.DataFrame({"device": [f"phone of {SECRET}"]}).to_csv(folder / "rec" / "Metadata.txt", index=False)
    return keys


PLACES = {
    "the name of the description": lambda folder: phone(folder) | {"name": f"{SECRET}s phone"},
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


def run(*words):
    said = io.StringIO()
    with warnings.catch_warnings(), contextlib.redirect_stdout(said), contextlib.redirect_stderr(said):
        warnings.simplefilter("ignore")
        code = main([*map(str, words), "--quiet"])
    assert code or SECRET.lower() not in said.getvalue().lower(), said.getvalue()
    return code, said.getvalue()


@pytest.fixture(autouse=True)
def quick(monkeypatch):
    torch.set_num_threads(1)
    monkeypatch.setattr(module, "attackers", lambda _: (Attacker("trees on statistics", "trees"),))
    monkeypatch.setattr(module, "TASK_MODELS", module.TASK_MODELS[:1])


@pytest.mark.slow
@pytest.mark.parametrize("place", PLACES)
def test_a_secret_in_recordings_is_in_no_output(place, tmp_path, monkeypatch):
    given, out = tmp_path / "in", tmp_path / "out"
    out.mkdir()
    described(given, PLACES[place](given), f"# recorded by {SECRET}" if place == "a comment" else "")
    monkeypatch.chdir(given)
    roles = ["my.toml", "--task", "activity", "--hide", "gender"]
    few = "latent:epochs=1,inference_epochs=1,length=64,stride=32"
    for name, word in (("statistics", "none"), ("rewritten", few)):
        saved = ["--save", tmp_path / f"fit {name}"]
        code, said = run("publish", *roles, "--defence", word, "--out", out / name, *saved)
        assert code == 0, said
        code, said = run("publish", "my.toml", "--fitted", tmp_path / f"fit {name}", "--out", out / f"{name} again")
        assert code == 0, said
    assert held(out) == []


@pytest.mark.first(1)
@pytest.mark.parametrize("place", ["the name of the description", "a column name", "a session"])
@pytest.mark.parametrize("hide", ["gender", "subject"])
def test_a_secret_in_recordings_is_on_no_page_of_compare(place, hide, tmp_path, monkeypatch):
    given, out = tmp_path / "in", tmp_path / "out"
    out.mkdir()
    described(given, PLACES[place](given))
    monkeypatch.chdir(given)
    words = ["--defences", "none", "--trees", "5", "--jobs", "1", "--store", tmp_path / "store.jsonl"]
    words += ["--report", out / "page.html", "--json", out / "all.json"]
    code, said = run("compare", "my.toml", "--task", "activity", "--hide", hide, *words)
    assert code == 0, said
    assert held(out) == []


@pytest.mark.parametrize("command", ["compare", "publish"])
def test_a_channel_that_names_a_person_is_refused(command, tmp_path, monkeypatch):
    keys = phone(tmp_path, lambda table, who: table.rename(columns={"x": f"{SECRET}.x"}))
    described(tmp_path, keys | {"channels": [f"{SECRET}.x", "y"]})
    monkeypatch.chdir(tmp_path)
    words = {"publish": ["--defence", "none", "--out", "out"], "compare": ["--defences", "none", "--trees", "5"]}
    code, said = run(command, "my.toml", "--task", "activity", "--hide", "gender", *words[command])
    assert code == 2, said
    assert "channel 'Zaphodine.x' names a person, so no release may hold it: rename it" in said


@pytest.mark.parametrize("command", ["compare", "publish"])
def test_an_activity_that_names_a_person_is_refused(command, tmp_path, monkeypatch):
    keys = phone(tmp_path)
    for file in (tmp_path / "rec").iterdir():
        if file.name.startswith("walk_bob"):
            file.rename(file.with_name(f"walk of {SECRET}{file.name[4:]}"))
    described(tmp_path, keys)
    monkeypatch.chdir(tmp_path)
    words = {"publish": ["--defence", "none", "--out", "out"], "compare": ["--defences", "none", "--trees", "5"]}
    code, said = run(command, "my.toml", "--task", "activity", "--hide", "gender", *words[command])
    assert code == 2, said
    assert f"activity 'walk of {SECRET}' names a person, so no release may hold it: rename it" in said
    assert not (tmp_path / "out").exists()
