"""Re-identify the rows of a published table by record linkage, and measure its k-anonymity."""

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from scipy.spatial.distance import cdist

from sensorprivacy.data import check_frame, draw_rows
from sensorprivacy.game.wilson import wilson

_CELLS = 20_000_000  # distances in memory at once: 160 MB
_AT_ONCE = 50  # rows whose distances are computed at a time
_TIE = 1e-9  # distances closer than this are equal
_FIRST = 1e6  # larger than any distance over noisy columns
_TICKS = {"s": 1, "ms": 1_000, "us": 1_000_000, "ns": 1_000_000_000}  # in a second, by a timestamp's unit


@dataclass(frozen=True)
class Linkage:
    """The share of published rows that an attack linked to their original row.

    Parameters
    ----------
    share : float
        Share of the attacked rows whose nearest original row is their own. If k rows are equally near, it counts 1/k.
    low, high : float
        Wilson's 95 % confidence interval of the share, for the sampling of rows and the random choice among ties.
    chance : float
        Share that random linking reaches: 1/n.
    rows : int
        Number of published rows attacked.
    columns : int
        Number of compared columns.
    """

    share: float
    low: float
    high: float
    chance: float
    rows: int
    columns: int


def linkage(
    original: pd.DataFrame,
    published: pd.DataFrame,
    *,
    exact: Sequence[Hashable] | None = None,
    sample: int | None = 2000,
    seed: int | np.random.Generator = 0,
) -> pd.DataFrame:
    """Attack a published table by record linkage, in four ways.

    The attacker knows the original values of the published columns, and searches the original row of every published
    row.

    Parameters
    ----------
    original : pandas.DataFrame
        The n original rows.
    published : pandas.DataFrame
        The same n rows in the same order, with some columns dropped and some noisy.
    exact : sequence of column names, optional
        The columns that were published unchanged, such as the non-sensitive ones of a division. Default: the columns
        that agree in every row. Weak noise on few values can leave such a column by chance.
    sample : int or None, default 2000
        Number of published rows to attack, drawn without replacement and compared with all n original rows. None
        attacks all rows, which takes time proportional to n squared.
    seed : int or numpy.random.Generator, default 0
        Draws the sample.

    Returns
    -------
    pandas.DataFrame
        One row per attack, indexed by its name, with columns share, low, high, chance, rows, columns:

        - "published": the nearest row over all published columns.
        - "exact columns first": the unchanged columns must match, then the nearest row over the noisy columns. This
          attacker is stronger and knows which columns are noisy.
        - "exact columns only": the unchanged columns alone, a baseline that noise cannot change.
        - "without noise": the nearest row over all published columns before noise, a baseline that shows the effect of
          the noise.

    Raises
    ------
    ValueError
        If the tables differ in length or share no column.

    See Also
    --------
    link : One attack.

    References
    ----------
    The distance is from J. C. Gower, "A general coefficient of similarity and some of its properties", Biometrics 27
    (1971). The attack is from J. Domingo-Ferrer and V. Torra, "Distance-based and probabilistic record linkage for
    re-identification of records with categorical variables" (2002).

    Examples
    --------
    >>> people = pd.DataFrame({"age": [20, 30, 40, 50], "town": list("aabb")})
    >>> linkage(people, people.assign(age=people["age"] + 2))["share"].to_dict()
    {'published': 1.0, 'exact columns first': 1.0, 'exact columns only': 0.5, 'without noise': 1.0}
    """
    shared = _shared(original, published)
    truth, published = _in_seconds(original, shared), _in_seconds(published, shared)
    if exact is None:
        exact = [name for name in shared if truth[name].equals(published[name])]
    exact = [name for name in shared if name in set(exact)]
    options: dict[str, Any] = {"rows": draw_rows(len(original), sample, seed, "sample")}
    attacks = {
        "published": link(truth, published, **options),
        "exact columns first": link(truth, published, exact=exact, **options),
        "exact columns only": link(truth[exact], published, exact=exact, **options) if exact else None,
        "without noise": link(truth, truth, **options),
    }
    rows = {name: vars(found) for name, found in attacks.items() if found is not None}
    return pd.DataFrame.from_dict(rows, orient="index").rename_axis("attack")


