"""Checks of noisy sums and means: which draw of noise reaches which part, with which scale."""

import math
from typing import Any, NamedTuple

import numpy as np

from checks.hints import HintError, require

SIGNED = "Laplace noise is positive or negative, each with probability 1/2. Keep its sign, and add it unchanged."
_STEP = 1.0  # the noise with which each draw is tried


class Case(NamedTuple):
    """The arguments of a mechanism."""

    epsilon: float
    low: float
    high: float
    values: np.ndarray  # some of them beyond the bounds

    @property
    def sensitivity(self) -> float:
        """The largest change of the sum by one row."""
        return max(abs(self.low), abs(self.high))


_VALUES = np.array([40.0, 13.0, 99.0, 20.0, 55.0])
_CASES = (
    Case(0.8, 0.0, 60.0, _VALUES),
    Case(2.5, 20.0, 100.0, _VALUES),
    Case(1.5, -80.0, 30.0, np.array([-95.0, 12.0, 41.0, -3.0, 25.0])),
)


class Recorder:
    """A generator of Laplace noise that draws given values, so that a mechanism has a known answer.

    Parameters
    ----------
    values : dict
        The value of each draw by its number, from 0. All other draws are 0.
    """

    def __init__(self, values: dict[int, float] | None = None) -> None:
        self.values = values or {}
        self.scales: list[float] = []  # of each drawn number

    def laplace(self, loc: Any = 0.0, scale: Any = 1.0, size: Any = None) -> Any:
        """Return the location plus the given noise, and record the scale of each number."""
        shape = np.broadcast_shapes(np.shape(loc), np.shape(scale)) if size is None else size
        scales = np.broadcast_to(np.asarray(scale, dtype=float), shape)
        first = len(self.scales)
        self.scales += scales.ravel().tolist()
        noise = np.array([self.values.get(number, 0.0) for number in range(first, len(self.scales))])
        drawn = loc + noise.reshape(scales.shape)
        return float(drawn) if np.ndim(drawn) == 0 else drawn

    def __getattr__(self, name: str) -> Any:
        """Refuse any other draw."""
        if name.startswith("_"):
            raise AttributeError(name)
        raise HintError(f"generator.{name} draws no Laplace noise. Use generator.laplace(scale=...).")

    def __repr__(self) -> str:
        return "generator"


def check_sum(answer: Any) -> None:
    """Refuse a mechanism unless it clips, adds up and adds noise of the right scale once.

    Parameters
    ----------
    answer : callable
        ``private_sum(values, low, high, epsilon, generator)``.
    """
    require(callable(answer), "Keep the line that begins with `def`.")
    for case in _CASES:
        total, scales = _plain(answer, case, "sum")
        require(len(scales) == 1, f"{len(scales)} draws of noise are added. One is enough for one sum.")
        more, less = (_run(answer, case, {0: step})[0] for step in (_STEP, -_STEP))
        gain = abs(more - total) / _STEP
        require(gain > 1e-9, "The noise is drawn, but it does not reach the result. Add it to the sum.")
        require(math.isclose(more + less, 2 * total), SIGNED)
        hint = _wrong_scale(gain * scales[0], case, case.epsilon)
        require(not hint, hint)


def check_mean(answer: Any) -> None:
    """Refuse a mechanism unless it divides a noisy sum by a noisy count, each with half of epsilon.

    Parameters
    ----------
    answer : callable
        ``private_mean(values, low, high, epsilon, generator)``.
    """
    require(callable(answer), "Keep the line that begins with `def`.")
    for case in _CASES:
        mean, scales = _plain(answer, case, "mean")
        require(
            len(scales) > 1,
            "One draw is not enough. The mean also depends on the number of rows, and one row changes this number by "
            "1. The count needs its own noise.",
        )
        require(len(scales) == 2, f"{len(scales)} draws of noise are used. Two are enough: one for each release.")
        reached = [_reached(answer, case, mean, number) for number in (0, 1)]
        found = {part: gain * scale for (part, gain), scale in zip(reached, scales, strict=True)}
        require(
            len(found) == 2,
            f"Both draws of noise reach the {reached[0][0]}. Add one of them to the sum, the other to the count.",
        )
        _right_shares(case, found["sum"], found["count"])


def _run(answer: Any, case: Case, noise: dict[int, float] | None = None) -> tuple[float, list[float]]:
    """Return the result of a mechanism under given noise, and the scales of its draws."""
    recorder = Recorder(noise)
    result = np.asarray(answer(case.values.copy(), case.low, case.high, case.epsilon, recorder), dtype=float)
    require(
        result.size == 1,
        f"Your function returns {result.size} numbers. Publish one number: noise on each row would be a release of "
        "each row.",
    )
    return float(result.item()), recorder.scales


