"""The compendium's charts: each says one thing, labels what it shows directly, and is told apart without colour."""

from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd
from matplotlib import pyplot as plt
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator, NullLocator

from sensorprivacy.report.figures import (
    BLUE,
    COLUMN,
    GREEN,
    GREY,
    GROUPS,
    HATCHES,
    INK,
    IRIDESCENT,
    MARKERS,
    PAGE,
    PALE,
    PURPLE,
    RED,
    SERIES,
    SMALLEST,
    drawn,
)

_VERDICT_LOOKS = {
    "exact": ("#4477AA", ""),
    "within": ("#66CCEE", "...."),
    "differs": ("#EE6677", "////"),
    "not reproducible": ("#AA3377", "xxxx"),
    "no data": ("#FFFFFF", ""),
}


@drawn
def grouped_bars(
    data: pd.DataFrame | Mapping[str, pd.DataFrame],
    *,
    ylabel: str = "",
    digits: int = 2,
    percent: bool = False,
    looks: Mapping[str, tuple[str, str]] | None = None,
    width: float = PAGE,
) -> Figure:
    """Draw bars in groups, each with its value above it.

    Parameters
    ----------
    data : pandas.DataFrame or mapping of str to pandas.DataFrame
        A group for each row, a bar for each column; of a mapping, one panel under the other, all on one scale.
    ylabel : str, optional
        What the values are.
    digits : int, default 2
        Decimals of the values above the bars.
    percent : bool, default False
        Whether values are shares, written as percentages.
    looks : mapping of str to (colour, hatch), optional
        How the bars of a column look; one after the other from the scheme when left out.
    width : float, default 7
        Inches.

    Returns
    -------
    matplotlib.figure.Figure
    """
    panels = {"": data} if isinstance(data, pd.DataFrame) else dict(data)
    columns = list(next(iter(panels.values())).columns)
    chosen = looks or dict(zip(columns, zip(SERIES, HATCHES, strict=True), strict=False))
    fig, grid = plt.subplots(len(panels), 1, figsize=(width, 0.45 + 1.65 * len(panels)), sharey=True, squeeze=False)
    for axes, (title, frame) in zip(grid[:, 0], panels.items(), strict=True):
        _bars(axes, frame[columns].astype(float), chosen, digits, percent)
        axes.set_title(title)
        axes.set_ylabel(ylabel)
    top = max(float(frame[columns].to_numpy(float).max()) for frame in panels.values())
    low = min(0.0, *(float(frame[columns].to_numpy(float).min()) for frame in panels.values()))
    grid[0, 0].set_ylim(low * 1.18, top * 1.18 or 1)
    handles = [plt.Rectangle((0, 0), 1, 1, fc=chosen[c][0], hatch=chosen[c][1], ec=INK) for c in columns]
    names = [str(column).replace("_", "-") for column in columns]
    fig.legend(handles, names, loc="outside upper left", ncols=len(columns), handlelength=1.8)
    return fig


def group_shares(start: pd.DataFrame, determined: pd.DataFrame) -> Figure:
    """Draw which share of the attributes is in each group, before and after the search (paper 2, Fig. 4).

    Parameters
    ----------
    start, determined : pandas.DataFrame
        Numbers of attributes in the columns sensitive, ambiguous, non_sensitive; one row a data set.
    """
    names = list(GROUPS)
    shares = {
        title: frame[names].astype(float).div(frame[names].astype(float).sum(axis=1), axis=0)
        for title, frame in (("at the start (0.5, 0.5)", start), ("at the determined thresholds", determined))
    }
    looks = {name: look[:2] for name, look in GROUPS.items()}
    return grouped_bars(shares, ylabel="share of attributes", digits=0, percent=True, looks=looks)


