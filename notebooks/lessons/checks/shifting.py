"""Checks of lesson 65, latent anonymization and its attack."""

from typing import Any

import numpy as np
import pandas as pd
from sklearn.base import clone
from sklearn.neighbors import KNeighborsClassifier

from checks.hints import agree, exercise, require, same_function

_DRAW = np.random.default_rng(65)
_WINDOWS = _DRAW.normal(size=(6, 4))
_MEAN = np.array([1.0, -2.0, 0.5, 3.0])
_COMPONENTS = np.array([[0.6, 0.8, 0.0, 0.0], [0.0, 0.0, 1.0, 0.0]])
_LATENTS = _DRAW.normal(size=(12, 2))
_EXERCISE = np.array(list("aaaaaabbbbbb"))
_SIDE = np.array(["left", "right"] * 6)


@exercise
def decode(answer: Any) -> None:
    """Check ``decode(latents, mean, components)``."""
    mistakes = {
        "The mean is missing. Encoding subtracted it, so decoding adds it.": lambda z, mean, components: z @ components,
        "The mean is subtracted. Encoding subtracted it, so decoding adds it.": lambda z, mean, components: (
            z @ components - mean
        ),
    }
    latents = (_WINDOWS - _MEAN) @ _COMPONENTS.T
    same_function(
        answer,
        lambda z, mean, components: mean + z @ components,
        [(latents, _MEAN, _COMPONENTS), (latents[:2], _MEAN, _COMPONENTS)],
        mistakes,
    )


@exercise
def divergence(answer: Any) -> None:
    """Check ``kl(mean, deviation)`` between a normal distribution and the standard normal one."""

    def formula(mean: np.ndarray, deviation: np.ndarray) -> float:
        return float(-0.5 * (1 + np.log(deviation**2) - mean**2 - deviation**2).sum())

    mistakes = {
        "The sign is wrong. A divergence is never negative, and it is 0 for mean 0 and deviation 1.": (
            lambda mean, deviation: -formula(mean, deviation)
        ),
        "The logarithm is that of the variance: log(deviation**2).": lambda mean, deviation: float(
            -0.5 * (1 + np.log(deviation) - mean**2 - deviation**2).sum()
        ),
        "The factor 1/2 is missing.": lambda mean, deviation: 2 * formula(mean, deviation),
        "This uses the deviation where the formula has the variance: square it.": lambda mean, deviation: float(
            -0.5 * (1 + np.log(deviation**2) - mean**2 - deviation).sum()
        ),
        "This is a mean over the dimensions. Add them up.": lambda mean, deviation: (
            formula(mean, deviation) / len(mean)
        ),
    }
    cases = [(np.array([0.0, 1.0]), np.array([1.0, 0.5])), (np.array([2.0, -1.0, 0.3]), np.array([0.2, 3.0, 1.0]))]
    same_function(answer, formula, cases, mistakes)


@exercise
def class_means(answer: Any) -> None:
    """Check ``class_means(latents, exercise, side)``, a table with one row for each pair of classes."""

    def table(latents: np.ndarray, *labels: np.ndarray) -> pd.DataFrame:
        return pd.DataFrame(latents).groupby(list(labels)).mean()

    def kept(latents: np.ndarray, exercise: np.ndarray, side: np.ndarray) -> bool:
        means = answer(latents, exercise, side)
        require(
            isinstance(means, pd.DataFrame),
            "Return a pandas table. Make one from the latents, group its rows by both labels, and take the mean of "
            "each group.",
        )
        require(
            not agree(means.to_numpy(), table(latents, side).to_numpy()),
            "These are the means of the two sides over all exercises. Shifting by them would also change the "
            "exercise. Take one mean for each pair of exercise and side.",
        )
        right = table(latents, exercise, side)
        require(
            list(means.index) == list(right.index),
            "The index must hold each pair (exercise, side), in this order.",
        )
        require(
            agree(means.to_numpy(), right.to_numpy()), "These are not the means. Use .mean() of each group of rows."
        )
        return True

    given = kept if callable(answer) else answer
    same_function(given, lambda *case: True, [(_LATENTS, _EXERCISE, _SIDE)])


@exercise
def shift(answer: Any) -> None:
    """Check ``shift(latents, old_means, new_means)``."""
    mistakes = {
        "The signs are exchanged. Subtract the mean of the old class and add that of the new one.": (
            lambda z, old, new: z + old - new
        ),
        "The mean of the old class is still in the result. Subtract it.": lambda z, old, new: z + new,
        "The mean of the new class is missing. Add it.": lambda z, old, new: z - old,
        "This replaces every window by the mean of the new class, so all windows of a class become equal. Keep the "
        "residual z - old.": lambda z, old, new: new,
    }
    one, other = _DRAW.normal(size=(2, 6, 2))
    same_function(answer, lambda z, old, new: z - old + new, [(_LATENTS[:6], one, other)], mistakes)


