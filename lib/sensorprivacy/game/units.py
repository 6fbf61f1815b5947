"""Intervals and tests whose unit is stated: rows if they are independent, otherwise recordings, groups or people.

Rows of one recording are alike, so a hundred of them say less than a hundred independent rows. All intervals here are
cluster-robust: they use how much the clusters differ from each other. The measured coverage is in
``bench/interval_coverage.py``, also for the strongest of several attackers.
"""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

import numpy as np
import pandas as pd
from scipy import special, stats

from sensorprivacy.game.wilson import wilson_bounds

FEW = 12  # clusters; below this, intervals of unequal clusters are wide, and paired ones need normal differences
_FEW_EVENTS = 5  # successes or failures of independent rows; with fewer, the spread of the clusters is not known
_NO_SPREAD = 1e-15  # variances below this are rounding
_DRAWS = 20_000  # of the largest of several standardized deviations
_SEED = 0  # so that equal results have equal intervals


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
        Number of independent rows that have the same interval.
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
        NaN without rows. Wilson's interval without clusters. With clusters, the exact interval of Clopper and Pearson
        for the effective number of rows, lowered by Student's quantile (Korn and Graubard). With fewer than 5 effective
        successes or failures, a cluster counts as one trial at most: so few say nothing about how alike rows are.

    Raises
    ------
    ValueError
        If a value is outside [0, 1], or `confidence` is not between 0 and 1.

    References
    ----------
    E. L. Korn, B. I. Graubard, "Confidence intervals for proportions with small expected number of positive counts
    estimated from survey data", Survey Methodology 24 (1998), 193-201. Unequal clusters have fewer degrees of freedom:
    R. M. Bell, D. F. McCaffrey, "Bias reduction in standard errors for linear regression with multi-stage samples",
    Survey Methodology 28 (2002), 169-181, if the means of all clusters vary equally.
    """
    success = np.asarray(success, dtype=float)
    if not ((success >= 0) & (success <= 1)).all():
        raise ValueError("a value is not from 0 to 1: give whether each row is a success")
    if not 0 < confidence < 1:
        raise ValueError(f"confidence={confidence}: must be above 0 and below 1, such as .95")
    if not len(success):
        return Share(math.nan, math.nan, math.nan, 0, unit, 0, 0.0)
    found = _Sample.of(success, clusters)
    low, high, effective = found.bounds((1 - confidence) / 2)
    return Share(found.score, low, high, len(found.influence), unit, len(success), effective)


def strongest(
    success: Sequence[np.ndarray],
    clusters: Sequence[np.ndarray | None] | None = None,
    *,
    unit: str = "rows",
    confidence: float = 0.95,
) -> tuple[int, Share]:
    """Return the index of the largest of several shares, and that share with an interval of the largest true share.

    The largest of many shares is large by chance, too. The lower end allows for this choice: it is the highest lower
    end of all shares at a stricter level, at which all of them hold together. The level is that of the largest
    standardized deviation, whose distribution follows from the correlations of the shares over clusters (a multiplier
    bootstrap with normal weights). The upper end needs no correction: it is the highest of all upper ends.

    Parameters
    ----------
    success : sequence of numpy.ndarray
        Whether each row is a success, one array for each attacker.
    clusters : sequence of numpy.ndarray or None, optional
        Clusters of the rows of each attacker.
    unit, confidence
        As for `share`.

    Returns
    -------
    tuple of int and Share
        With one array, the interval is that of `share`.

    References
    ----------
    T. Hothorn, F. Bretz, P. Westfall, "Simultaneous inference in general parametric models", Biometrical Journal 50
    (2008), 346-363.

    Examples
    --------
    >>> guesses = np.random.default_rng(0).random((10, 400)) < 0.5
    >>> alone = max((share(one) for one in guesses), key=lambda found: found.score)
    >>> best, found = strongest(list(guesses))
    >>> found.score == alone.score, found.low < alone.low < 0.5
    (True, True)
    """
    groups = [None] * len(success) if clusters is None else clusters
    shares = [share(one, some, unit=unit, confidence=confidence) for one, some in zip(success, groups, strict=True)]
    best = max(range(len(shares)), key=lambda one: shares[one].score)
    if len(shares) == 1 or not shares[best].rows:
        return best, shares[best]
    samples = [_Sample.of(np.asarray(one, dtype=float), some) for one, some in zip(success, groups, strict=True)]
    tail = _common_tail(samples, (1 - confidence) / 2)
    low = max(one.bounds(tail)[0] for one in samples)
    return best, replace(shares[best], low=low, high=max(one.high for one in shares))


@dataclass(frozen=True)
class _Sample:
    """A share of successes, and how it varies.

    `influence` is how much each cluster, or each row without clusters, moves the share. `trials` is the number of
    clusters of equal size that vary as much, and `df` the degrees of freedom of `variance`: infinite for rows.
    """

    score: float
    influence: np.ndarray
    variance: float
    df: float
    trials: float

    @classmethod
    def of(cls, success: np.ndarray, clusters: np.ndarray | None) -> "_Sample":
        """Return the share of successes of rows in clusters."""
        score, rows = float(success.mean()), len(success)
        if clusters is None:
            return cls(score, (success - score) / rows, score * (1 - score) / rows, math.inf, rows)
        codes = pd.factorize(np.asarray(clusters))[0]
        influence, weights = np.bincount(codes, success - score) / rows, np.bincount(codes) / rows
        if len(weights) < 2:
            return cls(score, influence, math.inf, 0.0, 1.0)
        two, three, four, five = (float((weights**power).sum()) for power in (2, 3, 4, 5))
        # If the means of all clusters vary equally, the sum of squared influences is a quadratic form with this trace
        # and this trace of its square. For n equal clusters: a factor of n / (n - 1), and n - 1 degrees of freedom.
        trace = two - 2 * three + two**2
        square = four * (1 + 2 * two) - 4 * five + two**4 + 2 * four * two - 4 * two**2 * three + 2 * three**2
        variance = float((influence**2).sum()) * two / trace
        return cls(score, influence, variance, trace**2 / square, 1 / two)

    def bounds(self, tail: float) -> tuple[float, float, float]:
        """Return both ends of the interval with this probability beyond each, and the effective number of rows."""
        quantile = -float(special.ndtri(tail))
        if math.isinf(self.df):
            return *wilson_bounds(self.score, self.trials, quantile), self.trials
        if math.isinf(self.variance):
            return 0.0, 1.0, self.trials
        spread, effective = self.score * (1 - self.score), self.trials
        if min(self.variance, spread) > _NO_SPREAD:
            effective = spread / self.variance * (quantile / float(special.stdtrit(self.df, tail))) ** 2
            if effective * min(self.score, 1 - self.score) < _FEW_EVENTS:
                effective = min(effective, self.trials)
        hits, misses = self.score * effective, (1 - self.score) * effective
        low = float(special.betaincinv(hits, misses + 1, tail)) if self.score > 0 else 0.0
        high = float(special.betainccinv(hits + 1, misses, tail)) if self.score < 1 else 1.0
        return low, high, effective


def _common_tail(samples: Sequence[_Sample], tail: float) -> float:
    """Return the probability beyond each lower end at which all of them hold together with probability 1 - `tail`."""
    if (
        samples[0].df == 0 or len({len(one.influence) for one in samples}) > 1
    ):  # such as an attack that failed in a fold
        return tail / len(samples)
    influence = np.stack([one.influence for one in samples])
    length = np.linalg.norm(influence, axis=1, keepdims=True)
    standard = np.divide(influence, length, out=np.zeros(influence.shape), where=length > 0)
    values, vectors = np.linalg.eigh(standard @ standard.T)  # of the correlations of the attackers
    generator = np.random.default_rng(_SEED)
    normal = generator.standard_normal((_DRAWS, len(samples))) * np.sqrt(np.clip(values, 0, None))
    largest, df = (normal @ vectors.T).max(axis=1), samples[0].df
    if math.isfinite(df):
        largest /= np.sqrt(generator.chisquare(df, _DRAWS) / df)
    quantile = -np.quantile(largest, 1 - tail)
    beyond = float(special.stdtr(df, quantile) if math.isfinite(df) else special.ndtr(quantile))
    return min(max(beyond, tail / len(samples)), tail)


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


def _robust_variance(residuals: np.ndarray, codes: np.ndarray, n: int) -> float:
    """Return the cluster-robust variance of a mean, given each row's distance from it."""
    sums = np.bincount(codes, residuals, minlength=n)
    return float(n / (n - 1) * (sums**2).sum() / len(residuals) ** 2) if n > 1 else math.inf
