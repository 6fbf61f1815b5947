"""Checks of lesson 64, noise with differential privacy and its budget."""

import math
from typing import Any

import numpy as np
import pandas as pd

from checks.draws import check_mean, check_sum
from checks.hints import exercise, same_function

_VALUES = np.array([40.0, 13.0, 99.0, 20.0, 55.0])
_RELEASES = [
    (pd.DataFrame({"person": list("aabc"), "epsilon": [0.5, 0.25, 1.0, 0.1]}),),
    (pd.DataFrame({"person": list("aaab"), "epsilon": [0.5, 0.5, 0.5, 1.0]}),),
    (pd.DataFrame({"person": ["x"] * 60, "epsilon": [0.01] * 60}),),
]


@exercise
def local_sensitivity(answer: Any) -> None:
    """Check ``local_sensitivity(values)``: the largest change of the sum of these rows, if one of them is removed."""
    mistakes = {
        "A row can also be negative. Removing it changes the sum by its absolute value.": lambda values: values.max(),
        "This is the range of the values. Removing a row changes the sum by the value of this row.": (
            lambda values: values.max() - values.min()
        ),
        "This is the sum that remains. Compare it with the sum of all rows.": lambda values: (
            values.sum() - values.max()
        ),
    }
    cases = [(_VALUES,), (np.array([3.0, 1.0, 2.0]),), (np.array([-7.0, 2.0, 5.0]),)]
    same_function(answer, lambda values: np.abs(values).max(), cases, mistakes)


@exercise
def sensitivity(answer: Any) -> None:
    """Check ``sensitivity(low, high)`` of a sum, for adding or removing one row."""
    mistakes = {
        "This is the change if a row is replaced by another one. Here a row is added or removed, so the sum changes "
        "by the whole value of this row.": lambda low, high: high - low,
        "A row at the lower bound can change the sum more than one at the upper bound: compare the absolute "
        "values.": lambda low, high: high,
        "This is the change that a row in the middle causes. Take the largest possible change.": (
            lambda low, high: (low + high) / 2
        ),
    }
    cases = [(0.0, 100.0), (-80.0, 20.0), (10.0, 90.0)]
    same_function(answer, lambda low, high: max(abs(low), abs(high)), cases, mistakes)


@exercise
def scale(answer: Any) -> None:
    """Check ``scale(sensitivity, epsilon)`` of Laplace noise."""
    mistakes = {
        "The fraction is upside down. A smaller epsilon must give more noise.": lambda s, epsilon: epsilon / s,
        "With this formula a smaller epsilon gives less noise. Divide by epsilon.": lambda s, epsilon: epsilon * s,
        "This is the variance of the noise. numpy and paper 2's Eq. 1 take the scale.": lambda s, epsilon: (
            2 * (s / epsilon) ** 2
        ),
        "This is the standard deviation of the noise. numpy and paper 2's Eq. 1 take the scale.": (
            lambda s, epsilon: math.sqrt(2) * s / epsilon
        ),
    }
    same_function(answer, lambda s, epsilon: s / epsilon, [(100.0, 0.5), (1.0, 2.0), (3.0, 0.1)], mistakes)


@exercise
def private_sum(answer: Any) -> None:
    """Check ``private_sum(values, low, high, epsilon, generator)``."""
    check_sum(answer)


@exercise
def private_mean(answer: Any) -> None:
    """Check ``private_mean(values, low, high, epsilon, generator)``: a noisy sum over a noisy count."""
    check_mean(answer)


@exercise
def spent(answer: Any) -> None:
    """Check ``spent(releases)``: the largest privacy loss of a person."""

    def totals(table: pd.DataFrame) -> pd.Series:
        return table.groupby("person")["epsilon"].sum()

    mistakes = {
        "This adds up the releases of different people. A release about one person does not cost another person "
        "anything. Add up for each person, then take the largest.": lambda table: table["epsilon"].sum(),
        "This is the largest epsilon of one release. A person who is in several releases loses the sum "
        "(composition).": lambda table: table["epsilon"].max(),
        "This is the mean over people. A guarantee must hold for everyone: take the largest.": (
            lambda table: totals(table).mean()
        ),
        "This is the total of the person who spends least. The guarantee must hold for everyone, so the largest total "
        "counts.": lambda table: totals(table).min(),
        "This is the smallest epsilon of one release. Add up for each person, then take the largest total.": (
            lambda table: table["epsilon"].min()
        ),
        "These are the totals of all people. Return the largest of them.": totals,
    }
    same_function(answer, lambda table: totals(table).max(), _RELEASES, mistakes, show_case=True)


@exercise
def estimate(answer: Any) -> None:
    """Check ``estimate(reported, epsilon)``: the true share behind randomized answers."""

    def by(formula: Any) -> Any:
        return lambda r, epsilon: formula(r, math.exp(epsilon) / (1 + math.exp(epsilon)))

    def solved(r: float, p: float) -> float:
        return (r - 1 + p) / (2 * p - 1)

    mistakes = {
        "This is the share of reported answers. Some of them are false: solve the equation for the true share.": [
            by(lambda r, p: r)
        ],
        "This puts the reported share into the equation, in the place of s. It is the left side: solve for s.": [
            by(lambda r, p: p * r + (1 - p) * (1 - r))
        ],
        "This divides by p only. But s is in both terms of the right side. Write the right side as one term with s and "
        "one without it.": [by(lambda r, p: r / p), by(lambda r, p: (r - (1 - p)) / p)],
        "One step is missing: s still has a factor in front of it.": [by(lambda r, p: r - (1 - p))],
        "One step is missing: the right side also has a term without s. Bring it to the left side first.": [
            by(lambda r, p: r / (2 * p - 1))
        ],
        "A sign is wrong. Test your function: if everybody has the property, the share of reported yes is p, and the "
        "result must be 1.": [
            by(lambda r, p: (r + 1 - p) / (2 * p - 1)),
            by(lambda r, p: (r - (1 - p)) / (1 - 2 * p)),
            by(lambda r, p: (r - (1 - p)) / (2 * p + 1)),
            by(lambda r, p: (r - 1 - p) / (2 * p - 1)),
        ],
        "This is the share of the people without the property: 1 minus the result.": [
            by(lambda r, p: (p - r) / (2 * p - 1))
        ],
        "Parentheses are missing. Python divides before it adds or subtracts: put the whole numerator and the whole "
        "denominator into parentheses, also in p.": [
            by(lambda r, p: r - (1 - p) / (2 * p - 1)),
            by(lambda r, p: r - 1 + p / (2 * p - 1)),
            by(lambda r, p: (r - (1 - p)) / 2 * p - 1),
            by(lambda r, p: r - (1 - p) / 2 * p - 1),
            lambda r, epsilon: solved(r, math.exp(epsilon) / 1 + math.exp(epsilon)),
        ],
    }
    same_function(answer, by(solved), [(0.4, 1.0), (0.5, 2.0), (0.3, 3.0)], mistakes)
