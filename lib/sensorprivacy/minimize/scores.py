"""Score the utility and the identifiability of single features, as if they were additive (paper 1, section 4.2)."""

from typing import Any

import numpy as np
import pandas as pd
from sklearn import config_context
from sklearn.base import BaseEstimator, clone
from sklearn.ensemble import RandomForestClassifier
from sklearn.feature_selection import mutual_info_classif
from sklearn.utils import check_array

from sensorprivacy.data import Problem, draw_rows
from sensorprivacy.game.play import in_this_process, seeded
from sensorprivacy.minimize.settings import SCORES


def score_features(
    features: pd.DataFrame,
    task: Any,
    users: Any,
    score: str = "shap",
    *,
    forest: BaseEstimator | None = None,
    seed: int | None = 42,
    max_rows: int | None = None,
    max_depth: int | None = 8,
) -> pd.DataFrame:
    """Compute the utility v and the identifiability c of every feature.

    Parameters
    ----------
    features : pandas.DataFrame
        n x d. Pass training rows only, because scores of held-out rows leak into the choice.
    task, users : array-like of shape (n,)
        Task labels and users.
    score : {"shap", "information", "gini"}
        ``"information"``: v is the mutual information with the task (4), c the entropy of the feature (3).
        ``"shap"``: mean over rows of the maximum over classes of ``|SHAP|``, in the task forest (v) and in the user
        forest (c). ``"gini"``: Gini importances in the two forests.
    forest : scikit-learn tree ensemble, optional
        Forest of ``"shap"`` and ``"gini"``. Default: ``RandomForestClassifier()``.
    seed : int or None, default 42
        Seed of the forests, of the drawn rows, and of the estimator of mutual information.
    max_rows : int or None
        Largest number of rows to score on. Default: 200 for SHAP values, 20,000 for mutual information. Gini
        importances use all rows.
    max_depth : int or None, default 8
        Depth of the forests whose SHAP values are computed. Their cost grows with the square of the depth and with
        the number of leaves and classes. None sets no limit. Other scores ignore it.

    Returns
    -------
    pandas.DataFrame
        Columns feature, utility, identifiability, ratio (c / v; infinite if v is 0), in column order. ``attrs`` has
        score, rows (used), rows_available, max_depth (of SHAP's forests) and seed.

    Raises
    ------
    ValueError
        If the score is unknown, or labels and features have different lengths.

    References
    ----------
    Paper 1, section 4.2 and methods (3) to (11) of section 5.2.
    """
    if score not in SCORES:
        raise ValueError(f"unknown score {score!r}: choose from {', '.join(SCORES)}")
    y, u = np.asarray(task), np.asarray(users)
    if not len(features) == len(y) == len(u):
        raise ValueError(f"{len(features)} rows of features, {len(y)} task labels, {len(u)} users: lengths must agree")
    facts: dict[str, Any] = {"score": score, "rows": len(features), "rows_available": len(features), "seed": seed}
    trees = seeded(RandomForestClassifier() if forest is None else forest, seed)
    with in_this_process():
        if score == "information":
            rows = draw_rows(len(features), 20_000 if max_rows is None else max_rows, seed, "max_rows")
            facts["rows"] = len(rows)
            utility = mutual_information(features.iloc[rows].to_numpy(dtype=float), y[rows], seed)
            cost = entropies(features)
        elif score == "gini":
            utility, cost = (_fitted(trees, features, labels).feature_importances_ for labels in (y, u))
        else:
            rows = draw_rows(len(features), 200 if max_rows is None else max_rows, seed, "max_rows")
            facts |= {"rows": len(rows), "max_depth": max_depth}
            if max_depth is not None:
                trees.set_params(max_depth=max_depth)
            utility, cost = (shap_values(features, labels, trees, rows) for labels in (y, u))
    frame = pd.DataFrame({"feature": list(features.columns), "utility": utility, "identifiability": cost})
    frame["ratio"] = cost_to_value(frame["identifiability"], frame["utility"])
    frame.attrs.update(facts)
    return frame


def score_rows(problem: Problem, rows: np.ndarray, score: str, *, columns: Any = None, **how: Any) -> pd.DataFrame:
    """Score the features of some rows of a problem, or some columns of them, see `score_features`."""
    table = problem.features if columns is None else problem.features[columns]
    return score_features(table.iloc[rows], problem.task.iloc[rows], problem.users.iloc[rows], score, **how)


def mutual_information(values: np.ndarray, labels: np.ndarray, seed: int | None = 42) -> np.ndarray:
    """Return the mutual information of each column with the labels, in nats.

    It is exact if no column has more than three values, as in a table of header bits (-1 is *no such header*). In
    other tables, scikit-learn estimates it from nearest neighbours and breaks ties by a little noise of this seed. That
    estimator takes every column to be continuous. On 1,000 rows of header bits it is up to 0.25 nats off, and ten times
    slower.
    """
    bits = all(len(np.unique(column)) <= 3 for column in values.T)
    checked = check_array(values)
    with config_context(assume_finite=True, skip_parameter_validation=True):  # else a quarter of the time is checks
        return mutual_info_classif(checked, labels, discrete_features=bits, random_state=seed)


def entropies(features: pd.DataFrame, bins: int = 10) -> np.ndarray:
    """Return the entropy in nats of a histogram of each feature, from 0 to ln `bins` (method 3)."""
    answer = []
    for name in features:
        counts = np.histogram(features[name].to_numpy(dtype=float), bins=bins)[0]
        shares = counts[counts > 0] / counts.sum()
        answer.append(-float(np.sum(shares * np.log(shares))) + 0.0)  # + 0.0: no negative zero
    return np.array(answer)


def shap_values(features: pd.DataFrame, labels: Any, forest: BaseEstimator, rows: np.ndarray) -> np.ndarray:
    """Return the mean over rows of the maximum over classes of the absolute SHAP values (methods 6-8).

    Parameters
    ----------
    features : pandas.DataFrame
        n x d. The forest is fitted to all rows.
    labels : array-like of shape (n,)
        Classes.
    forest : scikit-learn tree ensemble
        Cloned, not changed.
    rows : numpy.ndarray of int
        Rows whose predictions are explained.

    Returns
    -------
    numpy.ndarray of shape (d,)
        Probabilities, 0 to 1.

    Raises
    ------
    RuntimeError
        If the result of SHAP has another shape than (rows, features, classes). Its releases have changed it before.

    References
    ----------
    Paper 1, section 4.2: v = mean(max(|S|)), c = mean(max(|S_adv|)).
    """
    # imported here, because it loads Numba, which takes seconds that no other score needs
    from shap import TreeExplainer

    fitted = _fitted(forest, features, labels)
    explained = TreeExplainer(fitted).shap_values(features.to_numpy(dtype=float)[rows], check_additivity=False)
    return np.asarray(np.abs(explained).max(axis=2).mean(axis=0))


def cost_to_value(cost: pd.Series, value: pd.Series) -> pd.Series:
    """Return c / v. A feature that adds no utility gets an infinite ratio, whatever its cost."""
    return pd.Series(np.where(value > 0, cost / value.where(value > 0, 1.0), np.inf), index=cost.index)


def _fitted(forest: BaseEstimator, features: pd.DataFrame, labels: Any) -> Any:
    return clone(forest).fit(features.to_numpy(dtype=float), np.asarray(labels))
