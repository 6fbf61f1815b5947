"""Choose settings of an anonymizer on validation windows, and repeat the choice with other seeds.

Paper 3 searches a grid over alpha and beta (section 5.2). We also choose the length of the shift and the redraws.
"""

from collections.abc import Sequence
from dataclasses import replace
from itertools import product

import numpy as np
import pandas as pd

from sensorprivacy.data import Windows
from sensorprivacy.latent.anonymizer import LatentAnonymizer
from sensorprivacy.latent.inference import Anonymized, InferenceModels
from sensorprivacy.latent.measures import inference_table
from sensorprivacy.latent.modify import Modify, SeededSource
from sensorprivacy.latent.study import Study
from sensorprivacy.latent.transfers import MeanShift, Transfer
from sensorprivacy.progress import tqdm

SHARES = ["public_before", "public_after", "private_before", "private_after"]


def grid_search(
    study: Study,
    models: InferenceModels,
    *,
    alphas: Sequence[float],
    betas: Sequence[float],
    transfers: Sequence[Transfer] = (MeanShift(),),
) -> pd.DataFrame:
    """Train an anonymizer for every pair of weights, and measure each transfer on validation windows.

    Parameters
    ----------
    study : Study
        Windows and settings; its own alpha and beta do not count. It keeps the networks, so that an interrupted search
        continues.
    models : InferenceModels
        Inference models, shared by all cells of the grid.
    alphas, betas : sequence of float
        Weights of the classification and of the divergence.
    transfers : sequence of Transfer
        Transfers to measure on the same networks.

    Returns
    -------
    pandas.DataFrame
        One row per cell and transfer: ``alpha``, ``beta``, ``transfer``, ``loss`` (the paper's criterion: total loss on
        the validation windows, mean over autoencoders), ``public_after``, ``private_after``, ``worst_public`` and
        ``worst_private`` (over public classes), ``distortion``.
    """
    rows = []
    for alpha, beta in tqdm(list(product(alphas, betas)), "alpha x beta"):
        fitted = replace(study, alpha=float(alpha), beta=float(beta)).anonymizer(models)
        loss = fitted.history_.groupby("public")["validation_total"].last().mean()
        for one in transfers:
            cell = {"alpha": float(alpha), "beta": float(beta), "transfer": one.name, "loss": loss}
            published = fitted.with_(transfer=one).anonymize(study.validation, SeededSource(0))
            rows.append(cell | _measured(models, study.validation, published))
    return pd.DataFrame(rows).drop(columns="public_before")


def _measured(models: InferenceModels, validation: Windows, found: Anonymized) -> dict[str, float]:
    """Return the accuracies on published validation windows, overall and in the worst public class."""
    table = inference_table(models, validation, found.windows)
    classes, overall = table.drop(index="all"), table.loc["all"]
    return {
        **{name: overall[name] for name in ("public_before", "public_after", "private_after")},
        "worst_public": classes["public_after"].min(),
        "worst_private": classes["private_after"].max(),
        "distortion": found.distortion,
    }


def choose_shift(
    fitted: LatentAnonymizer,
    validation: Windows,
    scales: Sequence[float],
    redraws: Sequence[int] = (0,),
    lost: float = 0.02,
) -> tuple[pd.DataFrame, LatentAnonymizer]:
    """Measure longer and shorter shifts of a trained anonymizer on validation windows, and choose one.

    Parameters
    ----------
    fitted : LatentAnonymizer
        Fitted; its `modify` decides where windows are moved.
    validation : Windows
        Windows to choose on. Never use test windows here.
    scales : sequence of float
        Lengths of the shift as multiples of the transfer vector; the paper has 1.
    redraws : sequence of int
        Numbers of redraws of windows whose public class is misread; the paper has 0.
    lost : float
        Greatest acceptable loss of accuracy on the public class.

    Returns
    -------
    table : pandas.DataFrame
        One row per pair: ``shift``, ``redraws``, ``public_before``, ``public_after``, ``private_after``,
        ``worst_public``, ``worst_private``, ``distortion``, ``chosen``.
    chosen : LatentAnonymizer
        The pair with the lowest accuracy on the private class among those that lose no more than `lost`; if all lose
        more, the pair that loses least. It shares the networks of `fitted`.

    Raises
    ------
    ValueError
        If there is no scale or no number of redraws.
    """
    if not scales or not redraws:
        raise ValueError("scales or redraws is empty: give at least the paper's shift, 1, and its redraws, 0")
    rows, candidates, numbers = [], [], sorted(set(redraws))
    for scale in scales:
        moved = fitted.with_(transfer=MeanShift(scale))
        published = moved.publications(validation, numbers, SeededSource(0))
        for redraw, found in zip(numbers, published, strict=True):
            candidates.append(moved.with_(redraw=redraw))
            measured = _measured(fitted.models_, validation, found)
            rows.append({"shift": float(scale), "redraws": redraw} | measured)
    table = with_choice(pd.DataFrame(rows), lost)
    return table, candidates[int(table["chosen"].to_numpy().argmax())]


