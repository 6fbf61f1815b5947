"""Adversaries who have the anonymizer: paper 3's re-identification attack, and stronger ones that no paper tried."""

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any, Literal, get_args

import numpy as np
import pandas as pd
from sklearn.ensemble import HistGradientBoostingClassifier

from sensorprivacy.datasets.readers.statistics import window_statistics
from sensorprivacy.datasets.types import Windows
from sensorprivacy.game.intervals import wilson
from sensorprivacy.latent.classifiers import Classifier, Kind
from sensorprivacy.latent.measures import chance, share
from sensorprivacy.latent.training import Settings
from sensorprivacy.latent.windows import Coding, Scaler, private_labels, recording_of
from sensorprivacy.progress import tqdm

Release = Callable[[Windows], Windows]  # publishes windows: an anonymizer's transform, with fresh randomness each call
Model = Literal["mlp", "cnn", "conv1d", "trees"]


@dataclass(frozen=True)
class Attacker:
    """What an adversary knows and trains.

    Parameters
    ----------
    name : str
        For tables.
    model : {"mlp", "cnn", "conv1d", "trees"}
        The paper's two networks, a 1-D CNN, or gradient-boosted trees on statistics of the window.
    dropout : float or None
        Of the network; None: the paper's, which holds an attacker back.
    knows_public : bool
        Whether the activity is told, as one constant channel a class.
    averaged : int
        How many anonymizations of the same window are at hand; they are averaged.
    attribute : str or None
        What is attacked; None: what the attack is called with. ``subject``: identity.
    settings : Settings
        How the network is trained.
    """

    name: str
    model: Model = "mlp"
    dropout: float | None = None
    knows_public: bool = False
    averaged: int = 1
    attribute: str | None = None
    settings: Settings = field(default_factory=lambda: Settings(epochs=30, batch=256))

    def __post_init__(self) -> None:
        if self.model not in get_args(Model):
            raise ValueError(f"model {self.model!r} is unknown: choose from {', '.join(get_args(Model))}")
        if self.averaged < 1:
            raise ValueError(f"averaged={self.averaged}: at least one anonymization is at hand")


def attackers(kind: Kind = "mlp", settings: Settings | None = None, *, strangers: bool = False) -> tuple[Attacker, ...]:
    """Return the adversaries, the paper's first.

    Parameters
    ----------
    kind : {"mlp", "cnn"}
        The network of the private inference model, which the paper's attacker copies.
    settings : Settings, optional
        How their networks are trained.
    strangers : bool
        Whether the people attacked are none of those learnt from: then nobody can ask which of these it is.
    """
    settings = settings or Settings(epochs=30, batch=256)
    made = (
        Attacker("paper's", kind),
        Attacker("no dropout", kind, dropout=0.0),
        Attacker("knows the activity", kind, dropout=0.0, knows_public=True),
        Attacker("averages 8 anonymizations", kind, dropout=0.0, averaged=8),
        Attacker("trees on statistics", "trees"),
        Attacker("1-D CNN", "conv1d"),
        Attacker("identity", kind, dropout=0.0, attribute="subject"),
    )
    return tuple(replace(one, settings=settings) for one in made if not (strangers and one.attribute == "subject"))


