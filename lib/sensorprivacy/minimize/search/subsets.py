"""The features of a search, and all their subsets."""

from collections.abc import Sequence
from itertools import combinations
from typing import Any

from sensorprivacy.data import Problem
from sensorprivacy.minimize.engine_protocol import Subset

MAX_FEATURES = 20
"""Largest number of features of a search. Twenty features already need two million forests."""


class TooManyFeaturesError(ValueError):
    """Raised when there are too many features to train on every subset."""


def feature_positions(problem: Problem, features: Sequence[Any] | None) -> list[int]:
    """Return the positions of the features to search.

    Parameters
    ----------
    problem : Problem
        The table.
    features : sequence of column names, optional
        Default: all.

    Returns
    -------
    list of int
        Ascending.

    Raises
    ------
    TooManyFeaturesError
        If there are more than 20.
    KeyError
        If a feature does not exist.
    ValueError
        If a name is repeated, or the sequence is empty.
    """
    columns = list(problem.features.columns)
    names = columns if features is None else list(features)
    if unknown := [name for name in names if name not in columns]:
        raise KeyError(f"unknown features {', '.join(map(repr, unknown))}: {problem.name} has {columns}")
    if not names or len(set(names)) != len(names):
        raise ValueError(f"features={names}: name at least one feature to search, each feature once")
    if len(names) > MAX_FEATURES:
        raise TooManyFeaturesError(
            f"{len(names)} features have {2 ** len(names) - 1:,} subsets: search at most {MAX_FEATURES} features, "
            "preselected with sensorprivacy.minimize.greedy (the paper keeps 10 to 15)"
        )
    return sorted(columns.index(name) for name in names)


def all_subsets(positions: Sequence[int]) -> list[Subset]:
    """Return every non-empty subset of the positions, the smallest first.

    Examples
    --------
    >>> all_subsets([0, 2, 5])
    [(0,), (2,), (5,), (0, 2), (0, 5), (2, 5), (0, 2, 5)]
    """
    return [subset for size in range(1, len(positions) + 1) for subset in combinations(sorted(positions), size)]
