"""Recordings as apps export them: synthetic files in their form, read by the guide's descriptions, and drafted."""

import re
import tomllib
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from sensorrelease import cli
from sensorrelease.read.clock import TIMES
from sensorrelease.read.draft import draft
from sensorrelease.read.recordings import read_recordings, user_windows

PEOPLE, ACTIVITIES = ("P01", "P02", "P03"), ("walk", "sit")


def axes(rate: float, seconds: float = 6, begin: float = 0.0) -> tuple[np.ndarray, dict[str, np.ndarray]]:
    """Return times and three axes whose values are known at every time: t, 2 t and 3 t."""
    times = begin + np.arange(int(rate * seconds)) / rate
    return times, {"x": times, "y": 2 * times, "z": 3 * times}


def described(folder: Path, name: str, *changes: tuple[str, str]) -> Path:
    """Write the description of this name in the guide, with changes."""
    root = Path(__file__).resolve().parents[2]
    guide = (root / "book" / "howto" / "app-recordings.md").read_text(encoding="utf-8")
    text = next(text for text in re.findall(r"```toml\n(.*?)```", guide, re.DOTALL) if f'name = "{name}"' in text)
    for old, new in changes:
        assert old in text
        text = text.replace(old, new)
    (folder / "my.toml").write_text(text, encoding="utf-8")
    return folder / "my.toml"


def sensor_logger(folder: Path) -> Path:
    """Write a folder for each recording, with a file for each sensor; times are nanoseconds since 1970."""
    for person in PEOPLE:
        for activity in ACTIVITIES:
            place = folder / f"{activity}_{person}-2026-01-02_10-11-12"
            place.mkdir(parents=True)
            for sensor, rate, begin in (("Accelerometer", 50, 0.0), ("Gyroscope", 48.7, 0.3)):
                times, signal = axes(rate, begin=begin)
                stamps = (1_760_000_000_000_000_000 + (times * 1e9).astype("int64")).astype("int64")
                table = pd.DataFrame({"time": stamps, "seconds_elapsed": times, **{k: signal[k] for k in "zyx"}})
                table.to_csv(place / f"{sensor}.csv", index=False)
            pd.DataFrame({"device": ["phone"], "version": [3]}).to_csv(place / "Metadata.csv", index=False)
            (place / "Annotation.csv").write_text("time,seconds_elapsed,text\n")  # the app writes it even without notes
    return described(folder, "sensor-logger")


def test_sensors_in_files_of_one_folder_are_joined_by_their_times(tmp_path):
    found = read_recordings(sensor_logger(tmp_path))
    table = found.table
    np.testing.assert_allclose(table["Gyroscope.x"], table["Accelerometer.x"], atol=1e-6)
    np.testing.assert_allclose(table["Gyroscope.y"], 2 * table["Accelerometer.x"], atol=1e-6)
    np.testing.assert_allclose(table["Accelerometer.z"], 3 * table["Accelerometer.x"], atol=1e-6)
    assert table["Accelerometer.x"].min() >= 0.3  # before, there is no gyroscope
    windows = found.windows(50, 25)
    assert set(windows.subject) == set(PEOPLE)
    assert set(windows.public) == set(ACTIVITIES)


def test_labels_may_be_in_the_names_of_folders(tmp_path):
    for person in PEOPLE:
        for activity in ACTIVITIES:
            (tmp_path / person / activity).mkdir(parents=True)
            times, signal = axes(100)
            table = pd.DataFrame({f"Acceleration {name} (m/s^2)": values for name, values in signal.items()})
            table.insert(0, "Time (s)", times)
            table.to_csv(tmp_path / person / activity / "Accelerometer.csv", index=False, float_format="%.9E")
    found = user_windows(described(tmp_path, "phyphox"), length=100, stride=100)
    assert found.subject.value_counts().to_dict() == dict.fromkeys(PEOPLE, 12)
    assert found.public.value_counts().to_dict() == dict.fromkeys(ACTIVITIES, 18)
    wrong = described(tmp_path, "phyphox", ("{person}/{activity}/*.csv", "{a}_{b}/*.csv"))
    with pytest.raises(ValueError, match=r"name 'sit/Accelerometer.csv' does not fit file_name = '\{a\}_\{b\}/\*.csv'"):
        user_windows(wrong)


