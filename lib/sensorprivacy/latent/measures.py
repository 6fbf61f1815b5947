"""Measure inference models on windows: accuracy with confidence intervals and chance levels, class by class."""

import numpy as np
import pandas as pd

from sensorprivacy.data import Windows
from sensorprivacy.game.units import share
from sensorprivacy.latent.inference import InferenceModels


def chance(training: np.ndarray, test: np.ndarray) -> float:
    """Return the accuracy on `test` of always predicting the most frequent class of `training`.

    If several classes are equally frequent in training, the guess is drawn among them: the mean of their accuracies.
    """
    return float(guessed(training, test).mean())


def guessed(training: np.ndarray, test: np.ndarray) -> np.ndarray:
    """Return how often the guess of `chance` is correct for each test value, 0 to 1."""
    codes, counts = np.unique(training, return_counts=True)
    most = codes[counts == counts.max()]
    return np.isin(test, most) / len(most)


def activity_lost(table: pd.DataFrame, most: float = 0.15) -> str:
    """Return one sentence if publication lost much accuracy on some public class, else an empty text.

    Short trainings lose the rarest movements first. Such a run shows little about the method.

    Parameters
    ----------
    table : pandas.DataFrame
        As `inference_table` returns it.
    most : float
        Greatest loss of accuracy, 0 to 1, that needs no remark.
    """
    lost = table[table["public_before"] - table["public_after"] > most]
    each = [f"{name} (from {row.public_before:.2f} to {row.public_after:.2f})" for name, row in lost.iterrows()]
    if not each:
        return ""
    return f"the shift loses much activity accuracy on {', '.join(each)}: raise epochs before you judge the method"


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
        most frequent among all test windows); ``windows``; ``n``, the unit of the intervals and its number. They count
        people: windows of one person are alike, and a private attribute belongs to the person.
    """
    public, private = models.codes(windows)
    people = windows.subject.to_numpy()
    before, after = models.inferred(windows), models.inferred(published)
    right = {
        "public_before": before[0] == public,
        "public_after": after[0] == public,
        "private_before": before[1] == private,
        "private_after": after[1] == private,
    }
    most = np.bincount(private).argmax()
    rows: dict[str, dict[str, object]] = {}
    for code, name in [*enumerate(models.public.classes), (-1, "all")]:
        among = (public == code) | (code < 0)
        if not among.any():
            continue
        row: dict[str, float] = {}
        for column, correct in right.items():
            found = share(correct[among], people[among], unit="people")
            row |= {column: found.score, f"{column}_low": found.low, f"{column}_high": found.high}
        chance_level = float(np.mean(private[among] == most))
        rows[name] = row | {"chance": chance_level, "windows": int(among.sum()), "n": f"{found.n} {found.unit}"}
    table = pd.DataFrame.from_dict(rows, orient="index").astype({"windows": int})
    return table.rename_axis("public class")
