"""Choose among searched subsets: the rule of paper 1, section 4.1, and a parsimonious one beside it."""

import math
from collections.abc import Iterable, Sequence
from typing import Any

import pandas as pd

from sensorprivacy.game.effectiveness import effectiveness_column

THRESHOLDS = (0.0, 0.01, 0.03, 0.1, 0.3, 1.0)
"""Accuracy losses of Tables 4-12: shares of the highest accuracy that may be given up."""


class NoSubsetError(ValueError):
    """No searched subset keeps the accuracy that was asked for."""


def select(
    subsets: pd.DataFrame,
    threshold: float,
    *,
    reference: float | None = None,
    margin: float | None = None,
    decimals: int | None = None,
) -> pd.Series:
    """Return the subset with the lowest identifiability among those that keep enough accuracy.

    Kept are the subsets S with Acc(S) >= (1 - l) max Acc(S'). Of these the one with the lowest identifiability wins;
    equal ones are told apart by fewer features, then higher accuracy, then the lexicographically first.

    Parameters
    ----------
    subsets : pandas.DataFrame
        Columns ``features`` (tuple of names or positions), ``n_features``, ``accuracy``, ``identifiability``, the
        last two as fractions. An unknown identifiability (NaN, from a lazy adversary) may not pass the threshold.
    threshold : float
        Loss l that is tolerated, 0 to 1.
    reference : float, optional
        Accuracy that the loss is counted from. Default: the highest in `subsets` (section 4.1). Definition 1 counts
        from the model on *all* features: pass its accuracy for that.
    margin : float, optional
        Parsimonious choice: among the allowed subsets whose identifiability exceeds the lowest by at most `margin`
        (a fraction), the one with the fewest features.
    decimals : int, optional
        Compare accuracies and identifiabilities rounded to this many decimals: for logs printed with fewer digits.

    Returns
    -------
    pandas.Series
        The row of the chosen subset, named by its index label, with ``threshold`` added.

    Raises
    ------
    NoSubsetError
        If no subset keeps the accuracy: only possible against a `reference`.
    ValueError
        If `threshold` or `margin` is out of range, the table is empty, or an allowed subset was never attacked.

    Notes
    -----
    Section 4.1 does not say what happens among equals; the printed tables and the authors' logs do. Fewer features
    come first: at l = .01 Table 4 prints one feature with 99.05 % where two with the same identifiability have
    99.08 %. Then higher accuracy: at l = .1 it prints 95.15 % where another single feature, equal in
    identifiability, has 95.12 %.

    References
    ----------
    Paper 1, sections 3.2 and 4.1.
    """
    check_threshold(threshold)
    if margin is not None and not 0 <= margin <= 1:
        raise ValueError(f"margin={margin}: must lie between 0 and 1")
    if subsets.empty:
        raise ValueError("there is no subset to select from")
    accuracy, identifiability = subsets["accuracy"], subsets["identifiability"]
    if decimals is not None:
        accuracy, identifiability = accuracy.round(decimals), identifiability.round(decimals)
    best = accuracy.max() if reference is None else reference
    allowed = subsets.index[accuracy >= least_accuracy(best, threshold)]
    if allowed.empty:
        raise NoSubsetError(
            f"no subset keeps an accuracy of {(1 - threshold) * best:.4f} (threshold {threshold} below {best:.4f}); "
            f"the best has {accuracy.max():.4f}: raise the threshold, or search among more features"
        )
    if identifiability[allowed].isna().any():
        raise ValueError(
            f"{int(identifiability[allowed].isna().sum())} subsets pass threshold {threshold} but were never attacked: "
            "search with lazy set to at least this threshold"
        )
    if margin is not None:
        near = identifiability[allowed] <= identifiability[allowed].min() + margin
        allowed = allowed[near.to_numpy()]
    rank = pd.DataFrame(
        {
            "identifiability": identifiability[allowed],
            "loss": -accuracy[allowed],
            "n_features": subsets.loc[allowed, "n_features"],
            "features": subsets.loc[allowed, "features"],
        }
    )
    order = ["n_features"] * (margin is not None) + ["identifiability", "n_features", "loss", "features"]
    winner = rank.sort_values(list(dict.fromkeys(order)), kind="stable").index[0]
    return pd.concat([subsets.loc[winner], pd.Series({"threshold": threshold})]).rename(winner)


def select_table(
    subsets: pd.DataFrame,
    thresholds: Sequence[float] | Iterable[float] = THRESHOLDS,
    *,
    rounded: int | None = 4,
    **options: Any,
) -> pd.DataFrame:
    """Return the chosen subset at each threshold with its relative effectiveness, as Tables 4-12 print them.

    Parameters
    ----------
    subsets : pandas.DataFrame
        See `select`.
    thresholds : iterable of float
        Default: the paper's six.
    rounded : int or None, default 4
        Decimals that fractions are rounded to before relative effectiveness is computed from the first row: 4 is
        what the paper did (percentages with two decimals); None uses full precision.
    **options
        Passed to `select`.

    Returns
    -------
    pandas.DataFrame
        Index threshold; columns features, n_features, accuracy, identifiability, relative_effectiveness (numbers and
        `sensorprivacy.game.Undefined` members).

    Raises
    ------
    ValueError
        If there is no threshold; else see `select`.
    """
    levels = list(thresholds)
    if not levels:
        raise ValueError("no threshold to select at: pass at least one")
    rows = [select(subsets, level, **options) for level in levels]
    table = pd.DataFrame(rows).set_index(pd.Index(levels, name="threshold"))
    table = table[["features", "n_features", "accuracy", "identifiability"]].infer_objects()
    base = table.iloc[0]
    return table.assign(relative_effectiveness=effectiveness_column(table, base, decimals=rounded))


def least_accuracy(best: float, threshold: float) -> float:
    """Return the accuracy that must be kept, (1 - l) times the best, less what floating point may add to it."""
    return (1 - threshold) * best - 4 * math.ulp(best)


def check_threshold(threshold: float) -> None:
    """Refuse a threshold outside [0, 1].

    Parameters
    ----------
    threshold : float
        Share of accuracy that may be given up.

    Raises
    ------
    ValueError
        If it is no number from 0 to 1.
    """
    if not isinstance(threshold, int | float) or isinstance(threshold, bool) or not 0 <= threshold <= 1:
        raise ValueError(f"threshold={threshold!r}: must be a number from 0 (lose nothing) to 1 (lose everything)")
