"""The grid search over alpha and beta (paper 3, section 5.2), and over our transfers, kept cell by cell."""

import hashlib
import json
import os
from collections.abc import Sequence
from itertools import product
from pathlib import Path

import numpy as np
import pandas as pd

from sensorprivacy.datasets.types import Windows
from sensorprivacy.latent.anonymizer import LatentAnonymizer
from sensorprivacy.latent.inference import Guesses
from sensorprivacy.latent.measures import inference_table
from sensorprivacy.latent.modify import SeededSource
from sensorprivacy.latent.transfers import MeanShift, Transfer
from sensorprivacy.progress import tqdm


def sweep(
    base: LatentAnonymizer,
    train: Windows,
    validation: Windows,
    guesses: Guesses,
    *,
    alphas: Sequence[float],
    betas: Sequence[float],
    transfers: Sequence[Transfer] = (MeanShift(),),
    folder: Path | None = None,
    progress: bool = True,
) -> pd.DataFrame:
    """Train an anonymizer for every pair of weights, and judge each transfer on windows held back.

    Parameters
    ----------
    base : LatentAnonymizer
        Gives everything but alpha and beta; not changed.
    train, validation : Windows
        Windows learnt from and judged on. Test windows have no place here.
    guesses : Guesses
        Inference models, shared by all cells.
    alphas, betas : sequence of float
        Weights of the classification and of the divergence.
    transfers : sequence of Transfer
        Judged on the same networks.
    folder : pathlib.Path, optional
        Where each cell is kept when it is done, so that a sweep that was cut short goes on where it was.
    progress : bool
        Show a bar.

    Returns
    -------
    pandas.DataFrame
        One row a cell and transfer: ``alpha``, ``beta``, ``transfer``, ``loss`` (the paper's criterion: total loss on
        the validation windows, mean over autoencoders), ``public_after``, ``private_after``, ``worst_public`` and
        ``worst_private`` (over public classes), ``distortion``.
    """
    key = _key(base, train, validation, guesses, transfers)
    parts = []
    cells = list(product(alphas, betas))
    for alpha, beta in tqdm(cells, "alpha x beta", disable=not progress):
        kept = folder / f"{key}-{alpha:g}-{beta:g}.csv" if folder else None
        if kept and kept.is_file():
            parts.append(pd.read_csv(kept))
            continue
        part = _cell(base, train, validation, guesses, alpha, beta, transfers)
        if kept:
            kept.parent.mkdir(parents=True, exist_ok=True)
            fresh = kept.with_suffix(f".{os.getpid()}.part")  # two processes may write the same cell
            part.to_csv(fresh, index=False)
            fresh.replace(kept)
        parts.append(part)
    return pd.concat(parts, ignore_index=True)


def _cell(
    base: LatentAnonymizer,
    train: Windows,
    validation: Windows,
    guesses: Guesses,
    alpha: float,
    beta: float,
    transfers: Sequence[Transfer],
) -> pd.DataFrame:
    fitted = LatentAnonymizer(**{**base.get_params(deep=False), "alpha": alpha, "beta": beta, "transfer": None})
    fitted.fit(train, validation=validation, guesses=guesses, progress=False)
    loss = fitted.history_.groupby("public")["validation_total"].last().mean()
    rows = []
    for transfer in transfers:
        cell = {"alpha": float(alpha), "beta": float(beta), "transfer": transfer.name, "loss": loss}
        rows.append(cell | _judged(fitted.with_(transfer=transfer), validation))
    return pd.DataFrame(rows).drop(columns="public_before")


def _judged(fitted: LatentAnonymizer, validation: Windows) -> dict[str, float]:
    """Return how an anonymizer does on windows held back: over all, the worst public class, the distortion."""
    found = fitted.anonymize(validation, SeededSource(0))
    table = inference_table(fitted.guesses_, validation, found.windows)
    classes, over_all = table.drop(index="all"), table.loc["all"]
    return {
        **{name: over_all[name] for name in ("public_before", "public_after", "private_after")},
        "worst_public": classes["public_after"].min(),
        "worst_private": classes["private_after"].max(),
        "distortion": found.distortion,
    }


def shifts(
    fitted: LatentAnonymizer,
    validation: Windows,
    scales: Sequence[float],
    *,
    redraws: Sequence[int] = (0,),
    lost: float = 0.02,
) -> tuple[pd.DataFrame, LatentAnonymizer]:
    """Judge longer and shorter shifts of a trained anonymizer, and choose one, on windows held back.

    Parameters
    ----------
    fitted : LatentAnonymizer
        Fitted; its `modify` decides where windows are moved.
    validation : Windows
        Windows to choose on. Test windows have no place here.
    scales : sequence of float
        Lengths of the shift as multiples of the transfer vector; 1 is the paper's.
    redraws : sequence of int
        How often a window whose public class is misread is drawn again; 0 is the paper's.
    lost : float
        Share of windows whose public class may be lost at most.

    Returns
    -------
    table : pandas.DataFrame
        One row a pair: ``shift``, ``redraws``, ``public_before``, ``public_after``, ``private_after``,
        ``worst_public``, ``worst_private``, ``distortion``, ``chosen``.
    chosen : LatentAnonymizer
        Shifting so that the private class is told least among those that lose no more than `lost`; if all lose more, so
        that least is lost. It shares the networks of `fitted`.

    Raises
    ------
    ValueError
        If there is no scale or no number of redraws.
    """
    if not scales or not redraws:
        raise ValueError("scales or redraws is empty: give at least the paper's shift, 1, and its redraws, 0")
    rows, candidates = [], []
    for scale, redraw in product(scales, redraws):
        candidates.append(fitted.with_(transfer=MeanShift(scale), redraw=redraw))
        rows.append({"shift": float(scale), "redraws": redraw} | _judged(candidates[-1], validation))
    judged = pd.DataFrame(rows)
    kept = judged["public_after"] >= judged["public_before"] - lost
    told = judged["private_after"].where(kept, np.inf) if kept.any() else -judged["public_after"]
    at = int(told.to_numpy().argmin())
    return judged.assign(chosen=judged.index == at), candidates[at]


def _key(
    base: LatentAnonymizer, train: Windows, validation: Windows, guesses: Guesses, transfers: Sequence[Transfer]
) -> str:
    """Return a digest of all that a cell depends on besides alpha and beta."""
    params = {name: repr(value) for name, value in base.get_params(deep=False).items() if name not in ("alpha", "beta")}
    models = [float(model.probabilities(guesses.scaled(validation.take([0]))).ravel()[0]) for model in _models(guesses)]
    text = json.dumps(
        [params, train.digest, validation.digest, models, [repr(one) for one in transfers]], sort_keys=True
    )
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def _models(guesses: Guesses) -> tuple:
    return guesses.public_model, guesses.private_model
