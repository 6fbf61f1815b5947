"""Checks of lesson 60, entropy and three-way division."""

from typing import Any

import numpy as np
import pandas as pd

from checks.hints import exercise, require, returns_zero, same_function
from sensorprivacy import threeway

_COLUMNS = [
    (pd.Series(["a", "b", "a", "b", "c", "a"]),),
    (pd.Series([1, 2, 3, 4]),),
    (pd.Series(["x", None, "x", "y", None]),),
    (pd.Series(["same", "same", "same"]),),
]
_ENTROPIES = [
    (pd.Series({"age": 2.8, "work": 0.8, "loss": 0.2, "sex": 0.6}),),
    (pd.Series({"a": 1.0, "b": 5.0, "c": 2.0}),),
]
_EVALUATION = pd.Series({"age": 1.0, "edu": 0.7, "work": 0.5, "sex": 0.3, "loss": 0.0})


def _parts(column: pd.Series, *, missing: bool = True) -> np.ndarray:
    return column.value_counts(normalize=True, dropna=not missing).to_numpy()


@exercise
def shares(answer: Any) -> None:
    """Check ``shares(column)``, the share of each value."""
    mistakes = {
        "This leaves out missing values. Paper 2 counts a missing value as one more value: use dropna=False.": (
            lambda column: np.sort(_parts(column, missing=False))
        ),
        "These are numbers of rows. Divide them by the number of all rows.": lambda column: np.sort(
            column.value_counts(dropna=False).to_numpy()
        ),
        "This divides the counts by the number of rows without missing values. Divide by all rows, and count the "
        "missing ones as one value.": lambda column: np.sort(
            column.value_counts(dropna=False).to_numpy() / column.notna().sum()
        ),
    }

    def ordered(column: pd.Series) -> np.ndarray:
        found = answer(column)
        return np.sort(np.asarray(list(found.values()) if isinstance(found, dict) else found, dtype=float))

    given = ordered if callable(answer) else answer
    same_function(given, lambda column: np.sort(_parts(column)), _COLUMNS, mistakes)


@exercise
def entropy(answer: Any) -> None:
    """Check ``entropy(column)`` in nats."""

    def by(formula: Any, **options: bool) -> Any:
        return lambda column: float(formula(_parts(column, **options)))

    mistakes = {
        "The base of the logarithm is 2, so this is in bits. The paper uses natural logarithms: numpy.log.": by(
            lambda p: -(p * np.log2(p)).sum()
        ),
        "The base of the logarithm is 10. The paper uses natural logarithms: numpy.log.": by(
            lambda p: -(p * np.log10(p)).sum()
        ),
        "The sign is wrong. A share is at most 1, so its logarithm is negative: put a minus before the sum.": by(
            lambda p: (p * np.log(p)).sum()
        ),
        "The logarithms are added without weights. Multiply each logarithm by its share.": by(
            lambda p: -np.log(p).sum()
        ),
        "This is the mean of the terms. Entropy is their sum.": by(lambda p: -(p * np.log(p)).mean()),
        "This leaves out missing values. Count them as one more value, as in exercise 1.": by(
            lambda p: -(p * np.log(p)).sum(), missing=False
        ),
    }
    steps = (
        "Step by step, for the values a, b, a, b, c, a: the shares are 1/2, 1/3 and 1/6, as in exercise 1. "
        "Their natural logarithms are -0.693, -1.099 and -1.792. Each share times its logarithm gives -0.347, "
        "-0.366 and -0.299. Their sum is -1.011, so the entropy is 1.011 nats."
    )
    same_function(answer, by(lambda p: -(p * np.log(p)).sum()), _COLUMNS, mistakes, steps=steps)


@exercise
def evaluation(answer: Any) -> None:
    """Check ``evaluation(entropies)``, the scale from 0 to 1."""
    mistakes = {
        "The largest value is 1, but the smallest is not 0. Subtract the smallest entropy first, above and below the "
        "line.": lambda h: h / h.max(),
        "The values add up to 1. Use the smallest and the largest entropy instead of the sum.": lambda h: h / h.sum(),
        "The largest value is not 1. Divide by the largest minus the smallest entropy.": (
            lambda h: (h - h.min()) / h.max()
        ),
        "This is a z-score. The scale of the paper goes from 0 to 1: use the smallest and the largest entropy.": (
            lambda h: (h - h.mean()) / h.std()
        ),
    }
    same_function(answer, lambda h: (h - h.min()) / (h.max() - h.min()), _ENTROPIES, mistakes)


