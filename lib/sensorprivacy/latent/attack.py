"""Attack published windows: paper 3's re-identification attack, and stronger adversaries that know the anonymizer."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, Literal, get_args

import numpy as np
import pandas as pd
from sklearn.ensemble import HistGradientBoostingClassifier

from sensorprivacy.datasets.readers.statistics import window_statistics
from sensorprivacy.datasets.types import Windows
from sensorprivacy.game.units import wilson
from sensorprivacy.latent.classifiers import Classifier, Kind
from sensorprivacy.latent.measures import chance, share
from sensorprivacy.latent.training import Settings
from sensorprivacy.latent.windows import Coding, Scaler, private_labels, recording_of
from sensorprivacy.progress import tqdm

Release = Callable[[Windows], Windows]  # publishes windows: an anonymizer's transform, with fresh randomness each call
Model = Literal["mlp", "cnn", "conv1d", "trees"]
_SETTINGS = Settings(epochs=30, batch=256)


@dataclass(frozen=True)
class Attacker:
    """The knowledge and the model of an adversary.

    Parameters
    ----------
    name : str
        Name in tables.
    model : {"mlp", "cnn", "conv1d", "trees"}
        The paper's two networks, a 1-D CNN, or gradient-boosted trees on statistics of the window.
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
    """

    name: str
    model: Model = "mlp"
    dropout: float | None = None
    knows_public: bool = False
    averaged: int = 1
    attribute: str | None = None
    settings: Settings = _SETTINGS

    def __post_init__(self) -> None:
        if self.model not in get_args(Model):
            raise ValueError(f"model {self.model!r} is unknown: choose from {', '.join(get_args(Model))}")
        if self.averaged < 1:
            raise ValueError(f"averaged={self.averaged}: give at least one anonymization")


def attackers(kind: Kind = "mlp", settings: Settings | None = None, *, strangers: bool = False) -> tuple[Attacker, ...]:
    """Return the adversaries, the paper's first.

    Parameters
    ----------
    kind : {"mlp", "cnn"}
        The network of the private inference model, which the paper's attacker copies.
    settings : Settings, optional
        How their networks are trained.
    strangers : bool
        Whether the test windows are of people outside the training windows. The attack on identity is then left out.
    """
    made = (
        Attacker("paper's", kind),
        Attacker("no dropout", kind, dropout=0.0),
        Attacker("knows the activity", kind, dropout=0.0, knows_public=True),
        Attacker("averages 8 anonymizations", kind, dropout=0.0, averaged=8),
        Attacker("trees on statistics", "trees"),
        Attacker("1-D CNN", "conv1d"),
        Attacker("identity", kind, dropout=0.0, attribute="subject"),
    )
    return tuple(replace(one, settings=settings or _SETTINGS) for one in (made[:-1] if strangers else made))


@dataclass(frozen=True)
class Attack:
    """The result of an attack.

    Attributes
    ----------
    runs : pandas.DataFrame
        One row per run: ``run``, ``accuracy`` over test windows, ``vote`` over test recordings.
    summary : pandas.Series
        Means over runs: ``accuracy`` with ``deviation`` (over runs), ``low`` and ``high`` (over runs and recordings),
        ``vote`` with ``vote_low`` and ``vote_high``, ``chance`` and ``vote_chance`` (always predicting the class most
        frequent in training), ``runs``, ``windows``, ``recordings``.
    """

    runs: pd.DataFrame
    summary: pd.Series


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
        The adversary.
    runs : int
        Independent runs: each draws training windows, publications and initial weights anew.
    share_known : float
        Share of the training windows that the adversary has.
    seed : int
        Seed of samples and weights; run r uses seed + r.
    progress : bool
        Show a progress bar.

    Returns
    -------
    Attack
        Accuracy over windows and vote over recordings, for each run and in summary.

    Raises
    ------
    ValueError
        If the share or the number of runs is out of range, or a test class does not occur in training.

    References
    ----------
    Paper 3, sections 5.3.1 and 5.3.2, Fig. 8: the adversary's network is that of the private inference model, 20 runs.
    """
    if not 0 < share_known <= 1 or runs < 1:
        raise ValueError(f"share_known={share_known}, runs={runs}: give a share above 0 and at least one run")
    attribute = attacker.attribute or attribute
    coding = Coding.fit(private_labels(train, attribute), attribute)
    truth = coding.codes(private_labels(test, attribute))
    public = Coding.fit(train.public, "public class")
    recordings = recording_of(test)
    recording_truth = truth[np.unique(recordings, return_index=True)[1]]
    rows, right, voted = [], np.zeros(len(truth)), np.zeros(len(recording_truth))
    for run in tqdm(range(runs), attacker.name, disable=not progress, leave=False):
        generator = np.random.default_rng([seed, run])
        known = train.take(np.sort(generator.permutation(train.n_windows)[: round(share_known * train.n_windows)]))
        learned, attacked = (_inputs(release, some, attacker, public) for some in (known, test))
        codes = coding.codes(private_labels(known, attribute))
        probabilities = _predict(attacker, learned, codes, attacked, len(coding.classes), seed + run)
        correct = probabilities.argmax(axis=1) == truth
        votes = vote(probabilities, recordings) == recording_truth
        right, voted = right + correct / runs, voted + votes / runs
        rows.append({"run": run + 1, "accuracy": float(correct.mean()), "vote": float(votes.mean())})
    table, found = pd.DataFrame(rows), share(right, recordings)
    vote_low, vote_high = wilson(float(voted.sum()), len(voted))
    training = coding.codes(private_labels(train, attribute))
    summary: dict[str, Any] = {
        "accuracy": found.score,
        "deviation": float(table["accuracy"].std(ddof=1)),
        "low": found.low,
        "high": found.high,
        "chance": chance(training, truth),
        "vote": float(voted.mean()),
        "vote_low": vote_low,
        "vote_high": vote_high,
        "vote_chance": chance(training, recording_truth),
        "runs": runs,
        "windows": found.windows,
        "recordings": found.recordings,
    }
    return Attack(table, pd.Series(summary))


