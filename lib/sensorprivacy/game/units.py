"""Intervals and tests whose unit is stated: rows if they are independent, otherwise recordings, groups or people.

Rows of one recording are alike, so a hundred of them say less than a hundred independent rows. All intervals here are
cluster-robust: they use how much the clusters differ from each other. Few clusters, or clusters that differ in a few
cases only, do not show this. Their intervals are wide: they allow for one more cluster that is unlike all others.
``bench/interval_coverage.py`` measures how often the intervals cover, also for the strongest of several attackers.
"""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

import numpy as np
from scipy import special, stats

from sensorprivacy.game.samples import FEW, NONE, Sample, Spread, common_tail


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
        Number of independent rows that have the same interval; clusters of equal size if the interval is wide.
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

    Units of unequal size count less than their number. If they are too few for this reason only, their intervals are
    wide without this sentence.

    Parameters
    ----------
    sizes : iterable of str
        Number and name of the units behind each interval. Rows are never too few.

    Examples
    --------
    >>> few_units(["47 recordings", "10 people"])
    'only 10 people: intervals from fewer than 20 are wide, because they allow for people unlike these'
    """
    counted = (str(size).replace(",", "").partition(" ") for size in dict.fromkeys(sizes))
    few = [(n, unit) for n, _, unit in counted if unit != "rows" and n.isdigit() and int(n) < FEW]
    if not few:
        return ""
    named, units = ", ".join(" ".join(one) for one in few), " and ".join(dict.fromkeys(unit for _, unit in few))
    return f"only {named}: intervals from fewer than {FEW} are wide, because they allow for {units} unlike these"


def share(
    success: np.ndarray,
    clusters: np.ndarray | None = None,
    *,
    unit: str = "rows",
    confidence: float = 0.95,
    more: Spread = NONE,
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
    more : Spread, optional
        How much the share varies for another reason, such as the training of a network. Clusters only.

    Returns
    -------
    Share
        NaN without rows. Wilson's interval without clusters. With clusters, the exact interval of Clopper and Pearson
        for the effective number of rows, lowered by Student's quantile (Korn and Graubard). If the clusters count less
        than 20 of equal size, or fewer than 4 of them carry the variation, they do not show how much others can differ.
        Then the interval of Gaffke, which holds for all distributions over people: it adds one cluster, all of whose
        rows are failures for the lower end and successes for the upper end, and weights the clusters at random. With
        equal clusters that are all right or all wrong, it is Clopper and Pearson's.

    Raises
    ------
    ValueError
        If a value is outside [0, 1], or `confidence` is not between 0 and 1.

    References
    ----------
    E. L. Korn, B. I. Graubard, "Confidence intervals for proportions with small expected number of positive counts
    estimated from survey data", Survey Methodology 24 (1998), 193-201. Unequal clusters have fewer degrees of freedom:
    R. M. Bell, D. F. McCaffrey, "Bias reduction in standard errors for linear regression with multi-stage samples",
    Survey Methodology 28 (2002), 169-181, if the means of all clusters vary equally. N. Gaffke, "Three test statistics
    for a nonparametric one-sided hypothesis on the mean of a nonnegative variable", Mathematical Methods of Statistics
    14 (2005), 451-467; here with a beta distribution of equal mean and variance in place of random weights.
    """
    success = np.asarray(success, dtype=float)
    if not ((success >= 0) & (success <= 1)).all():
        raise ValueError("a value is not from 0 to 1: give whether each row is a success")
    if not 0 < confidence < 1:
        raise ValueError(f"confidence={confidence}: must be above 0 and below 1, such as .95")
    if not len(success):
        return Share(math.nan, math.nan, math.nan, 0, unit, 0, 0.0)
    found = Sample.of(success, clusters, more)
    low, high, effective = found.bounds((1 - confidence) / 2)
    return Share(found.mean, low, high, len(found.influence), unit, len(success), effective)


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
    >>> found.score == alone.score, found.low < 0.5 < alone.low
    (True, True)
    """
    groups = [None] * len(success) if clusters is None else clusters
    shares = [share(one, some, unit=unit, confidence=confidence) for one, some in zip(success, groups, strict=True)]
    best = max(range(len(shares)), key=lambda one: shares[one].score)
    if len(shares) == 1 or not shares[best].rows:
        return best, shares[best]
    samples = [Sample.of(np.asarray(one, dtype=float), some) for one, some in zip(success, groups, strict=True)]
    tail = common_tail(samples, (1 - confidence) / 2)
    low = max(one.bounds(tail)[0] for one in samples)
    return best, replace(shares[best], low=low, high=max(one.high for one in shares))


def difference(
    first: np.ndarray,
    second: np.ndarray,
    clusters: np.ndarray | None = None,
    *,
    unit: str = "rows",
    confidence: float = 0.95,
    more: Spread = NONE,
) -> Difference:
    """Return the mean of `first` - `second`, measured on the same rows, with interval and test.

    Parameters
    ----------
    first, second : numpy.ndarray of shape (n,)
        Two measurements of each row, such as whether each of two models is correct. They differ by 1 at most.
    clusters, unit, confidence, more
        As for `share`.

    Returns
    -------
    Difference
        Student's interval of the clusters' sums, with the degrees of freedom of unequal clusters; or the wide interval
        of `share`, which allows for one more cluster whose difference is -1 or 1, if the clusters count less than 8 of
        equal size, or fewer than 4 of them carry the variation. From -1 to 1 for one cluster; 0 to 0 if `first` and
        `second` are the same array. Without clusters and for values 0 and 1, the p-value is McNemar's exact test.

    Raises
    ------
    ValueError
        If two measurements differ by more than 1.
    """
    change = np.asarray(first, dtype=float) - np.asarray(second, dtype=float)
    if not len(change):
        return Difference(math.nan, math.nan, math.nan, math.nan, 0, unit)
    if np.abs(change).max() > 1:
        raise ValueError(f"two measurements of a row differ by {np.abs(change).max():g}: give shares from 0 to 1")
    found, tail = Sample.of(change, clusters, more, least=-1.0), (1 - confidence) / 2
    if first is second:
        return Difference(0.0, 0.0, 0.0, 1.0, len(found.influence), unit)
    if found.wide:
        low, high = found.wide_bounds(tail)
    else:
        half = -float(special.stdtrit(found.df, tail)) * found.error
        low, high = max(found.mean - half, -1.0), min(found.mean + half, 1.0)
    if clusters is None and np.isin(change, (-1, 0, 1)).all():
        gains, losses = int((change > 0).sum()), int((change < 0).sum())
        p = float(stats.binomtest(gains, gains + losses).pvalue) if gains + losses else 1.0
    else:
        p = found.p()
    return Difference(found.mean, low, high, p, len(found.influence), unit)
