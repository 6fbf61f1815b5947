"""What trains the two models of a subset: the seam between the search and the forests."""

import importlib
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
import pandas as pd
import sklearn
from sklearn.base import BaseEstimator
from sklearn.ensemble import RandomForestClassifier

from sensorprivacy.datasets.types import Problem
from sensorprivacy.game.play import fit_predict, seeded
from sensorprivacy.game.splits import Split

LABELS = ("task", "users")
"""The two labelings that every subset is trained for."""

ENGINES = ("sklearn", "shared")
"""Engines known by name."""

Subset = tuple[int, ...]
"""Positions of columns in the problem's features, ascending."""


@dataclass(frozen=True, eq=False)
class Held:
    """Training and held-out rows as arrays, labels as codes.

    Attributes
    ----------
    train, test : numpy.ndarray of float, shapes (n_train, d) and (n_test, d)
        All columns of the problem; an engine picks those of a subset.
    labels : dict of str to (numpy.ndarray of int, numpy.ndarray of int)
        For ``"task"`` and ``"users"`` the class codes of both parts. Codes follow the sorted order of the classes of
        all rows, as scikit-learn orders them; a code of the test part need not occur in training.
    """

    train: np.ndarray
    test: np.ndarray
    labels: dict[str, tuple[np.ndarray, np.ndarray]]

    def __sizeof__(self) -> int:
        # dask sends an argument once to each worker instead of with every task only if it knows that it is large
        return object.__sizeof__(self) + self.train.nbytes + self.test.nbytes


class Engine(Protocol):
    """What the search asks of an engine.

    Attributes
    ----------
    name : str
        Stands in the store's key with `model`: two engines whose numbers differ need different names.
    model : str
        The model in words, with everything that its numbers depend on but the seed.
    threads : bool
        Whether `score` runs its subsets on threads of its own. The search then hands it large batches in one
        process, and leaves joblib alone unless it is asked for workers.
    """

    name: str
    model: str
    threads: bool

    def score(self, subsets: Sequence[Subset], label: str) -> list[float]:
        """Return the held-out accuracy of one model a subset, trained for `label`.

        The answer for a subset may depend on nothing but the data, the model, the seed, the label and the subset: not
        on the batch, its order or the number of threads.
        """
        ...


class SklearnEngine:
    """Reference engine: any scikit-learn classifier, cloned and fitted to each subset.

    Parameters
    ----------
    held : Held
        The rows.
    model : scikit-learn classifier, optional
        Default: ``RandomForestClassifier()``.
    seed : int or None
        Given to the model wherever its ``random_state`` is unset.
    """

    name = "sklearn"
    threads = False

    def __init__(self, held: Held, model: BaseEstimator | None = None, seed: int | None = 42) -> None:
        self.held = held
        self.player = seeded(RandomForestClassifier() if model is None else model, seed)
        version = ".".join(sklearn.__version__.split(".")[:2])
        self.model = f"{describe_model(self.player)} scikit-learn {version}"

    def score(self, subsets: Sequence[Subset], label: str) -> list[float]:
        """Return the accuracy of each subset on the held-out rows, see `Engine.score`."""
        known, asked = self.held.labels[label]
        scores = []
        for subset in subsets:
            columns = list(subset)
            said = fit_predict(self.player, self.held.train[:, columns], known, self.held.test[:, columns])
            scores.append(float(np.mean(said == asked)))
        return scores

    def __sizeof__(self) -> int:
        return object.__sizeof__(self) + sys.getsizeof(self.held)


def hold(problem: Problem, split: Split, part: str = "test") -> Held:
    """Return the rows of a split as the engines read them.

    Parameters
    ----------
    problem : Problem
        Features, task labels and users.
    split : Split
        Which rows are learnt from.
    part : {"test", "validation"}
        Which rows are judged on.

    Returns
    -------
    Held

    Raises
    ------
    ValueError
        If a labeling has one class only in the training rows, or the split has no such part.
    """
    rows, judged = split.train, split.part(part)
    matrix = problem.features.to_numpy(dtype=float)
    labels = {}
    for label, series in (("task", problem.task), ("users", problem.users)):
        codes = pd.factorize(series, sort=True)[0]
        if len(np.unique(codes[rows])) < 2:
            raise ValueError(f"{label}: the training rows hold one class only, there is nothing to tell apart")
        labels[label] = (codes[rows], codes[judged])
    return Held(matrix[rows], matrix[judged], labels)


def make_engine(engine: str | Engine, held: Held, model: BaseEstimator | None = None, seed: int | None = 42) -> Engine:
    """Return an engine over the rows.

    Parameters
    ----------
    engine : str or Engine
        A name of `ENGINES`, or an engine that is ready.
    held : Held
        The rows.
    model : scikit-learn classifier, optional
        Model class of both players.
    seed : int or None
        Seed of both models.

    Returns
    -------
    Engine

    Raises
    ------
    ValueError
        If there is no engine of this name, or it cannot train this model.
    """
    if not isinstance(engine, str):
        return engine
    if engine == "sklearn":
        return SklearnEngine(held, model, seed)
    if engine == "shared":
        # imported when asked for: numba compiles, and a search by scikit-learn should not wait for it
        forest = importlib.import_module("sensorprivacy.minimize.forest.engine")
        made: Engine = forest.SharedEngine(held, model, seed)
        return made
    raise ValueError(f"unknown engine {engine!r}: choose from {', '.join(ENGINES)}")


def describe_model(model: Any) -> str:
    """Return the class and every parameter of an estimator in one line, less those that change no number.

    Parameters
    ----------
    model : scikit-learn estimator
        Nested estimators are described by their class and own parameters.

    Returns
    -------
    str
        Equal for two models if and only if they are configured alike.
    """
    silent = ("n_jobs", "verbose", "random_state")
    shown = {
        name: type(value).__name__ if isinstance(value, BaseEstimator) else repr(value)
        for name, value in sorted(model.get_params(deep=True).items())
        if name.split("__")[-1] not in silent
    }
    return f"{type(model).__name__}({', '.join(f'{name}={value}' for name, value in shown.items())})"
