"""Methods that rewrite columns instead of dropping them: feature hashing, principal components, noise."""

from collections.abc import Sequence
from dataclasses import KW_ONLY, dataclass
from typing import Any, Self

import numpy as np
from scipy.sparse import csr_matrix
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, OneToOneFeatureMixin, TransformerMixin
from sklearn.decomposition import PCA, SparsePCA
from sklearn.feature_extraction import FeatureHasher
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils import Tags
from sklearn.utils.validation import check_is_fitted, validate_data

from sensorprivacy.mechanisms import SecureNoise, SeededNoise, check_epsilon, laplace

SPARSE_PCA_ROWS = 2000


@dataclass(eq=False, repr=False)
class ColumnHasher(ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator):
    """Hash column names into fewer columns and add the columns that share one, with random signs (method 1).

    The result equals that of scikit-learn's ``FeatureHasher`` for rows as dicts {column name: value}. It is computed
    by one sparse product instead of one dict per row.

    Parameters
    ----------
    n_columns : int, default 10
        Number of published columns.

    Attributes
    ----------
    projection_ : scipy.sparse matrix of shape (d, n_columns)
        Entries -1, 0 and 1.

    References
    ----------
    Paper 1, section 2.2.2; Weinberger et al., "Feature hashing for large scale multitask learning", ICML 2009.
    """

    n_columns: int = 10

    def fit(self, X: Any, y: Any = None) -> Self:
        """Learn the names of the columns. Columns without names are called ``x0``, ``x1``, ..."""
        validate_data(self, X)
        names = getattr(self, "feature_names_in_", [f"x{i}" for i in range(self.n_features_in_)])
        hasher = FeatureHasher(n_features=self.n_columns, input_type="dict")
        self.projection_ = csr_matrix(hasher.transform([{str(name): 1.0} for name in names]))
        self._n_features_out = self.n_columns
        return self

    def transform(self, X: Any) -> np.ndarray:
        """Return the hashed columns, shape (n, n_columns)."""
        check_is_fitted(self)
        return np.asarray(validate_data(self, X, reset=False, dtype=float) @ self.projection_)


