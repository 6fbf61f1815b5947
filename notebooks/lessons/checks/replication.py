"""Checks of lesson 67, how to read a replication."""

from typing import Any

import numpy as np
import pandas as pd

from checks.hints import exercise, returns_zero, same_function, same_value
from sensorprivacy.threeway import Sizes, stability

_HALF = 0.5 + 1e-9
_COUNTS = np.array([100.0, 400.0, 900.0])


@exercise
def agrees(answer: Any) -> None:
    """Check ``agrees(ours, printed, decimals)``."""

    def within(units: float) -> Any:
        return lambda ours, printed, decimals: bool(abs(ours - printed) <= units * 10.0**-decimals)

    mistakes = {
        "Only equal numbers agree with this. The paper rounded its number: allow half a unit of the last printed "
        "decimal.": lambda ours, printed, decimals: ours == printed,
        "This allows a whole unit of the last decimal. Rounding moves a number by half a unit at most.": within(
            1 + 1e-9
        ),
        "This allows 0.005 for every number. Half a unit of the last decimal depends on `decimals`.": (
            lambda ours, printed, decimals: bool(abs(ours - printed) <= 0.005 + 1e-9)
        ),
        "Python's round moves a tie to the even digit: round(0.125, 2) is 0.12, but a paper may print 0.13. Compare "
        "the distance with half a unit.": lambda ours, printed, decimals: round(ours, decimals) == printed,
        "The distance must be positive, whichever number is larger: use abs.": lambda ours, printed, decimals: (
            ours - printed <= _HALF * 10.0**-decimals
        ),
    }
    cases = [
        (0.8018, 0.8, 1),
        (0.125, 0.13, 2),
        (0.125, 0.12, 2),
        (0.54, 0.53, 2),
        (0.2, 0.2, 2),
        (0.1, 0.17, 2),
        (0.3, 0.17, 2),
        (93.0, 93.0, 0),
        (93.4, 93.0, 0),
        (0.83, 0.8, 1),
        (0.128, 0.13, 2),
    ]
    same_function(answer, within(_HALF), cases, mistakes)


@exercise
def weighted(answer: Any) -> None:
    """Check ``weighted_mean(values, weights)``."""
    mistakes = {
        "This gives each class the same weight. Classes with many windows count more.": lambda values, weights: (
            values.mean()
        ),
        "This is a sum. Divide it by the sum of the weights.": lambda values, weights: (values * weights).sum(),
        "Divide by the sum of the weights, not by the number of classes.": lambda values, weights: (
            values * weights
        ).mean(),
    }
    cases = [(np.array([0.5, 1.0]), np.array([3.0, 1.0])), (np.array([0.2, 0.4, 0.9]), _COUNTS)]
    same_function(answer, lambda values, weights: np.average(values, weights=weights), cases, mistakes)


@exercise
def even(answer: Any) -> None:
    """Check ``stability(sensitive, non_sensitive, ambiguous)``, Eq. 11 for numbers of columns."""

    def right(sensitive: int, non_sensitive: int, ambiguous: int) -> float:
        return stability(Sizes(sensitive, non_sensitive, ambiguous))

    mistakes = {
        "|At| is the number of all columns, also of the sensitive ones.": lambda s, n, a: n * a / (n + a) ** 2,
        "The denominator is |At| (|N| + |A|), a sum. The paper's worked example writes a product, which gives another "
        "value.": lambda s, n, a: n * a / ((s + n + a) * n * a) if n * a else 0.0,
        "Divide by |N| + |A| as well.": lambda s, n, a: n * a / (s + n + a),
    }
    same_function(answer, right, [(1, 1, 10), (3, 5, 4), (7, 5, 0)], mistakes)
    returns_zero(answer, [(12, 0, 0)], "Return 0 if no column is non-sensitive or ambiguous.")


@exercise
def startup(answer: Any) -> None:
    """Check ``startup(counts, seconds)``, which returns start-up time and time per window."""

    def fit(order: tuple[int, int]) -> Any:
        def line(counts: np.ndarray, seconds: np.ndarray) -> np.ndarray:
            return np.polyfit(counts, seconds, 1)[list(order)]

        return line

    mistakes = {
        "The order is wrong: np.polyfit returns the slope first. Return the start-up time first.": fit((0, 1)),
        "This line goes through the origin, so it has no start-up time. Fit a line with an intercept.": (
            lambda counts, seconds: np.array([0.0, (counts * seconds).sum() / (counts**2).sum()])
        ),
        "Counts and seconds are exchanged. The seconds depend on the count.": lambda counts, seconds: np.polyfit(
            seconds, counts, 1
        )[::-1],
    }

    def array(counts: np.ndarray, seconds: np.ndarray) -> np.ndarray:
        return np.asarray(answer(counts, seconds), dtype=float)

    cases = [(_COUNTS, 3 + 0.002 * _COUNTS), (_COUNTS, np.array([1.0, 1.5, 2.8]))]
    same_function(array if callable(answer) else answer, fit((1, 0)), cases, mistakes)


@exercise
def share(answer: Any, verdicts: pd.DataFrame) -> None:
    """Check ``exact_share``: exact values among those that data could have contradicted."""
    exact, absent = verdicts["verdict"].eq("exact"), verdicts["verdict"].eq("no data")
    tested = verdicts["basis"].isin(["rows", "log", "text"])
    mistakes = {
        "This counts sizes, settings and sums of printed numbers as successes. They say little about the method: keep "
        "the bases rows, log and text.": exact[~absent].mean(),
        "This counts all printed values. Leave out the bases construction, arithmetic and configuration, and the "
        "values without data.": exact.mean(),
        "Values without data count as failures here. They are neither right nor wrong: leave them out.": exact[
            tested
        ].mean(),
        "This is the share of values that differ. Count the exact ones.": verdicts["verdict"]
        .eq("differs")[tested & ~absent]
        .mean(),
    }
    same_value(answer, exact[tested & ~absent].mean(), mistakes)
