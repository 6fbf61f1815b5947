"""How well one column alone identifies the users: the rule that needs no list of forbidden spellings."""

from typing import NamedTuple

import numpy as np
import pandas as pd

FAR = 0.7  # of the way from chance to certainty, from which a column identifies
_CODE = 10_000  # from which whole numbers can be identifiers or times
_LONG = 10_000_000  # range from which even few whole numbers are identifiers
_OFFSET = 5  # times its range that a time since long ago is away from zero
_DISTINCT = 0.9  # share of different values from which numbers name their row
_EVEN = 0.15  # of the range, where the median of codes lies at least
_SEQUENCE = 20  # rows after which rising values are no chance
_MOSTLY = 0.95  # of the steps of a clock that begins anew
_FEW = 1000  # values that can be attributes of a user
_SAME, _PAIRS = 0.9, 0.2  # share of pairs of one user, and pairs per row, from which a value is a code
_SIDE = 3  # neighbours at each side


class Finding(NamedTuple):
    """Why a column should not leave.

    Attributes
    ----------
    reason : str
        In words.
    soft : bool
        Whether it can be a measurement that differs between users.
    coarse : bool
        Whether it can leave with a coarser step.
    """

    reason: str
    soft: bool = False
    coarse: bool = False


def lookup(seen: np.ndarray, wanted: np.ndarray) -> float:
    """Return the mean recall of looking up the most frequent `wanted` of the other rows with the same `seen`.

    Parameters
    ----------
    seen, wanted : numpy.ndarray of int
        Codes from 0, of n rows.
    """
    pairs, rows = np.unique(seen.astype(np.int64) * (wanted.max() + 1) + wanted, return_counts=True)
    cells, labels = np.divmod(pairs, wanted.max() + 1)
    order = np.lexsort((-rows, cells))
    cells, labels, rows = cells[order], labels[order], rows[order]
    begins = np.flatnonzero(np.diff(cells, prepend=cells[0] - 1))
    sizes = np.diff(begins, append=len(cells))
    # the strongest other label of the same cell: the second one for the first, the first one for all others
    second = np.where(sizes > 1, rows[np.minimum(begins + 1, len(rows) - 1)], 0)
    rival = np.repeat(rows[begins], sizes)
    rival[begins] = second
    right = np.bincount(labels, np.where(rows - 1 > rival, rows, 0), minlength=labels.max() + 1)
    return float(np.mean(right / np.maximum(np.bincount(labels, rows), 1)))


def neighbours(values: np.ndarray, users: np.ndarray) -> float:
    """Return the mean recall of a vote of the nearest other rows, in one dimension."""
    order = np.lexsort((np.random.default_rng(0).random(len(values)), values))
    around, n = users[order], len(values)
    places = np.arange(n)[:, None] + np.array([*range(-_SIDE, 0), *range(1, _SIDE + 1)])
    inside = (places >= 0) & (places < n)
    votes = np.where(inside, around[np.clip(places, 0, n - 1)], -1)
    counts = (votes[:, :, None] == votes[:, None, :]).sum(axis=2) * inside
    chosen = votes[np.arange(n), counts.argmax(axis=1)]
    right = np.bincount(around, chosen == around, minlength=users.max() + 1)
    return float(np.mean(right / np.maximum(np.bincount(around), 1)))


def agreement(codes: np.ndarray, who: np.ndarray) -> float:
    """Return how often two rows with the same value are of the same user; 0 if few rows share their value."""

    def pairs(*columns: np.ndarray) -> float:
        counts = pd.DataFrame(dict(enumerate(columns))).value_counts().to_numpy(dtype=float)
        return float((counts * (counts - 1)).sum())

    alike = pairs(codes)
    return pairs(codes, who) / alike if alike >= _PAIRS * len(codes) else 0.0


def _beyond(recall: float, chance: float) -> bool:
    return chance < 1 and (recall - chance) / (1 - chance) >= FAR


