"""Play the re-identification game: a provider releases data, a task model uses it, an adversary identifies users."""

import inspect
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from joblib import parallel_config
from sklearn.base import BaseEstimator, clone
from sklearn.ensemble import RandomForestClassifier

from sensorprivacy.data import Problem
from sensorprivacy.game.measuring import measure, member
from sensorprivacy.game.outcome import Measure, Outcome, nothing_known
from sensorprivacy.game.splits import Split, default_split


def play(
    problem: Problem,
    strategy: Any = None,
    *,
    model: BaseEstimator | None = None,
    split: Split | None = None,
    part: str = "test",
    seed: int | None = 42,
) -> Outcome:
    """Measure one strategy: release data, train both models on the training rows, score them on held-out rows.

    Parameters
    ----------
    problem : Problem
        Features, task labels and users.
    strategy : None, sequence of column names, or transformer
        The provider's strategy. None releases every feature. A sequence releases the named columns. An object with
        ``fit`` and ``transform`` is cloned, fitted to the training rows (with ``users=`` if its fit accepts them) and
        releases the result of its ``transform``, row by row.
    model : scikit-learn classifier, optional
        Model class of *both* the task and the adversary (Assumption 1, model class parity). A clone is fitted to each
        label. Default: ``RandomForestClassifier()``, 100 trees.
    split : Split, optional
        Default: 70/30, drawn with `seed`: by whole groups if the problem has groups, else by rows.
    part : {"test", "validation"}
        The held-out part of the split to score on.
    seed : int or None, default 42
        Given to the model wherever its ``random_state`` is unset.

    Returns
    -------
    Outcome

    Raises
    ------
    KeyError
        If a named column does not exist.
    ValueError
        If the training rows have only one class of a label, or no column or a wrong number of rows is released.
    TypeError
        If `strategy` is none of the above.

    References
    ----------
    Paper 1, section 3.1 and Definition 1.

    Examples
    --------
    >>> from sensorprivacy import example_problem
    >>> from sklearn.ensemble import RandomForestClassifier
    >>> problem, forest = example_problem(), RandomForestClassifier(10)
    >>> everything, one = play(problem, model=forest), play(problem, ["task_only"], model=forest)
    >>> everything.identifiability > one.identifiability
    True
    """
    split = split or default_split(problem, seed=seed)
    train, held = split.train, split.part(part)
    public = release(problem, strategy, train)
    model = seeded(RandomForestClassifier() if model is None else model, seed)
    measures: dict[str, Any] = {}
    for name, labels in (("task", problem.task.to_numpy()), ("adversary", problem.users.to_numpy())):
        measured = _measure(model, public.matrix, public.matrix, labels, split, held)
        measures |= {name: measured, f"naive_{name}": measured if public.same_as_raw else None}
        if public.raw is not None and not public.same_as_raw:
            measures[f"naive_{name}"] = _measure(model, public.raw, public.matrix, labels, split, held)
    return Outcome(
        **measures,
        n_features=public.matrix.shape[1],
        n_train=len(train),
        n_test=len(held),
        problem=problem.name,
        strategy=public.strategy,
        model=repr(model),
        split=split.how,
        part=part,
        seed=seed,
    )


def seeded(model: Any, seed: int | None) -> Any:
    """Return an unfitted clone of `model` with every unset ``random_state`` in it set to `seed`.

    Parameters
    ----------
    model : scikit-learn estimator
        It is not changed.
    seed : int or None
        None leaves the estimator unseeded.

    Returns
    -------
    estimator
        A clone.
    """
    return clone(model).set_params(
        **{
            name: seed
            for name, value in model.get_params(deep=True).items()
            if (name == "random_state" or name.endswith("__random_state")) and value is None
        }
    )


def fit_predict(model: Any, train: np.ndarray, labels: np.ndarray, held: np.ndarray) -> np.ndarray:
    """Fit a clone of the model to the training rows and return its predictions for the held-out rows.

    Parameters
    ----------
    model : scikit-learn classifier
        It is not changed.
    train : numpy.ndarray of shape (n_train, d)
        Training rows.
    labels : numpy.ndarray of shape (n_train,)
        Classes of the training rows.
    held : numpy.ndarray of shape (n_held, d)
        Held-out rows.

    Returns
    -------
    numpy.ndarray of shape (n_held,)
        Predicted classes, the same on any number of threads.
    """
    return np.asarray(fit_clone(model, train, labels).predict(held))


def in_this_process() -> parallel_config:
    """Return a context in which scikit-learn starts no worker, whatever ``joblib.parallel_config`` encloses it.

    That is for subsets and settings, not for the parts of a model: the trees of a forest would be tasks of a dask
    cluster, and end with its workers. The model's own ``n_jobs`` counts.
    """
    return parallel_config(backend="threading", n_jobs=1)


def fit_clone(model: Any, train: np.ndarray, labels: np.ndarray) -> Any:
    """Return a clone, fitted in this process, that predicts with one thread.

    Fitting a forest does not depend on the threads. But threads add up the trees' votes in the order in which they
    finish, which changes ties.
    """
    with in_this_process():
        fitted = clone(model).fit(train, labels)
    threads = {name: 1 for name in fitted.get_params() if name == "n_jobs" or name.endswith("__n_jobs")}
    return fitted.set_params(**threads)


def _measure(
    model: Any,
    seen: np.ndarray,
    released: np.ndarray,
    labels: np.ndarray,
    split: Split,
    held: np.ndarray,
) -> Measure:
    """Train on the training rows of `seen`, and score on the held-out rows of `released`."""
    known, truth = labels[split.train], labels[held]
    classes = np.unique(known)
    if len(classes) < 2:
        raise ValueError(f"the training rows hold one class only ({classes[0]!r}): a model needs at least two classes")
    if not member(truth, classes).any():
        return nothing_known(split.unit)
    fitted, rows = fit_clone(model, seen[split.train], known), released[held]
    return measure(
        np.asarray(fitted.predict(rows)),
        truth,
        known,
        scores=np.asarray(fitted.predict_proba(rows)) if hasattr(fitted, "predict_proba") else None,
        clusters=split.clusters(held),
        unit=split.unit,
    )


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
