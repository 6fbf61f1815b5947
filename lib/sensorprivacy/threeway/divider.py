"""Three-way division as a scikit-learn transformer."""

from collections.abc import Hashable, Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils.validation import check_is_fitted, validate_data

from sensorprivacy.mechanisms.noise import NoiseSource, SecureNoise, check_epsilon
from sensorprivacy.threeway.division import check_frame
from sensorprivacy.threeway.domains import Categories, Unknown, domains_of
from sensorprivacy.threeway.measures import Appraiser, Utility
from sensorprivacy.threeway.thresholds import Rule, find_thresholds


class ThreeWayDivider(TransformerMixin, BaseEstimator):
    """Drop the columns that tell too much, keep those that tell little, noise those in between.

    `fit` learns the groups; `transform` returns the kept columns of a table in their order, the ambiguous ones noised
    anew at every call. Each call costs `epsilon_total_` for every row it is given.

    Parameters
    ----------
    alpha, beta : float, default .5
        Thresholds to start the search from, 0 <= beta <= alpha <= 1.
    step : float, default .05
        Step of the search.
    search : {"alternate", "tabu", "literal", "strict", "grid"} or None, default "alternate"
        See :func:`~sensorprivacy.threeway.thresholds.find_thresholds`. None takes `alpha` and `beta` as they are.
    utility : {"as_printed", "as_stated"}, default "as_printed"
        See :class:`~sensorprivacy.threeway.measures.Appraiser`.
    decimals : int or None, default 2
        Decimals of utility and stability when suitability is formed.
    epsilon : float, default 1
        Privacy loss of each ambiguous column's cells, 0 < epsilon <= 100.
    bounds, categories, categorical : mapping, mapping, sequence, optional
        Domains of columns, by name, see :func:`~sensorprivacy.threeway.publish.publish`. Those not named are read
        from the data that `fit` is given, which leaks them.
    unknown : {"error", "redraw"}, default "error"
        What `transform` does about categories that `fit` has not seen: refuse the table, or draw them anew.
    clamp : bool, default False
        Put noised numbers back between their bounds.
    noise_source : NoiseSource, optional
        Source of randomness; the default, OpenDP with the operating system's secure generator, is the only private one.

    Attributes
    ----------
    entropies_, evaluation_ : pandas.Series
        Entropy of each column in nats, and the same from 0 to 1.
    division_ : Division
        The groups.
    appraisal_ : Appraisal
        The division with utility, stability, suitability.
    alpha_, beta_ : float
        The thresholds found.
    trace_ : pandas.DataFrame
        Every pair of thresholds looked at; one row if `search` is None.
    stopped_ : str
        Why the search ended.
    domains_ : dict
        Domain of each ambiguous column.
    epsilon_total_ : float
        Privacy loss of one row's noised cells together, by basic composition.
    n_features_in_, feature_names_in_
        As in every scikit-learn estimator.

    References
    ----------
    Ali, Nauman, Azam, "A privacy enhancing model for Internet of Things using three-way decisions and differential
    privacy", Computers and Electrical Engineering 100 (2022) 107894, Algorithm 1.

    Examples
    --------
    >>> table = pd.DataFrame({"id": range(8), "hour": [0, 0, 1, 1, 2, 2, 3, 3], "lamp": [0, 1, 0, 1, 0, 1, 0, 1]})
    >>> ThreeWayDivider(bounds={"hour": (0, 23)}).fit(table).get_feature_names_out().tolist()
    ['hour', 'lamp']
    """

    def __init__(
        self,
        alpha: float = 0.5,
        beta: float = 0.5,
        *,
        step: float = 0.05,
        search: Rule | None = "alternate",
        utility: Utility = "as_printed",
        decimals: int | None = 2,
        epsilon: float = 1.0,
        bounds: Mapping[Hashable, tuple[Any, Any]] | None = None,
        categories: Mapping[Hashable, Sequence] | None = None,
        categorical: Sequence[Hashable] = (),
        unknown: Unknown = "error",
        clamp: bool = False,
        noise_source: NoiseSource | None = None,
    ) -> None:
        self.alpha = alpha
        self.beta = beta
        self.step = step
        self.search = search
        self.utility = utility
        self.decimals = decimals
        self.epsilon = epsilon
        self.bounds = bounds
        self.categories = categories
        self.categorical = categorical
        self.unknown = unknown
        self.clamp = clamp
        self.noise_source = noise_source

    def fit(self, X: pd.DataFrame, y: Any = None) -> "ThreeWayDivider":
        """Learn groups and thresholds.

        Parameters
        ----------
        X : pandas.DataFrame
            The original table, n rows by d >= 2 columns; an array is taken as columns x0, x1, ...
        y : ignored
            For scikit-learn's sake.

        Returns
        -------
        ThreeWayDivider
            This divider.

        Raises
        ------
        TypeError, ValueError
            If the table cannot be divided or a parameter lies outside its range.
        """
        check_epsilon(self.epsilon)
        if self.unknown not in ("error", "redraw"):
            raise ValueError(f"unknown={self.unknown!r}: choose error or redraw")
        frame = self._frame(X, reset=True)
        if len(frame) == 1:
            raise ValueError("n_samples=1: one row has no entropy to divide columns by, give at least two")
        appraiser = Appraiser(frame, self.utility, self.decimals)
        self.entropies_, self.evaluation_ = appraiser.entropies, appraiser.evaluation
        if self.search is None:
            self.appraisal_ = appraiser.at(self.alpha, self.beta)
            self.trace_ = appraiser.table([(self.alpha, self.beta)])
            self.stopped_ = "thresholds as given"
        else:
            found = find_thresholds(appraiser, self.alpha, self.beta, self.step, self.search)
            self.appraisal_, self.trace_, self.stopped_ = found.appraisal, found.trace, found.stopped
        self.division_ = self.appraisal_.division
        self.alpha_, self.beta_ = self.division_.alpha, self.division_.beta
        ambiguous = [name for name in frame.columns if name in self.division_.ambiguous]
        self.domains_ = domains_of(frame, ambiguous, self.bounds, self.categories, self.categorical)
        self.epsilon_total_ = float(self.epsilon) * sum(domain.width > 0 for domain in self.domains_.values())
        self._columns = frame.columns
        return self

    def transform(self, X: pd.DataFrame) -> pd.DataFrame | np.ndarray:
        """Return the publishable columns of a table, the ambiguous ones with fresh noise.

        Parameters
        ----------
        X : pandas.DataFrame
            m rows by the d columns that `fit` has seen.

        Returns
        -------
        pandas.DataFrame
            m rows by the kept columns, index as in `X`; an array where an array was given.

        Raises
        ------
        ValueError
            If columns differ from those of `fit`, or a column holds a category it has not seen (see `unknown`).
        """
        check_is_fitted(self)
        frame = self._frame(X, reset=False)
        noise_source = SecureNoise() if self.noise_source is None else self.noise_source
        parts = {}
        for name in self._kept():
            parts[name] = frame[name]
            if name in self.domains_:
                parts[name] = pd.Series(self._noised(frame[name], noise_source).array, index=frame.index)
        out = pd.DataFrame(parts, index=frame.index, columns=pd.Index(self._kept()))
        return out if isinstance(X, pd.DataFrame) else out.to_numpy()

    def _noised(self, column: pd.Series, noise_source: NoiseSource) -> pd.Series:
        domain = self.domains_[column.name]
        if isinstance(domain, Categories):
            return domain.decode(domain.noise(column, self.epsilon, noise_source, self.unknown))
        values = domain.noise(column, self.epsilon, noise_source)
        return domain.decode(np.clip(values, domain.low, domain.high) if self.clamp else values)

    def get_feature_names_out(self, input_features: Sequence[str] | None = None) -> np.ndarray:
        """Return the names of the kept columns.

        Parameters
        ----------
        input_features : sequence of str, optional
            Names of the columns given to `fit`; checked if it saw names, used if it saw an array.

        Returns
        -------
        numpy.ndarray
            Names, dtype object.
        """
        check_is_fitted(self)
        kept = self._columns.isin(self._kept())
        if input_features is None:
            return np.asarray(self._columns, dtype=object)[kept]
        names = np.asarray(input_features, dtype=object)
        if len(names) != self.n_features_in_:
            raise ValueError(f"input_features should have length equal to n_features_in_={self.n_features_in_}")
        if hasattr(self, "feature_names_in_") and not np.array_equal(names, self.feature_names_in_):
            raise ValueError("input_features is not equal to feature_names_in_")
        return names[kept]

    def _kept(self) -> list[Hashable]:
        return [name for name in self._columns if name not in self.division_.sensitive]

    def _frame(self, X: Any, *, reset: bool) -> pd.DataFrame:
        """Return `X` as a frame, after scikit-learn's checks of names and numbers of columns."""
        if isinstance(X, pd.DataFrame):
            check_frame(X)
            validate_data(self, X, reset=reset, skip_check_array=True)
            return X if reset else X.set_axis(self._columns, axis=1)
        X = validate_data(self, X, reset=reset, dtype=None, ensure_all_finite="allow-nan")
        return pd.DataFrame(X, columns=[f"x{place}" for place in range(X.shape[1])] if reset else self._columns)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.input_tags.categorical = True
        tags.input_tags.string = True
        tags.non_deterministic = self.noise_source is None
        return tags
