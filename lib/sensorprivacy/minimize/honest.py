"""How much a choice flatters: what the rows it was made on say, and what rows it never saw say."""

from collections.abc import Iterable
from typing import Any

import pandas as pd
from sklearn.base import BaseEstimator

from sensorprivacy.datasets.types import Problem
from sensorprivacy.game.play import Outcome, play
from sensorprivacy.game.splits import Split
from sensorprivacy.minimize.search.exhaustive import Search
from sensorprivacy.minimize.select import THRESHOLDS


def confirm(
    problem: Problem,
    found: Search,
    split: Split,
    *,
    thresholds: Iterable[float] = THRESHOLDS,
    model: BaseEstimator | None = None,
    **options: Any,
) -> pd.DataFrame:
    """Choose subsets on the validation rows and play them on the test rows.

    The paper selects its subsets on the rows that it reports, and the largest of many noisy numbers is too large. The
    difference between the two parts is what that flatters.

    Parameters
    ----------
    problem : Problem
        What was searched.
    found : Search
        A search of it that was judged on the validation rows of `split`.
    split : Split
        Three ways.
    thresholds : iterable of float
        Losses of accuracy tolerated.
    model : scikit-learn classifier, optional
        As in the search; its seed is the search's.
    **options
        Passed to `sensorprivacy.minimize.select.select`.

    Returns
    -------
    pandas.DataFrame
        Index threshold; features, n_features, and for accuracy and identifiability ``chosen_`` (validation rows),
        the plain name (test rows) with ``_low`` and ``_high`` (Wilson, 95 %) and ``_flattery``: chosen less test, the
        sign turned for identifiability, so that above zero is always too good. ``loss``: share of the accuracy of
        *all* features that is lost on the test rows, to be held against the threshold.

    Raises
    ------
    ValueError
        If the search was judged on other rows than the validation rows of this split.
    """
    if found.part != "validation" or found.split_digest != split.digest:
        raise ValueError(
            f"the search was judged on {found.part} rows of a split {found.split}: search with a three-way split, and "
            "pass the same split here"
        )
    seed = found.seed
    full = play(problem, model=model, split=split, seed=seed)
    played: dict[tuple[Any, ...], Outcome] = {}
    rows = []
    for threshold in thresholds:
        chosen = found.select(threshold, **options)
        names = tuple(chosen["features"])
        if names not in played:
            played[names] = play(problem, list(names), model=model, split=split, seed=seed)
        outcome = played[names]
        row = {"threshold": threshold, "features": names, "n_features": len(names)}
        for word, measure, sign in (("accuracy", outcome.task, 1), ("identifiability", outcome.adversary, -1)):
            row |= {
                f"chosen_{word}": chosen[word],
                word: measure.score,
                f"{word}_low": measure.low,
                f"{word}_high": measure.high,
                f"{word}_flattery": sign * (chosen[word] - measure.score),
            }
        rows.append(row | {"loss": 1 - outcome.accuracy / full.accuracy})
    return pd.DataFrame(rows).set_index("threshold")
