"""From a folder of an app's exports to a release: the draft, its blanks, `compare` and `publish`."""

import json
import re
import shlex

import numpy as np
import pandas as pd
import pytest
import torch

from sensorprivacy.latent.adversaries import Attacker
from sensorrelease import cli
from sensorrelease.publishing import recordings
from sensorrelease.schema import load

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
        table = pd.DataFrame({"person": person, "activity": activity, "session": session, "time": times, **axes})
        table.to_csv(folder / "all.csv", index=False, mode="a", header=not (folder / "all.csv").exists())


FORMS = [phyphox, one_folder_each, one_file_each, one_long_table]


@pytest.mark.slow
@pytest.mark.parametrize("form", FORMS)
def test_a_draft_leads_to_a_release(form, tmp_path, capsys, monkeypatch):
    """Issue 41: a draft, its confirmation, `compare` and `publish`, with no other edit."""
    torch.set_num_threads(1)
    monkeypatch.chdir(tmp_path)
    for person in PEOPLE:
        for activity in ACTIVITIES:
            form(tmp_path / "phone", person, activity)
    pd.DataFrame({"person": PEOPLE, "gender": GENDER.values()}).to_csv("phone/people.csv", index=False)
    assert cli.main(["schema", "phone", "--task", "activity", "--user", "person"]) == 0
    (then,) = re.findall(r"  sensorprivacy (schema .* --confirm)", capsys.readouterr().out)
    assert cli.main(shlex.split(then)) == 0

    fast = ["--defences", "none", "--trees", "5", "--jobs", "1", "--quiet", "--store", "store.jsonl"]
    for more in ([], ["--hide", "gender", "--json", "found.json"]):
        assert cli.main(["compare", "phone", *fast, *more]) == 0, capsys.readouterr().err
    assert json.loads((tmp_path / "found.json").read_text())
    words = ["phone", "--hide", "gender", "--quiet", "--defence"]
    assert cli.main(["publish", *words, "none", "--out", "phone/statistics"]) == 0, capsys.readouterr().err
    monkeypatch.setattr(recordings, "attackers", lambda _: (Attacker("trees on statistics", "trees"),))
    monkeypatch.setattr(recordings, "TASK_MODELS", recordings.TASK_MODELS[:1])
    few = "latent:epochs=1,inference_epochs=1,length=64,stride=32"
    assert cli.main(["publish", *words, few, "--out", "phone/safe"]) == 0, capsys.readouterr().err

    # releases in the same folder are no recordings, and hold neither person nor gender
    files = sorted((tmp_path / "phone" / "safe").glob("recording-*"))
    assert len(files) == len(PEOPLE) * len(ACTIVITIES) * (1 + (form is one_long_table))
    time = load("phone.schema.yaml").time
    released = [pd.read_csv(file) for file in (*files, *(tmp_path / "phone" / "statistics").glob("*.csv"))]
    for table in released:
        assert not {"person", "gender", time} & set(table)
        assert not table.isin(PEOPLE).any(axis=None)
        assert set(table["activity"]) <= set(ACTIVITIES)
