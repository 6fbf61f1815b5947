"""The figures of paper 1: the re-identification game in the plane of accuracy and identifiability."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd
from matplotlib import pyplot as plt
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from sensorprivacy.report.figures import BLUE, GREEN, GREY, INK, IRIDESCENT, PAGE, PURPLE, RED, SMALLEST, drawn

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

_MANY = 5000

# colour and marker together: eleven colours alone could not be told apart
_LOOKS = dict(
    zip(
        PANELS,
        zip(
            (BLUE, BLUE, RED, RED, RED, GREEN, GREEN, GREEN, PURPLE, PURPLE, PURPLE),
            ("o", "s", "o", "s", "^", "o", "s", "^", "o", "s", "^"),
            strict=True,
        ),
        strict=True,
    )
) | {"sparse_pca": (BLUE, "^"), "dp_printed": (INK, "D"), "dp_sound": (INK, "v")}
_NAMES = {method: title.split(" ", 1)[1] for method, title in PANELS.items()} | {
    "sparse_pca": "Sparse PCA",
    "dp_printed": "DP as printed",
    "dp_sound": "DP, sound",
}


@drawn
def accuracy_identifiability(
    subsets: pd.DataFrame,
    chosen: pd.DataFrame,
    base: pd.Series,
    *,
    printed: pd.DataFrame | None = None,
    width: float = PAGE,
) -> Figure:
    """Draw every searched subset in the plane of accuracy and identifiability, with what is chosen at each threshold.

    Parameters
    ----------
    subsets : pandas.DataFrame
        Columns accuracy, identifiability, n_features; subsets that were not attacked are left out.
    chosen : pandas.DataFrame
        Index threshold; accuracy and identifiability with ``_low`` and ``_high``.
    base : pandas.Series
        All features: accuracy, identifiability, accuracy_chance, identifiability_chance.
    printed : pandas.DataFrame, optional
        What the paper prints, index threshold.
    width : float, default 7
        Inches.
    """
    shown = subsets.dropna(subset="identifiability")
    fig, axes = plt.subplots(figsize=(width, width * 0.56))
    many = len(shown) > _MANY  # each point of a vector picture costs its bytes
    looks: dict[str, Any] = {"cmap": IRIDESCENT, "s": 14, "lw": 0.3, "ec": INK, "rasterized": many}
    points = axes.scatter(shown["accuracy"], shown["identifiability"], c=shown["n_features"], **looks)
    edge = _frontier(shown)
    axes.step(edge["accuracy"], edge["identifiability"], where="pre", color=INK, lw=1, label="frontier", zorder=2)
    _chance(axes, base)
    axes.plot(
        base["accuracy"], base["identifiability"], "*", ms=11, mfc="white", mec=INK, label="all features", zorder=5
    )
    if printed is not None and len(printed):
        own = printed.drop_duplicates(["accuracy", "identifiability"])
        axes.plot(
            own["accuracy"], own["identifiability"], "x", ms=5, color=PURPLE, label="printed in the paper", zorder=4
        )
    groups = [rows for _, rows in chosen.groupby(["accuracy", "identifiability"], sort=False)]
    for rows in groups:
        row = rows.iloc[0]
        axes.errorbar(
            row["accuracy"], row["identifiability"], xerr=_arms(row, "accuracy"), yerr=_arms(row, "identifiability"),
            fmt="o", ms=6, mfc="none", mec=RED, mew=1.4, ecolor=RED, elinewidth=1, zorder=5,
        )  # fmt: skip
    axes.plot([], [], "o", ms=6, mfc="none", mec=RED, mew=1.4, label="chosen at a threshold, 95 % interval")
    axes.set_xlabel("accuracy of the task model")
    axes.set_ylabel("identifiability")
    axes.margins(0.06)
    _name_chosen(axes, groups)
    bar = fig.colorbar(points, ax=axes, pad=0.02, shrink=0.85, ticks=MaxNLocator(6, integer=True))
    bar.set_label("features kept")
    bar.outline.set_visible(False)
    fig.legend(loc="outside upper left", ncols=3, columnspacing=1.2, handletextpad=0.5)
    return fig


@drawn
def method_panels(sweeps: pd.DataFrame, base: Mapping[str, float], *, width: float = PAGE) -> Figure:
    """Draw Fig. 2: accuracy loss and identifiability reduction of each method, then all methods compared.

    Parameters
    ----------
    sweeps : pandas.DataFrame
        Columns method, n_features, accuracy, identifiability, relative_effectiveness.
    base : mapping
        accuracy and identifiability on all features.
    width : float, default 7
        Inches.

    Returns
    -------
    matplotlib.figure.Figure
        Sixteen panels, (a) to (p), in the paper's order.
    """
    fig, grid = plt.subplots(4, 4, figsize=(width, width * 1.14))
    panels = grid.ravel()
    shown = sweeps[sweeps["method"].isin(list(PANELS))]
    # the paper's axes end at .4; ours go on where a method loses more
    top = max(0.4, *(float((base[name] - shown[name]).max()) for name in ("accuracy", "identifiability")))
    for axes, (method, title) in zip(panels, PANELS.items(), strict=False):
        _loss_and_reduction(axes, sweeps[sweeps["method"] == method], base, title, top=top)
    numbers = pd.to_numeric(sweeps["relative_effectiveness"], errors="coerce")
    own = sweeps.assign(relative_effectiveness=numbers)
    compared = (
        ("(l) Rel. eff. by features", "n_features", "relative_effectiveness"),
        ("(m) Accuracy by features", "n_features", "accuracy"),
        ("(n) Ident. by features", "n_features", "identifiability"),
        ("(o) Rel. eff. by accuracy", "accuracy", "relative_effectiveness"),
        ("(p) Rel. eff. by ident.", "identifiability", "relative_effectiveness"),
    )
    for axes, (title, x, y) in zip(panels[11:], compared, strict=True):
        for method, (colour, marker) in _LOOKS.items():
            rows = own[own["method"] == method].dropna(subset=[y]).sort_values(x)
            if method in PANELS and len(rows):
                axes.plot(rows[x], rows[y], color=colour, marker=marker, ms=2.6, lw=0.7, mfc="white", mew=0.7)
        axes.set_title(title, fontsize=SMALLEST)
        axes.set_xlabel(x.replace("n_features", "features").replace("_", " "), fontsize=SMALLEST)
        _small(axes)
    handles = [plt.Line2D([], [], color=BLUE, marker="o", label="accuracy loss (left axis)")]
    handles.append(plt.Line2D([], [], color=RED, marker="s", label="identifiability reduction (right axis)"))
    handles += [
        plt.Line2D([], [], color=c, marker=m, mfc="white", lw=0.7, label=_NAMES[k])
        for k, (c, m) in _LOOKS.items()
        if k in PANELS
    ]
    fig.legend(
        handles=handles, loc="outside upper center", ncols=5, fontsize=SMALLEST, columnspacing=1, handlelength=1.6
    )
    return fig


@drawn
def tradeoff_pair(
    sweeps: pd.DataFrame,
    base: Mapping[str, float],
    methods: Sequence[str] = ("hashing", "shap_ratio"),
    *,
    width: float = PAGE,
) -> Figure:
    """Draw Fig. 1: accuracy loss and identifiability reduction of two methods on one scale, side by side.

    Parameters
    ----------
    sweeps, base
        As for :func:`method_panels`.
    methods : sequence of str
        The methods.
    width : float, default 7
        Inches.
    """
    fig, grid = plt.subplots(1, len(methods), figsize=(width, 2.5), squeeze=False)
    top = max(
        (base[name] - sweeps.loc[sweeps["method"].isin(methods), name]).max()
        for name in ("accuracy", "identifiability")
    )
    for axes, letter, method in zip(grid[0], "abcdef", methods, strict=False):
        _loss_and_reduction(
            axes, sweeps[sweeps["method"] == method], base, f"({letter}) {_NAMES[method]}", top=top, small=False
        )
    handles = [plt.Line2D([], [], color=BLUE, marker="o", label="accuracy loss")]
    handles.append(plt.Line2D([], [], color=RED, marker="s", label="identifiability reduction"))
    fig.legend(handles=handles, loc="outside upper left", ncols=2)
    return fig


@drawn
def frontier(sweeps: pd.DataFrame, base: pd.Series, *, width: float = PAGE) -> Figure:
    """Draw every setting of every method in one plane, with intervals, chance levels and the common frontier.

    Parameters
    ----------
    sweeps : pandas.DataFrame
        Columns method, accuracy and identifiability with ``_low`` and ``_high``.
    base : pandas.Series
        All features: accuracy, identifiability, accuracy_chance, identifiability_chance.
    width : float, default 7
        Inches.
    """
    fig, axes = plt.subplots(figsize=(width, width * 0.6))
    for method, (colour, marker) in _LOOKS.items():
        rows = sweeps[sweeps["method"] == method]
        if rows.empty:
            continue
        arms = {"xerr": _arms(rows, "accuracy"), "yerr": _arms(rows, "identifiability")}
        looks: dict[str, Any] = {"ms": 4.5, "mfc": "white", "mew": 1, "ecolor": GREY, "elinewidth": 0.7, "zorder": 3}
        axes.errorbar(
            rows["accuracy"],
            rows["identifiability"],
            fmt=marker,
            color=colour,
            label=_NAMES[method],
            **arms,
            **looks,
        )
    edge = _frontier(sweeps)
    axes.step(edge["accuracy"], edge["identifiability"], where="pre", color=INK, lw=1, zorder=2, label="frontier")
    _chance(axes, base)
    axes.plot(
        base["accuracy"], base["identifiability"], "*", ms=11, mfc="white", mec=INK, label="all features", zorder=5
    )
    axes.set_xlabel("accuracy of the task model")
    axes.set_ylabel("identifiability")
    axes.margins(0.05)
    fig.legend(loc="outside right upper", fontsize=SMALLEST, labelspacing=0.7)
    return fig


@drawn
def noise_panels(sweeps: pd.DataFrame, base: pd.Series, *, width: float = PAGE) -> Figure:
    """Draw accuracy and identifiability over epsilon: noise of one scale as printed, beside clipped and scaled noise.

    Parameters
    ----------
    sweeps : pandas.DataFrame
        Columns method (dp_printed, dp_sound), epsilon, accuracy and identifiability with ``_low`` and ``_high``.
    base : pandas.Series
        All features without noise: accuracy, identifiability, accuracy_chance, identifiability_chance.
    width : float, default 7
        Inches.
    """
    titles = {"dp_printed": "as printed: Laplace(1/ε) on every cell", "dp_sound": "sound: clipped, scaled, ε in all"}
    fig, grid = plt.subplots(1, 2, figsize=(width, 2.5), sharey=True)
    for axes, (method, title) in zip(grid, titles.items(), strict=True):
        rows = sweeps[sweeps["method"] == method].sort_values("epsilon")
        for name, colour, marker in (("accuracy", BLUE, "o"), ("identifiability", RED, "s")):
            axes.fill_between(rows["epsilon"], rows[f"{name}_low"], rows[f"{name}_high"], color=colour, alpha=0.2, lw=0)
            axes.plot(rows["epsilon"], rows[name], color=colour, marker=marker, label=name)
            axes.axhline(base[name], color=colour, lw=0.8, ls="--", label=f"{name} without noise")
            axes.axhline(base[f"{name}_chance"], color=colour, lw=0.9, ls=":", label=f"{name} by chance")
        axes.set_xscale("log")
        axes.set_xlabel("ε")
        axes.set_title(title)
        axes.set_ylim(0, 1.02)
    fig.legend(*grid[0].get_legend_handles_labels(), loc="outside upper left", ncols=2, columnspacing=1.2)
    return fig


def _loss_and_reduction(
    axes: Axes, rows: pd.DataFrame, base: Mapping[str, float], title: str, *, top: float = 0.4, small: bool = True
) -> None:
    """Draw accuracy loss on the left axis and identifiability reduction on the right one, both from 0 to `top`."""
    rows, right = rows.sort_values("n_features"), axes.twinx()
    size = 2.6 if small else 4.5
    for own, name, colour, marker in ((axes, "accuracy", BLUE, "o"), (right, "identifiability", RED, "s")):
        own.plot(rows["n_features"], base[name] - rows[name], color=colour, marker=marker, ms=size, lw=1, clip_on=True)
        own.set_ylim(min(-0.02, -0.04 * top), top * 1.06)
        own.tick_params(axis="y", colors=colour)
        own.yaxis.set_major_locator(MaxNLocator(5, steps=[1, 2, 5, 10]))
    right.spines["right"].set_visible(True)
    axes.set_xlim(left=0)
    axes.set_title(title, fontsize=SMALLEST if small else None)
    axes.set_xlabel("features", fontsize=SMALLEST if small else None)
    if small:
        _small(axes)
        _small(right)


def _name_chosen(axes: Axes, groups: Sequence[pd.DataFrame]) -> None:
    """Write the thresholds to the lower right of each chosen point, on lines of their own where points lie close."""
    axes.autoscale_view()
    (left, right), (low, high) = axes.get_xlim(), axes.get_ylim()
    placed: list[tuple[float, float]] = []
    for rows in sorted(groups, key=lambda rows: (-rows["identifiability"].iloc[0], -rows["accuracy"].iloc[0])):
        x, y = float(rows["accuracy"].iloc[0]), float(rows["identifiability"].iloc[0])
        at = y - 0.03 * (high - low)
        for other_x, other in placed:
            if abs(x - other_x) < 0.16 * (right - left) and abs(at - other) < 0.045 * (high - low):
                at = other - 0.045 * (high - low)
        placed.append((x, at))
        words = ", ".join(f"{threshold:g}" for threshold in rows.index)
        beyond = x > right - (0.025 + 0.013 * len(words)) * (right - left)
        axes.annotate(
            words, (x, at), xytext=(-7 if beyond else 7, 0),
            textcoords="offset points", ha="right" if beyond else "left", va="center", fontsize=SMALLEST, color=INK,
            bbox={"fc": "white", "ec": "none", "pad": 0.6, "alpha": 0.8}, zorder=6,
        )  # fmt: skip


def _small(axes: Axes) -> None:
    axes.tick_params(labelsize=SMALLEST, pad=1.5)
    axes.xaxis.set_major_locator(MaxNLocator(4))


def _chance(axes: Axes, base: pd.Series) -> None:
    """Draw the chance levels: what always answering the most frequent class gives."""
    axes.axhline(base["identifiability_chance"], color=INK, lw=0.9, ls=":", label="chance level", zorder=1)
    axes.axvline(base["accuracy_chance"], color=INK, lw=0.9, ls=":", zorder=1)


def _frontier(points: pd.DataFrame) -> pd.DataFrame:
    """Return the points that no other beats in both measures, by accuracy."""
    ranked = points.sort_values(["identifiability", "accuracy"], ascending=[True, False])
    best: Any = ranked["accuracy"].cummax().shift(fill_value=-np.inf)
    return ranked[ranked["accuracy"] > best].sort_values("accuracy")


def _arms(rows: Any, name: str) -> Any:
    """Return the lengths of an interval's two arms as matplotlib takes them."""
    arms = np.array([rows[name] - rows[f"{name}_low"], rows[f"{name}_high"] - rows[name]], dtype=float).clip(0)
    return arms.reshape(2, -1)
