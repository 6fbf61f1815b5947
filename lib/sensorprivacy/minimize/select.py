"""Choose one of the searched subsets by the rule of paper 1, section 4.1, or by a rule that prefers fewer features."""

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import pandas as pd

from sensorprivacy.game.measuring import effectiveness_column

THRESHOLDS = (0.0, 0.01, 0.03, 0.1, 0.3, 1.0)
"""Accuracy losses of Tables 4-12: shares of the highest accuracy that may be lost."""

_PRINTED = 4  # decimals of the fractions behind relative effectiveness: the paper prints percentages with two

STANDARD_ERROR = "standard error"
"""Margin of one standard error of the lowest identifiability: fewer features win if they are not clearly worse."""


class NoSubsetError(ValueError):
    """Raised when no searched subset has the required accuracy."""


@dataclass(frozen=True)
class Rule:
    """How one of the searched subsets is chosen.

    Attributes
    ----------
    reference : float, optional
        Accuracy that the loss is measured from. Default: the highest of all subsets (section 4.1). For Definition 1,
        pass the accuracy of the model on *all* features.
    margin : float or "standard error", optional
        Choose the subset with the fewest features among the allowed subsets whose identifiability exceeds the lowest
        by at most `margin` (a fraction), or by at most one standard error of the lowest on `rows` held-out rows.
    slack : bool
        Allow subsets whose accuracy falls short of the required one by at most one standard error on `rows` held-out
        rows: on few rows, a subset would otherwise miss the threshold by one row.
    chance : float
        Chance level of the identifiability. With a margin, subsets below it are alike: nobody is better hidden.
    rows : int, optional
        Number of held-out rows, for standard errors.

    Raises
    ------
    ValueError
        If `margin` is out of range, or a standard error lacks `rows`.
    """

    reference: float | None = None
    margin: float | str | None = None
    slack: bool = False
    chance: float = 0.0
    rows: int | None = None

    def __post_init__(self) -> None:
        margin = self.margin
        if (self.slack or margin == STANDARD_ERROR) and self.rows is None:
            raise ValueError("a standard error needs rows, the number of held-out rows")
        if margin not in (None, STANDARD_ERROR) and not (isinstance(margin, int | float) and 0 <= margin <= 1):
            raise ValueError(f"margin={margin}: must be between 0 and 1, or {STANDARD_ERROR!r}")

    def least(self, best: float, threshold: float) -> float:
        """Return the required accuracy, if `best` is the highest of all subsets."""
        best = best if self.reference is None else self.reference
        return least_accuracy(best, threshold, self.rows if self.slack else None)

    def near(self, lowest: float) -> float:
        """Return the highest identifiability that a choice can have, if the lowest of an allowed subset is this."""
        return lowest if self.margin is None else near_lowest(lowest, self.margin, self.chance, self.rows)


def select(subsets: pd.DataFrame, threshold: float, *, decimals: int | None = None, **how: Any) -> pd.Series:
    """Choose the subset with the lowest identifiability among those with enough accuracy.

    A subset S is allowed if Acc(S) >= (1 - l) max Acc(S'). Ties in identifiability are broken by fewer features, then
    by higher accuracy, then by the order of the names.

    Parameters
    ----------
    subsets : pandas.DataFrame
        Columns ``features`` (tuple of names or positions), ``n_features``, ``accuracy``, ``identifiability``, the
        last two as fractions. Subsets with unknown identifiability (NaN, from a lazy search) must not be allowed.
    threshold : float
        Tolerated loss l, 0 to 1.
    decimals : int, optional
        Compare accuracies and identifiabilities rounded to this many decimals, for logs printed with few digits.
    **how
        ``reference``, ``margin``, ``slack``, ``chance`` and ``rows`` of `Rule`.

    Returns
    -------
    pandas.Series
        The row of the chosen subset with ``threshold`` added. Its name is the row's index label.

    Raises
    ------
    NoSubsetError
        If no subset has the required accuracy. This needs a `reference`.
    ValueError
        If `threshold` or `margin` is out of range, the table is empty, or an allowed subset has no identifiability.

    Notes
    -----
    Section 4.1 does not say how ties are broken, but the printed tables and the authors' logs show it. Fewer features
    come first: at l = .01 Table 4 prints one feature with 99.05 %, while two features with the same identifiability
    have 99.08 %. Higher accuracy comes second: at l = .1 Table 4 prints 95.15 %, while another single feature with the
    same identifiability has 95.12 %.

    References
    ----------
    Paper 1, sections 3.2 and 4.1. The rule of one standard error: L. Breiman et al., "Classification and Regression
    Trees" (1984), section 3.4.3.
    """
    check_threshold(threshold)
    rule = Rule(**how)
    if subsets.empty:
        raise ValueError("the table of subsets is empty: search at least one subset")
    accuracy, identifiability = subsets["accuracy"], subsets["identifiability"]
    if decimals is not None:
        accuracy, identifiability = accuracy.round(decimals), identifiability.round(decimals)
    allowed = subsets.index[accuracy >= rule.least(accuracy.max(), threshold)]
    if allowed.empty:
        best = accuracy.max() if rule.reference is None else rule.reference
        least = f"{(1 - threshold) * best:.4f} (threshold {threshold} below {best:.4f}), the best {accuracy.max():.4f}"
        raise NoSubsetError(f"no subset keeps an accuracy of {least}: raise the threshold, or search more features")
    if lacking := int(identifiability[allowed].isna().sum()):
        passing = f"{lacking} subsets pass threshold {threshold} without identifiability"
        raise ValueError(f"{passing}: search with lazy set to at least this threshold")
    order = ["identifiability", "n_features", "loss", "features"]
    if rule.margin is not None:
        order = ["n_features", "identifiability", "loss", "features"]
        identifiability = identifiability.clip(lower=rule.chance)  # below chance, nobody is better hidden
        near = identifiability[allowed] <= rule.near(float(identifiability[allowed].min()))
        allowed = allowed[near.to_numpy()]
    rank = subsets.loc[allowed, ["n_features", "features"]]
    rank = rank.assign(identifiability=identifiability[allowed], loss=-accuracy[allowed])
    winner = rank.sort_values(order, kind="stable").index[0]
    return pd.concat([subsets.loc[winner], pd.Series({"threshold": threshold})]).rename(winner)


