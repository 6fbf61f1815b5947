"""Relative effectiveness: how much identifiability falls for each unit of accuracy that is lost."""

import math
from enum import StrEnum
from typing import Any

import pandas as pd


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
