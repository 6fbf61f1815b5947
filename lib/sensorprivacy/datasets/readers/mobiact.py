"""MobiAct, the phone in the pocket of paper 3's Tables 2 and 3: the owner's folders, annotated or raw.

The set is given out on request only, so this reader is written to the owner's own description (its ``Readme.txt``, the
headers of its files) and tested on files made to it.
"""

import io
import re
from collections.abc import Sequence
from typing import Any, Literal, get_args

import numpy as np
import pandas as pd

from sensorprivacy.datasets.files import Source
from sensorprivacy.datasets.readers.motion import Recordings
from sensorprivacy.progress import tqdm

ACTIVITIES = ("WAL", "STD", "JOG", "STU")  # walking, standing, jogging, stairs up: paper 3's four
WEIGHTS = ("<= 70", "70-90", "> 90")  # kg, paper 3's three classes
GRAVITY = 9.80665  # m/s^2; the files are in these, `Recordings` in g
Form = Literal["annotated", "raw"]
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
# the owner's table has a Greek capital My for some men, which is this letter where the file is read as Latin-1
_GENDERS = {"M": "male", "Ì": "male", "Μ": "male", "F": "female"}


def read_mobiact(
    source: Source,
    form: Form = "annotated",
    *,
    rate: int = 200,
    activities: Sequence[str] = ACTIVITIES,
    trials: Sequence[int] = (1,),
    women: int | None = 16,
    men: int | None = 20,
    progress: bool = True,
) -> Recordings:
    """Return MobiAct's recordings of daily activities.

    Parameters
    ----------
    source : Source
        Holds the owner's ``Readme.txt`` (who is who) and, in any folders, the files
        ``<activity>_<subject>_<trial>_annotated.csv`` or ``<activity>_acc_<subject>_<trial>.txt`` and ``..._gyro_...``.
    form : {"annotated", "raw"}
        ``annotated``: one file of all sensors, resampled by the owner. ``raw``: one file a sensor, each with its own
        time stamps; both are interpolated at common times.
    rate : int
        Samples a second that the recordings are brought to, by linear interpolation. Paper 3's text says 20, but its
        Table 2 counts 43.2k test windows of standing: 36 people x 5 minutes x 20 % at stride 10 are as many at 200.
    activities : sequence of str
        The owner's codes.
    trials : sequence of int
        Which repetitions; paper 3's authors' later code reads the first.
    women, men : int or None
        How many people to keep, those of the lowest numbers who have all the activities; None: all. Paper 3 takes 36
        people without saying which.
    progress : bool
        Show a progress bar.

    Returns
    -------
    Recordings
        By subject, then activity, then trial; acceleration with gravity in g. Private: ``gender``, ``weight``.

    Raises
    ------
    ValueError
        If files are missing, have other columns, or no person has all activities.
    """
    if form not in get_args(Form):
        raise ValueError(f"form {form!r} is unknown, one of {', '.join(get_args(Form))}")
    if rate < 1:
        raise ValueError(f"rate={rate}: give samples a second, at least 1")
    people = read_people(source)
    found = _found(source, form, activities, trials)
    kept = _kept(people, found, len(activities), women, men)
    found = found[found["subject"].isin(kept)]
    parts = []
    for row in tqdm(found.itertuples(index=False), "MobiAct", len(found), disable=not progress):
        read = _annotated if form == "annotated" else _raw
        parts.append(_resampled(*read(source, row), rate))
    table = found[["activity", "subject", "trial"]].reset_index(drop=True)
    names = [f"{row.activity}_{row.subject}_{row.trial}" for row in table.itertuples()]
    recording = np.repeat(np.arange(len(parts)), [len(part) for part in parts])
    table.insert(0, "name", names)
    private = people.loc[table["subject"], ["gender", "weight_class"]].set_axis(["gender", "weight"], axis=1)
    return Recordings(np.concatenate(parts), recording, table, private.reset_index(drop=True), "mobiact")


def read_people(source: Source) -> pd.DataFrame:
    """Return who is who, from the table in the owner's ``Readme.txt``.

    Returns
    -------
    pandas.DataFrame
        By the subject's number: ``age`` (years), ``height`` (cm), ``weight`` (kg), ``gender``, ``weight_class``.

    Raises
    ------
    ValueError
        If there is no such file, no such table in it, or a gender in it that is neither M nor F.
    """
    member = next((name for name in source.members if name.rsplit("/", 1)[-1].lower() == "readme.txt"), None)
    if member is None:
        raise ValueError("the owner's Readme.txt is not among the files: its table says who is who")
    rows = [match.groupdict() for match in _PERSON.finditer(source.read(member).decode("latin-1"))]
    if not rows:
        raise ValueError(f"{member} has no table '| ID | Name | Surname | Age | Height | Weight | Gender |'")
    people = pd.DataFrame(rows)
    unknown = people.loc[~people["gender"].isin(_GENDERS)]
    if len(unknown):
        raise ValueError(
            f"{member}: gender {unknown['gender'].iloc[0]!r} of subject {unknown['subject'].iloc[0]} is not M or F"
        )
    numbers = people[["subject", "age", "height", "weight"]].astype(int)
    classes = pd.cut(numbers["weight"], [0, 70, 90, np.inf], labels=list(WEIGHTS)).astype(str)
    return numbers.assign(gender=people["gender"].map(_GENDERS), weight_class=classes).set_index("subject")


