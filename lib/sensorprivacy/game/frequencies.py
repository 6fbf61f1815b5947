"""Classify by how often each class has a code, such as the cell or the donor of a published window."""

import numpy as np

_SMOOTHING = 0.5  # added to each count, so that no code is impossible


def frequencies(learned: np.ndarray, codes: np.ndarray, attacked: np.ndarray, classes: int) -> np.ndarray:
    """Return the probability of each class from the frequencies of the codes, which are taken to be independent.

    Parameters
    ----------
    learned, attacked : numpy.ndarray of int, shape (n, 1 + views)
        First the activity, then several codes of each window or row. Frequencies are those within an activity and
        class, so that the rate of an activity is no evidence.
    codes : numpy.ndarray of int, shape (n,)
        Classes of `learned`.
    classes : int
        Number of classes.

    Returns
    -------
    numpy.ndarray of shape (n, classes)

    Examples
    --------
    >>> learned = np.array([[0, 1], [0, 1], [0, 0], [0, 0]])
    >>> frequencies(learned, np.array([0, 0, 1, 1]), np.array([[0, 1]]), 2).round(2)
    array([[0.83, 0.17]])
    """
    prior = np.bincount(codes, minlength=classes) + _SMOOTHING
    logs = np.tile(np.log(prior / prior.sum()), (len(attacked), 1))
    activities = int(max(learned[:, 0].max(), attacked[:, 0].max())) + 1
    for view in range(1, learned.shape[1]):
        values = int(max(learned[:, view].max(), attacked[:, view].max())) + 1
        counts = np.zeros((classes, activities, values))
        np.add.at(counts, (codes, learned[:, 0], learned[:, view]), 1)
        counts += _SMOOTHING
        shares = counts / counts.sum(axis=2, keepdims=True)
        logs += np.log(shares[:, attacked[:, 0], attacked[:, view]].T)
    odds = np.exp(logs - logs.max(axis=1, keepdims=True))
    return np.asarray(odds / odds.sum(axis=1, keepdims=True))
