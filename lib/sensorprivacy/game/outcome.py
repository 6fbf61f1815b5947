"""Results: the measure of one model, attacks on releases, and the outcome of one strategy in the game."""

import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

import numpy as np
import pandas as pd

from sensorprivacy.game import units
from sensorprivacy.game.units import share

LEVEL = 0.05  # of tests
_SCORES = ("score", "low", "high", "chance", "above", "auc", "balanced")
_GREATEST = _SCORES[5:]  # of any attacker, in a table of the strongest ones
_COLUMNS = ["release", "attacker", "about", "level", *_SCORES[:3], "deviation", *_SCORES[3:], "n", "runs", "reason"]


@dataclass(frozen=True)
class Measure:
    """How well one model predicts one label on the held-out rows.

    All values except `unseen` are over the held-out rows of classes that the training rows have.

    Attributes
    ----------
    score : float
        Accuracy, 0 to 1.
    low, high : float
        Confidence interval of `score`, see `sensorprivacy.game.units.share`.
    n, unit : int, str
        Number and name of the units behind the interval: rows, or groups if the split keeps groups whole.
    chance : float
        Accuracy of a model without the features, see `sensorprivacy.game.chance.chance_test`.
    p : float
        p-value of the permutation test that the score is the chance level.
    p_any : float
        p-value of the permutation test that no class at all is recognized.
    balanced : float
        Mean recall over the classes.
    auc : float
        Mean over classes of the area under the ROC curve; NaN if the model has no probabilities.
    exposed : object
        The most exposed class: the one whose recall exceeds chance most clearly.
    exposed_recall, exposed_precision : float
        Recall and precision of that class.
    unseen : float
        Share of held-out rows whose class is not in the training rows. No model can predict these.
    """

    score: float
    low: float
    high: float
    n: int
    unit: str
    chance: float
    p: float = math.nan
    p_any: float = math.nan
    balanced: float = math.nan
    auc: float = math.nan
    exposed: Any = None
    exposed_recall: float = math.nan
    exposed_precision: float = math.nan
    unseen: float = 0.0

    @property
    def above(self) -> float:
        """Score minus the chance level."""
        return self.score - self.chance

    @property
    def beats_chance(self) -> bool:
        """Whether the permutation test rejects that the score is the chance level, at 5 %."""
        return self.p < LEVEL

    @property
    def recognizes_someone(self) -> bool:
        """Whether one of the two permutation tests rejects that nothing is learned, each at 2.5 %."""
        return min(self.p, self.p_any) < LEVEL / 2

    @property
    def overall(self) -> float:
        """Accuracy over all held-out rows, those of unseen classes included; the paper counts so."""
        return self.score * (1 - self.unseen) if self.unseen < 1 else 0.0


def nothing_known(unit: str) -> Measure:
    """Return the measure if no held-out row has a class of the training rows: there is nothing to predict."""
    nan = math.nan
    return Measure(nan, nan, nan, 0, unit, nan, p=1.0, p_any=1.0, unseen=1.0)


@dataclass(frozen=True, eq=False)
class Attack:
    """The result of one attacker on one question.

    Attributes
    ----------
    attacker : str
        Name of the attacker; ``task`` for the model of the task.
    about, level, part : str
        Of the question.
    measure : Measure
        Score, interval and its unit, chance level; means over runs.
    right : numpy.ndarray
        For each judged unit, whether it is predicted correctly, or in which share of the runs; in an order that all
        releases share.
    clusters : numpy.ndarray, optional
        Cluster of each judged unit, if intervals count clusters.
    truth, guess : numpy.ndarray, optional
        Label of each judged unit, and how often always predicting the most frequent class is correct.
    runs : tuple of float
        Score of each run.
    exposure, exposure_low : float
        Of the units that belong to the most exposed class or are predicted as it, the share that are both; and the
        lower end of its interval. An attacker who names one user everywhere has recall 1, but a small exposure.
    release, reason : str
        Name of the release; why the attack failed, or an empty text.
    """

    attacker: str
    about: str
    level: str
    part: str
    measure: Measure
    right: np.ndarray
    clusters: np.ndarray | None = None
    truth: np.ndarray | None = None
    guess: np.ndarray | None = None
    runs: tuple[float, ...] = ()
    exposure: float = np.nan
    exposure_low: float = np.nan
    release: str = ""
    reason: str = ""

    def to_dict(self) -> dict[str, Any]:
        """Return one row of `Attacks.table`."""
        row: dict[str, Any] = dict.fromkeys(_COLUMNS)
        row |= {"release": self.release, "attacker": self.attacker, "reason": self.reason}
        if self.reason:
            return row
        found = self.measure
        row |= {"about": self.about, "level": self.level} | {name: getattr(found, name) for name in _SCORES}
        deviation = float(np.std(self.runs, ddof=1)) if len(self.runs) > 1 else np.nan
        return row | {"deviation": deviation, "n": f"{found.n} {found.unit}", "runs": len(self.runs)}