def with_choice(table: pd.DataFrame, lost: float = 0.02) -> pd.DataFrame:
    """Mark the row with the least private accuracy among those that lose little activity; see `choose_shift`."""
    acceptable = table["public_after"] >= table["public_before"] - lost
    badness = table["private_after"].where(acceptable, np.inf) if acceptable.any() else -table["public_after"]
    return table.assign(chosen=np.arange(len(table)) == badness.to_numpy().argmin())


def repeat_over_seeds(
    study: Study, seeds: Sequence[int], *, modify: Modify, scales: Sequence[float], redraws: Sequence[int]
) -> pd.DataFrame:
    """Train all networks with each seed, and measure the paper's shift and the chosen one on test windows.

    Parameters
    ----------
    study : Study
        Windows and settings. The three parts are the same for all seeds. Networks that exist are not trained again.
    seeds : sequence of int
        Seeds of all trainings and of the sampled z.
    modify : {"deterministic", "probabilistic", "uniform", "constant"}
        As for `LatentAnonymizer`.
    scales, redraws : sequences
        Values from which `choose_shift` chooses for each seed.

    Returns
    -------
    pandas.DataFrame
        One row per ``seed``, ``change`` ("mean shift" or "chosen") and ``public class``, last ``all``: ``shift``,
        ``redraws``, ``public_before``, ``public_after``, ``private_before``, ``private_after``.

    Raises
    ------
    ValueError
        If there is no seed, or a seed is given twice.
    """
    if not seeds or len(set(seeds)) < len(seeds):
        raise ValueError(f"seeds {list(seeds)}: give at least one seed, and each seed once")
    parts = []
    for seed in tqdm(seeds, "seeds"):
        own = study.with_seed(seed)
        models = own.inference_models()
        plain = own.anonymizer(models, modify=modify)
        table, chosen = choose_shift(plain, own.validation, scales, redraws=redraws)
        best = table[table["chosen"]].iloc[0]
        pairs = [("mean shift", plain, 1.0, 0), ("chosen", chosen, best["shift"], best["redraws"])]
        for change, one, shift, redraw in pairs:
            found = inference_table(models, own.test, one.transform(own.test, SeededSource(seed)))[SHARES]
            parts.append(found.reset_index().assign(seed=seed, change=change, shift=shift, redraws=redraw))
    return pd.concat(parts, ignore_index=True)[["seed", "change", "shift", "redraws", "public class", *SHARES]]


def spread_over_seeds(repeats: pd.DataFrame) -> pd.DataFrame:
    """Return mean, lowest and highest share over seeds, by change and public class.

    Parameters
    ----------
    repeats : pandas.DataFrame
        As returned by `repeat_over_seeds`.

    Returns
    -------
    pandas.DataFrame
        Index ``change``, ``public class``. Columns: each share's mean under its own name, and ``_min``, ``_max``;
        ``seeds``.
    """
    groups = repeats.groupby(["change", "public class"], sort=False)
    found = groups[SHARES].agg(["mean", "min", "max"])
    found.columns = found.columns.map("_".join).str.removesuffix("_mean")
    return found.assign(seeds=groups.size())
