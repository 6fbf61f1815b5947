"""The attack engine: whether attackers who learn from published rows predict a label of others, at every level.

Tables and windows differ in their *scene* alone: what an attacker sees, and which model it trains. A scene asks
questions, such as the user of each row or of each group. Each attacker answers with probabilities. The engine adds up
the evidence of the rows of a unit, scores the answers, and sets them beside chance.
"""

import warnings
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, NamedTuple, Protocol

import numpy as np
from scipy.special import logsumexp

from sensorprivacy.game.chance import DRAWS, guessed
from sensorprivacy.game.measuring import log_odds, measure, member, pooled
from sensorprivacy.game.outcome import Attack, Attacks, nothing_known
from sensorprivacy.game.play import in_this_process
from sensorprivacy.game.units import share
from sensorprivacy.progress import tqdm

Attackers = Mapping[str, Any] | Sequence[Any]
THROUGH = ", through identity"
_FAILURES = (ValueError, ArithmeticError, RuntimeError)  # of one attack; the others go on


@dataclass(frozen=True, eq=False)
class Question:
    """A label that an attacker predicts, for all units of one level.

    Attributes
    ----------
    about : str
        Name of the label: ``user``, ``task``, or an attribute such as ``gender``.
    level : str
        The level: ``row``, ``window``, ``group``, ``recording`` or ``person``.
    known : numpy.ndarray
        Labels of the training rows. The columns of a prediction are their sorted classes.
    truth : numpy.ndarray of shape (units,)
        Label of each attacked unit.
    groups : numpy.ndarray of int, optional
        Unit of each attacked row: 0, 1, ... Without it, each row is a unit.
    clusters : numpy.ndarray of shape (units,), optional
        What intervals count: the person or group of each unit. Without it, units are independent.
    unit : str
        Name of a cluster, in the plural.
    permuted : numpy.ndarray of shape (units,), optional
        See `sensorprivacy.game.measuring.measure`.
    part : str
        Part of the split: ``validation`` or ``test``.
    rows : slice, optional
        The rows of this part among all attacked rows. Default: all.
    guess : numpy.ndarray of shape (units,), optional
        How often the best constant answer is correct. Default: always predicting the most frequent class of `known`.
    least : float
        The chance level is at least this.
    members : numpy.ndarray of shape (classes predicted, classes asked), optional
        Class of each predicted class, such as each person's gender: the label is inferred through identity.
    """

    about: str
    level: str
    known: np.ndarray
    truth: np.ndarray
    groups: np.ndarray | None = None
    clusters: np.ndarray | None = None
    unit: str = "rows"
    permuted: np.ndarray | None = None
    part: str = "test"
    rows: slice | None = None
    guess: np.ndarray | None = None
    least: float = 0.0
    members: np.ndarray | None = None

    @cached_property
    def classes(self) -> np.ndarray:
        """Sorted classes of the training rows."""
        return np.unique(self.known)

    @cached_property
    def judged(self) -> np.ndarray:
        """Which units have a class of the training rows. Nobody can predict the others."""
        return member(self.truth, self.classes)

    @property
    def judged_clusters(self) -> np.ndarray | None:
        """Clusters of the judged units."""
        return None if self.clusters is None else self.clusters[self.judged]


class Prediction(NamedTuple):
    """What one run of an attacker answers.

    Attributes
    ----------
    probabilities : numpy.ndarray of shape (rows, classes)
        Of each attacked row.
    prior : numpy.ndarray of shape (classes,)
        Shares of the classes in the rows that the attacker learned from, all above 0.
    met : numpy.ndarray of int
        Classes in these rows.
    """

    probabilities: np.ndarray
    prior: np.ndarray
    met: np.ndarray

    def of_units(self, question: Question) -> tuple[np.ndarray, np.ndarray]:
        """Return the predicted class of each unit, and a score of each class by which units can be ordered."""
        probabilities = self.probabilities[question.rows or slice(None)]
        if question.groups is None:
            scores = posterior = probabilities
        else:
            posterior = pooled(probabilities, self.prior, question.groups)
            if question.members is not None:
                members = question.members[self.met]
                shape = len(posterior), *members.shape
                posterior = logsumexp(posterior[:, self.met, None], b=np.broadcast_to(members, shape), axis=1)
            scores = log_odds(posterior)
        return question.classes[posterior.argmax(axis=1)], scores


class Scene(Protocol):
    """What attackers see; see `sensorprivacy.game.tables.TableScene` and `sensorprivacy.latent.WindowScene`.

    Attributes
    ----------
    name : str
        Name of the release.
    runs : int
        Independent runs of every attack.
    """

    @property
    def name(self) -> str: ...  # noqa: D102

    @property
    def runs(self) -> int: ...  # noqa: D102

    def questions(self, attacker: Any) -> Sequence[Question]:
        """Return what an attacker is asked."""
        ...

    def predict(self, attacker: Any, run: int) -> Prediction | None:
        """Train an attacker and return its prediction; None if there is nothing here that it can use."""
        ...


