"""Give a model texts as numbers: a feature in words is no error."""

from typing import Any, Self

import pandas as pd
from sklearn.preprocessing import OrdinalEncoder


class TextCoder:
    """Replace each text of a data frame by the number of its category in sorted order; arrays stay as they are.

    A text that was not there in `fit_transform` is a category of its own, -1.
    """

    def __init__(self) -> None:
        self._encoder = OrdinalEncoder(handle_unknown="use_encoded_value", unknown_value=-1)
        self._names: list[Any] = []

    def fit_transform(self, X: Any) -> Any:
        """Learn the categories of a table, and return it with their numbers."""
        return self._fit(X).transform(X)

    def transform(self, X: Any) -> Any:
        """Return a table with the numbers of known categories."""
        if not self._names or not isinstance(X, pd.DataFrame):
            return X
        coded = X.copy()
        coded[self._names] = self._encoder.transform(X[self._names].astype(object).to_numpy())
        return coded

    def _fit(self, X: Any) -> Self:
        if isinstance(X, pd.DataFrame):
            kinds = (pd.api.types.is_object_dtype, pd.api.types.is_string_dtype)
            category = pd.CategoricalDtype
            self._names = [
                name for name, kind in X.dtypes.items() if isinstance(kind, category) or any(is_(kind) for is_ in kinds)
            ]
            if self._names:
                self._encoder.fit(X[self._names].astype(object).to_numpy())
        return self
