"""The shared forest: train random forests for many subsets of one table, about ten times faster than one by one.

It follows the rules of scikit-learn's random forest. It is made for a search that trains thousands of forests on one
table and needs one accuracy from each.

========================  ============================================================================================
rule                      here
========================  ============================================================================================
bootstrap                 same: n of n rows with replacement for each tree, as row weights
features tried at a node  same: drawn without replacement; constant ones count as drawn, but drawing continues until
                          one that is not constant has been tried or none remains
best split                same: Gini, every cut between neighbouring distinct values, the same floating-point proxy;
                          the first of equal cuts wins, by order of drawing and then of value
threshold                 same: midpoint of the neighbouring training values; values equal to it go left
values                    same: float32. Different: only equal values are ties; scikit-learn also ties values less
                          than 1e-7 apart
stopping                  same: a node is a leaf if it is pure or no feature can split it (no limit on the depth, two
                          rows may be split)
vote                      same: class shares of the leaves, summed in float64; the first of equal classes wins
random numbers            different: a counter-based generator keyed by (seed, tree, subset) and, for the features
                          tried, by the path to the node. So a forest is like scikit-learn's with another seed, and
                          no result depends on threads, batches or order
missing values            different: not accepted
omitted work              trees are not stored; nodes without held-out rows are not grown; held-out rows whose
                          prediction cannot change any more are not evaluated. None of this changes a result
========================  ============================================================================================

It is fast for these reasons. Columns are coded once into ranks that all subsets share (`coding`). Equal rows are one
row. The rows of a node stay sorted by every feature, so nothing is sorted twice. A row that changes sides updates the
Gini sums in O(1), for any number of classes. Held-out rows are scored while the tree grows (`kernel`).
"""

import math
import sys
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from threading import Event
from typing import Any, TypeVar

import numpy as np
from joblib import cpu_count
from sklearn.base import BaseEstimator
from sklearn.ensemble import RandomForestClassifier

from sensorprivacy.game.play import seeded
from sensorprivacy.minimize.engine_protocol import EngineData, Glimpse, Subset
from sensorprivacy.minimize.forest.coding import code_columns, most_groups, subset_rows
from sensorprivacy.minimize.forest.kernel import TOO_HEAVY, undecided, vote
from sensorprivacy.minimize.forest.primitives import tree_keys

VERSION = 1
"""Increased by every change that changes results. Part of the key of stored results."""

T = TypeVar("T")

_ROWS_A_CALL = 2_000_000  # training rows times trees between two checks for an interruption: about a second
_FREE = ("n_estimators", "max_features", "bootstrap", "random_state", "n_jobs", "verbose", "oob_score", "warm_start")