def judge_values(values: pd.Series, users: pd.Series, step: float | None) -> Finding | None:
    """Return why the values of a column must not leave, or None.

    Parameters
    ----------
    values : pandas.Series
        Numbers or texts of n rows in the order of the file; cells may be missing.
    users : pandas.Series
        The user of each row.
    step : float, optional
        To which numbers are rounded before they leave.
    """
    who, names = pd.factorize(users)
    known = (who >= 0) & values.notna().to_numpy()
    gaps = ~values.notna().to_numpy()[who >= 0]
    if 0.02 <= gaps.mean() <= 0.98 and _follows(gaps.astype(int), who[who >= 0]):
        return Finding("which of its cells are missing depends on the user")
    if known.sum() < 2:
        return None
    values, who = values[known], who[known]
    numeric = pd.api.types.is_numeric_dtype(values) and not pd.api.types.is_bool_dtype(values)
    if numeric and (found := order_or_size(values.to_numpy(dtype=float), who)):
        return found
    codes = pd.factorize(np.rint(values.to_numpy(dtype=float) / step) if numeric and step else values)[0]
    if len(np.unique(codes)) <= min(_FEW, len(codes) // 2) and _follows(codes, who):
        soft = 2 * len(np.unique(codes)) <= len(names)
        return Finding("each user has one value of it: it describes the user", soft)
    chance = 1 / len(np.unique(who))
    recalls = [lookup(codes, who)]
    if numeric and step:
        whole = np.rint(values.to_numpy(dtype=float) / step)
        recalls += [neighbours(whole, who), *(lookup(pd.factorize(whole % base)[0], who) for base in (10, 100, 1000))]
    soft = bool(numeric and ((values % 1 != 0).any() or np.ptp(values) < _CODE))
    if (same := agreement(codes, who)) >= _SAME:
        return Finding(f"two rows with the same value of it are of the same user in {same:.0%} of the cases", soft)
    if _beyond(max(recalls), chance):
        said = f"its value alone identifies the user of {max(recalls):.0%} of the rows"
        return Finding(f"{said} (by chance {chance:.0%})", soft)
    return None


def _follows(codes: np.ndarray, who: np.ndarray) -> bool:
    """Return whether the user predicts the value of nearly all rows, and the most frequent value does not."""
    base = np.bincount(codes).max() / len(codes)
    pairs = pd.DataFrame({"code": codes, "who": who}).value_counts().reset_index(name="rows")
    most = pairs.groupby("who")["rows"].transform("max")
    right = pairs.loc[(pairs["rows"] == most) & (pairs["rows"] > 1)].drop_duplicates("who")["rows"].sum()
    return len(np.unique(codes)) > 1 and _beyond(right / len(codes), base)


def order_or_size(values: np.ndarray, who: np.ndarray) -> Finding | None:
    """Return whether numbers are times, identifiers or row numbers by their size and order."""
    finite = np.sort(values)
    low, high = finite[int(0.01 * len(finite))], finite[int(0.99 * (len(finite) - 1))]
    middle, distinct = abs(float(np.median(finite))), len(np.unique(finite))
    if distinct > 2 and middle >= _CODE and middle >= _OFFSET * (high - low):
        return Finding(f"its numbers lie near {middle:.6g}, as times and identifiers do")
    if _rises(values) or _rises_within(values, who):
        return Finding("its numbers rise from row to row, as times and row numbers do")
    if (finite % 1).any() or len(finite) < _SEQUENCE:
        return None
    even = np.median(finite) - low >= _EVEN * (high - low)  # durations and sizes have a long tail
    if even and high - low >= _LONG:
        return Finding("it holds long whole numbers, as identifiers are")
    if distinct < _DISTINCT * len(finite):
        return None
    said = "its whole numbers differ in nearly every row, as times, identifiers and row numbers do"
    if high - low < 2 * len(finite):
        return Finding(said)
    return Finding(said, coarse=True) if even and high - low >= _CODE else None


def _rises(values: np.ndarray) -> bool:
    steps = np.diff(values)
    if len(np.unique(values)) < _SEQUENCE:
        return False
    return _mostly(steps) or bool((steps >= 0).all() or (steps <= 0).all())


def _rises_within(values: np.ndarray, who: np.ndarray) -> bool:
    order = np.argsort(who, kind="stable")
    steps = np.diff(values[order])[np.diff(who[order]) == 0]
    return len(steps) >= max(_SEQUENCE, 0.8 * len(values)) and _mostly(steps)


def _mostly(steps: np.ndarray) -> bool:
    """Return whether nearly all steps rise, or fall: a clock can begin anew with each recording."""
    return max((steps > 0).mean(), (steps < 0).mean()) >= _MOSTLY