@drawn
def intervals_by_set(table: pd.DataFrame, *, width: float = PAGE) -> Figure:
    """Draw one estimate with its interval for each option, a band of rows for each data set, a panel for each measure.

    Parameters
    ----------
    table : pandas.DataFrame
        Columns measure, problem, option, value, low, high.
    width : float, default 7
        Inches.
    """
    panels, problems, options = (list(dict.fromkeys(table[name])) for name in ("measure", "problem", "option"))
    looks = dict(zip(options, zip((BLUE, RED, GREEN, PURPLE, INK, GREY), "os^DvP", strict=True), strict=False))
    height = 0.8 + 0.13 * len(problems) * (len(options) + 1)
    fig, grid = plt.subplots(1, len(panels), figsize=(width, height), sharey=True, squeeze=False)
    for axes, measure in zip(grid[0], panels, strict=True):
        for band, problem in enumerate(problems):
            if band % 2 == 0:
                axes.axhspan(band - 0.5, band + 0.5, color=PALE, lw=0, zorder=0)
            for place, option in enumerate(options):
                own = (table["measure"] == measure) & (table["problem"] == problem) & (table["option"] == option)
                rows = table[own]
                at = np.full(len(rows), band + (place - (len(options) - 1) / 2) * 0.8 / len(options))
                colour, marker = looks[option]
                axes.hlines(at, rows["low"], rows["high"], color=colour, lw=1.2)
                axes.plot(rows["value"], at, marker, color=colour, mfc="white", ms=4.5, ls="")
        axes.axvline(0, color=INK, lw=0.8)
        axes.tick_params(axis="y", length=0)
        axes.grid(axis="x")
        axes.set_xlabel(measure)
    grid[0, 0].set_yticks(range(len(problems)), problems)
    grid[0, 0].set_ylim(len(problems) - 0.5, -0.5)
    handles = [plt.Line2D([], [], color=c, marker=m, mfc="white", label=str(o)) for o, (c, m) in looks.items()]
    fig.legend(handles=handles, loc="outside upper left", ncols=min(4, len(options)), columnspacing=1.2)
    return fig


@drawn
def lines_with_markers(
    data: pd.DataFrame, *, xlabel: str = "", ylabel: str = "", mark: float | None = None, width: float = COLUMN
) -> Figure:
    """Draw a line for each column over the index, named at its end.

    Parameters
    ----------
    data : pandas.DataFrame
        Numbers, over a numeric index.
    xlabel, ylabel : str
        What the axes show; the index's name where `xlabel` is left out.
    mark : float, optional
        A place on the x axis to point out.
    width : float, default 3.4
        Inches.
    """
    fig, axes = plt.subplots(figsize=(width, 2.4))
    ends = []
    for (name, column), colour, marker in zip(data.items(), SERIES, MARKERS, strict=False):
        axes.plot(data.index, column, color=colour, marker=marker, clip_on=False)
        ends.append((str(name), float(column.iloc[0]), float(column.iloc[-1]), colour))
    axes.set_xlabel(xlabel or str(data.index.name or ""))
    axes.set_ylabel(ylabel)
    axes.set_xlim(left=0 if data.index.min() >= 0 else None)
    axes.set_ylim(bottom=0 if float(data.to_numpy().min()) >= 0 else None)
    axes.grid(axis="y")
    if mark is not None:
        axes.axvline(mark, color=INK, lw=0.8, ls=":")
        axes.annotate(
            f"{mark:g}",
            (mark, 1),
            xycoords=("data", "axes fraction"),
            xytext=(3, -2),
            va="top",
            textcoords="offset points",
            fontsize=SMALLEST,
        )
    _name_ends(axes, ends, float(data.index[-1]))
    return fig


@drawn
def partition_strip(evaluation: pd.Series, alpha: float, beta: float, *, width: float = PAGE) -> Figure:
    """Draw attributes on the scale of their evaluation, with the thresholds and the three groups (paper 2, Eqs. 7-9).

    Parameters
    ----------
    evaluation : pandas.Series
        Evaluation from 0 to 1 by attribute.
    alpha, beta : float
        Thresholds, beta <= alpha.
    width : float, default 7
        Inches.
    """
    ranked = evaluation.sort_values(kind="stable")
    place = np.arange(len(ranked))
    fig, axes = plt.subplots(figsize=(width, 1.0 + 0.165 * len(ranked)))
    near = 1e-9  # a threshold and an evaluation that are the same decimal number
    groups = np.where(
        ranked >= alpha - near, "sensitive", np.where(ranked <= beta + near, "non_sensitive", "ambiguous")
    )
    spans = {"non_sensitive": (-0.04, beta), "ambiguous": (beta, alpha), "sensitive": (alpha, 1.04)}
    for name, (low, high) in spans.items():
        colour, _, marker = GROUPS[name]
        own = groups == name
        axes.axvspan(low, high, color=colour, alpha=0.13, lw=0)
        axes.hlines(place[own], 0, ranked[own], color=colour, lw=1)
        axes.plot(ranked[own], place[own], marker, color=colour, mec=INK, mew=0.5, ls="", ms=5)
    for value, sign, side in ((beta, "β", "right"), (alpha, "α", "left")):
        axes.axvline(value, color=INK, lw=1)
        shift = (-3, 3) if side == "right" else (3, 3)
        axes.annotate(
            f"{sign} = {value:g}",
            (value, 0),
            xycoords=("data", "axes fraction"),
            xytext=shift,
            ha=side,
            textcoords="offset points",
            fontsize=SMALLEST,
            bbox={"fc": "white", "ec": "none", "pad": 0.8},
        )
    _name_groups(axes, spans, {name: int((groups == name).sum()) for name in spans})
    axes.set_yticks(place, [str(name) for name in ranked.index])
    axes.set_ylim(-1.6, len(ranked) - 0.4)
    axes.set_xlim(-0.04, 1.04)
    axes.set_xlabel("normalized entropy")
    axes.tick_params(axis="y", length=0)
    axes.spines["left"].set_visible(False)
    return fig


