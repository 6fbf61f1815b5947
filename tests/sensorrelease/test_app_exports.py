"""The guide on recordings of apps is followed literally, on synthetic files in the form of each export."""

import importlib.util
import shlex
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from sensorrelease import cli
from sensorrelease.recordings import user_windows
from sensorrelease.schema import load

ROOT = Path(__file__).resolve().parents[2]
_SPEC = importlib.util.spec_from_file_location("follow", ROOT / "tests" / "guides" / "follow.py")
follower = importlib.util.module_from_spec(_SPEC)
_SPEC.loader.exec_module(follower)
PEOPLE, ACTIVITIES = ("ann", "bob", "cem"), ("walk", "sit")


def axes(rate, person, activity, seconds=12):
    """Return times and three axes, the same at every rate."""
    times = np.arange(int(rate * seconds)) / rate
    phase = PEOPLE.index(person) + 3 * ACTIVITIES.index(activity)
    return times, {axis: np.sin(2 * times + phase + at).round(4) for at, axis in enumerate("xyz")}


def each():
    return ((person, activity) for person in PEOPLE for activity in ACTIVITIES)


def save(table, path, head="", **how):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(head + table.to_csv(index=False, **how))


def phyphox(folder):
    for person, activity in each():
        times, signal = axes(100, person, activity)
        table = pd.DataFrame({"Time (s)": times} | {f"Acceleration {k} (m/s^2)": v for k, v in signal.items()})
        place = folder / "phyphox" / person / activity / "Acceleration 2026-01-02 10-11-12"
        save(table, place / "Raw Data.csv", float_format="%.9E")
        save(pd.DataFrame({"event": ["START"], "experiment time": [0.0]}), place / "meta" / "time.csv")


def actigraph(folder):
    head = "--- Data File Created By ActiGraph GT3X+ date format dd/MM/yyyy\nSerial Number: MOS2D00000000\n"
    head += "Start Time 23:59:58\nStart Date 11/12/2024\nEpoch Period (hh:mm:ss) 00:00:00\nDownload Time 14:52:19\n"
    head += "Download Date 16/12/2024\nCurrent Memory Address: 0\nCurrent Battery Voltage: 3.74     Mode = 12\n------\n"
    for person, activity in each():
        times, signal = axes(30, person, activity)
        stamps = pd.Timestamp("2024-12-11 23:59:58") + pd.to_timedelta(times, unit="s")
        table = pd.DataFrame({"Timestamp": stamps.strftime("%d/%m/%Y %H:%M:%S.%f").str[:-3]})
        table = table.assign(**{f"Accelerometer {k.upper()}": v for k, v in signal.items()})
        save(table, folder / "actigraph" / f"{activity}_{person}_1.csv", head)


def sensor_logger(folder):
    for person, activity in each():
        for sensor, rate in (("Accelerometer", 50), ("Gyroscope", 48.7)):
            times, signal = axes(rate, person, activity)
            stamps = 1_760_000_000_000_000_000 + (times * 1e9).astype("int64")
            table = pd.DataFrame({"time": stamps, "seconds_elapsed": times, **{k: signal[k] for k in "zyx"}})
            save(table, folder / "logger" / f"{activity}_{person}-2026-01-02_10-11-12" / f"{sensor}.csv")


def wisdm(folder):
    lines = []
    for person, activity in each():
        times, signal = axes(20, person, activity)
        begin = 49105962326000 + 10**12 * PEOPLE.index(person) + 10**11 * ACTIVITIES.index(activity)
        rows = zip(times, *signal.values(), strict=True)
        lines += [f"{person},{activity},{begin + int(t * 1e9)},{x},{y},{z};" for t, x, y, z in rows]
    lines[30] += lines.pop(31)
    (folder / "WISDM_ar_v1.1_raw.txt").write_text("\n".join(lines) + "\n")


def pamap2(folder):
    for at, person in enumerate(PEOPLE):
        parts = []
        for number, activity in enumerate(ACTIVITIES):
            times, signal = axes(100, person, activity)
            signal["x"] = np.where(np.arange(len(times)) == 40, np.nan, signal["x"])
            more = {"activity": 4 + number, "heart": np.nan, "temperature": 30.5}
            parts.append(pd.DataFrame({"t": times + 12 * number, **more, **signal, "rest": 1.0}))
        save(pd.concat(parts), folder / "Protocol" / f"subject10{at}.dat", sep=" ", header=False, na_rep="NaN")


def coarse(folder):
    for person, activity in each():
        times, signal = axes(50, person, activity)
        stamps = pd.Timestamp("2024-05-01 10:00:00") + pd.to_timedelta(times // 1, unit="s")
        save(pd.DataFrame({"Timestamp": stamps, **signal}), folder / "coarse" / f"{activity}_{person}.csv")


@pytest.fixture(scope="module")
def followed(tmp_path_factory):
    """Return the folder in which each block and each command of the guide was run as printed."""
    folder = tmp_path_factory.mktemp("apps")
    for export in (phyphox, actigraph, sensor_logger, wisdm, pamap2, coarse):
        export(folder)
    names: dict = {}
    guide = (ROOT / "book" / "howto" / "app-recordings.md").read_text(encoding="utf-8")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        for language, text in follower.steps(guide):
            if language == "python":
                exec(text, names)
            else:
                assert cli.main([*shlex.split(text)[1:], "--quiet"]) == 0, text
    return folder


@pytest.mark.parametrize(
    ("name", "rate", "channels"),
    [("phyphox", 100, 3), ("actigraph", 30, 3), ("joined", 50, 6), ("wisdm", 20, 3), ("even", 50, 3)],
)
def test_each_export_is_read_with_all_people_and_activities(followed, name, rate, channels):
    schema = load(followed / f"{name}.schema.yaml")
    assert (schema.recordings.rate, len(schema.features)) == (rate, channels)
    found = user_windows(followed / name, length=2 * rate, stride=2 * rate)
    assert set(zip(found.subject, found.public, strict=True)) == set(each())
    assert found.subject.value_counts().min() >= 10


def test_the_signal_is_that_of_the_export(followed):
    """Spread and interpolated times, and joined sensors, keep the known sine within a step."""
    for name, rate, channel in (("even", 50, 0), ("joined", 50, 5), ("actigraph", 30, 0)):
        found = user_windows(followed / name, length=2 * rate, stride=2 * rate)
        for at in range(found.n_windows):
            where = (found.subject == found.subject[at]) & (found.public == found.public[at])
            start = 2 * rate * int(where[:at].sum())
            expected = axes(rate, found.subject[at], found.public[at])[1]["x"][start : start + 2 * rate]
            assert np.abs(found.values[at, channel][: len(expected)] - expected).max() < 3 / rate, (name, at)


def test_lines_about_the_device_are_declared(followed):
    schema = load(followed / "actigraph.schema.yaml")
    assert schema.dialect.headerRows == [11]
    assert schema.field("Timestamp").format == "%d/%m/%Y %H:%M:%S.%f"


def test_a_lost_sample_is_tolerated_and_counted(followed):
    with pytest.warns(UserWarning, match="6 rows without a label or a number left out"):
        found = user_windows(followed / "pamap2", length=100, stride=100)
    assert found.n_windows == 3 * 2 * 11
