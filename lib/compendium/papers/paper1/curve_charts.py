"""Figs. 1 and 2 of paper 1: the curves of every method, printed ones and ours, and the looks of methods."""

from collections.abc import Iterable, Mapping
from typing import Any

import pandas as pd
from matplotlib import pyplot as plt
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.ticker import FuncFormatter, MaxNLocator

from compendium.show.figures import BLUE, GREEN, GREY, INK, PAGE, PURPLE, RED, SMALLEST, drawn

Points = pd.DataFrame | None  # points of the curves, if there are any
Sources = list[tuple[pd.DataFrame, dict[str, Any]]]  # points, each with their looks

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
MEASURES = ("accuracy", "identifiability")
_LOSS = {"accuracy_loss": (BLUE, "o"), "identifiability_reduction": (RED, "s")}
LOOKS_OF = dict(zip(MEASURES, _LOSS.values(), strict=True))

PERCENT = FuncFormatter(lambda share, _: f"{100 * share:.0f}")

# one colour and one marker for each order by which methods rank features, the same in every family
_ORDERS = {"by utility": (GREEN, "^"), "by identifiability": (PURPLE, "v"), "by both (CTV)": ("#DDAA33", "o")}
_OTHERS = {"hashing": ("#009988", "s"), "PCA": (INK, "D"), "sparse PCA": (GREY, "P")}
_NOISES = {"noise as printed": ("#882255", "X"), "noise, sound": (INK, "*")}
LOOKS = _ORDERS | _OTHERS | _NOISES
_ENDS = ("utility", "identifiability", "ratio")
FAMILIES = {
    "Scores of information": {"utility": "by utility", "privacy": "by identifiability", "tradeoff": "by both (CTV)"},
    "SHAP": {f"shap_{end}": order for end, order in zip(_ENDS, _ORDERS, strict=True)},
    "Gini": {f"gini_{end}": order for end, order in zip(_ENDS, _ORDERS, strict=True)},
    "Rewriting": {"hashing": "hashing", "pca": "PCA", "sparse_pca": "sparse PCA"},
    "Differential privacy": {"dp_printed": "noise as printed", "dp_sound": "noise, sound"},
}
"""The methods by family, each with a key of `LOOKS`."""

# printed points are pale and wide, ours crisp and narrow: both cues survive in grey
_PRINTED: dict[str, Any] = {"lw": 2.4, "alpha": 0.4, "ms": 4.5, "mew": 0, "zorder": 2}
_MANY = 100  # a series of more points is drawn by running medians in (l)
_OURS: dict[str, Any] = {"lw": 0.7, "ms": 3, "mew": 0.7, "mfc": "white", "zorder": 3}


@drawn
def method_panels(ours: Points = None, printed: Points = None, panels: Mapping[str, str] = PANELS) -> Figure:
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
def compared_panels(ours: Points = None, printed: Points = None) -> Figure:
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
    families = dict(list(FAMILIES.items())[:4])
    fig, grid = plt.subplots(len(_COMPARED), 4, figsize=(PAGE, 8), sharey="row", sharex=False)
    for line, (letter, (x, y)) in zip(grid, _COMPARED.items(), strict=True):
        for axes, (family, methods) in zip(line, families.items(), strict=True):
            for source, looks in sources:
                for method, name in methods.items():
                    rows = source[source["method"] == method].sort_values(x, kind="stable")
                    if letter == "l" and len(rows) > _MANY:
                        rows[y] = rows[y].rolling(len(rows) // 20, center=True, min_periods=1).median()
                    colour, marker = LOOKS[name]
                    sparse = x == "n_features" and (looks is _PRINTED or len(rows) > _MANY)
                    every = max(1, len(rows) // 8) if sparse else 1
                    style = looks | ({} if x == "n_features" else {"ls": "", "ms": 3})
                    axes.plot(rows[x], rows[y], color=colour, marker=marker, markevery=every, **style)
                if x != "n_features" and len(source):
                    axes.axvline(_base(source, x), color=INK, lw=0.8, ls=":", alpha=looks.get("alpha"), zorder=1)
            axes.set_xlabel(_AXES[x], fontsize=SMALLEST)
            _small(axes)
            _say_if_empty(axes, sources, methods)
            for axis, name in ((axes.xaxis, x), (axes.yaxis, y)):
                if name in MEASURES:
                    axis.set_major_formatter(PERCENT)
            if letter == "l":
                axes.set_title(family, fontsize=SMALLEST)
        line[0].set_ylabel(f"({letter}) {_AXES[y]}".replace(", ", ",\n"), fontsize=SMALLEST)
    for line in grid[3:]:  # one scale for all families; features have others
        limits = [end for axes in line for end in axes.get_xlim()]
        margin = 0.03 * (max(limits) - min(limits))  # a marker at the end of another family's scale is whole
        plt.setp(line, xlim=(min(limits) - margin, max(limits) + margin))
    dense = max(len(rows) for source, _ in sources for _, rows in source.groupby("method")) > _MANY
    names = [name for methods in families.values() for method, name in methods.items() if _has(sources, method)]
    handles = _handles(dict.fromkeys(names), sources)
    if dense:
        handles.append(Line2D([], [], ls="", label=f"(l), series of over {_MANY} sizes: medians of 5 %"))
    fig.legend(handles=handles, loc="outside upper left", ncols=4, fontsize=SMALLEST)
    return fig


@drawn
def tradeoff_pair(ours: Points = None, printed: Points = None) -> Figure:
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


def _sources(ours: Points, printed: Points, methods: Iterable[str]) -> Sources:
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


def _has(sources: Sources, method: str) -> bool:
    return any((points["method"] == method).any() for points, _ in sources)


def _say_if_empty(axes: Axes, sources: Sources, methods: Iterable[str]) -> None:
    if not any(_has(sources, method) for method in methods):
        axes.text(0.5, 0.5, "not run by the authors", ha="center", transform=axes.transAxes, fontsize=SMALLEST)
        axes.tick_params(axis="x", labelbottom=False, length=0)


def _base(points: pd.DataFrame, measure: str) -> float:
    """Return a measure on all features, from a point and its change."""
    change = {"accuracy": "accuracy_loss", "identifiability": "identifiability_reduction"}[measure]
    return float((points[measure] + points[change]).iloc[0])


def _handles(names: Iterable[str], sources: Sources) -> list[Line2D]:
    """Return the legend: what colours and markers mean, then what pale and crisp means, except for ours alone."""
    words = {id(_PRINTED): "printed in the paper (pale)", id(_OURS): "ours (crisp)"}
    handles = [Line2D([], [], color=c, marker=m, label=name, **_OURS) for name in names for c, m in [LOOKS[name]]]
    named = [looks for _, looks in sources if len(sources) > 1 or looks is _PRINTED]
    return handles + [Line2D([], [], color=INK, label=words[id(looks)], **looks) for looks in named]


def _loss_handles(sources: Sources) -> list[Line2D]:
    """Return the legend of losses: each measure of each source."""
    words = {id(_PRINTED): "printed", id(_OURS): "ours"}
    return [
        Line2D([], [], color=c, marker=m, label=f"{name.replace('_', ' ')}, {words[id(looks)]}", **looks)
        for _, looks in sources
        for name, (c, m) in _LOSS.items()
    ]


def _loss_and_reduction(axes: Axes, sources: Sources, method: str, title: str) -> None:
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


def _small(axes: Axes) -> None:
    axes.tick_params(labelsize=SMALLEST, pad=1.5)
    axes.xaxis.set_major_locator(MaxNLocator(4, integer=True))
