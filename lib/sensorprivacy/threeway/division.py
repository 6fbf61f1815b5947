"""Divide attributes into three groups (sensitive, non-sensitive, ambiguous) by how much each one reveals."""

from collections.abc import Hashable, Iterator
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import pandas as pd

from sensorprivacy.data import check_frame


class Sizes(NamedTuple):
    """Number of attributes in each group."""

    sensitive: int
    non_sensitive: int
    ambiguous: int


@dataclass(frozen=True)
class Division:
    """A three-way division of the attributes.

    Parameters
    ----------
    alpha, beta : float
        Thresholds on the evaluation, 0 <= beta <= alpha <= 1.
    sensitive, non_sensitive, ambiguous : tuple
        Names of the attributes of each group, in the order of the table's columns.
    """

    alpha: float
    beta: float
    sensitive: tuple[Hashable, ...]
    non_sensitive: tuple[Hashable, ...]
    ambiguous: tuple[Hashable, ...]

    @property
    def kept(self) -> tuple[Hashable, ...]:
        """Names of the published attributes: the non-sensitive ones, then the ambiguous ones."""
        return self.non_sensitive + self.ambiguous

    @property
    def sizes(self) -> Sizes:
        """Number of attributes in each group."""
        return Sizes(len(self.sensitive), len(self.non_sensitive), len(self.ambiguous))


def entropies(frame: pd.DataFrame) -> pd.Series:
    """Return the entropy of each attribute.

    Every distinct value counts. Nothing is binned. Missing values together are one more value.

    Parameters
    ----------
    frame : pandas.DataFrame
        n rows by d attributes, of any types. Values that compare equal (``1`` and ``1.0``) are one value.

    Returns
    -------
    pandas.Series
        d entropies in nats, 0 to ln n, indexed by the frame's columns.

    Raises
    ------
    TypeError
        If `frame` is not a DataFrame, or a column holds values that cannot be compared (such as lists).
    ValueError
        If the frame is empty or repeats a column name, or if a column is all missing or holds infinite values.

    References
    ----------
    Ali, Nauman, Azam, "A privacy enhancing model for Internet of Things using three-way decisions and differential
    privacy", Computers and Electrical Engineering 100 (2022) 107894, Eq. (6).

    Examples
    --------
    >>> entropies(pd.DataFrame({"sex": ["m", "f", "m", "f"], "loss": [0, 0, 0, 0]})).round(4).to_dict()
    {'sex': 0.6931, 'loss': 0.0}
    """
    check_frame(frame)
    return entropies_of_codes(frame, encode(frame))


def intervals(frame: pd.DataFrame, bins: int | None) -> pd.DataFrame:
    """Return a table with its columns of many numbers divided into intervals of equal width.

    Columns without a repeated value have equal entropies, whatever they hold. Intervals of equal frequency would make
    all entropies equal again.

    Parameters
    ----------
    frame : pandas.DataFrame
        n rows.
    bins : int or None
        Number of intervals. Columns with fewer distinct numbers, and other columns, stay as they are. None: all stay.

    Examples
    --------
    >>> intervals(pd.DataFrame({"level": [0.1, 0.2, 0.9, 1.0]}), 2)["level"].tolist()
    [0, 0, 1, 1]
    """
    cut = frame.copy(deep=False)
    if bins is None:
        return cut
    for name in frame.select_dtypes("number"):
        if frame[name].nunique() > bins:
            cut[name] = pd.cut(frame[name], bins, labels=False)
    return cut


def evaluate(entropies: pd.Series) -> pd.Series:
    """Return the evaluation of each attribute: its entropy, rescaled to [0, 1] over all attributes.

    Parameters
    ----------
    entropies : pandas.Series
        Entropy of each attribute, in any base; the base cancels.

    Returns
    -------
    pandas.Series
        (H - min H) / (max H - min H): exactly 0 for the lowest entropy and exactly 1 for the highest.

    Raises
    ------
    ValueError
        If there are fewer than two attributes, a value is not finite, or all entropies are equal, so that a min-max
        scale does not exist.

    References
    ----------
    Ali et al. (2022), section 4.2 ("normalized in the range of [0, 1]").
    """
    if len(entropies) < 2:
        raise ValueError(f"n_features={len(entropies)}: a division compares attributes, give at least two columns")
    values = entropies.astype(float)
    if not np.isfinite(values).all():
        raise ValueError(f"entropies must be finite, got {values[~np.isfinite(values)].to_dict()}")
    low, high = values.min(), values.max()
    if low == high:
        raise ValueError(
            f"all {len(values)} attributes have entropy {low:.6g}: give columns of different entropies. Columns "
            "without a repeated value have equal entropies: divide them into intervals first, see `threeway.intervals`"
        )
    return ((values - low) / (high - low)).rename("evaluation")


