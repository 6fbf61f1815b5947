"""Read MotionSense: the motion of a phone in the pocket, six activities of 24 people (paper 3's public set)."""

import io
import re
from collections.abc import Sequence

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.csv

from compendium.readers import motion
from compendium.readers.files import Files
from compendium.readers.motion import Channels, Recordings
from sensorprivacy.checks import require_columns
from sensorprivacy.data import Problem, Windows
from sensorprivacy.progress import tqdm
from sensorprivacy.windowing import Windowing

WALKING = ("dws", "ups", "wlk", "jog")  # down stairs, up stairs, walking, jogging: paper 3's four
ACTIVITIES = (*WALKING, "sit", "std")
_FILE = re.compile(r"(?P<activity>[a-z]{3})_(?P<trial>\d+)/sub_(?P<subject>\d+)\.csv$")


def read_motionsense(files: Files, progress: bool = True) -> Recordings:
    """Return MotionSense: 24 people, six activities, 15 trials each, with a phone in the front pocket, 50 Hz.

    Parameters
    ----------
    files : Files
        Contains ``<activity>_<trial>/sub_<subject>.csv`` and ``data_subjects_info.csv``.
    progress : bool
        Draw a progress bar.

    Returns
    -------
    Recordings
        Sorted by subject, activity (`ACTIVITIES`) and trial. Acceleration is user acceleration plus gravity, as an
        accelerometer measures it. Private: ``gender``, and ``weight`` in paper 3's three classes (kg).

    Raises
    ------
    ValueError
        If a file lacks a column of the set, or the list of subjects lacks a subject.

    References
    ----------
    Malekzadeh, Clegg, Cavallaro, Haddadi, Mobile sensor data anonymization, IoTDI 2019.
    """
    found = sorted(
        (int(match["subject"]), ACTIVITIES.index(match["activity"]), int(match["trial"]), member)
        for member in files.members
        if (match := _FILE.search(member)) and match["activity"] in ACTIVITIES
    )
    if not found:
        raise ValueError("there is no file <activity>_<trial>/sub_<subject>.csv")
    bar = tqdm(found, "MotionSense", unit="file", disable=not progress)
    parts = [_file(files.read(member), member) for *_, member in bar]
    rows = [
        (f"sub_{subject}-{ACTIVITIES[at]}_{trial}", ACTIVITIES[at], subject, trial) for subject, at, trial, _ in found
    ]
    table = pd.DataFrame(rows, columns=["name", "activity", "subject", "trial"])
    return motion.join_recordings(parts, table, _people(files, table["subject"]), "motionsense")


_stored = read_motionsense  # as they are on the disk: reading them takes a second, so no cache keeps them


def motionsense_counts(files: Files) -> dict[str, int]:
    """Count the ``activities``, the ``trials`` of a person and the ``features`` of a sample in MotionSense's files.

    Parameters
    ----------
    files : Files
        As for `read_motionsense`. The header of one file is read; its first column, a row number, is no feature.
    """
    found = {member: match for member in files.members if (match := _FILE.search(member))}
    trials: dict[str, set[str]] = {}
    for match in found.values():
        trials.setdefault(match["subject"], set()).add(match["trial"])
    columns = pa.csv.read_csv(io.BytesIO(files.read(next(iter(found))))).column_names
    return {
        "activities": len({match["activity"] for match in found.values()}),
        "trials": max(map(len, trials.values())),
        "features": sum(bool(column) for column in columns),
    }


def _file(content: bytes, name: str) -> np.ndarray:
    """Return the six axes of one file, float32 of shape (samples, 6)."""
    table = pa.csv.read_csv(io.BytesIO(content))
    axes = [[f"{sensor}.{axis}" for axis in "xyz"] for sensor in ("rotationRate", "userAcceleration", "gravity")]
    require_columns(table.column_names, [column for three in axes for column in three], name)
    turn, moved, weight = (np.column_stack([table[column].to_numpy() for column in columns]) for columns in axes)
    return np.hstack([turn, moved + weight]).astype(np.float32)


def _people(files: Files, subjects: pd.Series) -> pd.DataFrame:
    """Return gender and weight class of each recording's subject."""
    member = next((name for name in files.members if name.endswith("data_subjects_info.csv")), None)
    if member is None:
        raise ValueError("data_subjects_info.csv is missing: it lists the gender and weight of each subject")
    people = pd.read_csv(io.BytesIO(files.read(member)), encoding="utf-8-sig").set_index("code")
    if absent := sorted(set(subjects) - set(people.index)):
        raise ValueError(f"data_subjects_info.csv does not list subject {', '.join(map(str, absent))}")
    found = people.loc[subjects]
    weight = motion.weight_class(found["weight"])
    gender = found["gender"].map({1: "male", 0: "female"})
    return pd.DataFrame({"gender": gender.to_numpy(), "weight": weight.to_numpy()})


def motionsense_problem(files: Files, *, length: int = 128, stride: int = 64, progress: bool = True) -> Problem:
    """Return 135 statistics of MotionSense's windows: activity = task, person = user, recording = group."""
    return motion.statistics_problem(files, "motionsense", lambda: _stored(files, progress), length, stride)


def motionsense_windows(
    files: Files,
    *,
    channels: Channels = "magnitude",
    length: int = 128,
    stride: int = 10,
    windowing: Windowing = "authors",
    activities: Sequence[str] = WALKING,
    progress: bool = True,
) -> Windows:
    """Return windows of MotionSense, see `motion.cut_windows`. Trials 11 to 16 are the short ones."""
    recordings = _stored(files, progress).of(activities)
    counts = {"whole set": motionsense_counts(files)}
    return motion.cut_windows(recordings, channels, length, stride, windowing, counts)
