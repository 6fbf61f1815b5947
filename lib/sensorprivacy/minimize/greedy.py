"""Rank features by additive scores and take the best, or solve the 0-1 knapsack (paper 1, sections 3.1 and 4.2)."""

import math
from typing import Any

import numpy as np
import pandas as pd
from scipy.optimize import Bounds, LinearConstraint, milp

from sensorprivacy.minimize.settings import ORDERS, VARIANTS

_RATIO_PERCENTILES = (3, 5, 7, 9, 10, 20, 30, 40, 50, 60, 70, 80, 90, 100)
PERCENTILES = {
    "shap": _RATIO_PERCENTILES,
    "gini": (0.03, 0.1, 0.3, 1, 3, 10, 30, 100),
    "gini ratio": (0.03, 0.1, 0.3, 1, *_RATIO_PERCENTILES),
}
"""Percentiles of the score that the authors swept."""

HELPS = 0.1  # share of the highest utility from which a feature helps: a forest gives noise a little utility, too


def rank_features(scores: pd.DataFrame, by: str = "ratio", *, variant: str = "paper") -> list[Any]:
    """Rank the features in the order that a greedy provider takes them.

    Parameters
    ----------
    scores : pandas.DataFrame
        Result of `sensorprivacy.minimize.scores.score_features`.
    by : {"utility", "identifiability", "ratio", "tradeoff"}
        Utility, highest first. Identifiability, lowest first. Ratio c / v, lowest first. Tradeoff, highest first: the
        mean of utility and privacy, each divided by its maximum.
    variant : {"paper", "authors", "own"}
        ``"paper"``: a feature with low identifiability is private; its privacy is the highest c minus its own c.
        ``"authors"``: their notebooks take the *highest* entropy first, use entropy itself as privacy in the tradeoff,
        and take the highest c / (1 + v) of Gini importances. SHAP values are ranked as in the text. ``"own"``: features
        that help the task come first; the others follow by utility, however low their cost is. Ties go by utility.

    Returns
    -------
    list
        All features. Ties keep the order of the columns.

    Raises
    ------
    ValueError
        If `by` or `variant` is unknown.

    References
    ----------
    Paper 1, section 4.2; methods (3) to (11) of section 5.2.
    """
    if by not in ORDERS:
        raise ValueError(f"unknown order {by!r}: choose from {', '.join(ORDERS)}")
    if variant not in VARIANTS:
        raise ValueError(f"unknown variant {variant!r}: choose from {', '.join(VARIANTS)}")
    value, cost, kind = scores["utility"], scores["identifiability"], scores.attrs.get("score")
    authors = variant == "authors"
    if by == "utility":
        key = -value
    elif by == "identifiability":
        key = -cost if authors and kind == "information" else cost
    elif by == "tradeoff":
        privacy = cost if authors else cost.max() - cost
        key = -(_relative(value) + _relative(privacy)) / 2
    else:
        key = -cost / (1 + value) if authors and kind == "gini" else scores["ratio"]
    if variant == "own":
        useless = value < HELPS * value.max()
        order = np.lexsort((-value, key.where(~useless, 0.0), useless))
    else:
        order = np.argsort(key.to_numpy(), kind="stable")
    return scores["feature"].iloc[order].tolist()


def take_features(scores: pd.DataFrame, by: str = "ratio", *, n_features: int, variant: str = "paper") -> list[Any]:
    """Return the features that a greedy provider keeps.

    Parameters
    ----------
    scores : pandas.DataFrame
        Result of `sensorprivacy.minimize.scores.score_features`.
    by, variant : str
        See `rank_features`.
    n_features : int
        Number of features to keep.

    Returns
    -------
    list
        Best first.

    Raises
    ------
    ValueError
        If the number is out of range.
    """
    names = rank_features(scores, by, variant=variant)
    if not 1 <= n_features <= len(names):
        raise ValueError(f"n_features={n_features}: keep between 1 and {len(names)} features")
    return names[:n_features]


def size_at_percentile(d: int, percentile: float, *, inclusive: bool = False) -> int:
    """Return how many of `d` features with distinct scores are within a percentile of the score.

    Parameters
    ----------
    d : int
        Number of features.
    percentile : float
        Above 0, up to 100.
    inclusive : bool, default False
        The authors keep SHAP scores *strictly* beyond the percentile, and Gini importances *at* or beyond it.

    Returns
    -------
    int
        At least 1; d at the 100th percentile.

    Raises
    ------
    ValueError
        If the percentile is out of range.
    """
    if not 0 < percentile <= 100:
        raise ValueError(f"percentile={percentile}: must be above 0 and at most 100")
    rank = round(percentile / 100 * (d - 1), 9)
    if percentile == 100:
        return d
    return math.floor(rank) + 1 if inclusive else max(1, math.ceil(rank))


def knapsack(scores: pd.DataFrame, total_utility: float) -> list[Any]:
    """Return the features with the lowest total identifiability whose utilities sum to V or more.

    This is the optimum that the greedy choice approximates.

    Parameters
    ----------
    scores : pandas.DataFrame
        Result of `sensorprivacy.minimize.scores.score_features`.
    total_utility : float
        V, in units of the score.

    Returns
    -------
    list
        In column order; empty if V is 0.

    Raises
    ------
    ValueError
        If V is negative, or above the total utility of all features.
    RuntimeError
        If the solver fails.

    References
    ----------
    Paper 1, section 3.1: min sum c subject to sum v >= V, solved exactly by SciPy's branch and bound (HiGHS).
    """
    most = float(scores["utility"].sum())
    if not 0 <= total_utility <= most * (1 + 1e-12):
        raise ValueError(f"total_utility={total_utility}: must be between 0 and {most:.6g}, the total of all features")
    value, cost = scores["utility"].to_numpy(dtype=float), scores["identifiability"].to_numpy(dtype=float)
    if total_utility == 0:
        return []
    # shares of V, because the solver's absolute tolerance would hide a small V; more than V counts as V
    share = np.minimum(value / total_utility, 1.0)
    found = milp(
        cost,
        integrality=np.ones(len(cost)),
        bounds=Bounds(0, 1),
        constraints=LinearConstraint(share[np.newaxis, :], lb=1 - 1e-12),
        options={"mip_rel_gap": 0.0},
    )
    if not found.success:
        raise RuntimeError(f"the knapsack of {len(cost)} features could not be solved: {found.message}")
    return scores["feature"][found.x > 0.5].tolist()


def _relative(score: pd.Series) -> pd.Series:
    top = score.max()
    return score / top if top > 0 else score * 0.0