def _found(source: Source, form: Form, activities: Sequence[str], trials: Sequence[int]) -> pd.DataFrame:
    """Return one row a recording: activity, subject, trial, and the path of each sensor's file."""
    rows: dict[tuple[int, int, int], dict[str, str]] = {}
    for member in source.members:
        match = _FILES[form].search(member)
        if match and match["activity"] in activities and int(match["trial"]) in trials:
            key = int(match["subject"]), list(activities).index(match["activity"]), int(match["trial"])
            rows.setdefault(key, {})[match.groupdict().get("sensor", "all")] = member
    if not rows:
        wanted = (
            f"{activities[0]}_1_{trials[0]}_annotated.csv"
            if form == "annotated"
            else f"{activities[0]}_acc_1_{trials[0]}.txt"
        )
        raise ValueError(f"no {form} file such as {wanted} among the files")
    for key, sensors in rows.items():
        if form == "raw" and len(sensors) < 2:
            raise ValueError(f"{next(iter(sensors.values()))} has no partner: acc and gyro belong together")
        assert key
    return pd.DataFrame(
        [
            (activities[activity], subject, trial, rows[subject, activity, trial])
            for subject, activity, trial in sorted(rows)
        ],
        columns=["activity", "subject", "trial", "files"],
    )


def _kept(people: pd.DataFrame, found: pd.DataFrame, activities: int, women: int | None, men: int | None) -> list[int]:
    """Return the subjects to keep."""
    if absent := sorted(set(found["subject"]) - set(people.index)):
        raise ValueError(f"Readme.txt does not list subject {', '.join(map(str, absent))}")
    complete = found.groupby("subject")["activity"].nunique()
    whole = [subject for subject in people.index if complete.get(subject, 0) == activities]
    kept: list[int] = []
    for gender, count in (("female", women), ("male", men)):
        of_gender = [subject for subject in whole if people.loc[subject, "gender"] == gender]
        if count is not None and len(of_gender) < count:
            raise ValueError(f"{len(of_gender)} {gender} subject(s) have all activities, but {count} are asked for")
        kept += of_gender[:count]
    return kept


def _annotated(source: Source, row: Any) -> tuple[np.ndarray, np.ndarray]:
    """Return seconds and the six axes of an annotated file, where its label is the activity's."""
    member = row.files["all"]
    table = pd.read_csv(io.BytesIO(source.read(member)))
    if absent := sorted({"rel_time", "label", *_TURN, *_MOVE} - set(table.columns)):
        raise ValueError(f"{member} has no column {', '.join(absent)}")
    table = table[table["label"] == row.activity].dropna(subset=[*_TURN, *_MOVE])
    if table.empty:
        raise ValueError(f"{member} has no sample labelled {row.activity}")
    return table["rel_time"].to_numpy(float), table[[*_TURN, *_MOVE]].to_numpy(float)


def _raw(source: Source, row: Any) -> tuple[np.ndarray, np.ndarray]:
    """Return seconds and the six axes of a pair of raw files, at the times of the accelerometer that both cover."""
    sensors = {sensor: _sensor_file(source.read(member), member) for sensor, member in row.files.items()}
    (turned, turn), (moved, move) = sensors["gyro"], sensors["acc"]
    both = (moved >= turned[0]) & (moved <= turned[-1])
    if not both.any():
        raise ValueError(f"{row.files['acc']} and {row.files['gyro']} share no time")
    at = moved[both]
    turn = np.column_stack([np.interp(at, turned, axis) for axis in turn.T])
    return at, np.hstack([turn, move[both]])


def _sensor_file(content: bytes, name: str) -> tuple[np.ndarray, np.ndarray]:
    """Return seconds and three axes of one sensor's file: a header, the line @DATA, then nanoseconds and values."""
    head, mark, data = content.decode("latin-1").partition("@DATA")
    if not mark:
        raise ValueError(f"{name} has no line @DATA ({len(head)} characters read)")
    try:
        values = np.loadtxt(io.StringIO(data), delimiter=",", ndmin=2)
    except ValueError as error:
        raise ValueError(f"{name}: {error}") from error
    if values.shape[1:] != (4,) or len(values) < 2:
        raise ValueError(f"{name} has {values.shape} values after @DATA, expected lines of time, x, y, z")
    values = values[np.argsort(values[:, 0], kind="stable")]
    return values[:, 0] / 1e9, values[:, 1:]


def _resampled(seconds: np.ndarray, axes: np.ndarray, rate: int) -> np.ndarray:
    """Return the axes at `rate` samples a second, rotation in rad/s and acceleration in g, float32."""
    order = np.argsort(seconds, kind="stable")
    seconds, axes = seconds[order], axes[order]
    steps = int(np.floor((seconds[-1] - seconds[0]) * rate + 1e-6)) + 1
    at = seconds[0] + np.arange(steps) / rate
    even = np.column_stack([np.interp(at, seconds, axis) for axis in axes.T])
    even[:, 3:] /= GRAVITY
    return even.astype(np.float32)
