"""Wilson's interval of a share of independent rows."""

import math
from collections.abc import Iterable

import pandas as pd
from scipy import stats


def wilson(successes: float, trials: float, confidence: float = 0.95) -> tuple[float, float]:
    """Return Wilson's score interval of a proportion.

    Parameters
    ----------
    successes : float
        Number of successful trials, 0 to `trials`. It may be fractional, for example if ties share one success.
    trials : float
        Number of trials, above 0.
    confidence : float, default .95
        Coverage, strictly between 0 and 1.

    Returns
    -------
    tuple of float
        Lower and upper bound, both within [0, 1].

    Raises
    ------
    ValueError
        If an argument is outside its range.

    References
    ----------
    E. B. Wilson, "Probable inference, the law of succession, and statistical inference", JASA 22 (1927), 209-212.

    Examples
    --------
    >>> low, high = wilson(8, 10)
    >>> round(low, 3), round(high, 3)
    (0.49, 0.943)
    """
    if not 0 < trials < math.inf:
        raise ValueError(f"trials={trials}: give the number of trials, above 0")
    if not 0 <= successes <= trials:
        raise ValueError(f"successes={successes}: must be between 0 and trials={trials}")
    if not 0 < confidence < 1:
        raise ValueError(f"confidence={confidence}: must be above 0 and below 1, such as .95")
    return wilson_bounds(successes / trials, trials, float(stats.norm.ppf((1 + confidence) / 2)))


def wilson_bounds(score: float, trials: float, quantile: float) -> tuple[float, float]:
    """Return Wilson's bounds of a share for a number of trials and a quantile, both within [0, 1]."""
    if math.isinf(quantile):
        return 0.0, 1.0
    square = quantile * quantile
    centre = (score * trials + square / 2) / (trials + square)
    half = quantile / (trials + square) * math.sqrt(trials * score * (1 - score) + square / 4)
    # the bounds 0 and 1 are exact; rounding must not move them
    low = 0.0 if score == 0 else max(0.0, centre - half)
    high = 1.0 if score == 1 else min(1.0, centre + half)
    return low, high


def with_intervals(
    table: pd.DataFrame,
    trials: int,
    columns: Iterable[str] = ("accuracy", "identifiability"),
) -> pd.DataFrame:
    """Add Wilson's intervals to a table of proportions, as columns ``<name>_low`` and ``<name>_high``.

    Parameters
    ----------
    table : pandas.DataFrame
        One row per outcome.
    trials : int
        Number of held-out rows behind each proportion.
    columns : iterable of str
        Columns with proportions.

    Returns
    -------
    pandas.DataFrame
        A copy with the two new columns after each proportion. A missing proportion has missing bounds: a lazy search
        does not measure every one.
    """
    wide = table.copy()
    for name in columns:
        ends = [
            (math.nan, math.nan) if math.isnan(share) else wilson(round(share * trials), trials) for share in wide[name]
        ]
        place = list(wide.columns).index(name)
        wide.insert(place + 1, f"{name}_low", [low for low, _ in ends])
        wide.insert(place + 2, f"{name}_high", [high for _, high in ends])
    return wide
