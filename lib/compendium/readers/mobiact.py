"""Read MobiAct and MobiFall: the motion of a phone in the pocket (paper 3's Tables 2 and 3).

One owner made both sets with the same phone, protocol, numbers of people and format. MobiAct is available only on
request. MobiFall has nine people who walk, stand, jog and climb stairs; eight of them are among paper 3's 36.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Literal

import numpy as np
import pandas as pd

from compendium.readers import mobiact_files
from compendium.readers.files import Files
from compendium.readers.mobiact_files import OwnerFolder, owner_folders
from compendium.readers.motion import Channels, Recordings, cut_windows, join_recordings
from sensorprivacy.checks import check_choice
from sensorprivacy.data import Windows
from sensorprivacy.windowing import Windowing

ACTIVITIES = ("WAL", "STD", "JOG", "STU")  # walking, standing, jogging, stairs up: paper 3's four
GRAVITY = 9.80665  # m/s^2, the unit of the files; `Recordings` use g
Form = Literal["annotated", "raw"]
PAPER_MEN = (1, 2, 4, 8, 9, 12, 18, 20, 21, 27, 35, 37, 39, 40, 42, 43, 47, 51, 55, 59)
PAPER_WOMEN = (3, 5, 6, 10, 11, 16, 19, 25, 26, 36, 38, 41, 46, 50, 54, 58)
"""The 36 people of paper 3, from the list that its authors' later code reads (``data_subjects.csv`` of ObscureNet)."""
FIRST_TRIAL = (1,)  # the only repetition that the later code of paper 3's authors reads
_FILES: dict[str, re.Pattern[str]] = {
    "annotated": re.compile(r"(?:^|/)(?P<activity>[A-Z]{3})_(?P<subject>\d+)_(?P<trial>\d+)_annotated\.csv$"),
    "raw": re.compile(r"(?:^|/)(?P<activity>[A-Z]{3})_(?P<sensor>acc|gyro)_(?P<subject>\d+)_(?P<trial>\d+)\.txt$"),
}


@dataclass(frozen=True)
class _Recording:
    """One recording: who does what, and the path of each sensor's file in the owner's folder."""

    subject: int
    activity: str
    trial: int
    folder: OwnerFolder
    files: Mapping[str, str]


def read_mobiact(
    files: Files,
    form: Form = "annotated",
    *,
    rate: int = 200,
    activities: Sequence[str] = ACTIVITIES,
    subjects: Sequence[int] | None = (*PAPER_MEN, *PAPER_WOMEN),
    trials: Sequence[int] | None = FIRST_TRIAL,
    name: str = "mobiact",
) -> Recordings:
    """Return recordings of daily activities from MobiAct, from MobiFall, or from both.

    Parameters
    ----------
    files : Files
        Contains the owner's table of people (MobiAct: ``Readme.txt``, MobiFall: ``DataDescribe.txt``) and, in any
        folders, the files ``<activity>_<subject>_<trial>_annotated.csv`` or ``<activity>_acc_<subject>_<trial>.txt``
        and ``..._gyro_...``. If it contains both of the owner's folders, a person with all activities in MobiAct is
        read from there, and anyone else from MobiFall. No person is read from two folders.
    form : {"annotated", "raw"}
        ``annotated``: one file for all sensors, resampled by the owner. ``raw``: one file for each sensor, with its own
        time stamps; both are interpolated at common times. MobiFall only has raw files.
    rate : int
        Samples per second after linear interpolation. Paper 3's text states 20. Its Table 2 has 43.2k test windows of
        standing, which needs 200: 36 people x 5 minutes x 20 % at stride 10.
    activities : sequence of str
        The owner's codes.
    subjects : sequence of int or None
        Numbers of the people. The default is the 36 people of the printed tables. None: everyone who has all
        activities.
    trials : sequence of int or None
        Repetitions to read; the default is the first, as in paper 3. None: all. Walking and standing have one,
        jogging has three and stairs have six.
    name : str
        Name of the set.

    Returns
    -------
    Recordings
        Sorted by subject, activity and trial; acceleration with gravity in g. Private: ``gender``, ``weight``. The
        column ``source`` of the table has the owner's set.

    Raises
    ------
    ValueError
        If files are missing or lack columns, one of `subjects` does not have all activities, the owner's tables or a
        file's header contradict each other about a person, or time stamps go backwards.
    """
    check_choice("form", form, Form)
    if rate < 1:
        raise ValueError(f"rate={rate} must be at least 1 sample per second")
    folders = owner_folders(files)
    found = {folder.table: _found(folder, form, activities, trials) for folder in folders}
    if not any(found.values()):
        wanted = "{}_1_{}_annotated.csv" if form == "annotated" else "{}_acc_1_{}.txt"
        number = 1 if trials is None else trials[0]
        raise ValueError(f"there is no {form} file such as {wanted.format(activities[0], number)}")
    kept = _kept(folders, found, len(activities), subjects)
    people: list[Any] = [one.folder.people.loc[one.subject] for one in kept]
    parts = [_resampled(*_read(files, *each), rate) for each in zip(kept, people, strict=True)]
    rows = [(f"{o.activity}_{o.subject}_{o.trial}", o.activity, o.subject, o.trial, o.folder.name) for o in kept]
    table = pd.DataFrame(rows, columns=["name", "activity", "subject", "trial", "source"])
    private = pd.DataFrame({"gender": [p["gender"] for p in people], "weight": [p["weight_class"] for p in people]})
    return replace(join_recordings(parts, table, private, name), rate=rate)