def select_table(subsets: pd.DataFrame, thresholds: Iterable[float] = THRESHOLDS, **options: Any) -> pd.DataFrame:
    """Choose a subset at each threshold and compute its relative effectiveness, as in Tables 4-12.

    Parameters
    ----------
    subsets : pandas.DataFrame
        See `select`.
    thresholds : iterable of float
        Default: the paper's six.
    **options
        Passed to `select`.

    Returns
    -------
    pandas.DataFrame
        Index threshold; columns features, n_features, accuracy, identifiability, relative_effectiveness (numbers and
        `sensorprivacy.game.Undefined` members; the first row is the base).

    Raises
    ------
    ValueError
        If there is no threshold; see also `select`.
    """
    levels = list(thresholds)
    if not levels:
        raise ValueError("thresholds is empty: pass at least one threshold")
    rows = [select(subsets, level, **options) for level in levels]
    table = pd.DataFrame(rows).set_index(pd.Index(levels, name="threshold"))
    table = table[["features", "n_features", "accuracy", "identifiability"]].infer_objects()
    return table.assign(relative_effectiveness=effectiveness_column(table, table.iloc[0], decimals=_PRINTED))


def fewest_columns(ranked: Sequence[Any], enough: Callable[[list[Any]], bool], few: int) -> list[Any]:
    """Return the first columns of a ranking that are enough, if no subset of the first `few` ones is.

    Parameters
    ----------
    ranked : sequence
        Columns, the best first. All of them together are enough.
    enough : callable
        Whether some columns keep the required accuracy.
    few : int
        A number of columns that is not enough.
    """
    many = len(ranked)
    while many - few > 1:
        size = (few + many) // 2
        few, many = (few, size) if enough(list(ranked[:size])) else (size, many)
    return list(ranked[:many])


def least_accuracy(best: float, threshold: float, rows: int | None = None) -> float:
    """Return the required accuracy, (1 - l) times the best, lowered by the possible rounding error.

    With a number of rows, it is also lowered by one standard error of the best accuracy on these rows.
    """
    slack = math.sqrt(max(best * (1 - best), 0) / rows) if rows else 0.0
    return (1 - threshold) * best - slack - 4 * math.ulp(best)


def near_lowest(lowest: float, margin: float | str, chance: float, rows: int | None) -> float:
    """Return the identifiability up to which subsets are alike, see `select`."""
    lowest = max(lowest, chance)
    return lowest + (math.sqrt(lowest * (1 - lowest) / (rows or 1)) if isinstance(margin, str) else margin)


def check_threshold(threshold: float) -> None:
    """Reject a threshold that is no number from 0 to 1 with a ValueError."""
    if not isinstance(threshold, int | float) or isinstance(threshold, bool) or not 0 <= threshold <= 1:
        raise ValueError(f"threshold={threshold!r}: must be a number from 0 (lose nothing) to 1 (lose everything)")
