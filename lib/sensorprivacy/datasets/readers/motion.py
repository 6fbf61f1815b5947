"""Motion sensors on the body: MotionSense (a phone), the smartwatch set and Opportunity (a suit of sensors).

The first two become `Recordings` with the same six axes, from which `windows` cuts what paper 3 works on, and
`statistics_problem` the dense features on which paper 1's game is played. Opportunity is a table of samples.
"""

import io
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal, get_args

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.csv

from sensorprivacy.datasets.files import Source
from sensorprivacy.datasets.readers.statistics import window_statistics
from sensorprivacy.datasets.readers.windowing import Windowing, cut, window_starts
from sensorprivacy.datasets.types import Problem, Windows
from sensorprivacy.progress import tqdm

AXES = tuple(f"{sensor}_{axis}" for sensor in ("rotation", "acceleration") for axis in "xyz")
MAGNITUDES = ("rotation", "acceleration")
Channels = Literal["magnitude", "raw"]
_LABELS = ("label_activity", "label_subject", "label_recording")
RATE = 50  # samples a second in both sets
WALKING = ("dws", "ups", "wlk", "jog")  # down stairs, up stairs, walking, jogging: paper 3's four
ACTIVITIES = (*WALKING, "sit", "std")
EXERCISES = ("PEN", "ABD", "FEL", "IR", "ER", "TRAP", "ROW")
_MOTIONSENSE = re.compile(r"(?P<activity>[a-z]{3})_(?P<trial>\d+)/sub_(?P<subject>\d+)\.csv$")


@dataclass(frozen=True, eq=False)
class Recordings:
    """Recordings of six axes, one after the other.

    Parameters
    ----------
    signal : numpy.ndarray of float32, shape (samples, 6)
        `AXES`: rotation rate (rad/s) and acceleration with gravity (g).
    recording : numpy.ndarray of int64, shape (samples,)
        Which recording, as row of `table`.
    table : pandas.DataFrame
        One row a recording: ``name``, ``activity``, ``subject``, ``trial``.
    private : pandas.DataFrame
        One row a recording, one column a private attribute.
    name : str
        Name of the data set.
    """

    signal: np.ndarray
    recording: np.ndarray
    table: pd.DataFrame
    private: pd.DataFrame
    name: str

    def of(self, activities: Sequence[str]) -> "Recordings":
        """Return the recordings of these activities.

        Raises
        ------
        ValueError
            If there is no recording of one of them.
        """
        known = sorted(set(self.table["activity"]))
        if unknown := sorted(set(activities) - set(known)):
            raise ValueError(f"{self.name} has no activity {', '.join(unknown)}; it has {', '.join(known)}")
        kept = self.table["activity"].isin(list(activities)).to_numpy()
        samples = kept[self.recording]
        renumbered = (np.cumsum(kept) - 1)[self.recording[samples]]
        table, private = self.table[kept].reset_index(drop=True), self.private[kept].reset_index(drop=True)
        return Recordings(self.signal[samples], renumbered, table, private, self.name)


def read_motionsense(source: Source, progress: bool = True) -> Recordings:
    """Return MotionSense: 24 people, six activities, 15 trials each, a phone in the trousers' front pocket, 50 Hz.

    Parameters
    ----------
    source : Source
        Holds ``<activity>_<trial>/sub_<subject>.csv`` and ``data_subjects_info.csv``.
    progress : bool
        Show a progress bar.

    Returns
    -------
    Recordings
        By subject, then activity (`ACTIVITIES`), then trial. Acceleration is user acceleration plus gravity, as an
        accelerometer measures it. Private: ``gender``, and ``weight`` in paper 3's three classes (kg).

    Raises
    ------
    ValueError
        If a file has not the 12 columns of the set, or a subject is missing from the list of subjects.

    References
    ----------
    Malekzadeh, Clegg, Cavallaro, Haddadi, Mobile sensor data anonymization, IoTDI 2019.
    """
    found = sorted(
        (int(match["subject"]), ACTIVITIES.index(match["activity"]), int(match["trial"]), member)
        for member in source.members
        if (match := _MOTIONSENSE.search(member)) and match["activity"] in ACTIVITIES
    )
    if not found:
        raise ValueError("no file <activity>_<trial>/sub_<subject>.csv among the members")
    bar = tqdm(found, "MotionSense", unit="file", disable=not progress)
    parts = [_motionsense_file(source.read(member), member) for *_, member in bar]
    rows = [
        (f"sub_{subject}-{ACTIVITIES[at]}_{trial}", ACTIVITIES[at], subject, trial) for subject, at, trial, _ in found
    ]
    table = pd.DataFrame(rows, columns=["name", "activity", "subject", "trial"])
    recording = np.repeat(np.arange(len(parts)), [len(part) for part in parts])
    return Recordings(np.concatenate(parts), recording, table, _people(source, table["subject"]), "motionsense")


