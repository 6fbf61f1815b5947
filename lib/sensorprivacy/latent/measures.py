"""Measure inference models on windows: accuracy with confidence intervals and chance levels, class by class."""

from dataclasses import dataclass

import numpy as np
import pandas as pd

from sensorprivacy.datasets.types import Windows
from sensorprivacy.game.units import wilson
from sensorprivacy.latent.inference import InferenceModels
from sensorprivacy.latent.windows import recording_of

_DRAWS = 2000


@dataclass(frozen=True)
class Share:
    """A share of correctly classified windows.

    Attributes
    ----------
    score : float
        The share.
    low, high : float
        95 % confidence interval. Windows of one recording are alike, so whole recordings are resampled.
    windows, recordings : int
        Numbers of windows and recordings.
    """

    score: float
    low: float
    high: float
    windows: int
    recordings: int


def share(right: np.ndarray, recordings: np.ndarray, confidence: float = 0.95) -> Share:
    """Return the share of correct predictions with a bootstrap interval over recordings.

    Parameters
    ----------
    right : numpy.ndarray of shape (n,)
        For each window, whether it was classified correctly, or in which share of runs.
    recordings : numpy.ndarray of int, shape (n,)
        Recording of each window.
    confidence : float
        Coverage of the interval.

    Returns
    -------
    Share
        The seed is fixed, so that equal predictions have equal intervals. Fewer than five recordings are too few to
        resample; the interval is then Wilson's, with each recording as one trial.
    """
    right = np.asarray(right, dtype=float)
    _, group = np.unique(recordings, return_inverse=True)
    sums, counts = np.bincount(group, right), np.bincount(group)
    score, low, high = float(right.mean()), 0.0, 0.0
    if len(counts) >= 5:
        drawn = np.random.default_rng(0).multinomial(len(counts), np.full(len(counts), 1 / len(counts)), size=_DRAWS)
        scores = (drawn @ sums) / (drawn @ counts)
        low, high = (float(end) for end in np.quantile(scores, [(1 - confidence) / 2, (1 + confidence) / 2]))
    # the bootstrap has no spread if all recordings are equally right; Wilson's interval has
    if low == high:
        low, high = wilson(score * len(counts), len(counts), confidence)
    return Share(score, min(low, score), max(high, score), len(right), len(counts))


def chance(training: np.ndarray, test: np.ndarray) -> float:
    """Return the accuracy on `test` of always predicting the most frequent class of `training`."""
    codes, counts = np.unique(training, return_counts=True)
    return float(np.mean(test == codes[counts.argmax()]))


def inference_table(models: InferenceModels, windows: Windows, published: Windows) -> pd.DataFrame:
    """Return the accuracy before and after publication, by public class and overall: Tables 1, 2 and 3.

    Parameters
    ----------
    models : InferenceModels
        The inference models.
    windows, published : Windows
        Test windows, raw and as published.

    Returns
    -------
    pandas.DataFrame
        Index: public class, last ``all``. Columns: ``public_before``, ``public_after``, ``private_before``,
        ``private_after``, each with ``_low`` and ``_high``; ``chance`` (always predicting the private class that is
        most frequent among all test windows); ``windows``.
    """
    public, private = models.codes(windows)
    recordings = recording_of(windows)
    before, after = models.scaled(windows), models.scaled(published)
    right = {
        "public_before": models.public_model.predict(before) == public,
        "public_after": models.public_model.predict(after) == public,
        "private_before": models.private_model.predict(before) == private,
        "private_after": models.private_model.predict(after) == private,
    }
    most = np.bincount(private).argmax()
    rows = {}
    for code, name in [*enumerate(models.public.classes), (-1, "all")]:
        among = (public == code) | (code < 0)
        if not among.any():
            continue
        row: dict[str, float] = {}
        for column, correct in right.items():
            found = share(correct[among], recordings[among])
            row |= {column: found.score, f"{column}_low": found.low, f"{column}_high": found.high}
        rows[name] = row | {"chance": float(np.mean(private[among] == most)), "windows": int(among.sum())}
    table = pd.DataFrame.from_dict(rows, orient="index").astype({"windows": int})
    return table.rename_axis("public class")
