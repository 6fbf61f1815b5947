"""How a fitted minimization takes new rows: filled, completed and checked as it was fitted."""

import warnings
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd
import scipy.sparse
from sklearn.feature_selection import SelectorMixin
from sklearn.utils.validation import check_is_fitted

from sensorprivacy.columns.cells import as_frame, is_table
from sensorprivacy.columns.coding import Reading, coded
from sensorprivacy.columns.identifiers import IdentifierWarning
from sensorprivacy.columns.judge import UNLIKE, Finding, find_unlike, in_words, spans_of


class TakesNewRows(SelectorMixin):
    """A selector of features whose new rows are read, filled and judged as the first ones."""

    missing: str
    support_: np.ndarray
    _names: list[Any]
    _readings: dict[Any, Reading]
    _identifying: Mapping[str, Finding]
    _fills: dict[Any, Any]
    _spans: Mapping[str, Sequence[float]]

    def _remember(self, table: pd.DataFrame, numbers: pd.DataFrame, rows: np.ndarray) -> None:
        """Learn from the training rows what fills missing cells, and from all rows what new ones must resemble."""
        category = {name for name, how in self._readings.items() if None in how.categories}
        self._fills = {name: None if name in category else _typical(table[name].iloc[rows]) for name in self._names}
        read = {name: how.read for name, how in self._readings.items()}
        self._spans = spans_of(numbers[[name for name in self._names if read.get(name, "durations") == "durations"]])

    def transform(self, X: Any) -> Any:
        """Return the kept features of new rows.

        Parameters
        ----------
        X : DataFrame or array-like of shape (n, d)
            Features, as in `fit`. A table may lack the dropped features: a service need not collect them. With
            ``missing="impute"``, missing cells are filled from the training rows.

        Raises
        ------
        ValueError
            If a kept feature is absent, or a number is missing or infinite.

        Warns
        -----
        IdentifierWarning
            If kept features identify rows, or are unlike those of `fit`, as after a change of units.
        """
        check_is_fitted(self)
        table = self._completed(X)
        names = np.array(self._names, dtype=object)[self.support_]
        if isinstance(table, pd.DataFrame) and set(names) <= set(table):
            kept = table[names]
            numbers = coded(kept, self._readings)
            if found := find_unlike((kept,), numbers, self._spans, self._readings, known=self._identifying):
                warnings.warn(UNLIKE.format(in_words(found)), IdentifierWarning, stacklevel=3)
        return super().transform(table)

    def _completed(self, X: Any) -> Any:
        """Return rows with a column for each feature of `fit`, and with filled cells if `missing` says so."""
        X = as_frame(X) if is_table(X) else X
        if isinstance(X, pd.DataFrame) and X.shape[1] < len(self._names):
            absent = set(self._names) - set(X)
            if not absent & set(np.array(self._names, dtype=object)[self.support_]):
                dropped = pd.DataFrame({name: self._fills[name] for name in absent}, index=X.index)
                X = pd.concat([X, dropped], axis=1)[self._names]
        if self.missing != "impute" or scipy.sparse.issparse(X):
            return X
        if not isinstance(X, pd.DataFrame):
            cells = np.array(X, dtype=float)
            return np.where(np.isnan(cells), list(self._fills.values()), cells) if cells.ndim == 2 else X
        filled = [name for name, cell in self._fills.items() if cell is not None]  # else missing is a category
        gaps = [name for name in X if name in filled and X[name].isna().any()]
        found = X.copy() if gaps else X
        for name in gaps:
            number = pd.api.types.is_numeric_dtype(X[name]) and not pd.api.types.is_bool_dtype(X[name])
            found[name] = (X[name].astype(float) if number else X[name]).fillna(self._fills[name])
        return found

    def _coded(self, X: Any) -> Any:
        """Return a table in which texts, points in time and durations are numbers, read as in `fit`."""
        X = as_frame(X) if is_table(X) else X
        return coded(X, self._readings) if isinstance(X, pd.DataFrame) else X


def _typical(column: pd.Series) -> Any:
    """Return the cell that stands for missing ones: the median of numbers, else the most frequent cell."""
    if pd.api.types.is_numeric_dtype(column) and not pd.api.types.is_bool_dtype(column):
        return float(column.astype(float).median())
    return next(iter(column.mode()), None)
