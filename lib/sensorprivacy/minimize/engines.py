"""Engines by name: scikit-learn's models, or the faster shared forest."""

import inspect
import sys
from collections.abc import Sequence
from typing import Any

import joblib
import numpy as np
import sklearn
from joblib import effective_n_jobs
from sklearn.base import BaseEstimator
from sklearn.ensemble import RandomForestClassifier

from sensorprivacy.game.play import fit_predict, seeded
from sensorprivacy.minimize.engine_protocol import Engine, EngineData, Glimpse, Subset
from sensorprivacy.minimize.settings import ENGINES

_SILENT = ("n_jobs", "verbose")  # parameters that change no result


class SklearnEngine:
    """Reference engine: fits a clone of any scikit-learn classifier to each subset.

    Parameters
    ----------
    data : EngineData
        Training and held-out rows.
    model : scikit-learn classifier, optional
        Default: ``RandomForestClassifier()``.
    seed : int or None
        Used wherever the model's ``random_state`` is not set.
    """

    name = "sklearn"
    threads = False

    def __init__(self, data: EngineData, model: BaseEstimator | None = None, seed: int | None = 42) -> None:
        self.data = data
        self.player = seeded(RandomForestClassifier() if model is None else model, seed)
        self.n_threads = effective_n_jobs(getattr(self.player, "n_jobs", None))
        version = ".".join(sklearn.__version__.split(".")[:2])
        self.model = f"{describe_model(self.player)} scikit-learn {version}"

    def score(self, subsets: Sequence[Subset], label: str) -> list[float]:
        """Return the accuracy of each subset on the held-out rows, see `Engine.score`."""
        true = self.data.labels[label][1]
        return [float(np.mean(predicted == true)) for predicted in self.predict(subsets, label)]

    def predict(self, subsets: Sequence[Subset], label: str) -> list[np.ndarray]:
        """Return the predicted codes of the held-out rows, see `Engine.predict`."""
        train, test, known = self.data.train, self.data.test, self.data.labels[label][0]
        return [fit_predict(self.player, train[:, chosen], known, test[:, chosen]) for chosen in map(list, subsets)]

    def __sizeof__(self) -> int:
        return object.__sizeof__(self) + sys.getsizeof(self.data)


def make_engine(
    engine: str | Engine, data: EngineData, model: BaseEstimator | None = None, seed: int | None = 42
) -> Engine:
    """Create an engine for the given rows.

    Parameters
    ----------
    engine : {"sklearn", "shared"} or Engine
        An engine object is returned as it is.
    data : EngineData
        Training and held-out rows.
    model : scikit-learn classifier, optional
        Model class of the task model and the adversary.
    seed : int or None
        Seed of both models.

    Returns
    -------
    Engine

    Raises
    ------
    ValueError
        If the name is unknown, or the engine cannot train this model.
    """
    if not isinstance(engine, str):
        return engine
    if engine == "sklearn":
        return SklearnEngine(data, model, seed)
    if engine == "shared":
        # imported here, because compiling with Numba takes seconds that scikit-learn's engine does not need
        from sensorprivacy.minimize.forest.engine import SharedEngine

        return SharedEngine(data, model, seed)
    raise ValueError(f"unknown engine {engine!r}: choose from {', '.join(ENGINES)}")


def describe_model(model: Any) -> str:
    """Describe an estimator by its class and all parameters that change its results.

    Parameters
    ----------
    model : scikit-learn estimator
        Nested estimators are described by their class and their own parameters.

    Returns
    -------
    str
        One line. Equal for two models if and only if their configuration is equal, also in another process: arrays are
        described by a digest of their content, functions by their name and a digest of their code.
    """
    shown = {
        name: type(value).__name__ if isinstance(value, BaseEstimator) else _described(value)
        for name, value in sorted(model.get_params(deep=True).items())
        if name.split("__")[-1] not in _SILENT
    }
    return f"{type(model).__name__}({', '.join(f'{name}={value}' for name, value in shown.items())})"


def _described(value: Any) -> str:
    if isinstance(value, (bool, int, float, str, type(None))):
        return repr(value)
    if isinstance(value, (tuple, list)):
        return f"{type(value).__name__}({', '.join(map(_described, value))})"
    if inspect.isfunction(value):
        parts = (value.__code__.co_code, value.__code__.co_consts, value.__code__.co_names, value.__defaults__)
        closed = [cell.cell_contents for cell in value.__closure__ or ()]
        return f"{value.__qualname__} {joblib.hash((repr(parts[1:3]), parts[0], parts[3], closed))}"
    return f"{type(value).__name__} {joblib.hash(value)}"


class NoAdversary:
    """Engine without users: the identifiability of a subset is its share of the searched features."""

    def __init__(self, engine: Engine, n_features: int) -> None:
        self.name = f"{engine.name}, no adversary among {n_features} features"
        self.model, self.threads, self.predict = engine.model, engine.threads, engine.predict
        self.engine, self.n_features, self.n_trees = engine, n_features, getattr(engine, "n_trees", 0)
        self.n_threads = getattr(engine, "n_threads", 1)

    def glimpse(self, subsets: Sequence[Subset], label: str, n_trees: int) -> list[Glimpse]:
        """Return what the first trees show. For users nothing is unknown."""
        if label == "users":
            return [Glimpse(cost, cost, cost) for cost in self.score(subsets, label)]
        return self.engine.glimpse(subsets, label, n_trees)  # type: ignore[attr-defined]

    def score(self, subsets: Sequence[Subset], label: str) -> list[float]:
        """Return the accuracy of each subset, or for users its share of the searched features."""
        if label == "users":
            return [len(subset) / self.n_features for subset in subsets]
        return self.engine.score(subsets, label)
