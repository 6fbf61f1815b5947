"""Match published rows with their originals, as an attacker does who has the original values."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from scipy import stats
from scipy.spatial.distance import cdist
from sklearn.neighbors import KDTree

from sensorprivacy.data import draw_rows
from sensorprivacy.game.anchors import match_by_anchors, moved
from sensorprivacy.game.linkage import as_numbers, code_pair, link
from sensorprivacy.game.wilson import wilson

ROWS = 2000  # attacked
_MOST_UNITS = 2000  # that are compared with each other
_CELLS = 4e9  # cells compared by one attack: a few seconds
_TIE = 1e-9
_APART = 10.0  # distance of different classes, where a column's range is 1
_TOLERANCE = 0.01
_LABEL = "published label\0"  # no column of a file has this name
EXACT, ABOUT = "equal values", f"values known to {_TOLERANCE:.0%} of their range"
NEAREST, REFIT, AGAIN = "nearest values", "the transformation fitted again", "a second release of the same rows"
OFTEN, POOLED = "how often rows occur, and regression", "statistics of all its rows"
Units = Mapping[str, np.ndarray | pd.Series]


@dataclass(frozen=True)
class Match:
    """How many published rows one attack finds.

    Parameters
    ----------
    by : str
        What the attacker compares: `EXACT`, `ABOUT`, `NEAREST`, `REFIT`, `OFTEN`, `POOLED` or `AGAIN`.
    share, low, high : float
        Share of the attacked rows that are found, with Wilson's 95 % interval. With equal or similar values, a row is
        found if no other row has them (singling out). Otherwise, it is found if its partner is the nearest row; of k
        equally near rows, each counts 1/k (linkage).
    control : float
        The same without knowledge of the row. Singling out: the share if the row itself were not published, so that
        every find is wrong. Linkage: the share of a random row with the same published label.
    rows, among : int
        Number of attacked rows, and of rows to choose from; of units at another level.
    level : str
        ``row``, or what is found as a whole: ``group``, ``recording`` or ``user``.
    """

    by: str
    share: float
    low: float
    high: float
    control: float
    rows: int
    among: int
    level: str = "row"


def match_rows(
    original: pd.DataFrame,
    published: pd.DataFrame,
    labels: Sequence[Any] | np.ndarray | pd.Series | None = None,
    *,
    refit: pd.DataFrame | None = None,
    again: pd.DataFrame | None = None,
    units: Units | None = None,
    rows: int = ROWS,
    seed: int | np.random.Generator = 42,
) -> list[Match]:
    """Match published rows with their originals in up to six ways, and whole recordings and users.

    A model that fails to identify users proves nothing against these attackers: a serial number confuses a forest, but
    finds every row.

    Parameters
    ----------
    original, published : pandas.DataFrame
        n rows of numbers or categories each, in the same order. Columns of equal names have the same meaning.
    labels : array of shape (n,), optional
        A label of each row that is published unchanged, and that the attacker knows.
    refit : pandas.DataFrame, optional
        The result of the attacker who repeats the transformation on the original rows in any order.
    again : pandas.DataFrame, optional
        A second release of the same rows.
    units : mapping of str to array of shape (n,), optional
        The unit of each row by level, such as its recording and its user. The attacker knows which published rows
        belong together, and finds whole units by means, deviations and quantiles of their rows.
    rows : int
        Number of rows to attack; fewer in large tables, so that no attack takes more than a few seconds. Equal values
        are counted in all rows.
    seed : int or numpy.random.Generator
        Draws these rows.

    Returns
    -------
    list of Match
        The attacks that apply: the first two need columns of the original; nearest values need changed ones.

    Examples
    --------
    >>> home = pd.DataFrame({"serial": [3, 1, 2], "door": [0, 1, 1]})
    >>> [(one.by, one.share) for one in match_rows(home, home)][0]
    ('equal values', 1.0)
    >>> match_rows(home, home[["door"]])[0].share.__round__(2)
    0.33
    """
    n = len(published)
    at = draw_rows(n, int(max(100, min(rows, _CELLS / (n * published.shape[1])))), seed)
    known = pd.factorize(np.zeros(n) if labels is None else np.asarray(labels))[0]
    chance = float((1 / np.bincount(known)[known]).mean())
    truth, shown = _alike(original, published)
    kept = [name for name in truth if truth[name].equals(shown[name])]
    found = []
    if kept:
        sizes = shown[kept].assign(**{_LABEL: known}).groupby([*kept, _LABEL], dropna=False, observed=True, sort=False)
        equal = sizes[_LABEL].transform("size").to_numpy()
        found.append(_single(EXACT, equal == 1, equal == 2, n))
    if len(truth.columns):
        found.append(_similar(truth, shown, known, at))

    def linked(by: str, one: pd.DataFrame, other: pd.DataFrame) -> None:
        both = [frame.assign(**{_LABEL: known.astype(str)}) for frame in _alike(one, other)]
        same = [name for name in both[0] if both[0][name].equals(both[1][name])]
        result = link(*both, exact=same, rows=at)
        found.append(Match(by, result.share, result.low, result.high, chance, len(at), n))

    if len(kept) < len(truth.columns):
        linked(NEAREST, original[list(truth)], published[list(truth)])
    if refit is not None and len(kept) < published.shape[1]:
        linked(REFIT, *moved(original, refit, published, rows=ROWS, seed=seed))
    if len(kept) < published.shape[1]:
        again_fitted = None if refit is None else _numbers(refit)
        hits = match_by_anchors(_numbers(original), _numbers(published), known, at, again_fitted)
        if hits is not None:
            low, high = wilson(float(hits.sum()), len(at))
            found.append(Match(OFTEN, float(hits.mean()), low, high, chance, len(at), n))
    found += match_units(original, published, units or {}, labels, refit=refit)
    if again is not None:
        linked(AGAIN, published, again)
    return found


def unchanged_columns(original: pd.DataFrame, published: pd.DataFrame) -> list[Any]:
    """Return the published columns that equal those of the original, row by row."""
    truth, shown = _alike(original, published)
    return [name for name in truth if truth[name].equals(shown[name])]


def strongest_match(found: Sequence[Match], level: str = "row") -> Match | None:
    """Return the attack with original values that exceeds its control most; None if none was made at a level."""
    tried = [one for one in found if one.by != AGAIN and one.level == level]
    return max(tried, key=lambda one: one.share - one.control, default=None)


def in_words(found: Sequence[Match]) -> str:
    """Return a sentence about the strongest attacker with original values, for rows and for each other level.

    Examples
    --------
    >>> in_words([Match(EXACT, 1.0, 0.99, 1.0, 0.0, 400, 400)])
    'Every row can be matched to its original by anybody who has the original values.'
    """
    levels = [level for level in dict.fromkeys(one.level for one in found) if level != "row"]
    said = [_of_rows(strongest_match(found))]
    for level in levels:
        best = strongest_match(found, level)
        if best is not None and best.low > best.control:
            said.append(
                f"{best.share:.1%} of the {best.among:,} {level}s can be matched by whoever also knows which rows "
                f"belong together ({best.control:.1%} without their values)."
            )
    return " ".join(said)


def _of_rows(best: Match | None) -> str:
    if best is None:
        return "No attack that matches rows with their originals applies here."
    if best.low <= best.control:
        return "No attack below matches more rows with their originals than its control does."
    how = "" if best.by in (EXACT, NEAREST) else f", by {best.by}"
    many = f"{best.share:.1%} of the rows can be matched to their originals"
    if best.share == 1:
        many = "Every row can be matched to its original"
    return f"{many} by anybody who has the original values{how}."


def match_units(
    original: pd.DataFrame,
    published: pd.DataFrame,
    units: Units,
    labels: Any = None,
    *,
    refit: pd.DataFrame | None = None,
) -> list[Match]:
    """Match whole recordings and users; parameters as `match_rows`."""
    known = pd.factorize(np.zeros(len(published)) if labels is None else np.asarray(labels))[0]
    if not units:
        return []
    values, target = _same_space(original, published, refit)
    return [one for level, of in units.items() for one in _units(level, values, target, np.asarray(of), known)]


def _same_space(
    original: pd.DataFrame, published: pd.DataFrame, refit: pd.DataFrame | None
) -> tuple[np.ndarray, np.ndarray]:
    """Return the attacker's values and the published ones, column by column of the same meaning and direction."""
    if refit is not None and list(refit) == list(published):
        values, target = (table / _spread(table) for table in (_numbers(refit), _numbers(published)))
        with np.errstate(invalid="ignore"):
            return values * np.where(stats.skew(target) * stats.skew(values) < 0, -1, 1), target
    common = [name for name in published if name in original]
    both = pd.concat([original[common], published[common]], ignore_index=True)
    values, target = np.split(_numbers(both) if common else np.empty((2 * len(original), 0)), 2)
    return values / _spread(values), target / _spread(values)


