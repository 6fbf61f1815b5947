"""Greedy selection by additive scores, and the 0-1 knapsack that it approximates (paper 1, sections 3.1 and 4.2)."""

import math
from typing import Any

import numpy as np
import pandas as pd
from scipy.optimize import Bounds, LinearConstraint, milp

ORDERS = ("utility", "identifiability", "ratio", "tradeoff")
"""What features are taken by: most utility, least identifiability, least cost to value, best normalized mean."""

VARIANTS = ("paper", "authors")
"""As the paper's text orders, or as the authors' notebooks do where they differ."""

PERCENTILES = {
    "shap": (3, 5, 7, 9, 10, 20, 30, 40, 50, 60, 70, 80, 90, 100),
    "gini": (0.03, 0.1, 0.3, 1, 3, 10, 30, 100),
    "gini ratio": (0.03, 0.1, 0.3, 1, 3, 5, 7, 9, 10, 20, 30, 40, 50, 60, 70, 80, 90, 100),
}
"""Percentiles of the score that the authors swept."""


def order(scores: pd.DataFrame, by: str = "ratio", *, variant: str = "paper") -> list[Any]:
    """Return the features in the order that a greedy provider takes them.

    Parameters
    ----------
    scores : pandas.DataFrame
        What `sensorprivacy.minimize.scores.score_features` returned.
    by : {"utility", "identifiability", "ratio", "tradeoff"}
        Utility descending; identifiability ascending; ratio c / v ascending; tradeoff, the mean of utility and
        privacy, each divided by its maximum, descending.
    variant : {"paper", "authors"}
        ``"paper"``: a feature is private where its identifiability is low, so its privacy is the highest c less
        its own. ``"authors"``: their notebooks take the *highest* entropy first, count entropy itself as privacy in
        the tradeoff, and take the highest c / (1 + v) of impurities; SHAP values are ordered as in the text.

    Returns
    -------
    list
        Every feature; equal scores keep the order of the columns.

    Raises
    ------
    ValueError
        If the order or the variant is unknown.

    References
    ----------
    Paper 1, section 4.2; methods (3) to (11) of section 5.2.
    """
    if by not in ORDERS:
        raise ValueError(f"unknown order {by!r}: choose from {', '.join(ORDERS)}")
    if variant not in VARIANTS:
        raise ValueError(f"unknown variant {variant!r}: choose from {', '.join(VARIANTS)}")
    value, cost, kind = scores["utility"], scores["identifiability"], scores.attrs.get("score")
    odd = variant == "authors"
    if by == "utility":
        key = -value
    elif by == "identifiability":
        key = -cost if odd and kind == "information" else cost
    elif by == "tradeoff":
        privacy = cost if odd else cost.max() - cost
        key = -(_relative(value) + _relative(privacy)) / 2
    else:
        key = -cost / (1 + value) if odd and kind == "gini" else scores["ratio"]
    return scores["feature"].iloc[np.argsort(key.to_numpy(), kind="stable")].tolist()


def take(
    scores: pd.DataFrame,
    by: str = "ratio",
    *,
    n_features: int | None = None,
    percentile: float | None = None,
    total_utility: float | None = None,
    variant: str = "paper",
) -> list[Any]:
    """Return the features that a greedy provider keeps.

    Parameters
    ----------
    scores : pandas.DataFrame
        What `sensorprivacy.minimize.scores.score_features` returned.
    by, variant : str
        See `order`.
    n_features : int, optional
        Keep this many.
    percentile : float, optional
        Keep those within this percentile of the score, see `size_at_percentile`.
    total_utility : float, optional
        V of section 3.1, in units of the score: take features until their utilities sum to V or more.

    Returns
    -------
    list
        In the order they were taken.

    Raises
    ------
    ValueError
        If not exactly one of the three is given, or it is out of range; `total_utility` above what all features have.
    """
    given = [value is not None for value in (n_features, percentile, total_utility)]
    if sum(given) != 1:
        raise ValueError("say how much to keep by exactly one of n_features, percentile and total_utility")
    names = order(scores, by, variant=variant)
    if total_utility is not None:
        check_total_utility(scores, total_utility)
        gained = scores.set_index("feature")["utility"][names].cumsum().to_numpy()
        # what rounding takes from a sum may not ask for one feature more
        enough = gained >= total_utility - 1e-12 * max(1.0, abs(total_utility))
        n_features = int(np.argmax(enough)) + 1 if total_utility > 0 else 1
    elif percentile is not None:
        inclusive = scores.attrs.get("score") == "gini"
        n_features = size_at_percentile(len(names), percentile, inclusive=inclusive)
    assert n_features is not None
    if not 1 <= n_features <= len(names):
        raise ValueError(f"n_features={n_features}: there are {len(names)} features, keep at least one")
    return names[:n_features]


def size_at_percentile(d: int, percentile: float, *, inclusive: bool = False) -> int:
    """Return how many of `d` features with distinct scores lie within a percentile of the score.

    Parameters
    ----------
    d : int
        Number of features.
    percentile : float
        Above 0, up to 100.
    inclusive : bool, default False
        The authors keep SHAP scores *strictly* beyond the percentile and impurities *at* or beyond it.

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
        raise ValueError(f"percentile={percentile}: must lie above 0 and not above 100")
    rank = round(percentile / 100 * (d - 1), 9)
    if percentile == 100:
        return d
    return math.floor(rank) + 1 if inclusive else max(1, math.ceil(rank))


def knapsack(scores: pd.DataFrame, total_utility: float) -> list[Any]:
    """Return the features of least total identifiability whose utilities sum to V: the optimum greedy approximates.

    Parameters
    ----------
    scores : pandas.DataFrame
        What `sensorprivacy.minimize.scores.score_features` returned.
    total_utility : float
        V, in units of the score.

    Returns
    -------
    list
        In column order; empty if V is 0.

    Raises
    ------
    ValueError
        If V is negative, or above what all features have.
    RuntimeError
        If the solver fails.

    References
    ----------
    Paper 1, section 3.1: min sum c subject to sum v >= V, solved exactly by SciPy's branch and bound (HiGHS).
    """
    check_total_utility(scores, total_utility)
    value, cost = scores["utility"].to_numpy(dtype=float), scores["identifiability"].to_numpy(dtype=float)
    if total_utility == 0:
        return []
    # in shares of V, so that the solver's absolute tolerance does not swallow a small V; more than V counts as V
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


def check_total_utility(scores: pd.DataFrame, total_utility: float) -> None:
    """Refuse a total utility V that is negative or that all features together do not have."""
    most = float(scores["utility"].sum())
    if not 0 <= total_utility <= most * (1 + 1e-12):
        raise ValueError(f"total_utility={total_utility}: must lie between 0 and {most:.6g}, what all features have")


def _relative(score: pd.Series) -> pd.Series:
    top = score.max()
    return score / top if top > 0 else score * 0.0
