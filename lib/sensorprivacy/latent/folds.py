"""Judge unseen people: every person is a test person once, and the results of all folds are pooled."""

import warnings
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import pandas as pd

from sensorprivacy.latent.anonymizer import LatentAnonymizer
from sensorprivacy.latent.attack import Attack, Release, mechanism_of, reidentify
from sensorprivacy.latent.attackers import Attacker
from sensorprivacy.latent.frontier import remembering
from sensorprivacy.latent.levels import share_of_people
from sensorprivacy.latent.study import Study
from sensorprivacy.progress import tqdm

Releases = Callable[[Study, LatentAnonymizer], Mapping[str, Release]]


def attack_folds(
    studies: Iterable[Study],
    releases: Releases,
    adversaries: Sequence[Attacker],
    *,
    progress: bool = True,
    **options: Any,
) -> pd.DataFrame:
    """Attack the releases of every fold of people, and pool the results.

    Parameters
    ----------
    studies : iterable of Study
        One for each fold, see `Study.folds`.
    releases : callable
        Returns the releases of a study, by name, given its fitted anonymizer.
    adversaries : sequence of Attacker
        The adversaries. Those on identity infer the private attribute through people who resemble the test person.
    progress : bool
        Show a progress bar.
    **options
        ``runs``, ``share_known`` and ``seed`` of `attack.reidentify`.

    Returns
    -------
    pandas.DataFrame
        As of `frontier.attack_all`, over all people. A fold whose attack failed is left out, with a warning.
    """
    found: dict[str, list[Attack]] = {}
    for study in tqdm(list(studies), "folds of people", disable=not progress):
        anonymizer = study.anonymizer(study.inference_models())
        for name, release in releases(study, anonymizer).items():
            mechanism, published = mechanism_of(release, anonymizer), remembering(release)
            for adversary in adversaries:
                about = study.train, study.test, study.private, adversary
                try:
                    attack = reidentify(
                        release, *about, mechanism=mechanism, published=published, progress=False, **options
                    )
                except (ValueError, ArithmeticError, RuntimeError) as error:
                    warnings.warn(f"{adversary.name} on {name}, {study.variant}: {error}", stacklevel=2)
                    continue
                found.setdefault(name, []).append(attack)
    tables = [pooled_folds(attacks).assign(release=name, reason="") for name, attacks in found.items()]
    table = pd.concat(tables, ignore_index=True)
    return table[["release", *table.columns.drop("release")]]


def pooled_folds(attacks: Sequence[Attack]) -> pd.DataFrame:
    """Return the scores of attacks on several folds of people, over all their people.

    Parameters
    ----------
    attacks : sequence of Attack
        Attacks of any number of attackers, one for each fold. No person is in two folds.

    Returns
    -------
    pandas.DataFrame
        As `Attack.table`. ``score``, its interval and ``chance`` are over all windows, recordings or people; ``auc``
        and ``balanced`` are means over folds, because scores of different models have no common order. ``chance`` is at
        least the share of the most frequent class among all units: whoever is held out alone belongs to the class that
        is then rarer in training, so guessing the more frequent one is nearly always wrong, without any privacy.
    """
    keys = ["attacker", "about", "level"]
    units = pd.concat([attack.units for attack in attacks], ignore_index=True)
    means = pd.concat([attack.table for attack in attacks]).groupby(keys, sort=False)[["auc", "balanced"]].mean()
    rows = []
    for key, part in units.groupby(keys, sort=False):
        attacker, about, level = map(str, key)
        score = share_of_people(part["right"].clip(0, 1).to_numpy(), part["person"].to_numpy())
        chance = max(float(part["guess"].mean()), float(part["truth"].value_counts(normalize=True).max()))
        ends = {"score": score.score, "low": score.low, "high": score.high, "chance": chance}
        shown = {"attacker": attacker, "about": about, "level": level, **ends, "above": score.score - chance}
        rows.append(shown | dict(means.xs((attacker, about, level))) | {"n": f"{score.n} {score.unit}"})
    return pd.DataFrame(rows)