def attack(scene: Scene, attackers: Attackers, *, levels: Sequence[str] | None = None, draws: int = DRAWS) -> Attacks:
    """Let every attacker predict what the scene asks, and score the answers.

    Parameters
    ----------
    scene : Scene
        A release, and what attackers know: `sensorprivacy.game.tables.TableScene` for a table,
        `sensorprivacy.latent.WindowScene` for windows.
    attackers : mapping or sequence
        Attackers of this kind of scene, by name, or with a ``name``.
    levels : sequence of str, optional
        Only these levels, such as ``person``. Default: all levels of the scene.
    draws : int
        Permutations of each test. 0: none, and the chance level is that of always predicting the most frequent class.
        Otherwise at least 40, and 40 times the number of attackers if the p-values are corrected for it.

    Returns
    -------
    Attacks
        One result for each attacker, label, part and level.

    Notes
    -----
    Read the level ``group`` or ``recording`` first, if there is one: every recording counts once there. Among rows, a
    long recording counts more than a short one, and a user with long recordings raises the chance level. With unequal
    recordings, the interval on rows seldom lies above chance although recordings are identified; the permutation test
    on rows still shows it. ``bench/null_tables.py`` measures this.

    Examples
    --------
    >>> from sensorprivacy import example_problem
    >>> from sensorprivacy.game import TABLE_ATTACKERS, TableScene, default_split
    >>> from sklearn.ensemble import RandomForestClassifier
    >>> problem, forest = example_problem(), RandomForestClassifier(10, random_state=0)
    >>> scene = TableScene(problem, problem.features, default_split(problem), forest)
    >>> found = attack(scene, {"nearest row": TABLE_ATTACKERS["nearest row"]}, draws=99)
    >>> found.at("row").score > found.at("row").chance
    True
    """
    found = Attacks()
    for name, attacker in _named(attackers):
        questions = [one for one in scene.questions(attacker) if levels is None or one.level in levels]
        with in_this_process():
            runs = [scene.predict(attacker, run) for run in range(scene.runs)]
        answers = [one for one in runs if one is not None]
        if answers:
            found += [_score(scene.name, name, question, answers, draws) for question in questions]
    return found


def attack_all(
    scenes: Iterable[Scene],
    attackers: Attackers,
    *,
    levels: Sequence[str] | None = None,
    draws: int = 0,
    progress: bool = True,
) -> Attacks:
    """Attack every release with every attacker; an attack that fails is a result with a reason, and the others go on.

    Parameters
    ----------
    scenes : iterable of Scene
        One for each release, and for each fold. A scene is dropped before the next one is made.
    attackers, levels, draws
        As for `attack`.
    progress : bool
        Show a progress bar.
    """
    found, named = Attacks(), _named(attackers)
    for scene in scenes:
        for name, attacker in tqdm(named, f"attacks on {scene.name}", disable=not progress, leave=False):
            try:
                found += attack(scene, {name: attacker}, levels=levels, draws=draws)
            except _FAILURES as error:
                warnings.warn(f"{name} on {scene.name}: {error}", stacklevel=2)
                nothing = Attack(name, "", "", "test", nothing_known(""), np.empty(0))
                found.append(replace(nothing, release=scene.name, reason=str(error)))
    return found


def _named(attackers: Attackers) -> list[tuple[str, Any]]:
    if isinstance(attackers, Mapping):
        return list(attackers.items())
    return [(one.name, one) for one in attackers]


def _score(release: str, name: str, question: Question, runs: Sequence[Prediction], draws: int) -> Attack:
    """Return the score of an attacker over its runs."""
    predicted, scores = map(np.stack, zip(*(one.of_units(question) for one in runs), strict=True))
    guess = guessed(question.known, question.truth) if question.guess is None else question.guess
    asked: Any = {"clusters": question.clusters, "permuted": question.permuted, "unit": question.unit, "guess": guess}
    found = measure(
        predicted, question.truth, question.known, scores=scores, least=question.least, draws=draws, **asked
    )
    judged, right = question.judged, predicted == question.truth
    shown = None
    if found.exposed is not None:
        theirs = (question.truth == found.exposed) | (predicted[0] == found.exposed)
        shown = share(right[0][theirs], None if question.clusters is None else question.clusters[theirs])
    return Attack(
        name + THROUGH * (question.members is not None),
        question.about,
        question.level,
        question.part,
        found,
        right[0][judged] if len(right) == 1 else right[:, judged].mean(axis=0),
        question.judged_clusters,
        question.truth[judged],
        guess[judged],
        tuple(right[:, judged].mean(axis=1).tolist()),
        *((shown.score, shown.low) if shown else (np.nan, np.nan)),
        release=release,
    )