def _spread(values: np.ndarray) -> np.ndarray:
    return np.maximum(np.nanstd(values, axis=0), 1e-12)


def _units(level: str, values: np.ndarray, target: np.ndarray, of: np.ndarray, known: np.ndarray) -> list[Match]:
    """Find whole units by statistics of their rows; the control sees their labels and numbers of rows only."""
    codes = pd.factorize(of)[0]
    some = codes < _MOST_UNITS
    values, target, codes, known = values[some], target[some], codes[some], known[some]
    many = int(codes.max()) + 1
    if many < 2:
        return []
    counts = pd.crosstab(codes, known).to_numpy()
    # numbers of rows are known exactly, so units that differ in them are far apart
    sizes = cdist(counts, counts, "cityblock") * _APART
    seen = [_statistics(table, codes) for table in (values, target)]
    hits, blind = (_own(gaps) for gaps in (sizes + cdist(*seen, "cityblock"), sizes))
    low, high = wilson(float(hits.sum()), many)
    return [Match(POOLED, float(hits.mean()), low, high, float(blind.mean()), many, many, level)]


def _own(gaps: np.ndarray) -> np.ndarray:
    """Return for each unit 1/k if it is among the k nearest ones to itself, else 0."""
    tied = gaps <= gaps.min(axis=0) + _TIE
    return np.asarray(np.diagonal(tied) / tied.sum(axis=0))


