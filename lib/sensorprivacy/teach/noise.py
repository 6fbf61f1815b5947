"""Checks of lesson 64, noise with differential privacy and its budget."""

import math
from typing import Any

import numpy as np
import pandas as pd

from sensorprivacy.teach.hints import exercise, require, same_function

_VALUES = np.array([40.0, 13.0, 99.0, 20.0, 55.0])
_RELEASES = [
    (pd.DataFrame({"person": list("aabc"), "epsilon": [0.5, 0.25, 1.0, 0.1]}),),
    (pd.DataFrame({"person": list("aaab"), "epsilon": [0.5, 0.5, 0.5, 1.0]}),),
    (pd.DataFrame({"person": ["x"] * 60, "epsilon": [0.01] * 60}),),
]


class Recorder:
    """A generator that records the scales of the noise and draws zeros, so that a mechanism has a known answer."""

    def __init__(self) -> None:
        self.scales: list[float] = []

    def laplace(self, loc: Any = 0.0, scale: float = 1.0, size: Any = None) -> Any:
        """Return the location, without noise."""
        self.scales.append(float(scale))
        return loc if size is None else np.full(size, loc)


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
        "This is the variance of the noise. numpy and Eq. (1) take the scale.": lambda s, epsilon: (
            2 * (s / epsilon) ** 2
        ),
        "This is the standard deviation of the noise. numpy and Eq. (1) take the scale.": (
            lambda s, epsilon: math.sqrt(2) * s / epsilon
        ),
    }
    same_function(answer, lambda s, epsilon: s / epsilon, [(100.0, 0.5), (1.0, 2.0), (3.0, 0.1)], mistakes)


def _recorded(answer: Any, epsilon: float, low: float, high: float) -> tuple[float, list[float]]:
    """Return the result of a mechanism without its noise, and the scales of its noise."""
    results: list[float] = []
    recorder = Recorder()

    def kept(values: np.ndarray) -> float:
        recorder.scales.clear()
        results.append(float(answer(values, low, high, epsilon, recorder)))
        return 0.0

    same_function(kept if callable(answer) else answer, lambda values: 0.0, [(_VALUES,)])
    hint = (
        "No noise comes from the given generator. Draw it with generator.laplace(scale=...), which a test can repeat."
    )
    require(bool(recorder.scales), hint)
    return results[0], sorted(recorder.scales)


@exercise
def private_sum(answer: Any) -> None:
    """Check ``private_sum(values, low, high, epsilon, generator)``."""
    for epsilon, low, high in ((0.5, 0.0, 60.0), (2.0, 20.0, 100.0)):
        total, scales = _recorded(answer, epsilon, low, high)
        clipped = np.clip(_VALUES, low, high)
        require(
            math.isclose(total, clipped.sum()),
            "The values are not clipped to the bounds before the sum. Without clipping, one row can change the sum by "
            "more than the sensitivity."
            if math.isclose(total, _VALUES.sum())
            else "Without noise, the result is not the sum of the clipped values.",
        )
        require(len(scales) == 1, f"{len(scales)} draws of noise are added. One is enough for one sum.")
        _right_scale(scales[0], max(abs(low), abs(high)), epsilon, high - low)


def _right_scale(found: float, sensitivity: float, epsilon: float, width: float) -> None:
    if math.isclose(found, sensitivity / epsilon):
        return
    hints = {
        np.abs(_VALUES).max() / epsilon: "The scale uses the largest value of this table. It depends on the data and "
        "can reveal them. Use the bounds.",
        1 / epsilon: "The scale is 1 / epsilon. One row changes the sum by more than 1: multiply by the sensitivity.",
        sensitivity: "The scale does not depend on epsilon. Divide the sensitivity by epsilon.",
        width / epsilon: "The scale uses the width of the bounds. If a row is added or removed, the sum changes by the "
        "larger absolute bound.",
    }
    hint = next((hint for wrong, hint in hints.items() if math.isclose(found, wrong)), "")
    require(False, hint or f"The scale of the noise is {found:g}. It must be sensitivity / epsilon.")


@exercise
def private_mean(answer: Any) -> None:
    """Check ``private_mean(values, low, high, epsilon, generator)``: a noisy sum over a noisy count."""
    for epsilon, low, high in ((0.5, 0.0, 60.0), (2.0, 20.0, 100.0)):
        mean, scales = _recorded(answer, epsilon, low, high)
        require(
            math.isclose(mean, np.clip(_VALUES, low, high).mean()),
            "Without noise, the result is not the mean of the clipped values. Clip first, then divide the sum by the "
            "number of rows.",
        )
        require(
            len(scales) == 2,
            "The number of rows is published too, and it changes if a row is added. It needs its own noise.",
        )
        largest = max(abs(low), abs(high))
        spent = [1 / scales[0], largest / scales[1]]  # epsilon of the count and of the sum
        require(
            not np.allclose(spent, [epsilon, epsilon]),
            "Sum and count each spend the whole epsilon, so together they spend twice as much (composition). Give "
            "each of them half.",
        )
        require(
            math.isclose(sum(spent), epsilon),
            f"Sum and count together spend an epsilon of {sum(spent):g}, but {epsilon:g} is given. Check both "
            "sensitivities: a count changes by 1.",
        )


@exercise
def spent(answer: Any) -> None:
    """Check ``spent(releases)``: the largest privacy loss of a person."""
    mistakes = {
        "This adds up the releases of different people. A release about one person does not cost another person "
        "anything. Add up for each person, then take the largest.": lambda table: table["epsilon"].sum(),
        "This is the largest epsilon of one release. A person who is in several releases loses the sum "
        "(composition).": lambda table: table["epsilon"].max(),
        "This is the mean over people. A guarantee must hold for everyone: take the largest.": (
            lambda table: table.groupby("person")["epsilon"].sum().mean()
        ),
    }
    same_function(answer, lambda table: table.groupby("person")["epsilon"].sum().max(), _RELEASES, mistakes)


@exercise
def estimate(answer: Any) -> None:
    """Check ``estimate(reported, epsilon)``: the true share behind randomized answers."""

    def truth(epsilon: float) -> float:
        return math.exp(epsilon) / (1 + math.exp(epsilon))

    mistakes = {
        "This is the share of reported answers. Some of them are false: solve the equation for the true share.": (
            lambda reported, epsilon: reported
        ),
        "This divides by p only. The answers of people without the property are also turned: subtract (1 - p) first, "
        "and divide by 2 p - 1.": lambda reported, epsilon: reported / truth(epsilon),
        "This forgets to divide by 2 p - 1.": lambda reported, epsilon: reported - (1 - truth(epsilon)),
        "This forgets to subtract 1 - p, the share of false answers, before the division.": (
            lambda reported, epsilon: reported / (2 * truth(epsilon) - 1)
        ),
    }

    def right(reported: float, epsilon: float) -> float:
        return (reported - 1 + truth(epsilon)) / (2 * truth(epsilon) - 1)

    same_function(answer, right, [(0.4, 1.0), (0.5, 2.0), (0.3, 3.0)], mistakes)
