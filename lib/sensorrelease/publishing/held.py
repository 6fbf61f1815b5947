"""Which recordings and windows measure a release, and which the networks learn from."""

import warnings
from typing import Any

import numpy as np

from sensorrelease.recordings import OwnRecordings

TEST = 0.25  # last part of each recording, on which the task is measured


def ends_in_window(sizes: Any, length: int) -> Any:
    """Return whether recordings of some samples have a whole window in their last part; windows do not overlap."""
    first = -(-((1 - TEST) * np.asarray(sizes)).astype(int) // length) * length
    return first + length <= sizes


def held_recordings(own: OwnRecordings, length: int, hide: str) -> np.ndarray:
    """Return which recordings are held out whole: none, unless most are too short for a window in their last part.

    Then the last recording of each person, public class and value of the attribute to hide is, if there are two.
    """
    sizes = np.bincount(own.run)
    if np.mean(ends_in_window(sizes, length)) >= 0.5:
        return np.zeros(len(sizes), dtype=bool)
    held = last_recordings(own, hide)
    if held.any():
        warnings.warn(
            f"most recordings have no window of {length} samples in their last {TEST:.0%}: {int(held.sum()):,} of "
            f"{len(held):,} whole recordings are held out instead, the last of each person and {own.gate.task}",
            stacklevel=4,
        )
    return held


def last_recordings(own: OwnRecordings, hide: str) -> np.ndarray:
    """Return which recordings are the last of their kind, of which there is another one.

    Recordings of a kind have one person, one public class and one value of the attribute to hide, such as the side of a
    watch. So adversaries learn from each value that they must infer.
    """
    firsts = own.table.iloc[np.unique(own.run, return_index=True)[1]]
    schema = own.schema
    kind = dict.fromkeys([schema.user, schema.task, schema.user if hide == "subject" else hide])
    same = firsts.groupby([*kind], sort=False)
    return np.asarray((same.cumcount(ascending=False) == 0) & (same.cumcount() > 0))


def part_windows(own: OwnRecordings, length: int, stride: int, held: np.ndarray, part: str) -> np.ndarray:
    """Return a mask of the windows to learn from (``train``) or to measure on (``test``).

    If no recording is held out whole, these are the windows within the first 75 % of their recording, and after it.
    """
    starts = own.starts(length, stride)
    of = own.run[starts]
    if held.any():
        return ~held[of] if part == "train" else held[of]
    sizes = np.bincount(own.run)
    begins = np.concatenate([[0], np.cumsum(sizes)[:-1]])
    offset, border = starts - begins[of], ((1 - TEST) * sizes).astype(int)[of]
    return offset + length <= border if part == "train" else offset >= border