class Attacks(list[Attack]):
    """Results of attacks, in the order in which they were made."""

    def at(self, level: str, about: str | None = None) -> Measure:
        """Return the first measure at a level, and about a label."""
        return next(one.measure for one in self if one.level == level and about in (None, one.about))

    @property
    def table(self) -> pd.DataFrame:
        """One row for each attack.

        Columns: ``release``, ``attacker``, ``about``, ``level``, ``score`` with ``low`` and ``high``, ``deviation``
        (over runs), ``chance``, ``above`` (score - chance), ``auc`` (mean over classes of each class against all
        others; 0.5 is chance), ``balanced`` (mean recall over classes), ``n`` (number and name of the units of the
        interval), ``runs``, ``reason`` (why an attack failed: a row without scores).
        """
        return pd.DataFrame([one.to_dict() for one in self], columns=_COLUMNS)

    @property
    def strongest(self) -> pd.DataFrame:
        """The strongest attacker on each release, for each label and level.

        Columns: ``release``, ``about``, ``level``, ``attacker``, ``score``, ``low``, ``high``, ``chance``, ``above``,
        ``n``, and the greatest ``auc`` and ``balanced`` of any attacker. The attacker is chosen by its test score, so
        the score is optimistic for the attacker; the interval allows for the choice, see `strongest`.
        """
        rows = [
            strongest(some).to_dict() | {name: max(getattr(one.measure, name) for one in some) for name in _GREATEST}
            for some in self.by_strength
        ]
        return pd.DataFrame(rows, columns=["release", "about", "level", "attacker", *_SCORES[:5], "n", *_GREATEST])

    @property
    def by_strength(self) -> list[list[Attack]]:
        """The results of all attackers on each question, the strongest first, without failed attacks."""
        asked: dict[tuple[str, ...], list[Attack]] = {}
        for one in self:
            if not one.reason:
                asked.setdefault((one.release, one.about, one.level, one.part), []).append(one)
        return [sorted(some, key=lambda one: -one.measure.score) for some in asked.values()]

    def over_folds(self) -> "Attacks":
        """Return the results of several folds of people, pooled over all their people.

        Score, interval and chance are over all units; ``auc`` and ``balanced`` are means over folds, because scores of
        different models have no common order. Chance is at least the share of the most frequent class among all units:
        whoever is held out alone belongs to the class that is then rarer in training, so guessing the more frequent one
        is nearly always wrong, without any privacy. Failed attacks are left out.
        """
        pooled_results: dict[tuple[str, ...], list[Attack]] = {}
        for one in self:
            if not one.reason:
                pooled_results.setdefault((one.release, one.attacker, one.about, one.level), []).append(one)
        return Attacks(map(_pooled, pooled_results.values()))


def strongest(attacks: Sequence[Attack]) -> Attack:
    """Return the attack with the highest score, with an interval that allows for the choice.

    Parameters
    ----------
    attacks : sequence of Attack
        All attackers' results on one question. The first of several that are equal is returned.

    Returns
    -------
    Attack
        Its interval is that of the largest true score of any attacker, see `sensorprivacy.game.units.strongest`.
    """
    rights, clusters = [one.right for one in attacks], [one.clusters for one in attacks]
    place, found = units.strongest(rights, clusters)
    best = attacks[place]
    return replace(best, measure=replace(best.measure, low=found.low, high=found.high))


def _pooled(folds: Sequence[Attack]) -> Attack:
    """Return the result over the units of all folds; no person is in two of them."""
    names = ("right", "truth", "guess", "clusters")
    right, truth, guess, clusters = (np.concatenate([getattr(one, name) for one in folds]) for name in names)
    found = share(right, clusters, unit=folds[0].measure.unit)
    chance = max(float(guess.mean()), float(pd.Series(truth).value_counts(normalize=True).max()))
    auc, balanced = (float(np.mean([getattr(one.measure, name) for one in folds])) for name in ("auc", "balanced"))
    total = Measure(found.score, found.low, found.high, found.n, found.unit, chance, balanced=balanced, auc=auc)
    return replace(folds[0], measure=total, right=right, clusters=clusters, truth=truth, guess=guess, runs=())


@dataclass(frozen=True)
class Outcome:
    """How well a strategy's release serves the task, and how well it identifies the users.

    Attributes
    ----------
    task, adversary : Measure
        The task model and the adaptive adversary. Both are trained on the released values.
    naive_task, naive_adversary : Measure or None
        Models that are trained on raw values and applied to released values. Equal to the adaptive models if the
        strategy only drops columns. None if the released columns are not columns of the raw data.
    n_features, n_train, n_test : int
        Number of released columns, of training rows and of held-out rows.
    problem, strategy, model, split, part : str
        Descriptions of the game. `part` is the held-out part of the split.
    seed : int or None
        Seed of both models.
    """

    task: Measure
    adversary: Measure
    naive_task: Measure | None
    naive_adversary: Measure | None
    n_features: int
    n_train: int
    n_test: int
    problem: str
    strategy: str
    model: str
    split: str
    part: str
    seed: int | None

    @property
    def accuracy(self) -> float:
        """Accuracy of the task model on rows of classes seen in training."""
        return self.task.score

    @property
    def identifiability(self) -> float:
        """Accuracy of the adaptive adversary on rows of users seen in training."""
        return self.adversary.score

    def to_series(self) -> pd.Series:
        """Return all values as one flat row: ``accuracy``, ``accuracy_low``, ..., ``identifiability``, ...

        Returns
        -------
        pandas.Series
            Rows of several outcomes stack into a data frame. A measure that does not exist is NaN.
        """
        row: dict[str, Any] = {"problem": self.problem, "strategy": self.strategy, "n_features": self.n_features}
        for prefix, measure in (
            ("accuracy", self.task),
            ("identifiability", self.adversary),
            ("accuracy_naive", self.naive_task),
            ("identifiability_naive", self.naive_adversary),
        ):
            values = asdict(measure) if measure else dict.fromkeys(Measure.__dataclass_fields__, math.nan)
            values["overall"] = measure.overall if measure else math.nan
            row |= {prefix if name == "score" else f"{prefix}_{name}": value for name, value in values.items()}
        rest = ("n_train", "n_test", "model", "split", "part", "seed")
        return pd.Series(row | {name: getattr(self, name) for name in rest})