def link(
    original: pd.DataFrame,
    published: pd.DataFrame,
    *,
    exact: Sequence[Hashable] = (),
    rows: np.ndarray | None = None,
) -> Linkage:
    """Link published rows to their nearest original rows over the columns that both tables have.

    The distance of two rows is the sum over columns of |x - y| over the original's range for numbers and points in
    time, and of 0 or 1 for other types. Times of different units and time zones are compared as instants. A missing
    number becomes the middle of the range, as in a publication. If both tables have missing cells, "missing" counts as
    one more category.

    Parameters
    ----------
    original, published : pandas.DataFrame
        n rows each; row i of one table is row i of the other.
    exact : sequence of column names, optional
        Columns that must match before any distance over the others counts.
    rows : numpy.ndarray, optional
        Positions of the published rows to attack. Default: all.

    Returns
    -------
    Linkage
        The share of correct links, with its confidence interval and the chance level.

    Raises
    ------
    ValueError
        If the tables differ in length or share no column.

    Examples
    --------
    >>> people = pd.DataFrame({"age": [20, 30, 40, 50]})
    >>> link(people, people + 1).share
    1.0
    """
    shared = _shared(original, published)
    original, published = _in_seconds(original, shared), _in_seconds(published, shared)
    places = np.arange(len(original)) if rows is None else np.asarray(rows)
    known, seen = _encode(original, published, [name for name in shared if name not in set(exact)])
    classes = _classes(original, published, [name for name in shared if name in set(exact)])
    hits = 0.0
    step = max(1, _CELLS // len(original))
    for start in range(0, len(places), step):
        hits += _hits(known, seen, classes, places[start : start + step])
    low, high = wilson(hits, len(places))
    return Linkage(hits / len(places), low, high, 1 / len(original), len(places), len(shared))


@dataclass(frozen=True)
class Anonymity:
    """How many rows of a table are alike.

    Parameters
    ----------
    k : int
        Size of the smallest class of equal rows: the table is k-anonymous.
    unique : float
        Share of rows that are equal to no other row.
    classes : pandas.DataFrame
        Number of classes of each size: columns size, classes, rows.
    """

    k: int
    unique: float
    classes: pd.DataFrame


def k_anonymity(frame: pd.DataFrame, columns: Sequence[Hashable] | None = None) -> Anonymity:
    """Measure how many rows of a table are equal, and how many are unique.

    Parameters
    ----------
    frame : pandas.DataFrame
        n rows.
    columns : sequence, optional
        The columns that an attacker may know. Default: all. Missing values equal each other. With an empty list, all
        rows are in one class.

    Returns
    -------
    Anonymity
        k, the share of unique rows, and the table of class sizes.

    Raises
    ------
    ValueError
        If the table has no rows or lacks a column.

    References
    ----------
    L. Sweeney, "k-anonymity: a model for protecting privacy", IJUFKS 10 (2002).

    Examples
    --------
    >>> k_anonymity(pd.DataFrame({"sex": list("mmff"), "town": list("aabc")})).classes.to_dict("list")
    {'size': [1, 2], 'classes': [2, 1], 'rows': [2, 2]}
    """
    check_frame(frame)
    chosen = list(frame.columns) if columns is None else list(columns)
    if absent := [name for name in chosen if name not in frame.columns]:
        raise ValueError(f"columns {absent} are not in the table: choose from {list(frame.columns)}")
    sizes = frame.groupby(chosen, dropna=False, observed=True, sort=False).size() if chosen else pd.Series([len(frame)])
    size, classes = np.unique(sizes.to_numpy(), return_counts=True)
    table = pd.DataFrame({"size": size, "classes": classes, "rows": size * classes})
    return Anonymity(int(size[0]), float((sizes == 1).sum() / len(frame)), table)


def _shared(original: pd.DataFrame, published: pd.DataFrame) -> list[Hashable]:
    check_frame(original, "original")
    check_frame(published, "published")
    if len(original) != len(published):
        raise ValueError(
            f"{len(original)} original rows and {len(published)} published rows: give the same rows in the same order"
        )
    shared: list[Hashable] = [name for name in published.columns if name in original.columns]
    if not shared:
        raise ValueError(
            f"no common column in {list(original.columns)} and {list(published.columns)}: share at least one"
        )
    return shared


def _in_seconds(frame: pd.DataFrame, names: Sequence[Hashable]) -> pd.DataFrame:
    """Return columns of a table with times as seconds since 1970 in UTC, so that equal instants are equal numbers."""
    columns = {name: frame[name].reset_index(drop=True) for name in names}
    for name, column in columns.items():
        if column.dtype.kind == "M":
            stamps = pd.DatetimeIndex(column)
            # Whole seconds and the rest apart: a time since 1970 has too many nanoseconds for a float.
            whole, rest = np.divmod(stamps.asi8, _TICKS[stamps.unit])
            columns[name] = pd.Series(np.where(stamps.isna(), np.nan, whole + rest / _TICKS[stamps.unit]))
    return pd.DataFrame(columns)


Encoded = tuple[np.ndarray, np.ndarray]  # numbers scaled by their range, codes of categories; n rows each


def _encode(original: pd.DataFrame, published: pd.DataFrame, names: Sequence[Hashable]) -> tuple[Encoded, Encoded]:
    n = len(original)
    numbers: list[np.ndarray] = []
    codes: list[np.ndarray] = []
    for name in names:
        pair = [as_numbers(frame[name]) for frame in (original, published)]
        if pair[0] is None or pair[1] is None:
            codes.append(code_pair(original[name], published[name]))
            continue
        low, high = np.nanmin(pair[0]), np.nanmax(pair[0])
        both = np.concatenate([pair[0], pair[1]])
        missing = np.isnan(both)
        if missing[:n].any() and missing[n:].any():
            codes.append(missing.astype(float))
        both[missing] = (low + high) / 2
        numbers.append((both - low) / ((high - low) or 1.0))
    tables = [np.column_stack(parts) if parts else np.empty((2 * n, 0)) for parts in (numbers, codes)]
    return (tables[0][:n], tables[1][:n]), (tables[0][n:], tables[1][n:])


def as_numbers(column: pd.Series) -> np.ndarray | None:
    """Return a column of numbers as floats, and None for other types."""
    if isinstance(column.dtype, pd.CategoricalDtype) or column.dtype.kind not in "iuf" or column.isna().all():
        return None
    return column.to_numpy(dtype=float, na_value=np.nan)


def code_pair(one: pd.Series, other: pd.Series) -> np.ndarray:
    """Return codes of the categories of two columns, one after the other; equal categories have equal codes."""
    together = np.concatenate([one.astype(object).to_numpy(), other.astype(object).to_numpy()])
    return pd.factorize(together)[0].astype(float)


def _classes(original: pd.DataFrame, published: pd.DataFrame, names: Sequence[Hashable]) -> Encoded | None:
    """Return codes of the exact columns' combinations of values, the same codes in both tables."""
    if not names:
        return None
    both = pd.concat([frame[list(names)].astype(object) for frame in (original, published)])
    codes = both.groupby(list(names), dropna=False, sort=False).ngroup().to_numpy()
    return codes[: len(original)], codes[len(original) :]


def _hits(known: Encoded, seen: Encoded, classes: Encoded | None, rows: np.ndarray) -> float:
    """Return how many rows are linked; its arrays are released before those of the next chunk are made."""
    distances = _distances(known, seen, rows)
    if classes is not None:
        np.add(distances, _FIRST, out=distances, where=classes[1][rows, None] != classes[0][None, :])
    nearest = distances.min(axis=1)
    tied = distances <= nearest[:, None] + _TIE
    return float((tied[np.arange(len(rows)), rows] / tied.sum(axis=1)).sum())


def _distances(known: Encoded, seen: Encoded, rows: np.ndarray) -> np.ndarray:
    total = np.zeros((len(rows), len(known[0])))
    for at in range(0, len(rows), _AT_ONCE):  # the distances of a chunk are large: no second array of this size is made
        these = rows[at : at + _AT_ONCE]
        if known[0].shape[1]:
            total[at : at + _AT_ONCE] += cdist(seen[0][these], known[0], "cityblock")
        if known[1].shape[1]:
            total[at : at + _AT_ONCE] += cdist(seen[1][these], known[1], "hamming") * known[1].shape[1]
    return total
