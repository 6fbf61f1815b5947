"""Checks of lesson 66: chance levels, intervals, and the most exposed user."""

import math
from typing import Any

import numpy as np
import pandas as pd
from scipy import stats

from checks.hints import exercise, require, same_function
from sensorprivacy import game

_Z = 1.959963984540054
_LABELS = [
    (pd.Series(list("aaabbc")), pd.Series(list("abbbbc"))),
    (pd.Series(list("aaaaab")), pd.Series(list("ababca"))),
]
_VALUES = [(np.array([0.1, 0.4, 0.2, 0.9]),), (np.array([0.5, 0.6]),)]
_ROWS = [
    (pd.Series([1, 0, 1, 1, 0, 0]), pd.Series(list("xxxxyz"))),
    (pd.Series([1, 1, 0, 0]), pd.Series(list("abab"))),
]


@exercise
def guess(answer: Any) -> None:
    """Check ``guess_level(predicted, truth)`` of a guesser with the model's frequencies."""

    def parts(predicted: pd.Series, truth: pd.Series) -> tuple[pd.Series, pd.Series]:
        one, other = (each.value_counts(normalize=True) for each in (predicted, truth))
        both = one.index.union(other.index)
        return one.reindex(both, fill_value=0.0), other.reindex(both, fill_value=0.0)

    mistakes = {
        "This holds only if all classes are predicted equally often. Multiply the two shares of each class, and add "
        "up.": lambda predicted, truth: 1 / truth.nunique(),
        "This is the accuracy of the model itself. The guesser does not see the rows.": lambda predicted, truth: (
            predicted == truth
        ).mean(),
        "This uses only the true labels. The guesser predicts each class as often as the model does.": (
            lambda predicted, truth: (parts(predicted, truth)[1] ** 2).sum()
        ),
        "This uses only the predicted labels. A guess is right with the share of this class among the true labels.": (
            lambda predicted, truth: (parts(predicted, truth)[0] ** 2).sum()
        ),
        "This is the most frequent class. Here the guesser predicts every class as often as the model does.": (
            lambda predicted, truth: truth.value_counts(normalize=True).max()
        ),
    }
    same_function(answer, lambda predicted, truth: np.prod(parts(predicted, truth), axis=0).sum(), _LABELS, mistakes)


@exercise
def wilson(answer: Any) -> None:
    """Check ``wilson(successes, n)``, which returns both ends of a 95 % interval."""

    def simple(successes: int, n: int) -> list[float]:
        share = successes / n
        half = _Z * math.sqrt(share * (1 - share) / n)
        return [share - half, share + half]

    def close(ends: Any) -> Any:
        return lambda successes, n: np.asarray(ends(successes, n), dtype=float)

    mistakes = {
        "This is the simple interval p +- z sqrt(p (1 - p) / n). With 0 of 20 successes it has no width. Use Wilson's "
        "formula.": close(simple),
        "This is a 90 % interval: z is 1.645. For 95 %, z is 1.96.": close(
            lambda successes, n: game.wilson(successes, n, 0.90)
        ),
        "The centre is right, but the width is not. Take the root of p (1 - p) / n + z^2 / (4 n^2).": close(
            lambda successes, n: _without_width(successes, n)
        ),
    }
    given = close(answer) if callable(answer) else answer
    same_function(given, close(game.wilson), [(8, 10), (0, 20), (27, 100)], mistakes, tolerance=1e-4)


def _without_width(successes: int, n: int) -> list[float]:
    share, more = successes / n, 1 + _Z**2 / n
    half = _Z / more * math.sqrt(share * (1 - share) / n)
    centre = (share + _Z**2 / (2 * n)) / more
    return [centre - half, centre + half]


@exercise
def per_recording(answer: Any) -> None:
    """Check ``per_recording(right, recordings)``, the share of right rows in each recording."""
    mistakes = {
        "These are numbers of right rows. Take the mean of each recording.": lambda right, recordings: right.groupby(
            recordings
        ).sum(),
        "These are numbers of rows. Take the mean of `right` in each recording.": lambda right, recordings: (
            right.groupby(recordings).size()
        ),
        "This divides by the number of all rows. Divide by the rows of the recording: use mean().": (
            lambda right, recordings: right.groupby(recordings).sum() / len(right)
        ),
    }
    same_function(answer, lambda right, recordings: right.groupby(recordings).mean(), _ROWS, mistakes)


@exercise
def mean_interval(answer: Any) -> None:
    """Check ``mean_interval(values)``, a 95 % interval of a mean by Student's t."""

    def by(ddof: int = 1, quantile: float | None = None, root: bool = True) -> Any:
        def ends(values: np.ndarray) -> np.ndarray:
            n = len(values)
            factor = quantile or stats.t.ppf(0.975, n - 1)
            half = factor * values.std(ddof=ddof) / (math.sqrt(n) if root else 1)
            return values.mean() + np.array([-half, half])

        return ends

    mistakes = {
        "The deviation is divided by n instead of n - 1, so the interval is too narrow: use std(ddof=1).": by(0),
        "The deviation is divided by n instead of n - 1, and the factor is that of the normal distribution. Use "
        "std(ddof=1) and Student's t.": by(0, _Z),
        "The factor 1.96 holds for many values. With few values, use Student's t with n - 1 degrees of freedom.": by(
            quantile=_Z
        ),
        "This is an interval for one value. For the mean, divide the deviation by the root of n.": by(root=False),
        "This interval covers 90 %. For 95 %, leave 2.5 % on each side: use the quantile 0.975.": (
            lambda values: np.asarray(
                stats.t.interval(0.90, len(values) - 1, values.mean(), values.std(ddof=1) / math.sqrt(len(values)))
            )
        ),
    }

    def array(values: np.ndarray) -> np.ndarray:
        return np.asarray(answer(values), dtype=float)

    same_function(array if callable(answer) else answer, by(), _VALUES, mistakes, tolerance=1e-4)