@dataclass(frozen=True)
class Attack:
    """What an adversary reached.

    Attributes
    ----------
    attacker : str
        Its name.
    runs : pandas.DataFrame
        One row a run: ``run``, ``accuracy`` over test windows, ``vote`` over test recordings.
    summary : pandas.Series
        Means over runs: ``accuracy`` with ``deviation`` (over runs), ``low`` and ``high`` (over runs and recordings),
        ``vote`` with ``vote_low`` and ``vote_high``, ``chance`` and ``vote_chance`` (the class most frequent in
        training), ``runs``, ``windows``, ``recordings``.
    """

    attacker: str
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
    """Attack what is published: train on published windows of known class, and name those of the test windows.

    Parameters
    ----------
    release : callable
        Publishes windows, with fresh randomness at each call. The identity function gives the attack on raw windows.
    train, test : Windows
        Raw windows. The adversary publishes a random share of `train` through `release` itself; `test` is published by
        the device.
    attribute : str
        The private attribute.
    attacker : Attacker
        The adversary.
    runs : int
        Independent runs: sample of the training windows, randomness of both publications, initial weights.
    share_known : float
        Share of the training windows that the adversary has.
    seed : int
        Of samples and weights; run r uses seed + r.
    progress : bool
        Show a bar.

    Returns
    -------
    Attack
        Accuracy over windows and vote over recordings, run by run and summed up.

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
    rows, right, voted = [], np.zeros(len(truth)), np.zeros(recordings.max() + 1)
    for run in tqdm(range(runs), attacker.name, disable=not progress, leave=False):
        generator = np.random.default_rng([seed, run])
        known = train.take(np.sort(generator.permutation(train.n_windows)[: round(share_known * train.n_windows)]))
        learnt, judged = (_inputs(release, some, attacker, public) for some in (known, test))
        codes = coding.codes(private_labels(known, attribute))
        odds = _learn(attacker, learnt, codes, judged, len(coding.classes), seed + run)
        named = odds.argmax(axis=1) == truth
        votes = vote(odds, recordings) == _first(truth, recordings)
        right, voted = right + named / runs, voted + votes / runs
        rows.append({"run": run + 1, "accuracy": float(named.mean()), "vote": float(votes.mean())})
    learnt_codes = coding.codes(private_labels(train, attribute))
    return Attack(
        attacker.name, pd.DataFrame(rows), _sum_up(pd.DataFrame(rows), right, voted, recordings, truth, learnt_codes)
    )


def vote(odds: np.ndarray, recordings: np.ndarray) -> np.ndarray:
    """Return the class of each recording, 0 ... : the one whose probabilities multiply to most over its windows.

    Parameters
    ----------
    odds : numpy.ndarray of shape (n, classes)
        Probabilities of each window.
    recordings : numpy.ndarray of int, shape (n,)
        Recording of each window, 0 ... r - 1.
    """
    logs = np.log(np.clip(odds, 1e-6, None))
    sums = np.stack([np.bincount(recordings, column) for column in logs.T], axis=1)
    return sums.argmax(axis=1)


def _inputs(release: Release, windows: Windows, attacker: Attacker, public: Coding) -> np.ndarray:
    """Return what the adversary sees of published windows, n x channels x length."""
    published = (release(windows) for _ in range(attacker.averaged))
    seen: np.ndarray = sum(some.values / attacker.averaged for some in published)  # type: ignore[assignment]  # noqa: PD011
    if attacker.knows_public:
        told = np.eye(len(public.classes), dtype=np.float32)[public.codes(windows.public)]
        seen = np.concatenate([seen, np.repeat(told[:, :, None], seen.shape[2], axis=2)], axis=1)
    return seen.astype(np.float32)


def _learn(
    attacker: Attacker, learnt: np.ndarray, codes: np.ndarray, judged: np.ndarray, classes: int, seed: int
) -> np.ndarray:
    """Return the probabilities that the trained adversary gives each test window's classes."""
    if attacker.model == "trees":
        model = HistGradientBoostingClassifier(random_state=seed, max_iter=100).fit(_statistics(learnt), codes)
        odds = np.zeros((len(judged), classes))
        odds[:, model.classes_] = model.predict_proba(_statistics(judged))
        return odds
    scaler = Scaler.fit(learnt)
    network = Classifier(attacker.model, attacker.dropout, replace(attacker.settings, seed=seed))
    network.fit(scaler.apply(learnt), codes, classes=classes, progress=False, label=attacker.name)
    return network.probabilities(scaler.apply(judged))


def _statistics(values: np.ndarray) -> np.ndarray:
    names = tuple(f"channel {at}" for at in range(values.shape[1]))
    return window_statistics(values, names, 50, correlated=names).to_numpy()


def _first(values: np.ndarray, groups: np.ndarray) -> np.ndarray:
    """Return the value of each group's first row."""
    _, first = np.unique(groups, return_index=True)
    return values[first]


def _sum_up(
    rows: pd.DataFrame,
    right: np.ndarray,
    voted: np.ndarray,
    recordings: np.ndarray,
    truth: np.ndarray,
    learnt: np.ndarray,
) -> pd.Series:
    found = share(right, recordings)
    low, high = wilson(float(voted.sum()), len(voted))
    summary: dict[str, Any] = {
        "accuracy": found.score,
        "deviation": float(rows["accuracy"].std(ddof=1)) if len(rows) > 1 else float("nan"),
        "low": found.low,
        "high": found.high,
        "chance": chance(learnt, truth),
        "vote": float(voted.mean()),
        "vote_low": low,
        "vote_high": high,
        "vote_chance": chance(learnt, _first(truth, recordings)),
        "runs": len(rows),
        "windows": found.windows,
        "recordings": found.recordings,
    }
    return pd.Series(summary)
