"""What a column may hold, which is what noise must hide: bounds of numbers, lists of categories.

A domain given by the user says nothing about the data. One read from the data leaks: its smallest and largest value
are some row's, and so are its categories. Publications say which columns that holds for.
"""

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import pandas as pd

from sensorprivacy.mechanisms.laplace import laplace
from sensorprivacy.mechanisms.noise import NoiseSource
from sensorprivacy.mechanisms.randomized_response import randomized_response

Unknown = Literal["error", "redraw"]

_SAFE_INTEGER = 2**62  # sums of two stay within 64 bits


@dataclass(frozen=True)
class Numbers:
    """A column of numbers or of points in time (whole seconds), between bounds.

    Missing cells take the middle of the bounds before noise is added, so that whether a cell is missing is hidden as
    well as its value; the published column has no missing cells.
    """

    name: Hashable
    low: float
    high: float
    integer: bool
    dtype: Any
    from_data: bool

    @property
    def width(self) -> float:
        """How far apart two values can lie; 0 if only one is possible, which needs no noise and tells nothing."""
        return self.high - self.low

    def encode(self, column: pd.Series) -> np.ndarray:
        """Return the column as int64 or float64, missing cells (floats only) as NaN."""
        if column.dtype.kind == "M":
            column = _seconds(column)
        if self.integer and column.dtype.kind in "iu" and not column.isna().any():
            return column.to_numpy(dtype=np.int64)
        values = column.to_numpy(dtype=float, na_value=np.nan)
        if np.isinf(values).any():
            raise ValueError(f"column {self.name!r} holds infinite values: replace them by numbers or missing values")
        return values

    def noise(self, column: pd.Series, epsilon: float, noise_source: NoiseSource) -> np.ndarray:
        """Return the column's cells with Laplace noise; epsilon-differentially private for each cell."""
        values = self.encode(column)
        if values.dtype.kind == "f":
            filled = np.where(np.isnan(values), (self.low + self.high) / 2, values)
            values = np.rint(np.clip(filled, self.low, self.high)).astype(np.int64) if self.integer else filled
        return laplace(values, self.low, self.high, epsilon, noise_source)

    def decode(self, values: np.ndarray) -> pd.Series:
        """Return values as a column of the original's kind: integers as int64, floats and times in their own type."""
        if self.dtype.kind == "M":
            # what noise throws out of the calendar is put on its edge
            stamps = np.clip(values, -60_000_000_000, 250_000_000_000).astype("datetime64[s]")
            zone = getattr(self.dtype, "tz", None)
            return pd.Series(stamps) if zone is None else pd.Series(stamps).dt.tz_localize("UTC").dt.tz_convert(zone)
        if self.integer:
            return pd.Series(values.astype(np.int64))
        return pd.Series(values.astype(self.dtype if self.dtype in (np.float32, np.float16) else np.float64))


@dataclass(frozen=True)
class Categories:
    """A column of categories. Missing is one more category where the list holds it (it does if the data do)."""

    name: Hashable
    values: pd.Index
    has_missing: bool
    dtype: Any
    from_data: bool

    @property
    def k(self) -> int:
        """Number of categories, missing among them."""
        return len(self.values) + self.has_missing

    @property
    def width(self) -> int:
        """0 if only one value is possible, which needs no noise and tells nothing."""
        return self.k - 1

    def encode(self, column: pd.Series, unknown: Unknown = "error") -> np.ndarray:
        """Return the column as codes 0 to k - 1, missing being the last.

        Parameters
        ----------
        column : pandas.Series
            n cells.
        unknown : {"error", "redraw"}, default "error"
            What to do about cells that hold a value which is not in the list: refuse the column, or return -1.

        Returns
        -------
        numpy.ndarray
            n codes.

        Raises
        ------
        ValueError
            If a cell holds a value that is not in the list, and `unknown` is "error".
        """
        codes = self.values.get_indexer(pd.Index(column))
        absent = column.isna().to_numpy()
        codes[absent] = len(self.values) if self.has_missing else -1
        strange = codes < 0
        if unknown == "error" and strange.any():
            shown = column[strange].unique().tolist()[:5]
            raise ValueError(f"column {self.name!r} holds values {shown} that its categories lack (None is missing)")
        return codes

    def noise(
        self, column: pd.Series, epsilon: float, noise_source: NoiseSource, unknown: Unknown = "error"
    ) -> np.ndarray:
        """Return the column's codes after randomized response; epsilon-differentially private for each cell.

        With `unknown` "redraw" a value not in the list becomes a uniform draw from it, which is at most e^epsilon
        away from the law of any listed value, so the guarantee holds for it as well.
        """
        codes = self.encode(column, unknown)
        strange = codes < 0
        codes[strange] = noise_source.integers(int(strange.sum()), self.k)
        return randomized_response(codes, self.k, epsilon, noise_source)

    def decode(self, codes: np.ndarray) -> pd.Series:
        """Return codes as a column of the listed values."""
        if isinstance(self.dtype, pd.CategoricalDtype):
            places = np.where(codes == len(self.values), -1, codes)
            return pd.Series(pd.Categorical.from_codes(places, categories=self.values, ordered=self.dtype.ordered))
        cells = pd.Series(self.values.take(np.minimum(codes, len(self.values) - 1)))
        return cells.mask(codes == len(self.values)) if self.has_missing else cells


