"""Bounds of the scores of unfinished forests, learnt from finished ones.

A linear regression learns the score of a finished forest from its prediction by the subset's features
(`foresee`), from these features themselves, and from what the first trees show
(`sensorprivacy.minimize.engine_protocol.Glimpse`), if there are any: they underrate a forest, and a strong subset by
another amount than a weak one. It learns from all forests of similar sizes finished so far: a sample of every size, and
the leaders. The errors on these, each predicted without itself, give the standard error of a prediction; subsets with
similar predictions count. The bounds are `WIDTH` standard errors around the prediction. ``bench/racing.py`` counts how
often they are wrong.

A Gaussian process predicts the scores of all forests from the features of their subsets, before their first tree. It
learns them from the finished forests of a random sample of subsets. It predicts the logarithm of the error (one minus
the score), because a feature removes a share of the error that the others leave. Its correlation function is Matérn's
with smoothness 3/2, with a length for every feature, and the random numbers of a forest are noise. Lengths and noise
have the highest likelihood (scikit-learn's `GaussianProcessRegressor`).

The score of a sampled subset is predicted from the other ones. So the errors of these predictions are like those of
other subsets, and show how far they can be trusted.
"""

import warnings
from dataclasses import dataclass, field

import numpy as np
from scipy.linalg import cho_solve
from sklearn.exceptions import ConvergenceWarning
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.gaussian_process.kernels import ConstantKernel, Matern, WhiteKernel

WIDTH = 3.0
"""Standard errors from a prediction to its bounds."""

_SAMPLE = 12  # subsets of each size, at least, that are finished to learn from; with 15 features, twice as many
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
    foreseen : numpy.ndarray of shape (2**n_features,)
        Predictions from the features of a subset, made without its own forest. NaN before `learn`.
    before : numpy.ndarray of shape (3, 2**n_features)
        Lower bound, prediction and upper bound of each score before its first tree.
    """

    n_features: int
    rows: int
    trees: tuple[int, ...]
    glimpses: np.ndarray = field(init=False)
    exact: np.ndarray = field(init=False)
    foreseen: np.ndarray = field(init=False)
    before: np.ndarray = field(init=False)

    def __post_init__(self) -> None:
        self.glimpses = np.full((len(self.trees), 2**self.n_features, 3), np.nan)
        self.exact, self.foreseen = np.full((2, 2**self.n_features), np.nan)
        self.before = np.repeat([[0.0], [0.5], [1.0]], 2**self.n_features, axis=1)

    @property
    def finished(self) -> np.ndarray:
        """Mark the finished forests."""
        return ~np.isnan(self.exact)

    @property
    def stage(self) -> np.ndarray:
        """Return the number of glimpses that each subset had; all of them for a finished forest."""
        seen = (~np.isnan(self.glimpses[:, :, 0])) * np.arange(1, len(self.trees) + 1)[:, None]
        return np.where(self.finished, len(self.trees), seen.max(axis=0))

    def learn(self, sample: np.ndarray) -> None:
        """Predict all scores from those of a finished sample."""
        self.foreseen = foresee(sample, self.exact[sample], self.n_features)
        self._bound(self.before, sample, np.arange(1, len(self.exact)))

    def bounds(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return the lower bound, the prediction and the upper bound of every score."""
        bounds, stage, finished = self.before.copy(), self.stage, self.finished
        for seen, glimpse in enumerate(self.glimpses, start=1):
            known = np.flatnonzero(finished & ~np.isnan(glimpse[:, 0]))
            self._bound(bounds, known, np.flatnonzero(~finished & (stage == seen)), glimpse)
        low, middle, high = np.where(finished, self.exact, bounds)
        return low, middle, high

    def _bound(self, bounds: np.ndarray, known: np.ndarray, at: np.ndarray, glimpse: np.ndarray | None = None) -> None:
        """Write bounds of some subsets, learnt from finished ones of similar sizes."""

        def shown(rows: np.ndarray) -> np.ndarray:
            trees = [] if glimpse is None else [glimpse[rows]]
            return np.column_stack([*trees, self.foreseen[rows], features_of(rows, self.n_features)])

        predictors = shown(known[:1]).shape[1]
        for size in np.unique(np.bitwise_count(at)):
            new = at[np.bitwise_count(at) == size]
            learnt = of_near_sizes(known, np.bitwise_count(known), size, predictors)
            exact = np.concatenate([self.exact[learnt], np.full(len(new), np.nan)])
            if predicted := predict(shown(np.concatenate([learnt, new])), exact, 1 / self.rows):
                value, error = (part[len(learnt) :] for part in predicted)
                bounds[:, new] = np.clip([value - WIDTH * error, value, value + WIDTH * error], 0, 1)


def of_near_sizes(known: np.ndarray, sizes: np.ndarray, size: int, predictors: int) -> np.ndarray:
    """Return the known subsets of the sizes nearest to a size, enough of them for a regression."""
    distance = np.abs(sizes.astype(int) - size)
    return known[distance <= np.sort(distance)[: _EACH * predictors].max(initial=0)]


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
    >>> [len(sample_of_sizes(n_features)) for n_features in (3, 10, 15, 20)]
    [7, 105, 319, 925]
    """
    # a larger lattice repays more of them
    many = max(round(_SAMPLE * 2 ** max(0, (n_features - 10) / 5)), 2**n_features // (_SHARE * n_features))
    sizes = np.bitwise_count(np.arange(2**n_features))
    draw = np.random.default_rng(0)
    kept = [np.flatnonzero(sizes == 1)]
    for size in range(2, n_features + 1):
        subsets = np.flatnonzero(sizes == size)
        kept.append(draw.choice(subsets, min(many, len(subsets)), replace=False))
    return np.sort(np.concatenate(kept))


_LEAST = 0.01  # added to every error: an error of zero has a logarithm, and errors near zero are no outliers
_ROWS = 4096  # subsets predicted at once


def foresee(sample: np.ndarray, scores: np.ndarray, n_features: int) -> np.ndarray:
    """Predict the scores of all subsets.

    Parameters
    ----------
    sample : numpy.ndarray of int, shape (n,)
        The subsets to learn from. Subset i has the features whose bits are set in i.
    scores : numpy.ndarray of float, shape (n,)
        Their scores, from 0 to 1.
    n_features : int
        Number of features.

    Returns
    -------
    numpy.ndarray of float, shape (2**n_features,)
        One prediction for every subset, also for the empty one. Those of the sample are made without the subset itself.
    """
    kernel = ConstantKernel() * Matern(np.full(n_features, 10.0), nu=1.5) + WhiteKernel(0.01)
    process = GaussianProcessRegressor(kernel, normalize_y=True)
    errors = np.log(1 - scores + _LEAST)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # a length of a useless feature may become infinite
        process.fit(features_of(sample, n_features), errors)
    parts = np.split(np.arange(2**n_features), range(_ROWS, 2**n_features, _ROWS))
    logs = np.concatenate([process.predict(features_of(part, n_features)) for part in parts])
    # the residual of a score predicted without itself, by the inverse of the covariances
    inverse = cho_solve((process.L_, True), np.eye(len(sample)))
    logs[sample] = errors - errors.std() * process.alpha_ / np.diag(inverse)
    return (1 + _LEAST - np.exp(logs)).clip(0, 1)


def features_of(at: np.ndarray, n_features: int) -> np.ndarray:
    """Return which features each subset has, as zeros and ones.

    Examples
    --------
    >>> features_of(np.array([0, 5]), 4)
    array([[0, 0, 0, 0],
           [1, 0, 1, 0]])
    """
    return (at[:, None] >> np.arange(n_features)) & 1
