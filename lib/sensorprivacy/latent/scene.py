"""What attackers on windows see: publications of the windows that they know, and of those that they attack."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

import joblib
import numpy as np
import pandas as pd

from sensorprivacy.data import Windows
from sensorprivacy.game.attack import Prediction, Question
from sensorprivacy.game.chance import guessed
from sensorprivacy.game.whole import as_rows
from sensorprivacy.latent.adversaries import Attacker, Mechanism, Release, mechanism_of, publish
from sensorprivacy.latent.anonymizer import LatentAnonymizer
from sensorprivacy.latent.study import Study
from sensorprivacy.latent.windows import Coding, private_labels, recording_of
from sensorprivacy.paths import write_atomically

PUBLIC = "public class"  # name of the activity as an attribute that an attacker infers
LEVELS = ("window", "recording", "person")
_RUNS = 1_000_003  # first draw of a run, so that no two runs share a draw


@dataclass(frozen=True, eq=False)
class WindowScene:
    """Everything that an attacker on windows sees.

    The attacker publishes a random share of the training windows through the release, and the device publishes the test
    windows. Both are published anew in each run, and all attackers see the same publications.

    Parameters
    ----------
    release : callable
        Publishes windows. The identity function gives the attack on raw windows. The method ``draw`` of a seeded
        release is called with the number of the draw.
    train, test : Windows
        Raw windows.
    attribute : str
        The private attribute; ``subject`` is identity, and `PUBLIC` the activity.
    name : str
        Name of the release.
    mechanism : Mechanism, optional
        The anonymizer that attackers have.
    runs : int
        Independent runs: each draws training windows, publications and initial weights anew.
    share_known : float
        Share of the training windows that the attacker has. For people held out they are drawn so that each class is as
        frequent as among all people, in each activity; an attacker on identity has people in these shares.
    seed : int
        Seed of samples and weights; run r uses seed + r.
    kept : path, optional
        Folder in which the predictions of trained attackers are kept as they end: an interrupted attack goes on from
        there. An attacker who sees and learns the same predicts the same.

    Raises
    ------
    ValueError
        If the share or the number of runs is out of range. An attack raises it if a test class does not occur in
        training, or the attacker needs a mechanism and there is none.

    References
    ----------
    Paper 3, sections 5.3.1 and 5.3.2, Fig. 8: the attacker's network is that of the private inference model, 20 runs.
    """

    release: Release
    train: Windows
    test: Windows
    attribute: str
    name: str = ""
    mechanism: Mechanism | None = None
    runs: int = 1
    share_known: float = 0.5
    seed: int = 0
    kept: Path | None = None
    _published: dict[tuple[str, int], Windows] = field(default_factory=dict, init=False, repr=False)

    def __post_init__(self) -> None:
        if not 0 < self.share_known <= 1 or self.runs < 1:
            raise ValueError(f"share_known={self.share_known}, runs={self.runs}: give a share above 0 and a run")

    @cached_property
    def strangers(self) -> bool:
        """Whether nobody in the test windows is in the training windows."""
        return set(self.train.subject.astype(str)).isdisjoint(self.test.subject.astype(str))

    def questions(self, attacker: Attacker) -> list[Question]:
        """Return the attacker's attribute at each level, and the main attribute through identity."""
        wanted = attacker.attribute or self.attribute
        asked: list[tuple[str, np.ndarray | None]] = []
        through = wanted == "subject" and self.attribute != "subject"
        known_people = set(self.test.subject.astype(str)) <= set(self.train.subject.astype(str))
        if known_people or not through:
            asked.append((wanted, None))
        if through and (members := self._members()) is not None:
            asked.append((self.attribute, members))
        levels = LEVELS[1:] if attacker.model == "whole" else LEVELS
        return [self._question(about, level, members) for about, members in asked for level in levels]

    def _question(self, about: str, level: str, members: np.ndarray | None) -> Question:
        known, tested = (_labels(some, about) for some in (self.train, self.test))
        Coding.fit(known, about).codes(tested)  # raises an error for a class without training windows
        first = np.unique(units_of(self.train, level, about), return_index=True)[1]
        groups = units_of(self.test, level, about)
        of_units = np.unique(groups, return_index=True)[1]
        truth = tested.to_numpy()[of_units]
        return Question(
            about,
            level,
            known.to_numpy(),
            truth,
            groups=groups,
            clusters=self.test.subject.to_numpy()[of_units],
            unit="people",
            guess=guessed(known.to_numpy()[first], truth),
            least=float(pd.Series(truth).value_counts(normalize=True).max()) if self.strangers else 0.0,
            members=members,
        )

    def _members(self) -> np.ndarray | None:
        """Return each person's class of the attribute, people x classes, or None if a person has more than one."""
        table = pd.crosstab(self.train.subject.astype(str), _labels(self.train, self.attribute)) > 0
        return None if table.sum(axis=1).max() > 1 else table.to_numpy(float)

    def predict(self, attacker: Attacker, run: int) -> Prediction:
        """Train an attacker on published windows, and return its probabilities for those of the test windows."""
        if attacker.needs_mechanism and self.mechanism is None:
            raise ValueError(f"attacker {attacker.name!r} needs the anonymizer's networks: give mechanism")
        wanted = attacker.attribute or self.attribute
        coding = Coding.fit(_labels(self.train, wanted), wanted)
        known = self.train.take(self._known(attacker, np.random.default_rng([self.seed, run])))
        learned, attacked = (self._inputs(some, attacker, run * _RUNS) for some in (known, self.test))
        codes = coding.codes(_labels(known, wanted))
        task: tuple[Any, ...] = learned, codes, attacked, len(coding.classes), self.seed + run
        held = recording_of(self.test)
        if attacker.by_recordings:
            many, own = np.unique(recording_of(known), return_inverse=True)
            task += (np.concatenate([own, len(many) + held]),)
        probabilities = attacker.predict(*task) if self.kept is None else self._kept(attacker, task, self.kept)
        prior = np.bincount(codes, minlength=len(coding.classes)) + 0.5
        prior /= prior.sum()
        if attacker.model == "whole":
            probabilities = as_rows(probabilities, prior, held)
        return Prediction(probabilities, prior, np.unique(codes))

    def _kept(self, attacker: Attacker, task: tuple[Any, ...], folder: Path) -> np.ndarray:
        """Return an attacker's probabilities, read from the folder if one with equal model and inputs made them."""
        path = folder / f"{joblib.hash((attacker.model, attacker.dropout, attacker.settings, task))}.npy"
        if not path.is_file():
            write_atomically(path, lambda part: _save(part, attacker.predict(*task)))
        return np.load(path, allow_pickle=False)

    def published(self, windows: Windows, draw: int) -> Windows:
        """Return the publication of windows with a number, which is made once."""
        key = windows.digest, draw
        if key not in self._published:
            self._published[key] = publish(self.release, windows, draw)
        return self._published[key]

    def _inputs(self, windows: Windows, attacker: Attacker, draw: int) -> np.ndarray:
        """Return an attacker's view of published windows: n x channels x length, or codes."""
        first = self.published(windows, draw)
        if attacker.needs_mechanism and self.mechanism is not None:
            return self.mechanism.codes(first) if attacker.model == "counts" else self.mechanism.inputs(first)
        seen = first.values  # noqa: PD011 (windows)
        # an average of equal publications is any one of them
        if attacker.averaged > 1 and not np.array_equal(seen, self.published(windows, draw + 1).values):
            drawn = (self.published(windows, draw + more).values for more in range(attacker.averaged))  # noqa: PD011
            seen = sum((some / attacker.averaged for some in drawn), np.zeros_like(seen))
        if attacker.knows_public:
            public = Coding.fit(self.train.public, PUBLIC)
            one_hot = np.eye(len(public.classes), dtype=np.float32)[public.codes(windows.public)]
            seen = np.concatenate([seen, np.repeat(one_hot[:, :, None], seen.shape[2], axis=2)], axis=1)
        return np.asarray(seen, dtype=np.float32)

    def _known(self, attacker: Attacker, generator: np.random.Generator) -> np.ndarray:
        """Return the positions of the training windows that the attacker has, drawn at random.

        For people held out, each class is as frequent, within each activity, as among all people. In the others'
        windows the class of whoever is held out is rarer. From that alone, a model that learned nothing always answers
        right or always wrong, once it adds up hundreds of windows. An attacker on identity has as many people of each
        class.
        """
        train, share = self.train, self.share_known
        order = generator.permutation(train.n_windows)
        if not self.strangers:
            return np.sort(order[: round(share * train.n_windows)])
        labels = _labels(train, self.attribute).to_numpy()[order]
        public = train.public.astype(str).to_numpy()[order]
        everybody = pd.concat([pd.crosstab(some.subject, _labels(some, self.attribute)) for some in (train, self.test)])
        counts = everybody.fillna(0)
        shares = counts.div(counts.sum(axis=1), axis=0).mean()  # each person counts once
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