def _plain(answer: Any, case: Case, name: str) -> tuple[float, list[float]]:
    """Return the sum or the mean of a mechanism without its noise, and the scales of its draws; both are checked."""
    result, scales = _run(answer, case)
    require(
        bool(scales),
        "No noise comes from the given generator. Draw it with generator.laplace(scale=...), which a test can repeat.",
    )
    values, total = case.values, getattr(np, name)
    hints = {
        "The values are not clipped to the bounds before the sum. Without clipping, one row can change the sum by more "
        "than the sensitivity.": values,
        "This leaves out the rows beyond the bounds. Keep them, and set each of these values to the nearer bound.": (
            values[(values >= case.low) & (values <= case.high)]
        ),
        "Only the upper bound is used. Set values below the lower bound to the lower bound.": (
            np.minimum(values, case.high)
        ),
        "Only the lower bound is used. Set values above the upper bound to the upper bound.": (
            np.maximum(values, case.low)
        ),
        "This clips the sum. Clip each value before the sum.": np.clip([total(values)], case.low, case.high),
    }
    right = total(np.clip(values, case.low, case.high))
    for hint, wrong in hints.items():
        require(math.isclose(result, right) or not math.isclose(result, total(wrong)), hint)
    require(
        not any(math.isclose(result, right + sign * case.sensitivity / case.epsilon) for sign in (-1, 1)),
        "The first argument of generator.laplace is the centre of the noise. Write scale=... before the scale.",
    )
    require(math.isclose(result, right), f"Without noise, the result is not the {name} of the clipped values.")
    require(
        len(scales) < len(values),
        f"{len(scales)} numbers are drawn for {len(values)} rows. Noise on each row adds up to far too much noise. Add "
        "up the rows first, and draw the noise once for their sum.",
    )
    return result, scales


def _reached(answer: Any, case: Case, mean: float, number: int) -> tuple[str, float]:
    """Return which part of a mean a draw reaches, and its factor there. A mean is linear in the noise of its sum."""
    more, less = (_run(answer, case, {number: step})[0] for step in (_STEP, -_STEP))
    count = len(case.values)
    require(
        not math.isclose(more, mean) or not math.isclose(less, mean),
        "Two numbers are drawn, but not both of them change the result. Add one to the sum and the other to the "
        "count, then divide.",
    )
    require(not math.isclose(more, less), SIGNED)
    if math.isclose(more + less, 2 * mean):
        return "sum", abs(more - mean) * count / _STEP
    require(
        math.isclose(1 / more + 1 / less, 2 / mean),
        "The same number is added to the sum and to the count. Draw a number for each of them.",
    )
    return "count", abs(mean * count / more - count) / _STEP


def _right_shares(case: Case, of_sum: float, of_count: float) -> None:
    """Refuse the scales of the sum's and of the count's noise unless each of them spends half of epsilon."""
    epsilon, half = case.epsilon, case.epsilon / 2
    require(min(of_sum, of_count) > 0, "A scale is 0. Divide each sensitivity by its part of epsilon.")
    by_sum, by_count = case.sensitivity / of_sum, 1 / of_count
    require(
        not np.allclose([of_sum, of_count], [1 / half, case.sensitivity / half]),
        "The scales are exchanged. One row changes the count by 1, and the sum by up to the larger absolute bound.",
    )
    require(
        not np.allclose([by_sum, by_count], epsilon),
        "Sum and count each spend the whole epsilon, so together they spend twice as much (composition). Give "
        "each of them half.",
    )
    require(
        not math.isclose(of_count, case.sensitivity / half),
        "The count has as much noise as the sum. One row changes a count by 1 only: its sensitivity is 1.",
    )
    require(
        math.isclose(by_count, half) or not math.isclose(by_sum + by_count, epsilon),
        f"Together they spend the given epsilon of {epsilon:g}, but not in equal parts: the sum spends {by_sum:g}, the "
        f"count {by_count:g}. Give each of them half.",
    )
    hint = _wrong_scale(of_sum, case, half)
    require(not hint, f"In the noise of the sum: {hint}")
    require(
        math.isclose(by_count, half),
        f"The count spends an epsilon of {by_count:g}, but its part is half of {epsilon:g}. Its sensitivity is 1.",
    )


def _wrong_scale(found: float, case: Case, epsilon: float) -> str:
    """Return a hint against the scale of the noise of a sum that may spend epsilon; empty if the scale is right."""
    if math.isclose(found, case.sensitivity / epsilon):
        return ""
    bounds = f"With the bounds {case.low:g} and {case.high:g}"
    hints = [
        (
            np.abs(case.values).max() / epsilon,
            "The scale uses the largest value of this table. It depends on the data and can reveal them. Use the "
            "bounds.",
        ),
        (
            1 / epsilon,
            "The scale is 1 / epsilon. One row changes the sum by more than 1: multiply by the sensitivity.",
        ),
        (case.sensitivity, "The scale does not depend on epsilon. Divide the sensitivity by epsilon."),
        (case.sensitivity * epsilon, "With this scale, a smaller epsilon gives less noise. See exercise 3."),
        (
            abs(case.high) / epsilon,
            f"{bounds}, the scale uses the upper bound only. A row at the lower bound changes the sum more. See "
            "exercise 2.",
        ),
        (
            (case.high - case.low) / epsilon,
            "The scale uses the width of the bounds. If a row is added or removed, the sum changes by the larger "
            "absolute bound.",
        ),
    ]
    hint = next((hint for wrong, hint in hints if math.isclose(found, wrong)), "")
    return hint or (
        f"{bounds} and an epsilon of {epsilon:g} for the sum, the scale of its noise is {found:g}. The right one is "
        f"{case.sensitivity / epsilon:g}. See exercises 2 and 3."
    )