@exercise
def permutation(answer: Any) -> None:
    """Check ``permutation_p(observed, shuffled)``."""
    mistakes = {
        "With this formula p can be 0, which no number of permutations shows. Count the observed value too: add 1 "
        "above and below the line.": lambda observed, shuffled: (shuffled >= observed).mean(),
        "Permutations with the same value as the observed one count, too: use >=.": lambda observed, shuffled: (
            (1 + (shuffled > observed).sum()) / (1 + len(shuffled))
        ),
        "This counts permutations that are worse than the model. Count those that are at least as good.": (
            lambda observed, shuffled: (1 + (shuffled <= observed).sum()) / (1 + len(shuffled))
        ),
        "Add 1 to the number of permutations as well.": lambda observed, shuffled: (
            (1 + (shuffled >= observed).sum()) / len(shuffled)
        ),
    }
    draws = np.array([0.1, 0.2, 0.3, 0.3, 0.4])
    cases = [(0.3, draws), (0.9, draws), (0.15, draws)]
    same_function(
        answer,
        lambda observed, shuffled: (1 + (shuffled >= observed).sum()) / (1 + len(shuffled)),
        cases,
        mistakes,
    )


@exercise
def recall(answer: Any) -> None:
    """Check ``recall(predicted, truth)`` of each class."""
    mistakes = {
        "This is the precision: of the rows predicted as a class, the share that belongs to it. For the recall, group "
        "by the true class.": lambda predicted, truth: (predicted == truth).groupby(predicted).mean(),
        "This divides by the number of all rows. Divide by the rows of the class.": lambda predicted, truth: (
            (predicted == truth).groupby(truth).sum() / len(truth)
        ),
        "These are numbers of rows. Divide them by the rows of each class.": lambda predicted, truth: (
            (predicted == truth).groupby(truth).sum()
        ),
    }
    same_function(answer, lambda predicted, truth: (predicted == truth).groupby(truth).mean(), _LABELS, mistakes)


@exercise
def worst(answer: Any) -> None:
    """Check ``worst_p(p_values)``: the smallest p-value, corrected for the number of tests (Bonferroni)."""
    mistakes = {
        "This is the smallest p-value. If you look at the best of many tests, a small one appears by chance. Multiply "
        "it by the number of tests.": lambda p: np.min(p),
        "A p-value is at most 1: take the smaller of 1 and the product.": lambda p: len(p) * np.min(p),
        "This takes the first p-value. Take the smallest one, wherever it is.": lambda p: min(1.0, len(p) * p[0]),
        "This is the mean of the p-values. Take the smallest one, times the number of tests.": lambda p: np.mean(p),
    }
    cases = [(np.array([0.5, 0.02, 0.3, 0.8]),), (np.array([0.9, 0.6, 0.4]),)]
    same_function(answer, lambda p: min(1.0, len(p) * np.min(p)), cases, mistakes)


@exercise
def verdict(answer: Any) -> None:
    """Check ``verdict(low, high, chance, margin)``: prevented, not prevented or undecided."""

    def right(low: float, high: float, chance: float, margin: float) -> str:
        if high < chance + margin:
            return "prevented"
        return "not prevented" if low >= chance + margin else "undecided"

    mistakes = {
        "An interval that contains the chance level does not show protection: with few data, every interval contains "
        "it. The *upper* end must lie below chance + margin.": lambda low, high, chance, margin: (
            "prevented" if low <= chance else "not prevented"
        ),
        "There are three answers. If the interval contains chance + margin, the data cannot decide.": (
            lambda low, high, chance, margin: "prevented" if high < chance + margin else "not prevented"
        ),
        "An end that equals chance + margin is not below it: for 'prevented' the upper end must lie below it, for 'not "
        "prevented' the lower end may equal it.": lambda low, high, chance, margin: (
            "prevented" if high <= chance + margin else "not prevented" if low > chance + margin else "undecided"
        ),
        "The margin is missing. The interval must be compared with chance + margin.": (
            lambda low, high, chance, margin: right(low, high, chance, 0.0)
        ),
    }
    cases = [(0.05, 0.15, 0.1, 0.1), (0.05, 0.45, 0.1, 0.1), (0.3, 0.5, 0.1, 0.1), (0.12, 0.25, 0.1, 0.1)]
    words = {right(*case) for case in cases}

    def known(*case: float) -> str:
        word = answer(*case)
        require(
            word in words, f"{word!r} is no answer of this task. Return 'prevented', 'not prevented' or 'undecided'."
        )
        return str(word)

    given = known if callable(answer) else answer
    borders = [(0.15, 0.18, 0.1, 0.1), (0.25, 0.5, 0.25, 0.25), (0.5, 0.75, 0.25, 0.25)]
    same_function(given, right, [*cases, *borders], mistakes)
