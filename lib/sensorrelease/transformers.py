"""The transformers behind the defences for tables."""

import warnings
from collections.abc import Collection, Mapping
from typing import Any, Self

import numpy as np
import pandas as pd
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.ensemble import RandomForestClassifier
from sklearn.model_selection import StratifiedGroupKFold, StratifiedKFold, cross_val_predict
from sklearn.utils.validation import check_is_fitted

from sensorprivacy.data import Problem, as_frame
from sensorprivacy.game.play import fit_clone
from sensorprivacy.minimize.baselines import METHODS
from sensorprivacy.minimize.greedy import rank_features
from sensorprivacy.minimize.rewrites import ColumnHasher, LaplaceNoise, components
from sensorprivacy.minimize.scores import score_features
from sensorrelease.subset_search import searched

CHOSEN = "The kept columns were chosen from the fitted rows. Epsilon does not cover this choice."


class TaskPrediction(TransformerMixin, BaseEstimator):
    """Release the predicted task label alone, all that a service needs for its task, of a forest of some trees."""

    def __init__(self, trees: int = 100, seed: int | None = 42) -> None:
        self.trees, self.seed = trees, seed

    def fit(self, X: pd.DataFrame, y: Any, groups: Any = None) -> Self:
        """Train the forest on the rows and their task labels."""
        forest = RandomForestClassifier(self.trees, random_state=self.seed)
        self.forest_ = fit_clone(forest, np.asarray(X, float), y)
        return self

    def transform(self, X: pd.DataFrame) -> pd.DataFrame:
        """Return one column, ``prediction``."""
        check_is_fitted(self)
        return _prediction(self.forest_.predict(np.asarray(X, float)), X)

    def get_feature_names_out(self, input_features: Any = None) -> np.ndarray:
        """Return the name of the column."""
        return np.array(["prediction"], dtype=object)

    def fit_transform(self, X: pd.DataFrame, y: Any = None, groups: Any = None) -> pd.DataFrame:
        """Fit, and return predictions by forests that have not seen the row, as a new row gets them."""
        self.fit(X, y)
        kind = StratifiedKFold if groups is None else StratifiedGroupKFold
        folds = kind(3, shuffle=True, random_state=self.seed)
        with warnings.catch_warnings():  # a class with fewer rows than folds cannot be in every fold
            warnings.simplefilter("ignore", UserWarning)
            forest = RandomForestClassifier(self.trees, random_state=self.seed, n_jobs=1)
            found = cross_val_predict(forest, np.asarray(X, float), y, groups=groups, cv=folds, n_jobs=1)
        return _prediction(found, X)


def _prediction(labels: np.ndarray, X: Any) -> pd.DataFrame:
    return pd.DataFrame({"prediction": labels}, index=getattr(X, "index", None))


class _KeepsColumns(TransformerMixin, BaseEstimator):
    """A transformer whose attribute ``kept_`` has the names of the released columns."""

    kept_: list[Any]

    def get_feature_names_out(self, input_features: Any = None) -> np.ndarray:
        """Return the names of the kept columns."""
        check_is_fitted(self)
        return np.array(self.kept_, dtype=object)


class MinimizedTable(_KeepsColumns):
    """Keep the columns that a search of all subsets chooses, as paper 1 does, and add noise to them if wanted.

    Of many columns, forward selection takes those to search, because paper 1's ranking of single columns keeps similar
    ones. Of the subsets whose identifiability is within one standard error of the lowest, or of chance if that is
    higher, the smallest is kept: in small tables, the paper's rule keeps columns that are lower by chance. The loss is
    measured from the accuracy on all columns. Forests of a few trees score all subsets on a third of the rows, and
    larger ones the finalists on the other rows. If every finalist loses more, the best-ranked columns are kept, as few
    as bisection finds to lose little enough. The same search serves every threshold; it is done once for the last
    table.

    Parameters
    ----------
    threshold : float, default .01
        Share of the accuracy on all columns that may be lost, on training rows on which no subset was searched.
    preselect : int, default 10
        Number of columns that forward selection takes for the search.
    epsilon : float, optional
        Add noise to the kept columns, of this privacy loss for each row.
    trees : int, default 10
        Trees of each forest of the search. Each of the two forests of a finalist has five times as many.
    seed, noise_seed : int or None
        Seeds of the search and of the noise. No seed: secure noise.
    bounds : mapping, optional
        Lowest and highest value by column, known without looking at the data; see `LaplaceNoise`.

    Attributes
    ----------
    kept_ : list
        Names of the kept columns.
    noise_ : LaplaceNoise or None
        The fitted noise.
    """

    def __init__(
        self,
        threshold: float = 0.01,
        *,
        preselect: int = 10,
        epsilon: float | None = None,
        trees: int = 10,
        seed: int | None = 42,
        noise_seed: int | None = None,
        bounds: Mapping[Any, tuple[float, float]] | None = None,
    ) -> None:
        self.threshold, self.preselect, self.epsilon, self.trees = threshold, preselect, epsilon, trees
        self.seed, self.noise_seed, self.bounds = seed, noise_seed, bounds

    def fit(self, X: pd.DataFrame, y: Any, users: Any, groups: Any = None) -> Self:
        """Search the columns, on rows of the table `X` only."""
        X = as_frame(X)
        labels: list[Any] = [None if some is None else np.asarray(some) for some in (y, users, groups)]
        table = Problem(X, *labels)
        self.kept_ = searched(table, self.preselect, self.trees, self.seed).kept(self.threshold)
        self.noise_ = None
        if self.epsilon is not None:
            given = self.bounds or {}
            ends = [given.get(name, (np.nan, np.nan)) for name in self.kept_] if given else None
            noise = LaplaceNoise(self.epsilon, sound=True, bounds=ends, seed=self.noise_seed)
            self.noise_ = noise.fit(X[self.kept_])
            self.guarantees_, self.epsilon_total_ = (*self.noise_.guarantees_, CHOSEN), self.noise_.epsilon_total_
        return self

    def transform(self, X: pd.DataFrame) -> pd.DataFrame:
        """Return the kept columns, with noise if there is any."""
        check_is_fitted(self)
        kept = as_frame(X)[self.kept_]
        return kept if self.noise_ is None else pd.DataFrame(self.noise_.transform(kept), kept.index, kept.columns)


