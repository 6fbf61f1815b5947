"""The attackers on windows: what the anonymizer tells those who have it, and which models they train."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from typing import Literal, cast, get_args

import numpy as np
from sklearn.cluster import KMeans
from sklearn.ensemble import HistGradientBoostingClassifier

from sensorprivacy.data import Windows
from sensorprivacy.game.chance import frequencies
from sensorprivacy.game.whole import chosen_on_units, of_units
from sensorprivacy.latent.anonymizer import LatentAnonymizer
from sensorprivacy.latent.classifiers import Classifier, Kind, statistics
from sensorprivacy.latent.training import Settings
from sensorprivacy.latent.transfers import nearest
from sensorprivacy.latent.windows import Scaler, flatten

_CELLS = 32  # of the code that the attacker makes itself, if the mechanism has none
_LARGEST = 4000  # donors of an activity that are compared
_CHUNK = 2048
Release = Callable[[Windows], Windows]  # publishes windows: an anonymizer's transform, or one of `releases`


@dataclass(eq=False)
class Mechanism:
    """An anonymizer in the hands of an attacker.

    The codes of a window are its activity, its cell and its donor's person. For a codebook, the attacker encodes the
    published version of each donor; the nearest one gives cell, target class and person. A release of raw training
    windows has one cell, and the attacker finds the donor by its equal samples. Other mechanisms have no
    cells; the attacker then divides the latents of training windows into cells of its own. What was read from the last
    two publications, the attacker's own and the attacked one, is remembered, because several attackers read the same.

    Parameters
    ----------
    anonymizer : LatentAnonymizer
        Fitted, with its training latents.
    published_raw : Windows, optional
        Training windows that the release publishes as they are.
    """

    anonymizer: LatentAnonymizer
    published_raw: Windows | None = None

    def __post_init__(self) -> None:
        for name, remembered in {"inputs": 2, "codes": 2, "_latents": 2, "_centres": None}.items():
            setattr(self, name, lru_cache(remembered)(getattr(self, name)))

    def inputs(self, published: Windows) -> np.ndarray:
        """Return samples, latents and inferred classes of published windows as one row each, n x 1 x d.

        Latents stand in one block per activity, because each activity has its own autoencoder. All are standardized or
        shares.
        """
        models = self.anonymizer.models_
        scaled = models.scaled(published)
        public, private = models.probabilities(published)
        activity, latents = self._latents(published)
        blocks = np.zeros((len(latents), len(models.public.classes), latents.shape[1]), dtype=np.float32)
        blocks[np.arange(len(latents)), activity] = latents
        parts = [flatten(scaled), blocks.reshape(len(latents), -1), public, private]
        return np.concatenate(parts, axis=1, dtype=np.float32)[:, None, :]

    def codes(self, published: Windows) -> np.ndarray:
        """Return activity, cell and donor's person of each published window, n x 3, int64."""
        activity, latents = self._latents(published)
        found = np.zeros((len(latents), 3), dtype=np.int64)
        found[:, 0] = activity
        if self.published_raw is not None:
            found[:, 2] = self._owners(published)
            return found
        for code in np.unique(activity):
            rows = np.flatnonzero(activity == code)
            centres, labels = self._centres(int(code))
            for some in np.array_split(rows, -(-len(rows) // _CHUNK)):
                found[some, 1:] = labels[nearest(latents[some], centres)]
        return found

    def _owners(self, published: Windows) -> np.ndarray:
        """Return the person of each raw training window that was published, counted from 1; 0 if it is none."""
        return np.array([self._person.get(samples, 0) for samples in _samples(published)])

    @cached_property
    def _person(self) -> dict[bytes, int]:
        """Person of each raw training window, counted from 1, by its samples."""
        assert self.published_raw is not None
        people = self.anonymizer.people_of(self.published_raw) + 1
        return dict(zip(_samples(self.published_raw), people.tolist(), strict=True))

    def _latents(self, published: Windows) -> tuple[np.ndarray, np.ndarray]:
        activity = self.anonymizer.infer(published)[0]
        return activity, self.anonymizer.latents(published, activity)

    def _centres(self, code: int) -> tuple[np.ndarray, np.ndarray]:
        """Return points in the latent space of an activity, and the cell and person of each."""
        statistics = self.anonymizer.statistics_[code]
        if "donors" in statistics:
            places = np.arange(len(statistics["donors"]))
            if len(places) > _LARGEST:
                places = np.sort(np.random.default_rng(0).choice(places, _LARGEST, replace=False))
            cells = np.searchsorted(statistics["begins"], places, side="right") - 1
            people = statistics.get("owners", np.zeros(len(statistics["donors"]), dtype=np.int64))[places]
            return self.anonymizer.echo(code, statistics["donors"][places]), np.stack([cells, people + 1], axis=1)
        latents = self.anonymizer.latents_[code][0]
        many = min(_CELLS, len(np.unique(latents, axis=0)))
        centres = KMeans(many, n_init=1, random_state=0).fit(latents).cluster_centers_
        return centres, np.stack([np.arange(many), np.zeros(many, dtype=np.int64)], axis=1)


def _samples(windows: Windows) -> list[bytes]:
    """Return the samples of each window as a key."""
    return [one.astype(np.float32).tobytes() for one in windows.values]


def mechanism_of(release: Release, networks: LatentAnonymizer | None = None) -> Mechanism | None:
    """Return a release's anonymizer as an attacker uses it, else other networks; None if there are neither."""
    found = getattr(release, "anonymizer", None) or networks
    return Mechanism(found, getattr(release, "published_raw", None)) if found is not None else None


def publish(release: Release, windows: Windows, draw: int) -> Windows:
    """Return a release's publication of windows; a seeded release publishes the same windows again for a draw."""
    numbered = getattr(release, "draw", None)
    return numbered(windows, draw) if numbered else release(windows)


Model = Literal["mlp", "cnn", "conv1d", "trees", "counts", "tuned", "whole"]
_SETTINGS = Settings(epochs=30, batch=256)


@dataclass(frozen=True)
class Attacker:
    """The knowledge and the model of an adversary.

    Every attacker knows the mechanism: it publishes its own windows through the same defence and learns from the
    result.

    Parameters
    ----------
    name : str
        Name in tables.
    model : {"mlp", "cnn", "conv1d", "trees", "counts", "tuned", "whole"}
        The paper's two networks, a 1-D CNN, gradient-boosted trees on statistics of the window, or the frequencies of
        each class for each recovered code (see `Mechanism`). Or the model that is best on some of the known recordings,
        on statistics of the window, or of the whole recording: it has no answer for single windows.
    dropout : float or None
        Dropout of the network. None: the paper's, which weakens an attacker.
    knows_public : bool
        Whether the attacker knows the activity. It is then an input, one constant channel per class.
    averaged : int
        Number of anonymizations of the same window that the attacker has and averages.
    attribute : str or None
        The attribute to infer; ``subject`` is identity. None: the attribute of the attack.
    settings : Settings
        How the network is trained.
    reencodes : bool
        Whether the attacker runs the anonymizer's networks on published windows. Latent posterior, inferred classes and
        recovered code are then inputs beside the samples.
    """

    name: str
    model: Model = "mlp"
    dropout: float | None = None
    knows_public: bool = False
    averaged: int = 1
    attribute: str | None = None
    settings: Settings = _SETTINGS
    reencodes: bool = False

    def __post_init__(self) -> None:
        if self.model not in get_args(Model):
            raise ValueError(f"model {self.model!r} is unknown: choose from {', '.join(get_args(Model))}")
        if self.averaged < 1:
            raise ValueError(f"averaged={self.averaged}: give at least one anonymization")

    @property
    def by_recordings(self) -> bool:
        """Whether the attacker needs to know which windows are of one recording."""
        return self.model in ("tuned", "whole")

    @property
    def needs_mechanism(self) -> bool:
        """Whether the attacker needs the anonymizer's networks."""
        return self.reencodes or self.model == "counts"

    def predict(
        self,
        learned: np.ndarray,
        codes: np.ndarray,
        attacked: np.ndarray,
        classes: int,
        seed: int,
        units: np.ndarray | None = None,
    ) -> np.ndarray:
        """Train the attacker and return its probabilities of each attacked window's classes, n x classes.

        Parameters
        ----------
        learned, attacked : numpy.ndarray of shape (n, channels, length)
            Published windows; for ``counts`` of shape (n, codes), the codes of `Mechanism.codes`.
        codes : numpy.ndarray of int, shape (n,)
            Classes of `learned`.
        classes, seed : int
            Number of classes; seed of the model.
        units : numpy.ndarray of int, optional
            Recording of each known and each attacked window, 0, 1, ..., those of known windows first; for attackers
            that are `by_recordings`. The rows of ``whole`` are those of the attacked recordings.
        """
        if self.model == "counts":
            return frequencies(learned, codes, attacked, classes)
        if self.model == "trees":
            model = HistGradientBoostingClassifier(random_state=seed, max_iter=100).fit(statistics(learned), codes)
            probabilities = np.zeros((len(attacked), classes))
            probabilities[:, model.classes_] = model.predict_proba(statistics(attacked))
            return probabilities
        if units is not None:
            known = units[: len(learned)]
            seen = statistics(np.concatenate([learned, attacked]))
            if self.model == "whole":
                seen, first = of_units(seen, units, in_order=True), np.unique(known, return_index=True)[1]
                known, codes = known[first], codes[first]
            found = chosen_on_units(seen[: len(known)], codes, seen[len(known) :], known, seed)
            probabilities = np.zeros((len(found), classes))
            probabilities[:, np.unique(codes)] = found
            return probabilities
        scaler = Scaler.fit(learned) if learned.shape[2] > 1 else None  # re-encoded inputs are standardized already
        learned, attacked = (scaler.apply(some) if scaler else some for some in (learned, attacked))
        network = Classifier(cast(Kind, self.model), self.dropout, replace(self.settings, seed=seed))
        network.fit(learned, codes, classes=classes, progress=False, label=self.name)
        return network.probabilities(attacked)


def attackers(kind: Kind = "mlp", settings: Settings | None = None, names: Sequence[str] = ()) -> tuple[Attacker, ...]:
    """Return the adversaries, the paper's first.

    An attacker on identity also infers the private attribute, through the people whom it thinks likely. This works even
    for people it has never seen, who resemble others.

    Parameters
    ----------
    kind : {"mlp", "cnn"}
        The network of the private inference model, which the paper's attacker copies.
    settings : Settings, optional
        How their networks are trained.
    names : sequence of str, optional
        Only these adversaries. None of them: all.

    Raises
    ------
    ValueError
        If a name is unknown.
    """
    made = (
        Attacker("paper's", kind),
        Attacker("no dropout", kind, dropout=0.0),
        Attacker("knows the activity", kind, dropout=0.0, knows_public=True),
        Attacker("averages 8 anonymizations", kind, dropout=0.0, averaged=8),
        Attacker("trees on statistics", "trees"),
        Attacker("1-D CNN", "conv1d"),
        Attacker("re-encodes", "mlp", dropout=0.0, reencodes=True),
        Attacker("recovers the code", "counts"),
        Attacker("identity", kind, dropout=0.0, attribute="subject"),
        Attacker("re-encodes, identity", "mlp", dropout=0.0, reencodes=True, attribute="subject"),
        Attacker("recovers the code, identity", "counts", attribute="subject"),
    )
    if unknown := set(names) - {one.name for one in made}:
        known = "; ".join(one.name for one in made)
        raise ValueError(f"there is no attacker named {', '.join(sorted(unknown))}: choose from {known}")
    return tuple(replace(one, settings=settings or _SETTINGS) for one in made if not names or one.name in names)


ON_RECORDINGS = (Attacker("tuned on statistics", "tuned"), Attacker("statistics of recordings", "whole"))
"""Attackers on a release beside `attackers`, whom the notebooks of the papers do not have."""
