"""The same anonymization under several seeds: how far Tables 1 to 3 depend on initial weights and on samples."""

from collections.abc import Sequence

import pandas as pd

from sensorprivacy.latent.measures import inference_table
from sensorprivacy.latent.modify import Modify, SeededSource
from sensorprivacy.latent.study import Study
from sensorprivacy.latent.sweep import shifts
from sensorprivacy.progress import tqdm

SHARES = ["public_before", "public_after", "private_before", "private_after"]


def over_seeds(
    study: Study,
    seeds: Sequence[int],
    *,
    modify: Modify = "deterministic",
    scales: Sequence[float] = (1.0,),
    redraws: Sequence[int] = (0,),
    progress: bool = True,
) -> pd.DataFrame:
    """Train inference models and autoencoders under each seed, and judge the paper's shift and the one chosen.

    Parameters
    ----------
    study : Study
        Windows and settings; the windows of each part are the same under all seeds. What was trained before is taken
        up.
    seeds : sequence of int
        Of all trainings and of the sampled z.
    modify : {"deterministic", "probabilistic", "uniform", "constant"}
        As for `LatentAnonymizer`.
    scales, redraws : sequences
        To choose from on validation windows under each seed anew, see `sweep.shifts`.
    progress : bool
        Show a bar.

    Returns
    -------
    pandas.DataFrame
        One row a ``seed``, ``change`` ("mean shift" or "chosen") and ``public class`` of the test windows, last
        ``all``: ``shift``, ``redraws``, ``public_before``, ``public_after``, ``private_before``, ``private_after``.

    Raises
    ------
    ValueError
        If there is no seed, or one is named twice.
    """
    if not seeds or len(set(seeds)) < len(seeds):
        raise ValueError(f"seeds {list(seeds)}: name at least one, each once")
    parts = []
    for seed in tqdm(seeds, "seeds", disable=not progress):
        own = study.with_seed(seed)
        guesses = own.guesses()
        plain = own.anonymizer(guesses, modify=modify)
        judged, chosen = shifts(plain, own.validation, scales, redraws=redraws)
        taken = judged[judged["chosen"]].iloc[0]
        for change, one, shift, redraw in (
            ("mean shift", plain, 1.0, 0),
            ("chosen", chosen, taken["shift"], taken["redraws"]),
        ):
            table = inference_table(guesses, own.test, one.transform(own.test, SeededSource(seed)))[SHARES]
            parts.append(table.reset_index().assign(seed=seed, change=change, shift=shift, redraws=redraw))
    return pd.concat(parts, ignore_index=True)[["seed", "change", "shift", "redraws", "public class", *SHARES]]


def spread(repeats: pd.DataFrame) -> pd.DataFrame:
    """Return mean, least and greatest share over seeds, by change and public class.

    Parameters
    ----------
    repeats : pandas.DataFrame
        As `over_seeds` returns it.

    Returns
    -------
    pandas.DataFrame
        Index ``change``, ``public class``. Columns: each share's mean under its own name, and ``_min``, ``_max``;
        ``seeds``.
    """
    groups = repeats.groupby(["change", "public class"], sort=False)
    found = groups[SHARES].mean()
    for name in SHARES:
        found[f"{name}_min"], found[f"{name}_max"] = groups[name].min(), groups[name].max()
    order = [column for name in SHARES for column in (name, f"{name}_min", f"{name}_max")]
    return found[order].assign(seeds=groups.size())
