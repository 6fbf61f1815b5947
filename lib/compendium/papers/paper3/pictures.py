"""Tables behind the figures of paper 3, and its diagrams.

The tables hold latents in a plane, windows before and after, and layers of the networks. The diagrams are the pipeline
(Fig. 1) and the networks (Figs. 2, 3, 9 and 10).
"""

from collections.abc import Mapping, Sequence
from itertools import product
from typing import Any

import numpy as np
import pandas as pd
from matplotlib import pyplot as plt
from matplotlib.axes import Axes
from matplotlib.colors import to_rgb
from matplotlib.figure import Figure
from matplotlib.patches import Polygon, Rectangle

from compendium.papers.paper3.charts import plain
from compendium.show.diagrams import from_file
from compendium.show.figures import BLUE, GREY, INK, PAGE, PALE, RED, SMALLEST, YELLOW, drawn
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


_HEIGHTS = {"mean": 0.38, "log variance": -0.38, "z": 0.0, "private": -0.9}  # of a layer's middle
_LAYERS = {"input": (GREY, ""), "output": (GREY, ""), "conv": (RED, "////")}
_LAYERS |= dict.fromkeys(("mean", "log variance", "z"), (YELLOW, "")) | dict.fromkeys(("private",), (RED, ""))


def anonymization_pipeline(public: Sequence[str], private: Sequence[str], modify: str, transfer: str) -> Figure:
    """Draw the anonymization of a window (paper 3, Fig. 1) with the classes and choices of a run.

    Parameters
    ----------
    public, private : sequence of str
        Classes.
    modify, transfer : str
        The two choices of Algorithm 1, in words.
    """
    names = {name: ", ".join(map(plain, classes)) for name, classes in (("public", public), ("private", private))}
    return from_file("pipeline", modify=modify, transfer=transfer, **names)


@drawn
def network_diagrams(networks: Mapping[str, Sequence[tuple[str, int]]]) -> Figure:
    """Draw networks layer by layer, the first one over the whole width (paper 3, Figs. 2, 3, 9, 10).

    Parameters
    ----------
    networks : mapping of str to sequence of (str, int)
        By title: kind and size of each layer, beginning at the input; see `pictures.layer_sizes`. The height of a layer
        is the logarithm of its size.
    """
    first, *others = networks
    fig = plt.figure(figsize=(PAGE, 3.7 if others else 2.0))
    places = fig.add_gridspec(2 if others else 1, len(others) or 1, height_ratios=[2.0, 1.7][: 2 if others else 1])
    grid = {title: fig.add_subplot(places[1, at]) for at, title in enumerate(others)}
    grid[first] = fig.add_subplot(places[0, :])
    most = np.log(max(size for stack in networks.values() for _, size in stack))
    for title, stack in networks.items():
        axes, columns = grid[title], list[list[tuple[str, int, float, float]]]()
        for kind, size in stack:
            box = (kind, size, _HEIGHTS.get(kind, 0.0), 1.4 * (0.12 + 0.88 * np.log(size) / most))
            if kind in ("log variance", "private"):
                columns[-1].append(box)  # beside the mean, and on z
            else:
                columns.append([box])
        for at, column in enumerate(columns):
            for before, after in product(columns[at - 1] if at else [], column):
                if "private" not in (before[0], after[0]):
                    (*_, y0, h0), (*_, y1, h1) = before, after
                    left, right = [(at - 1, y0 - h0 / 2), (at - 1, y0 + h0 / 2)], [(at, y1 + h1 / 2), (at, y1 - h1 / 2)]
                    axes.add_patch(Polygon(left + right, fc=PALE, ec="none", zorder=0))
            for box in column:
                _draw_layer(axes, at, *box)
        axes.set(title=title, xlim=(-0.6, len(columns) - 0.4), ylim=(-1.35, 1.05))
        axes.axis("off")
    return fig


def _draw_layer(axes: Axes, at: int, kind: str, size: int, middle: float, tall: float) -> None:
    """Draw one layer as a box with its size inside and its kind below it, above it for the mean."""
    colour, hatch = _LAYERS.get(kind, (BLUE, ""))
    light = tuple(1 - 0.3 * (1 - part) for part in to_rgb(colour))
    look: dict[str, Any] = {"fc": light, "ec": INK, "hatch": hatch, "lw": 0.8, "zorder": 2}
    axes.add_patch(Rectangle((at - 0.3, middle - tall / 2), 0.6, tall, **look))
    if kind == "private":
        axes.plot([at, at], [middle + tall / 2, _HEIGHTS["z"] - 0.4], color=INK, lw=0.8, zorder=1)
    words: dict[str, Any] = {"ha": "center", "fontsize": SMALLEST, "zorder": 3}
    box = {"fc": "white", "ec": "none", "pad": 0.6} if hatch else None
    axes.text(at, middle, str(size), va="center", bbox=box, **words)
    up = 1 if kind in ("mean", "z") else -1
    axes.text(at, middle + up * (tall / 2 + 0.05), kind, va="bottom" if up > 0 else "top", **words)