@exercise
def coin(answer: Any) -> None:
    """Check ``coin(side, generator)``: a fair coin for each window decides whether its side changes."""
    sides = np.array(["left", "right"] * 500)
    draws = []

    def kept(seed: int) -> bool:
        published = np.asarray(answer(sides.copy(), np.random.default_rng(seed)))
        require(published.shape == sides.shape, "Return one side for each window.")
        require(set(published) <= {"left", "right"}, "Return 'left' or 'right' for each window.")
        changed = published != sides
        require(
            0 < changed.mean() < 1,
            "All windows get the same decision. Toss a coin for each window: draw as many "
            "numbers as there are windows.",
        )
        require(
            abs(changed.mean() - 0.5) < 0.08,  # five standard errors
            f"{changed.mean():.0%} of the windows change their side. A fair coin changes about half.",
        )
        again = np.asarray(answer(sides.copy(), np.random.default_rng(seed)))
        require(
            bool((again == published).all()),
            "The same generator gives other coins in a second call. Draw from the given generator only.",
        )
        draws.append(published)
        return True

    same_function(kept if callable(answer) else answer, lambda seed: True, [(seed,) for seed in range(20)])
    changed = np.array(draws) != sides
    require(
        abs(changed.mean() - 0.5) < 0.018,  # five standard errors
        f"Of {changed.size:,} windows, {changed.mean():.1%} change their side. A fair coin decides: half of them, "
        "up to chance.",
    )
    require(
        len(set(changed.sum(axis=1))) > 1,
        "The number of windows that change is always the same. Toss one coin for each window, independently.",
    )
    require(
        len(set((np.array(draws) == "left").sum(axis=1))) > 1,
        "The sides are only exchanged among the windows: their numbers never change. Toss one coin for each window.",
    )
    require(
        (draws[0] != draws[1]).any(),
        "Two generators give the same coins. Draw from the given generator, not from a seed.",
    )


@exercise
def attack(answer: Any) -> None:
    """Check ``attack(model, known, known_side, published, true_side)``, the accuracy of a retrained attacker."""
    known, held = _DRAW.normal(size=(2, 40, 2))
    sides, truth = np.where(known[:, 0] > 0, "left", "right"), np.where(held[:, 0] > 0.2, "left", "right")
    model = KNeighborsClassifier(1)

    def score(fit: Any, labels: Any, test: Any, right: Any) -> float:
        return float(clone(model).fit(fit, labels).score(test, right))

    mistakes = {
        "The attacker is tested on the windows that it learned from. Test it on the published windows of other "
        "people.": lambda model, known, known_side, published, true_side: score(known, known_side, known, known_side),
        "The attacker learned from the windows of the victims, with their true sides. It has only `known`.": (
            lambda model, known, known_side, published, true_side: score(published, true_side, published, true_side)
        ),
        "Training and test windows are exchanged. The attacker learns from `known`.": (
            lambda model, known, known_side, published, true_side: score(published, true_side, known, known_side)
        ),
    }
    turned = np.where(truth == "left", "right", "left")
    cases = [(model, known, sides, held, truth), (model, known, sides, held, turned)]
    same_function(answer, lambda model, *rest: score(*rest), cases, mistakes)


@exercise
def vote(answer: Any) -> None:
    """Check ``vote(right, recordings)``: the share of recordings in which most windows are right."""
    mistakes = {
        "This is the share of right windows. First decide for each recording: are more than half of its windows "
        "right?": lambda right, recordings: right.mean(),
        "This is the mean share over recordings. A vote decides: count the recordings with a share above 0.5.": (
            lambda right, recordings: right.groupby(recordings).mean().mean()
        ),
        "Half of the windows are not enough. A recording counts if more than half of its windows are right.": (
            lambda right, recordings: (right.groupby(recordings).mean() >= 0.5).mean()
        ),
        "This is a number of recordings. Divide it by the number of all recordings.": lambda right, recordings: (
            right.groupby(recordings).mean() > 0.5
        ).sum(),
    }
    cases = [
        (pd.Series([1, 1, 0, 0, 0, 1, 1, 1, 1]), pd.Series(list("aaabbbccc"))),
        (pd.Series([1, 0, 0, 1, 1, 0, 1]), pd.Series(list("aaabbcc"))),
        (pd.Series([1, 0, 1, 0, 0, 1, 0, 1]), pd.Series(list("aaaaabbb"))),
    ]
    same_function(answer, lambda right, recordings: (right.groupby(recordings).mean() > 0.5).mean(), cases, mistakes)
