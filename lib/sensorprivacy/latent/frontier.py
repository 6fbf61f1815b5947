"""Compare many releases: how much of the activity each keeps, and how much the strongest attacker infers."""

from collections import Counter
from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd
from sklearn.ensemble import HistGradientBoostingClassifier

from sensorprivacy.datasets.types import Windows
from sensorprivacy.latent.anonymizer import LatentAnonymizer
from sensorprivacy.latent.attack import Attacker, Release, reidentify
from sensorprivacy.latent.inference import PublicModel
from sensorprivacy.latent.measures import chance, share
from sensorprivacy.latent.transfers import Codebook
from sensorprivacy.latent.windows import recording_of
from sensorprivacy.progress import tqdm


def attack_all(
    releases: Mapping[str, Release],
    adversaries: Sequence[Attacker],
    train: Windows,
    test: Windows,
    attribute: str,
    *,
    runs: int = 1,
    share_known: float = 0.5,
    seed: int = 0,
    progress: bool = True,
) -> pd.DataFrame:
    """Attack every release with every adversary.

    All adversaries see the same publications, and each run sees new ones. Publishing can take longer than an attack.

    Parameters
    ----------
    releases : mapping of str to callable
        Functions that publish windows, by name.
    adversaries : sequence of Attacker
        The adversaries.
    train, test : Windows
        Raw windows, see `attack.reidentify`.
    attribute : str
        The private attribute.
    runs, share_known, seed : int, float, int
        As for `attack.reidentify`.
    progress : bool
        Show a progress bar.

    Returns
    -------
    pandas.DataFrame
        ``release``, ``attacker``, then the summary of `attack.Attack`.
    """
    rows, options = [], {"runs": runs, "share_known": share_known, "seed": seed, "progress": False}
    with tqdm(total=len(releases) * len(adversaries), desc="attacks", disable=not progress) as bar:
        for name, release in releases.items():
            publications: dict[str, list[Windows]] = {}
            for adversary in adversaries:
                # with a single adversary, nobody needs the publications again
                shared = _repeating(release, publications) if len(adversaries) > 1 else release
                found = reidentify(shared, train, test, attribute, adversary, **options)  # type: ignore[arg-type]
                rows.append({"release": name, "attacker": adversary.name, **found.summary})
                bar.update()
    return pd.DataFrame(rows)


def _repeating(release: Release, publications: dict[str, list[Windows]]) -> Release:
    """Return a release that repeats the stored publications of the same windows in order, then adds new ones."""
    calls: Counter[str] = Counter()

    def publish(windows: Windows) -> Windows:
        key = windows.digest
        stored = publications.setdefault(key, [])
        if calls[key] == len(stored):
            stored.append(release(windows))
        calls[key] += 1
        return stored[calls[key] - 1]

    return publish


def activity_kept(releases: Mapping[str, Release], models: Sequence[PublicModel], test: Windows) -> pd.DataFrame:
    """Return how accurately independent classifiers, used by no release, predict the public class.

    Parameters
    ----------
    releases : mapping of str to callable
        Functions that publish windows, by name.
    models : sequence of PublicModel
        Independent models, if possible with several kinds of network: smoothed windows that one kind recognizes,
        another may not.
    test : Windows
        Raw test windows.

    Returns
    -------
    pandas.DataFrame
        By release: ``activity`` (mean accuracy of the models) with ``low`` and ``high``, ``worst`` (the least accuracy
        among public classes), a column ``by <kind>`` for each model's kind of network, ``distortion`` (mean squared
        change, in units of each channel's deviation).
    """
    recordings, rows = recording_of(test), {}
    truth, raw = models[0].public.codes(test.public), models[0].scaled(test)
    for name, release in releases.items():
        published = release(test)
        each = [model.public_model.predict(model.scaled(published)) == truth for model in models]
        right = np.mean(each, axis=0)
        found = share(right, recordings)
        rows[name] = {
            "activity": found.score,
            "low": found.low,
            "high": found.high,
            "worst": min(right[truth == code].mean() for code in np.unique(truth)),
            **{f"by {model.public_model.kind}": one.mean() for model, one in zip(models, each, strict=True)},
            "distortion": float(np.mean((models[0].scaled(published) - raw) ** 2, dtype=np.float64)),
        }
    return pd.DataFrame(rows).T.rename_axis("release")


def strongest(attacks: pd.DataFrame, leave_out: Sequence[str] = ("identity",)) -> pd.DataFrame:
    """Return, for each release, the attacker whose vote over a recording is most often correct.

    Parameters
    ----------
    attacks : pandas.DataFrame
        As returned by `attack_all`.
    leave_out : sequence of str
        Attackers of another attribute, which has another chance level.

    Returns
    -------
    pandas.DataFrame
        By release: ``attacker``, ``vote``, ``vote_low``, ``vote_high``, ``vote_chance``, and the greatest ``accuracy``
        over single windows. The attacker is chosen by its test score, so the score is optimistic for the attacker.
    """
    some = attacks[~attacks["attacker"].isin(list(leave_out))]
    best = some.loc[some.groupby("release", sort=False)["vote"].idxmax()].set_index("release")
    columns = ["attacker", "vote", "vote_low", "vote_high", "vote_chance"]
    return best[columns].assign(accuracy=some.groupby("release", sort=False)["accuracy"].max())


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
        ``low``, ``high``.
    """
    models = anonymizer.models_
    recordings = recording_of(test)
    train_parts, test_parts = (_residuals(anonymizer, some, cells) for some in (train, test))
    (train_public, train_private), (test_public, test_private) = models.codes(train), models.codes(test)
    rows = {}
    for name in train_parts:
        right = np.zeros(test.n_windows)
        for code in np.unique(test_public):
            learned, tested = train_public == code, test_public == code
            trees = HistGradientBoostingClassifier(random_state=0, max_iter=60)
            trees.fit(train_parts[name][learned], train_private[learned])
            right[tested] = trees.predict(test_parts[name][tested]) == test_private[tested]
        found = share(right, recordings)
        rows[name] = {"accuracy": found.score, "low": found.low, "high": found.high}
    rows["chance"] = {"accuracy": chance(train_private, test_private)}
    return pd.DataFrame(rows).T.rename_axis("predicted from")


def _residuals(anonymizer: LatentAnonymizer, windows: Windows, cells: int) -> dict[str, np.ndarray]:
    """Return latent, residual, whitened residual and cell of each window, by true public and inferred private class."""
    models = anonymizer.models_
    public = models.codes(windows)[0]
    private = models.private_model.predict(models.scaled(windows))
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
