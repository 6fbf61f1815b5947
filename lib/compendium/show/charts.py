"""General charts, used for several papers. Each has one message, direct labels, and cues other than colour."""

import math
import textwrap
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd
import seaborn
from matplotlib import pyplot as plt
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from compendium.show import figures as style
from compendium.show.figures import COLUMN, INK, PAGE, SMALLEST, drawn

_VERDICT_LOOKS = {
    "exact": (style.BLUE, ""),
    "within": (style.CYAN, "...."),
    "differs": (style.RED, "////"),
    "undecided": (style.YELLOW, "oo"),
    "not reproducible": (style.PURPLE, "xxxx"),
    "no data": ("#FFFFFF", ""),
}


_PRINTED: dict[str, Any] = {"marker": "D", "ls": "", "mfc": "white", "mec": INK, "mew": 1.1, "ms": 4.5, "zorder": 5}
_OVER_LINES: dict[str, Any] = {"zorder": 4.5, "bbox": {"fc": "white", "ec": "none", "pad": 0.3}}
_CHANCE: dict[str, Any] = {"colors": INK, "ls": (0, (4, 1.5)), "lw": 1.3, "zorder": 4}


def note(axes: Axes, text: str, at: tuple[float, Any], shift: tuple[float, float], **looks: Any) -> None:
    """Write a text beside a point, `shift` points away from it; `looks` go to :meth:`Axes.annotate`."""
    axes.annotate(text, at, xytext=shift, textcoords="offset points", **({"fontsize": SMALLEST} | looks))


@drawn
def grouped_bars(
    data: pd.DataFrame | Mapping[str, pd.DataFrame],
    *,
    ylabel: str = "",
    digits: int = 2,
    percent: bool = False,
    looks: Mapping[str, tuple[str, str]] | None = None,
    printed: pd.DataFrame | Mapping[str, pd.DataFrame] | None = None,
    chance: Mapping[str, float | pd.Series] | None = None,
) -> Figure:
    """Draw grouped bars, each with its value above it, and the paper's printed values as diamonds.

    Parameters
    ----------
    data : pandas.DataFrame or mapping of str to pandas.DataFrame
        One group for each row and one bar for each column. A mapping gives one panel for each key, on a common scale.
    ylabel : str, optional
        Label of the y axis.
    digits : int, default 2
        Decimals of the values above the bars.
    percent : bool, default False
        Whether to write the values, which are shares, in percent.
    looks : mapping of str to (colour, hatch), optional
        Colour and hatch of each column. The default takes them from the colour scheme in order.
    printed : pandas.DataFrame or mapping of str to pandas.DataFrame, optional
        The printed values, in the same form as `data`. Rows, columns and panels may be missing.
    chance : mapping of str to float or pandas.Series, optional
        Chance level of a panel, or of each of its rows. Panels may be missing; the only panel without a title is "".
    """
    panels, chance = {"": data} if isinstance(data, pd.DataFrame) else dict(data), chance or {}
    marks = {"": printed} if isinstance(printed, pd.DataFrame) else dict(printed or {})
    marks = {title: frame.reindex_like(panels[title]).astype(float) for title, frame in marks.items()}
    columns = list(next(iter(panels.values())).columns)
    chosen = looks or dict(zip(columns, zip(style.SERIES, style.HATCHES, strict=True), strict=False))
    fig, grid = plt.subplots(len(panels), 1, figsize=(PAGE, 0.45 + 1.65 * len(panels)), sharey=True, squeeze=False)
    for axes, (title, frame) in zip(grid[:, 0], panels.items(), strict=True):
        _bars(axes, frame[columns].astype(float), chosen, digits, percent, marks.get(title))
        if title in chance:
            level, at = chance[title], np.arange(len(frame))
            levels = level.reindex(frame.index) if isinstance(level, pd.Series) else pd.Series(level, frame.index)
            axes.hlines(levels, at - 0.48, at + 0.48, **_CHANCE)
        axes.set(title=title, ylabel=ylabel)
    every = pd.concat([*panels.values(), *marks.values()])[columns].to_numpy(float)
    low, high = min(0.0, np.nanmin(every)), np.nanmax(every)
    # the value of a negative bar stands below it, above the axis
    grid[0, 0].set_ylim(low - 0.16 * (high - low) if low < 0 else 0, 1.18 * high or 1)
    handles: list[Any] = [plt.Rectangle((0, 0), 1, 1, fc=chosen[c][0], hatch=chosen[c][1], ec=INK) for c in columns]
    names = [str(column).replace("_", "-") for column in columns]
    if any(frame.notna().to_numpy().any() for frame in marks.values()):
        handles.append(plt.Line2D([], [], **_PRINTED))
        names.append("printed in the paper")
    if chance:
        handles.append(plt.Line2D([], [], color=_CHANCE["colors"], lw=_CHANCE["lw"], ls=_CHANCE["ls"]))
        names.append("chance level")
    letters = sum(0.6 * len(name) + 3.8 for name in names)  # the legend, in heights of letters, with signs and gaps
    each = math.ceil(len(names) / math.ceil(letters * SMALLEST / 72 / PAGE))  # in as many rows as the page needs
    fig.legend(handles, names, loc="outside upper left", ncols=each, handlelength=1.8, columnspacing=1.2)
    return fig