@pytest.mark.parametrize("end", ["", ";"])
def test_lines_without_a_header_are_named_by_the_description(tmp_path, end):
    lines = []
    for person in (33, 17):
        for activity, begin in (("Jogging", 49105962326000), ("Sitting", 99105962326000)):
            times, signal = axes(20)
            rows = zip(times, *signal.values(), strict=True)
            lines += [f"{person},{activity},{begin + int(t * 1e9)},{x:.6f},{y:.6f},{z:.6f}{end}" for t, x, y, z in rows]
    if end:
        lines[30] += lines.pop(31)
    (tmp_path / "WISDM_ar_v1.1_raw.txt").write_text("\n".join(lines) + "\n")
    found = user_windows(described(tmp_path, "wisdm"), length=20, stride=20)
    assert found.subject.value_counts().to_dict() == {33: 12, 17: 12}
    with pytest.raises(ValueError, match=r"raw\.txt does not fit the 5 names of key `columns`"):
        user_windows(described(tmp_path, "wisdm", ('"y", "z"]\nrate', '"y"]\nrate')), length=20)


def test_files_separated_by_spaces_with_missing_samples(tmp_path):
    for person in (101, 102):
        times, signal = axes(100)
        signal["x"] = np.where(np.arange(600) == 40, np.nan, signal["x"])
        table = pd.DataFrame({"t": times, "activity": 4, "heart": np.nan, "temperature": 30, **signal})
        table.to_csv(tmp_path / f"subject{person}.dat", sep=" ", header=False, index=False, na_rep="NaN")
    with pytest.warns(
        UserWarning, match=r"2 of 1,200 samples lack a channel and are left out, the first in subject101"
    ):
        found = read_recordings(described(tmp_path, "pamap2"))
    assert np.bincount(found.run).tolist() == [600, 600]
    np.testing.assert_allclose(found.table["x"].to_numpy()[:600], axes(100)[0], atol=1e-9)


BANNER = """------------ Data File Created By ActiGraph GT3X+ ActiLife v6.13.3 Firmware v1.9.2 date format dd/MM/yyyy
Serial Number: MOS2D00000000
Start Time 23:59:58
Start Date 11/12/2024
Epoch Period (hh:mm:ss) 00:00:00
Download Time 14:52:19
Download Date 16/12/2024
Current Memory Address: 0
Current Battery Voltage: 3.74     Mode = 12
--------------------------------------------------
"""


def test_lines_about_the_device_are_skipped(tmp_path):
    for person in PEOPLE:
        times, signal = axes(30)
        stamps = (pd.Timestamp("2024-12-11 23:59:58") + pd.to_timedelta(times, unit="s")).strftime(
            "%d/%m/%Y %H:%M:%S.%f"
        )
        table = pd.DataFrame(
            {"Timestamp": stamps.str[:-3], **{f"Accelerometer {k.upper()}": v for k, v in signal.items()}}
        )
        (tmp_path / f"walk_{person}_1.csv").write_text(BANNER + table.to_csv(index=False))
    found = user_windows(described(tmp_path, "actigraph"), length=30, stride=30)
    assert found.subject.value_counts().to_dict() == dict.fromkeys(PEOPLE, 6)


def drafted(folder: Path) -> dict:
    return tomllib.loads(draft(folder)[0])


def test_a_draft_of_sensor_folders_reads_them(tmp_path):
    sensor_logger(tmp_path).unlink()
    found = drafted(tmp_path)
    assert found["sensors"] == ["Accelerometer.csv", "Gyroscope.csv"]
    assert found["rate"] == 50
    assert (found["time"], found["files"]) == ("time", "*")
    assert {"Accelerometer.x", "Gyroscope.z"} < set(found["channels"])
    (tmp_path / "recordings.toml").write_text(draft(tmp_path)[0])
    windows = user_windows(tmp_path / "recordings.toml", length=50, stride=25)
    assert set(windows.subject) == set(PEOPLE)
    assert set(windows.public) == set(ACTIVITIES)


