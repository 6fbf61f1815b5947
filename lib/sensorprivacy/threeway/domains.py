"""Domains: the values that a column may hold, which noise must hide. Bounds for numbers, a list for categories.

A domain given by the user reveals nothing about the data. A domain read from the data leaks: the smallest and largest
value, and each category, belong to some row. Publications list the columns whose domain was read from the data.
"""

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import pandas as pd

from sensorprivacy.mechanisms import NoiseSource, laplace, randomized_response

Unknown = Literal["error", "redraw"]

_SAFE_INTEGER = 2**62  # the sum of two such numbers fits 64 bits


@dataclass(frozen=True)
class Numbers:
    """The domain of a column of numbers: an interval.

    Missing cells become the middle of the interval before noise is added. So the noise also hides which cells were
    missing, and the published column has no missing cells.
    """

    name: Hashable
    low: float
    high: float
    integer: bool
    dtype: Any
    from_data: bool

    @property
    def width(self) -> float:
        """Largest distance between two values. It is 0 if only one value is possible; then no noise is needed."""
        return self.high - self.low

    def encode(self, column: pd.Series) -> np.ndarray:
        """Return the column as int64 or float64, with missing cells (floats only) as NaN."""
        if self.integer and column.dtype.kind in "iu" and not column.isna().any():
            return column.to_numpy(dtype=np.int64)
        values = column.to_numpy(dtype=float, na_value=np.nan)
        if np.isinf(values).any():
            raise ValueError(f"column {self.name!r} holds infinite values: replace them by numbers or missing values")
        return values

    def noise(
        self, column: pd.Series, epsilon: float, source: NoiseSource, *, clamp: bool = False, unknown: Unknown = "error"
    ) -> np.ndarray:
        """Return the column's cells with Laplace noise, epsilon-differentially private for each cell.

        With `clamp`, noisy values outside the interval are moved to its nearest end. `unknown` is for categories.
        """
        values = self.encode(column)
        if values.dtype.kind == "f":
            values = np.where(np.isnan(values), (self.low + self.high) / 2, values)
            if self.integer:
                values = np.rint(np.clip(values, self.low, self.high)).astype(np.int64)
        noisy = laplace(values, self.low, self.high, epsilon, source)
        return np.clip(noisy, self.low, self.high) if clamp else noisy

    def decode(self, values: np.ndarray) -> pd.Series:
        """Return values as a column of the original kind: integers as int64, floats in their own type."""
        if self.integer:
            return pd.Series(values.astype(np.int64))
        return pd.Series(values.astype(self.dtype if self.dtype in (np.float32, np.float16) else np.float64))


@dataclass(frozen=True)
class Categories:
    """The domain of a column of categories: a list. "Missing" is one more category if the list or the data has it."""

    name: Hashable
    values: pd.Index
    has_missing: bool
    dtype: Any
    from_data: bool

    @property
    def k(self) -> int:
        """Number of categories, including "missing"."""
        return len(self.values) + self.has_missing

    @property
    def width(self) -> int:
        """Number of other values that a cell could hold. If it is 0, no noise is needed."""
        return self.k - 1

    def encode(self, column: pd.Series, unknown: Unknown = "error") -> np.ndarray:
        """Return the column as codes 0 to k - 1, where missing is the last code.

        Parameters
        ----------
        column : pandas.Series
            n cells.
        unknown : {"error", "redraw"}, default "error"
            How to treat values that are not in the list: raise an error, or return code -1.

        Returns
        -------
        numpy.ndarray
            n codes.

        Raises
        ------
        ValueError
            If a value is not in the list and `unknown` is "error".
        """
        codes = self.values.get_indexer(pd.Index(column))
        codes[column.isna().to_numpy()] = len(self.values) if self.has_missing else -1
        unlisted = codes < 0
        if unknown == "error" and unlisted.any():
            shown = column[unlisted].unique().tolist()[:5]
            raise ValueError(f"column {self.name!r} holds values {shown}: add them to its categories (None is missing)")
        return codes

    def noise(
        self, column: pd.Series, epsilon: float, source: NoiseSource, *, clamp: bool = False, unknown: Unknown = "error"
    ) -> np.ndarray:
        """Return the column's codes after randomized response, epsilon-differentially private for each cell.

        With `unknown` "redraw", a value that is not in the list becomes a random listed one. The guarantee holds for it
        too, because a random category is within e^epsilon of the outcome of any listed value. `clamp` is for numbers.
        """
        codes = self.encode(column, unknown)
        unlisted = codes < 0
        codes[unlisted] = source.integers(int(unlisted.sum()), self.k)
        return randomized_response(codes, self.k, epsilon, source)

    def decode(self, codes: np.ndarray) -> pd.Series:
        """Return codes as a column of the listed values."""
        missing = codes == len(self.values)
        if isinstance(self.dtype, pd.CategoricalDtype):
            places = np.where(missing, -1, codes)
            return pd.Series(pd.Categorical.from_codes(places, categories=self.values, ordered=self.dtype.ordered))
        cells = pd.Series(self.values.take(np.minimum(codes, len(self.values) - 1)))
        return cells.mask(missing) if self.has_missing else cells


