"""Cut recordings of motion sensors into windows (paper 3), or into dense statistics of windows (paper 1).

All sets of motion data become `Recordings` with the same six axes.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import pandas as pd

from compendium.readers.cache import derived
from compendium.readers.files import Files
from sensorprivacy.checks import check_choice
from sensorprivacy.data import Problem, Windows
from sensorprivacy.statistics import window_statistics
from sensorprivacy.windowing import AXES, MAGNITUDES, Windowing, cut, magnitudes, window_starts

Channels = Literal["magnitude", "raw"]
_LABELS = ["label_activity", "label_subject", "label_recording"]


@dataclass(frozen=True, eq=False)
class Recordings:
    """Recordings of six axes, joined one after the other.

    Parameters
    ----------
    signal : numpy.ndarray of float32, shape (samples, 6)
        `AXES`: rotation rate (rad/s) and acceleration with gravity (g).
    recording : numpy.ndarray of int64, shape (samples,)
        Recording of each sample: the row in `table`.
    table : pandas.DataFrame
        One row for each recording: ``name``, ``activity``, ``subject``, ``trial``.
    private : pandas.DataFrame
        One row for each recording, one column for each private attribute.
    name : str
        Name of the data set.
    rate : int
        Samples per second.
    """

    signal: np.ndarray
    recording: np.ndarray
    table: pd.DataFrame
    private: pd.DataFrame
    name: str
    rate: int = 50

    def of(self, activities: Sequence[str]) -> "Recordings":
        """Return the recordings of these activities.

        Raises
        ------
        ValueError
            If the set has no recording of an activity.
        """
        known = sorted(set(self.table["activity"]))
        if unknown := sorted(set(activities) - set(known)):
            raise ValueError(f"{self.name} has no activity {', '.join(unknown)}; it has {', '.join(known)}")
        kept = self.table["activity"].isin(list(activities)).to_numpy()
        samples = kept[self.recording]
        renumbered = (np.cumsum(kept) - 1)[self.recording[samples]]
        table, private = self.table[kept].reset_index(drop=True), self.private[kept].reset_index(drop=True)
        return Recordings(self.signal[samples], renumbered, table, private, self.name, self.rate)


def join_recordings(parts: Sequence[np.ndarray], table: pd.DataFrame, private: pd.DataFrame, name: str) -> Recordings:
    """Return recordings, given the samples of each, its row of the table, and its private attributes."""
    recording = np.repeat(np.arange(len(parts)), [len(part) for part in parts])
    return Recordings(np.concatenate(parts), recording, table, private, name)


def weight_class(weight: pd.Series) -> pd.Series:
    """Return paper 3's three classes of weights in kg, as text."""
    return pd.cut(weight, [0, 70, 90, np.inf], labels=["<= 70", "70-90", "> 90"]).astype(str)


def cut_windows(
    recordings: Recordings,
    channels: Channels = "magnitude",
    length: int = 128,
    stride: int = 10,
    windowing: Windowing = "authors",
    provenance: Mapping[str, Any] | None = None,
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
        See `window_starts`.
    provenance : dict, optional
        What else to note in the provenance.

    Returns
    -------
    Windows
        n x channels x length; public is the activity; the private attributes are those of the recordings.

    Raises
    ------
    ValueError
        If `channels` is unknown or no recording is as long as a window.
    """
    check_choice("channels", channels, Channels)
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
            "rate": recordings.rate,
        },
    )


def dense_statistics(recordings: Recordings, length: int, stride: int) -> pd.DataFrame:
    """Return 135 dense statistics of each window, with the labels of the window.

    Parameters
    ----------
    recordings : Recordings
        The recordings.
    length, stride : int
        Samples; the grid of windows begins again with each recording.

    Returns
    -------
    pandas.DataFrame
        15 statistics (`statistics.window_statistics`) of each of 8 channels, the six axes and two magnitudes; the 15
        correlations between the axes; then ``label_activity``, ``label_subject``, ``label_recording``.
    """
    starts = window_starts(recordings.recording, length, stride)
    both = np.hstack([recordings.signal, magnitudes(recordings.signal)])
    parts = [
        window_statistics(cut(both, some, length), (*AXES, *MAGNITUDES), recordings.rate, correlated=AXES)
        for some in np.array_split(starts, max(1, len(starts) // 4000))
    ]
    labels = recordings.table.iloc[recordings.recording[starts]].reset_index(drop=True)
    labels = labels[["activity", "subject", "name"]].set_axis(_LABELS, axis=1)
    return pd.concat([pd.concat(parts, ignore_index=True), labels], axis=1)


def statistics_problem(files: Files, name: str, read: Callable[[], Recordings], length: int, stride: int) -> Problem:
    """Return the problem on dense statistics: activity = task, subject = user, recording = group."""
    table = derived(
        f"{name}-statistics",
        lambda: dense_statistics(read(), length, stride),
        digest=files.digest,
        length=length,
        stride=stride,
    )
    return Problem(
        table.drop(columns=_LABELS),
        task=table["label_activity"],
        users=table["label_subject"],
        groups=table["label_recording"],
        name=name,
        provenance={"length": length, "stride": stride},
    )