@drawn
def intervals_by_set(table: pd.DataFrame) -> Figure:
    """Draw estimates with their intervals: one panel a measure, one band of rows a data set, one row an option.

    Parameters
    ----------
    table : pandas.DataFrame
        Columns measure, problem, option, value, low, high, and optionally chance, the chance level.
    """
    panels, problems, options = (list(dict.fromkeys(table[name])) for name in ("measure", "problem", "option"))
    colours = (style.BLUE, style.RED, style.GREEN, style.PURPLE, INK, style.GREY)
    looks = dict(zip(options, zip(colours, "os^DvP", strict=True), strict=False))
    height = 0.8 + 0.11 * len(problems) * (len(options) + 1)
    fig, grid = plt.subplots(1, len(panels), figsize=(PAGE, height), sharey=True, squeeze=False)
    for axes, measure in zip(grid[0], panels, strict=True):
        for band in range(0, len(problems), 2):
            axes.axhspan(band - 0.5, band + 0.5, color=style.PALE, lw=0, zorder=0)
        for place, (option, (colour, marker)) in enumerate(looks.items()):
            rows = table[(table["measure"] == measure) & (table["option"] == option)]
            shift = (place - (len(options) - 1) / 2) * 0.8 / len(options)
            at = rows["problem"].map(problems.index).astype(float) + shift
            axes.hlines(at, rows["low"], rows["high"], color=colour, lw=1.2)
            axes.plot(rows["value"], at, marker, color=colour, mfc="white", ms=4.5, ls="")
            if "chance" in rows:
                axes.plot(rows["chance"], at, "|", color=INK, ms=6)
        axes.axvline(0, color=INK, lw=0.8)
        axes.tick_params(axis="y", length=0)
        axes.grid(axis="x")
        axes.set_xlabel(str(measure).replace(": ", ":\n"))
    grid[0, 0].set_yticks(range(len(problems)), [textwrap.fill(str(name), 30) for name in problems])
    grid[0, 0].set_ylim(len(problems) - 0.5, -0.5)
    handles = [plt.Line2D([], [], color=c, marker=m, mfc="white", label=str(o)) for o, (c, m) in looks.items()]
    if "chance" in table:
        handles.append(plt.Line2D([], [], color=INK, marker="|", ls="", label="chance level"))
    fig.legend(handles=handles, loc="outside upper left", ncols=min(4, len(handles)), columnspacing=1.2)
    return fig


@drawn
def lines_with_markers(data: pd.DataFrame, *, xlabel: str = "", ylabel: str = "") -> Figure:
    """Draw one line for each column over the index.

    Parameters
    ----------
    data : pandas.DataFrame
        Numbers over a numeric index.
    xlabel, ylabel : str
        Labels of the axes. The default label of the x axis is the name of the index.
    """
    fig, axes = plt.subplots(figsize=(COLUMN, 2.4))
    seaborn.lineplot(data, ax=axes, markers=style.MARKERS[: data.shape[1]], dashes=False, clip_on=False)
    axes.set(xlabel=xlabel or data.index.name, ylabel=ylabel)
    axes.set_xlim(left=0 if data.index.min() >= 0 else None)
    axes.set_ylim(bottom=0 if float(data.to_numpy().min()) >= 0 else None)
    axes.grid(axis="y")
    return fig


