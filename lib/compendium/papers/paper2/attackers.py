"""Attackers of a three-way publication who learn: from other columns, and from neighbouring rows."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd
from sklearn.base import BaseEstimator

from sensorprivacy.data import Problem
from sensorprivacy.game import TableScene, attack, default_split
from sensorprivacy.game.tables import adaptive_forest, as_numbers
from sensorprivacy.threeway.division import Division

MOST_VALUES = 20  # distinct values of a column that attackers infer as a class


def secrets(
    frame: pd.DataFrame, division: Division, problem: Problem | None, every: int, stretch: int
) -> tuple[dict[Any, Any], np.ndarray | None]:
    """Return what attackers infer by its name, and the recording of each row, or None if rows are independent.

    Parameters
    ----------
    frame : pandas.DataFrame
        The original rows.
    division : Division
        Its columns' groups.
    problem : Problem or None
        The data set of which the rows are each `every`-th: attackers infer the person. None: they infer each column
        that is dropped or noisy and has few values.
    every : int
        See `problem`.
    stretch : int
        Without a problem: number of neighbouring rows in a recording; 1 if rows are independent.
    """
    if problem is not None:
        groups = None if problem.groups is None else problem.groups.to_numpy()[::every]
        return {"person": problem.users.to_numpy()[::every]}, groups
    hidden = [*division.sensitive, *division.ambiguous]
    few = {name: frame[name] for name in hidden if frame[name].nunique() <= MOST_VALUES}
    return few, np.arange(len(frame)) // stretch if stretch > 1 else None


def infer(
    original: pd.DataFrame, published: pd.DataFrame, labels: Mapping[str, Any], model: BaseEstimator, groups: Any = None
) -> pd.DataFrame:
    """Let a forest infer labels from all other columns, and from the published ones: before noise, unchanged, and all.

    It learns from rows whose label it knows, and is scored on other rows.

    Parameters
    ----------
    original, published : pandas.DataFrame
        The n original rows, and the same rows as published.
    labels : mapping of str to sequence
        Label of each row, by the label's name. A column of this name is not seen before noise.
    model : scikit-learn classifier
        The forest.
    groups : sequence, optional
        Recording of each row. Whole recordings are learned from or attacked. Default: rows are drawn at random.

    Returns
    -------
    pandas.DataFrame
        One row for each label and table: inferred, from, columns, share (of rows inferred), low, high, chance, n, unit.
    """
    same = [name for name in published if original[name].reset_index(drop=True).equals(published[name])]
    sensed = {
        "all other columns": original,
        "published columns, before noise": original[list(published)],
        "unchanged columns": original[same],
        "published columns": published,
    }
    rows = []
    for name, label in labels.items():
        for seen, table in sensed.items():
            known = table if table is published else table.drop(columns=name, errors="ignore")
            if not known.shape[1]:
                continue
            numbers = as_numbers(known.fillna(dict.fromkeys(known.select_dtypes("number"), -1)))
            users = pd.Series(np.asarray(label).astype(str))
            problem = Problem(numbers, users, users, None if groups is None else pd.Series(groups))
            scene = TableScene(problem, numbers, default_split(problem, seed=42), model)
            found = attack(scene, {"forest": adaptive_forest}, levels=["row"])[0].measure
            facts = {"inferred": name, "from": seen, "columns": numbers.shape[1], "share": found.score}
            rows.append(facts | {key: getattr(found, key) for key in ("low", "high", "chance", "n", "unit")})
    return pd.DataFrame(rows, columns=["inferred", "from", "columns", "share", "low", "high", "chance", "n", "unit"])


def average(original: pd.DataFrame, noisy: pd.DataFrame, widths: Sequence[int]) -> pd.DataFrame:
    """Let an attacker who trains nothing average each noisy column over neighbouring rows, and round to whole numbers.

    Noise is drawn anew for each row. States that last over many rows are therefore published many times.

    Parameters
    ----------
    original, noisy : pandas.DataFrame
        The same columns of whole numbers, before and after noise, with rows in the order of time.
    widths : sequence of int
        Numbers of rows in an average; 1 takes each row alone.

    Returns
    -------
    pandas.DataFrame
        One row for each column: the share of cells that each width gives back, and ``one constant``, which always
        answers with the most frequent value.

    Examples
    --------
    >>> lamp = pd.DataFrame({"lamp": [0] * 5 + [1] * 5})
    >>> average(lamp, lamp + [0.6, 0, 0, 0, 0, 0, 0, 0, 0, 0], [1, 3])["1 row"].to_dict()
    {'lamp': 0.9}
    """
    low, high = original.min(), original.max()
    shares = {"one constant": original.apply(lambda column: column.value_counts(normalize=True).max())}
    for width in widths:
        means = noisy.rolling(width, center=True, min_periods=1).mean().clip(low, high, axis=1).round()
        shares[f"{width} row{'s' * (width > 1)}"] = (means == original.reset_index(drop=True)).mean()
    return pd.DataFrame(shares).rename_axis("column")
