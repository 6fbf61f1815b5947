"""Many releases against many adversaries: what each keeps of the activity, and what the strongest attacker gets."""

from collections import Counter
from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd
from sklearn.ensemble import HistGradientBoostingClassifier

from sensorprivacy.datasets.types import Windows
from sensorprivacy.latent.anonymizer import LatentAnonymizer
from sensorprivacy.latent.attack import Attacker, Release, reidentify
from sensorprivacy.latent.inference import Judge
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
    """Return one row for each release and adversary.

    All adversaries see the same publications, each run new ones: what is published is the same for all, and publishing
    takes longer than many an attack.

    Parameters
    ----------
    releases : mapping of str to callable
        What publishes windows, by name.
    adversaries : sequence of Attacker
        Who attacks.
    train, test : Windows
        Raw windows, see `attack.reidentify`.
    attribute : str
        The private attribute.
    runs, share_known, seed : int, float, int
        As for `attack.reidentify`.
    progress : bool
        Show a bar.

    Returns
    -------
    pandas.DataFrame
        ``release``, ``attacker``, then the summary of `attack.Attack`.
    """
    rows = []
    with tqdm(total=len(releases) * len(adversaries), desc="attacks", disable=not progress) as bar:
        for name, release in releases.items():
            kept = _Kept(release)
            for adversary in adversaries:
                found = reidentify(
                    kept.reader() if len(adversaries) > 1 else release,  # what nobody reads again need not be kept
                    train,
                    test,
                    attribute,
                    adversary,
                    runs=runs,
                    share_known=share_known,
                    seed=seed,
                    progress=False,
                )
                rows.append({"release": name, "attacker": adversary.name, **found.summary})
                bar.update()
    return pd.DataFrame(rows)


class _Kept:
    """A release whose publications are kept: every reader is given the same ones, in the same order."""

    def __init__(self, release: Release) -> None:
        self.release = release
        self.published: dict[str, list[Windows]] = {}

    def reader(self) -> Release:
        """Return a release that publishes the same windows anew each time it is asked, as the first reader saw them."""
        asked: Counter[str] = Counter()

        def publish(windows: Windows) -> Windows:
            key = windows.digest
            known = self.published.setdefault(key, [])
            if asked[key] == len(known):
                known.append(self.release(windows))
            asked[key] += 1
            return known[asked[key] - 1]

        return publish


def activity_kept(releases: Mapping[str, Release], judges: Sequence[Judge], test: Windows) -> pd.DataFrame:
    """Return how well classifiers that no release uses still tell the public class.

    Parameters
    ----------
    releases : mapping of str to callable
        What publishes windows, by name.
    judges : sequence of Judge
        Independent models, of several kinds if possible: what one kind of network still reads from smoothed
        windows, another may not.
    test : Windows
        Raw test windows.

    Returns
    -------
    pandas.DataFrame
        By release: ``activity`` (mean over judges) with ``low`` and ``high``, ``worst`` (public class), a column
        ``by <kind>`` for each judge's kind of network, ``distortion`` (mean squared change in units of each channel's
        deviation).
    """
    recordings, rows = recording_of(test), {}
    for name, release in releases.items():
        published = release(test)
        truth = judges[0].public.codes(test.public)
        each = [judge.public_model.predict(judge.scaled(published)) == truth for judge in judges]
        right = np.mean(each, axis=0)
        found = share(right, recordings)
        change = judges[0].scaled(published) - judges[0].scaled(test)
        rows[name] = {
            "activity": found.score,
            "low": found.low,
            "high": found.high,
            "worst": min(right[truth == code].mean() for code in np.unique(truth)),
            **{f"by {judge.public_model.kind}": one.mean() for judge, one in zip(judges, each, strict=True)},
            "distortion": float(np.mean(change**2, dtype=np.float64)),
        }
    return pd.DataFrame(rows).T.rename_axis("release")


