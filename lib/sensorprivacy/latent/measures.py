"""How well inference models do on windows: a share with its interval and its chance level, class by class."""

from dataclasses import dataclass

import numpy as np
import pandas as pd

from sensorprivacy.datasets.types import Windows
from sensorprivacy.game.intervals import wilson
from sensorprivacy.latent.inference import Guesses
from sensorprivacy.latent.windows import recording_of

_DRAWS = 2000


@dataclass(frozen=True)
class Share:
    """A share of windows named rightly.

    Attributes
    ----------
    score : float
        The share.
    low, high : float
        95 % interval. Windows of one recording overlap and look alike, so recordings are drawn anew, not windows.
    windows, recordings : int
        On how many it rests.
    """

    score: float
    low: float
    high: float
    windows: int
    recordings: int


def share(right: np.ndarray, recordings: np.ndarray, confidence: float = 0.95) -> Share:
    """Return the share of right answers with a bootstrap interval over recordings.

    Parameters
    ----------
    right : numpy.ndarray of shape (n,)
        Whether, or in what share of runs, each window was named rightly.
    recordings : numpy.ndarray of int, shape (n,)
        Recording of each window.
    confidence : float
        Coverage asked for.

    Returns
    -------
    Share
        Drawn with a fixed seed, so that equal answers give equal intervals. With fewer than five recordings, Wilson's
        interval with a recording as one trial, as too few can be drawn anew.
    """
    right = np.asarray(right, dtype=float)
    _, group = np.unique(recordings, return_inverse=True)
    sums, counts = np.bincount(group, right), np.bincount(group)
    score = float(right.mean())
    if len(counts) < 5:
        low, high = wilson(score * len(counts), len(counts), confidence)
    else:
        drawn = np.random.default_rng(0).multinomial(len(counts), np.full(len(counts), 1 / len(counts)), size=_DRAWS)
        scores = (drawn @ sums) / (drawn @ counts)
        low, high = (float(end) for end in np.quantile(scores, [(1 - confidence) / 2, (1 + confidence) / 2]))
    # few recordings, all right or all wrong, leave the bootstrap no spread: Wilson over recordings does
    if low == high:
        low, high = wilson(score * len(counts), len(counts), confidence)
    return Share(score, min(low, score), max(high, score), len(right), len(counts))


def chance(learnt: np.ndarray, judged: np.ndarray) -> float:
    """Return the accuracy of always naming the class most frequent among `learnt`, on `judged`."""
    codes, counts = np.unique(learnt, return_counts=True)
    return float(np.mean(judged == codes[counts.argmax()]))


def inference_table(guesses: Guesses, windows: Windows, published: Windows) -> pd.DataFrame:
    """Return accuracy before and after for each public class and for all: Tables 1, 2 and 3.

    Parameters
    ----------
    guesses : Guesses
        The inference models.
    windows, published : Windows
        Test windows, and the same as published.

    Returns
    -------
    pandas.DataFrame
        Index: public class, last ``all``. Columns: ``public_before``, ``public_after``, ``private_before``,
        ``private_after``, each with ``_low`` and ``_high``; ``chance`` (the private class most frequent over all test
        windows); ``windows``.
    """
    public, private = guesses.codes(windows)
    recordings = recording_of(windows)
    columns: dict[str, np.ndarray] = {}
    for when, some in (("before", windows), ("after", published)):
        scaled = guesses.scaled(some)
        columns[f"public_{when}"] = guesses.public_model.predict(scaled) == public
        columns[f"private_{when}"] = guesses.private_model.predict(scaled) == private
    most = np.bincount(private).argmax()
    rows = {}
    for code, name in [*enumerate(guesses.public.classes), (None, "all")]:
        among = np.ones(len(public), dtype=bool) if code is None else public == code
        if not among.any():
            continue
        row: dict[str, float] = {}
        for column in ("public_before", "public_after", "private_before", "private_after"):
            found = share(columns[column][among], recordings[among])
            row |= {column: found.score, f"{column}_low": found.low, f"{column}_high": found.high}
        rows[name] = row | {"chance": float(np.mean(private[among] == most)), "windows": int(among.sum())}
    table = pd.DataFrame.from_dict(rows, orient="index").astype({"windows": int})
    return table.rename_axis("public class")


def confusion(guesses: Guesses, windows: Windows, which: str = "public") -> pd.DataFrame:
    """Return how windows of each true class are named: rows true, columns named, shares of the row."""
    public, private = guesses.codes(windows)
    truth, coding, model = (
        (public, guesses.public, guesses.public_model)
        if which == "public"
        else (private, guesses.private, guesses.private_model)
    )
    named = model.predict(guesses.scaled(windows))
    counts = np.zeros((len(coding.classes), len(coding.classes)))
    np.add.at(counts, (truth, named), 1)
    shares = counts / counts.sum(axis=1, keepdims=True).clip(1)
    return pd.DataFrame(shares, index=pd.Index(coding.classes, name="true"), columns=list(coding.classes))
