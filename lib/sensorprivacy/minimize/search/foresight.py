"""Predict the scores of all forests from the features of their subsets, before their first tree.

A Gaussian process learns them from the finished forests of a random sample of subsets. It predicts the logarithm of
the error (one minus the score), because a feature removes a share of the error that the others leave. Its correlation
function is Matérn's with smoothness 3/2, with a length for every feature, and the random numbers of a forest are noise.
Lengths and noise have the highest likelihood (scikit-learn's `GaussianProcessRegressor`).

The score of a sampled subset is predicted from the other ones. So the errors of these predictions are like those of
other subsets, and show how far they can be trusted.
"""

import warnings

import numpy as np
from scipy.linalg import cho_solve
from sklearn.exceptions import ConvergenceWarning
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.gaussian_process.kernels import ConstantKernel, Matern, WhiteKernel

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