def _statistics(values: np.ndarray, codes: np.ndarray) -> np.ndarray:
    """Return mean, deviation and quartiles of the columns of each unit, less their means over the units."""
    rows = pd.DataFrame(np.nan_to_num(values)).groupby(codes)
    parts = [rows.mean(), rows.std(ddof=0), *(rows.quantile(share) for share in (0.25, 0.5, 0.75))]
    return np.column_stack([part - part.mean() for part in parts])


def _numbers(table: pd.DataFrame) -> np.ndarray:
    """Return numbers as they are and other columns as codes in the order of their values."""
    columns = [
        pd.factorize(column.astype(str), sort=True)[0].astype(float) if (found := as_numbers(column)) is None else found
        for _, column in table.items()
    ]
    return np.column_stack(columns)


def _single(by: str, right: np.ndarray, wrong: np.ndarray, among: int) -> Match:
    low, high = wilson(float(right.sum()), len(right))
    return Match(by, float(right.mean()), low, high, float(wrong.mean()), len(right), among)


def _alike(original: pd.DataFrame, published: pd.DataFrame) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Return the common columns of both tables in equal types: floats, or codes of categories."""
    one, other = {}, {}
    pair: list[Any]
    for name in [name for name in published if name in original]:
        pair = [as_numbers(frame[name]) for frame in (original, published)]
        if pair[0] is None or pair[1] is None:
            codes = code_pair(original[name], published[name])
            kinds = pd.CategoricalDtype(pd.Index(np.unique(codes)))
            pair = [pd.Categorical(half, dtype=kinds) for half in np.split(codes, 2)]
        elif np.allclose(pair[0], pair[1], rtol=1e-9, atol=0, equal_nan=True):  # equal up to rounding
            pair[1] = pair[0]
        one[name], other[name] = pair
    return pd.DataFrame(one), pd.DataFrame(other)


def _similar(truth: pd.DataFrame, shown: pd.DataFrame, known: np.ndarray, at: np.ndarray) -> Match:
    """Single rows out by values that the attacker knows only about."""
    parts = [_scaled(frame, truth) for frame in (truth, shown)]
    first, second = (np.column_stack([part, known * _APART]) for part in parts)
    tree: Any = KDTree(second, metric="chebyshev")
    close = np.asarray(tree.query_radius(first[at], r=_TOLERANCE, count_only=True))
    own = np.abs(first[at] - second[at]).max(axis=1) <= _TOLERANCE
    return _single(ABOUT, own & (close == 1), close - own == 1, len(second))


def _scaled(table: pd.DataFrame, truth: pd.DataFrame) -> np.ndarray:
    """Return numbers divided by the original's range, and categories far apart; missing numbers are alike."""
    columns = []
    for name, column in table.items():
        if isinstance(column.dtype, pd.CategoricalDtype):
            columns.append(column.cat.codes.to_numpy() * _APART)
            continue
        low, high = np.nanmin(truth[name]), np.nanmax(truth[name])
        columns.append(np.nan_to_num((column.to_numpy() - low) / ((high - low) or 1.0), nan=-_APART))
    return np.column_stack(columns)