def _found(
    folder: OwnerFolder, form: Form, activities: Sequence[str], trials: Sequence[int] | None
) -> dict[int, list[_Recording]]:
    """Return the recordings in one of the owner's folders, by subject, sorted by activity and trial."""
    pattern = _FILES["raw" if folder.name == "MobiFall" else form]
    rows: dict[tuple[int, int, int], dict[str, str]] = {}
    for member in folder.members:
        match = pattern.search(member)
        if match and match["activity"] in activities and (trials is None or int(match["trial"]) in trials):
            key = int(match["subject"]), list(activities).index(match["activity"]), int(match["trial"])
            rows.setdefault(key, {})[match.groupdict().get("sensor", "all")] = member
    found: dict[int, list[_Recording]] = {}
    for (subject, at, trial), sensors in sorted(rows.items()):
        if subject not in folder.people.index:
            lacking = f"{folder.table} does not list subject {subject}, who has {next(iter(sensors.values()))}"
            raise ValueError(f"{lacking}: add the person's row to the table, or remove the files")
        found.setdefault(subject, []).append(_Recording(subject, activities[at], trial, folder, sensors))
    return found


def _kept(
    folders: Sequence[OwnerFolder],
    found: Mapping[str, Mapping[int, Sequence[_Recording]]],
    activities: int,
    subjects: Sequence[int] | None,
) -> list[_Recording]:
    """Return the recordings of the wanted people, each from the first folder that has all activities."""
    chosen: dict[int, Sequence[_Recording]] = {}
    for folder in folders:
        for subject, recordings in found[folder.table].items():
            if len({one.activity for one in recordings}) == activities:
                chosen.setdefault(subject, recordings)
    if subjects is not None and (lacking := sorted(set(subjects) - set(chosen))):
        who = f"subject {', '.join(map(str, lacking))} lacks a recording of some activity"
        raise ValueError(f"{who}: add the owner's MobiFall folder, or set subjects=None to read everyone who has all")
    kept = [one for number in sorted(chosen) if subjects is None or number in subjects for one in chosen[number]]
    for one in kept:
        _check_pair(one)
        _check_tables(one, folders)
    return kept


def _check_pair(one: _Recording) -> None:
    if "all" in one.files or len(one.files) == 2:
        return
    ((sensor, path),) = one.files.items()
    other = "gyro" if sensor == "acc" else "acc"
    lost = path.rsplit("/", 1)[-1].replace(f"_{sensor}_", f"_{other}_")
    raise ValueError(f"{path} has no partner {lost}: copy the missing file from the owner's archive")


def _check_tables(one: _Recording, folders: Sequence[OwnerFolder]) -> None:
    """Check that a person's number stands for the same person in all of the owner's tables."""
    for other in folders:
        if one.subject in other.people.index:
            both = (one.folder.people, other.people)
            said = [f"{p['age']} years, {p['weight']} kg, {p['gender']}" for p in (t.loc[one.subject] for t in both)]
            if said[0] != said[1]:
                found = f"{said[0]} in {one.folder.table}, but {said[1]} in {other.table}"
                raise ValueError(f"subject {one.subject} is {found}: if these are two people, leave it out of subjects")


def _read(files: Files, one: _Recording, person: pd.Series) -> tuple[np.ndarray, np.ndarray]:
    """Return seconds and the six axes of a recording."""
    if "all" in one.files:
        return mobiact_files.annotated(files.read(one.files["all"]), one.files["all"], one.activity)
    contents = {sensor: (member, files.read(member)) for sensor, member in one.files.items()}
    return mobiact_files.raw_pair(contents, person)


def _resampled(seconds: np.ndarray, axes: np.ndarray, rate: int) -> np.ndarray:
    """Return the axes at `rate` samples per second, rotation in rad/s and acceleration in g, as float32."""
    steps = int(np.floor((seconds[-1] - seconds[0]) * rate + 1e-6)) + 1
    at = seconds[0] + np.arange(steps) / rate
    even = np.column_stack([np.interp(at, seconds, axis) for axis in axes.T])
    even[:, 3:] /= GRAVITY
    return even.astype(np.float32)


def mobiact_windows(
    files: Files,
    *,
    channels: Channels = "raw",
    length: int = 128,
    stride: int = 10,
    windowing: Windowing = "file",
    activities: Sequence[str] = ACTIVITIES,
    form: Form = "annotated",
    rate: int = 200,
    subjects: Sequence[int] | None = (*PAPER_MEN, *PAPER_WOMEN),
    trials: Sequence[int] | None = FIRST_TRIAL,
) -> Windows:
    """Return windows of MobiAct's people, see `read_mobiact` and `motion.cut_windows`.

    Their provenance says how they were read, and who comes from each of the owner's sets.
    """
    about: Any = {"rate": rate, "activities": activities, "subjects": subjects, "trials": trials}
    found = read_mobiact(files, form, name=files.name, **about)
    known = {
        "form": form,
        "trials": sorted(map(int, found.table["trial"].unique())),
        "people": {
            name: list(map(int, some)) for name, some in found.table.groupby("source")["subject"].unique().items()
        },
        "paper_people": len({*found.table["subject"]} & {*PAPER_MEN, *PAPER_WOMEN}),
    }
    return cut_windows(found, channels, length, stride, windowing, known)


mobifall_windows = partial(mobiact_windows, form="raw", subjects=None)
"""Windows of MobiFall's nine people."""
