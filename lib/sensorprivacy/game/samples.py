"""How a mean over clusters varies, and the ends of its interval; see `sensorprivacy.game.units` for what users call."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np
import pandas as pd
from scipy import special

from sensorprivacy.game.wilson import wilson_bounds

FEW = 20  # clusters of equal size; with fewer, the interval of a share allows for a cluster unlike all others
FEW_PAIRED = 8  # the same for a difference, where people vary less: the unlike cluster costs more than it protects
_CARRIERS = 4  # with fewer clusters that carry the variation, both do so
_NO_SPREAD = 1e-15  # variances below this are rounding
_DRAWS = 20_000  # of the largest of several standardized deviations
_SEED = 0  # so that equal results have equal intervals


class Spread(NamedTuple):
    """A variance of a mean from another source than its clusters, such as trainings, and its degrees of freedom."""

    variance: float = 0.0
    df: float = math.inf


NONE = Spread()


@dataclass(frozen=True)
class Sample:
    """A mean over clusters, or over rows without clusters, and how it varies.

    `influence` is how much each cluster moves the mean. `typical` is the sum of the squared weights of the clusters:
    1 / n for n equal ones. `lean` is the sum of weights times influences. `own` are the degrees of freedom of
    `variance`. `more` is the variance from another source. `least` is the least value: 0, or -1 for differences.
    """

    mean: float
    influence: np.ndarray
    typical: float
    lean: float
    variance: float
    own: float
    more: Spread
    clustered: bool
    least: float

    @classmethod
    def of(
        cls, values: np.ndarray, clusters: np.ndarray | None, more: Spread = NONE, *, least: float = 0.0
    ) -> "Sample":
        """Return the mean of the values of rows in clusters."""
        mean, rows = float(values.mean()), len(values)
        if clusters is None:
            influence, lean = (values - mean) / rows, 0.0
            two, three, four, five = (rows ** (1.0 - power) for power in (2, 3, 4, 5))
        else:
            codes = pd.factorize(np.asarray(clusters))[0]
            influence, weights = np.bincount(codes, values - mean) / rows, np.bincount(codes) / rows
            two, three, four, five = (float((weights**power).sum()) for power in (2, 3, 4, 5))
            lean = float(weights @ influence)
        if len(influence) < 2:
            return cls(mean, influence, two, lean, math.inf, 0.0, more, clusters is not None, least)
        # If the means of all clusters vary equally, the sum of squared influences is a quadratic form with this trace
        # and this trace of its square. For n equal clusters: a factor of n / (n - 1), and n - 1 degrees of freedom.
        trace = two - 2 * three + two**2
        square = four * (1 + 2 * two) - 4 * five + two**4 + 2 * four * two - 4 * two**2 * three + 2 * three**2
        variance = float(influence @ influence) * two / trace
        return cls(mean, influence, two, lean, variance, trace**2 / square, more, clusters is not None, least)

    @cached_property
    def wide(self) -> bool:
        """Whether the clusters do not show how others can differ: they count too few, or too few of them vary."""
        squares = self.influence**2
        total = float(squares.sum())
        few = self.own + 1 < (FEW_PAIRED if self.least else FEW) - 1e-6
        # of n equal clusters, n / kurtosis carry the variation
        return few or total < _NO_SPREAD or total**2 < _CARRIERS * float(squares @ squares)

    @cached_property
    def error(self) -> float:
        """The standard error."""
        return math.sqrt(self.variance + self.more.variance)

    @cached_property
    def df(self) -> float:
        """Degrees of freedom of the standard error, by Welch and Satterthwaite."""
        if not self.more.variance:
            return self.own
        return self.error**4 / (self.variance**2 / self.own + self.more.variance**2 / self.more.df)

    def bounds(self, tail: float) -> tuple[float, float, float]:
        """Return both ends of the interval of a share with this probability beyond each, and its effective rows."""
        quantile, trials = -float(special.ndtri(tail)), 1 / self.typical
        if not self.clustered:
            return *wilson_bounds(self.mean, trials, quantile), trials
        if self.wide:
            return *self.wide_bounds(tail), trials
        spread = self.mean * (1 - self.mean)
        effective = spread / self.error**2 * (quantile / float(special.stdtrit(self.df, tail))) ** 2
        hits, misses = self.mean * effective, (1 - self.mean) * effective
        low, high = special.betaincinv(hits, misses + 1, tail), special.betainccinv(hits + 1, misses, tail)
        return float(low), float(high), effective

    def wide_bounds(self, tail: float) -> tuple[float, float]:
        """Return both ends of the interval that allows for an unlike cluster."""
        if len(self.influence) < 2:
            return self.least, 1.0
        low, high = (float(special.betaincinv(*self._unlike(bound, tail), tail)) for bound in (self.least, 1.0))
        span = 1 - self.least  # the mean lies within, but for rounding
        return min(self.least + span * low, self.mean), max(1 - span * high, self.mean)

    def _unlike(self, bound: float, tail: float) -> tuple[float, float]:
        """Return the beta distribution of the distance of the mean from `bound`, with one more cluster at `bound`.

        Clusters have random weights, exponential times their number of rows. The unlike cluster weighs as much as the
        cluster of a random row. Distances are in units of the range.
        """
        whole, span = 1 + self.typical, 1 - self.least
        mean = (self.mean + self.typical * bound) / whole
        moved = self.mean - mean
        squares = float((self.influence**2).sum()) + 2 * moved * self.lean + moved**2 * self.typical
        squares += (self.typical * (bound - mean)) ** 2
        variance = squares / (whole**2 + self.typical * whole)
        if self.more.variance:
            variance += self.more.variance * float(special.stdtrit(self.more.df, tail) / special.ndtri(tail)) ** 2
        distance = abs(mean - bound) / span
        size = distance * (1 - distance) * span**2 / max(variance, _NO_SPREAD) - 1
        return max(distance * size, _NO_SPREAD), max((1 - distance) * size, _NO_SPREAD)

    def p(self) -> float:
        """Return the two-sided p-value of the hypothesis that a mean difference is 0."""
        if len(self.influence) < 2:
            return 1.0
        if not self.wide:
            return float(2 * special.stdtr(self.df, -abs(self.mean) / self.error))
        tails = [float(special.betainc(*self._unlike(bound, 0.025), 0.5)) for bound in (-1.0, 1.0)]
        return min(1.0, 2 * min(tails))


def common_tail(samples: Sequence[Sample], tail: float) -> float:
    """Return the probability beyond each lower end at which all of them hold together with probability 1 - `tail`."""
    sizes = {len(one.influence) for one in samples}
    if min(sizes) < 2 or len(sizes) > 1:  # such as an attack that failed in a fold
        return tail / len(samples)
    influence = np.stack([one.influence for one in samples])
    length = np.linalg.norm(influence, axis=1, keepdims=True)
    standard = np.divide(influence, length, out=np.zeros(influence.shape), where=length > 0)
    values, vectors = np.linalg.eigh(standard @ standard.T)  # of the correlations of the attackers
    generator = np.random.default_rng(_SEED)
    normal = generator.standard_normal((_DRAWS, len(samples))) * np.sqrt(np.clip(values, 0, None))
    largest = (normal @ vectors.T).max(axis=1)
    studentized = samples[0].clustered and not any(one.wide for one in samples)
    df = samples[0].df if studentized else math.inf
    if studentized:
        largest /= np.sqrt(generator.chisquare(df, _DRAWS) / df)
    quantile = -np.quantile(largest, 1 - tail)
    beyond = float(special.stdtr(df, quantile) if studentized else special.ndtr(quantile))
    return min(max(beyond, tail / len(samples)), tail)
