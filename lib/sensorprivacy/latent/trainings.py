"""Compare methods over several trainings, on the same windows, with intervals over people *and* trainings.

One training of a method says little about the next one. An interval over people alone does not contain this spread.
"""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
from scipy import stats

from sensorprivacy.game.attack import attack_all
from sensorprivacy.game.outcome import Attack, Attacks
from sensorprivacy.game.units import Difference, difference, wilson_bounds
from sensorprivacy.latent.adversaries import Attacker, Release, publish
from sensorprivacy.latent.inference import InferenceModels
from sensorprivacy.latent.scene import scenes
from sensorprivacy.latent.study import Study

_APART = 1000  # seeds of the attacks on two trainings: run r of an attack has the seed of its scene + r


class Made(NamedTuple):
    """The releases of one training of all methods.

    Attributes
    ----------
    study : Study
        The study, with the seed of this training.
    models : InferenceModels
        Its inference models.
    releases : mapping of str to callable
        Functions that publish windows, by name.
    """

    study: Study
    models: InferenceModels
    releases: Mapping[str, Release]


class Rights(NamedTuple):
    """Whether the inference models are right about each test window, trainings x windows; or a difference of two.

    Attributes
    ----------
    public, private : numpy.ndarray of float
        For the public and the private class.
    """

    public: np.ndarray
    private: np.ndarray

    def __sub__(self, other: "Rights") -> "Rights":
        """Return the difference, training by training and window by window."""
        return Rights(self.public - other.public, self.private - other.private)


def mean_over_trainings(values: np.ndarray, people: np.ndarray) -> Difference:
    """Return the mean of a measurement with an interval over people and trainings, and the test that it is 0.

    Parameters
    ----------
    values : numpy.ndarray of shape (trainings, n)
        The measurement of each row under each training, for example a difference of two methods.
    people : numpy.ndarray of shape (n,)
        Person of each row.

    Returns
    -------
    Difference
        The variance is that of the people's sums plus that of the trainings' means; the degrees of freedom are those of
        Welch and Satterthwaite. What people and trainings share is counted twice, so the interval is a little wide.
        One training gives an infinite interval: it does not show how far the next one lies.

    Examples
    --------
    >>> mean_over_trainings(np.array([[0.2, 0.3], [0.3, 0.4]]), np.array(["a", "b"])).value
    0.3
    """
    trainings, people_alone = len(values), difference(values.mean(axis=0), np.zeros(values.shape[1]), people)
    value, n = float(values.mean()), people_alone.n
    if trainings < 2 or n < 2:
        return Difference(value, -math.inf, math.inf, 1.0, n, "people")
    error, freedom = _error(values, people_alone)
    if not error:
        return Difference(value, value, value, 1.0 if value == 0 else 0.0, n, "people")
    half = float(stats.t.ppf(0.975, freedom)) * error
    return Difference(
        value, value - half, value + half, float(2 * stats.t.sf(abs(value) / error, freedom)), n, "people"
    )


def _error(values: np.ndarray, people_alone: Difference) -> tuple[float, float]:
    """Return the standard error over people and trainings, and its degrees of freedom."""
    trainings, n = len(values), people_alone.n
    half = people_alone.high - people_alone.value
    variances = (half / float(stats.t.ppf(0.975, n - 1))) ** 2, float(values.mean(axis=1).var(ddof=1)) / trainings
    total = sum(variances)
    weights = variances[0] ** 2 / (n - 1) + variances[1] ** 2 / (trainings - 1)
    return math.sqrt(total), total**2 / weights if weights else math.inf


def read_all(made: Iterable[Made]) -> dict[str, Rights]:
    """Return what the inference models read from the test windows, raw and in every release, under every training.

    Parameters
    ----------
    made : iterable of Made
        One for each training. All have the same test windows and the same names of releases.
    """
    rows: dict[str, list[list[np.ndarray]]] = {}
    for study, models, releases in made:
        truth = models.codes(study.test)
        for name, release in {"raw": None, **releases}.items():
            published = study.test if release is None else publish(release, study.test, 0)
            seen = models.inferred(published)
            rows.setdefault(name, []).append([found == true for found, true in zip(seen, truth, strict=True)])
    return {name: Rights(*np.asarray(each, dtype=float).swapaxes(0, 1)) for name, each in rows.items()}


def attack_trainings(
    made: Iterable[Made], attackers: Sequence[Attacker], *, runs: int, **options: Any
) -> list[Attacks]:
    """Return the attacks on each training; `runs` are those on all trainings together, at least one on each.

    `attackers` are those of `sensorprivacy.game.attack_all`, the options ``share_known`` and ``kept`` of `WindowScene`.
    """
    made = list(made)
    each: Any = {"runs": max(runs // len(made), 1), **options}
    return [
        attack_all(
            scenes(releases, study.train, study.test, study.private, seed=_APART * study.vae.seed, **each), attackers
        )
        for study, _, releases in made
    ]


def rights_of(parts: Iterable[Attacks], release: str, level: str) -> np.ndarray:
    """Return how often an attack on each training is right about each unit, trainings x units."""
    return np.stack(
        [one.right for part in parts for one in part if (one.release, one.level) == (release, level) and not one.reason]
    ).astype(float)


def pooled(parts: Sequence[Attacks]) -> Attacks:
    """Return the results of the same attacks on several trainings, with intervals over people and trainings.

    Scores are means over all runs. The interval is Wilson's, for the variance of `mean_over_trainings`. The results of
    one training keep their interval over people.
    """
    return Attacks(map(_pooled, zip(*parts, strict=True))) if len(parts) > 1 else parts[0]


def _pooled(same: Sequence[Attack]) -> Attack:
    """Return the result of one attack on several trainings; an attack that failed once has failed."""
    failed = [one for one in same if one.reason]
    if failed:
        return failed[0]
    values = np.stack([one.right for one in same]).astype(float)
    found, right, clusters = same[0].measure, values.mean(axis=0), same[0].clusters
    people_alone = difference(right, np.zeros(len(right)), clusters)
    score, (error, freedom) = float(right.mean()), _error(values, people_alone)
    spread = 0 < score < 1 and error > 0
    trials = score * (1 - score) / error**2 if spread else float(people_alone.n)
    low, high = wilson_bounds(score, trials, float(stats.t.ppf(0.975, freedom if spread else people_alone.n - 1)))
    means: Any = {name: float(np.mean([getattr(one.measure, name) for one in same])) for name in ("auc", "balanced")}
    measure = replace(found, score=score, low=low, high=high, **means)
    return replace(same[0], measure=measure, right=right, runs=tuple(run for one in same for run in one.runs))
