"""Judge predictions by the rules of the game, by row or pooled over groups, and compare releases by effectiveness."""

import math
from dataclasses import replace
from enum import StrEnum
from typing import Any

import numpy as np
import pandas as pd
from scipy.special import logsumexp

from sensorprivacy.game.chance import DRAWS, chance_test, guessed, macro_auc
from sensorprivacy.game.outcome import Measure, nothing_known
from sensorprivacy.game.units import share

_LEAST = 1e-6  # probabilities below this are not believed, so that one row never decides alone


def measure(
    predicted: np.ndarray,
    truth: np.ndarray,
    known: np.ndarray,
    *,
    scores: np.ndarray | None = None,
    clusters: np.ndarray | None = None,
    permuted: np.ndarray | None = None,
    unit: str = "rows",
    draws: int = DRAWS,
    guess: np.ndarray | None = None,
    least: float = 0.0,
) -> Measure:
    """Measure how well predictions match the true classes, on the rows of classes that the training rows have.

    Parameters
    ----------
    predicted : numpy.ndarray of shape (n,) or (runs, n)
        Predicted class of each held-out row. Results of several runs are means over the runs.
    truth : numpy.ndarray of shape (n,)
        True class of each held-out row.
    known : numpy.ndarray
        Classes of the training rows.
    scores : numpy.ndarray of shape (n, classes) or (runs, n, classes), optional
        Score of each class of `known`, in sorted order, such as its probability; for the AUC.
    clusters, unit
        See `sensorprivacy.game.units.share`.
    permuted : numpy.ndarray of shape (n,), optional
        Group of each row in the permutation test, if it is not its cluster. People who do the same activities in the
        same order would have equal labels after every permutation.
    draws : int
        Number of permutations of each test, on the first run. 0: no tests, and no most exposed class.
    guess : numpy.ndarray of shape (n,), optional
        How often the best constant answer is correct for each row. Default: `guessed`.
    least : float
        The chance level is at least this.

    Returns
    -------
    Measure
    """
    classes = np.unique(known)
    judged = member(truth, classes)
    if not judged.any():
        return nothing_known(unit)
    guesses, true = (np.searchsorted(classes, labels[..., judged]) for labels in (np.atleast_2d(predicted), truth))
    clusters, permuted = (None if some is None else some[judged] for some in (clusters, permuted))
    found = share((guesses == true).mean(axis=0), clusters, unit=unit)
    present = np.bincount(true, minlength=len(classes))
    right = np.bincount(true, (guesses == true).mean(axis=0), minlength=len(classes))
    recall = right[present > 0] / present[present > 0]
    measured = Measure(
        score=found.score,
        low=found.low,
        high=found.high,
        n=found.n,
        unit=found.unit,
        chance=max(float((guessed(known, truth) if guess is None else guess)[judged].mean()), least),
        balanced=float(recall.mean()),
        auc=math.nan if scores is None else _mean_auc(scores[..., judged, :], true),
        unseen=1 - float(judged.mean()),
    )
    if not draws:
        return measured
    test = chance_test(guesses[0], true, measured.chance, clusters if permuted is None else permuted, draws=draws)
    named, exposed = np.bincount(guesses[0], minlength=len(classes)), test.exposed
    hits = float(((guesses[0] == true) & (true == exposed)).sum())
    return replace(
        measured,
        chance=test.chance,
        p=test.p,
        p_any=test.p_any,
        exposed=classes[exposed],
        exposed_recall=hits / present[exposed],
        exposed_precision=hits / max(named[exposed], 1),
    )


def _mean_auc(scores: np.ndarray, truth: np.ndarray) -> float:
    return float(np.mean([macro_auc(one, truth) for one in (scores if scores.ndim == 3 else scores[None])]))


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


