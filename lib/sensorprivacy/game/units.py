"""Intervals and tests whose unit is stated: rows if they are independent, otherwise recordings, groups or people.

Rows of one recording are alike, so a hundred of them say less than a hundred independent rows. All intervals here are
cluster-robust: they use how much the clusters differ from each other.
"""

import math
from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
import pandas as pd
from scipy import stats

FEW = 12  # clusters; below this, the measured coverage is not reliable (bench/interval_coverage.py)


@dataclass(frozen=True)
class Share:
    """A share of successes with its interval.

    Attributes
    ----------
    score : float
        The share.
    low, high : float
        Ends of the confidence interval.
    n : int
        Number of units.
    unit : str
        What is counted: rows, recordings, people, ...
    rows : int
        Number of rows.
    effective : float
        Number of independent rows that would give an interval of the same width.
    """

    score: float
    low: float
    high: float
    n: int
    unit: str
    rows: int
    effective: float

    @property
    def size(self) -> str:
        """Number and name of the units, for tables: ``n = 24 people``."""
        return f"n = {self.n:,} {self.unit}"


@dataclass(frozen=True)
class Difference:
    """A mean difference between two paired measurements.

    Attributes
    ----------
    value, low, high : float
        Mean of the differences, with its confidence interval.
    p : float
        Two-sided p-value of the hypothesis that the mean is 0.
    n, unit : int, str
        Number and name of the units.
    """

    value: float
    low: float
    high: float
    p: float
    n: int
    unit: str


def few_units(sizes: Iterable[str]) -> str:
    """Return one sentence if intervals count too few units, else an empty text.

    Parameters
    ----------
    sizes : iterable of str
        Number and name of the units behind each interval. Rows are never too few.

    Examples
    --------
    >>> few_units(["47 recordings", "10 people"])
    'only 10 people: intervals from fewer than 12 are unreliable'
    """
    counted = (str(size).replace(",", "").partition(" ") for size in dict.fromkeys(sizes))
    few = [f"{n} {unit}" for n, _, unit in counted if unit != "rows" and n.isdigit() and int(n) < FEW]
    return f"only {', '.join(few)}: intervals from fewer than {FEW} are unreliable" if few else ""


def share(
    success: np.ndarray, clusters: np.ndarray | None = None, *, unit: str = "rows", confidence: float = 0.95
) -> Share:
    """Return a share of successes with an interval that treats clusters, not rows, as independent.

    Parameters
    ----------
    success : numpy.ndarray of shape (n,)
        Whether each row is a success, or in which share of runs it is; 0 to 1.
    clusters : numpy.ndarray of shape (n,), optional
        Cluster of each row: its recording, group or person. Without it, the rows are independent.
    unit : str, default "rows"
        Name of a cluster, in the plural.
    confidence : float, default .95
        Coverage.

    Returns
    -------
    Share
        NaN without rows. Wilson's interval for the effective number of rows, with Student's quantile for the number of
        clusters. If all clusters are equally successful, each cluster counts as one trial.

    Raises
    ------
    ValueError
        If a value is outside [0, 1], or `confidence` is not between 0 and 1.

    References
    ----------
    N. Dean, M. Pagano, "Evaluating confidence interval methods for binomial proportions in clustered surveys", J.
    Survey Statistics and Methodology 3 (2015), 484-503. The measured coverage is in ``bench/interval_coverage.py``.
    """
    success = np.asarray(success, dtype=float)
    if not ((success >= 0) & (success <= 1)).all():
        raise ValueError("a value is not from 0 to 1: give whether each row is a success")
    if not 0 < confidence < 1:
        raise ValueError(f"confidence={confidence}: must be above 0 and below 1, such as .95")
    if not len(success):
        return Share(math.nan, math.nan, math.nan, 0, unit, 0, 0.0)
    score, rows = float(success.mean()), len(success)
    codes = np.arange(rows) if clusters is None else pd.factorize(np.asarray(clusters))[0]
    n = int(codes.max()) + 1
    tail = (1 + confidence) / 2
    if clusters is None:
        effective, quantile = float(rows), float(stats.norm.ppf(tail))
    else:
        variance = _robust_variance(success - score, codes, n)
        # Without spread between the clusters, there is no telling how alike rows are: a cluster counts as one trial.
        spread = score * (1 - score) > 0 and variance > 1e-15
        effective = score * (1 - score) / variance if spread else float(n)
        quantile = float(stats.t.ppf(tail, n - 1)) if n > 1 else math.inf
    low, high = wilson_bounds(score, effective, quantile)
    return Share(score, low, high, n, unit, rows, effective)


def difference(
    first: np.ndarray,
    second: np.ndarray,
    clusters: np.ndarray | None = None,
    *,
    unit: str = "rows",
    confidence: float = 0.95,
) -> Difference:
    """Return the mean of `first` - `second`, measured on the same rows, with interval and test.

    Parameters
    ----------
    first, second : numpy.ndarray of shape (n,)
        Two measurements of each row, such as whether each of two models is correct.
    clusters, unit, confidence
        As for `share`.

    Returns
    -------
    Difference
        With clusters, Student's interval of the clusters' sums. Without clusters and for values 0 and 1, the p-value is
        McNemar's exact test.
    """
    change = np.asarray(first, dtype=float) - np.asarray(second, dtype=float)
    if not len(change):
        return Difference(math.nan, math.nan, math.nan, math.nan, 0, unit)
    value, rows = float(change.mean()), len(change)
    codes = np.arange(rows) if clusters is None else pd.factorize(np.asarray(clusters))[0]
    n = int(codes.max()) + 1
    if n < 2:
        return Difference(value, -1.0, 1.0, 1.0, n, unit)
    error = math.sqrt(_robust_variance(change - value, codes, n))
    half = float(stats.t.ppf((1 + confidence) / 2, n - 1)) * error
    if clusters is None and np.isin(change, (-1, 0, 1)).all():
        gains, losses = int((change > 0).sum()), int((change < 0).sum())
        p = float(stats.binomtest(gains, gains + losses).pvalue) if gains + losses else 1.0
    elif error == 0:
        p = 1.0 if value == 0 else 0.0
    else:
        p = float(2 * stats.t.sf(abs(value) / error, n - 1))
    return Difference(value, value - half, value + half, p, n, unit)


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


def _robust_variance(residuals: np.ndarray, codes: np.ndarray, n: int) -> float:
    """Return the cluster-robust variance of a mean, given each row's distance from it."""
    sums = np.bincount(codes, residuals, minlength=n)
    return float(n / (n - 1) * (sums**2).sum() / len(residuals) ** 2) if n > 1 else math.inf
