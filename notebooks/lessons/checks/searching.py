"""Checks of lesson 63, searching features and selection bias."""

import math
from typing import Any

import numpy as np
import pandas as pd
from scipy import stats

from checks.hints import exercise, require, same_function
from sensorprivacy.minimize.select import select

_INDEX = ["x", "y", "z", "xy"]
_VALIDATION = pd.DataFrame(
    {"accuracy": [0.60, 0.58, 0.40, 0.62], "identifiability": [0.30, 0.12, 0.05, 0.33], "n_features": [1, 1, 1, 2]},
    index=_INDEX,
)
_TEST = pd.DataFrame(
    {"accuracy": [0.57, 0.50, 0.44, 0.66], "identifiability": [0.27, 0.28, 0.07, 0.36], "n_features": [1, 1, 1, 2]},
    index=_INDEX,
)


@exercise
def count(answer: Any) -> None:
    """Check ``subsets(n)``, the number of non-empty subsets of n features."""
    mistakes = {
        "This counts the empty subset, too. A provider publishes at least one feature.": lambda n: 2**n,
        "This is the number of orders. A subset has no order: each feature is in it or not.": lambda n: math.factorial(
            n
        ),
        "This counts pairs. Each feature is in a subset or not, so there are two possibilities for each.": lambda n: (
            n**2
        ),
        "Each feature has two possibilities, independently of the others: multiply instead of adding.": lambda n: 2 * n,
    }
    same_function(answer, lambda n: 2**n - 1, [(1,), (3,), (6,), (10,)], mistakes)


@exercise
def greedy(answer: Any) -> None:
    """Check ``greedy(value, cost, k)``: the k features with the lowest cost for their value."""
    value = pd.Series({"a": 0.50, "b": 0.20, "c": 0.40, "d": 0.05})
    cost = pd.Series({"a": 0.40, "b": 0.05, "c": 0.12, "d": 0.06})

    def by(score: Any, highest: bool = False) -> Any:
        return lambda v, c, k: set((score(v, c) * (-1 if highest else 1)).nsmallest(k).index)

    mistakes = {
        "These features have the highest value. Their cost counts, too: order them by cost / value.": by(
            lambda v, c: v, highest=True
        ),
        "These features have the lowest cost. Some of them are also useless: order them by cost / value.": by(
            lambda v, c: c
        ),
        "These features have the highest ratio of cost to value. Take the lowest.": by(
            lambda v, c: c / v, highest=True
        ),
        "This orders by the difference of value and cost. The rule of the paper uses the ratio cost / value.": by(
            lambda v, c: v - c, highest=True
        ),
    }

    def names(v: pd.Series, c: pd.Series, k: int) -> set[str]:
        return set(answer(v, c, k))

    cases = [(value, cost, k) for k in (1, 2, 3)]
    same_function(names if callable(answer) else answer, by(lambda v, c: c / v), cases, mistakes)


@exercise
def coins(answer: Any) -> None:
    """Check ``best_of(number, rows, generator)``: the best share of heads among some coins."""

    def kept(number: int, rows: int, seed: int) -> bool:
        generator = np.random.default_rng(seed)
        shares = np.array([float(answer(number, rows, generator)) for _ in range(200)])
        require(
            bool((shares <= 1).all()),
            "This is a number of heads. Divide it by the number of rows.",
        )
        require(shares.std() > 0, "All calls give the same result. Draw from the given generator.")
        require(
            abs(shares.mean() - 0.5) > 0.03,
            "This is the share of one coin, or the mean over the coins. Return the share of the best coin.",
        )
        require(shares.mean() > 0.5, "This is the worst coin. Return the best one.")
        require(
            abs(shares.mean() - _best(number, rows)) < 0.02,
            f"On average your best of {number} coins, tossed {rows} times each, has a share of {shares.mean():.3f}. "
            f"Right is {_best(number, rows):.3f}. Use both arguments: generator.binomial(rows, 0.5, size=number) gives "
            "the heads of all coins.",
        )
        again = np.random.default_rng(seed)  # all calls: a single one can agree by chance
        require(
            [float(answer(number, rows, again)) for _ in shares] == shares.tolist(),
            "The same generator gives other coins in a second call. Draw from the given generator only.",
        )
        return True

    given = kept if callable(answer) else answer
    same_function(given, lambda *case: True, [(63, 100, 0), (10, 100, 1), (63, 30, 2)])


