"""Compare methods over several trainings, on the same windows, with intervals over people *and* trainings.

One training of a method says little about the next one. An interval over people alone does not contain this spread.
"""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from sensorprivacy.game.attack import attack_all
from sensorprivacy.game.outcome import Attack, Attacks
from sensorprivacy.game.samples import Spread
from sensorprivacy.game.units import Difference, difference, share
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
        The variance is that over people, see `sensorprivacy.game.difference`, plus that of the trainings' means.
        What people and trainings share is counted twice, so the interval is a little wide. One training gives an
        infinite interval: it does not show how far the next one lies.

    Examples
    --------
    >>> mean_over_trainings(np.array([[0.2, 0.3], [0.3, 0.4]]), np.array(["a", "b"])).value
    0.3
    """
    if len(values) < 2:
        value, n = float(values.mean()), len(np.unique(people))
        return Difference(value, -math.inf, math.inf, 1.0, n, "people")
    change = values.mean(axis=0)
    return difference(change, np.zeros(len(change)), people, unit="people", more=_spread(values))


def _spread(values: np.ndarray) -> Spread:
    """Return the variance of the mean over trainings."""
    return Spread(float(values.mean(axis=1).var(ddof=1)) / len(values), len(values) - 1)


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

    Scores are means over all runs. The interval is that of `sensorprivacy.game.share`, plus the variance over
    trainings. The results of one training keep their interval over people.
    """
    return Attacks(map(_pooled, zip(*parts, strict=True))) if len(parts) > 1 else parts[0]


def _pooled(same: Sequence[Attack]) -> Attack:
    """Return the result of one attack on several trainings; an attack that failed once has failed."""
    failed = [one for one in same if one.reason]
    if failed:
        return failed[0]
    values = np.stack([one.right for one in same]).astype(float)
    found, right, clusters = same[0].measure, values.mean(axis=0), same[0].clusters
    pooled_share = share(right, clusters, unit=found.unit, more=_spread(values))
    means: Any = {name: float(np.mean([getattr(one.measure, name) for one in same])) for name in ("auc", "balanced")}
    measure = replace(found, score=pooled_share.score, low=pooled_share.low, high=pooled_share.high, **means)
    return replace(same[0], measure=measure, right=right, runs=tuple(run for one in same for run in one.runs))
