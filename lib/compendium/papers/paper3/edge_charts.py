"""Draw the figures on paper 3's timing section: time of each step, printed and measured times, budgets, links."""

from collections.abc import Sequence

import numpy as np
import pandas as pd
from matplotlib import pyplot as plt
from matplotlib.figure import Figure

from compendium.show.charts import share_bars
from compendium.show.figures import BLUE, GREY, HATCHES, INK, MARKERS, PAGE, RED, SERIES, SMALLEST, drawn


@drawn
def where_time_goes(shares: pd.DataFrame) -> Figure:
    """Draw the share of a window's time that each step takes, one bar per machine or printed table.

    Parameters
    ----------
    shares : pandas.DataFrame
        One row per bar, one column per step: milliseconds per window.
    """
    totals = [f"{total:.3g} ms" for total in shares.sum(axis=1)]
    fig = share_bars(shares, totals, list(zip(SERIES, HATCHES, strict=True))[: shares.shape[1]])
    fig.axes[0].set_xlabel("share of a window's time (total at the right)")
    return fig


@drawn
def compared_steps(both: pd.DataFrame) -> Figure:
    """Draw the printed time of each step, our time on another machine, and the lower bound of the paper's board.

    Parameters
    ----------
    both : pandas.DataFrame
        ``table``, ``title``, ``printed_ms``, ``ours_ms``, ``bound_ms``.
    """
    tables = list(dict.fromkeys(both["table"]))
    heights = [int((both["table"] == table).sum()) for table in tables]
    size = (PAGE, 0.8 + 0.19 * sum(heights))
    fig, grid = plt.subplots(len(tables), 1, figsize=size, sharex=True, squeeze=False, height_ratios=heights)
    for axes, table in zip(grid[:, 0], tables, strict=True):
        part = both[both["table"] == table]
        at = np.arange(len(part))[::-1]
        axes.plot(part["ours_ms"], at, "o", color=BLUE, ms=4, label="this machine (compare the shape only)")
        axes.plot(part["printed_ms"], at, "D", color=RED, mfc="white", ms=4, label="printed (Raspberry Pi 3)")
        axes.plot(part["bound_ms"], at, "|", color=INK, ms=7, label="lower bound of a Pi 3")
        axes.set_yticks(at, [_short(str(title)) for title in part["title"]], fontsize=SMALLEST)
        axes.set(ylim=(-0.7, len(part) - 0.3), ylabel=f"Table {table}", xscale="log")
    grid[-1, 0].set_xlabel("milliseconds per window")
    fig.align_ylabels(grid[:, 0])
    fig.legend(*grid[0, 0].get_legend_handles_labels(), loc="outside upper left", ncols=3)
    return fig


@drawn
def budgets(windows: pd.DataFrame) -> Figure:
    """Draw the time of a whole window, and the time until the next one is due.

    Parameters
    ----------
    windows : pandas.DataFrame
        ``label``, ``median_ms``, ``p99_ms`` (may be missing), ``budget_ms``.
    """
    fig, axes = plt.subplots(figsize=(PAGE, 0.9 + 0.24 * len(windows)))
    at = np.arange(len(windows))[::-1]
    axes.hlines(at, windows["median_ms"], windows["p99_ms"].fillna(windows["median_ms"]), color=BLUE, lw=2)
    axes.plot(windows["median_ms"], at, MARKERS[0], color=BLUE, label="median; line to the 99th percentile")
    axes.plot(windows["budget_ms"], at, "|", color=RED, ms=14, mew=2, label="next window due")
    axes.set_yticks(at, list(windows["label"]))
    axes.set(xscale="log", xlabel="milliseconds per window, all steps, one window at a time")
    fig.legend(*axes.get_legend_handles_labels(), loc="outside upper left", ncols=2)
    return fig


@drawn
def links(table: pd.DataFrame, ways: Sequence[str]) -> Figure:
    """Draw the time of each way to run the decoder, over each link (section 6.4).

    Parameters
    ----------
    table : pandas.DataFrame
        ``link`` and one column per way, in seconds.
    ways : sequence of str
        Columns to draw.
    """
    fig, axes = plt.subplots(figsize=(PAGE, 1.1 + 0.36 * len(table)))
    at, looks = np.arange(len(table))[::-1], zip(SERIES, MARKERS, strict=True)
    for way, (colour, marker), shift in zip(ways, looks, np.linspace(0.2, -0.2, len(ways)), strict=False):
        axes.plot(1000 * table[way], at + shift, marker, color=colour, ms=5, ls="", label=_WAYS[way])
    for y in at[:-1]:
        axes.axhline(y - 0.5, color=GREY, lw=0.5)
    axes.set_yticks(at, list(table["link"]))
    axes.set(xscale="log", xlabel="milliseconds from latent variables to a window that can be used")
    fig.legend(*axes.get_legend_handles_labels(), loc="outside upper left", ncols=2)
    return fig


_WAYS = {
    "device": "decoded and used on the device",
    "cloud_back": "decoded in the cloud, used on the device",
    "device_up": "decoded on the device, used in the cloud",
    "cloud_stays": "decoded and used in the cloud",
}


def _short(title: str) -> str:
    """Return a row's printed name, with its citation as a year."""
    name, _, cited = title.partition(" [")
    year = {"malekzadeh2017replacement]": " (2017)", "malekzadeh19]": " (2019)"}
    return name + year.get(cited, "")
