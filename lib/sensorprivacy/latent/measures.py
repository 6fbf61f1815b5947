"""Measure what published windows show: to inference models, of the private class, and of the people behind them."""

from collections.abc import Mapping

import numpy as np
import pandas as pd
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.metrics import roc_auc_score

from sensorprivacy.data import Windows
from sensorprivacy.game.chance import guessed
from sensorprivacy.game.units import share
from sensorprivacy.latent.anonymizer import LatentAnonymizer
from sensorprivacy.latent.classifiers import Classifier
from sensorprivacy.latent.inference import InferenceModels
from sensorprivacy.latent.releases import SeededRelease
from sensorprivacy.latent.study import Study
from sensorprivacy.latent.training import Settings
from sensorprivacy.latent.transfers import Codebook, nearest
from sensorprivacy.latent.utility import rows_of
from sensorprivacy.latent.windows import Coding, Scaler, flatten

_MANY = 2000  # windows compared with each other
_CHUNK = 500


def activity_lost(table: pd.DataFrame, most: float = 0.15) -> str:
    """Return one sentence if publication lost much accuracy on some public class, else an empty text.

    Short trainings lose the rarest movements first. Such a run shows little about the method.

    Parameters
    ----------
    table : pandas.DataFrame
        As `inference_table` returns it.
    most : float
        Greatest loss of accuracy, 0 to 1, that needs no remark.
    """
    lost = table[table["public_before"] - table["public_after"] > most]
    each = [f"{name} (from {row.public_before:.2f} to {row.public_after:.2f})" for name, row in lost.iterrows()]
    if not each:
        return ""
    return f"the shift loses much activity accuracy on {', '.join(each)}: raise epochs before you judge the method"


def inference_table(models: InferenceModels, windows: Windows, published: Windows) -> pd.DataFrame:
    """Return the accuracy before and after publication, by public class and overall: Tables 1, 2 and 3.

    Parameters
    ----------
    models : InferenceModels
        The inference models.
    windows, published : Windows
        Test windows, raw and as published.

    Returns
    -------
    pandas.DataFrame
        Index: public class, last ``all``. Columns: ``public_before``, ``public_after``, ``private_before``,
        ``private_after``, each with ``_low`` and ``_high``; ``chance`` (always predicting the private class that is
        most frequent among all test windows); ``windows``; ``n``, the unit of the intervals and its number. They count
        people: windows of one person are alike, and a private attribute belongs to the person.
    """
    public, private = models.codes(windows)
    people = windows.subject.to_numpy()
    before, after = models.inferred(windows), models.inferred(published)
    right = {
        "public_before": before[0] == public,
        "public_after": after[0] == public,
        "private_before": before[1] == private,
        "private_after": after[1] == private,
    }
    most = np.bincount(private).argmax()
    rows: dict[str, dict[str, object]] = {}
    for code, name in [*enumerate(models.public.classes), (-1, "all")]:
        among = (public == code) | (code < 0)
        if not among.any():
            continue
        row: dict[str, float] = {}
        for column, correct in right.items():
            found = share(correct[among], people[among], unit="people")
            row |= {column: found.score, f"{column}_low": found.low, f"{column}_high": found.high}
        chance_level = float(np.mean(private[among] == most))
        rows[name] = row | {"chance": chance_level, "windows": int(among.sum()), "n": f"{found.n} {found.unit}"}
    table = pd.DataFrame.from_dict(rows, orient="index").astype({"windows": int})
    return table.rename_axis("public class")