@drawn
def search_path(grid: pd.DataFrame, trace: pd.DataFrame, *, measure: str = "suitability", width: float = 4.6) -> Figure:
    """Draw the suitability of every pair of thresholds, the way that a search took, and the best pairs of all.

    Parameters
    ----------
    grid : pandas.DataFrame
        Columns alpha, beta and `measure`: every pair on the lattice.
    trace : pandas.DataFrame
        Columns alpha, beta and, if there are pairs only looked at, accepted: the search's way in order.
    measure : str, default "suitability"
        The column shown.
    width : float, default 4.6
        Inches.
    """
    cells = grid.drop_duplicates(["alpha", "beta"]).pivot_table(index="beta", columns="alpha", values=measure)
    way = trace[trace["accepted"]] if "accepted" in trace else trace
    fig, axes = plt.subplots(figsize=(width, width * 0.82))
    image = axes.pcolormesh(cells.columns, cells.index, cells, cmap=IRIDESCENT, shading="nearest", rasterized=True)
    axes.plot(way["alpha"], way["beta"], color="white", lw=3.2, solid_capstyle="round")
    axes.plot(way["alpha"], way["beta"], color=INK, lw=1.5)
    best = grid[grid[measure] >= grid[measure].max() - 1e-9].drop_duplicates(["alpha", "beta"])
    white: dict[str, Any] = {"mec": INK, "mew": 0.9, "ls": "", "clip_on": False, "zorder": 4}
    axes.plot(*way.iloc[0][["alpha", "beta"]], "o", mfc="white", ms=6, label="start", **white)
    axes.plot(*way.iloc[-1][["alpha", "beta"]], "s", mfc=PURPLE, ms=9.5, label="end of the search", **white)
    axes.plot(best["alpha"], best["beta"], "*", mfc="white", ms=7, label="best of all pairs", **white)
    axes.set_xlabel("α: sensitive from here up")
    axes.set_ylabel("β: non-sensitive up to here")
    bar = fig.colorbar(image, ax=axes, shrink=0.85, pad=0.02)
    bar.set_label(measure)
    bar.outline.set_visible(False)
    fig.legend(loc="outside upper left", ncols=3, handletextpad=0.2, columnspacing=1.0)
    return fig


