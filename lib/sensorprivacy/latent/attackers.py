"""The attackers on windows: what each knows, and which model it trains on published windows."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal, get_args

import numpy as np
from sklearn.ensemble import HistGradientBoostingClassifier

from sensorprivacy.game.chance import frequencies
from sensorprivacy.latent.classifiers import Classifier, Kind, statistics
from sensorprivacy.latent.training import Settings
from sensorprivacy.latent.windows import Scaler

Model = Literal["mlp", "cnn", "conv1d", "trees", "counts"]
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
    model : {"mlp", "cnn", "conv1d", "trees", "counts"}
        The paper's two networks, a 1-D CNN, gradient-boosted trees on statistics of the window, or the frequencies of
        each class for each recovered code (see `mechanism.Mechanism`).
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
    def needs_mechanism(self) -> bool:
        """Whether the attacker needs the anonymizer's networks."""
        return self.reencodes or self.model == "counts"

    def predict(
        self, learned: np.ndarray, codes: np.ndarray, attacked: np.ndarray, classes: int, seed: int
    ) -> np.ndarray:
        """Train the attacker and return its probabilities of each attacked window's classes, n x classes.

        Parameters
        ----------
        learned, attacked : numpy.ndarray of shape (n, channels, length)
            Published windows; for ``counts`` of shape (n, codes), the codes of `mechanism.Mechanism.codes`.
        codes : numpy.ndarray of int, shape (n,)
            Classes of `learned`.
        classes, seed : int
            Number of classes; seed of the model.
        """
        if self.model == "counts":
            return frequencies(learned, codes, attacked, classes)
        if self.model == "trees":
            model = HistGradientBoostingClassifier(random_state=seed, max_iter=100).fit(statistics(learned), codes)
            probabilities = np.zeros((len(attacked), classes))
            probabilities[:, model.classes_] = model.predict_proba(statistics(attacked))
            return probabilities
        scaler = Scaler.fit(learned) if learned.shape[2] > 1 else None  # re-encoded inputs are standardized already
        learned, attacked = (scaler.apply(some) if scaler else some for some in (learned, attacked))
        network = Classifier(self.model, self.dropout, replace(self.settings, seed=seed))
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
