"""Measure who is recognized in published windows that come from training windows: donors are people too."""

import warnings
from collections.abc import Mapping

import numpy as np
import pandas as pd
from sklearn.metrics import roc_auc_score

from sensorprivacy.latent.classifiers import Classifier
from sensorprivacy.latent.levels import share_of_people
from sensorprivacy.latent.measures import chance
from sensorprivacy.latent.releases import SeededRelease
from sensorprivacy.latent.study import Study
from sensorprivacy.latent.training import Settings
from sensorprivacy.latent.transfers import nearest
from sensorprivacy.latent.windows import Coding, Scaler, flatten

_MANY = 2000  # windows compared with each other
_CHUNK = 500


def exposure(
    releases: Mapping[str, SeededRelease],
    study: Study,
    *,
    settings: Settings | None = None,
) -> pd.DataFrame:
    """Measure what each release shows of the people whose training windows it uses.

    Parameters
    ----------
    releases : mapping of str to SeededRelease
        Releases, by name.
    study : Study
        Its test windows are published. Its validation windows are of the training people, and no release was fitted to
        them.
    settings : Settings, optional
        How the model that names donors is trained, on raw training windows.

    Returns
    -------
    pandas.DataFrame
        By release: ``named`` (share of published windows whose donor the model names) with ``low`` and ``high``,
        ``nearest`` (share whose nearest training window is the donor's), ``chance`` (always naming the most frequent
        donor), ``own`` (share whose donor is the publishing person), ``n``; these are missing where nobody is the
        donor. ``membership``: area under the ROC curve of an attacker who tells training windows from others of the
        same people by their distance to the nearest published window; 0.5 is chance.
    """
    settings = settings or Settings(epochs=10, batch=256)
    train, held, test = study.train, study.validation, study.test
    coding, scaler = Coding.fit(train.subject, "subject"), Scaler.fit(train.values)
    model = Classifier("conv1d", settings=settings)
    model.fit(scaler.apply(train.values), coding.codes(train.subject), progress=False, label="donors")
    generator = np.random.default_rng(study.vae.seed)
    members, others = (_some(scaler.apply(some.values), generator) for some in (train, held))
    known = np.sort(generator.permutation(train.n_windows)[: 10 * _MANY])
    pool, owners = flatten(scaler.apply(train.take(known).values)), coding.codes(train.take(known).subject)
    own = pd.Index(coding.classes).get_indexer(pd.Index(test.subject.astype(str)))
    rows = {}
    for name, release in releases.items():
        try:
            published, donor = release.with_donors(test)
        except (ValueError, ArithmeticError, RuntimeError) as error:
            warnings.warn(f"{name}: {error}", stacklevel=2)
            continue
        scaled, row = scaler.apply(published.values), {}
        if (donor >= 0).any():
            found = share_of_people(model.predict(scaled) == donor, test.subject.to_numpy())
            some = np.sort(generator.permutation(len(donor))[:_MANY])
            close = _distances(flatten(scaled[some]), pool)[1]
            row = {
                "named": found.score,
                "low": found.low,
                "high": found.high,
                "nearest": float(np.mean(owners[close] == donor[some])),
                "chance": chance(donor, donor),
                "own": float(np.mean(donor == own)),
                "n": f"{found.n} {found.unit}",
            }
        rows[name] = row | {"membership": membership(members, others, _some(scaled, generator, 3 * _MANY))}
    return pd.DataFrame.from_dict(rows, orient="index").rename_axis("release")


def membership(members: np.ndarray, others: np.ndarray, published: np.ndarray) -> float:
    """Return how well the distance to the nearest published window tells members from others.

    Parameters
    ----------
    members, others, published : numpy.ndarray of shape (n, values)
        Training windows, windows that were not used, and published windows; scaled.

    Returns
    -------
    float
        Area under the ROC curve: 0.5 is chance; above it, members are nearer.
    """
    distances = np.concatenate([_distances(some, published)[0] for some in (members, others)])
    truth = np.repeat([1, 0], [len(members), len(others)])
    return float(roc_auc_score(truth, -distances))


def _some(scaled: np.ndarray, generator: np.random.Generator, many: int = _MANY) -> np.ndarray:
    return flatten(scaled[generator.permutation(len(scaled))[:many]])


def _distances(rows: np.ndarray, pool: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return distance and position of the nearest row of the pool."""
    at = np.concatenate([nearest(some, pool) for some in np.array_split(rows, -(-len(rows) // _CHUNK))])
    return np.sqrt(((rows - pool[at]) ** 2).sum(axis=1)), at