@drawn
def privacy_loop(trace: pd.DataFrame, threshold: float, *, width: float = COLUMN) -> Figure:
    """Draw the privacy level against epsilon, round by round, until it reaches the threshold (paper 2, Fig. 1).

    Parameters
    ----------
    trace : pandas.DataFrame
        Columns epsilon and overall (or level), and round where a round has several rows.
    threshold : float
        The level asked for.
    width : float, default 3.4
        Inches.
    """
    level = "overall" if "overall" in trace else "level"
    rounds = trace.drop_duplicates("round") if "round" in trace else trace
    epsilon, levels = rounds["epsilon"].to_numpy(float), rounds[level].to_numpy(float)
    fig, axes = plt.subplots(figsize=(width, 2.4))
    axes.axhline(threshold, color=INK, lw=0.9, ls="--")
    axes.plot(epsilon, levels, color=SERIES[0], marker="o", zorder=3)
    reached = levels >= threshold
    axes.plot(epsilon[reached], levels[reached], "*", color=SERIES[2], mec=INK, mew=0.6, ms=11, zorder=4)
    axes.set_xscale("log")
    axes.set_xlim(epsilon.max() * 1.35, epsilon.min() / 1.35)  # epsilon falls, so time runs to the right
    axes.set_ylim(0, max(1.0, float(levels.max())) * 1.08)
    ticks = sorted(set(epsilon))[:: max(1, len(set(epsilon)) // 5)]
    axes.set_xticks(ticks, [f"{value:.3g}" for value in ticks])
    axes.xaxis.set_minor_locator(NullLocator())
    axes.set_xlabel("ε, lowered round by round")
    axes.set_ylabel("privacy level")
    axes.annotate(
        f"asked for: {threshold:g}",
        (0, threshold),
        xycoords=("axes fraction", "data"),
        xytext=(3, 2),
        textcoords="offset points",
        fontsize=SMALLEST,
    )
    return fig


@drawn
def verdict_bars(counts: pd.DataFrame, *, width: float = PAGE) -> Figure:
    """Draw for each table how many of its printed values got which verdict.

    Parameters
    ----------
    counts : pandas.DataFrame
        As :func:`.replication.counts` returns them: index paper and table, a column for each verdict.
    width : float, default 7
        Inches.
    """
    fig, axes = plt.subplots(figsize=(width, 0.75 + 0.19 * len(counts)))
    names = [f"paper {p}, {'text' if t == 'text' else f'Table {t}'}" for p, t in counts.index]
    place = np.arange(len(counts))[::-1]
    left = np.zeros(len(counts))
    for verdict, (colour, hatch) in _VERDICT_LOOKS.items():
        share = counts[verdict].to_numpy(float) / counts["printed"].to_numpy(float)
        axes.barh(place, share, left=left, color=colour, hatch=hatch, ec=INK, lw=0.4, label=verdict, height=0.78)
        left += share
    for at, exact, printed in zip(place, counts["exact"], counts["printed"], strict=True):
        axes.annotate(
            f"{exact} of {printed}", (1, at), xytext=(4, 0), textcoords="offset points", va="center", fontsize=SMALLEST
        )
    axes.set_yticks(place, names)
    axes.set_xlim(0, 1)
    axes.set_ylim(-0.6, len(counts) - 0.4)
    axes.xaxis.set_major_formatter(lambda value, _: f"{100 * value:.0f} %")
    axes.set_xlabel("share of the printed values; beside the bars: exact")
    axes.spines["left"].set_visible(False)
    axes.tick_params(axis="y", length=0)
    fig.legend(loc="outside upper left", ncols=len(_VERDICT_LOOKS), handlelength=1.8, columnspacing=1.2)
    return fig


def _bars(axes: Axes, frame: pd.DataFrame, looks: Mapping[str, tuple[str, str]], digits: int, percent: bool) -> None:
    place, wide = np.arange(len(frame)), 0.82 / frame.shape[1]
    for number, (name, column) in enumerate(frame.items()):
        colour, hatch = looks[str(name)]
        at = place + (number - (frame.shape[1] - 1) / 2) * wide
        axes.bar(at, column, wide * 0.92, color=colour, hatch=hatch, ec=INK, lw=0.5)
        for x, value in zip(at, column, strict=True):
            text = f"{100 * value:.{digits}f}%" if percent else f"{value:.{digits}f}"
            below = value < 0
            axes.annotate(
                text,
                (x, value),
                xytext=(0, -1.5 if below else 1.5),
                textcoords="offset points",
                ha="center",
                va="top" if below else "bottom",
                fontsize=SMALLEST,
            )
    axes.set_xticks(place, [str(name) for name in frame.index])
    axes.tick_params(axis="x", length=0)
    axes.yaxis.set_major_locator(MaxNLocator(4))
    if percent:
        axes.yaxis.set_major_formatter(lambda value, _: f"{100 * value:.0f}%")
    axes.grid(axis="y")


def _name_ends(axes: Axes, ends: list[tuple[str, float, float, str]], last: float) -> None:
    """Write each line's name to the right of its end, pushed apart where ends lie close."""
    low, high = axes.get_ylim()
    gap, below = 0.075 * (high - low), -np.inf
    for name, _, value, colour in sorted(ends, key=lambda end: end[2]):
        at = max(value, below + gap)
        axes.annotate(
            name,
            (last, at),
            xytext=(7, 0),
            textcoords="offset points",
            va="center",
            color=colour,
            fontweight="bold",
            fontsize=7.5,
            annotation_clip=False,
        )
        below = at


def _name_groups(axes: Axes, spans: Mapping[str, tuple[float, float]], numbers: Mapping[str, int]) -> None:
    """Write the groups' names above their spans: the outer ones outward from the thresholds, so that none collide."""
    texts = {name: f"{name.replace('_', '-')} ({numbers[name]})" for name in spans}
    middle = sum(spans["ambiguous"]) / 2
    room = spans["ambiguous"][1] - spans["ambiguous"][0] > 0.24
    looks: dict[str, Any] = {
        "xycoords": ("data", "axes fraction"),
        "textcoords": "offset points",
        "va": "bottom",
        "fontsize": 7.5,
    }
    axes.annotate(texts["non_sensitive"], (-0.04, 1), xytext=(0, 3), ha="left", fontweight="bold", **looks)
    axes.annotate(texts["sensitive"], (1.04, 1), xytext=(0, 3), ha="right", fontweight="bold", **looks)
    axes.annotate(
        texts["ambiguous"],
        (min(max(middle, 0.36), 0.64), 1),
        xytext=(0, 3 if room else 13),
        ha="center",
        fontweight="bold",
        **looks,
    )
