"""Attack published windows: paper 3's re-identification attack, and stronger adversaries that know the anonymizer."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import pandas as pd
from scipy.special import logsumexp

from sensorprivacy.data import Windows
from sensorprivacy.game.chance import macro_auc
from sensorprivacy.game.measuring import pooled
from sensorprivacy.latent.anonymizer import LatentAnonymizer
from sensorprivacy.latent.attackers import Attacker, predict
from sensorprivacy.latent.levels import (
    LEVELS,
    Level,
    Pooling,
    balanced_accuracy,
    log_odds,
    pooling,
    share_of_people,
)
from sensorprivacy.latent.measures import guessed
from sensorprivacy.latent.mechanism import Mechanism
from sensorprivacy.latent.windows import Coding, private_labels
from sensorprivacy.progress import tqdm

Release = Callable[[Windows], Windows]  # publishes windows: an anonymizer's transform, or one of `releases`
Publish = Callable[[Windows, int], Windows]  # the same with the number of the draw, which fixes the randomness
THROUGH = ", through identity"
_RUNS = 1_000_003  # first draw of a run, so that no two runs share a draw


@dataclass(frozen=True)
class Attack:
    """The result of an attack.

    Attributes
    ----------
    attacker : str
        Name of the adversary.
    runs : pandas.DataFrame
        One row per run, attribute and level: ``run``, ``about``, ``attacker``, ``level``, ``score``, ``auc``,
        ``balanced``.
    table : pandas.DataFrame
        One row per attribute and level, means over runs: ``attacker``, ``about`` (the attribute inferred), ``level``
        (window, recording, person), ``score`` (accuracy) with ``low`` and ``high`` (over people), ``deviation`` (over
        runs), ``chance`` (always predicting the most frequent class; for people held out, the best constant answer,
        because their class is then rarer in training), ``above`` (score - chance), ``auc`` (mean over
        classes of each class against all others; 0.5 is chance), ``balanced`` (mean recall over classes), ``n`` (number
        and name of the units of the interval), ``runs``.
    units : pandas.DataFrame
        One row per attribute, level and window, recording or person: ``attacker``, ``about``, ``level``, ``person``,
        ``right`` (in which share of runs it is classified correctly), ``guess`` (whether always predicting the class
        that is most frequent in training is correct), ``truth`` (its class), for results that are pooled over folds.
    """

    attacker: str
    runs: pd.DataFrame
    table: pd.DataFrame
    units: pd.DataFrame

    def at(self, level: Level = "window", about: str | None = None) -> pd.Series:
        """Return the row of a level, and of an attribute if the attack is about two."""
        rows = self.table[self.table["level"] == level]
        return (rows[rows["about"] == about] if about else rows).iloc[0]


@dataclass(frozen=True)
class _Question:
    """An attribute, and the true classes of all groups at a level."""

    about: str
    attacker: str
    level: Level
    groups: Pooling
    truth: np.ndarray
    classes: Coding
    constant: float  # for people held out, share of their most frequent class; else 0
    guess: np.ndarray  # how often always predicting the most frequent class is correct
    members: np.ndarray | None  # people x classes, if the attribute is inferred through identity


def publish(release: Release, windows: Windows, draw: int) -> Windows:
    """Return a release's publication of windows; a seeded release publishes the same windows again for a draw."""
    numbered = getattr(release, "draw", None)
    return numbered(windows, draw) if numbered else release(windows)