def motionsense_counts(source: Source) -> dict[str, int]:
    """Return how many ``activities``, ``trials`` of a person and ``features`` of a sample MotionSense's files hold.

    Parameters
    ----------
    source : Source
        As for `read_motionsense`. One file is opened, for its header; its first column, a row number, is no feature.
    """
    found = {member: match for member in source.members if (match := _MOTIONSENSE.search(member))}
    trials: dict[str, set[str]] = {}
    for match in found.values():
        trials.setdefault(match["subject"], set()).add(match["trial"])
    columns = pa.csv.read_csv(io.BytesIO(source.read(next(iter(found))))).column_names
    return {
        "activities": len({match["activity"] for match in found.values()}),
        "trials": max(map(len, trials.values())),
        "features": sum(bool(column) for column in columns),
    }


def _motionsense_file(content: bytes, name: str) -> np.ndarray:
    """Return the six axes of one file, float32 of shape (samples, 6)."""
    table = pa.csv.read_csv(io.BytesIO(content))
    axes = [[f"{sensor}.{axis}" for axis in "xyz"] for sensor in ("rotationRate", "userAcceleration", "gravity")]
    if absent := [column for columns in axes for column in columns if column not in table.column_names]:
        raise ValueError(f"{name} has no column {', '.join(absent)}")
    turn, moved, weight = (np.column_stack([table[column].to_numpy() for column in columns]) for columns in axes)
    return np.hstack([turn, moved + weight]).astype(np.float32)


def _people(source: Source, subjects: pd.Series) -> pd.DataFrame:
    """Return gender and weight class of each recording's subject."""
    member = next((name for name in source.members if name.endswith("data_subjects_info.csv")), None)
    if member is None:
        raise ValueError("data_subjects_info.csv is not among the members: it says who is who")
    people = pd.read_csv(io.BytesIO(source.read(member)), encoding="utf-8-sig").set_index("code")
    if absent := sorted(set(subjects) - set(people.index)):
        raise ValueError(f"data_subjects_info.csv does not list subject {', '.join(map(str, absent))}")
    found = people.loc[subjects]
    weight = pd.cut(found["weight"], [0, 70, 90, np.inf], labels=["<= 70", "70-90", "> 90"]).astype(str)
    gender = found["gender"].map({1: "male", 0: "female"})
    return pd.DataFrame({"gender": gender.to_numpy(), "weight": weight.to_numpy()})


def read_smartwatch(source: Source) -> Recordings:
    """Return the smartwatch set: 10 people, seven shoulder exercises on each side, a watch at the wrist, 50 Hz.

    Parameters
    ----------
    source : Source
        Holds ``watch_dataset.npy``. The file is a pickle, so that reading it runs what it says: it must have been
        verified, as `store.fetch` does.

    Returns
    -------
    Recordings
        By subject, then side, then exercise; trial numbers the 140 series from 1. Private: ``side``.

    Raises
    ------
    ValueError
        If it does not hold the columns of the set.

    References
    ----------
    Burns, Whyne, Seglearn: a Python package for learning sequences and time series, JMLR 19(83), 2018.
    """
    member = next(name for name in source.members if name.endswith("watch_dataset.npy"))
    data = np.load(io.BytesIO(source.read(member)), allow_pickle=True).item()
    if list(data["X_labels"]) != ["ax", "ay", "az", "wx", "wy", "wz"] or list(data["y_labels"]) != list(EXERCISES):
        raise ValueError(f"{member} holds {data['X_labels']} and {data['y_labels']}, not the columns of the set")
    order = np.lexsort((data["y"], data["side"], data["subject"]))
    series = [np.asarray(data["X"][at], dtype=np.float32)[:, [3, 4, 5, 0, 1, 2]] for at in order]
    side = np.where(np.asarray(data["side"])[order] == 1, "right", "left")
    subject, exercise = np.asarray(data["subject"])[order], np.array(EXERCISES)[np.asarray(data["y"])[order]]
    table = pd.DataFrame(
        {
            "name": [f"sub_{who}-{where}-{what}" for who, where, what in zip(subject, side, exercise, strict=True)],
            "activity": exercise,
            "subject": subject,
            "trial": np.arange(1, len(order) + 1),
        }
    )
    recording = np.repeat(np.arange(len(series)), [len(part) for part in series])
    return Recordings(np.concatenate(series), recording, table, pd.DataFrame({"side": side}), "smartwatch")


