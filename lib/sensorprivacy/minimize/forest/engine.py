"""The shared forest: random forests for many subsets of one table, an order of magnitude cheaper than one by one.

It is scikit-learn's random forest, rule by rule, made for a search that trains thousands of forests on the same table
and asks each for one number.

========================  ============================================================================================
rule                      here
========================  ============================================================================================
bootstrap                 the same: n of n rows with replacement for each tree, as row weights
features tried at a node  the same: drawn without replacement; constant ones count as drawn, but drawing goes on until
                          one that is not constant has been tried or none is left
best split                the same: Gini, every cut between neighbouring distinct values, the same floating-point
                          proxy; the first of equal cuts wins, by order of drawing and then of value
threshold                 the same: midpoint of the neighbouring training values, values equal to it go left
values                    the same: float32. Different: values are tied only if equal, where scikit-learn also ties
                          values less than 1e-7 apart
stopping                  the same: a node is a leaf if it is pure or no feature can split it (no limit of depth, two
                          rows may be split)
vote                      the same: class shares of the leaves, summed in float64; the first of equal classes wins
random numbers            different: a counter-based generator keyed by (seed, tree, subset) and, for the features
                          tried, by the path to the node. A forest is thus another draw of the same kind, as
                          scikit-learn's under another seed, and no answer depends on threads, batches or order
missing values            different: refused
what is left out          trees are not stored; nodes that no held-out row reaches are not grown; held-out rows whose
                          winner the remaining trees cannot change are not asked. None of this changes an answer
========================  ============================================================================================

What makes it fast: columns are coded once into ranks shared by all subsets (`coding`); equal rows are one row; a node's
rows are kept sorted by every feature, so that nothing is sorted twice; a row that changes sides updates the Gini sums
in O(1), whatever the number of classes; rows are scored while the tree grows (`forest_kernel`).
"""

import math
import sys
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from threading import Event
from typing import Any

import numpy as np
from joblib import cpu_count
from sklearn.base import BaseEstimator
from sklearn.ensemble import RandomForestClassifier

from sensorprivacy.game.play import seeded
from sensorprivacy.minimize.engines import Held, Subset
from sensorprivacy.minimize.forest.coding import code_columns, gather
from sensorprivacy.minimize.forest.kernel import TOO_HEAVY, undecided, vote
from sensorprivacy.minimize.forest.keys import tree_keys

VERSION = 1
"""Counts the changes after which the same key gives another number; part of the model's name in a store."""

_ROWS_A_CALL = 2_000_000  # training rows times trees between two looks at whether to stop: about a second
_FREE = ("n_estimators", "max_features", "bootstrap", "random_state", "n_jobs", "verbose", "oob_score", "warm_start")


