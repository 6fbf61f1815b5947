"""Confidence intervals of shares."""

import math
from collections.abc import Iterable

import pandas as pd
from scipy.special import ndtri


def wilson(successes: float, trials: float, confidence: float = 0.95) -> tuple[float, float]:
    """Return Wilson's score interval of a share.

    Parameters
    ----------
    successes : float
        How many of the trials succeeded, 0 to `trials`. May be fractional, as where ties share one success.
    trials : float
        Number of trials, above 0.
    confidence : float, default .95
        Coverage asked for, strictly between 0 and 1.

    Returns
    -------
    tuple of float
        Lower and upper bound, both within [0, 1].

    Raises
    ------
    ValueError
        If an argument lies outside its range.

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
        raise ValueError(f"successes={successes}: must lie between 0 and trials={trials}")
    if not 0 < confidence < 1:
        raise ValueError(f"confidence={confidence}: must lie strictly between 0 and 1, such as .95")
    z = float(ndtri((1 + confidence) / 2))
    share = successes / trials
    centre = (successes + z * z / 2) / (trials + z * z)
    half = z / (trials + z * z) * math.sqrt(trials * share * (1 - share) + z * z / 4)
    # at 0 and 1 the bounds are exact; rounding must not push them off
    low = 0.0 if share == 0 else max(0.0, centre - half)
    high = 1.0 if share == 1 else min(1.0, centre + half)
    return low, high


def with_intervals(
    table: pd.DataFrame,
    trials: int,
    columns: Iterable[str] = ("accuracy", "identifiability"),
    confidence: float = 0.95,
) -> pd.DataFrame:
    """Return a table of shares with Wilson's interval of each: columns ``<name>_low`` and ``<name>_high``.

    Parameters
    ----------
    table : pandas.DataFrame
        One row an outcome, with the columns named.
    trials : int
        Held-out rows that each share was counted on.
    columns : iterable of str
        Columns with shares.
    confidence : float, default .95
        Coverage asked for.

    Returns
    -------
    pandas.DataFrame
        A copy with the two columns behind each share.
    """
    wide = table.copy()
    for name in columns:
        ends = [wilson(round(share * trials), trials, confidence) for share in wide[name]]
        for offset, (word, position) in enumerate((("low", 0), ("high", 1)), start=1):
            at = list(wide.columns).index(name) + offset
            wide.insert(at, f"{name}_{word}", [end[position] for end in ends])
    return wide