def reidentify(
    release: Release,
    train: Windows,
    test: Windows,
    attribute: str,
    attacker: Attacker,
    *,
    runs: int = 20,
    share_known: float = 0.5,
    seed: int = 0,
    mechanism: Mechanism | None = None,
    published: Publish | None = None,
    progress: bool = True,
) -> Attack:
    """Attack published windows: train on published windows of known class, and predict those of the test windows.

    Parameters
    ----------
    release : callable
        Publishes windows, with fresh randomness in each call. The identity function gives the attack on raw windows.
    train, test : Windows
        Raw windows. The adversary publishes a random share of `train` through `release`; the device publishes `test`.
    attribute : str
        The private attribute.
    attacker : Attacker
        The adversary. An attacker on identity also infers the attribute, from the likely people.
    runs : int
        Independent runs: each draws training windows, publications and initial weights anew.
    share_known : float
        Share of the training windows that the adversary has. For people held out they are drawn so that each class is
        as frequent as among all people, in each activity; an attacker on identity has people in these shares.
    seed : int
        Seed of samples and weights; run r uses seed + r.
    mechanism : Mechanism, optional
        The anonymizer that the adversary has. The default is that of the release.
    published : callable, optional
        Publishes windows, given the number of the draw. The default calls `release`.
    progress : bool
        Show a progress bar.

    Returns
    -------
    Attack
        Scores for windows, recordings and people: for each run, and summarized over the runs.

    Raises
    ------
    ValueError
        If the share or the number of runs is out of range, a test class does not occur in training, or the attacker
        needs a mechanism and there is none.

    References
    ----------
    Paper 3, sections 5.3.1 and 5.3.2, Fig. 8: the adversary's network is that of the private inference model, 20 runs.
    """
    if not 0 < share_known <= 1 or runs < 1:
        raise ValueError(f"share_known={share_known}, runs={runs}: give a share above 0 and at least one run")
    mechanism = mechanism or mechanism_of(release) if attacker.needs_mechanism else None
    if attacker.needs_mechanism and mechanism is None:
        raise ValueError(f"attacker {attacker.name!r} needs the anonymizer's networks: give mechanism=Mechanism(...)")
    published = published or (lambda windows, draw: publish(release, windows, draw))
    wanted = attacker.attribute or attribute
    coding = Coding.fit(private_labels(train, wanted), wanted)
    public = Coding.fit(train.public, "public class")
    questions = _questions(train, test, attribute, attacker, coding)
    rows, right = [], [np.zeros(len(one.truth)) for one in questions]
    for run in tqdm(range(runs), attacker.name, disable=not progress, leave=False):
        generator = np.random.default_rng([seed, run])
        known = train.take(_known(train, test, attribute, attacker, share_known, generator))
        learned, attacked = (
            _inputs(published, some, attacker, public, run * _RUNS, mechanism) for some in (known, test)
        )
        codes = coding.codes(private_labels(known, wanted))
        probabilities = predict(attacker, learned, codes, attacked, len(coding.classes), seed + run)
        prior = np.bincount(codes, minlength=len(coding.classes)) + 0.5
        for place, one in enumerate(questions):
            correct, scores = _answer(one, probabilities, prior / prior.sum(), np.unique(codes))
            right[place] += correct / runs
            rows.append({"run": run + 1, "about": one.about, "attacker": one.attacker, "level": one.level, **scores})
    table = pd.DataFrame(rows)
    units = [
        pd.DataFrame(
            {
                "right": correct,
                "guess": one.guess,
                "truth": np.asarray(one.classes.classes)[one.truth],
                "person": one.groups.people,
            }
        ).assign(attacker=one.attacker, about=one.about, level=one.level)
        for one, correct in zip(questions, right, strict=True)
    ]
    return Attack(attacker.name, table, _summary(questions, right, table, runs), pd.concat(units, ignore_index=True))


def _known(
    train: Windows, test: Windows, attribute: str, attacker: Attacker, share: float, generator: np.random.Generator
) -> np.ndarray:
    """Return the positions of the training windows that the adversary has, drawn at random.

    For people held out, each class is as frequent, within each activity, as among all people. In the others' windows
    the class of whoever is held out is rarer. From that alone, a model that learned nothing always answers right or
    always wrong, once it adds up hundreds of windows. An attacker on identity has as many people of each class.
    """
    order = generator.permutation(train.n_windows)
    if not _strangers(train, test):
        return np.sort(order[: round(share * train.n_windows)])
    labels = private_labels(train, attribute).astype(str).to_numpy()[order]
    public = train.public.astype(str).to_numpy()[order]
    everybody = pd.concat(
        [pd.crosstab(some.subject, private_labels(some, attribute).astype(str)) for some in (train, test)]
    ).fillna(0)
    shares = everybody.div(everybody.sum(axis=1), axis=0).mean()  # each person counts once
    if attacker.attribute == "subject":
        people = train.subject.to_numpy()[order]
        known = np.isin(people, _sampled_people(people, labels, shares, generator))
        return np.sort(order[known][: round(share * train.n_windows)])
    found = []
    for activity in np.unique(public):
        here = [(order[(public == activity) & (labels == name)], part) for name, part in shares.items()]
        most = min(len(some) / part for some, part in here if len(some))
        wanted = min(share * (public == activity).sum(), most)
        found += [some[: round(wanted * part)] for some, part in here]
    return np.sort(np.concatenate(found))


def _sampled_people(
    people: np.ndarray, labels: np.ndarray, shares: pd.Series, generator: np.random.Generator
) -> np.ndarray:
    """Return people drawn at random, as many as possible, with given shares of the classes as whole numbers allow."""
    of_class = pd.Series(labels, index=people).groupby(level=0).first()
    owners = [generator.permutation(of_class.index[of_class == name]) for name in shares.index]
    most = min(len(some) / part for some, part in zip(owners, shares, strict=True) if len(some))
    return np.concatenate([some[: max(int(most * part + 1e-9), 1)] for some, part in zip(owners, shares, strict=True)])


def _strangers(train: Windows, test: Windows) -> bool:
    """Return whether nobody in the test windows is in the training windows."""
    return set(train.subject.astype(str)).isdisjoint(test.subject.astype(str))


