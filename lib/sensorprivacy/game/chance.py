"""What a model without the features reaches, and whether a model beats that.

A model can know two things without any feature: which class is most frequent in the training rows, and how often it
predicts each class. The permutation test keeps both. It shuffles the labels of the held-out rows: whole groups if rows
come in groups, because the rows of a group are alike.
"""

from dataclasses import dataclass

import numpy as np
import pandas as pd
from scipy.stats import random_table, rankdata

DRAWS = 999
FEWEST_DRAWS = 40  # with fewer permutations, no p-value is below 2.5 %, as the tests need
_CELLS = 1_000_000  # of drawn tables in memory at once


@dataclass(frozen=True)
class ChanceTest:
    """The chance level, and two permutation tests.

    Attributes
    ----------
    chance : float
        Accuracy without the features: of always predicting the most frequent training class, or the mean over permuted
        labels, whichever is higher.
    p : float
        p-value of the hypothesis that the accuracy is that of permuted labels.
    p_any : float
        p-value of the hypothesis that *no* class is recognized more often than with permuted labels. Its statistic is
        the largest of the classes' numbers of hits, each in units of its standard deviation.
    exposed : int
        Code of the class with that largest number.
    """

    chance: float
    p: float
    p_any: float
    exposed: int


def chance_test(
    predicted: np.ndarray,
    truth: np.ndarray,
    prior: float,
    clusters: np.ndarray | None = None,
    *,
    draws: int = DRAWS,
    seed: int = 0,
) -> ChanceTest:
    """Compare predictions with those of a model without the features.

    Parameters
    ----------
    predicted, truth : numpy.ndarray of int, shape (n,)
        Codes 0, 1, ... of predicted and true classes.
    prior : float
        Accuracy of always predicting the most frequent training class.
    clusters : numpy.ndarray of shape (n,), optional
        Group of each row. If all rows of every group have one class, the classes of the groups are permuted.
        Otherwise the groups' sequences of labels are put in another order.
    draws : int
        Number of permutations, at least 40: the smallest p-value is 1 / (1 + draws).
    seed : int
        Seed of the permutations, so that equal predictions give equal p-values.

    Returns
    -------
    ChanceTest
        With few groups, few permutations differ. Then no p-value is small, which says that the data cannot decide.

    Raises
    ------
    ValueError
        If no p-value could be below 2.5 %.
    """
    if draws < FEWEST_DRAWS:
        raise ValueError(f"draws={draws}: a test at 2.5 % needs at least {FEWEST_DRAWS} permutations")
    k = int(max(predicted.max(), truth.max())) + 1
    generator = np.random.default_rng(seed)
    if clusters is None:
        hits, counts = _permuted_rows(predicted, truth, k, draws, generator)
    else:
        hits, counts = _permuted_groups(
            predicted, truth, np.unique(clusters, return_inverse=True)[1], k, draws, generator
        )
    n, guesses = len(truth), np.bincount(predicted, minlength=k)
    observed = np.bincount(truth[predicted == truth], minlength=k)
    drawn = hits.sum(axis=1)
    scores = _standardized(hits, counts, guesses, n)
    own = _standardized(observed[None], np.bincount(truth, minlength=k)[None], guesses, n)[0]
    return ChanceTest(
        chance=max(prior, float(drawn.mean()) / n),
        p=float((1 + (drawn >= observed.sum()).sum()) / (1 + draws)),
        p_any=float((1 + (scores.max(axis=1) >= own.max() - 1e-9).sum()) / (1 + draws)),
        exposed=int(own.argmax()),
    )


def guessed(training: np.ndarray, truth: np.ndarray) -> np.ndarray:
    """Return how often always predicting the most frequent training class is correct for each true label, 0 to 1.

    If several classes are equally frequent in training, the prediction is drawn among them.
    """
    classes, counts = np.unique(training, return_counts=True)
    most = classes[counts == counts.max()]
    return np.asarray(pd.Index(truth).isin(most) / len(most))


def macro_auc(probabilities: np.ndarray, truth: np.ndarray) -> float:
    """Return the mean over classes of the area under the ROC curve, one class against all others.

    Parameters
    ----------
    probabilities : numpy.ndarray of shape (n, classes)
        Score of each class; only the order of the rows within a column matters.
    truth : numpy.ndarray of int, shape (n,)
        Codes of the true classes.

    Returns
    -------
    float
        Over the classes that some rows have and some have not; NaN if there is none. 0.5 is chance.
    """
    n, counts = len(truth), np.bincount(truth, minlength=probabilities.shape[1])
    areas = []
    for code in np.flatnonzero((counts > 0) & (counts < n)):
        m = counts[code]
        ranks = rankdata(probabilities[:, code])[truth == code]
        areas.append((ranks.sum() - m * (m + 1) / 2) / (m * (n - m)))
    return float(np.mean(areas)) if areas else float("nan")


def _permuted_rows(
    predicted: np.ndarray, truth: np.ndarray, k: int, draws: int, generator: np.random.Generator
) -> tuple[np.ndarray, np.ndarray]:
    """Return hits and sizes of each class for permuted rows, each of shape (draws, k)."""
    guesses, sizes = np.bincount(predicted, minlength=k), np.bincount(truth, minlength=k)
    tables = random_table(sizes, guesses, seed=generator)
    step = max(1, _CELLS // k**2)
    hits = np.concatenate(
        [np.diagonal(tables.rvs(min(step, draws - start)), axis1=1, axis2=2).copy() for start in range(0, draws, step)]
    )
    return hits, np.broadcast_to(sizes, hits.shape)


def _permuted_groups(
    predicted: np.ndarray, truth: np.ndarray, groups: np.ndarray, k: int, draws: int, generator: np.random.Generator
) -> tuple[np.ndarray, np.ndarray]:
    """Return hits and sizes of each class for permuted groups, each of shape (draws, k)."""
    n_groups = int(groups.max()) + 1
    hits, counts = np.zeros((draws, k)), np.zeros((draws, k))
    first = np.zeros(n_groups, dtype=int)
    first[groups] = truth
    if (first[groups] == truth).all():  # one class for each group
        guesses, sizes = np.zeros((n_groups, k)), np.bincount(groups, minlength=n_groups)
        np.add.at(guesses, (groups, predicted), 1)
        for draw in range(draws):
            labels = generator.permutation(first)
            hits[draw] = np.bincount(labels, guesses[np.arange(n_groups), labels], minlength=k)
            counts[draw] = np.bincount(labels, sizes, minlength=k)
        return hits, counts
    ordered = np.argsort(groups, kind="stable")
    blocks = np.split(truth[ordered], np.flatnonzero(np.diff(groups[ordered])) + 1)
    guessed = predicted[ordered]
    for draw in range(draws):
        labels = np.concatenate([blocks[at] for at in generator.permutation(len(blocks))])
        hits[draw] = np.bincount(labels[labels == guessed], minlength=k)
    counts[:] = np.bincount(truth, minlength=k)
    return hits, counts


def _standardized(hits: np.ndarray, counts: np.ndarray, guesses: np.ndarray, n: int) -> np.ndarray:
    """Return hits as deviations from their expectation, in units of the hypergeometric standard deviation.

    A class without rows gets -inf; one that is always or never predicted gets 0.
    """
    share = guesses / n
    deviation = np.sqrt(counts * share * (1 - share) * (n - counts) / max(n - 1, 1))
    scores = np.divide(hits - counts * share, deviation, out=np.zeros(hits.shape), where=deviation > 0)
    return np.where(counts > 0, scores, -np.inf)


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
