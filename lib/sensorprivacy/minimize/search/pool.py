"""The features that are searched, and all their subsets."""

from collections.abc import Sequence
from itertools import combinations
from typing import Any

from sensorprivacy.datasets.types import Problem
from sensorprivacy.minimize.engines import Subset

MAX_FEATURES = 20
"""More features than this are not searched: 2 to the 21 forests and more."""


class TooManyFeaturesError(ValueError):
    """More features than an exhaustive search can enumerate."""


def pool_of(problem: Problem, features: Sequence[Any] | None) -> list[int]:
    """Return the positions of the features that are to be searched.

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
        If a feature is named twice, or none is.
    """
    columns = list(problem.features.columns)
    names = columns if features is None else list(features)
    unknown = [name for name in names if name not in columns]
    if unknown:
        raise KeyError(f"no such feature: {', '.join(map(repr, unknown))}; {problem.name} has {columns}")
    if not names or len(set(names)) != len(names):
        raise ValueError(f"name each feature to search once, at least one; got {names}")
    if len(names) > MAX_FEATURES:
        raise TooManyFeaturesError(
            f"{len(names)} features have {2 ** len(names) - 1:,} subsets: search at most {MAX_FEATURES}, preselected "
            "with sensorprivacy.minimize.greedy (the paper keeps 10 to 15)"
        )
    return sorted(columns.index(name) for name in names)


def subsets_of(positions: Sequence[int]) -> list[Subset]:
    """Return every non-empty subset of the positions, the smallest first, each ascending.

    Examples
    --------
    >>> subsets_of([0, 2, 5])
    [(0,), (2,), (5,), (0, 2), (0, 5), (2, 5), (0, 2, 5)]
    """
    ordered = sorted(positions)
    return [subset for size in range(1, len(ordered) + 1) for subset in combinations(ordered, size)]
