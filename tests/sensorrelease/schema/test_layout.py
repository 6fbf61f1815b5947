"""What a draft finds in a folder of recordings: files, labels in their names, clock and rate."""

import json
import os
import shutil

import numpy as np
import pandas as pd
import pytest

from sensorrelease.recordings import user_windows
from sensorrelease.schema import draft, read, save
from sensorrelease.schema.layout import TIMES
from sensorrelease.schema.model import FILE

PEOPLE, ACTIVITIES = ("P01", "P02", "P03"), ("walk", "sit")


def signal(person, activity, rate, seconds=6):
    """Return times and three axes."""
    draw = np.random.default_rng([PEOPLE.index(person), ACTIVITIES.index(activity)])
    times = np.arange(int(rate * seconds)) / rate
    return times, {axis: draw.normal(at, 1, len(times)).round(3) for at, axis in enumerate("xyz")}


def folder_of(folder, name, rate=50, stamps=lambda times: times, column="time", **how):
    """Write a file for each person and activity; `name` has their places."""
    for person in PEOPLE:
        for activity in ACTIVITIES:
            times, axes = signal(person, activity, rate)
            file = folder / name.format(person=person, activity=activity)
            file.parent.mkdir(parents=True, exist_ok=True)
            pd.DataFrame({column: stamps(times), **axes}).to_csv(file, index=False, **how)
    return folder


def drafted(folder, **how):
    return draft(folder, "activity", "person", **how)


@pytest.mark.parametrize(
    ("name", "names", "files"),
    [
        ("{activity}_{person}.csv", "{activity}_{person}.csv", "*_*.csv"),
        ("{person}/{activity}.csv", "{person}/{activity}.csv", "*/*.csv"),
        ("{person}/{activity}/A 2026-01-02 10-11-12/Raw.csv", "{person}/{activity}/A */Raw.csv", "*/*/A */Raw.csv"),
        ("{activity}_{person}-2026-01-02_10-11-12/Acc.csv", "{activity}_{person}-*/Acc.csv", "*_*-*/Acc.csv"),
    ],
)
def test_labels_are_found_in_names_of_files_and_folders(name, names, files, tmp_path):
    found = drafted(folder_of(tmp_path / "rec", name))
    assert (found.recordings.names, found.recordings.files) == (names, files)
    frame = read(tmp_path / "rec", found).frame
    assert set(frame["person"]) == set(PEOPLE)
    assert set(frame["activity"]) == set(ACTIVITIES)
    assert frame[FILE].nunique() == 6


def test_numbered_files_are_sessions_and_no_label_is_a_signal(tmp_path):
    """1.csv and 2.csv of each activity were taken for two sensors; with --names, the session left as a feature."""
    for number in (1, 2):
        folder_of(tmp_path / "rec", f"{{person}}/{{activity}}/{number}.csv")
    names = "{person}/{activity}/{session}.csv"
    for found in (drafted(tmp_path / "rec"), drafted(tmp_path / "rec", names=names)):
        assert found.recordings.names == names
        assert found.field("session").role == "recording"
    assert drafted(tmp_path / "rec", names="{person}/{activity}/{shoe}", hide=["shoe"]).private == ["shoe"]
    for word, role in (("take", "recording"), ("shoe", "withheld")):
        found = drafted(tmp_path / "rec", names=f"{{person}}/{{activity}}/{{{word}}}")  # the ending is in no label
        assert found.recordings.names == f"{{person}}/{{activity}}/{{{word}}}.*"
        assert (found.field(word).role, found.field(word).type) == (role, "string")
        assert set(read(tmp_path / "rec", found).frame["activity"]) == set(ACTIVITIES)


def test_tables_beside_recordings_are_no_recordings(tmp_path):
    """A table of subjects in the folder ended the draft: its name did not fit those of the recordings."""
    folder = folder_of(tmp_path / "rec", "{person}_{activity}.csv")
    (folder / "subjects.csv").write_text("code,age\n1,30\n")
    (folder / "labels.csv").write_text("file,activity\n1.csv,walk\n")
    assert read(folder, drafted(folder)).frame[FILE].nunique() == 6


