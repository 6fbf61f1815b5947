"""Apply a strategy to a problem: choose, rewrite or keep its columns, and return the released values."""

import inspect
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from sklearn.base import clone

from sensorprivacy.data import Problem


@dataclass(frozen=True)
class Release:
    """Released values of all rows, and the raw values of the same columns if these exist."""

    matrix: np.ndarray
    raw: np.ndarray | None
    strategy: str

    @property
    def same_as_raw(self) -> bool:
        """Whether columns were only dropped, not rewritten."""
        return self.raw is not None and np.array_equal(self.matrix, self.raw)


def release(problem: Problem, strategy: Any, train: np.ndarray) -> Release:
    """Return the release of a strategy, fitted to the training rows; see `play` for the strategies."""
    problem = problem.filled(train)
    features = problem.features
    if hasattr(strategy, "fit") and hasattr(strategy, "transform"):
        return _transformed(problem, strategy, train)
    if strategy is None:
        names, words = list(features.columns), f"all {problem.n_features} features"
    elif isinstance(strategy, Sequence | np.ndarray | pd.Index) and not isinstance(strategy, str):
        names = list(strategy)
        words = f"{len(names)} features: {', '.join(map(str, names))}"
    else:
        raise TypeError(
            f"strategy must be None, a list of columns or an object with fit and transform, got {strategy!r}"
        )
    if unknown := [name for name in names if name not in features.columns]:
        raise KeyError(f"no such feature: {', '.join(map(repr, unknown))}; {problem.name} has {list(features.columns)}")
    if not names:
        raise ValueError("no feature is released: keep at least one")
    values = features[names].to_numpy(dtype=float)
    return Release(values, values, words)


def _transformed(problem: Problem, strategy: Any, train: np.ndarray) -> Release:
    features, fitted = problem.features, clone(strategy)
    extra = {"users": problem.users.iloc[train]} if "users" in inspect.signature(fitted.fit).parameters else {}
    fitted.fit(features.iloc[train], problem.task.iloc[train], **extra)
    answer = fitted.transform(features)
    names = list(answer.columns) if isinstance(answer, pd.DataFrame) else []
    if not names and hasattr(fitted, "get_feature_names_out"):
        names = list(fitted.get_feature_names_out())
    values = np.asarray(answer.toarray() if hasattr(answer, "toarray") else answer, dtype=float)
    if values.ndim != 2 or len(values) != problem.n_records or values.shape[1] == 0:
        raise ValueError(
            f"{type(strategy).__name__}.transform must return {problem.n_records} rows and at least one column, "
            f"got shape {values.shape}"
        )
    known = bool(names) and len(names) == values.shape[1] and all(name in features.columns for name in names)
    return Release(values, features[names].to_numpy(dtype=float) if known else None, repr(strategy))
