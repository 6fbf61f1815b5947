"""The diagrams of paper 3: the pipeline (Fig. 1) and the networks (Figs. 2, 3, 9 and 10)."""

from collections.abc import Mapping, Sequence
from itertools import product
from typing import Any

import numpy as np
from matplotlib import pyplot as plt
from matplotlib.axes import Axes
from matplotlib.colors import to_rgb
from matplotlib.figure import Figure
from matplotlib.patches import Polygon, Rectangle

from compendium.papers.paper3.charts import plain
from compendium.show.diagrams import from_file
from compendium.show.figures import BLUE, GREY, INK, PAGE, PALE, RED, SMALLEST, YELLOW, drawn

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
    most = np.log(max(size for layers in networks.values() for _, size in layers))
    for title, layers in networks.items():
        axes, columns = grid[title], list[list[tuple[str, int, float, float]]]()
        for kind, size in layers:
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
    axes.text(
        at, middle, str(size), va="center", bbox={"fc": "white", "ec": "none", "pad": 0.6} if hatch else None, **words
    )
    up = 1 if kind in ("mean", "z") else -1
    axes.text(at, middle + up * (tall / 2 + 0.05), kind, va="bottom" if up > 0 else "top", **words)