def _save(path: Path, values: np.ndarray) -> None:
    with path.open("wb") as stream:  # np.save adds a suffix to a path
        np.save(stream, values, allow_pickle=False)


def _sampled_people(
    people: np.ndarray, labels: np.ndarray, shares: pd.Series, generator: np.random.Generator
) -> np.ndarray:
    """Return people drawn at random, as many as possible, with given shares of the classes as whole numbers allow."""
    of_class = pd.Series(labels, index=people).groupby(level=0).first()
    owners = [generator.permutation(of_class.index[of_class == name]) for name in shares.index]
    most = min(len(some) / part for some, part in zip(owners, shares, strict=True) if len(some))
    return np.concatenate([some[: max(int(most * part + 1e-9), 1)] for some, part in zip(owners, shares, strict=True)])


def units_of(windows: Windows, level: str, about: str) -> np.ndarray:
    """Return the unit of each window at a level: 0, 1, ...

    Few people publish a single window. An attacker who is a little better than chance on a window adds the evidence of
    hundreds of windows. ``person``: all windows of a person. An attribute that a person can change, such as the side on
    which a watch is worn, divides the person's windows by its value.
    """
    if level == "window":
        return np.arange(windows.n_windows)
    if level == "recording":
        return recording_of(windows)
    keys = pd.DataFrame({"subject": windows.subject, "value": _labels(windows, about).to_numpy()})
    return keys.groupby(list(keys), sort=False).ngroup().to_numpy()


