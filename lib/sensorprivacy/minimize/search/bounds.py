"""Bounds of the scores of unfinished forests, learnt from finished ones.

The first trees of a forest underrate it, and they underrate a strong subset of features by another amount than a weak
one. A linear regression learns the score of the finished forest from what the first trees show
(`sensorprivacy.minimize.engine_protocol.Glimpse`), from the subsets with one feature more or less, and from the
features themselves. It learns from all forests of similar sizes finished so far: a sample of every size, and the
leaders. The errors on these, each predicted without itself, give the standard error of a prediction; subsets with
similar predictions count. The bounds are `WIDTH` standard errors around the prediction. ``bench/racing.py`` counts how
often they are wrong.

Forests without a tree have bounds too, see `sensorprivacy.minimize.search.ahead`.
"""

from dataclasses import dataclass, field

import numpy as np

WIDTH = 3.0
"""Standard errors from a prediction to its bounds."""

_SAMPLE = 12  # subsets of each size, at least, that are finished to learn from
_SHARE = 1000  # one of so many subsets, if these are more
_EACH = 5  # finished subsets for each predictor
_NEIGHBOURS = 40  # finished subsets of similar scores that give a standard error


@dataclass
class Scores:
    """What is known about the scores of one label; position i of every array is the subset with the bits of i.

    Attributes
    ----------
    n_features, rows : int
        Searched features, and held-out rows.
    trees : tuple of int
        Numbers of trees of the glimpses.
    glimpses : numpy.ndarray of shape (stages, 2**n_features, 3)
        NaN where not made.
    exact : numpy.ndarray of shape (2**n_features,)
        Scores of finished forests; NaN for the others.
    before : numpy.ndarray of shape (3, 2**n_features)
        Lower bound, prediction and upper bound of each score before its first tree; NaN where there are none.
    value : numpy.ndarray of shape (2**n_features,)
        Predictions from the first trees, or from larger subsets if there are no trees. NaN before the race has come to
        a size. They are compared with those of subsets with one feature more or less.
    """

    n_features: int
    rows: int
    trees: tuple[int, ...]
    glimpses: np.ndarray = field(init=False)
    exact: np.ndarray = field(init=False)
    before: np.ndarray = field(init=False)
    value: np.ndarray = field(init=False)

    def __post_init__(self) -> None:
        self.glimpses = np.full((len(self.trees), 2**self.n_features, 3), np.nan)
        self.exact, self.value = np.full((2, 2**self.n_features), np.nan)
        self.before = np.full((3, 2**self.n_features), np.nan)
        self._around: np.ndarray | None = None

    @property
    def finished(self) -> np.ndarray:
        """Mark the finished forests."""
        return ~np.isnan(self.exact)

    @property
    def stage(self) -> np.ndarray:
        """Return the number of glimpses that each subset had; all of them for a finished forest."""
        seen = (~np.isnan(self.glimpses[:, :, 0])) * np.arange(1, len(self.trees) + 1)[:, None]
        return np.where(self.finished, len(self.trees), seen.max(axis=0))

    @property
    def around(self) -> np.ndarray:
        """Return the mean values with one feature more and with one feature less."""
        if self._around is None:
            unknown = np.isnan(self.value)
            around = neighbour_means(np.where(unknown, self.glimpses[0, :, 0], self.value), self.n_features)
            if unknown[1:].any():
                return around
            self._around = around  # the values will not change any more
        return self._around

    def bounds(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return the lower bound, the prediction and the upper bound of every score."""
        unknown = np.array([[0.0], [0.5], [1.0]])
        low, middle, high = np.where(np.isnan(self.before), unknown, self.before)
        shown = np.column_stack([self.around, membership(np.arange(len(self.exact)), self.n_features)])
        finished, sizes = np.flatnonzero(self.finished), np.bitwise_count(np.arange(len(self.exact)))
        for glimpse in self.glimpses:
            seen = ~np.isnan(glimpse[:, 0])
            for size in range(1, self.n_features + 1):
                at, learnt = np.flatnonzero(seen & (sizes == size)), finished[seen[finished]]
                learnt = of_near_sizes(learnt, sizes[learnt], size, glimpse.shape[1] + shown.shape[1])
                rows = np.concatenate([learnt, at])
                exact = np.concatenate([self.exact[learnt], np.full(len(at), np.nan)])
                if predicted := predict(np.column_stack([glimpse[rows], shown[rows]]), exact, 1 / self.rows):
                    value, error = (part[len(learnt) :] for part in predicted)
                    middle[at] = value.clip(0, 1)
                    low[at], high[at] = (value - WIDTH * error).clip(0, 1), (value + WIDTH * error).clip(0, 1)
        done = self.finished
        for part in (low, middle, high):
            part[done] = self.exact[done]
        return low, middle, high


def membership(at: np.ndarray, n_features: int) -> np.ndarray:
    """Return for each subset which features it has, and their number as a share of all."""
    has = (at[:, None] >> np.arange(n_features)) & 1
    return np.column_stack([has, has.mean(axis=1)])


def of_near_sizes(known: np.ndarray, sizes: np.ndarray, size: int, predictors: int) -> np.ndarray:
    """Return the known subsets of the sizes nearest to a size, enough of them for a regression."""
    distance = np.abs(sizes.astype(int) - size)
    return known[distance <= np.sort(distance)[: _EACH * predictors].max(initial=0)]


def neighbour_means(values: np.ndarray, n_features: int) -> np.ndarray:
    """Return the mean value of the subsets with one feature more, and with one feature less, for every subset.

    Unknown values (NaN) are left out. A subset without known neighbours gets its own value.
    """
    at = np.arange(len(values))
    sums, counts = np.zeros((2, len(values))), np.zeros((2, len(values)))
    for bit in range(n_features):
        others, has = values[at ^ (1 << bit)], (at >> bit) & 1
        for side in (0, 1):
            known = ~np.isnan(others) & (has == side)
            sums[side, known] += others[known]
            counts[side] += known
    return np.where(counts > 0, sums / np.maximum(counts, 1), values).T


def predict(shown: np.ndarray, exact: np.ndarray, least: float) -> tuple[np.ndarray, np.ndarray] | None:
    """Predict scores by a linear regression on the known ones.

    Parameters
    ----------
    shown : numpy.ndarray of shape (n, p)
        Predictors.
    exact : numpy.ndarray of shape (n,)
        Known scores; NaN for the unknown ones.
    least : float
        Smallest standard error: one held-out row.

    Returns
    -------
    (numpy.ndarray, numpy.ndarray) or None
        Predictions and their standard errors. The errors are those of the known scores with the most similar
        predictions, each predicted without itself. None if too few scores are known.
    """
    known = ~np.isnan(exact)
    if known.sum() < 2 * shown.shape[1]:
        return None
    centre, spread = shown[known].mean(axis=0), shown[known].std(axis=0)
    scaled = (shown - centre) / np.where(spread > 1e-9, spread, np.inf)
    scaled = np.column_stack([np.ones(len(shown)), scaled])
    inverse = np.linalg.pinv(scaled[known].T @ scaled[known], hermitian=True)
    value = scaled @ (inverse @ (scaled[known].T @ exact[known]))
    leverage = ((scaled @ inverse) * scaled).sum(axis=1)
    missed = (exact[known] - value[known]) / np.maximum(1 - leverage[known], 0.1)
    order = np.argsort(value[known], kind="stable")
    window = min(_NEIGHBOURS, len(order))
    totals = np.concatenate([[0.0], np.cumsum(missed[order] ** 2)])
    first = np.clip(np.arange(len(order)) - window // 2, 0, len(order) - window)
    local = np.sqrt((totals[first + window] - totals[first]) / window)
    error = np.interp(value, value[known][order], local) * np.sqrt(1 + leverage)
    return value, np.maximum(error, least)


def sample_of_sizes(n_features: int) -> np.ndarray:
    """Return the subsets to learn from: all single features, and some of every other size, the same in every race.

    Examples
    --------
    >>> len(sample_of_sizes(3)), len(sample_of_sizes(15))
    (7, 172)
    """
    many = max(_SAMPLE, 2**n_features // (_SHARE * n_features))
    sizes = np.bitwise_count(np.arange(2**n_features))
    draw = np.random.default_rng(0)
    kept = [np.flatnonzero(sizes == 1)]
    for size in range(2, n_features + 1):
        subsets = np.flatnonzero(sizes == size)
        kept.append(draw.choice(subsets, min(many, len(subsets)), replace=False))
    return np.sort(np.concatenate(kept))
