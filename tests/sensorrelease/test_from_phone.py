"""From a folder of an app's exports to a release: the draft, its blanks, `compare` and `publish`."""

import json
import re
import shlex
import tomllib

import numpy as np
import pandas as pd
import pytest
import torch

from sensorprivacy.latent.adversaries import Attacker
from sensorrelease import cli
from sensorrelease.publishing import recordings

PEOPLE, ACTIVITIES = ("P01", "P02", "P03", "P04", "P05", "P06"), ("walk", "sit")
GENDER = dict(zip(PEOPLE, "fmfmfm", strict=True))


def signal(person, activity, rate, begin=0.0, seconds=16):
    """Return times and three axes: the activity is an amplitude, the person a small offset.

    In a part of few recordings, a large offset would separate the activities, too, and mislead the models.
    """
    draw = np.random.default_rng([PEOPLE.index(person), ACTIVITIES.index(activity), round(rate)])
    times = begin + np.arange(round(rate * seconds)) / rate
    wave = (2 if activity == "walk" else 0.1) * np.sin(2 * np.pi * 2 * times)
    return times, {axis: 0.1 * PEOPLE.index(person) + wave * weight + draw.normal(0, 0.2, len(times))
                   for axis, weight in zip("xyz", (1, 0.5, -1), strict=True)}  # fmt: skip


def sensor_logger(folder, person, activity):
    place = folder / f"{activity}_{person}-2026-01-02_10-11-12"
    place.mkdir(parents=True)
    for sensor, rate, begin in (("Accelerometer", 50, 0.0), ("Gyroscope", 49, 0.3)):
        times, axes = signal(person, activity, rate, begin)
        stamps = 1_760_000_000_000_000_000 + (times * 1e9).astype("int64")
        pd.DataFrame({"time": stamps, "seconds_elapsed": times, **axes}).to_csv(place / f"{sensor}.csv", index=False)
    pd.DataFrame({"device": ["phone of P01"], "version": [3]}).to_csv(place / "Metadata.csv", index=False)
    (place / "Annotation.csv").write_text("time,seconds_elapsed,text\n")


def phyphox(folder, person, activity):
    place = folder / person / activity / "Acceleration 2026-01-02 10-11-12"
    (place / "meta").mkdir(parents=True)
    times, axes = signal(person, activity, 100)
    table = pd.DataFrame({f"Acceleration {axis} (m/s^2)": cells for axis, cells in axes.items()})
    table.insert(0, "Time (s)", times)
    table.to_csv(place / "Raw Data.csv", index=False, float_format="%.9E")
    (place / "meta" / "time.csv").write_text('"event","experiment time"\n"START",0.0\n')


def one_folder_each(folder, person, activity):
    (folder / person).mkdir(parents=True, exist_ok=True)
    times, axes = signal(person, activity, 50)
    pd.DataFrame({"t_ms": (times * 1000).round(), **axes}).to_csv(folder / person / f"{activity}.csv", index=False)


def one_file_each(folder, person, activity):
    times, axes = signal(person, activity, 50)
    stamps = (pd.Timestamp("2026-03-13 10:00") + pd.to_timedelta(times, unit="s")).strftime("%d.%m.%Y %H:%M:%S.%f")
    folder.mkdir(exist_ok=True)
    pd.DataFrame({"timestamp": stamps, **axes}).to_csv(folder / f"{activity}_{person}_1.csv", index=False, sep=";")


def one_long_table(folder, person, activity):
    folder.mkdir(exist_ok=True)
    for session in (1, 2):
        times, axes = signal(person, activity, 20, begin=100 * session, seconds=35)
        table = pd.DataFrame({"user": person, "activity": activity, "session": session, "time": times, **axes})
        table.to_csv(folder / "all.csv", index=False, mode="a", header=not (folder / "all.csv").exists())


FORMS = [sensor_logger, phyphox, one_folder_each, one_file_each, one_long_table]


@pytest.mark.slow
@pytest.mark.parametrize("form", FORMS)
def test_a_draft_leads_to_a_release(form, tmp_path, capsys, monkeypatch):
    """Issue 41: a draft, the blanks that it names, `compare` and `publish`, with no other edit."""
    torch.set_num_threads(1)
    monkeypatch.chdir(tmp_path)
    for person in PEOPLE:
        for activity in ACTIVITIES:
            form(tmp_path / "phone", person, activity)
    assert cli.main(["recordings", "phone"]) == 0
    said = capsys.readouterr().out
    toml = tmp_path / "phone" / "recordings.toml"
    keys = tomllib.loads(toml.read_text())

    # the command that the draft names runs as it is, only shorter
    (then,) = re.findall(r"Then: sensorprivacy (.*)", said)
    fast = ["--defences", "none", "--trees", "5", "--jobs", "1", "--quiet", "--store", "store.jsonl"]
    assert cli.main([*shlex.split(then), *fast]) == 0, capsys.readouterr().err

    # the blanks that the draft names: attributes to hide, and a table of them
    assert "private lists the person only: add the attributes to hide, and a table of them with the key people" in said
    pd.DataFrame({keys["subject"]: PEOPLE, "gender": GENDER.values()}).to_csv("phone/people.csv", index=False)
    toml.write_text(toml.read_text().replace(f'private = ["{keys["subject"]}"]', 'private = ["gender"]'))
    toml.write_text(toml.read_text() + 'people = "people.csv"\n')

    roles = ["phone/recordings.toml", "--task", keys["public"], "--hide", "gender", "--quiet"]
    assert cli.main(["compare", *roles, *fast[:6], "--json", "found.json"]) == 0, capsys.readouterr().err
    assert json.loads((tmp_path / "found.json").read_text())
    assert cli.main(["publish", *roles, "--defence", "none", "--out", "phone/statistics"]) == 0, capsys.readouterr().err
    monkeypatch.setattr(recordings, "attackers", lambda _: (Attacker("trees on statistics", "trees"),))
    monkeypatch.setattr(recordings, "TASK_MODELS", recordings.TASK_MODELS[:1])
    few = "latent:epochs=1,inference_epochs=1,length=64,stride=32"
    assert cli.main(["publish", *roles, "--defence", few, "--out", "phone/safe"]) == 0, capsys.readouterr().err

    # releases in the same folder are no recordings, and hold neither person nor gender
    files = sorted((tmp_path / "phone" / "safe").glob("recording-*"))
    assert len(files) == len(PEOPLE) * len(ACTIVITIES) * (1 + (form is one_long_table))
    released = [pd.read_csv(file) for file in (*files, *(tmp_path / "phone" / "statistics").glob("*.csv"))]
    for table in released:
        assert not {keys["subject"], "gender", keys["time"]} & set(table)
        assert not table.isin(PEOPLE).any(axis=None)
        assert set(table[keys["public"]]) <= set(ACTIVITIES)
