"""Read MobiAct: the motion of a phone in the pocket (paper 3's Tables 2 and 3), from annotated or raw files.

The owner provides the set only on request. So this reader follows the owner's description (``Readme.txt`` and the
headers of the files), and its tests use synthetic files in this format.
"""

import io
import re
from collections.abc import Sequence
from dataclasses import replace
from typing import Any, Literal

import numpy as np
import pandas as pd

from sensorprivacy.datasets.checks import check_choice, require_columns
from sensorprivacy.datasets.files import Files
from sensorprivacy.datasets.readers.motion import Channels, Recordings, cut_windows, join_recordings, weight_class
from sensorprivacy.datasets.readers.windowing import Windowing
from sensorprivacy.datasets.types import Windows
from sensorprivacy.progress import tqdm

ACTIVITIES = ("WAL", "STD", "JOG", "STU")  # walking, standing, jogging, stairs up: paper 3's four
GRAVITY = 9.80665  # m/s^2, the unit of the files; `Recordings` use g
Form = Literal["annotated", "raw"]
PAPER_MEN = (1, 2, 4, 8, 9, 12, 18, 20, 21, 27, 35, 37, 39, 40, 42, 43, 47, 51, 55, 59)
PAPER_WOMEN = (3, 5, 6, 10, 11, 16, 19, 25, 26, 36, 38, 41, 46, 50, 54, 58)
"""The 36 people of paper 3, from the list that its authors' later code reads (``data_subjects.csv`` of ObscureNet)."""
_TRIAL = 1  # the only repetition that the later code of paper 3's authors reads
_FILES: dict[str, re.Pattern[str]] = {
    "annotated": re.compile(r"(?:^|/)(?P<activity>[A-Z]{3})_(?P<subject>\d+)_(?P<trial>\d+)_annotated\.csv$"),
    "raw": re.compile(r"(?:^|/)(?P<activity>[A-Z]{3})_(?P<sensor>acc|gyro)_(?P<subject>\d+)_(?P<trial>\d+)\.txt$"),
}
_TURN, _MOVE = [f"gyro_{axis}" for axis in "xyz"], [f"acc_{axis}" for axis in "xyz"]
_PERSON = re.compile(
    r"^\|\s*(?P<subject>\d+)\s*\|\s*sub\d+\s*\|\s*sub\d+\s*\|\s*(?P<age>\d+)\s*\|\s*(?P<height>\d+)\s*\|"
    r"\s*(?P<weight>\d+)\s*\|\s*(?P<gender>\S+?)\s*\|",
    re.MULTILINE,
)
# the owner's table has a Greek capital My for some men; read as Latin-1, it is the second letter
_GENDERS = {"M": "male", "Ì": "male", "Μ": "male", "F": "female"}


def read_mobiact(
    files: Files,
    form: Form = "annotated",
    *,
    rate: int = 200,
    activities: Sequence[str] = ACTIVITIES,
    subjects: Sequence[int] | None = (*PAPER_MEN, *PAPER_WOMEN),
    progress: bool = True,
) -> Recordings:
    """Return MobiAct's recordings of daily activities.

    Parameters
    ----------
    files : Files
        Contains the owner's ``Readme.txt`` (the table of people) and, in any folders, the files
        ``<activity>_<subject>_<trial>_annotated.csv`` or ``<activity>_acc_<subject>_<trial>.txt`` and ``..._gyro_...``.
    form : {"annotated", "raw"}
        ``annotated``: one file for all sensors, resampled by the owner. ``raw``: one file for each sensor, with its own
        time stamps; both are interpolated at common times.
    rate : int
        Samples per second after linear interpolation. Paper 3's text states 20. Its Table 2 has 43.2k test windows of
        standing, which needs 200: 36 people x 5 minutes x 20 % at stride 10.
    activities : sequence of str
        The owner's codes.
    subjects : sequence of int or None
        Numbers of the people. The default is the 36 people of the printed tables. None: everyone who has all
        activities.
    progress : bool
        Draw a progress bar.

    Returns
    -------
    Recordings
        Sorted by subject, activity and trial; acceleration with gravity in g. Private: ``gender``, ``weight``.

    Raises
    ------
    ValueError
        If files are missing or lack columns, or one of `subjects` does not have all activities.
    """
    check_choice("form", form, Form)
    if rate < 1:
        raise ValueError(f"rate={rate} must be at least 1 sample per second")
    people = read_people(files)
    found = _found(files, form, activities)
    kept = _kept(people, found, len(activities), subjects)
    found = found[found["subject"].isin(kept)]
    parts = []
    for row in tqdm(found.itertuples(index=False), "MobiAct", len(found), disable=not progress):
        read = _annotated if form == "annotated" else _raw
        parts.append(_resampled(*read(files, row), rate))
    table = found[["activity", "subject", "trial"]].reset_index(drop=True)
    table.insert(0, "name", [f"{row.activity}_{row.subject}_{row.trial}" for row in table.itertuples()])
    private = people.loc[table["subject"], ["gender", "weight_class"]].set_axis(["gender", "weight"], axis=1)
    return replace(join_recordings(parts, table, private.reset_index(drop=True), "mobiact"), rate=rate)


