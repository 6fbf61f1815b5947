"""Compare many releases: how much of the activity each keeps, and how much the strongest attacker infers."""

import warnings
from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd

from sensorprivacy.data import Windows
from sensorprivacy.latent.anonymizer import LatentAnonymizer
from sensorprivacy.latent.attack import THROUGH, Publish, Release, mechanism_of, publish, reidentify
from sensorprivacy.latent.attackers import Attacker
from sensorprivacy.latent.inference import PublicModel
from sensorprivacy.latent.levels import LEVELS, share_of_people
from sensorprivacy.progress import tqdm

_COLUMNS = ["release", "attacker", "about", "level", "score", "low", "high", "chance", "above", "n", "auc", "balanced"]
_FAILURES = (ValueError, ArithmeticError, RuntimeError)  # of one attack; the others go on


def attack_all(
    releases: Mapping[str, Release],
    adversaries: Sequence[Attacker],
    train: Windows,
    test: Windows,
    attribute: str,
    *,
    anonymizer: LatentAnonymizer | None = None,
    runs: int = 1,
    share_known: float = 0.5,
    seed: int = 0,
    known_results: pd.DataFrame | None = None,
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
    anonymizer : LatentAnonymizer, optional
        Networks with which adversaries re-encode what a release without an anonymizer of its own publishes.
    runs, share_known, seed : int, float, int
        As for `attack.reidentify`.
    known_results : pandas.DataFrame, optional
        Result of an earlier call with the same windows and options. Its rows are taken instead of attacking again.
    progress : bool
        Show a progress bar.

    Returns
    -------
    pandas.DataFrame
        ``release``, the columns of `attack.Attack.table`, and ``reason``: why an attack failed, or an empty text. A
        failure is a row without scores; the other attacks go on.
    """
    parts, options = [], {"runs": runs, "share_known": share_known, "seed": seed, "progress": False}
    with tqdm(total=len(releases) * len(adversaries), desc="attacks", disable=not progress) as bar:
        for name, release in releases.items():
            published = remembering(release)
            mechanism = mechanism_of(release, anonymizer)
            for adversary in adversaries:
                if not (found := _rows_of(known_results, name, adversary)).empty:
                    parts.append(found)
                    bar.update()
                    continue
                try:
                    found = reidentify(
                        release,
                        train,
                        test,
                        attribute,
                        adversary,
                        mechanism=mechanism,
                        published=published,
                        **options,  # type: ignore[arg-type]
                    ).table.assign(reason="")
                except _FAILURES as error:
                    warnings.warn(f"{adversary.name} on {name}: {error}", stacklevel=2)
                    found = pd.DataFrame([{"attacker": adversary.name, "reason": str(error)}])
                parts.append(found.assign(release=name))
                bar.update()
    table = pd.concat(parts, ignore_index=True)
    return table[["release", *table.columns.drop("release")]]


def _rows_of(results: pd.DataFrame | None, release: str, adversary: Attacker) -> pd.DataFrame:
    """Return the rows of an adversary on a release, also those that infer the attribute through identity."""
    if results is None:
        return pd.DataFrame()
    names = adversary.name, adversary.name + THROUGH
    return results[(results["release"] == release) & results["attacker"].isin(names)]


def remembering(release: Release) -> Publish:
    """Return a function that publishes windows for a number of a draw, and repeats earlier publications."""
    stored: dict[tuple[str, int], Windows] = {}

    def published(windows: Windows, draw: int) -> Windows:
        key = windows.digest, draw
        if key not in stored:
            stored[key] = publish(release, windows, draw)
        return stored[key]

    return published


def activity_kept(releases: Mapping[str, Release], models: Sequence[PublicModel], test: Windows) -> pd.DataFrame:
    """Return how accurately independent classifiers, used by no release, predict the public class.

    Parameters
    ----------
    releases : mapping of str to callable
        Functions that publish windows, by name. A release that states an activity itself (``stated``) is read as it
        states.
    models : sequence of PublicModel
        Independent models, if possible with several kinds of network: smoothed windows that one kind recognizes,
        another may not.
    test : Windows
        Raw test windows.

    Returns
    -------
    pandas.DataFrame
        By release: ``activity`` (mean accuracy of the models) with ``low`` and ``high`` and their unit ``n``, ``worst``
        (the least accuracy among public classes), a column ``by <kind>`` for each model's kind of network,
        ``distortion`` (mean squared change, in units of each channel's deviation), ``reason`` (why a release failed, or
        which judge has the network of a reader that chose what to publish).
    """
    rows = {}
    for name, release in releases.items():
        try:
            rows[name] = _kept(release, models, test)
        except _FAILURES as error:
            warnings.warn(f"{name}: {error}", stacklevel=2)
            rows[name] = {"reason": str(error)}
    table = pd.DataFrame.from_dict(rows, orient="index")
    return table[[*table.columns.drop("reason"), "reason"]].rename_axis("release")


def _kept(release: Release, models: Sequence[PublicModel], test: Windows) -> dict[str, object]:
    truth, raw = models[0].public.codes(test.public), models[0].scaled(test)
    published, stated = publish(release, test, 0), getattr(release, "stated", None)
    if stated is not None:
        each = [stated(test) == test.public.astype(str).to_numpy()] * len(models)
    else:
        each = [model.public_model.predict(model.scaled(published)) == truth for model in models]
    right = np.mean(each, axis=0)
    found = share_of_people(right, test.subject.to_numpy())
    chosen = getattr(release, "anonymizer", None)
    readers = set()
    if chosen is not None and chosen.redraw:
        seconds = [chosen.second_reader] if chosen.second_reader is not None else []
        readers = {model.kind for model in (chosen.models_.public_model, *seconds)}
    alike = sorted(readers & {model.public_model.kind for model in models})
    return {
        "activity": found.score,
        "low": found.low,
        "high": found.high,
        "worst": min(right[truth == code].mean() for code in np.unique(truth)),
        **{f"by {model.public_model.kind}": one.mean() for model, one in zip(models, each, strict=True)},
        "distortion": float(np.mean((models[0].scaled(published) - raw) ** 2, dtype=np.float64)),
        "n": f"{found.n} {found.unit}",
        "reason": f"redraws used a network like this judge: {', '.join(alike)}" if alike else "",
    }


def strongest(attacks: pd.DataFrame) -> pd.DataFrame:
    """Return the strongest attacker of each release, for each attribute and level.

    Parameters
    ----------
    attacks : pandas.DataFrame
        As returned by `attack_all`.

    Returns
    -------
    pandas.DataFrame
        ``release``, ``about`` (the private attribute, or ``subject``: identity), ``level``, ``attacker``, ``score``,
        ``low``, ``high``, ``chance``, ``above``, ``n``, and the greatest ``auc`` and ``balanced`` of any attacker.
        ``high`` is the greatest upper bound of any attacker. The attacker is chosen by its test score, so the score is
        optimistic for the attacker.
    """
    scored = attacks[attacks["score"].notna()] if "score" in attacks else attacks.iloc[:0].reindex(columns=_COLUMNS)
    groups = scored.groupby(["release", "about", "level"], sort=False)
    keys = ["release", "about", "level"]
    best = scored.loc[groups["score"].idxmax()].set_index(keys)
    wide = best[["attacker", "score", "low", "high", "chance", "above", "n"]]
    wide = wide.assign(high=groups["high"].max(), auc=groups["auc"].max(), balanced=groups["balanced"].max())
    return wide.reset_index()


def side_by_side(strongest: pd.DataFrame, attribute: str) -> pd.DataFrame:
    """Return one row per release: the strongest attacker's scores at all levels, for the attribute and identity.

    Parameters
    ----------
    strongest : pandas.DataFrame
        As returned by `strongest`.
    attribute : str
        The private attribute, whose columns come first.

    Returns
    -------
    pandas.DataFrame
        By release, columns such as ``gender, recording``. The last row, ``chance``, has the chance levels.
    """
    columns = [(about, level) for about in dict.fromkeys([attribute, "subject"]) for level in LEVELS]
    names = {"subject": "identity"}
    scores, levels = (
        strongest.pivot_table(index="release", columns=["about", "level"], values=name) for name in ("score", "chance")
    )
    order = list(dict.fromkeys(strongest["release"]))
    kept = [pair for pair in columns if pair in scores.columns]
    table = scores.loc[order, kept]
    table.loc["chance"] = levels[kept].iloc[0]
    table.columns = [f"{names.get(about, about)}, {level}" for about, level in kept]
    return table.rename_axis("release")


def points(kept: pd.DataFrame, strongest: pd.DataFrame, releases: Mapping[str, Release], about: str) -> pd.DataFrame:
    """Return the activity that each release keeps beside the strongest attacker on a recording, for a figure.

    Parameters
    ----------
    kept, strongest : pandas.DataFrame
        As returned by `activity_kept` and `strongest`.
    releases : mapping of str to callable
        The releases.
    about : str
        The private attribute.

    Returns
    -------
    pandas.DataFrame
        ``release``, ``activity``, ``strongest``, ``chance``, ``trivial``; releases that failed are left out.
    """
    asked = strongest[(strongest["about"] == about) & (strongest["level"] == "recording")].set_index("release")
    attacks = pd.DataFrame({"strongest": asked["score"], "chance": asked["chance"]})
    table = kept[["activity"]].join(attacks).dropna()
    trivial = [bool(getattr(releases[str(name)], "trivial", False)) for name in table.index]
    return table.assign(trivial=trivial).reset_index()
