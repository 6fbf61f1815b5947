"""Sliding windows over recordings, cut without a Python loop over windows."""

from typing import Literal, get_args

import numpy as np

Windowing = Literal["authors", "file"]


def window_starts(recording: np.ndarray, length: int, stride: int, windowing: Windowing = "file") -> np.ndarray:
    """Return where the windows begin that lie in one recording.

    Parameters
    ----------
    recording : array-like of int, shape (samples,)
        Recording of each sample; the samples of a recording stand together.
    length, stride : int
        Samples of a window, and from the start of one to the start of the next.
    windowing : {"authors", "file"}
        ``file``: the grid of starts begins anew with each recording. ``authors``: one grid over all samples, and a
        window counts when its first and its last but one sample are of one recording. Found by trial: that gives the
        numbers of windows of paper 3's authors exactly, their very last sample does not. So the last sample of such a
        window may be the first of the next recording, and a few windows fewer are found.

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
        raise ValueError(f"a window needs 2 samples and a stride of 1 at least, got length {length}, stride {stride}")
    if windowing not in get_args(Windowing):
        raise ValueError(f"windowing {windowing!r} is unknown, one of {', '.join(get_args(Windowing))}")
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
    return np.lib.stride_tricks.sliding_window_view(signal, length, axis=0)[starts]
