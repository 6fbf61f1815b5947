"""Tables behind the pictures of paper 3: latents in the plane, windows before and after, layers of the networks."""

import numpy as np
import pandas as pd

from sensorprivacy.datasets.types import Windows
from sensorprivacy.latent.anonymizer import LatentAnonymizer
from sensorprivacy.latent.modify import SeededSource, bijection_codes, generator_of
from sensorprivacy.latent.networks import layers
from sensorprivacy.latent.transfers import MeanShift


def latent_picture(
    anonymizer: LatentAnonymizer, windows: Windows, public: str, *, most: int = 1500
) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Return latents of one activity before and after the transformation, in the plane that tells the classes best.

    Parameters
    ----------
    anonymizer : LatentAnonymizer
        Fitted.
    windows : Windows
        Windows to show; their true private class is what is coloured.
    public : str
        The activity.
    most : int
        Windows shown, at most.

    Returns
    -------
    points : pandas.DataFrame
        ``panel`` (before, after), ``class``, ``x``, ``y``. The first direction runs through the first two class means,
        the second is that of the greatest variance at right angles to it.
    means : pandas.DataFrame
        ``class``, ``x``, ``y`` of the stored mean latents.
    """
    known = anonymizer.guesses_
    code = known.public.classes.index(public)
    rows = np.flatnonzero(known.codes(windows)[0] == code)
    some = windows.take(rows[:: max(1, len(rows) // most)])
    truth = known.codes(some)[1]
    z = anonymizer.latents(some, np.full(some.n_windows, code))[0].astype(float)
    inferred = known.private_model.predict(known.scaled(some))
    target = bijection_codes(anonymizer.bijection, known.private.classes)[inferred]
    transfer, generator = anonymizer.transfer or MeanShift(), generator_of(SeededSource(0))
    moved = transfer.move(anonymizer.statistics_[code], z, inferred, target, generator)
    plane = _plane(z, anonymizer.statistics_[code]["means"])
    names = known.private.names(truth)
    panels = [
        pd.DataFrame({"panel": panel, "class": names, "x": rows_[:, 0], "y": rows_[:, 1]})
        for panel, rows_ in (("before", z @ plane), ("after", moved @ plane))
    ]
    centres = anonymizer.statistics_[code]["means"] @ plane
    means = pd.DataFrame({"class": known.private.classes, "x": centres[:, 0], "y": centres[:, 1]})
    return pd.concat(panels, ignore_index=True), means


def _plane(z: np.ndarray, means: np.ndarray) -> np.ndarray:
    """Return two orthonormal directions, d x 2."""
    first = means[1] - means[0]
    first = first / np.linalg.norm(first)
    rest = z - z.mean(axis=0)
    rest = rest - np.outer(rest @ first, first)
    second = np.linalg.svd(rest, full_matrices=False)[2][0]
    return np.stack([first, second * np.sign(second[np.abs(second).argmax()])], axis=1)


def signals(windows: Windows, published: Windows) -> pd.DataFrame:
    """Return one window of each public class, original and published, sample by sample.

    Returns
    -------
    pandas.DataFrame
        ``public``, ``channel``, ``time`` (s), ``original``, ``published``. The window whose distortion is the median of
        its class's, so that it shows neither the best nor the worst.
    """
    rate = windows.provenance.get("rate", 1)
    names = windows.provenance.get("channels") or [f"channel {at + 1}" for at in range(windows.n_channels)]
    original, changed = windows.values, published.values  # noqa: PD011
    distance = ((original - changed) ** 2).mean(axis=(1, 2))
    parts = []
    for public in sorted(windows.public.unique()):
        rows = np.flatnonzero(windows.public == public)
        at = rows[np.argsort(distance[rows])[len(rows) // 2]]
        for channel, name in enumerate(names):
            time = np.arange(windows.length) / rate
            columns = {"time": time, "original": original[at, channel], "published": changed[at, channel]}
            parts.append(pd.DataFrame({"public": public, "channel": name, **columns}))
    return pd.concat(parts, ignore_index=True)


def layer_sizes(anonymizer: LatentAnonymizer) -> dict[str, list[tuple[str, int]]]:
    """Return the layers of encoder, decoder, classification layer and inference models, read from the networks."""
    vae, known = anonymizer.vaes_[0], anonymizer.guesses_
    values = int(np.prod(known.shape))
    latent = ("latent", vae.mean.out_features)
    return {
        "encoder": [("input", values), *layers(vae.encoder), latent],
        "decoder": [latent, *layers(vae.decoder)],
        "private layer": [latent, *layers(vae.classifier)],
        "inference": [("input", values), *layers(known.public_model.network_)],
    }
