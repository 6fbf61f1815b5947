"""What the search expects of an engine, and the data that it gives to one."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple, Protocol

import numpy as np
import pandas as pd

from sensorprivacy.data import Problem
from sensorprivacy.game.splits import Split
from sensorprivacy.game.units import Difference, Share, difference, share

LABELS = ("task", "users")
"""The two labels that models are trained to predict."""

MEASURES = {"accuracy": "task", "identifiability": "users"}
"""The label whose prediction each measure counts."""

Subset = tuple[int, ...]
"""Positions of columns in the problem's features, ascending."""


@dataclass(frozen=True, eq=False)
class EngineData:
    """Training and held-out rows as arrays, with labels as integer codes.

    Attributes
    ----------
    train, test : numpy.ndarray of float, shapes (n_train, d) and (n_test, d)
        All columns of the problem. An engine picks the columns of a subset.
    labels : dict of str to (numpy.ndarray of int, numpy.ndarray of int)
        Class codes of the training and the held-out rows, for ``"task"`` and ``"users"``. Codes follow the sorted
        order of the classes of all rows, as in scikit-learn. A held-out class can be absent from training.
    clusters : numpy.ndarray of int, optional
        Group of each held-out row, if the split keeps groups whole. Intervals and tests then count groups.
    """

    train: np.ndarray
    test: np.ndarray
    labels: dict[str, tuple[np.ndarray, np.ndarray]]
    clusters: np.ndarray | None = None

    def measure(self, label: str, predicted: np.ndarray) -> Share:
        """Return the accuracy of predictions on the held-out rows of classes seen in training, with its interval."""
        seen, right = self.right(label, predicted)
        clusters, unit = self._units(seen)
        return share(right[seen], clusters, unit=unit)

    def right(self, label: str, predicted: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return for each held-out row whether its class was seen in training, and whether it is predicted."""
        known, true = self.labels[label]
        return np.isin(true, known), predicted == true

    def prior(self, label: str) -> float:
        """Return the accuracy of always predicting the most frequent training class, on the same rows as `measure`."""
        known, true = self.labels[label]
        seen = true[np.isin(true, known)]
        return float(np.mean(seen == np.bincount(known).argmax())) if len(seen) else math.nan

    def compare(self, label: str, first: np.ndarray, second: np.ndarray) -> Difference:
        """Return the accuracy of the first predictions minus that of the second, on the same rows."""
        seen, right = self.right(label, first)
        clusters, unit = self._units(seen)
        ours = right[seen]
        theirs = ours if first is second else self.right(label, second)[1][seen]
        return difference(ours, theirs, clusters, unit=unit)

    def _units(self, rows: np.ndarray) -> tuple[np.ndarray | None, str]:
        return (None, "rows") if self.clusters is None else (self.clusters[rows], "groups")

    def __sizeof__(self) -> int:
        # Dask sends large arguments once to each worker, instead of with every task. It must know that this is large.
        return object.__sizeof__(self) + self.train.nbytes + self.test.nbytes


class Glimpse(NamedTuple):
    """What the first trees of a forest show about the whole forest, as fractions of the held-out rows.

    Attributes
    ----------
    accuracy : float
        Accuracy of these trees together.
    agreement : float
        Mean share of the votes for the true class: about the accuracy of one tree.
    confidence : float
        Mean share of the votes for the predicted class.
    """

    accuracy: float
    agreement: float
    confidence: float


class Engine(Protocol):
    """Trains one model per subset of columns and measures its accuracy.

    Attributes
    ----------
    name : str
        Part of the key of stored results, together with `model`. Engines with different results need different names.
    model : str
        Description of the model: everything that changes its results, except the seed.
    threads : bool
        Whether `score` uses several threads itself. The search then gives it large batches in one process, and
        starts no joblib workers unless `n_jobs` asks for them.
    """

    name: str
    model: str
    threads: bool

    def score(self, subsets: Sequence[Subset], label: str) -> list[float]:
        """Return the held-out accuracy of one model per subset, trained to predict `label`.

        The score of a subset depends on the data, the model, the seed, the label and the subset only. It does not
        depend on the batch, its order or the number of threads.
        """
        ...

    def predict(self, subsets: Sequence[Subset], label: str) -> list[np.ndarray]:
        """Return the predicted codes of the held-out rows, of the models whose accuracy `score` returns."""
        ...


def engine_data(problem: Problem, split: Split, part: str = "test") -> EngineData:
    """Convert a problem and a split to the arrays that engines read.

    Parameters
    ----------
    problem : Problem
        Features, task labels and users.
    split : Split
        Training and held-out rows.
    part : {"test", "validation"}
        Held-out rows that models are evaluated on.

    Returns
    -------
    EngineData

    Raises
    ------
    ValueError
        If the training rows have only one class of a label, or the split has no such part.
    """
    rows, judged = split.train, split.part(part)
    matrix = problem.filled(rows).features.to_numpy(dtype=float)
    labels = {}
    for label, series in (("task", problem.task), ("users", problem.users)):
        codes = pd.factorize(series, sort=True)[0]
        if len(np.unique(codes[rows])) < 2:
            raise ValueError(f"{label}: the training rows have only one class, but a model needs at least two")
        labels[label] = (codes[rows], codes[judged])
    return EngineData(matrix[rows], matrix[judged], labels, split.clusters(judged))
