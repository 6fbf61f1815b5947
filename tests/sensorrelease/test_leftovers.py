"""What lies beside recordings, such as an earlier release of them, is not read as one more recording."""

import json
import shutil
import tomllib
import warnings

import numpy as np
import pandas as pd
import pytest

from sensorrelease.publishing import tables
from sensorrelease.publishing.recordings import publish_recordings
from sensorrelease.read.draft import draft
from sensorrelease.read.recordings import read_recordings

PEOPLE, ACTIVITIES = ("anna", "bert", "cleo", "dirk"), ("walk", "sit")


def phone(folder, files="*/*.csv"):
    """Write a folder for each person, with a file for each activity, and their description."""
    draw = np.random.default_rng(0)
    for at, person in enumerate(PEOPLE):
        (folder / person).mkdir(parents=True)
        for activity in ACTIVITIES:
            signal = {axis: draw.normal(at, 1 + (activity == "walk"), 600).round(3) for axis in "xyz"}
            pd.DataFrame({"time": np.arange(600) / 50, **signal}).to_csv(
                folder / person / f"{activity}.csv", index=False
            )
    (folder / "my.toml").write_text(
        f'name = "phone"\nfiles = "{files}"\nrate = 50\nchannels = ["x", "y", "z"]\nsubject = "person"\n'
        'public = "activity"\nprivate = ["person"]\ntime = "time"\nfile_name = "{person}/{activity}.csv"\n'
    )
    return folder / "my.toml"


def _rows(folder, names):
    """Return the form of a recording of this folder in a place."""
    source = next(folder.glob("*/walk.csv"))
    for name in names:
        (folder / name).parent.mkdir(exist_ok=True)
        shutil.copy(source, folder / name)


def _release(folder):
    with pytest.MonkeyPatch.context() as patch, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        patch.setattr(tables, "measure_table", lambda *_, **__: [])
        words = {"task": "activity", "hide": "person", "defence": "none"}
        publish_recordings(folder / "my.toml", out=folder / "safe", save=folder / "fitted", **words)


def _rewritten(folder):
    """Write a release of recordings, as `publish --defence latent` does."""
    _rows(folder, ["safe/recording-1.csv", "safe/recording-2.csv"])
    (folder / "safe" / "card.json").write_text(json.dumps({"format": "sensorprivacy-data-card", "version": 5}))
    (folder / "safe" / "card.md").write_text("# Data card")


def _fitted(folder):
    _rows(folder, ["fit/notes.csv"])
    (folder / "fit" / "defence.json").write_text(json.dumps({"format": "sensorprivacy-anonymizer-5"}))


def _store(folder):
    for name in ("results.jsonl", "anna/results.jsonl"):
        (folder / name).write_text(json.dumps({"key": "none", "result": {"judged": []}}) + "\n")


def _page(folder):
    for name in ("anna/report.html", "anna/found.json", "anna/notes.md", "anna/recordings.toml"):
        (folder / name).write_text("{}")


LEFTOVERS = {
    "a table of statistics and its fitted defence": _release,
    "a release of recordings": _rewritten,
    "a folder of a fitted defence": _fitted,
    "results of compare": _store,
    "a page, a card and a description": _page,
    "notes of a Mac": lambda folder: _rows(folder, ["anna/._walk.csv", "__MACOSX/walk.csv"]),
    "a file that a spreadsheet locks": lambda folder: _rows(folder, ["anna/~$walk.csv", "anna/.~lock.walk.csv"]),
    "a killed command's folder": lambda folder: _rows(folder, [".safe.1a2b/recording-1.csv"]),
}


def facts(found):
    return found.table.drop(columns="_trial").to_dict("list"), found.provenance["digest"]


@pytest.mark.first(2)
@pytest.mark.parametrize("files", ["*/*.csv", "*/*", "**/*.*"])
@pytest.mark.parametrize("name", LEFTOVERS)
def test_what_lies_beside_recordings_is_no_recording(name, files, tmp_path):
    """`files = "*/*.csv"` read the folder of a release as one more person, called safe."""
    toml = phone(tmp_path, files)
    clean = facts(read_recordings(toml))
    LEFTOVERS[name](tmp_path)
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        assert facts(read_recordings(toml)) == clean
    if "release of" in name:
        assert "left out as no recordings, because this program wrote them: safe/" in str(said[0].message)
    elif name in ("a page, a card and a description", "notes of a Mac"):
        assert not said


@pytest.mark.first(1)
@pytest.mark.parametrize("name", LEFTOVERS)
def test_a_draft_does_not_count_what_lies_beside_recordings(name, tmp_path):
    toml = phone(tmp_path)
    clean = draft(tmp_path)[0]
    assert tomllib.loads(clean)["file_name"] == "{person}/{activity}.csv"
    LEFTOVERS[name](tmp_path)
    toml.unlink()
    assert draft(tmp_path)[0] == clean


def test_a_release_is_read_if_it_is_meant(tmp_path):
    """Whoever wants to attack a release describes its files, and they are all that the description names."""
    phone(tmp_path)
    _rewritten(tmp_path)
    described = (tmp_path / "my.toml").read_text().replace("*/*.csv", "safe/*.csv")
    (tmp_path / "my.toml").write_text(described.replace("{activity}.csv", "{activity}-*.csv"))
    assert set(read_recordings(tmp_path / "my.toml").table["person"]) == {"safe"}


def test_the_table_of_people_is_no_recording(tmp_path):
    toml = phone(tmp_path, "**/*.csv")
    pd.DataFrame({"person": PEOPLE, "gender": ["f", "m", "f", "m"]}).to_csv(tmp_path / "who.csv", index=False)
    toml.write_text(toml.read_text().replace('["person"]', '["gender"]') + 'people = "who.csv"\n')
    assert set(read_recordings(toml).table["gender"]) == {"f", "m"}
