"""Judge predictions of any model by the rules of the game, row by row or pooled over groups of rows."""

import math
from typing import Any

import numpy as np
import pandas as pd
from scipy.special import logsumexp

from sensorprivacy.game.chance import DRAWS, chance_test, macro_auc
from sensorprivacy.game.outcome import Measure, nothing_known
from sensorprivacy.game.units import share

_LEAST = 1e-6  # probabilities below this are not believed, so that one row never decides alone


def measure(
    predicted: np.ndarray,
    truth: np.ndarray,
    known: np.ndarray,
    *,
    probabilities: np.ndarray | None = None,
    clusters: np.ndarray | None = None,
    permuted: np.ndarray | None = None,
    unit: str = "rows",
    confidence: float = 0.95,
    draws: int = DRAWS,
) -> Measure:
    """Measure how well predictions match the true classes, on the rows of classes that the training rows have.

    Parameters
    ----------
    predicted, truth : numpy.ndarray of shape (n,)
        Predicted and true class of each held-out row.
    known : numpy.ndarray
        Classes of the training rows.
    probabilities : numpy.ndarray of shape (n, classes), optional
        Probability of each class of `known`, in sorted order; for the AUC.
    clusters, unit, confidence
        See `sensorprivacy.game.units.share`.
    permuted : numpy.ndarray of shape (n,), optional
        Group of each row in the permutation test, if it is not its cluster. People who do the same activities in the
        same order would have equal labels after every permutation.
    draws : int
        Number of permutations of each test.

    Returns
    -------
    Measure
    """
    classes, counts = np.unique(known, return_counts=True)
    judged = member(truth, classes)
    if not judged.any():
        return nothing_known(unit)
    guesses, true = (np.searchsorted(classes, labels[judged]) for labels in (predicted, truth))
    clusters, permuted = (None if some is None else some[judged] for some in (clusters, permuted))
    prior = float(np.mean(true == counts.argmax()))
    found = share(guesses == true, clusters, unit=unit, confidence=confidence)
    chance = chance_test(guesses, true, prior, clusters if permuted is None else permuted, draws=draws)
    right, present, named = (
        np.bincount(codes, minlength=len(classes)) for codes in (true[guesses == true], true, guesses)
    )
    recall = right[present > 0] / present[present > 0]
    exposed = chance.exposed
    return Measure(
        score=found.score,
        low=found.low,
        high=found.high,
        n=found.n,
        unit=found.unit,
        chance=chance.chance,
        p=chance.p,
        p_any=chance.p_any,
        balanced=float(recall.mean()),
        auc=macro_auc(probabilities[judged], true) if probabilities is not None else math.nan,
        exposed=classes[exposed],
        exposed_recall=float(right[exposed] / present[exposed]),
        exposed_precision=float(right[exposed] / max(named[exposed], 1)),
        unseen=1 - float(judged.mean()),
    )


def member(labels: np.ndarray, classes: np.ndarray) -> np.ndarray:
    """Return which labels are among the classes, which may repeat.

    NumPy's ``isin`` takes minutes for thousands of texts, and pandas' ``isin`` reads every repeated class one by one.
    """
    return np.asarray(pd.Index(labels).isin(pd.unique(classes)))


def pooled(probabilities: np.ndarray, prior: np.ndarray, groups: np.ndarray) -> np.ndarray:
    """Return the log-posterior of each group: the sum of its rows' log-odds against the prior, plus the log-prior.

    Parameters
    ----------
    probabilities : numpy.ndarray of shape (n, classes)
        Probabilities of each row.
    prior : numpy.ndarray of shape (classes,)
        Shares of the classes in the attacker's training rows, all above 0. The prior counts once per group, not once
        per row.
    groups : numpy.ndarray of int, shape (n,)
        Group of each row, 0 ... g - 1.

    Returns
    -------
    numpy.ndarray of shape (g, classes)
        Log-probabilities; each row's probabilities sum to 1.
    """
    evidence: Any = np.log(np.clip(probabilities, _LEAST, None)) - np.log(prior)
    sums = np.stack([np.bincount(groups, column) for column in evidence.T], axis=1) + np.log(prior)
    return np.asarray(sums - logsumexp(sums, axis=1, keepdims=True))