def test_a_draft_of_one_file_for_each_recording_reads_them(tmp_path, capsys):
    (tmp_path / "rec").mkdir()
    for person in PEOPLE:
        for activity in ACTIVITIES:
            for session in (1, 2):
                times, signal = axes(30)
                pd.DataFrame({"t_ms": (times * 1000).round(), **signal}).to_csv(
                    tmp_path / "rec" / f"{activity}_{person}_{session}.csv", index=False
                )
    assert cli.main(["recordings", str(tmp_path)]) == 0
    said = capsys.readouterr().out
    assert "Please check:" in said
    assert "private lists the person only" in said
    found = tomllib.loads((tmp_path / "recordings.toml").read_text())
    assert found["file_name"] == "rec/{activity}_{person}_{session}.csv"
    assert (found["rate"], found["time"], found["channels"]) == (30, "t_ms", ["x", "y", "z"])
    windows = user_windows(tmp_path / "recordings.toml", length=30, stride=30)
    assert windows.subject.value_counts().to_dict() == dict.fromkeys(PEOPLE, 24)
    assert cli.main(["recordings", str(tmp_path)]) == 2
    assert "exists: move it" in capsys.readouterr().err


def test_a_draft_says_what_no_file_shows(tmp_path):
    for name in ("a", "b"):
        pd.DataFrame({"x": np.arange(30.0)}).to_csv(tmp_path / f"{name}.csv", index=False)
    text, open_points = draft(tmp_path)
    said = " ".join(open_points)
    for words in ("key public is a guess", "no column of times", "the rate is not in the files"):
        assert words in said
    assert tomllib.loads(text)["rate"] == 50
    with pytest.raises(FileNotFoundError, match="holds no recording"):
        draft(tmp_path / "none")


def phyphox(folder: Path, seconds: float = 6) -> None:
    """Write a folder for each export, with a folder about the device; its column names have units of times."""
    for person in PEOPLE:
        for activity in ACTIVITIES:
            place = folder / person / activity / "Acceleration 2026-01-02 10-11-12"
            (place / "meta").mkdir(parents=True)
            times, signal = axes(100, seconds)
            table = pd.DataFrame({f"Linear Acceleration {name} (m/s^2)": values for name, values in signal.items()})
            table.insert(0, "Time (s)", times)
            table.to_csv(place / "Raw Data.csv", index=False, float_format="%.9E")
            (place / "meta" / "device.csv").write_text('"property","value"\n"version","1.1.15"\n')
            (place / "meta" / "time.csv").write_text('"event","experiment time"\n"START",0.0\n"PAUSE",6.0\n')


def test_a_draft_of_phyphox_folders_finds_the_signals(tmp_path):
    phyphox(tmp_path)
    found = drafted(tmp_path)
    assert found["channels"] == [f"Linear Acceleration {axis} (m/s^2)" for axis in "xyz"]
    pattern = "{person}/{activity}/Acceleration */Raw Data.csv"
    assert (found["file_name"], found["time"], found["rate"]) == (pattern, "Time (s)", 100)
    (tmp_path / "recordings.toml").write_text(draft(tmp_path)[0])
    windows = user_windows(tmp_path / "recordings.toml", length=100, stride=100)
    assert windows.subject.value_counts().to_dict() == dict.fromkeys(PEOPLE, 12)


@pytest.mark.parametrize("name", ["m/s^2", "acc (m/s²)", "gyro [rad/s]", "v (m s^-1)", "speed_m_s", "deg/s", "B (µT)"])
def test_units_with_seconds_are_no_times(name):
    assert not TIMES.search(name)


@pytest.mark.parametrize("name", ["Time (s)", "t", "time_ms", "seconds_elapsed", "t [us]", "TIMESTAMP", "time.ns", "s"])
def test_names_of_times_are_known(name):
    assert TIMES.search(name)


def test_a_draft_of_sensor_folders_names_what_it_leaves_out(tmp_path):
    sensor_logger(tmp_path).unlink()
    for place in tmp_path.iterdir():
        first = pd.read_csv(place / "Accelerometer.csv")
        pd.DataFrame({"time": first["time"][::50], "pressure": 1013.2 + first["x"][::50] % 0.3}).to_csv(
            place / "Barometer.csv", index=False
        )
        where = first[["time", "seconds_elapsed"]].assign(
            latitude=52.5 + first["x"] ** 2 % 0.01, longitude=13.4 + first["x"] ** 3 % 0.01
        )
        where.to_csv(place / "Location.csv", index=False)
    text, open_points = draft(tmp_path)
    assert tomllib.loads(text)["sensors"] == ["Accelerometer.csv", "Gyroscope.csv"]
    assert tomllib.loads(text)["file_name"] == "{activity}_{person}-*"
    left_out = next(point for point in open_points if "left out" in point)
    assert "Barometer.csv (1 Hz)" in left_out
    assert "Location.latitude (geographic positions)" in left_out