class SharedEngine:
    """Engine that shares one coded table among all subsets, see `sensorprivacy.minimize.engine_protocol.Engine`.

    It needs memory for the coded table (two or four bytes per value). Each thread needs 2 k to 6 k words per training
    row (as measured by ``bench/forest_curves.py``) and one number for each held-out row and class.

    Parameters
    ----------
    data : EngineData
        Training and held-out rows.
    model : sklearn.ensemble.RandomForestClassifier, optional
        Default: ``RandomForestClassifier()``. `n_estimators`, `max_features` and `bootstrap` may be set.
    seed : int or None, default 42
        Used if the model's ``random_state`` is not set. None draws a seed.
    n_threads : int, optional
        Default: the number of processors that this process may use. A copy in another process (a worker of joblib or
        dask) runs on one thread.

    Raises
    ------
    ValueError
        If the model is no random forest or sets a parameter that this engine does not support, or if a value is
        missing or infinite.

    Examples
    --------
    >>> X = np.array([[0.0, 5.0], [1.0, 5.0], [2.0, 6.0], [3.0, 5.0]])
    >>> data = EngineData(X, X, {"task": (np.array([0, 0, 1, 1]), np.array([0, 0, 1, 1]))})
    >>> SharedEngine(data, RandomForestClassifier(50, bootstrap=False)).score([(0,), (1,)], "task")
    [1.0, 0.75]
    """

    name = "shared"
    threads = True

    def __init__(
        self, data: EngineData, model: BaseEstimator | None = None, seed: int | None = 42, n_threads: int | None = None
    ) -> None:
        forest = seeded(RandomForestClassifier() if model is None else model, seed)
        if (why := cannot_train(forest)) is not None:
            raise ValueError(f"the shared forest {why}: use engine='sklearn'")
        if n_threads is not None and n_threads < 1:
            raise ValueError(f"n_threads={n_threads}: use at least one thread")
        self.columns = code_columns(data.train, data.test)
        known = {label: np.unique(train, return_inverse=True) for label, (train, _) in data.labels.items()}
        # the training classes numbered without gaps, the code of each number, and the held-out codes
        self.labels = {
            label: (at.astype(np.int64), names, data.labels[label][1]) for label, (names, at) in known.items()
        }
        self.most = {label: most_groups(self.columns, classes) for label, (classes, *_) in self.labels.items()}
        self.n_trees = int(forest.n_estimators)
        self.max_features = forest.max_features
        self.bootstrap = bool(forest.bootstrap)
        self.seed = _seed_bits(forest.random_state)
        self.n_threads = n_threads or cpu_count()
        self.model = (
            f"shared forest {VERSION}(bootstrap={self.bootstrap}, max_features={self.max_features!r}, "
            f"n_estimators={self.n_trees}, seed={self.seed})"
        )

    def score(self, subsets: Sequence[Subset], label: str) -> list[float]:
        """Return the held-out accuracy of one forest per subset; parameters as in `predict`."""
        true = self.labels[label][2]
        return [float(np.mean(predicted == true)) for predicted in self.predict(subsets, label)]

    def predict(self, subsets: Sequence[Subset], label: str) -> list[np.ndarray]:
        """Predict the classes of the held-out rows with one forest per subset.

        Parameters
        ----------
        subsets : sequence of tuple of int
            Positions of columns. The order of the columns of a subset does not matter.
        label : {"task", "users"}
            The label to predict.

        Returns
        -------
        list of numpy.ndarray of int, each of shape (n_test,)
            Class codes, in the order of `subsets`.

        Raises
        ------
        KeyError
            If there is no such label.
        ValueError
            If a subset is empty, repeats a column, or has a column that does not exist.
        """
        names = self.labels[label][1]

        def answer(subset: np.ndarray, stop: Event) -> np.ndarray:
            votes, held_groups = self._votes(subset, label, self.n_trees, stop)
            return names[votes.argmax(axis=1)][held_groups]

        return self._each(answer, subsets)

    def glimpse(self, subsets: Sequence[Subset], label: str, n_trees: int) -> list[Glimpse]:
        """Return what the first trees of each forest show, see `sensorprivacy.minimize.engine_protocol.Glimpse`.

        Parameters
        ----------
        subsets, label
            As in `predict`.
        n_trees : int
            The first trees of the forests that `score` trains: the random numbers of a tree depend on the seed, the
            tree and the subset only.

        Returns
        -------
        list of Glimpse
            In the order of `subsets`. The votes are not kept: for thousands of subsets they need gigabytes.
        """
        _, names, true = self.labels[label]
        seen = np.searchsorted(names, true).clip(max=len(names) - 1)
        known = names[seen] == true

        def answer(subset: np.ndarray, stop: Event) -> Glimpse:
            votes, held_groups = self._votes(subset, label, n_trees, stop)
            right = names[votes.argmax(axis=1)][held_groups] == true
            votes /= n_trees
            agreed = np.where(known, votes[held_groups, seen], 0.0)
            return Glimpse(float(right.mean()), float(agreed.mean()), float(votes.max(axis=1)[held_groups].mean()))

        return self._each(answer, subsets)

    def _each(self, answer: Callable[[np.ndarray, Event], T], subsets: Sequence[Subset]) -> list[T]:
        """Return the answers for all subsets, computed on the engine's threads."""
        todo = [self._positions(subset) for subset in subsets]
        stop = Event()
        if self.n_threads == 1 or len(todo) == 1:
            return [answer(subset, stop) for subset in todo]
        with ThreadPoolExecutor(min(self.n_threads, len(todo))) as pool:
            try:
                return list(pool.map(lambda subset: answer(subset, stop), todo))
            except BaseException:
                # compiled code holds no lock, so Ctrl-C arrives here at once; threads see it between two calls
                stop.set()
                pool.shutdown(cancel_futures=True)
                raise

    def _votes(self, subset: np.ndarray, label: str, n_trees: int, stop: Event) -> tuple[np.ndarray, np.ndarray]:
        """Return the votes of the first trees on groups of equal held-out rows, and the group of each row.

        If these are all trees, rows are left out as soon as their predicted class cannot change.
        """
        classes, names, _ = self.labels[label]
        rows, layout, held_groups = subset_rows(self.columns, subset, classes, self.most[label])
        votes = np.zeros((int(held_groups.max()) + 1, len(names)))
        asked = np.arange(len(votes), dtype=np.uint32)
        keys = tree_keys(self.seed, subset, n_trees)
        candidates = tried_features(self.max_features, len(subset))
        step = int(np.clip(_ROWS_A_CALL // len(classes), 1, math.ceil(self.n_trees / 10)))
        for begin in range(0, n_trees, step):
            if stop.is_set():
                raise InterruptedError("the forest was stopped")
            part = keys[begin : begin + step]
            if vote(rows, layout, candidates, self.bootstrap, part, asked, votes) == TOO_HEAVY:
                raise ValueError("too many equal rows for the shared forest: use engine='sklearn'")
            left = n_trees - begin - len(part)
            if n_trees == self.n_trees and 2 * left < n_trees:
                asked = undecided(votes, asked, left)
        return votes, held_groups

    def _positions(self, subset: Subset) -> np.ndarray:
        positions = np.sort(np.asarray(subset, dtype=np.int64))
        width = len(self.columns.train)
        if positions.ndim != 1 or not len(positions) or len(np.unique(positions)) != len(positions):
            raise ValueError(f"subset {subset!r}: give at least one column, each once")
        if positions[0] < 0 or positions[-1] >= width:
            raise ValueError(f"subset {subset!r}: the columns are 0 to {width - 1}")
        return positions

    def __getstate__(self) -> dict[str, Any]:
        # pickled copies run in worker processes, which share the same processors
        return self.__dict__ | {"n_threads": 1}

    def __sizeof__(self) -> int:
        return object.__sizeof__(self) + sys.getsizeof(self.columns)


def tried_features(max_features: str | float | None, width: int) -> int:
    """Return the number of features tried at a node, by scikit-learn's rules.

    Parameters
    ----------
    max_features : {"sqrt", "log2"}, int, float or None
        As in ``RandomForestClassifier``.
    width : int
        Number of features.

    Returns
    -------
    int
        From 1 to `width`. An integer above `width`, for which scikit-learn fails, gives `width`.

    Examples
    --------
    >>> [tried_features("sqrt", width) for width in (1, 3, 4, 8, 9, 10)]
    [1, 1, 2, 2, 3, 3]
    """
    if max_features is None:
        return width
    if max_features == "sqrt":
        return max(1, int(math.sqrt(width)))
    if max_features == "log2":
        return max(1, int(math.log2(width)))
    if isinstance(max_features, float):
        return max(1, int(max_features * width))
    return min(int(max_features), width)


def cannot_train(forest: Any) -> str | None:
    """Return why the shared forest cannot train a model, such as "does not support max_depth=8"; None if it can."""
    if type(forest) is not RandomForestClassifier:
        return f"cannot train {type(forest).__name__}"
    defaults = RandomForestClassifier().get_params()
    set_by_user = {name: value for name, value in forest.get_params().items() if name not in _FREE}
    changed = [f"{name}={value!r}" for name, value in set_by_user.items() if value != defaults[name]]
    return f"does not support {', '.join(changed)}" if changed else None


def _seed_bits(seed: Any) -> np.uint64:
    if seed is None:
        return np.random.SeedSequence().generate_state(1, np.uint64)[0]
    if isinstance(seed, np.random.RandomState):
        return np.uint64(seed.randint(2**31 - 1))
    return np.uint64(int(seed) % 2**64)
