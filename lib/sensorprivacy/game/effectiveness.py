"""Relative effectiveness: how much identifiability falls for each unit of accuracy given up."""

import math
from enum import StrEnum
from typing import Any

import pandas as pd


class Undefined(StrEnum):
    """Why a relative effectiveness is no number."""

    UNCHANGED = "N/A"
    """Accuracy is that of the base: nothing was paid, there is no ratio."""
    DOMINATES = "dominates"
    """Accuracy rose and identifiability did not: better than the base in both."""
    DOMINATED = "dominated"
    """Accuracy fell and identifiability did not: worse than the base in both."""


def relative_effectiveness(
    accuracy: float,
    identifiability: float,
    base_accuracy: float,
    base_identifiability: float,
    *,
    decimals: int | None = None,
) -> float | Undefined:
    """Return r = ln((identifiability - base) / (accuracy - base)), or the name of the case that has none.

    Parameters
    ----------
    accuracy, identifiability : float
        What was measured, both as fractions or both in per cent.
    base_accuracy, base_identifiability : float
        What it is compared with, in the same unit.
    decimals : int, optional
        Round all four to this many decimals first. The paper's tables come from percentages rounded to two: 4 for
        fractions, 2 for percentages. None computes from full precision.

    Returns
    -------
    float or Undefined
        The natural logarithm of the ratio. Where accuracy and identifiability *both rose* the ratio is positive as
        well and a number is returned: read it beside the sign of the change.

    Raises
    ------
    ValueError
        If an argument is not finite.

    References
    ----------
    Paper 1, Definition 2. Its log is natural: only so do the printed tables come out.

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
    paid, gained = accuracy - base_accuracy, identifiability - base_identifiability
    if paid == 0:
        return Undefined.UNCHANGED
    if gained == 0 or (gained > 0) != (paid > 0):
        return Undefined.DOMINATES if paid > 0 else Undefined.DOMINATED
    return math.log(gained / paid)


def effectiveness_column(table: pd.DataFrame, base: Any, *, decimals: int | None = None) -> pd.Series:
    """Return the relative effectiveness of every row of a table against one base.

    Parameters
    ----------
    table : pandas.DataFrame
        With columns ``accuracy`` and ``identifiability``.
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
    if isinstance(base, pd.Series):
        base_accuracy, base_identifiability = base["accuracy"], base["identifiability"]
    else:
        base_accuracy, base_identifiability = table["accuracy"][base], table["identifiability"][base]
    values = [
        relative_effectiveness(accuracy, identifiability, base_accuracy, base_identifiability, decimals=decimals)
        for accuracy, identifiability in zip(table["accuracy"], table["identifiability"], strict=True)
    ]
    return pd.Series(values, index=table.index, name="relative_effectiveness", dtype=object)
