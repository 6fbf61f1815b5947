"""Score an attacker at three levels: a single window, a recording, and all published windows of a person.

Few people publish a single window. An attacker who is a little better than chance on a window adds the evidence of
hundreds of windows. A private attribute belongs to a person, so all intervals count people.
"""

from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np
import pandas as pd
from scipy.special import logsumexp

from sensorprivacy.data import Windows
from sensorprivacy.game.units import Share, share
from sensorprivacy.latent.windows import private_labels, recording_of

Level = Literal["window", "recording", "person"]
LEVELS: tuple[Level, ...] = get_args(Level)


@dataclass(frozen=True)
class Pooling:
    """Windows grouped at one level.

    Attributes
    ----------
    level : {"window", "recording", "person"}
        The level.
    groups : numpy.ndarray of int64, shape (n windows,)
        Group of each window: 0, 1, ...
    first : numpy.ndarray of int64, shape (groups,)
        Position of a window of each group.
    people : numpy.ndarray of shape (groups,)
        Person of each group.
    """

    level: Level
    groups: np.ndarray
    first: np.ndarray
    people: np.ndarray


def pooling(windows: Windows, level: Level, attribute: str) -> Pooling:
    """Group windows at a level.

    Parameters
    ----------
    windows : Windows
        The windows.
    level : {"window", "recording", "person"}
        ``person``: all windows of a person. An attribute that a person can change, such as the side on which a watch is
        worn, divides the person's windows by its value.
    attribute : str
        The private attribute, or ``subject``.

    Returns
    -------
    Pooling

    Raises
    ------
    ValueError
        If the level is unknown.
    """
    if level not in LEVELS:
        raise ValueError(f"level {level!r} is unknown: choose from {', '.join(LEVELS)}")
    groups: np.ndarray
    if level == "window":
        groups = np.arange(windows.n_windows)
    elif level == "recording":
        groups = recording_of(windows)
    else:
        keys = pd.DataFrame({"subject": windows.subject, "value": private_labels(windows, attribute).to_numpy()})
        groups = keys.groupby(list(keys), sort=False).ngroup().to_numpy()
    _, first = np.unique(groups, return_index=True)
    return Pooling(level, groups, first, windows.subject.to_numpy()[first])


def log_odds(log_posterior: np.ndarray) -> np.ndarray:
    """Return the log-odds of each class against all others, n x classes.

    They order rows as their probabilities do, also where a probability is so near 1 that it is rounded to 1.
    """
    columns = range(log_posterior.shape[1])
    others = [logsumexp(np.delete(log_posterior, code, axis=1), axis=1) for code in columns]
    return np.asarray(log_posterior - np.stack(others, axis=1))


def balanced_accuracy(right: np.ndarray, truth: np.ndarray) -> float:
    """Return the mean over classes of the share of correct predictions."""
    return float(np.mean([right[truth == code].mean() for code in np.unique(truth)]))


def share_of_people(right: np.ndarray, people: np.ndarray) -> Share:
    """Return a share of correct predictions with an interval over people."""
    return share(right, people, unit="people")