def log_odds(log_posterior: np.ndarray) -> np.ndarray:
    """Return the log-odds of each class against all others, n x classes.

    They order rows as their probabilities do, also where a probability is so near 1 that it is rounded to 1.
    """
    rows, best = np.arange(len(log_posterior)), log_posterior.argmax(axis=1)
    with np.errstate(divide="ignore", invalid="ignore"):  # of the most probable class, which comes next
        others = np.log1p(-np.exp(log_posterior))
    rest = log_posterior.copy()
    rest[rows, best] = -np.inf
    others[rows, best] = logsumexp(rest, axis=1)
    return np.asarray(log_posterior - others)


class Undefined(StrEnum):
    """Reasons why a relative effectiveness is not a number."""

    UNCHANGED = "N/A"
    """Accuracy equals that of the base, so there is no ratio."""
    DOMINATES = "dominates"
    """Accuracy rose and identifiability did not: at least as good as the base in both."""
    DOMINATED = "dominated"
    """Accuracy fell and identifiability did not: no better than the base in either."""


def relative_effectiveness(
    accuracy: float,
    identifiability: float,
    base_accuracy: float,
    base_identifiability: float,
    *,
    decimals: int | None = None,
) -> float | Undefined:
    """Return r = ln((identifiability - base) / (accuracy - base)), or the reason why it is undefined.

    Parameters
    ----------
    accuracy, identifiability : float
        The measured values, both as fractions or both in per cent.
    base_accuracy, base_identifiability : float
        The values to compare with, in the same unit.
    decimals : int, optional
        Round all four values to this many decimals first. The paper's tables use percentages with two decimals: give 4
        for fractions, 2 for percentages. None uses full precision.

    Returns
    -------
    float or Undefined
        The natural logarithm of the ratio. If accuracy and identifiability *both rose*, the ratio is positive too and
        a number is returned: read it together with the sign of the change.

    Raises
    ------
    ValueError
        If an argument is not finite.

    References
    ----------
    Paper 1, Definition 2. The logarithm is natural: only then do the printed tables agree.

    Examples
    --------
    >>> round(relative_effectiveness(99.05, 69.81, 99.91, 77.98), 3)
    2.251
    >>> str(relative_effectiveness(0.9, 0.5, 0.8, 0.6))
    'dominates'
    """
    values = (accuracy, identifiability, base_accuracy, base_identifiability)
    if not all(math.isfinite(value) for value in values):
        raise ValueError(f"accuracy and identifiability must be finite, got {values}")
    if decimals is not None:
        accuracy, identifiability, base_accuracy, base_identifiability = (round(value, decimals) for value in values)
    accuracy_change, identifiability_change = accuracy - base_accuracy, identifiability - base_identifiability
    if accuracy_change == 0:
        return Undefined.UNCHANGED
    if identifiability_change == 0 or (identifiability_change > 0) != (accuracy_change > 0):
        return Undefined.DOMINATES if accuracy_change > 0 else Undefined.DOMINATED
    return math.log(identifiability_change / accuracy_change)


def effectiveness_column(table: pd.DataFrame, base: Any, *, decimals: int | None = None) -> pd.Series:
    """Return the relative effectiveness of every row of a table, compared with one base.

    Parameters
    ----------
    table : pandas.DataFrame
        A table with columns ``accuracy`` and ``identifiability``.
    base : hashable or pandas.Series
        Index label of the base row in `table`, or a row with the same two entries.
    decimals : int, optional
        See `relative_effectiveness`.

    Returns
    -------
    pandas.Series of object
        Numbers and `Undefined` members, named ``relative_effectiveness``, indexed like `table`.

    Raises
    ------
    KeyError
        If a column or the base row is missing.
    """
    row = base if isinstance(base, pd.Series) else table.loc[base]
    compared_with = (row["accuracy"], row["identifiability"])
    values = [
        relative_effectiveness(*measured, *compared_with, decimals=decimals)
        for measured in zip(table["accuracy"], table["identifiability"], strict=True)
    ]
    return pd.Series(values, index=table.index, name="relative_effectiveness", dtype=object)
