"""Votes of large forests in bounded memory: each node has a number for every class, so many users fill gigabytes."""

from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.ensemble import RandomForestClassifier

from sensorprivacy.game.play import fit_clone

MOST_BYTES = 256 * 2**20  # of the trees that are in memory at a time


def votes(model: Any, train: np.ndarray, labels: np.ndarray, held: np.ndarray) -> np.ndarray:
    """Train a clone of a model and return its probabilities, keeping only some trees of a forest at a time.

    Parameters
    ----------
    model : scikit-learn classifier with probabilities
        A random forest that would fill more than `MOST_BYTES` is trained in parts. The result is the same.
    train : numpy.ndarray of shape (n, d)
        Training rows.
    labels : numpy.ndarray of shape (n,)
        Their classes.
    held : numpy.ndarray of shape (m, d)
        Rows to predict.

    Returns
    -------
    numpy.ndarray of shape (m, classes)
    """
    tree_bytes = 2 * len(train) * len(np.unique(labels)) * np.dtype(float).itemsize  # a tree has fewer than 2 n nodes
    if (
        not isinstance(model, RandomForestClassifier)
        or model.n_estimators * tree_bytes <= MOST_BYTES
        or not isinstance(model.random_state, int)  # only a number gives the later parts the trees of one forest
        or model.oob_score
        or model.warm_start
    ):
        return np.asarray(fit_clone(model, train, labels).predict_proba(held))
    forest: Any = clone(model).set_params(warm_start=True)
    rows, total, done = held.astype(np.float32), 0.0, 0  # forests predict in this type
    while done < model.n_estimators:
        forest.set_params(n_estimators=min(model.n_estimators, done + max(1, MOST_BYTES // tree_bytes)))
        forest.fit(train, labels)
        for tree in forest.estimators_[done:]:
            total = total + tree.predict_proba(rows, check_input=False)
        done = len(forest.estimators_)
        forest.estimators_ = [None] * done
    return np.asarray(total / done)