def _best(number: int, rows: int) -> float:
    """Return the expected share of heads of the best of some fair coins."""
    return float((1 - stats.binom.cdf(np.arange(rows), rows, 0.5) ** number).sum() / rows)


@exercise
def optimism(answer: Any) -> None:
    """Check ``optimism(validation, test)``: how much better the chosen subset looks where it was chosen."""
    mistakes = {
        "This chooses twice: the best subset on each part. Choose on the validation rows only, then look at the same "
        "subset on the test rows.": lambda validation, test: validation.max() - test.max(),
        "The sign is wrong. A choice that looks better on the validation rows has a positive optimism.": (
            lambda validation, test: test[validation.idxmax()] - validation.max()
        ),
        "This compares two subsets on the test rows. Compare one subset, the chosen one, on both parts.": (
            lambda validation, test: test.max() - test[validation.idxmax()]
        ),
        "This chooses on the test rows. Choose on the validation rows.": lambda validation, test: (
            test.max() - validation[test.idxmax()]
        ),
        "This is the largest difference of all subsets. Choose the subset by its validation score alone.": (
            lambda validation, test: (validation - test).max()
        ),
        "This is an absolute value. A choice may also look worse where it was chosen: keep the sign.": (
            lambda validation, test: abs(validation.max() - test[validation.idxmax()])
        ),
        "This is the mean difference over all subsets. Only the chosen subset counts.": lambda validation, test: (
            validation - test
        ).mean(),
    }
    test = pd.Series({"x": 0.50, "y": 0.57, "z": 0.44})
    cases = [
        (pd.Series({"x": 0.60, "y": 0.58, "z": 0.40}), test),
        (pd.Series({"z": 0.70, "x": 0.30, "y": 0.65}), test),
        (pd.Series({"x": 0.45, "y": 0.48, "z": 0.40}), test),
        (pd.Series({"x": 0.60, "y": 0.58, "z": 0.59}), test),
    ]
    same_function(answer, lambda validation, test: validation.max() - test[validation.idxmax()], cases, mistakes)


@exercise
def honest(answer: Any) -> None:
    """Check ``honest(validation, test, loss)``: choose on validation rows, report on test rows."""

    def rule(table: pd.DataFrame, loss: float) -> Any:
        names: Any = list(map(tuple, table.index))
        return select(table.assign(features=names), loss).name

    def scores(table: pd.DataFrame, name: Any) -> list[float]:
        return [float(table.loc[name, each]) for each in ("accuracy", "identifiability")]

    mistakes = {
        "These are the scores on the validation rows, on which the subset was chosen. Report the scores of this "
        "subset on the test rows.": lambda validation, test, loss: scores(validation, rule(validation, loss)),
        "The subset was chosen on the test rows, which are also reported. Choose on the validation rows.": (
            lambda validation, test, loss: scores(test, rule(test, loss))
        ),
        "This takes the subset with the highest accuracy. Among those with enough accuracy, take the lowest "
        "identifiability.": lambda validation, test, loss: scores(test, validation["accuracy"].idxmax()),
        "The identifiabilities of the test rows decided between the subsets. They must not: the choice ends before the "
        "test rows are used.": lambda validation, test, loss: scores(
            test, rule(validation.assign(identifiability=test["identifiability"]), loss)
        ),
        "With a loss of 0.1, an accuracy of (1 - 0.1) times the best one is enough. You subtract 0.1.": (
            lambda validation, test, loss: scores(
                test,
                validation["identifiability"][
                    validation["accuracy"] >= validation["accuracy"].max() - loss - 1e-12
                ].idxmin(),
            )
        ),
        "The order is wrong. Return the accuracy first, then the identifiability.": lambda validation, test, loss: (
            scores(test, rule(validation, loss))[::-1]
        ),
    }
    cases = [(_VALIDATION, _TEST, loss) for loss in (0.0, 0.04, 0.1, 0.5)]
    same_function(answer, lambda validation, test, loss: scores(test, rule(validation, loss)), cases, mistakes)