Domain = Numbers | Categories


def domain_of(
    column: pd.Series,
    *,
    bounds: tuple[Any, Any] | None = None,
    categories: Sequence | None = None,
    categorical: bool = False,
) -> Domain:
    """Return the domain of a column, as given by the caller or as read from the data.

    Parameters
    ----------
    column : pandas.Series
        The column. Integers and floats are numbers. Everything else (text, booleans, categories, objects) is
        categories.
    bounds : (low, high), optional
        Bounds of a column of numbers, in the column's unit. Cells outside are clipped. Default: read from the data.
    categories : sequence, optional
        Every value that the column may hold, including None if cells may be missing. Default: read from the data.
    categorical : bool, default False
        Treat a column of numbers as categories.

    Returns
    -------
    Numbers or Categories
        The domain.

    Raises
    ------
    ValueError
        If the bounds are not finite, are in the wrong order, or do not apply to the column, or if it holds points in
        time or durations.
    """
    if column.dtype.kind in "mM" and not isinstance(column.dtype, pd.CategoricalDtype):
        raise ValueError(f"column {column.name!r} holds points in time or durations: give seconds, or drop it")
    is_number = column.dtype.kind in "iuf" and not isinstance(column.dtype, pd.CategoricalDtype)
    if categories is not None or categorical or not is_number:
        if bounds is not None:
            raise ValueError(f"column {column.name!r} holds categories: give `categories` instead of bounds {bounds}")
        return _categories_of(column, categories)
    low, high = (column.min(), column.max()) if bounds is None else bounds
    if not (np.isfinite(low) and np.isfinite(high) and low <= high):
        raise ValueError(f"bounds {(low, high)} of column {column.name!r}: give two finite numbers, low <= high")
    integer = column.dtype.kind in "iu" and max(abs(int(low)), abs(int(high))) < _SAFE_INTEGER
    if integer and (low != int(low) or high != int(high)):
        raise ValueError(f"bounds {(low, high)} of column {column.name!r}: it holds integers, give integer bounds")
    low, high = (int(low), int(high)) if integer else (float(low), float(high))
    return Numbers(column.name, low, high, integer=integer, dtype=column.dtype, from_data=bounds is None)


def domains_of(
    frame: pd.DataFrame,
    columns: Sequence[Hashable],
    bounds: Mapping | None = None,
    categories: Mapping | None = None,
    categorical: Sequence[Hashable] = (),
) -> dict[Hashable, Domain]:
    """Return the domains of some columns by name, see :func:`domain_of`. Unknown names raise ValueError."""
    bounds, categories = dict(bounds or {}), dict(categories or {})
    if unknown := [name for name in (*bounds, *categories, *categorical) if name not in frame.columns]:
        raise ValueError(f"bounds or categories of {unknown}: the table has only the columns {list(frame.columns)}")
    return {
        name: domain_of(
            frame[name], bounds=bounds.get(name), categories=categories.get(name), categorical=name in categorical
        )
        for name in columns
    }


def _categories_of(column: pd.Series, given: Sequence | None) -> Categories:
    if given is not None:
        listed = pd.Series(list(given), dtype=object)
    elif isinstance(column.dtype, pd.CategoricalDtype):
        # the type lists its categories, including those that no row holds
        listed = pd.Series([*column.dtype.categories, *([None] if column.isna().any() else [])], dtype=object)
    else:
        listed = pd.Series(column.unique())
    missing = listed.isna()
    values = pd.Index(listed[~missing].infer_objects())
    if values.has_duplicates:
        repeated = values[values.duplicated()].tolist()
        raise ValueError(f"categories of column {column.name!r} repeat {repeated}: list each value once")
    if len(values) == 0:
        raise ValueError(f"column {column.name!r} has no categories: list at least one")
    return Categories(column.name, values, bool(missing.any()), dtype=column.dtype, from_data=given is None)
