"""Bounds of the scores of unfinished forests, learnt from finished ones.

The first trees of a forest underrate it, and they underrate a strong subset of features by another amount than a weak
one. A linear regression learns the score of the finished forest from what the first trees show
(`sensorprivacy.minimize.engine_protocol.Glimpse`), from the subsets with one feature more or less, and from the number
of features. It learns from all forests finished so far: a sample of every size, and the leaders. The errors on these,
each predicted without itself, give the standard error of a prediction; subsets with similar predictions count. The
bounds are `WIDTH` standard errors around the prediction. ``bench/racing.py`` counts how often they are wrong.
"""

from dataclasses import dataclass, field

import numpy as np

WIDTH = 3.0
"""Standard errors from a prediction to its bounds."""

_SAMPLE = 12  # subsets of each size that are finished to learn from
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
    """

    n_features: int
    rows: int
    trees: tuple[int, ...]
    glimpses: np.ndarray = field(init=False)
    exact: np.ndarray = field(init=False)

    def __post_init__(self) -> None:
        self.glimpses = np.full((len(self.trees), 2**self.n_features, 3), np.nan)
        self.exact = np.full(2**self.n_features, np.nan)

    @property
    def finished(self) -> np.ndarray:
        """Mark the finished forests."""
        return ~np.isnan(self.exact)

    @property
    def stage(self) -> np.ndarray:
        """Return the number of glimpses that each subset had; all of them for a finished forest."""
        seen = (~np.isnan(self.glimpses[:, :, 0])) * np.arange(1, len(self.trees) + 1)[:, None]
        return np.where(self.finished, len(self.trees), seen.max(axis=0))

    def bounds(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return the lower bound, the prediction and the upper bound of every score."""
        low, middle, high = (np.full(len(self.exact), value) for value in (0.0, 0.5, 1.0))
        around = neighbour_means(self.glimpses[0, :, 0], self.n_features)
        sizes = np.bitwise_count(np.arange(len(self.exact))) / self.n_features
        for glimpse in self.glimpses:
            seen = np.flatnonzero(~np.isnan(glimpse[:, 0]))
            shown = np.column_stack([glimpse[seen], around[seen], sizes[seen]])
            if predicted := predict(shown, self.exact[seen], 1 / self.rows):
                value, error = predicted
                middle[seen] = value.clip(0, 1)
                low[seen], high[seen] = (value - WIDTH * error).clip(0, 1), (value + WIDTH * error).clip(0, 1)
        done = self.finished
        for part in (low, middle, high):
            part[done] = self.exact[done]
        return low, middle, high


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
    leverage = np.einsum("ij,jk,ik->i", scaled, inverse, scaled, optimize=True)
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
    sizes = np.bitwise_count(np.arange(2**n_features))
    draw = np.random.default_rng(0)
    kept = [np.flatnonzero(sizes == 1)]
    for size in range(2, n_features + 1):
        subsets = np.flatnonzero(sizes == size)
        kept.append(draw.choice(subsets, min(_SAMPLE, len(subsets)), replace=False))
    return np.sort(np.concatenate(kept))