def residual_leak(anonymizer: LatentAnonymizer, train: Windows, test: Windows, *, cells: int = 8) -> pd.DataFrame:
    """Return how accurately the private class is predicted from the residual that the mean shift keeps.

    Trees are trained on latents of training windows with known class and tested on those of test windows. The means
    that are subtracted belong to the private class that the device *infers*, as in Algorithm 1: with the true class,
    the residual itself would contain it. If the coin of Modify is fair, z' is the residual plus a mean that is
    independent of the class. An attacker on single windows then cannot learn more from z' than from the residual.

    Parameters
    ----------
    anonymizer : LatentAnonymizer
        Fitted, with its training latents.
    train, test : Windows
        Raw windows.
    cells : int
        Number of cells of the codebook.

    Returns
    -------
    pandas.DataFrame
        Index ``predicted from``: the latent z; the residual z - m(y, p), which the paper's mean shift keeps; the
        residual whitened by class, which the transport keeps; the cell of a codebook; chance. Columns: ``accuracy``,
        ``low``, ``high``, ``n`` (the unit of the intervals and its number).
    """
    models = anonymizer.models_
    train_parts, test_parts = (_residuals(anonymizer, some, cells) for some in (train, test))
    (train_public, train_private), (test_public, test_private) = models.codes(train), models.codes(test)
    rows: dict[str, dict[str, object]] = {}
    for name in train_parts:
        right = np.zeros(test.n_windows)
        for code in np.unique(test_public):
            learned, tested = train_public == code, test_public == code
            trees = HistGradientBoostingClassifier(random_state=0, max_iter=60)
            trees.fit(train_parts[name][learned], train_private[learned])
            right[tested] = trees.predict(test_parts[name][tested]) == test_private[tested]
        found = share(right, test.subject.to_numpy(), unit="people")
        rows[name] = {"accuracy": found.score, "low": found.low, "high": found.high, "n": f"{found.n} {found.unit}"}
    rows["chance"] = {"accuracy": float(guessed(train_private, test_private).mean())}
    return pd.DataFrame.from_dict(rows, orient="index").rename_axis("predicted from")


def _residuals(anonymizer: LatentAnonymizer, windows: Windows, cells: int) -> dict[str, np.ndarray]:
    """Return latent, residual, whitened residual and cell of each window, by true public and inferred private class."""
    models = anonymizer.models_
    public = models.codes(windows)[0]
    private = models.inferred(windows)[1]
    z = anonymizer.latents(windows, public).astype(float)
    residual, white, cell = z.copy(), z.copy(), z[:, :1].copy()
    for code in np.unique(public):
        rows = np.flatnonzero(public == code)
        latents, owners = anonymizer.latents_[code]
        known = Codebook(cells).fit(latents.astype(float), owners, len(models.private.classes))
        residual[rows] = z[rows] - known["means"][private[rows]]
        white[rows] = np.einsum("nij,nj->ni", known["whiten"][private[rows]], residual[rows])
        distance = ((white[rows][:, None, :] - known["centres"][None]) ** 2).sum(axis=2)
        cell[rows] = distance.argmin(axis=1)[:, None]
    return {"latent z": z, "residual z - m(y, p)": residual, "whitened residual": white, f"cell of {cells}": cell}


def exposure(releases: Mapping[str, SeededRelease], study: Study, *, settings: Settings | None = None) -> pd.DataFrame:
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

    def shown(release: SeededRelease) -> dict[str, object]:
        published, donor = release.with_donors(test)
        scaled, row = scaler.apply(published.values), {}
        if (donor >= 0).any():
            found = share(model.predict(scaled) == donor, test.subject.to_numpy(), unit="people")
            some = np.sort(generator.permutation(len(donor))[:_MANY])
            close = _distances(flatten(scaled[some]), pool)[1]
            row = {
                "named": found.score,
                "low": found.low,
                "high": found.high,
                "nearest": float(np.mean(owners[close] == donor[some])),
                "chance": float(guessed(donor, donor).mean()),
                "own": float(np.mean(donor == own)),
                "n": f"{found.n} {found.unit}",
            }
        return row | {"membership": membership(members, others, _some(scaled, generator, 3 * _MANY))}

    return rows_of(releases, shown).drop(columns="reason").dropna(how="all")


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
