"""Tables behind the figures of paper 3: latents in a plane, windows before and after, layers of the networks."""

import numpy as np
import pandas as pd

from sensorprivacy.data import Windows
from sensorprivacy.latent.anonymizer import LatentAnonymizer
from sensorprivacy.latent.modify import SeededSource, bijection_codes, generator_of
from sensorprivacy.latent.networks import layers
from sensorprivacy.latent.transfers import MeanShift, Moving


def latent_picture(
    anonymizer: LatentAnonymizer, windows: Windows, public: str, *, most: int = 1500
) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Return latents of one activity before and after the shift, in the plane that separates the classes best.

    Parameters
    ----------
    anonymizer : LatentAnonymizer
        Fitted.
    windows : Windows
        Windows to show, with their true private classes.
    public : str
        The activity.
    most : int
        Show about this many windows at most.

    Returns
    -------
    points : pandas.DataFrame
        ``panel`` (before, after), ``class``, ``x``, ``y``. The first direction goes through the first two class means;
        the second has the greatest variance at right angles to it.
    means : pandas.DataFrame
        ``class``, ``x``, ``y`` of the stored mean latents.
    """
    models = anonymizer.models_
    code = models.public.classes.index(public)
    rows = np.flatnonzero(models.codes(windows)[0] == code)
    some = windows.take(rows[:: max(1, len(rows) // most)])
    names = models.private.names(models.codes(some)[1])
    z = anonymizer.latents(some, np.full(some.n_windows, code)).astype(float)
    inferred = models.inferred(some)[1]
    target = bijection_codes(anonymizer.bijection, models.private.classes)[inferred]
    transfer, generator = anonymizer.transfer or MeanShift(), generator_of(SeededSource(0))
    moved = transfer.move(anonymizer.statistics_[code], Moving(z, inferred, target), generator)
    centres = anonymizer.statistics_[code]["means"]
    plane = _plane(z, centres)

    def points(places: np.ndarray, classes: object, **columns: str) -> pd.DataFrame:
        x, y = (places @ plane).T
        return pd.DataFrame({**columns, "class": classes, "x": x, "y": y})

    panels = [points(z, names, panel="before"), points(moved, names, panel="after")]
    return pd.concat(panels, ignore_index=True), points(centres, models.private.classes)


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
        ``public``, ``channel``, ``time`` (s), ``original``, ``published``. The window is the one with its class's
        median distortion, neither the best nor the worst.
    """
    names = windows.provenance.get("channels") or [f"channel {at + 1}" for at in range(windows.n_channels)]
    time = np.arange(windows.length) / windows.provenance.get("rate", 1)
    original, changed = windows.values, published.values  # noqa: PD011
    distance = ((original - changed) ** 2).mean(axis=(1, 2))
    parts = []
    for public in sorted(windows.public.unique()):
        rows = np.flatnonzero(windows.public == public)
        at = rows[np.argsort(distance[rows])[len(rows) // 2]]
        for channel, name in enumerate(names):
            columns = {"time": time, "original": original[at, channel], "published": changed[at, channel]}
            parts.append(pd.DataFrame({"public": public, "channel": name, **columns}))
    return pd.concat(parts, ignore_index=True)


def layer_sizes(anonymizer: LatentAnonymizer) -> dict[str, list[tuple[str, int]]]:
    """Return the layers of an autoencoder and of both inference models, read from the networks.

    Returns
    -------
    dict of str to list of (str, int)
        By title: kind and size of each layer. The layers of the autoencoder are those of encoder, latent variables
        (mean, log variance, z), private layer and decoder.
    """
    vae, models = anonymizer.vaes_[0], anonymizer.models_
    given = ("input", int(np.prod(models.shape)))
    latent = [("mean", vae.mean.out_features), ("log variance", vae.log_variance.out_features)]
    latent += [("z", vae.classifier.in_features), ("private", vae.classifier.out_features)]
    *decoder, (_, values) = layers(vae.decoder)
    found = {f"Autoencoder of one activity; its private layer predicts {anonymizer.private} from z":
             [given, *layers(vae.encoder), *latent, *decoder, ("output", values)]}  # fmt: skip
    for name, model in (("activity", models.public_model), (anonymizer.private, models.private_model)):
        *hidden, (_, classes) = layers(model.network_)
        found[f"Inference of {name}"] = [given, *hidden, ("output", classes)]
    return found