def strongest(attacks: pd.DataFrame, leave_out: Sequence[str] = ("identity",)) -> pd.DataFrame:
    """Return, for each release, the attacker whose vote over a recording is right most often.

    Parameters
    ----------
    attacks : pandas.DataFrame
        As `attack_all` returns it.
    leave_out : sequence of str
        Attackers of another attribute, whose chance level is another.

    Returns
    -------
    pandas.DataFrame
        By release: ``attacker``, ``vote``, ``vote_low``, ``vote_high``, ``vote_chance``, and the greatest ``accuracy``
        over single windows. The strongest of several is chosen by its test score, so its score flatters the attacker.
    """
    some = attacks[~attacks["attacker"].isin(list(leave_out))]
    best = some.loc[some.groupby("release", sort=False)["vote"].idxmax()].set_index("release")
    columns = ["attacker", "vote", "vote_low", "vote_high", "vote_chance"]
    return best[columns].assign(accuracy=some.groupby("release", sort=False)["accuracy"].max())


def residual_leak(anonymizer: LatentAnonymizer, train: Windows, test: Windows, *, cells: int = 8) -> pd.DataFrame:
    """Return how well the private class is told from what the mean shift keeps: where the leak sits.

    Trees are trained on latents of training windows of known class and judged on those of test windows. Means are taken
    out by the private class that the device *infers*, as in Algorithm 1: by the true one, the residual itself would
    carry it. Where the coin of Modify is fair, z' is the residual and a mean that tells nothing, so no attacker on
    single windows can learn more of the class from z' than there is in the residual.

    Parameters
    ----------
    anonymizer : LatentAnonymizer
        Fitted, with its training latents.
    train, test : Windows
        Raw windows.
    cells : int
        Of the codebook.

    Returns
    -------
    pandas.DataFrame
        By what is kept: the latent z; the residual z - m(y, p), which the paper's mean shift keeps; the residual
        whitened by class, which the transport keeps; the cell of a codebook; chance. ``accuracy``, ``low``, ``high``.
    """
    known = anonymizer.guesses_
    recordings = recording_of(test)
    parts = {part: _residuals(anonymizer, some, cells) for part, some in (("train", train), ("test", test))}
    codes = {part: known.codes(some) for part, some in (("train", train), ("test", test))}
    rows = {}
    for name in parts["train"]:
        right = np.zeros(test.n_windows)
        for code in range(len(known.public.classes)):
            learnt, judged = (codes[part][0] == code for part in ("train", "test"))
            if not judged.any():
                continue
            model = HistGradientBoostingClassifier(random_state=0, max_iter=60)
            model.fit(parts["train"][name][learnt], codes["train"][1][learnt])
            right[judged] = model.predict(parts["test"][name][judged]) == codes["test"][1][judged]
        found = share(right, recordings)
        rows[name] = {"accuracy": found.score, "low": found.low, "high": found.high}
    rows["chance"] = {"accuracy": chance(codes["train"][1], codes["test"][1])}
    return pd.DataFrame(rows).T.rename_axis("told from")


def _residuals(anonymizer: LatentAnonymizer, windows: Windows, cells: int) -> dict[str, np.ndarray]:
    """Return latent, residual, whitened residual and cell of each window, by true public and inferred private class."""
    public = anonymizer.guesses_.codes(windows)[0]
    private = anonymizer.guesses_.private_model.predict(anonymizer.guesses_.scaled(windows))
    z = anonymizer.latents(windows, public)[0].astype(float)
    classes = len(anonymizer.guesses_.private.classes)
    cell = f"cell of {cells}"
    found = {"latent z": z, "residual z - m(y, p)": z.copy(), "whitened residual": z.copy(), cell: z[:, :1].copy()}
    for code in np.unique(public):
        rows = np.flatnonzero(public == code)
        latents, owners = anonymizer.latents_[code]
        known = Codebook(cells).fit(latents.astype(float), owners, classes)
        residual = z[rows] - known["means"][private[rows]]
        white = np.einsum("nij,nj->ni", known["whiten"][private[rows]], residual)
        distance = ((white[:, None, :] - known["centres"][None]) ** 2).sum(axis=2)
        found["residual z - m(y, p)"][rows] = residual
        found["whitened residual"][rows] = white
        found[cell][rows] = distance.argmin(axis=1)[:, None]
    return found
