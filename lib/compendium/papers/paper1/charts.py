"""The figures of paper 1: accuracy and identifiability in the re-identification game."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd
from matplotlib import pyplot as plt
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.ticker import FuncFormatter, MaxNLocator

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
    "l": ("n_features", "relative_effectiveness"),
    "m": ("n_features", "accuracy"),
    "n": ("n_features", "identifiability"),
    "o": ("accuracy", "relative_effectiveness"),
    "p": ("identifiability", "relative_effectiveness"),
}  # panels (l) to (p): the columns on the x axis and on the y axis
_AXES = {
    "n_features": "features",
    "relative_effectiveness": "relative\neffectiveness",
    "accuracy": "accuracy, % of rows",
    "identifiability": "identifiability, % of rows",
}
_MEASURES = ("accuracy", "identifiability")
_LOSS = {"accuracy_loss": (BLUE, "o"), "identifiability_reduction": (RED, "s")}
_LOOKS_OF = dict(zip(_MEASURES, _LOSS.values(), strict=True))

_PERCENT = FuncFormatter(lambda share, _: f"{100 * share:.0f}")

# one colour and one marker for each order by which methods rank features, the same in every family
_ORDERS = {"by utility": (GREEN, "^"), "by identifiability": (PURPLE, "v"), "by both (CTV)": ("#DDAA33", "o")}
_OTHERS = {"hashing": ("#009988", "s"), "PCA": (INK, "D"), "sparse PCA": (GREY, "P")}
_NOISES = {"noise as printed": ("#882255", "X"), "noise, sound": (INK, "*")}
_LOOKS = _ORDERS | _OTHERS | _NOISES
_ENDS = ("utility", "identifiability", "ratio")
_FAMILIES = {
    "Scores of information": {"utility": "by utility", "privacy": "by identifiability", "tradeoff": "by both (CTV)"},
    "SHAP": {f"shap_{end}": order for end, order in zip(_ENDS, _ORDERS, strict=True)},
    "Gini": {f"gini_{end}": order for end, order in zip(_ENDS, _ORDERS, strict=True)},
    "Rewriting": {"hashing": "hashing", "pca": "PCA", "sparse_pca": "sparse PCA"},
    "Differential privacy": {"dp_printed": "noise as printed", "dp_sound": "noise, sound"},
}
"""The methods by family, each with a key of `_LOOKS`."""

# printed points are pale and wide, ours crisp and narrow: both cues survive in grey
_PRINTED: dict[str, Any] = {"lw": 2.4, "alpha": 0.4, "ms": 4.5, "mew": 0, "zorder": 2}
_MANY = 100  # a series of more points is drawn by running medians in (l)
_OURS: dict[str, Any] = {"lw": 0.7, "ms": 3, "mew": 0.7, "mfc": "white", "zorder": 3}


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
    _percent(axes)
    _name_chosen(axes, groups)
    bar = fig.colorbar(points, ax=axes, pad=0.02, shrink=0.85, ticks=MaxNLocator(6, integer=True))
    bar.set_label("number of features")
    bar.outline.set_visible(False)
    fig.legend(loc="outside upper left", ncols=3, columnspacing=1.2, handletextpad=0.5)
    return fig


@drawn
def method_panels(
    ours: pd.DataFrame | None = None, printed: pd.DataFrame | None = None, panels: Mapping[str, str] = PANELS
) -> Figure:
    """Draw Fig. 2, (a) to (k): accuracy loss and identifiability reduction of each method, on one scale.

    Parameters
    ----------
    ours, printed : pandas.DataFrame, optional
        Columns method, n_features, accuracy_loss, identifiability_reduction. The printed points are as
        `published.published_curves` returns them.
    panels : mapping of str to str
        The methods to draw, and the title of each panel.
    """
    sources = _sources(ours, printed, panels)
    lines = -(-len(panels) // 4)
    fig, grid = plt.subplots(lines, 4, figsize=(PAGE, 0.6 + 1.6 * lines), sharey=True, squeeze=False)
    for axes, (method, title) in zip(grid.flat, panels.items(), strict=False):
        _loss_and_reduction(axes, sources, method, title)
        _small(axes)
    for axes in grid.flat[len(panels) :]:
        axes.remove()
    for axes in grid[:, 0]:
        axes.set_ylabel("percentage points", fontsize=SMALLEST)
    fig.legend(handles=_loss_handles(sources), loc="outside upper left", ncols=2)
    return fig


@drawn
def compared_panels(ours: pd.DataFrame | None = None, printed: pd.DataFrame | None = None) -> Figure:
    """Draw Fig. 2, (l) to (p): relative effectiveness, accuracy and identifiability of all methods.

    Each panel of the paper is a row here, with one part for each family of methods. In (o) and (p) a dotted line shows
    the value with all features: right of it, the value rose.

    Parameters
    ----------
    ours, printed : pandas.DataFrame, optional
        As for :func:`method_panels`, with the columns accuracy, identifiability, relative_effectiveness (texts are
        left out).
    """
    sources = _sources(ours, printed, PANELS)
    families = dict(list(_FAMILIES.items())[:4])
    fig, grid = plt.subplots(len(_COMPARED), 4, figsize=(PAGE, 8), sharey="row", sharex=False)
    for line, (letter, (x, y)) in zip(grid, _COMPARED.items(), strict=True):
        for axes, (family, methods) in zip(line, families.items(), strict=True):
            for source, looks in sources:
                for method, name in methods.items():
                    rows = source[source["method"] == method].sort_values(x, kind="stable")
                    if letter == "l" and len(rows) > _MANY:
                        rows[y] = rows[y].rolling(len(rows) // 20, center=True, min_periods=1).median()
                    colour, marker = _LOOKS[name]
                    every = (
                        max(1, len(rows) // 8) if x == "n_features" and (looks is _PRINTED or len(rows) > _MANY) else 1
                    )
                    style = looks | ({} if x == "n_features" else {"ls": "", "ms": 3})
                    axes.plot(rows[x], rows[y], color=colour, marker=marker, markevery=every, **style)
                if x != "n_features" and len(source):
                    axes.axvline(_base(source, x), color=INK, lw=0.8, ls=":", alpha=looks.get("alpha"), zorder=1)
            axes.set_xlabel(_AXES[x], fontsize=SMALLEST)
            _small(axes)
            _say_if_empty(axes, sources, methods)
            for axis, name in ((axes.xaxis, x), (axes.yaxis, y)):
                if name in _MEASURES:
                    axis.set_major_formatter(_PERCENT)
            if letter == "l":
                axes.set_title(family, fontsize=SMALLEST)
        line[0].set_ylabel(f"({letter}) {_AXES[y]}".replace(", ", ",\n"), fontsize=SMALLEST)
    for line in grid[3:]:  # one scale for all families; features have others
        limits = [end for axes in line for end in axes.get_xlim()]
        plt.setp(line, xlim=(min(limits), max(limits)))
    dense = max(len(rows) for source, _ in sources for _, rows in source.groupby("method")) > _MANY
    names = [name for methods in families.values() for method, name in methods.items() if _has(sources, method)]
    handles = _handles(dict.fromkeys(names), sources)
    if dense:
        handles.append(Line2D([], [], ls="", label=f"(l), series of over {_MANY} sizes: medians of 5 %"))
    fig.legend(handles=handles, loc="outside upper left", ncols=4, fontsize=SMALLEST)
    return fig


@drawn
def tradeoff_pair(ours: pd.DataFrame | None = None, printed: pd.DataFrame | None = None) -> Figure:
    """Draw Fig. 1: accuracy loss and identifiability reduction of hashing and of SHAP by CTV, on one scale.

    Parameters
    ----------
    ours, printed
        As for :func:`method_panels`.
    """
    methods = {"hashing": "(a) Feature hashing", "shap_ratio": "(b) SHAP by CTV"}
    sources = _sources(ours, printed, methods)
    fig, grid = plt.subplots(1, len(methods), figsize=(PAGE, 2.7), sharey=True)
    for axes, (method, title) in zip(grid, methods.items(), strict=True):
        _loss_and_reduction(axes, sources, method, title)
    grid[0].set_ylabel("percentage points")
    fig.legend(handles=_loss_handles(sources), loc="outside upper left", ncols=2)
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
    looks: dict[str, Any] = {"ms": 4, "mfc": "white", "mew": 0.9, "elinewidth": 0.7, "zorder": 3}
    names: list[str] = []
    for axes, (family, methods) in zip(grid.flat, _FAMILIES.items(), strict=False):
        axes.plot(*_places(sweeps), ".", ms=2, color="#BBBBBB", zorder=1, label="other families")
        for method, name in methods.items():
            colour, marker = _LOOKS[name]
            rows = sweeps[sweeps["method"] == method]
            if len(rows):
                _cross(axes, rows, fmt=marker, color=colour, ecolor=GREY, **looks)
                names.append(name)
        _plane(axes, sweeps, base)
        axes.set_title(family, fontsize=SMALLEST)
        axes.label_outer()
        _percent(axes)
    handles = [
        Line2D([], [], color=c, marker=m, ls="", mfc="white", label=n)
        for n in dict.fromkeys(names)
        for c, m in [_LOOKS[n]]
    ]
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
        for name, (colour, marker) in _LOOKS_OF.items():
            axes.fill_between(rows["epsilon"], rows[f"{name}_low"], rows[f"{name}_high"], color=colour, alpha=0.2, lw=0)
            axes.plot(rows["epsilon"], rows[name], color=colour, marker=marker, label=name)
            axes.axhline(base[name], color=colour, lw=0.8, ls="--", label=f"{name} without noise")
            axes.axhline(base[f"{name}_chance"], color=colour, lw=0.9, ls=":", label=f"{name} by chance")
        axes.set(xscale="log", xlabel="ε (log scale)", title=title, ylim=(0, 1.02))
        axes.yaxis.set_major_formatter(_PERCENT)
    grid[0].set_ylabel("% of test rows")
    fig.legend(*grid[0].get_legend_handles_labels(), loc="outside upper left", ncols=2, columnspacing=1.2)
    return fig


def _sources(
    ours: pd.DataFrame | None, printed: pd.DataFrame | None, methods: Iterable[str]
) -> list[tuple[pd.DataFrame, dict[str, Any]]]:
    """Return the points of the methods that each source has, with their looks; texts become missing numbers."""
    found = []
    for points, looks in ((printed, _PRINTED), (ours, _OURS)):
        if points is not None and len(points):
            own = points[points["method"].isin(list(methods))]
            if "relative_effectiveness" in own:
                numbers = pd.to_numeric(own["relative_effectiveness"], errors="coerce")
                own = own.assign(relative_effectiveness=numbers)
            found.append((own, looks))
    return found


def _has(sources: Sequence[tuple[pd.DataFrame, Any]], method: str) -> bool:
    return any((points["method"] == method).any() for points, _ in sources)


def _say_if_empty(axes: Axes, sources: Sequence[tuple[pd.DataFrame, Any]], methods: Iterable[str]) -> None:
    if not any(_has(sources, method) for method in methods):
        axes.text(0.5, 0.5, "not run by the authors", ha="center", transform=axes.transAxes, fontsize=SMALLEST)
        axes.tick_params(axis="x", labelbottom=False, length=0)


def _base(points: pd.DataFrame, measure: str) -> float:
    """Return a measure on all features, from a point and its change."""
    change = {"accuracy": "accuracy_loss", "identifiability": "identifiability_reduction"}[measure]
    return float((points[measure] + points[change]).iloc[0])


def _handles(names: Iterable[str], sources: Sequence[tuple[Any, dict[str, Any]]]) -> list[Line2D]:
    """Return the legend: what colours and markers mean, then what pale and crisp means."""
    words = {id(_PRINTED): "printed in the paper (pale)", id(_OURS): "ours (crisp)"}
    handles = [Line2D([], [], color=c, marker=m, label=name, **_OURS) for name in names for c, m in [_LOOKS[name]]]
    return handles + [Line2D([], [], color=INK, label=words[id(looks)], **looks) for _, looks in sources]


def _loss_handles(sources: Sequence[tuple[Any, dict[str, Any]]]) -> list[Line2D]:
    """Return the legend of losses: each measure of each source."""
    words = {id(_PRINTED): "printed", id(_OURS): "ours"}
    return [
        Line2D([], [], color=c, marker=m, label=f"{name.replace('_', ' ')}, {words[id(looks)]}", **looks)
        for _, looks in sources
        for name, (c, m) in _LOSS.items()
    ]


def _loss_and_reduction(
    axes: Axes, sources: Sequence[tuple[pd.DataFrame, dict[str, Any]]], method: str, title: str
) -> None:
    """Draw accuracy loss and identifiability reduction over the number of features."""
    axes.axhline(0, color=INK, lw=0.5, zorder=1)
    for points, looks in sources:
        rows = points[points["method"] == method].sort_values("n_features", kind="stable")
        every = max(1, len(rows) // 8) if looks is _PRINTED else 1
        for name, (colour, marker) in _LOSS.items():
            axes.plot(rows["n_features"], 100 * rows[name], color=colour, marker=marker, markevery=every, **looks)
    _say_if_empty(axes, sources, [method])
    axes.yaxis.set_major_locator(MaxNLocator(5, steps=[1, 2, 5, 10]))
    axes.set_title(title, fontsize=SMALLEST)
    axes.set_xlabel("features", fontsize=SMALLEST)


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
    axes.xaxis.set_major_locator(MaxNLocator(4, integer=True))


def _percent(axes: Axes) -> None:
    for axis in (axes.xaxis, axes.yaxis):
        axis.set_major_formatter(_PERCENT)


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
    arms = [
        np.array([rows[name] - rows[f"{name}_low"], rows[f"{name}_high"] - rows[name]], dtype=float).clip(0)
        for name in _MEASURES
    ]
    axes.errorbar(*_places(rows), yerr=arms[1].reshape(2, -1), xerr=arms[0].reshape(2, -1), **looks)