class SharedEngine:
    """Engine of the search that shares one coded table among all subsets, see `sensorprivacy.minimize.engines.Engine`.

    Memory is that of the coded table (two or four bytes a value) and, for each thread, 2 k to 6 k words a training row
    (as measured by ``bench/forest_curves.py``) and one number for each held-out row and class.

    Parameters
    ----------
    held : Held
        The rows.
    model : sklearn.ensemble.RandomForestClassifier, optional
        Default: ``RandomForestClassifier()``. `n_estimators`, `max_features` and `bootstrap` may be set.
    seed : int or None, default 42
        Seed wherever the model's ``random_state`` is unset; None draws one.
    n_threads : int, optional
        Default: the processors that this process may use, as joblib counts them. A copy in another process (a worker
        of joblib or dask) runs on one thread.

    Attributes
    ----------
    name, model, threads
        See `sensorprivacy.minimize.engines.Engine`.

    Raises
    ------
    ValueError
        If the model is no random forest, has a parameter set that this engine does not know, or a value is missing or
        infinite.

    Examples
    --------
    >>> X = np.array([[0.0, 5.0], [1.0, 5.0], [2.0, 6.0], [3.0, 5.0]])
    >>> held = Held(X, X, {"task": (np.array([0, 0, 1, 1]), np.array([0, 0, 1, 1]))})
    >>> SharedEngine(held, RandomForestClassifier(50, bootstrap=False)).score([(0,), (1,)], "task")
    [1.0, 0.75]
    """

    name = "shared"
    threads = True

    def __init__(
        self, held: Held, model: BaseEstimator | None = None, seed: int | None = 42, n_threads: int | None = None
    ) -> None:
        forest = seeded(RandomForestClassifier() if model is None else model, seed)
        _check_model(forest)
        if n_threads is not None and n_threads < 1:
            raise ValueError(f"n_threads={n_threads}: at least one thread is needed")
        self.columns = code_columns(held.train, held.test)
        self.labels = {label: _known_classes(*parts) for label, parts in held.labels.items()}
        self.n_trees = int(forest.n_estimators)
        self.max_features = forest.max_features
        self.bootstrap = bool(forest.bootstrap)
        self.seed = _seed_bits(forest.random_state)
        self.n_threads = n_threads or cpu_count()
        self.model = (
            f"shared forest {VERSION}(bootstrap={self.bootstrap}, max_features={self.max_features!r}, "
            f"n_estimators={self.n_trees})"
        )

    def score(self, subsets: Sequence[Subset], label: str) -> list[float]:
        """Return the held-out accuracy of one forest a subset.

        Parameters
        ----------
        subsets : sequence of tuple of int
            Positions of columns, in any order: a subset is a set.
        label : str
            One of the labelings of the rows.

        Returns
        -------
        list of float
            In the order of `subsets`.

        Raises
        ------
        KeyError
            If there is no such labeling.
        ValueError
            If a subset is empty, names a column twice, or names one that is not there.
        """
        asked = self.labels[label][2]
        return [float(np.mean(answer == asked)) for answer in self.predict(subsets, label)]

    def predict(self, subsets: Sequence[Subset], label: str) -> list[np.ndarray]:
        """Return the class codes that one forest a subset gives the held-out rows; parameters as of `score`.

        Parameters
        ----------
        subsets : sequence of tuple of int
            Positions of columns.
        label : str
            One of the labelings.

        Returns
        -------
        list of numpy.ndarray of int, each of shape (n_test,)
            In the order of `subsets`.
        """
        todo = [self._positions(subset) for subset in subsets]
        classes, names, _ = self.labels[label]
        stop = Event()
        if self.n_threads == 1 or len(todo) == 1:
            return [self._answer(subset, classes, names, stop) for subset in todo]
        with ThreadPoolExecutor(min(self.n_threads, len(todo))) as pool:
            try:
                return list(pool.map(lambda subset: self._answer(subset, classes, names, stop), todo))
            except BaseException:
                # the compiled code holds no lock, so Ctrl-C arrives here at once; the threads see it between two calls
                stop.set()
                pool.shutdown(cancel_futures=True)
                raise

    def _answer(self, subset: np.ndarray, classes: np.ndarray, names: np.ndarray, stop: Event) -> np.ndarray:
        rows, layout, held_groups = gather(self.columns, subset, classes)
        votes = np.zeros((int(held_groups.max()) + 1, len(names)))
        asked = np.arange(len(votes), dtype=np.uint32)
        keys = tree_keys(self.seed, subset, self.n_trees)
        candidates = tried_features(self.max_features, len(subset))
        step = int(np.clip(_ROWS_A_CALL // len(classes), 1, math.ceil(self.n_trees / 10)))
        for begin in range(0, self.n_trees, step):
            if stop.is_set():
                raise InterruptedError("the forest was stopped")
            part = keys[begin : begin + step]
            if vote(rows, layout, candidates, self.bootstrap, part, asked, votes) == TOO_HEAVY:
                raise ValueError("equal rows are too many for the shared forest to count: use engine='sklearn'")
            left = self.n_trees - begin - len(part)
            if 2 * left < self.n_trees:
                asked = undecided(votes, asked, left)
        return names[votes.argmax(axis=1)][held_groups]

    def _positions(self, subset: Subset) -> np.ndarray:
        positions = np.sort(np.asarray(subset, dtype=np.int64))
        width = len(self.columns.train)
        if positions.ndim != 1 or not len(positions) or len(np.unique(positions)) != len(positions):
            raise ValueError(f"subset {subset!r}: name at least one column, each once")
        if positions[0] < 0 or positions[-1] >= width:
            raise ValueError(f"subset {subset!r}: there are columns 0 to {width - 1}")
        return positions

    def __getstate__(self) -> dict[str, Any]:
        # who pickles it sends it to a worker process, beside others on the same processors
        return self.__dict__ | {"n_threads": 1}

    def __sizeof__(self) -> int:
        return object.__sizeof__(self) + sys.getsizeof(self.columns)


def tried_features(max_features: str | float | None, width: int) -> int:
    """Return how many features are tried at a node, by scikit-learn's rules.

    Parameters
    ----------
    max_features : {"sqrt", "log2"}, int, float or None
        As of ``RandomForestClassifier``.
    width : int
        Number of features.

    Returns
    -------
    int
        From 1 to `width`; a number of features beyond `width`, where scikit-learn fails, is `width`.

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


def _known_classes(train: np.ndarray, test: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return training classes numbered without gaps, their codes, and the codes asked for."""
    names, classes = np.unique(train, return_inverse=True)
    return classes.astype(np.int64), names, np.asarray(test)


def _check_model(forest: Any) -> None:
    if type(forest) is not RandomForestClassifier:
        raise ValueError(
            f"the shared forest is a random forest, it cannot train {type(forest).__name__}: use engine='sklearn'"
        )
    defaults = RandomForestClassifier().get_params()
    changed = [
        f"{name}={value!r}"
        for name, value in forest.get_params().items()
        if name not in _FREE and value != defaults[name]
    ]
    if changed:
        raise ValueError(f"the shared forest does not know {', '.join(changed)}: use engine='sklearn'")


def _seed_bits(seed: Any) -> np.uint64:
    if seed is None:
        return np.random.SeedSequence().generate_state(1, np.uint64)[0]
    if isinstance(seed, np.random.RandomState):
        return np.uint64(seed.randint(2**31 - 1))
    return np.uint64(int(seed) % 2**64)
