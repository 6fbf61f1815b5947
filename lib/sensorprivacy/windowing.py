"""Cut signals of motion sensors into windows."""

from typing import Literal

import numpy as np

from sensorprivacy.checks import check_choice

AXES = tuple(f"{sensor}_{axis}" for sensor in ("rotation", "acceleration") for axis in "xyz")
MAGNITUDES = ("rotation", "acceleration")
Windowing = Literal["authors", "file"]


def window_starts(recording: np.ndarray, length: int, stride: int, windowing: Windowing = "file") -> np.ndarray:
    """Return the first sample of each window that lies within one recording.

    Parameters
    ----------
    recording : array-like of int, shape (samples,)
        Recording of each sample; the samples of a recording are consecutive.
    length, stride : int
        Samples of a window, and samples from the start of one window to the start of the next.
    windowing : {"authors", "file"}
        ``file``: the grid of starts begins again with each recording. ``authors``: one grid over all samples; a window
        counts if its first and its last but one sample belong to the same recording. This rule gives exactly the
        numbers of windows of paper 3's authors, as trials showed. The last sample of such a window may belong to the
        next recording, and there are slightly fewer windows.

    Returns
    -------
    numpy.ndarray of int64
        First sample of each window, ascending.

    Raises
    ------
    ValueError
        If `length` or `stride` is too small, or `windowing` is unknown.

    Examples
    --------
    >>> two = np.repeat([0, 1], [5, 6])
    >>> window_starts(two, length=3, stride=2).tolist()
    [0, 2, 5, 7]
    >>> window_starts(two, length=3, stride=2, windowing="authors").tolist()
    [0, 2, 6, 8]
    """
    if length < 2 or stride < 1:
        raise ValueError(f"length must be at least 2 and stride at least 1, got length {length}, stride {stride}")
    check_choice("windowing", windowing, Windowing)
    recording = np.asarray(recording)
    starts = np.arange(max(len(recording) - length + 1, 0))
    if windowing == "authors":
        return starts[(starts % stride == 0) & (recording[starts] == recording[starts + length - 2])]
    begins = np.flatnonzero(np.diff(recording, prepend=recording[:1] - 1))
    offset = np.arange(len(recording)) - np.repeat(begins, np.diff(begins, append=len(recording)))
    return starts[(offset[starts] % stride == 0) & (recording[starts] == recording[starts + length - 1])]


def cut(signal: np.ndarray, starts: np.ndarray, length: int) -> np.ndarray:
    """Return the windows of a signal that begin at the given samples.

    Parameters
    ----------
    signal : numpy.ndarray of shape (samples, channels)
        Recordings, one after the other.
    starts : numpy.ndarray of int
        First sample of each window.
    length : int
        Samples of a window.

    Returns
    -------
    numpy.ndarray of shape (n, channels, length)
        Copy of the windows, dtype of the signal.
    """
    if len(signal) < length:
        return np.zeros((0, signal.shape[1], length), dtype=signal.dtype)
    windows = np.empty((len(starts), signal.shape[1], length), dtype=signal.dtype)
    for at, channel in enumerate(np.ascontiguousarray(signal.T)):  # copies whole windows, not single samples
        windows[:, at] = np.lib.stride_tricks.sliding_window_view(channel, length)[starts]
    return windows


def magnitudes(signal: np.ndarray) -> np.ndarray:
    """Return the Euclidean norms of rotation rate and of acceleration, shape (samples, 2), from the six `AXES`."""
    return np.linalg.norm(signal.reshape(-1, 2, 3), axis=2)
