"""Models that attackers train beside the judge's forest: those that are best on validation rows are trained longer."""

import warnings
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.ensemble import ExtraTreesClassifier, HistGradientBoostingClassifier, RandomForestClassifier
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import QuantileTransformer, StandardScaler

from sensorprivacy.game.play import fit_clone, in_this_process

MOST_BYTES = 256 * 2**20  # of the trees that are in memory at a time
_BRIEFLY = 5  # the first training has so many times fewer trees
_LEAST_GAP, _MERGED = 1e-7, 0.01  # that trees split; share of the gaps of a column that may be smaller
_FINALISTS = 2  # boosting of few rounds can be worse than forests, and better than they are in the end
_ROUNDS, _BOOSTED = 60, 2000  # of boosting: rounds, and trees, of which each round has one for each class
_PRODUCTS = 5e7  # of a step of logistic regression: rows x columns x classes
_NEIGHBOURS = 15


def _leaves_of(rows: int) -> Callable[..., Any]:
    """Return a maker of extra trees. Leaves of single rows are best without noise, and larger ones with it."""
    return lambda size, seed, jobs: ExtraTreesClassifier(size, min_samples_leaf=rows, random_state=seed, n_jobs=jobs)


def _boosting(size: int, seed: int | None, jobs: int | None) -> Any:
    # regularized, because classes of few rows make unregularized boosting diverge
    return HistGradientBoostingClassifier(
        learning_rate=0.2, max_iter=size, max_leaf_nodes=15, l2_regularization=10, early_stopping=False,
        random_state=seed,
    )  # fmt: skip


def _logistic(size: int, seed: int | None, jobs: int | None) -> Any:
    ranks = QuantileTransformer(output_distribution="normal", random_state=seed)
    return make_pipeline(ranks, LogisticRegression(max_iter=100))


LEARNERS: Mapping[str, Callable[..., Any]] = {
    "extra trees": _leaves_of(1),
    "extra trees, larger leaves": _leaves_of(3),
    "boosting": _boosting,
    "logistic regression": _logistic,
    "nearest rows": lambda size, seed, jobs: make_pipeline(StandardScaler(), KNeighborsClassifier(_NEIGHBOURS)),
}
"""Makers of models, for a number of trees, a seed and a number of threads."""


def rounds_of(name: str, size: int, classes: int) -> int:
    """Return the number of trees of a learner, or of rounds of boosting; below 2, it would take too long."""
    return min(size, _ROUNDS, _BOOSTED // classes) if name == "boosting" else size


def best_learner(
    train: np.ndarray,
    known: np.ndarray,
    checked: np.ndarray,
    truth: np.ndarray,
    held: np.ndarray,
    forest: Any,
    later: slice = slice(0, 0),
) -> tuple[str, np.ndarray]:
    """Train all learners briefly and the best two of them longer, and return its name and probabilities.

    Parameters
    ----------
    train, known : numpy.ndarray of shape (n, d), (n,)
        Training rows and their classes.
    checked, truth : numpy.ndarray of shape (k, d), (k,)
        Validation rows and their classes: the learner with the highest accuracy on them is the best.
    held : numpy.ndarray of shape (m, d)
        Rows to predict.
    forest : scikit-learn classifier
        The judge's model. Learners have its seed and threads, and as many trees, if it is a forest.
    later : slice, optional
        Those of `held` that no choice is made on. The best learner predicts them after another training, on training
        and validation rows: an attacker has no reason to forget the labels that it chose by.

    Returns
    -------
    tuple of str and numpy.ndarray of shape (m, classes)
        The longer training counts only if it is better on the validation rows. Boosting and logistic regression are
        left out where they would take much longer than a forest, because of many classes.
    """
    settings, classes = forest.get_params(), np.unique(known)
    seen = resolved(train, checked, held)
    trees, seed, jobs = (settings.get(name) for name in ("n_estimators", "random_state", "n_jobs"))
    briefly = max((trees or 100) // _BRIEFLY, 2)

    def predict(name: str, size: int, more: bool = False) -> np.ndarray | None:
        size = rounds_of(name, size, len(classes))
        if (name == "nearest rows" and len(train) < _NEIGHBOURS) or size < 2:
            return None
        if name == "logistic regression" and train.size * len(classes) > _PRODUCTS:
            return None
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            warnings.filterwarnings("ignore", "n_quantiles", UserWarning)
            parts = (train, checked, held) if name == "nearest rows" else seen
            if more:
                old = np.isin(truth, classes)
                both = np.concatenate([parts[0], parts[1][old]]), np.concatenate([known, truth[old]])
                return votes(LEARNERS[name](size, seed, jobs), *both, parts[2][later])
            return votes(LEARNERS[name](size, seed, jobs), parts[0], known, np.concatenate(parts[1:]))

    def accuracy(probabilities: np.ndarray) -> float:
        return float(np.mean(classes[probabilities[: len(checked)].argmax(axis=1)] == truth))

    found = {name: some for name in LEARNERS if (some := predict(name, briefly)) is not None}
    tried = {(name, briefly): some for name, some in found.items()}
    finalists = sorted(found, key=lambda name: accuracy(found[name]), reverse=True)[:_FINALISTS]
    for name in finalists:
        if name not in ("nearest rows", "logistic regression"):  # which have no trees
            longer = predict(name, _BRIEFLY * briefly)
            tried = tried if longer is None else {(name, _BRIEFLY * briefly): longer, **tried}
    best, size = max(tried, key=lambda one: accuracy(tried[one]))
    answer = tried[best, size][len(checked) :].copy()
    if len(held[later]):
        answer[later] = predict(best, size, more=True)
    return best, answer


def resolved(*tables: np.ndarray) -> list[np.ndarray]:
    """Return tables in which trees see all differences: ranks replace columns whose values single precision merges.

    scikit-learn's trees read single precision, and do not split values that differ by less than 1e-7. So the scale of
    a column decides what an attacker learns: principal components of traffic, times 10,000, identified more users.

    Examples
    --------
    >>> resolved(np.array([[1e-9, 5.0], [0.0, 6.0]]), np.array([[2e-9, 9.0]]))
    [array([[1., 5.],
           [0., 6.]]), array([[2., 9.]])]
    """
    whole = np.concatenate(tables).astype(float)
    for place, column in enumerate(whole.T):
        values, ranks = np.unique(column, return_inverse=True)
        with np.errstate(over="ignore", invalid="ignore"):
            merged = ~(np.diff(values.astype(np.float32)) > _LEAST_GAP)
        if merged.sum() > _MERGED * len(merged):
            whole[:, place] = ranks
    return np.split(whole, np.cumsum([len(one) for one in tables])[:-1])


def votes(model: Any, train: np.ndarray, labels: np.ndarray, held: np.ndarray) -> np.ndarray:
    """Train a clone of a model and return its probabilities, keeping only some trees of a forest at a time.

    Parameters
    ----------
    model : scikit-learn classifier with probabilities
        A forest that would fill more than `MOST_BYTES` is trained in parts. The result is the same.
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
        not isinstance(model, RandomForestClassifier | ExtraTreesClassifier)
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
        with in_this_process():
            forest.fit(train, labels)
        for tree in forest.estimators_[done:]:
            total = total + tree.predict_proba(rows, check_input=False)
        done = len(forest.estimators_)
        forest.estimators_ = [None] * done
    return np.asarray(total / done)
