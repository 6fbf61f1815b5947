"""Gradient-boosted trees on statistics of a window: a reader that shares no network with any anonymizer."""

from typing import Literal

import numpy as np
from sklearn.ensemble import HistGradientBoostingClassifier

from sensorprivacy.readers.statistics import window_statistics


class Trees:
    """A model of a window's class that learns from 15 statistics of each channel and the channels' correlation.

    Parameters
    ----------
    seed : int
        Seed of the trees.

    Attributes
    ----------
    kind : {"trees"}
        Name in tables, as of `classifiers.Classifier`.
    """

    kind: Literal["trees"] = "trees"

    def __init__(self, seed: int = 0) -> None:
        self.seed = seed

    def fit(self, values: np.ndarray, codes: np.ndarray) -> "Trees":
        """Learn from windows, n x channels x length, and their classes."""
        self.model_ = HistGradientBoostingClassifier(random_state=self.seed, max_iter=60)
        self.model_.fit(statistics(values), codes)
        return self

    def predict(self, values: np.ndarray) -> np.ndarray:
        """Return the most probable class of each window, int64."""
        return np.asarray(self.model_.predict(statistics(values)))


def statistics(values: np.ndarray) -> np.ndarray:
    """Return statistics of windows, n x features."""
    names = tuple(f"channel {at}" for at in range(values.shape[1]))
    return window_statistics(values, names, 50, correlated=names).to_numpy()