@exercise
def divide(answer: Any) -> None:
    """Check ``divide(evaluation, alpha, beta)``, which returns three sets of names."""

    def groups(sensitive: pd.Series, non_sensitive: pd.Series) -> tuple[set[str], set[str], set[str]]:
        names = _EVALUATION.index
        return set(names[sensitive]), set(names[non_sensitive]), set(names[~sensitive & ~non_sensitive])

    def right(e: pd.Series, alpha: float, beta: float) -> tuple[set[str], set[str], set[str]]:
        return groups(e >= alpha, (e <= beta) & (e < alpha))

    mistakes = {
        "A column whose evaluation equals alpha is sensitive: use >= (Eq. 7).": lambda e, alpha, beta: groups(
            e > alpha, e <= beta
        ),
        "A column whose evaluation equals beta is non-sensitive: use <= (Eq. 8).": lambda e, alpha, beta: groups(
            e >= alpha, (e < beta) & (e < alpha)
        ),
        "A column with evaluation alpha and one with evaluation beta belong to the outer groups: use >= and <=.": (
            lambda e, alpha, beta: groups(e > alpha, e < beta)
        ),
        "Sensitive and non-sensitive are exchanged. A high evaluation is sensitive.": (
            lambda e, alpha, beta: (right(e, alpha, beta)[1], right(e, alpha, beta)[0], right(e, alpha, beta)[2])
        ),
        "With alpha = beta, a column with this evaluation is in two of your groups. It is sensitive only.": (
            lambda e, alpha, beta: (*groups(e >= alpha, e <= beta),)
        ),
        "The order of the groups is wrong. Return sensitive, non-sensitive, ambiguous.": (
            lambda e, alpha, beta: (right(e, alpha, beta)[0], right(e, alpha, beta)[2], right(e, alpha, beta)[1])
        ),
    }

    def sets(e: pd.Series, alpha: float, beta: float) -> tuple[set[str], ...]:
        found = answer(e, alpha, beta)
        require(
            isinstance(found, (tuple, list)) and len(found) == 3,
            "Return three sets of column names, separated by commas.",
        )
        return tuple(set(each) for each in found)

    cases = [(_EVALUATION, *pair) for pair in ((0.7, 0.3), (1.0, 0.0), (0.8, 0.4), (0.6, 0.1), (0.5, 0.5))]
    same_function(sets if callable(answer) else answer, right, cases, mistakes)


@exercise
def suitability(answer: Any) -> None:
    """Check ``suitability(utility, stability)``, the harmonic mean."""
    mistakes = {
        "This is the arithmetic mean. The paper uses the harmonic mean, which is small if one of the two is small.": (
            lambda u, s: (u + s) / 2
        ),
        "This is the geometric mean. The paper uses the harmonic mean.": lambda u, s: (u * s) ** 0.5,
        "The factor 2 is missing. Without it, two equal numbers give half of their value.": (
            lambda u, s: u * s / (u + s) if u * s else 0.0
        ),
    }

    def right(u: float, s: float) -> float:
        return 2 * u * s / (u + s) if u * s else 0.0

    same_function(answer, right, [(0.9, 0.08), (0.4, 0.4), (0.5, 0.25)], mistakes)
    returns_zero(answer, [(0.6, 0.0), (0.0, 0.6), (0.0, 0.0)], "Return 0 if one of the two is 0.")


@exercise
def utility(answer: Any, table: pd.DataFrame) -> None:
    """Check ``utility(table, kept)``, the mean entropy of the kept columns over that of all columns."""
    h = threeway.entropies
    mistakes = {
        "This divides the sums. The printed values divide the means: a table with more columns does not count for "
        "more.": lambda table, kept: h(table)[kept].sum() / h(table).sum(),
        "This is the joint entropy of Eq. 10, or a part of it. The printed values are ratios of mean entropies.": (
            lambda table, kept: joint_of(table[kept]) / joint_of(table)
        ),
        "The ratio is upside down. The kept columns are the numerator.": lambda table, kept: (
            h(table).mean() / h(table)[kept].mean()
        ),
        "This is the mean entropy of the kept columns. Divide it by the mean entropy of all columns.": (
            lambda table, kept: h(table)[kept].mean()
        ),
        "This divides by the sum of all entropies. Divide a mean by a mean.": lambda table, kept: (
            h(table)[kept].mean() / h(table).sum()
        ),
        "This uses the dropped columns. `kept` are the published ones.": lambda table, kept: (
            h(table).drop(kept).mean() / h(table).mean()
        ),
    }
    names = list(table.columns)
    cases = [(table, names[1:4]), (table, names[2:]), (table.head(7), names[-3:])]
    same_function(answer, lambda table, kept: h(table)[kept].mean() / h(table).mean(), cases, mistakes)


@exercise
def joint(answer: Any, table: pd.DataFrame) -> None:
    """Check ``joint_entropy(table)``, the entropy of whole rows."""
    names = list(table.columns)
    mistakes = {
        "This adds up the entropies of the columns, which is right only for independent columns. Count whole rows.": (
            lambda table: threeway.entropies(table).sum()
        ),
        "The base of the logarithm is 2. Use natural logarithms: numpy.log.": (
            lambda table: joint_of(table) / np.log(2)
        ),
        "This is the largest possible value. Count how often each row occurs.": lambda table: np.log(len(table)),
        "This leaves out rows with a missing value. Count them too: a missing value is one more value.": (
            lambda table: joint_of(table.dropna())
        ),
    }
    holes = pd.DataFrame({"a": ["x", "x", None, None, "y"], "b": ["u", "u", "u", "u", None]})
    cases = [(table[names[1:3]],), (table[names[5:9]],), (table[names[7:10]],), (holes,)]
    same_function(answer, joint_of, cases, mistakes)


def joint_of(table: pd.DataFrame) -> float:
    """Return the entropy of whole rows in nats."""
    p = table.value_counts(normalize=True, dropna=False).to_numpy()
    return float(-(p * np.log(p)).sum())