def cut_windows(
    recordings: Recordings,
    channels: Channels = "magnitude",
    length: int = 128,
    stride: int = 10,
    windowing: Windowing = "authors",
    provenance: dict[str, Any] | None = None,
) -> Windows:
    """Return sliding windows of recordings.

    Parameters
    ----------
    recordings : Recordings
        The recordings.
    channels : {"magnitude", "raw"}
        ``magnitude``: Euclidean norms of rotation rate and of acceleration with gravity (paper 3 on MotionSense);
        ``raw``: the six axes, rotation rate before acceleration.
    length, stride : int
        Samples.
    windowing : {"authors", "file"}
        See `windowing.window_starts`.
    provenance : dict, optional
        Where the recordings come from.

    Returns
    -------
    Windows
        n x channels x length; public is the activity, private as the recordings have it.

    Raises
    ------
    ValueError
        If `channels` is unknown or no recording is as long as a window.
    """
    if channels not in get_args(Channels):
        raise ValueError(f"channels {channels!r} is unknown, one of {', '.join(get_args(Channels))}")
    starts = window_starts(recordings.recording, length, stride, windowing)
    if not len(starts):
        raise ValueError(f"no recording of {recordings.name} has {length} samples")
    signal = recordings.signal if channels == "raw" else magnitudes(recordings.signal)
    at = recordings.recording[starts]
    table = recordings.table.iloc[at]
    return Windows(
        cut(signal, starts, length),
        public=table["activity"].to_numpy(),
        private=recordings.private.iloc[at].reset_index(drop=True),
        subject=table["subject"].to_numpy(),
        trial=table["trial"].to_numpy(),
        name=recordings.name,
        provenance={
            **(provenance or {}),
            "activities": sorted(set(recordings.table["activity"])),
            "channels": list(AXES if channels == "raw" else MAGNITUDES),
            "length": length,
            "stride": stride,
            "windowing": windowing,
            "rate": RATE,
        },
    )


def magnitudes(signal: np.ndarray) -> np.ndarray:
    """Return the Euclidean norms of rotation rate and acceleration, shape (samples, 2), of `AXES`."""
    return np.linalg.norm(signal.reshape(-1, 2, 3), axis=2)


def dense_statistics(recordings: Recordings, length: int, stride: int) -> pd.DataFrame:
    """Return 135 dense statistics of each window, with the labels of the window.

    Parameters
    ----------
    recordings : Recordings
        The recordings.
    length, stride : int
        Samples; the grid of windows begins anew with each recording.

    Returns
    -------
    pandas.DataFrame
        15 statistics (`statistics.window_statistics`) of each of 8 channels, the six axes and two magnitudes, and the
        15 correlations between the axes; then ``label_activity``, ``label_subject``, ``label_recording``.
    """
    starts = window_starts(recordings.recording, length, stride)
    both = np.hstack([recordings.signal, magnitudes(recordings.signal)])
    parts = [
        window_statistics(cut(both, some, length), (*AXES, *MAGNITUDES), RATE, correlated=AXES)
        for some in np.array_split(starts, max(1, len(starts) // 4000))
    ]
    labels = recordings.table.iloc[recordings.recording[starts]].reset_index(drop=True)
    labels = labels[["activity", "subject", "name"]].set_axis(list(_LABELS), axis=1)
    return pd.concat([pd.concat(parts, ignore_index=True), labels], axis=1)


def statistics_problem(table: pd.DataFrame, name: str, provenance: dict[str, Any]) -> Problem:
    """Return the game on dense statistics: activity = task, subject = user, recording = group."""
    return Problem(
        table.drop(columns=list(_LABELS)),
        task=table["label_activity"],
        users=table["label_subject"],
        groups=table["label_recording"],
        name=name,
        provenance=provenance,
    )
