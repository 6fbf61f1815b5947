"""Three-way division as a scikit-learn transformer."""

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import KW_ONLY, dataclass
from typing import Any

import numpy as np
import pandas as pd
from sklearn.base import BaseEstimator
from sklearn.feature_selection import SelectorMixin
from sklearn.utils.validation import check_is_fitted, validate_data

from sensorprivacy.data import check_frame
from sensorprivacy.mechanisms import NoiseSource, SecureNoise, check_epsilon
from sensorprivacy.threeway.division import Division, check_division
from sensorprivacy.threeway.domains import Unknown, domains_of
from sensorprivacy.threeway.measures import Appraiser, Utility
from sensorprivacy.threeway.publication import state_guarantees
from sensorprivacy.threeway.thresholds import Rule, find_thresholds


@dataclass(eq=False, repr=False)
class ThreeWayDivider(SelectorMixin, BaseEstimator):
    """Drop columns that reveal too much, publish columns that reveal little, add noise to those in between.

    `fit` learns the groups. `transform` returns the published columns of a table in their order, with new noise on the
    ambiguous ones at every call. Each call costs `epsilon_total_` for every row in it.

    Parameters
    ----------
    alpha, beta : float, default .5
        Thresholds where the search starts, 0 <= beta <= alpha <= 1.
    step : float, default .05
        Step of the search.
    search : {"alternate", "tabu", "literal", "strict", "grid"} or None, default "alternate"
        See :func:`~sensorprivacy.threeway.thresholds.find_thresholds`. None uses `alpha` and `beta` without a search.
    closed : bool, default False
        Whether the search may raise alpha to 1, where only the columns with the highest entropy are dropped.
    utility : {"as_printed", "as_stated"}, default "as_printed"
        See :class:`~sensorprivacy.threeway.measures.Appraiser`.
    decimals : int or None, default 2
        Decimals to which utility and stability are rounded before they are combined.
    division : Division, optional
        Groups that were learned from other data (`division_` of another divider) or chosen by general knowledge.
        `fit` then learns domains only. Default: learn the groups in `fit`, which leaks something about that data.
    epsilon : float, default 1
        Privacy loss of each ambiguous column, per cell, 0 < epsilon <= 100.
    bounds, categories, categorical : mapping, mapping, sequence, optional
        Domains of columns by name, see :func:`~sensorprivacy.threeway.publication.publish`. Domains that are not given
        are read from the data in `fit`, which leaks them.
    unknown : {"error", "redraw"}, default "error"
        How `transform` treats categories that `fit` has not seen: raise an error, or redraw them at random.
    clamp : bool, default False
        Move noisy numbers outside the bounds to the nearest bound.
    noise_source : NoiseSource, optional
        Source of randomness. Only the default (OpenDP with the operating system's secure generator) is private.

    Attributes
    ----------
    entropies_, evaluation_ : pandas.Series
        Entropy of each column in nats, and the same rescaled to [0, 1]. Not with a given `division`.
    division_ : Division
        The groups.
    appraisal_ : Appraisal
        The division with utility, stability and suitability. Not with a given `division`.
    alpha_, beta_ : float
        The thresholds found.
    trace_ : pandas.DataFrame
        Every pair of thresholds that the search measured; one row if `search` is None. Not with a given `division`.
    stopped_ : str
        Why the search ended.
    domains_ : dict
        Domain of each ambiguous column.
    epsilon_total_ : float
        Privacy loss of one row's ambiguous cells together, by basic composition.
    guarantees_ : tuple of str
        The guarantees of one call of `transform` for the rows of `fit`, and their limits.
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

    alpha: float = 0.5
    beta: float = 0.5
    _: KW_ONLY
    step: float = 0.05
    search: Rule | None = "alternate"
    closed: bool = False
    utility: Utility = "as_printed"
    decimals: int | None = 2
    division: Division | None = None
    epsilon: float = 1.0
    bounds: Mapping[Hashable, tuple[Any, Any]] | None = None
    categories: Mapping[Hashable, Sequence] | None = None
    categorical: Sequence[Hashable] = ()
    unknown: Unknown = "error"
    clamp: bool = False
    noise_source: NoiseSource | None = None

    def fit(self, X: pd.DataFrame, y: Any = None) -> "ThreeWayDivider":
        """Learn the thresholds and the groups.

        Parameters
        ----------
        X : pandas, polars or Arrow table
            The original table, n rows by d >= 2 columns. The columns of an array are called x0, x1, ...
        y : ignored

        Returns
        -------
        ThreeWayDivider
            This divider.

        Raises
        ------
        TypeError, ValueError
            If the table cannot be divided or a parameter is outside its range.
        """
        check_epsilon(self.epsilon)
        if self.unknown not in ("error", "redraw"):
            raise ValueError(f"unknown={self.unknown!r}: choose error or redraw")
        frame = self._frame(X, reset=True)
        if self.division is None:
            self._learn_division(frame)
        else:
            check_division(self.division, frame)
            self.division_, self.stopped_ = self.division, "division as given"
        self.alpha_, self.beta_ = self.division_.alpha, self.division_.beta
        self.domains_ = domains_of(frame, self.division_.ambiguous, self.bounds, self.categories, self.categorical)
        spent = pd.Series({name: float(self.epsilon) * (domain.width > 0) for name, domain in self.domains_.items()})
        self.epsilon_total_ = float(spent.sum())
        self.guarantees_ = state_guarantees(
            self.division_, self.domains_, spent, division_from_data=self.division is None
        )
        self._columns = frame.columns
        return self

    def _learn_division(self, frame: pd.DataFrame) -> None:
        if len(frame) == 1:
            raise ValueError("n_samples=1: one row has no entropy to compare columns by, give at least two rows")
        appraiser = Appraiser(frame, self.utility, self.decimals)
        self.entropies_, self.evaluation_ = appraiser.entropies, appraiser.evaluation
        if self.search is None:
            self.appraisal_ = appraiser.at(self.alpha, self.beta)
            self.trace_ = appraiser.table([(self.alpha, self.beta)])
            self.stopped_ = "thresholds as given"
        else:
            found = find_thresholds(appraiser, self.alpha, self.beta, self.step, self.search, closed=self.closed)
            self.appraisal_, self.trace_, self.stopped_ = found.appraisal, found.trace, found.stopped
        self.division_ = self.appraisal_.division

    def transform(self, X: pd.DataFrame) -> pd.DataFrame | np.ndarray:
        """Return the published columns of a table, with new noise on the ambiguous ones.

        Parameters
        ----------
        X : pandas, polars or Arrow table
            m rows by the d columns that `fit` saw.

        Returns
        -------
        pandas.DataFrame
            m rows by the published columns, with the index of `X`. An array if `X` is an array.

        Raises
        ------
        ValueError
            If columns differ from those of `fit`, or a column holds an unknown category (see `unknown`).
        """
        check_is_fitted(self)
        frame, is_array = self._frame(X, reset=False), not hasattr(X, "columns")
        source = SecureNoise() if self.noise_source is None else self.noise_source
        out = frame.loc[:, self.get_support()].copy()
        for name, domain in self.domains_.items():
            noisy = domain.noise(frame[name], self.epsilon, source, clamp=self.clamp, unknown=self.unknown)
            out[name] = domain.decode(noisy).array
        return out.to_numpy() if is_array else out

    def _get_support_mask(self) -> np.ndarray:
        """Mark the published columns; scikit-learn derives `get_support` and `get_feature_names_out` from this."""
        check_is_fitted(self)
        return ~self._columns.isin(self.division_.sensitive)

    def _frame(self, X: Any, *, reset: bool) -> pd.DataFrame:
        """Return `X` as a frame, after scikit-learn's checks of names and numbers of columns."""
        if hasattr(X, "to_pandas"):  # a table of polars or Arrow
            X = X.to_pandas()
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