def mechanism_of(release: Release, networks: LatentAnonymizer | None = None) -> Mechanism | None:
    """Return a release's anonymizer as an attacker uses it, else other networks; None if there are neither."""
    found = getattr(release, "anonymizer", None) or networks
    return Mechanism(found, getattr(release, "published_raw", None)) if found is not None else None


def _questions(
    train: Windows, test: Windows, attribute: str, attacker: Attacker, coding: Coding
) -> tuple[_Question, ...]:
    """Return an attacker's questions: its attribute at each level, and the main attribute through identity."""
    asked: list[tuple[str, str, Coding, np.ndarray | None]] = []
    through = attacker.attribute == "subject" and attribute != "subject"
    strangers = attacker.attribute == "subject" and not set(test.subject.astype(str)) <= set(coding.classes)
    if not strangers or not through:
        asked.append((coding.name, attacker.name, coding, None))
    if through and (members := _members(train, attribute, coding)) is not None:
        asked.append((attribute, attacker.name + THROUGH, *members))
    held_out = _strangers(train, test)
    found = []
    for about, name, classes, shares in asked:
        learned, truth = (classes.codes(private_labels(some, about)) for some in (train, test))
        for level in LEVELS:
            known, groups = pooling(train, level, about), pooling(test, level, about)
            true = truth[groups.first]
            guess = guessed(learned[known.first], true)
            constant = float(np.bincount(true).max() / len(true)) if held_out else 0.0
            found.append(_Question(about, name, level, groups, true, classes, constant, guess, shares))
    return tuple(found)


def _members(train: Windows, attribute: str, people: Coding) -> tuple[Coding, np.ndarray] | None:
    """Return the classes of an attribute and each person's class, or None if a person has more than one."""
    labels = private_labels(train, attribute)
    if labels.groupby(train.subject.astype(str)).nunique().max() > 1:
        return None
    classes = Coding.fit(labels, attribute)
    shares = np.zeros((len(people.classes), len(classes.classes)))
    shares[people.codes(train.subject), classes.codes(labels)] = 1
    return classes, shares


def _answer(
    one: _Question, probabilities: np.ndarray, prior: np.ndarray, known: np.ndarray
) -> tuple[np.ndarray, dict[str, float]]:
    """Return which groups an attacker classifies correctly, and its scores; `known` are the classes it has met."""
    posterior = pooled(probabilities, prior, one.groups.groups)
    if one.members is not None:
        members = np.broadcast_to(one.members[known], (len(posterior), *one.members[known].shape))
        posterior = logsumexp(posterior[:, known, None], b=members, axis=1)
    right = posterior.argmax(axis=1) == one.truth
    auc, balanced = macro_auc(log_odds(posterior), one.truth), balanced_accuracy(right, one.truth)
    return right, {"score": float(right.mean()), "auc": auc, "balanced": balanced}


def _summary(questions: tuple[_Question, ...], right: list[np.ndarray], table: pd.DataFrame, runs: int) -> pd.DataFrame:
    """Return the means over runs, with intervals over people."""
    rows = []
    for one, correct in zip(questions, right, strict=True):
        of = table[(table["about"] == one.about) & (table["attacker"] == one.attacker) & (table["level"] == one.level)]
        found = share_of_people(np.clip(correct, 0, 1), one.groups.people)
        at_chance = max(float(one.guess.mean()), one.constant)
        rows.append(
            {
                "attacker": one.attacker,
                "about": one.about,
                "level": one.level,
                "score": found.score,
                "low": found.low,
                "high": found.high,
                "deviation": float(of["score"].std(ddof=1)),
                "chance": at_chance,
                "above": found.score - at_chance,
                "auc": float(of["auc"].mean()),
                "balanced": float(of["balanced"].mean()),
                "n": f"{found.n} {found.unit}",
                "runs": runs,
            }
        )
    return pd.DataFrame(rows)


def _inputs(
    published: Publish, windows: Windows, attacker: Attacker, public: Coding, draw: int, mechanism: Mechanism | None
) -> np.ndarray:
    """Return the adversary's view of published windows: n x channels x length, or codes."""
    first = published(windows, draw)
    if mechanism is not None:
        return mechanism.codes(first) if attacker.model == "counts" else mechanism.inputs(first)
    seen = first.values / attacker.averaged  # noqa: PD011 (windows)
    for more in range(1, attacker.averaged):
        seen = seen + published(windows, draw + more).values / attacker.averaged  # noqa: PD011
    if attacker.knows_public:
        one_hot = np.eye(len(public.classes), dtype=np.float32)[public.codes(windows.public)]
        seen = np.concatenate([seen, np.repeat(one_hot[:, :, None], seen.shape[2], axis=2)], axis=1)
    return np.asarray(seen, dtype=np.float32)
