"""The figures of paper 1: accuracy and identifiability in the re-identification game."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd
from matplotlib import pyplot as plt
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.ticker import MaxNLocator

from compendium.show.charts import note
from compendium.show.figures import BLUE, GREEN, GREY, INK, IRIDESCENT, PAGE, PURPLE, RED, SMALLEST, drawn

PANELS = {
    "hashing": "(a) Feature hashing",
    "pca": "(b) PCA",
    "privacy": "(c) Privacy score",
    "utility": "(d) Utility score",
    "tradeoff": "(e) Tradeoff score",
    "shap_ratio": "(f) SHAP by CTV",
    "shap_utility": "(g) SHAP by utility",
    "shap_identifiability": "(h) SHAP by ident.",
    "gini_ratio": "(i) Gini by CTV",
    "gini_utility": "(j) Gini by utility",
    "gini_identifiability": "(k) Gini by ident.",
}
"""The methods of Fig. 2, panels (a) to (k)."""

_COMPARED = {
    "(l) Rel. eff. by features": ("n_features", "relative_effectiveness"),
    "(m) Accuracy by features": ("n_features", "accuracy"),
    "(n) Ident. by features": ("n_features", "identifiability"),
    "(o) Rel. eff. by accuracy": ("accuracy", "relative_effectiveness"),
    "(p) Rel. eff. by ident.": ("identifiability", "relative_effectiveness"),
}  # panels (l) to (p): the columns on the x axis and on the y axis
_MEASURES = ("accuracy", "identifiability")
_LOSS = (("accuracy", BLUE, "o"), ("identifiability", RED, "s"))

# colour and marker together: readers cannot tell eleven colours apart
_COLOURS = (BLUE, BLUE, RED, RED, RED, GREEN, GREEN, GREEN, PURPLE, PURPLE, PURPLE)
_LOOKS = dict(zip(PANELS, zip(_COLOURS, "osos^os^os^", strict=True), strict=True)) | {
    "sparse_pca": (BLUE, "^"),
    "dp_printed": (INK, "D"),
    "dp_sound": (INK, "v"),
}
_NAMES = {method: title.split(" ", 1)[1] for method, title in PANELS.items()} | {
    "sparse_pca": "Sparse PCA",
    "dp_printed": "DP as printed",
    "dp_sound": "DP, sound",
}


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
        own = printed.drop_duplicates(list(_MEASURES))
        axes.plot(*_places(own), "x", ms=5, color=PURPLE, label="printed in the paper", zorder=4)
    ring: dict[str, Any] = {"fmt": "o", "ms": 6, "mfc": "none", "mec": RED, "mew": 1.4, "ecolor": RED, "elinewidth": 1}
    groups = [rows for _, rows in chosen.groupby(list(_MEASURES), sort=False)]
    for rows in groups:
        _cross(axes, rows.iloc[0], **ring, zorder=5)
    axes.plot([], [], "o", ms=6, mfc="none", mec=RED, mew=1.4, label="chosen at a threshold, 95 % interval")
    axes.margins(0.06)
    _name_chosen(axes, groups)
    bar = fig.colorbar(points, ax=axes, pad=0.02, shrink=0.85, ticks=MaxNLocator(6, integer=True))
    bar.set_label("number of features")
    bar.outline.set_visible(False)
    fig.legend(loc="outside upper left", ncols=3, columnspacing=1.2, handletextpad=0.5)
    return fig


@drawn
def method_panels(sweeps: pd.DataFrame, base: Mapping[str, float]) -> Figure:
    """Draw Fig. 2: accuracy loss and identifiability reduction of each method, then a comparison of all methods.

    Parameters
    ----------
    sweeps : pandas.DataFrame
        Columns method, n_features, accuracy, identifiability, relative_effectiveness.
    base : mapping
        Accuracy and identifiability on all features.

    Returns
    -------
    matplotlib.figure.Figure
        Sixteen panels, (a) to (p), in the paper's order.
    """
    fig, grid = plt.subplots(4, 4, figsize=(PAGE, PAGE * 1.14))
    panels = grid.ravel()
    # the paper's axes end at .4; ours extend further if a method loses more
    top = max(0.4, _most_lost(sweeps, base, list(PANELS)))
    for axes, (method, title) in zip(panels, PANELS.items(), strict=False):
        _loss_and_reduction(axes, sweeps[sweeps["method"] == method], base, title, top=top)
    numbers = pd.to_numeric(sweeps["relative_effectiveness"], errors="coerce")
    own = sweeps.assign(relative_effectiveness=numbers)
    looks = {method: look for method, look in _LOOKS.items() if method in PANELS}
    for axes, (title, (x, y)) in zip(panels[11:], _COMPARED.items(), strict=True):
        for method, (colour, marker) in looks.items():
            rows = own[own["method"] == method].dropna(subset=[y]).sort_values(x)
            if len(rows):
                axes.plot(rows[x], rows[y], color=colour, marker=marker, ms=2.6, lw=0.7, mfc="white", mew=0.7)
        axes.set_title(title, fontsize=SMALLEST)
        axes.set_xlabel(x.replace("n_features", "features").replace("_", " "), fontsize=SMALLEST)
        _small(axes)
    handles = _loss_handles()
    handles += [Line2D([], [], color=c, marker=m, mfc="white", lw=0.7, label=_NAMES[k]) for k, (c, m) in looks.items()]
    place: dict[str, Any] = {"loc": "outside upper center", "ncols": 5, "fontsize": SMALLEST}
    fig.legend(handles=handles, columnspacing=1, handlelength=1.6, **place)
    return fig


@drawn
def tradeoff_pair(sweeps: pd.DataFrame, base: Mapping[str, float]) -> Figure:
    """Draw Fig. 1: accuracy loss and identifiability reduction of hashing and of SHAP by CTV, on one scale.

    Parameters
    ----------
    sweeps, base
        As for :func:`method_panels`.
    """
    methods = ("hashing", "shap_ratio")
    fig, grid = plt.subplots(1, len(methods), figsize=(PAGE, 2.5))
    top = _most_lost(sweeps, base, methods)
    for axes, letter, method in zip(grid, "ab", methods, strict=True):
        rows = sweeps[sweeps["method"] == method]
        _loss_and_reduction(axes, rows, base, f"({letter}) {_NAMES[method]}", top=top, small=False)
    fig.legend(handles=_loss_handles(), loc="outside upper left", ncols=2)
    return fig


@drawn
def frontier(sweeps: pd.DataFrame, base: pd.Series) -> Figure:
    """Draw accuracy and identifiability of every setting of every method, with intervals and the common frontier.

    Parameters
    ----------
    sweeps : pandas.DataFrame
        Columns method, accuracy and identifiability with ``_low`` and ``_high``.
    base : pandas.Series
        All features: accuracy, identifiability, accuracy_chance, identifiability_chance.
    """
    fig, axes = plt.subplots(figsize=(PAGE, PAGE * 0.6))
    looks: dict[str, Any] = {"ms": 4.5, "mfc": "white", "mew": 1, "ecolor": GREY, "elinewidth": 0.7, "zorder": 3}
    for method, (colour, marker) in _LOOKS.items():
        rows = sweeps[sweeps["method"] == method]
        if len(rows):
            _cross(axes, rows, fmt=marker, color=colour, label=_NAMES[method], **looks)
    _plane(axes, sweeps, base)
    axes.margins(0.05)
    fig.legend(loc="outside right upper", fontsize=SMALLEST, labelspacing=0.7)
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
    titles = {"dp_printed": "as printed: Laplace(1/ε) on every cell", "dp_sound": "sound: clipped, scaled, ε in all"}
    fig, grid = plt.subplots(1, 2, figsize=(PAGE, 2.5), sharey=True)
    for axes, (method, title) in zip(grid, titles.items(), strict=True):
        rows = sweeps[sweeps["method"] == method].sort_values("epsilon")
        for name, colour, marker in _LOSS:
            axes.fill_between(rows["epsilon"], rows[f"{name}_low"], rows[f"{name}_high"], color=colour, alpha=0.2, lw=0)
            axes.plot(rows["epsilon"], rows[name], color=colour, marker=marker, label=name)
            axes.axhline(base[name], color=colour, lw=0.8, ls="--", label=f"{name} without noise")
            axes.axhline(base[f"{name}_chance"], color=colour, lw=0.9, ls=":", label=f"{name} by chance")
        axes.set(xscale="log", xlabel="ε", title=title, ylim=(0, 1.02))
    fig.legend(*grid[0].get_legend_handles_labels(), loc="outside upper left", ncols=2, columnspacing=1.2)
    return fig


def _most_lost(sweeps: pd.DataFrame, base: Mapping[str, float], methods: Sequence[str]) -> float:
    """Return the largest loss of accuracy or identifiability among some methods."""
    rows = sweeps[sweeps["method"].isin(methods)]
    return max(float((base[name] - rows[name]).max()) for name in _MEASURES)


def _loss_handles() -> list[Line2D]:
    names = ("accuracy loss", "identifiability reduction")
    return [Line2D([], [], color=c, marker=m, label=name) for name, (_, c, m) in zip(names, _LOSS, strict=True)]


def _loss_and_reduction(
    axes: Axes, rows: pd.DataFrame, base: Mapping[str, float], title: str, *, top: float, small: bool = True
) -> None:
    """Draw accuracy loss and identifiability reduction over the number of features, from 0 to `top`."""
    rows = rows.sort_values("n_features")
    for name, colour, marker in _LOSS:
        looks: dict[str, Any] = {"color": colour, "marker": marker, "ms": 2.6 if small else 4.5}
        axes.plot(rows["n_features"], base[name] - rows[name], lw=1, **looks)
    axes.yaxis.set_major_locator(MaxNLocator(5, steps=[1, 2, 5, 10]))
    axes.set(xlim=(0, None), ylim=(min(-0.02, -0.04 * top), top * 1.06))
    axes.set_title(title, fontsize=SMALLEST if small else None)
    axes.set_xlabel("features", fontsize=SMALLEST if small else None)
    if small:
        _small(axes)


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


def _small(axes: Axes) -> None:
    axes.tick_params(labelsize=SMALLEST, pad=1.5)
    axes.xaxis.set_major_locator(MaxNLocator(4))


def _plane(axes: Axes, points: pd.DataFrame, base: pd.Series) -> None:
    """Draw the frontier of the points, the chance levels, all features as a star, and the axis labels."""
    edge = _frontier(points)
    axes.step(*_places(edge), where="pre", color=INK, lw=1, label="frontier", zorder=2)
    axes.axhline(base["identifiability_chance"], color=INK, lw=0.9, ls=":", label="chance level", zorder=1)
    axes.axvline(base["accuracy_chance"], color=INK, lw=0.9, ls=":", zorder=1)
    axes.plot(*_places(base), "*", ms=11, mfc="white", mec=INK, label="all features", zorder=5)
    axes.set(xlabel="accuracy of the task model", ylabel="identifiability")


def _frontier(points: pd.DataFrame) -> pd.DataFrame:
    """Return the points that no other point beats in both measures, sorted by accuracy."""
    ranked = points.sort_values(["identifiability", "accuracy"], ascending=[True, False])
    best: Any = ranked["accuracy"].cummax().shift(fill_value=-np.inf)
    return ranked[ranked["accuracy"] > best].sort_values("accuracy")


def _places(rows: Any) -> tuple[Any, Any]:
    return rows["accuracy"], rows["identifiability"]


def _cross(axes: Axes, rows: Any, **looks: Any) -> None:
    """Draw points with the intervals of both measures."""
    arms = [
        np.array([rows[name] - rows[f"{name}_low"], rows[f"{name}_high"] - rows[name]], dtype=float).clip(0)
        for name in _MEASURES
    ]
    axes.errorbar(*_places(rows), yerr=arms[1].reshape(2, -1), xerr=arms[0].reshape(2, -1), **looks)