class TopColumns(_KeepsColumns):
    """Keep the columns that one of paper 1's rankings puts first.

    Parameters
    ----------
    method : str
        A key of `sensorprivacy.minimize.METHODS` that ranks columns.
    columns : int, optional
        Number of columns to keep. Default: half of them.
    seed : int or None
        Seed of the scores.

    """

    def __init__(self, method: str = "shap_ratio", columns: int | None = None, seed: int | None = 42) -> None:
        self.method, self.columns, self.seed = method, columns, seed

    def fit(self, X: pd.DataFrame, y: Any, users: Any) -> Self:
        """Score and rank the columns."""
        X, how = as_frame(X), METHODS[self.method]
        ranked = rank_features(score_features(X, y, users, how.score, seed=self.seed), how.by)
        self.kept_ = ranked[: _size(self.columns, X.shape[1])]
        return self

    def transform(self, X: pd.DataFrame) -> pd.DataFrame:
        """Return the kept columns."""
        check_is_fitted(self)
        return as_frame(X)[self.kept_]


class Rounded(TransformerMixin, BaseEstimator):
    """Round numbers to significant digits: 12,345 becomes 12,000 with two. Numbers of categories stay as they are.

    Parameters
    ----------
    digits : int, default 2
        Significant digits.
    """

    def __init__(self, digits: int = 2) -> None:
        self.digits = digits

    def fit(self, X: pd.DataFrame, y: Any = None, texts: Collection[str] = ()) -> Self:
        """Learn the names of the columns; `texts` are those that hold numbers of categories."""
        self.names_, self.rounded_ = list(X), [name for name in X if name not in texts]
        return self

    def transform(self, X: pd.DataFrame) -> pd.DataFrame:
        """Return the rounded rows."""
        check_is_fitted(self)
        values = X[self.rounded_].to_numpy(dtype=float)
        size = np.floor(np.log10(np.where(values == 0, 1, np.abs(values)))) + 1 - self.digits
        step = 10.0 ** np.abs(size)  # a power of ten below 1 is no exact number
        rounded = np.where(size < 0, np.rint(values * step) / step, np.rint(values / step) * step)
        published = X.copy()
        published[pd.Index(self.rounded_)] = rounded
        return published

    def get_feature_names_out(self, input_features: Any = None) -> np.ndarray:
        """Return the names of the columns."""
        return np.array(self.names_, dtype=object)


class Rewritten(TransformerMixin, BaseEstimator):
    """Rewrite all columns as fewer new ones: principal components, or hashed columns; parameters as `TopColumns`."""

    def __init__(self, method: str = "pca", columns: int | None = None, seed: int | None = 42) -> None:
        self.method, self.columns, self.seed = method, columns, seed

    def fit(self, X: pd.DataFrame, y: Any = None) -> Self:
        """Learn the new columns."""
        size = _size(self.columns, X.shape[1])
        hashed, sparse = self.method == "hashing", self.method == "sparse_pca"
        self.step_ = (ColumnHasher(size) if hashed else components(size, sparse=sparse, seed=self.seed)).fit(
            as_frame(X)
        )
        return self

    def transform(self, X: pd.DataFrame) -> pd.DataFrame:
        """Return the new columns."""
        X = as_frame(X)
        found = np.asarray(self.step_.transform(X))
        return pd.DataFrame(found, X.index, self.get_feature_names_out())

    def get_feature_names_out(self, input_features: Any = None) -> np.ndarray:
        """Return the names of the new columns: the method and a number."""
        check_is_fitted(self)
        many = len(self.step_.get_feature_names_out())
        return np.array([f"{self.method} {place}" for place in range(many)], dtype=object)


def _size(columns: int | None, d: int) -> int:
    """Return how many columns to release: half of them unless a number is given."""
    if columns is not None and columns > d:
        raise ValueError(f"columns={columns}: the table has only {d} features")
    return columns or max(1, d // 2)