@pytest.mark.skipif(os.name != "posix", reason="pipes and names of bytes")
def test_a_table_of_people_is_a_file_and_a_name_is_a_text(tmp_path):
    """A pipe as people.csv let `publish` wait for ever; half a character in a name ended with Unicode's own error."""
    folder = folder_of(tmp_path / "rec", "{activity}_{person}.csv")
    pd.DataFrame({"person": PEOPLE, "side": ["left", "right", "left"]}).to_csv(folder / "people.csv", index=False)
    found = drafted(folder)
    (folder / "people.csv").unlink()
    os.mkfifo(folder / "people.csv")
    with pytest.raises(ValueError, match=r"people\.csv is no regular file"):
        read(folder, found)
    (folder / "people.csv").unlink()
    for name in ("walk_P0\udcff.csv", "P0\udcff/walk_P01.csv"):
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / "walk_P01.csv").rename(folder / name)
        with pytest.raises(ValueError, match=r"udcff.*' has characters that are no text: rename it"):
            drafted(folder)
        (folder / name).rename(folder / "walk_P01.csv")
    (folder / "P0\udcff").rmdir()
    for activity in ACTIVITIES:  # with a narrow space, as macOS writes it
        (folder / f"{activity}_P01.csv").rename(folder / f"{activity}_P\u202f01.csv")
    assert "P\u202f01" in set(read(folder, drafted(folder)).frame["person"])


def test_a_second_clock_does_not_leave(tmp_path):
    """Seconds since the start of each recording left as a feature, because they begin anew with each file."""
    folder = folder_of(tmp_path / "rec", "{activity}_{person}.csv")
    for file in folder.iterdir():
        table = pd.read_csv(file)
        table.assign(elapsed=table["time"] - table["time"][0], spin=np.arange(len(table)) % 40).to_csv(
            file, index=False
        )
    found = drafted(folder)
    assert [found.field(name).role for name in ("time", "elapsed", "spin", "x")] == [
        "time",
        *["withheld"] * 2,
        "feature",
    ]


def test_labels_that_names_do_not_show_are_asked_for(tmp_path):
    folder_of(tmp_path / "rec", "{activity}{person}.csv")
    with pytest.raises(ValueError, match=r"'person' is no column of .*: give --names with its place"):
        drafted(tmp_path / "rec")
    folder_of(tmp_path / "other", "{activity}{person}.csv")
    with pytest.raises(FileNotFoundError, match=r"there is no file '\*_\*\.csv'"):
        drafted(tmp_path / "other", names="{activity}_{person}.csv")


STAMPS = {
    "seconds": (lambda times: times, {"unit": "s"}),
    "milliseconds": (lambda times: times * 1e3, {"unit": "ms"}),
    "nanoseconds since 1970": (lambda times: ((1.7e9 + times) * 1e9).astype("int64"), {"unit": "ns"}),
    "ISO": (lambda times: _text(times, "%Y-%m-%dT%H:%M:%S.%f"), {"format": None}),
    "day first": (lambda times: _text(times, "%d/%m/%Y %H:%M:%S.%f"), {"format": "%d/%m/%Y %H:%M:%S.%f"}),
    "month first": (lambda times: _text(times, "%m/%d/%Y %I:%M:%S.%f %p"), {"format": "%m/%d/%Y %I:%M:%S.%f %p"}),
}


def _text(times, form):
    """Return times around a midnight, in which no day is above twelve."""
    return (pd.Timestamp("2026-11-11 23:59:58") + pd.to_timedelta(times, unit="s")).strftime(form)


@pytest.mark.parametrize("form", STAMPS)
def test_the_clock_is_found_in_every_form(form, tmp_path):
    stamps, keys = STAMPS[form]
    found = drafted(folder_of(tmp_path / "rec", "{activity}_{person}.csv", 30, stamps, "t"))
    clock = found.field("t")
    assert clock.role == "time"
    assert {key: getattr(clock, key) for key in keys} == keys
    assert found.recordings.rate == 30
    assert len(read(tmp_path / "rec", found).frame) == 6 * 180


def test_without_times_the_rate_is_asked_for(tmp_path):
    folder_of(tmp_path / "rec", "{activity}_{person}.csv", column="power")
    with pytest.raises(ValueError, match="has no column of times, so its rate is unknown: give it with --rate"):
        drafted(tmp_path / "rec")
    assert drafted(tmp_path / "rec", rate=25.0).recordings.rate == 25


def test_several_files_for_each_recording_are_joined_first_or_named(tmp_path):
    folder_of(tmp_path / "rec", "{activity}_{person}/Accelerometer.csv")
    folder_of(tmp_path / "rec", "{activity}_{person}/Gyroscope.csv")
    with pytest.raises(ValueError, match=r"several files each \(Accelerometer.csv, Gyroscope.csv\): join them first"):
        drafted(tmp_path / "rec")
    found = drafted(tmp_path / "rec", names="{activity}_{person}/Accelerometer.csv")
    assert found.recordings.files == "*_*/Accelerometer.csv"


