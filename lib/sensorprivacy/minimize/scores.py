"""Utility and identifiability of single features, as if each contributed by itself (paper 1, section 4.2)."""

from typing import Any

import numpy as np
import pandas as pd
from sklearn.base import BaseEstimator, clone
from sklearn.ensemble import RandomForestClassifier
from sklearn.feature_selection import mutual_info_classif

from sensorprivacy.game.play import seeded

SCORES = ("information", "shap", "gini")
"""Ways to score: mutual information and entropy (3)(4)(5), SHAP values (6)(7)(8), forest impurities (9)(10)(11)."""

COLUMNS = ["feature", "utility", "identifiability", "ratio"]


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
    """Return the utility v and the identifiability c of every feature.

    Parameters
    ----------
    features : pandas.DataFrame
        n x d. Pass training rows only: scores of held-out rows leak into the choice.
    task, users : array-like of shape (n,)
        Both labelings.
    score : {"information", "shap", "gini"}
        ``"information"``: v is the mutual information with the task (4), c the entropy of the feature (3).
        ``"shap"``: mean over rows of the maximum over classes of ``|SHAP|`` in the task forest (v) and the user forest
        (c). ``"gini"``: impurity importances of the two forests.
    forest : scikit-learn tree ensemble, optional
        Forest of ``"shap"`` and ``"gini"``. Default: ``RandomForestClassifier()``.
    seed : int or None, default 42
        Seed of the forests, of the drawn rows, and of the estimator of mutual information.
    max_rows : int or None
        Most rows to score on. Default: 200 for SHAP values, 20,000 for mutual information; impurities come with the
        fitted forest and use all.
    max_depth : int or None, default 8
        Depth of the forests whose SHAP values are computed (their cost grows with the square of the depth and with
        the number of leaves and classes); None lets them grow. No other score is affected.

    Returns
    -------
    pandas.DataFrame
        Columns feature, utility, identifiability, ratio (c / v; infinite where v is 0), in column order. ``attrs``
        says how: score, rows (used), rows_available, max_depth (of SHAP's forests), seed.

    Raises
    ------
    ValueError
        If the score is unknown, or labels have another length than the features.

    References
    ----------
    Paper 1, section 4.2 and methods (3) to (11) of section 5.2.
    """
    if score not in SCORES:
        raise ValueError(f"unknown score {score!r}: choose from {', '.join(SCORES)}")
    y, u = np.asarray(task), np.asarray(users)
    if not len(features) == len(y) == len(u):
        raise ValueError(f"{len(features)} rows of features, {len(y)} task labels, {len(u)} users: lengths must agree")
    about: dict[str, Any] = {"score": score, "rows": len(features), "rows_available": len(features), "seed": seed}
    trees = seeded(RandomForestClassifier() if forest is None else forest, seed)
    if score == "information":
        rows = draw_rows(len(features), 20_000 if max_rows is None else max_rows, seed)
        about["rows"] = len(rows)
        utility = mutual_information(features.iloc[rows], y[rows], seed)
        cost = entropies(features)
    elif score == "gini":
        utility, cost = (impurities(features, labels, trees) for labels in (y, u))
    else:
        rows = draw_rows(len(features), 200 if max_rows is None else max_rows, seed)
        about |= {"rows": len(rows), "max_depth": max_depth}
        if max_depth is not None:
            trees.set_params(max_depth=max_depth)
        utility, cost = (shap_values(features, labels, trees, rows) for labels in (y, u))
    frame = pd.DataFrame({"feature": list(features.columns), "utility": utility, "identifiability": cost})
    frame["ratio"] = cost_to_value(frame["identifiability"], frame["utility"])
    frame.attrs.update(about)
    return frame


def mutual_information(features: pd.DataFrame, labels: Any, seed: int | None = 42) -> np.ndarray:
    """Return the mutual information of each feature with the labels, in nats (method 4).

    Parameters
    ----------
    features : pandas.DataFrame
        n x d.
    labels : array-like of shape (n,)
        Classes.
    seed : int or None
        scikit-learn's estimator breaks ties by a little noise.

    Returns
    -------
    numpy.ndarray of shape (d,)
        Not below 0.
    """
    return np.asarray(mutual_info_classif(features.to_numpy(dtype=float), np.asarray(labels), random_state=seed))


def entropies(features: pd.DataFrame, bins: int = 10) -> np.ndarray:
    """Return the entropy of a histogram of each feature, in nats (method 3).

    Parameters
    ----------
    features : pandas.DataFrame
        n x d.
    bins : int, default 10
        Equal bins between the feature's minimum and maximum.

    Returns
    -------
    numpy.ndarray of shape (d,)
        From 0 (all rows in one bin) to ln `bins`.
    """
    answer = []
    for name in features:
        counts = np.histogram(features[name].to_numpy(dtype=float), bins=bins)[0]
        shares = counts[counts > 0] / counts.sum()
        answer.append(-float(np.sum(shares * np.log(shares))) + 0.0)  # + 0.0: no negative zero
    return np.array(answer)


def impurities(features: pd.DataFrame, labels: Any, forest: BaseEstimator) -> np.ndarray:
    """Return the impurity importances of a forest fitted to the labels (methods 9-11).

    Parameters
    ----------
    features : pandas.DataFrame
        n x d.
    labels : array-like of shape (n,)
        Classes.
    forest : scikit-learn tree ensemble
        Cloned, not changed.

    Returns
    -------
    numpy.ndarray of shape (d,)
        They sum to 1 unless no split was made.
    """
    fitted = clone(forest).fit(features.to_numpy(dtype=float), np.asarray(labels))
    return np.asarray(fitted.feature_importances_)


def shap_values(features: pd.DataFrame, labels: Any, forest: BaseEstimator, rows: np.ndarray) -> np.ndarray:
    """Return the mean over rows of the maximum over classes of the absolute SHAP values (methods 6-8).

    Parameters
    ----------
    features : pandas.DataFrame
        n x d; the forest is fitted to all of it.
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
        If SHAP answers in another shape than (rows, features, classes): its releases have changed it before.

    References
    ----------
    Paper 1, section 4.2: v = mean(max(|S|)), c = mean(max(|S_adv|)).
    """
    # imported when asked for: it loads numba, seconds that no other score needs
    from shap import TreeExplainer

    matrix = features.to_numpy(dtype=float)
    fitted = clone(forest).fit(matrix, np.asarray(labels))
    explained = np.asarray(TreeExplainer(fitted).shap_values(matrix[rows], check_additivity=False))
    expected = (len(rows), features.shape[1], len(fitted.classes_))
    if explained.shape != expected:
        raise RuntimeError(f"SHAP answered in shape {explained.shape}, not (rows, features, classes) = {expected}")
    return np.asarray(np.abs(explained).max(axis=2).mean(axis=0))


def cost_to_value(cost: pd.Series, value: pd.Series) -> pd.Series:
    """Return c / v; a feature without value is infinitely dear, whatever it costs."""
    return pd.Series(np.where(value > 0, cost / value.where(value > 0, 1.0), np.inf), index=cost.index)


def draw_rows(n: int, most: int, seed: int | None) -> np.ndarray:
    """Return at most `most` of the positions 0 ... n - 1, ascending, drawn without replacement.

    Raises
    ------
    ValueError
        If `most` is below 1.
    """
    if most < 1:
        raise ValueError(f"max_rows={most}: score on at least one row")
    if n <= most:
        return np.arange(n)
    return np.sort(np.random.default_rng(seed).choice(n, size=most, replace=False))
