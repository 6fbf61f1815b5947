"""The figures of paper 2: architecture, three groups of attributes, search for thresholds, noise loop."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd
from matplotlib import pyplot as plt
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import NullLocator

from compendium.show.charts import grouped_bars, note
from compendium.show.diagrams import Arrow, Box, flow_diagram, from_file
from compendium.show.figures import COLUMN, GROUPS, INK, IRIDESCENT, PAGE, PURPLE, SERIES, drawn

MOST_NAMES = 40  # attributes whose names fit beside a strip


def architecture(
    name: str, shape: tuple[int, int], sizes: Sequence[int], thresholds: tuple[float, float], iterations: int
) -> Figure:
    """Draw the architecture of paper 2 (Fig. 1) with the numbers of a data set.

    Parameters
    ----------
    name : str
        Name of the data set.
    shape : tuple of int
        Numbers of rows and attributes.
    sizes : sequence of int
        Numbers of sensitive, non-sensitive and ambiguous attributes.
    thresholds : tuple of float
        The thresholds alpha and beta that the search found.
    iterations : int
        Number of moves of the search.
    """
    sensitive, plain, ambiguous = sizes
    words: dict[str, Any] = {"sensitive": sensitive, "plain": plain, "ambiguous": ambiguous}
    words |= {"rows": shape[0], "columns": shape[1], "published": plain + ambiguous, "moves": iterations}
    return from_file("architecture", name=name, alpha=thresholds[0], beta=thresholds[1], **words)


def three_actions(name: str, groups: Mapping[str, Sequence[str]]) -> Figure:
    """Draw the division into three groups and the action for each (paper 2, Fig. 2) with a data set's attributes.

    Parameters
    ----------
    name : str
        Name of the data set.
    groups : mapping of str to sequence of str
        The attributes in ``sensitive``, ``ambiguous`` and ``non_sensitive``.
    """
    actions = {"sensitive": "do not publish", "ambiguous": "add noise, publish", "non_sensitive": "publish as it is"}
    number = sum(len(groups[group]) for group in actions)
    boxes = [Box("all", name, f"{number} attributes", 1, 0, rounded=True)]
    arrows = []
    for column, (group, action) in enumerate(actions.items()):
        title = f"{group.replace('_', '-')} ({len(groups[group])})"
        listed = ", ".join(map(str, groups[group])) or "none"
        boxes += [Box(group, title, listed, column, 1, GROUPS[group][0], True), Box(action, action, "", column, 2)]
        arrows += [Arrow("all", group, "", "down", "up"), Arrow(group, action, "", "down", "up")]
    return flow_diagram(boxes, arrows, frames={"Trisect": ["all", *actions], "Act": list(actions.values())})


def group_shares(start: pd.DataFrame, determined: pd.DataFrame, printed: pd.DataFrame | None = None) -> Figure:
    """Draw the share of attributes in each group, before and after the search (paper 2, Fig. 4).

    Parameters
    ----------
    start, determined : pandas.DataFrame
        Numbers of attributes in the columns sensitive, ambiguous, non_sensitive; one row for each data set.
    printed : pandas.DataFrame, optional
        The numbers that the paper prints for the determined thresholds.
    """

    def share(frame: pd.DataFrame) -> pd.DataFrame:
        numbers = frame[list(GROUPS)].astype(float)
        return numbers.div(numbers.sum(axis=1), axis=0)

    last = "at the determined thresholds"
    first = "at the start (0.5, 0.5)" + ", of which the paper prints no numbers" * (printed is not None)
    shares = {first: share(start), last: share(determined)}
    marks = None if printed is None else {last: share(printed)}
    looks = {name: look[:2] for name, look in GROUPS.items()}
    return grouped_bars(shares, ylabel="share of attributes", digits=0, percent=True, looks=looks, printed=marks)


@drawn
def partition_strip(evaluation: pd.Series, alpha: float, beta: float) -> Figure:
    """Draw each attribute's evaluation, the thresholds and the three groups (paper 2, Eqs. 7-9).

    Parameters
    ----------
    evaluation : pandas.Series
        Evaluation of each attribute, from 0 to 1.
    alpha, beta : float
        Thresholds, beta <= alpha.
    """
    ranked = evaluation.sort_values(kind="stable")
    place = np.arange(len(ranked))
    named = len(ranked) <= MOST_NAMES
    fig, axes = plt.subplots(figsize=(PAGE, 1.0 + 0.165 * min(len(ranked), MOST_NAMES)))
    near = 1e-9  # a threshold and an evaluation may be the same decimal number, but differ in binary
    open_ = np.where(ranked <= beta + near, "non_sensitive", "ambiguous")
    groups = np.where(ranked >= alpha - near, "sensitive", open_)
    spans = {"non_sensitive": (-0.04, beta), "ambiguous": (beta, alpha), "sensitive": (alpha, 1.04)}
    for name, (low, high) in spans.items():
        colour, _, marker = GROUPS[name]
        own = groups == name
        axes.axvspan(low, high, color=colour, alpha=0.13, lw=0)
        axes.hlines(place[own], 0, ranked[own], color=colour, lw=1)
        axes.plot(ranked[own], place[own], marker, color=colour, mec=INK, mew=0.5, ls="", ms=5)
    box = {"fc": "white", "ec": "none", "pad": 0.8}
    for value, sign, side, shift in ((beta, "β", "right", -3), (alpha, "α", "left", 3)):
        axes.axvline(value, color=INK, lw=1)
        note(axes, f"{sign} = {value:g}", (value, 0), (shift, 3), xycoords=("data", "axes fraction"), ha=side, bbox=box)
    _name_groups(axes, alpha, beta, {name: int((groups == name).sum()) for name in spans})
    axes.set_yticks(place if named else [], [str(name) for name in ranked.index] if named else [])
    axes.set(ylim=(-1.6, len(ranked) - 0.4), xlim=(-0.04, 1.04), xlabel="normalized entropy")
    axes.set_ylabel("" if named else f"{len(ranked)} attributes, by entropy")
    axes.tick_params(axis="y", length=0)
    axes.spines["left"].set_visible(False)
    return fig


@drawn
def search_path(grid: pd.DataFrame, trace: pd.DataFrame) -> Figure:
    """Draw the suitability of all pairs of thresholds, the path of the search, and the best pairs.

    Parameters
    ----------
    grid : pandas.DataFrame
        Columns alpha, beta and suitability, with every pair on the lattice.
    trace : pandas.DataFrame
        Columns alpha, beta and optionally accepted: the pairs that the search evaluated, in order.
    """
    grid = grid.drop_duplicates(["alpha", "beta"])
    cells = grid.pivot_table(index="beta", columns="alpha", values="suitability")
    path = trace[trace["accepted"]] if "accepted" in trace else trace
    fig, axes = plt.subplots(figsize=(4.6, 4.6 * 0.82))
    image = axes.pcolormesh(cells.columns, cells.index, cells, cmap=IRIDESCENT, shading="nearest")
    axes.plot(path["alpha"], path["beta"], color="white", lw=3.2, solid_capstyle="round")
    axes.plot(path["alpha"], path["beta"], color=INK, lw=1.5)
    best = grid[grid["suitability"] >= grid["suitability"].max() - 1e-9]
    looks: dict[str, Any] = {"mec": INK, "mew": 0.9, "ls": "", "clip_on": False, "zorder": 4}
    axes.plot(*path.iloc[0][["alpha", "beta"]], "o", mfc="white", ms=6, label="start", **looks)
    axes.plot(*path.iloc[-1][["alpha", "beta"]], "s", mfc=PURPLE, ms=9.5, label="end of the search", **looks)
    axes.plot(best["alpha"], best["beta"], "*", mfc="white", ms=7, label="best of all pairs", **looks)
    axes.set(xlabel="α: sensitive from here up", ylabel="β: non-sensitive up to here")
    bar = fig.colorbar(image, ax=axes, shrink=0.85, pad=0.02, label="suitability")
    bar.outline.set_visible(False)
    fig.legend(loc="outside upper left", ncols=3, handletextpad=0.2, columnspacing=1.0)
    return fig


@drawn
def privacy_loop(trace: pd.DataFrame, threshold: float) -> Figure:
    """Draw the privacy level as epsilon falls, until it reaches the threshold (paper 2, Fig. 1).

    Parameters
    ----------
    trace : pandas.DataFrame
        Columns round, epsilon and overall; a round may have several rows. It is empty if no column gets noise.
    threshold : float
        The requested privacy level.
    """
    rounds = trace.drop_duplicates("round")
    epsilon, levels = rounds["epsilon"].to_numpy(float), rounds["overall"].to_numpy(float)
    fig, axes = plt.subplots(figsize=(COLUMN, 2.4))
    axes.axhline(threshold, color=INK, lw=0.9, ls="--")
    if rounds.empty:
        axes.set(ylim=(0, 1.08), xticks=[], xlabel="no column gets noise: there is no round", ylabel="privacy level")
        return fig
    axes.plot(epsilon, levels, color=SERIES[0], marker="o", zorder=3)
    reached = levels >= threshold
    axes.plot(epsilon[reached], levels[reached], "*", color=SERIES[2], mec=INK, mew=0.6, ms=11, zorder=4)
    axes.set_xscale("log")
    axes.set_xlim(epsilon.max() * 1.35, epsilon.min() / 1.35)  # epsilon falls, so time runs to the right
    axes.set_ylim(0, max(1.0, float(levels.max())) * 1.08)
    ticks = sorted(set(epsilon))[:: max(1, len(set(epsilon)) // 5)]
    axes.set_xticks(ticks, [f"{value:.3g}" for value in ticks])
    axes.xaxis.set_minor_locator(NullLocator())
    axes.set(xlabel="ε, lowered round by round", ylabel="privacy level")
    note(axes, f"requested: {threshold:g}", (0, threshold), (3, 2), xycoords=("axes fraction", "data"))
    return fig


def _name_groups(axes: Axes, alpha: float, beta: float, numbers: Mapping[str, int]) -> None:
    """Write each group's name above its span; the outer names grow away from the thresholds, so that none collide."""
    places = {
        "non_sensitive": (-0.04, "left", 3),
        "sensitive": (1.04, "right", 3),
        "ambiguous": (min(max((alpha + beta) / 2, 0.36), 0.64), "center", 3 if alpha - beta > 0.24 else 13),
    }
    looks: dict[str, Any] = {"xycoords": ("data", "axes fraction"), "va": "bottom", "fontsize": 7.5}
    for name, (at, side, above) in places.items():
        text = f"{name.replace('_', '-')} ({numbers[name]})"
        note(axes, text, (at, 1), (0, above), ha=side, fontweight="bold", **looks)