@drawn
def verdict_bars(counts: pd.DataFrame) -> Figure:
    """Draw the share of each verdict among the printed values of each table.

    Parameters
    ----------
    counts : pandas.DataFrame
        As :func:`.replication.counts` returns them: index paper and table, one column for each verdict.
    """
    names = [f"paper {p}, {'text' if t == 'text' else f'Table {t}'}" for p, t in counts.index]
    notes = [f"{exact} of {printed}" for exact, printed in zip(counts["exact"], counts["printed"], strict=True)]
    fig = share_bars(counts[list(_VERDICT_LOOKS)].set_axis(names), notes, tuple(_VERDICT_LOOKS.values()), height=0.19)
    fig.axes[0].set_xlabel("share of the printed values (beside each bar: number of exact values)")
    return fig


def share_bars(
    parts: pd.DataFrame, notes: Sequence[str], looks: Sequence[tuple[str, str]], *, height: float = 0.32
) -> Figure:
    """Draw one bar for each row, divided into the shares of the columns, with a note at its right end.

    Parameters
    ----------
    parts : pandas.DataFrame
        Numbers; their sum in a row is the whole bar.
    notes : sequence of str
        Text beside each bar.
    looks : sequence of (colour, hatch)
        One for each column.
    height : float, default 0.32
        Inches for each bar.
    """
    fig, axes = plt.subplots(figsize=(PAGE, 0.75 + height * len(parts)))
    shares = parts.div(parts.sum(axis=1), axis=0)
    colours: Any = [colour for colour, _ in looks]
    shares.plot.barh(stacked=True, ax=axes, color=colours, ec=INK, lw=0.4, width=0.78, legend=False)
    for bars, (_, hatch) in zip(axes.containers, looks, strict=False):
        plt.setp(bars, hatch=hatch)
    for at, text in enumerate(notes):
        note(axes, text, (1, at), (4, 0), va="center")
    axes.invert_yaxis()
    axes.set(xlim=(0, 1), ylabel="")
    axes.xaxis.set_major_formatter(lambda value, _: f"{100 * value:.0f} %")
    axes.spines["left"].set_visible(False)
    axes.tick_params(axis="y", length=0)
    fig.legend(loc="outside upper left", ncols=len(looks), handlelength=1.8, columnspacing=1.2)
    return fig


def _bars(
    axes: Axes,
    frame: pd.DataFrame,
    looks: Mapping[str, tuple[str, str]],
    digits: int,
    percent: bool,
    printed: pd.DataFrame | None,
) -> None:
    place, wide = np.arange(len(frame)), 0.82 / frame.shape[1]
    letters = 0.85 * PAGE / len(frame) / (SMALLEST / 72)  # the room of a row, in heights of letters
    for number, (name, column) in enumerate(frame.items()):
        colour, hatch = looks[str(name)]
        at = place + (number - (frame.shape[1] - 1) / 2) * wide
        axes.bar(at, column, wide * 0.92, color=colour, hatch=hatch, ec=INK, lw=0.5)
        # no sign of percent, which the axis has: 100% is wider than a bar
        shown = 100 * column if percent else column
        values = [f"{value:.{digits}f}" for value in shown.round(digits) + 0.0]  # + 0.0 turns -0 into 0
        turned = 90 if max(map(len, values)) * 0.65 > wide * letters else 0  # otherwise neighbours' numbers collide
        marks = pd.Series(np.nan, frame.index) if printed is None else printed[name]
        for x, value, mark, text in zip(at, column, marks, values, strict=True):
            if value < 0:
                note(axes, text, (x, value), (0, -2), ha="center", va="top", rotation=turned, **_OVER_LINES)
            elif value >= 0:  # above a diamond, too
                up = (0, 2 if np.isnan(mark) else 5)
                note(axes, text, (x, np.fmax(value, mark)), up, ha="center", rotation=turned, **_OVER_LINES)
        if printed is not None:
            axes.plot(at, printed[name], **_PRINTED)
    names = [textwrap.fill(str(name), int(letters / 0.6), break_long_words=False) for name in frame.index]
    axes.set_xticks(place, names)
    axes.tick_params(axis="x", length=0)
    axes.yaxis.set_major_locator(MaxNLocator(4, steps=[1, 2, 2.5, 5, 10]))
    if percent:
        axes.yaxis.set_major_formatter(lambda value, _: f"{round(100 * value, 6):g}%")
    axes.grid(axis="y")