Domain = Numbers | Categories


def domain_of(
    column: pd.Series,
    *,
    bounds: tuple[Any, Any] | None = None,
    categories: Sequence | None = None,
    categorical: bool = False,
) -> Domain:
    """Return the domain of a column, as given or as read from its data.

    Parameters
    ----------
    column : pandas.Series
        The column. Integers, floats and points in time are numbers; everything else (text, booleans, categories,
        objects) is categories.
    bounds : (low, high), optional
        Bounds of a column of numbers, in its own unit; cells outside are clipped. From the data if not given.
    categories : sequence, optional
        Every value the column may hold, None among them if cells may be missing. From the data if not given.
    categorical : bool, default False
        Take a column of numbers as categories.

    Returns
    -------
    Numbers or Categories
        The domain.

    Raises
    ------
    ValueError
        If the bounds are not finite or in the wrong order, or do not apply to the column.
    """
    if categories is not None or categorical or not _is_number(column):
        if bounds is not None:
            raise ValueError(f"column {column.name!r} holds categories: give `categories` instead of bounds {bounds}")
        return _categories_of(column, categories)
    numbers = _seconds(column) if column.dtype.kind == "M" else column
    if bounds is None:
        low, high = numbers.min(), numbers.max()
    elif column.dtype.kind == "M":
        low, high = (int(_seconds(pd.Series([pd.Timestamp(bound)])).iloc[0]) for bound in bounds)
    else:
        low, high = bounds
    if not (np.isfinite(low) and np.isfinite(high) and low <= high):
        raise ValueError(f"bounds {(low, high)} of column {column.name!r}: give two finite numbers, low <= high")
    integer = numbers.dtype.kind in "iu" and max(abs(int(low)), abs(int(high))) < _SAFE_INTEGER
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
    """Return the domains of some columns, see :func:`domain_of`; unknown names in the mappings are refused."""
    bounds, categories = dict(bounds or {}), dict(categories or {})
    unknown = [name for name in (*bounds, *categories, *categorical) if name not in frame.columns]
    if unknown:
        raise ValueError(f"bounds or categories name columns {unknown} that the frame lacks: {list(frame.columns)}")
    return {
        name: domain_of(
            frame[name], bounds=bounds.get(name), categories=categories.get(name), categorical=name in categorical
        )
        for name in columns
    }


def _is_number(column: pd.Series) -> bool:
    return column.dtype.kind in "iufM" and not isinstance(column.dtype, pd.CategoricalDtype)


def _seconds(column: pd.Series) -> pd.Series:
    """Return points in time as whole seconds since 1970; missing ones as NaN in floats."""
    plain = column.dt.tz_convert("UTC").dt.tz_localize(None) if getattr(column.dtype, "tz", None) else column
    seconds = plain.astype("datetime64[s]").astype("int64")
    return seconds.astype(float).mask(column.isna()) if column.isna().any() else seconds


def _categories_of(column: pd.Series, given: Sequence | None) -> Categories:
    if given is not None:
        listed = pd.Series(list(given), dtype=object)
    elif isinstance(column.dtype, pd.CategoricalDtype):
        # the type lists its categories, those that no row holds included
        listed = pd.Series([*column.dtype.categories, *([None] if column.isna().any() else [])], dtype=object)
    else:
        listed = pd.Series(column.unique())
    missing = listed.isna()
    values = pd.Index(listed[~missing].infer_objects())
    if values.has_duplicates:
        raise ValueError(f"categories of column {column.name!r} repeat {values[values.duplicated()].tolist()}")
    if len(values) == 0:
        raise ValueError(f"column {column.name!r} has no categories: list at least one")
    return Categories(column.name, values, bool(missing.any()), dtype=column.dtype, from_data=given is None)