def _labels(windows: Windows, about: str) -> pd.Series:
    return (windows.public if about == PUBLIC else private_labels(windows, about)).astype(str)


def scenes(
    releases: Mapping[str, Release],
    train: Windows,
    test: Windows,
    attribute: str,
    *,
    anonymizer: LatentAnonymizer | None = None,
    **options: Any,
) -> Iterator[WindowScene]:
    """Yield the scene of each release, for `sensorprivacy.game.attack_all`.

    Parameters
    ----------
    releases : mapping of str to callable
        Functions that publish windows, by name.
    train, test, attribute, **options
        As for `WindowScene`.
    anonymizer : LatentAnonymizer, optional
        Networks with which attackers re-encode what a release without an anonymizer of its own publishes.
    """
    for name, release in releases.items():
        yield WindowScene(release, train, test, attribute, name, mechanism_of(release, anonymizer), **options)


def fold_scenes(
    studies: Iterable[Study], releases: Callable[[Study, LatentAnonymizer], Mapping[str, Release]], **options: Any
) -> Iterator[WindowScene]:
    """Yield the scenes of every fold of people; `Attacks.over_folds` pools the results over all people.

    Parameters
    ----------
    studies : iterable of Study
        One for each fold, see `Study.folds`.
    releases : callable
        Returns the releases of a study, by name, given its fitted anonymizer.
    **options
        ``runs``, ``share_known``, ``seed`` and ``kept`` of `WindowScene`.
    """
    for study in studies:
        anonymizer = study.anonymizer(study.inference_models())
        made = releases(study, anonymizer)
        yield from scenes(made, study.train, study.test, study.private, anonymizer=anonymizer, **options)