@dataclass(eq=False, repr=False)
class LaplaceNoise(OneToOneFeatureMixin, TransformerMixin, BaseEstimator):
    """Add Laplace noise to every cell (method 12), either as the paper's authors did or with a privacy guarantee.

    Parameters
    ----------
    epsilon : float, default 1
        As printed: the noise has scale 1 / epsilon. Sound: the privacy loss of one whole row.
    sound : bool, default False
        False: every cell gets noise of the same scale; values are neither clipped nor scaled. This is *not*
        differential privacy for features whose values differ by more than 1. True: each of the d features is clipped
        to its bounds and gets noise of scale d (high - low) / epsilon. The release of a row is then
        epsilon-differentially private (local model; the d features share epsilon equally).
    bounds : pandas.DataFrame or array-like of shape (d, 2), optional
        Lowest and highest value of each feature, known *without* looking at the data. Default, also for rows of NaN:
        minimum and maximum of the fitted rows. These reveal extreme rows, so the guarantee holds for given bounds only.
    seed : int or None, default None
        None: sound noise comes from OpenDP and the operating system's secure generator. Use this for releases. A number
        makes results repeatable, with noise of the same distribution from NumPy. Such noise protects nobody: anyone who
        knows the seed can subtract it. Every call of ``transform`` draws new noise.

    Attributes
    ----------
    low_, high_ : numpy.ndarray of shape (d,)
        The bounds; infinite where values are not clipped.
    scale_ : numpy.ndarray of shape (d,)
        Scale of each feature's noise.
    bounds_from_data_ : bool
        Whether the bounds of a feature come from the data.
    epsilon_total_, guarantees_ : float, tuple of str
        Sound noise only: privacy loss of one row, and the guarantee with its limits.

    Raises
    ------
    ValueError
        If epsilon is not positive, or the bounds have the wrong shape or are not finite and in order.

    References
    ----------
    Paper 1, section 2.2.1; Dwork, McSherry, Nissim, Smith, "Calibrating noise to sensitivity", TCC 2006.
    """

    epsilon: float = 1.0
    _: KW_ONLY
    sound: bool = False
    bounds: Any = None
    seed: int | None = None

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.non_deterministic = True
        return tags

    def fit(self, X: Any, y: Any = None) -> Self:
        """Set bounds and noise scales.

        Parameters
        ----------
        X : DataFrame or array-like of shape (n, d)
            Training rows.
        y : ignored

        Returns
        -------
        LaplaceNoise
        """
        matrix = validate_data(self, X, dtype=float)
        if not self.epsilon > 0:
            raise ValueError(f"epsilon={self.epsilon}: must be above 0")
        d = matrix.shape[1]
        unknown = np.full(d, bool(self.sound and self.bounds is None))
        if not self.sound:
            self.low_, self.high_ = np.full(d, -np.inf), np.full(d, np.inf)
            self.scale_ = np.full(d, 1 / self.epsilon)
        else:
            seen = np.c_[matrix.min(axis=0), matrix.max(axis=0)]
            given = seen if self.bounds is None else np.asarray(self.bounds, dtype=float)
            if given.shape != (d, 2):
                raise ValueError(f"bounds must be {d} rows of (low, high), got shape {given.shape}")
            unknown |= np.isnan(given).all(axis=1)
            given = np.where(unknown[:, None], seen, given)
            self.low_, self.high_ = given[:, 0].astype(float), given[:, 1].astype(float)
            with np.errstate(over="ignore", invalid="ignore"):
                widths = self.high_ - self.low_
            if not (np.isfinite(widths) & (widths >= 0)).all():
                raise ValueError("bounds must be two finite numbers for each feature, with low <= high")
            self.scale_ = d * widths / self.epsilon
            names = list(getattr(self, "feature_names_in_", range(1, d + 1)))
            of_data = [str(name) for name, one in zip(names, unknown, strict=True) if one]
            self.epsilon_total_, self.guarantees_ = float(self.epsilon), _guarantees(self.epsilon, of_data, d)
            if self.seed is None:
                check_epsilon(self.epsilon / d)
        self.bounds_from_data_ = bool(unknown.any())
        self._noise = SeededNoise(self.seed)
        return self

    def transform(self, X: Any) -> np.ndarray:
        """Return the clipped rows with new noise, shape (n, d)."""
        check_is_fitted(self)
        matrix = validate_data(self, X, reset=False, dtype=float)
        if self.sound and self.seed is None:
            share, source = self.epsilon / self.n_features_in_, SecureNoise()
            columns = zip(matrix.T, self.low_, self.high_, strict=True)
            return np.column_stack([laplace(cells, low, high, share, source) for cells, low, high in columns])
        return self._noise.laplace(np.clip(matrix, self.low_, self.high_), self.scale_)


def _guarantees(epsilon: float, of_data: Sequence[str], d: int) -> tuple[str, ...]:
    lines = [
        "Every cell gets its own noise. A published row is at most e^epsilon times more likely than under any other "
        f"row within the bounds (local differential privacy), with epsilon {epsilon:g} for the whole row. A "
        "person with several rows loses that much for each row."
    ]
    if of_data:
        which = "" if len(of_data) == d else f" of {', '.join(of_data)}"
        lines.append(f"The bounds{which} were read from the fitted rows. Epsilon does not cover this leak of extremes.")
    return tuple(lines)


class SampledSparsePCA(SparsePCA):
    """Sparse PCA that is fitted to at most 2,000 rows, drawn at random, because fitting is slow."""

    def fit(self, X: np.ndarray, y: Any = None) -> Self:
        """Fit the components to the drawn rows of an array of shape (n, d)."""
        rows = np.random.default_rng(self.random_state).permutation(len(X))[:SPARSE_PCA_ROWS]
        return super().fit(X[rows])


def components(n_components: int, *, sparse: bool = False, seed: int | None = None) -> Pipeline:
    """Return a pipeline of standardization and principal components (method 2).

    Parameters
    ----------
    n_components : int
        Number of published columns.
    sparse : bool, default False
        Use sparse PCA (Zou et al.), whose components combine few columns each.
    seed : int or None
        Seed of the decomposition.

    Returns
    -------
    sklearn.pipeline.Pipeline
    """
    step = SampledSparsePCA if sparse else PCA
    return make_pipeline(StandardScaler(), step(n_components, random_state=seed))