def test_folders_without_recordings_name_the_remedy(tmp_path):
    (tmp_path / "walk_P01.zip").write_bytes(b"PK")
    with pytest.raises(FileNotFoundError, match=r"holds no recording: .*; unpack walk_P01\.zip and the like"):
        draft(tmp_path)
    pd.DataFrame({"time": [0.0, 0.1], "note": ["a", "b"]}).to_csv(tmp_path / "walk_P01.csv", index=False)
    with pytest.raises(ValueError, match=r"no column of measurements \(walk_P01.csv: time, note\)"):
        draft(tmp_path)


def test_a_draft_ends_with_the_next_command(tmp_path, capsys):
    phyphox(tmp_path / "phone")
    assert cli.main(["recordings", str(tmp_path / "phone")]) == 0
    toml = tmp_path / "phone" / "recordings.toml"
    assert f"sensorprivacy compare {toml} --task activity --hide person" in capsys.readouterr().out


def wisdm(folder: Path, head: str, end: str) -> Path:
    """Write WISDM's raw lines with a header, and with an end of each line; return a description without `columns`."""
    lines = [head] if head else []
    for person in (33, 17):
        for activity, begin in (("Jogging", 49105962326000), ("Sitting", 99105962326000)):
            times, signal = axes(20)
            rows = zip(times, *signal.values(), strict=True)
            lines += [f"{person},{activity},{begin + int(t * 1e9)},{x:.6f},{y:.6f},{z:.6f}{end}" for t, x, y, z in rows]
    (folder / "WISDM_ar_v1.1_raw.txt").write_text("\n".join(lines) + "\n")
    return described(folder, "wisdm", ('columns = ["user", "activity", "timestamp", "x", "y", "z"]\n', ""))


HEAD = "user,activity,timestamp,x,y,z"
RAW = {"no header": ("", ";"), "a header": (HEAD, ";"), "a header that ends so": (f"{HEAD};", ";"), "no end": ("", "")}


@pytest.mark.parametrize("kind", RAW)
@pytest.mark.parametrize("two", [False, True])
def test_raw_lines_name_the_key_that_reads_them(tmp_path, kind, two):
    """Case 17: the remedy was to correct the cell '9.91;', or to leave the only file out."""
    toml = wisdm(tmp_path, *RAW[kind])
    file = tmp_path / "WISDM_ar_v1.1_raw.txt"
    lines = file.read_text().splitlines()
    if two and RAW[kind][1]:
        lines[50] += lines.pop(51)
        file.write_text("\n".join(lines) + "\n")
    with pytest.raises(ValueError, match=r"WISDM_ar_v1.1_raw.txt.*name the columns with the key `columns`"):
        user_windows(toml)
    named = described(tmp_path, "wisdm")
    assert user_windows(named, length=20, stride=20).subject.value_counts().to_dict() == {33: 12, 17: 12}
    assert "columns" in tomllib.loads(draft(tmp_path)[0])
    assert any("key columns" in point for point in draft(tmp_path)[1])


def test_a_lost_sample_names_the_key_that_leaves_it_out(tmp_path):
    """Case 17: three samples lacked an axis, and the remedy was to edit 19,200 lines."""
    toml = wisdm(tmp_path, HEAD, "")
    toml.write_text(toml.read_text().replace("resample = true\n", ""))
    file = tmp_path / "WISDM_ar_v1.1_raw.txt"
    lines = file.read_text().splitlines()
    lines[30] = lines[30].rsplit(",", 1)[0] + ","
    file.write_text("\n".join(lines) + "\n")
    with pytest.raises(ValueError, match=r"column 'z' has 1 missing values of 480.*: set resample = true"):
        user_windows(toml, length=20)
    toml.write_text(toml.read_text() + "resample = true\ngap = 0.1\n")
    with pytest.warns(UserWarning, match="1 of 480 samples lack a channel"):
        assert user_windows(toml, length=20, stride=20).n_windows == 24