def read_people(files: Files) -> pd.DataFrame:
    """Return the table of people in the owner's ``Readme.txt``.

    Returns
    -------
    pandas.DataFrame
        By the subject's number: ``age`` (years), ``height`` (cm), ``weight`` (kg), ``weight_class``, ``gender``.

    Raises
    ------
    ValueError
        If there is no such file or table, or a gender is neither M nor F.
    """
    member = next((name for name in files.members if name.rsplit("/", 1)[-1].lower() == "readme.txt"), None)
    if member is None:
        raise ValueError("the owner's Readme.txt is missing: its table lists the people")
    rows = [match.groupdict() for match in _PERSON.finditer(files.read(member).decode("latin-1"))]
    if not rows:
        raise ValueError(f"{member} has no table '| ID | Name | Surname | Age | Height | Weight | Gender |'")
    people = pd.DataFrame(rows)
    unknown = people.loc[~people["gender"].isin(_GENDERS)]
    if len(unknown):
        raise ValueError(
            f"{member}: gender {unknown['gender'].iloc[0]!r} of subject {unknown['subject'].iloc[0]} is not M or F"
        )
    numbers = people[["subject", "age", "height", "weight"]].astype(int)
    numbers["weight_class"] = weight_class(numbers["weight"])
    return numbers.assign(gender=people["gender"].map(_GENDERS)).set_index("subject")


def _found(files: Files, form: Form, activities: Sequence[str]) -> pd.DataFrame:
    """Return one row for each recording: activity, subject, trial, and the path of each sensor's file."""
    rows: dict[tuple[int, int, int], dict[str, str]] = {}
    for member in files.members:
        match = _FILES[form].search(member)
        if match and match["activity"] in activities and int(match["trial"]) == _TRIAL:
            key = int(match["subject"]), list(activities).index(match["activity"]), int(match["trial"])
            rows.setdefault(key, {})[match.groupdict().get("sensor", "all")] = member
    if not rows:
        wanted = "{}_1_{}_annotated.csv" if form == "annotated" else "{}_acc_1_{}.txt"
        raise ValueError(f"there is no {form} file such as {wanted.format(activities[0], _TRIAL)}")
    for sensors in rows.values():
        if form == "raw" and len(sensors) < 2:
            raise ValueError(f"{next(iter(sensors.values()))} has no partner: each acc file needs a gyro file")
    found = [(activities[at], subject, trial, rows[subject, at, trial]) for subject, at, trial in sorted(rows)]
    return pd.DataFrame(found, columns=["activity", "subject", "trial", "files"])


def _kept(people: pd.DataFrame, found: pd.DataFrame, activities: int, subjects: Sequence[int] | None) -> Sequence[int]:
    """Return the subjects to keep."""
    if absent := sorted(set(found["subject"]) - set(people.index)):
        raise ValueError(f"Readme.txt does not list subject {', '.join(map(str, absent))}")
    complete = found.groupby("subject")["activity"].nunique()
    whole = [subject for subject in people.index if complete.get(subject, 0) == activities]
    if subjects is None:
        return whole
    if lacking := sorted(set(subjects) - set(whole)):
        raise ValueError(
            f"subject {', '.join(map(str, lacking))} lacks a recording; subjects=None takes those with all"
        )
    return subjects


def _annotated(files: Files, row: Any) -> tuple[np.ndarray, np.ndarray]:
    """Return seconds and the six axes of an annotated file, for the samples with the label of the activity."""
    member = row.files["all"]
    table = pd.read_csv(io.BytesIO(files.read(member)))
    require_columns(table.columns, ["rel_time", "label", *_TURN, *_MOVE], member)
    table = table[table["label"] == row.activity].dropna(subset=[*_TURN, *_MOVE])
    if table.empty:
        raise ValueError(f"{member} has no sample labelled {row.activity}")
    return table["rel_time"].to_numpy(float), table[[*_TURN, *_MOVE]].to_numpy(float)


def _raw(files: Files, row: Any) -> tuple[np.ndarray, np.ndarray]:
    """Return seconds and the six axes of a pair of raw files, at the accelerometer's times that both files cover."""
    sensors = {sensor: _sensor_file(files.read(member), member) for sensor, member in row.files.items()}
    (turned, turn), (moved, move) = sensors["gyro"], sensors["acc"]
    both = (moved >= turned[0]) & (moved <= turned[-1])
    if not both.any():
        raise ValueError(f"{row.files['acc']} and {row.files['gyro']} share no time")
    at = moved[both]
    turn = np.column_stack([np.interp(at, turned, axis) for axis in turn.T])
    return at, np.hstack([turn, move[both]])


def _sensor_file(content: bytes, name: str) -> tuple[np.ndarray, np.ndarray]:
    """Return seconds and three axes of a sensor's file: a header, the line @DATA, then nanoseconds and values."""
    head, mark, data = content.decode("latin-1").partition("@DATA")
    if not mark:
        raise ValueError(f"{name} has no line @DATA ({len(head)} characters read)")
    try:
        values = np.loadtxt(io.StringIO(data), delimiter=",", ndmin=2)
    except ValueError as error:
        raise ValueError(f"{name}: {error}") from error
    if values.shape[1:] != (4,) or len(values) < 2:
        raise ValueError(f"{name} has {values.shape} values after @DATA instead of lines with time, x, y, z")
    values = values[np.argsort(values[:, 0], kind="stable")]
    return values[:, 0] / 1e9, values[:, 1:]


def _resampled(seconds: np.ndarray, axes: np.ndarray, rate: int) -> np.ndarray:
    """Return the axes at `rate` samples per second, rotation in rad/s and acceleration in g, as float32."""
    order = np.argsort(seconds, kind="stable")
    seconds, axes = seconds[order], axes[order]
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
    progress: bool = True,
) -> Windows:
    """Return windows of MobiAct, see `read_mobiact` and `motion.cut_windows`."""
    recordings = read_mobiact(files, form, rate=rate, activities=activities, subjects=subjects, progress=progress)
    return cut_windows(recordings, channels, length, stride, windowing, {"form": form})