def vote(probabilities: np.ndarray, recordings: np.ndarray) -> np.ndarray:
    """Return the class of each recording whose probabilities have the greatest product over its windows.

    Parameters
    ----------
    probabilities : numpy.ndarray of shape (n, classes)
        Probabilities of each window.
    recordings : numpy.ndarray of int, shape (n,)
        Recording of each window, 0 ... r - 1.
    """
    logs = np.log(np.clip(probabilities, 1e-6, None))
    sums = np.stack([np.bincount(recordings, column) for column in logs.T], axis=1)
    return sums.argmax(axis=1)


def _inputs(release: Release, windows: Windows, attacker: Attacker, public: Coding) -> np.ndarray:
    """Return the adversary's view of published windows, n x channels x length."""
    published = (release(windows) for _ in range(attacker.averaged))
    seen: np.ndarray = sum(some.values / attacker.averaged for some in published)  # type: ignore[assignment]  # noqa: PD011
    if attacker.knows_public:
        one_hot = np.eye(len(public.classes), dtype=np.float32)[public.codes(windows.public)]
        seen = np.concatenate([seen, np.repeat(one_hot[:, :, None], seen.shape[2], axis=2)], axis=1)
    return seen.astype(np.float32)


def _predict(
    attacker: Attacker, learned: np.ndarray, codes: np.ndarray, attacked: np.ndarray, classes: int, seed: int
) -> np.ndarray:
    """Train the adversary and return its probabilities of each attacked window's classes."""
    if attacker.model == "trees":
        model = HistGradientBoostingClassifier(random_state=seed, max_iter=100).fit(_statistics(learned), codes)
        probabilities = np.zeros((len(attacked), classes))
        probabilities[:, model.classes_] = model.predict_proba(_statistics(attacked))
        return probabilities
    scaler = Scaler.fit(learned)
    network = Classifier(attacker.model, attacker.dropout, replace(attacker.settings, seed=seed))
    network.fit(scaler.apply(learned), codes, classes=classes, progress=False, label=attacker.name)
    return network.probabilities(scaler.apply(attacked))


def _statistics(values: np.ndarray) -> np.ndarray:
    names = tuple(f"channel {at}" for at in range(values.shape[1]))
    return window_statistics(values, names, 50, correlated=names).to_numpy()
