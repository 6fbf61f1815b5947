"""Read the smartwatch set: the motion of a watch during seven shoulder exercises of 10 people."""

import hashlib
import io
from collections.abc import Sequence

import numpy as np
import pandas as pd

from compendium.readers import motion
from compendium.readers.files import Files
from compendium.readers.motion import Channels, Recordings
from sensorprivacy.data import Problem, Windows
from sensorprivacy.windowing import Windowing

SHA256 = "eb122f23cdf06ef6bd6c6c5312958ec5cf9d038e2e6d457b8081662c75a42537"  # of watch_dataset.npy, as published
EXERCISES = ("PEN", "ABD", "FEL", "IR", "ER", "TRAP", "ROW")


def read_smartwatch(files: Files) -> Recordings:
    """Return the smartwatch set: 10 people, seven shoulder exercises on each side, with a watch at the wrist, 50 Hz.

    Parameters
    ----------
    files : Files
        Contains ``watch_dataset.npy``. The file is a pickle, which can run code, so only the published file is loaded:
        the digest of the bytes that were read decides.

    Returns
    -------
    Recordings
        Sorted by subject, side and exercise; the trial is the number of the series, 1 to 140. Private: ``side``.

    Raises
    ------
    ValueError
        If the file is not the published one, or has not the columns of the set.

    References
    ----------
    Burns, Whyne, Seglearn: a Python package for learning sequences and time series, JMLR 19(83), 2018.
    """
    member = next(name for name in files.members if name.endswith("watch_dataset.npy"))
    content = files.read(member)
    if (found := hashlib.sha256(content).hexdigest()) != SHA256:
        raise ValueError(
            f"{member} is not the published file (expected SHA-256 {SHA256}, found {found}), and it is a pickle, which "
            "can run code, so it is not loaded: delete it, and fetch the set smartwatch again"
        )
    data = np.load(io.BytesIO(content), allow_pickle=True).item()
    if list(data["X_labels"]) != ["ax", "ay", "az", "wx", "wy", "wz"] or list(data["y_labels"]) != list(EXERCISES):
        raise ValueError(f"{member} has {data['X_labels']} and {data['y_labels']}, not the columns of the set")
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
    return motion.join_recordings(series, table, pd.DataFrame({"side": side}), "smartwatch")


def smartwatch_problem(files: Files, *, length: int = 100, stride: int = 50) -> Problem:
    """Return 135 statistics of the 4,677 windows: exercise = task, person = user, recording = group."""
    return motion.statistics_problem(files, "smartwatch", lambda: read_smartwatch(files), length, stride)


def smartwatch_windows(
    files: Files,
    *,
    channels: Channels = "magnitude",
    length: int = 128,
    stride: int = 10,
    windowing: Windowing = "authors",
    activities: Sequence[str] = EXERCISES,
) -> Windows:
    """Return windows of the smartwatch set, see `motion.cut_windows`; the trial is the number of the series."""
    return motion.cut_windows(read_smartwatch(files).of(activities), channels, length, stride, windowing)
