"""The figures of our own for paper 1: accuracy against identifiability in the re-identification game."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd
from matplotlib import pyplot as plt
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.ticker import MaxNLocator

from compendium.papers.paper1.curve_charts import FAMILIES, LOOKS, LOOKS_OF, MEASURES, PERCENT
from compendium.show.charts import note
from compendium.show.figures import GREY, INK, IRIDESCENT, PAGE, PURPLE, RED, SMALLEST, drawn


@drawn
def accuracy_identifiability(
    subsets: pd.DataFrame, chosen: pd.DataFrame, base: pd.Series, *, printed: pd.DataFrame | None = None
) -> Figure:
    """Draw accuracy and identifiability of every searched subset, and mark the choice at each threshold.

    Parameters
    ----------
    subsets : pandas.DataFrame
        Columns accuracy, identifiability, n_features. Subsets that were not attacked are left out.
    chosen : pandas.DataFrame
        Index threshold; accuracy and identifiability with ``_low`` and ``_high``.
    base : pandas.Series
        All features: accuracy, identifiability, accuracy_chance, identifiability_chance.
    printed : pandas.DataFrame, optional
        The printed values, index threshold.
    """
    shown = subsets.dropna(subset="identifiability")
    fig, axes = plt.subplots(figsize=(PAGE, PAGE * 0.56))
    looks: dict[str, Any] = {"cmap": IRIDESCENT, "s": 14, "lw": 0.3, "ec": INK}
    points = axes.scatter(shown["accuracy"], shown["identifiability"], c=shown["n_features"], **looks)
    _plane(axes, shown, base)
    if printed is not None and len(printed):
        own = printed.drop_duplicates(list(MEASURES))
        axes.plot(*_places(own), "x", ms=5, color=PURPLE, label="printed in the paper", zorder=4)
    ring: dict[str, Any] = {"fmt": "o", "ms": 6, "mfc": "none", "mec": RED, "mew": 1.4, "ecolor": RED, "elinewidth": 1}
    groups = [rows for _, rows in chosen.groupby(list(MEASURES), sort=False)]
    for rows in groups:
        _cross(axes, rows.iloc[0], **ring, zorder=5)
    axes.plot([], [], "o", ms=6, mfc="none", mec=RED, mew=1.4, label="chosen at a threshold, 95 % interval")
    axes.margins(0.06)
    _percent(axes)
    _name_chosen(axes, groups)
    bar = fig.colorbar(points, ax=axes, pad=0.02, shrink=0.85, ticks=MaxNLocator(6, integer=True))
    bar.set_label("number of features")
    bar.outline.set_visible(False)
    fig.legend(loc="outside upper left", ncols=3, columnspacing=1.2, handletextpad=0.5)
    return fig


@drawn
def frontier(sweeps: pd.DataFrame, base: pd.Series) -> Figure:
    """Draw accuracy and identifiability of every setting of every method, with intervals and the common frontier.

    Each panel shows one family of methods, and all other settings in grey.

    Parameters
    ----------
    sweeps : pandas.DataFrame
        Columns method, accuracy and identifiability with ``_low`` and ``_high``.
    base : pandas.Series
        All features: accuracy, identifiability, accuracy_chance, identifiability_chance.
    """
    fig, grid = plt.subplots(2, 3, figsize=(PAGE, PAGE * 0.62), sharex=True, sharey=True)
    legend: dict[str, Any] = {"ls": "", "mfc": "white"}
    looks: dict[str, Any] = {"ms": 4, "mfc": "white", "mew": 0.9, "elinewidth": 0.7, "zorder": 3}
    names: list[str] = []
    for axes, (family, methods) in zip(grid.flat, FAMILIES.items(), strict=False):
        axes.plot(*_places(sweeps), ".", ms=2, color="#BBBBBB", zorder=1, label="other families")
        for method, name in methods.items():
            colour, marker = LOOKS[name]
            rows = sweeps[sweeps["method"] == method]
            if len(rows):
                _cross(axes, rows, fmt=marker, color=colour, ecolor=GREY, **looks)
                names.append(name)
        _plane(axes, sweeps, base)
        axes.set_title(family, fontsize=SMALLEST)
        axes.label_outer()
        _percent(axes)
    handles = [Line2D([], [], color=LOOKS[n][0], marker=LOOKS[n][1], label=n, **legend) for n in dict.fromkeys(names)]
    handles += grid[0, 0].get_legend_handles_labels()[0]
    grid[-1, -1].axis("off")
    grid[-1, -2].set_xlabel(grid[-1, 0].get_xlabel())
    grid[0, -1].tick_params(labelbottom=True)
    grid[-1, -1].legend(handles=handles, loc="upper left", fontsize=SMALLEST)
    return fig


@drawn
def noise_panels(sweeps: pd.DataFrame, base: pd.Series) -> Figure:
    """Draw accuracy and identifiability against epsilon, for noise as printed and for clipped and scaled noise.

    Parameters
    ----------
    sweeps : pandas.DataFrame
        Columns method (dp_printed, dp_sound), epsilon, accuracy and identifiability with ``_low`` and ``_high``.
    base : pandas.Series
        All features without noise: accuracy, identifiability, accuracy_chance, identifiability_chance.
    """
    titles = {
        "dp_printed": "as printed: Laplace(1/ε) on every cell",
        "dp_sound": "sound: clipped and scaled, ε for each row",
    }
    fig, grid = plt.subplots(1, 2, figsize=(PAGE, 2.5), sharey=True)
    for axes, (method, title) in zip(grid, titles.items(), strict=True):
        rows = sweeps[sweeps["method"] == method].sort_values("epsilon")
        for name, (colour, marker) in LOOKS_OF.items():
            axes.fill_between(rows["epsilon"], rows[f"{name}_low"], rows[f"{name}_high"], color=colour, alpha=0.2, lw=0)
            axes.plot(rows["epsilon"], rows[name], color=colour, marker=marker, label=name)
            axes.axhline(base[name], color=colour, lw=0.8, ls="--", label=f"{name} without noise")
            axes.axhline(base[f"{name}_chance"], color=colour, lw=0.9, ls=":", label=f"{name} by chance")
        axes.set(xscale="log", xlabel="ε (log scale)", title=title, ylim=(0, 1.02))
        axes.yaxis.set_major_formatter(PERCENT)
    grid[0].set_ylabel("% of test rows")
    fig.legend(*grid[0].get_legend_handles_labels(), loc="outside upper left", ncols=2, columnspacing=1.2)
    return fig


def _name_chosen(axes: Axes, groups: Sequence[pd.DataFrame]) -> None:
    """Write the thresholds to the lower right of each chosen point; texts of close points are moved apart."""
    axes.autoscale_view()
    (left, right), (low, high) = axes.get_xlim(), axes.get_ylim()
    longest = max(sum(len(f"{threshold:g}, ") for threshold in rows.index) for rows in groups)
    axes.set_xlim(left, right + 0.013 * longest * (right - left))  # a text on the left would cover other points
    placed: list[tuple[float, float]] = []
    box = {"fc": "white", "ec": "none", "pad": 0.6, "alpha": 0.8}
    for rows in sorted(groups, key=lambda rows: (-rows["identifiability"].iloc[0], -rows["accuracy"].iloc[0])):
        x, y = float(rows["accuracy"].iloc[0]), float(rows["identifiability"].iloc[0])
        at = y - 0.03 * (high - low)
        for other_x, other in placed:
            if abs(x - other_x) < 0.16 * (right - left) and abs(at - other) < 0.045 * (high - low):
                at = other - 0.045 * (high - low)
        placed.append((x, at))
        words = ", ".join(f"{threshold:g}" for threshold in rows.index)
        note(axes, words, (x, at), (7, 0), ha="left", va="center", color=INK, bbox=box, zorder=6)


def _percent(axes: Axes) -> None:
    for axis in (axes.xaxis, axes.yaxis):
        axis.set_major_formatter(PERCENT)


def _plane(axes: Axes, points: pd.DataFrame, base: pd.Series) -> None:
    """Draw the frontier of the points, the chance levels, all features as a star, and the axis labels."""
    edge = _frontier(points)
    axes.step(*_places(edge), where="pre", color=INK, lw=1, label="frontier", zorder=2)
    axes.axhline(base["identifiability_chance"], color=INK, lw=0.9, ls=":", label="chance level", zorder=1)
    axes.axvline(base["accuracy_chance"], color=INK, lw=0.9, ls=":", zorder=1)
    axes.plot(*_places(base), "*", ms=11, mfc="white", mec=INK, label="all features", zorder=2)
    axes.set(xlabel="accuracy of the task, % of test rows", ylabel="identifiability, % of test rows")


def _frontier(points: pd.DataFrame) -> pd.DataFrame:
    """Return the points that no other point beats in both measures, sorted by accuracy."""
    ranked = points.sort_values(["identifiability", "accuracy"], ascending=[True, False])
    best: Any = ranked["accuracy"].cummax().shift(fill_value=-np.inf)
    return ranked[ranked["accuracy"] > best].sort_values("accuracy")


def _places(rows: Any) -> tuple[Any, Any]:
    return rows["accuracy"], rows["identifiability"]


def _cross(axes: Axes, rows: Any, **looks: Any) -> None:
    """Draw points with the intervals of both measures."""
    pairs = [[rows[name] - rows[f"{name}_low"], rows[f"{name}_high"] - rows[name]] for name in MEASURES]
    across, up = (np.array(pair, dtype=float).clip(0).reshape(2, -1) for pair in pairs)
    axes.errorbar(*_places(rows), yerr=up, xerr=across, **looks)