def test_folders_without_recordings_name_the_remedy(tmp_path):
    (tmp_path / "walk_P01.zip").write_bytes(b"PK")
    with pytest.raises(FileNotFoundError, match=r"holds no recording: .*; unpack walk_P01\.zip and the like"):
        drafted(tmp_path)


BANNER = "------------ Data File Created By ActiGraph GT3X+\nSerial Number: MOS2D00000000\nStart Time 23:59:58\n"


def test_lines_about_the_device_are_declared_and_skipped(tmp_path):
    for file in folder_of(tmp_path / "rec", "{activity}_{person}.csv").iterdir():
        file.write_text(BANNER + file.read_text())
    found = drafted(tmp_path / "rec")
    assert found.dialect.headerRows == [4]
    assert len(read(tmp_path / "rec", found).frame) == 6 * 300


def test_positions_do_not_leave_and_gaps_are_declared(tmp_path):
    for file in folder_of(tmp_path / "rec", "{activity}_{person}.csv").iterdir():
        table = pd.read_csv(file)
        table.assign(latitude=52.5 + table["x"] / 100).drop(index=range(50, 90)).to_csv(file, index=False)
    found = drafted(tmp_path / "rec")
    assert found.field("latitude").role == "withheld"
    assert (found.recordings.gap, found.recordings.gaps) == (0.05, "end")


def _rows(folder, names):
    """Copy a recording of this folder to a place."""
    source = next(folder.glob("*/walk.csv"))
    for name in names:
        (folder / name).parent.mkdir(exist_ok=True)
        shutil.copy(source, folder / name)


def _rewritten(folder):
    _rows(folder, ["safe/recording-1.csv", "safe/recording-2.csv"])
    (folder / "safe" / "card.json").write_text(json.dumps({"format": "sensorprivacy-data-card", "version": 5}))


def _fitted(folder):
    _rows(folder, ["fit/notes.csv"])
    (folder / "fit" / "defence.json").write_text(json.dumps({"format": "sensorprivacy-anonymizer-5"}))


def _page(folder):
    for name in ("P01/report.html", "P01/found.json", "P01/notes.md"):
        (folder / name).write_text("{}")


def _meta(folder):
    (folder / "P01" / "meta").mkdir()
    (folder / "P01" / "meta" / "time.csv").write_text('"event","experiment time"\n"START",0.0\n')
    (folder / "Metadata.csv").write_text("device\nphone\n")


LEFTOVERS = {
    "a release of recordings": _rewritten,
    "a folder of a fitted defence": _fitted,
    "a page and a card": _page,
    "files about the device": _meta,
    "notes of a Mac": lambda folder: _rows(folder, ["P01/._walk.csv", "__MACOSX/walk.csv"]),
    "a file that a spreadsheet locks": lambda folder: _rows(folder, ["P01/~$walk.csv", "P01/.~lock.walk.csv"]),
    "a killed command's folder": lambda folder: _rows(folder, [".safe.1a2b/recording-1.csv"]),
}


@pytest.mark.parametrize("name", LEFTOVERS)
def test_what_lies_beside_recordings_is_no_recording(name, tmp_path):
    """The folder of a release was read as one more person, called safe."""
    folder = folder_of(tmp_path / "rec", "{person}/{activity}.csv")
    clean = drafted(folder)
    before = read(folder, clean).frame
    LEFTOVERS[name](folder)
    assert drafted(folder) == clean
    if name != "files about the device":
        pd.testing.assert_frame_equal(read(folder, clean).frame, before)


def test_a_draft_that_is_saved_gives_windows(tmp_path):
    folder = folder_of(tmp_path / "rec", "{activity}_{person}.csv", 30)
    save(drafted(folder), tmp_path / "rec.schema.yaml")
    assert user_windows(folder, length=30, stride=30).subject.value_counts().to_dict() == dict.fromkeys(PEOPLE, 12)


@pytest.mark.parametrize("name", ["m/s^2", "acc (m/s²)", "gyro [rad/s]", "v (m s^-1)", "speed_m_s", "deg/s", "B (µT)"])
def test_units_with_seconds_are_no_times(name):
    assert not TIMES.search(name)


@pytest.mark.parametrize("name", ["Time (s)", "t", "time_ms", "seconds_elapsed", "t [us]", "TIMESTAMP", "time.ns", "s"])
def test_names_of_times_are_known(name):
    assert TIMES.search(name)