def trisect(evaluation: pd.Series, alpha: float, beta: float) -> Division:
    """Divide the attributes into sensitive, non-sensitive and ambiguous ones.

    Parameters
    ----------
    evaluation : pandas.Series
        Evaluation of each attribute, 0 to 1.
    alpha, beta : float
        An attribute is sensitive at or above alpha, non-sensitive at or below beta, and ambiguous in between. With
        alpha = beta no attribute is ambiguous. An attribute that equals both is then sensitive: less is published.

    Returns
    -------
    Division
        Three disjoint groups that together hold every attribute.

    Raises
    ------
    ValueError
        If a threshold is not in [0, 1] or alpha < beta.

    References
    ----------
    Ali et al. (2022), Eqs. (7)-(9).

    Examples
    --------
    >>> trisect(pd.Series({"age": 1.0, "hours": .6, "loss": 0.0}), .9, .1).ambiguous
    ('hours',)
    """
    check_thresholds(alpha, beta)
    sensitive = evaluation >= alpha
    non_sensitive = (evaluation <= beta) & ~sensitive
    groups = (sensitive, non_sensitive, ~sensitive & ~non_sensitive)
    return Division(float(alpha), float(beta), *(tuple(evaluation.index[group]) for group in groups))


def check_thresholds(alpha: float, beta: float) -> None:
    """Raise ValueError unless 0 <= beta <= alpha <= 1."""
    for name, value in (("alpha", alpha), ("beta", beta)):
        if not 0 <= value <= 1:  # false for NaN too
            raise ValueError(f"{name}={value}: thresholds lie in [0, 1]")
    if alpha < beta:
        raise ValueError(f"alpha={alpha} < beta={beta}: groups would overlap, give alpha >= beta")


def check_division(division: Division, frame: pd.DataFrame) -> None:
    """Raise TypeError or ValueError unless each column of `frame` is in exactly one group of `division`."""
    if not isinstance(division, Division):
        raise TypeError(f"division is a {type(division).__name__}: give a Division, such as a divider's division_")
    named = [*division.sensitive, *division.kept]
    if len(named) != len(set(named)) or set(named) != set(frame.columns):
        have = list(frame.columns)
        raise ValueError(f"the division has columns {named}, the table has {have}: divide a table with its columns")


def encode(frame: pd.DataFrame) -> Iterator[np.ndarray]:
    """Yield each column as integer codes from 0. Equal values share a code; missing is one of the values.

    Parameters
    ----------
    frame : pandas.DataFrame
        A frame that :func:`check_frame` accepts.

    Yields
    ------
    numpy.ndarray
        n codes in the smallest unsigned type that holds them: ten million rows by fifteen columns need less than
        600 MB.

    Raises
    ------
    TypeError, ValueError
        See :func:`entropies`.
    """
    for name, column in frame.items():
        try:
            codes, uniques = pd.factorize(column)
        except TypeError as error:
            raise TypeError(f"column {name!r} has values that do not compare ({error}): make them text") from error
        if len(uniques) == 0:
            raise ValueError(f"column {name!r} is all missing: drop it, it has nothing to publish or protect")
        # Arrow refuses to compare its texts and times with numbers
        can_be_infinite = column.dtype.kind == "f" or not isinstance(column.dtype, pd.ArrowDtype)
        if can_be_infinite and uniques.isin([np.inf, -np.inf]).any():
            raise ValueError(f"column {name!r} holds infinite values: replace them by numbers or by missing values")
        codes[codes < 0] = len(uniques)
        yield codes.astype(np.min_scalar_type(len(uniques)))


def entropies_of_codes(frame: pd.DataFrame, codes: Iterator[np.ndarray] | list[np.ndarray]) -> pd.Series:
    """Return the entropy of each column of a frame in nats, given its columns as codes."""
    values = [entropy_of_counts(np.bincount(column), len(frame)) for column in codes]
    return pd.Series(values, frame.columns, name="entropy")


def entropy_of_counts(counts: np.ndarray, n: int) -> float:
    """Return the entropy in nats of classes with sizes `counts` out of `n` rows.

    The sum runs over distinct class sizes, not over classes. So two columns with the same class sizes get exactly the
    same number, in whatever order their values come, and thresholds cannot separate relabelled columns.
    """
    times = np.bincount(counts)
    sizes = np.flatnonzero(times)
    sizes = sizes[sizes > 0]
    share = sizes / n
    return abs(float(-(times[sizes] * share * np.log(share)).sum()))
