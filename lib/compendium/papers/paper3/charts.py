"""The figures of paper 3: latent space, windows before and after, networks, grid of weights, attacks, frontier."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd
import seaborn
from matplotlib import pyplot as plt
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from compendium.papers.paper3.values import TABLES
from compendium.show.charts import intervals_by_set, note
from compendium.show.diagrams import Arrow, Box, flow_diagram
from compendium.show.figures import BLUE, GREY, INK, IRIDESCENT, MARKERS, PAGE, RED, SERIES, SMALLEST, drawn
from compendium.verdicts.printed import printed_values


def anonymization_pipeline(public: Sequence[str], private: Sequence[str], modify: str, transfer: str) -> Figure:
    """Draw the anonymization of a window (paper 3, Fig. 1) with the classes and choices of a run.

    Parameters
    ----------
    public, private : sequence of str
        Classes.
    modify, transfer : str
        The two choices of Algorithm 1, in words.
    """
    boxes = [
        Box("x", "Window x", "from the sensors", 0, 1, rounded=True),
        Box("y", "Public inference", f"y: {', '.join(public)}", 1, 0, colour=BLUE),
        Box("p", "Private inference", f"p: {', '.join(private)}", 1, 2, colour=RED),
        Box("e", "Encoder of y", "q(z|x), one z drawn", 1, 1),
        Box("t", "Transformation", f"{transfer}, by the mean latents m(y, p)", 2, 1),
        Box("m", "Modify", f"p to p': {modify}", 2, 2, colour=RED),
        Box("d", "Decoder of y", "p(x|z')", 3, 1),
        Box("o", "Published window", "instead of x", 3, 2, rounded=True),
    ]
    arrows = [
        Arrow("x", "y", leave="up"),
        Arrow("x", "p", leave="down"),
        Arrow("x", "e"),
        Arrow("y", "e", leave="down", enter="up"),
        Arrow("p", "m"),
        Arrow("m", "t", leave="up", enter="down"),
        Arrow("e", "t"),
        Arrow("t", "d"),
        Arrow("d", "o", leave="down", enter="up"),
    ]
    return flow_diagram(boxes, arrows, column_gap=0.4, row_gap=0.3)


@drawn
def latent_space(points: pd.DataFrame, means: pd.DataFrame) -> Figure:
    """Draw latents before and after the change in a plane, with class means and transfer vectors (paper 3, Fig. 4).

    Parameters
    ----------
    points : pandas.DataFrame
        ``panel``, ``class``, ``x``, ``y``: one row a window.
    means : pandas.DataFrame
        ``class``, ``x``, ``y``: mean latent of each class. An arrow leads from each mean to the next.
    """
    panels = list(dict.fromkeys(points["panel"]))
    fig, grid = plt.subplots(1, len(panels), figsize=(PAGE, 2.7), sharex=True, sharey=True, squeeze=False)
    looks: dict[str, Any] = {"palette": SERIES[: len(means)], "markers": MARKERS[: len(means)]}
    looks |= {"hue_order": list(means["class"]), "style_order": list(means["class"])}
    where = means[["x", "y"]].to_numpy()
    arrows = list(zip(where, np.roll(where, -1, axis=0), strict=True))[: 1 if len(where) == 2 else None]
    for axes, panel in zip(grid[0], panels, strict=True):
        some = points[points["panel"] == panel]
        seaborn.scatterplot(some, x="x", y="y", hue="class", style="class", ax=axes, s=4, alpha=0.4, lw=0, **looks)
        axes.plot(means["x"], means["y"], "x", color=INK, ms=8, mew=2)
        for start, end in arrows:
            axes.annotate("", end, start, arrowprops={"arrowstyle": "->", "color": INK, "lw": 1.2})
        axes.set(title=panel, xlabel="first direction", ylabel="second direction")
        axes.get_legend().remove()
    fig.legend(*grid[0, 0].get_legend_handles_labels(), loc="outside upper left", ncols=len(means), markerscale=3)
    return fig


def inference_panels(tables: Mapping[str, pd.DataFrame], private: str) -> dict[str, pd.DataFrame]:
    """Return the bars of Figs. 5 to 7: accuracy on both attributes by public class, raw and after each change.

    Parameters
    ----------
    tables : mapping of str to pandas.DataFrame
        Inference before and after each change, see `latent.inference_table`. All tables agree on the values before.
    private : str
        The private attribute.

    Returns
    -------
    dict of str to pandas.DataFrame
        One table a panel: one row a public class, one column a change, ``raw`` first.
    """
    first = next(iter(tables.values()))
    return {
        title: pd.DataFrame(
            {"raw": first[f"{which}_before"]} | {change: table[f"{which}_after"] for change, table in tables.items()}
        )
        for which, title in (("public", "(a) activity"), ("private", f"(b) {private}"))
    }


def printed_panels(dataset: str, private: str) -> dict[str, pd.DataFrame]:
    """Return the printed values of Table 1, 2 or 3 in the form of `inference_panels`; none for other data.

    They are those of raw windows and of the paper's mean shift.
    """
    values = printed_values(3)
    own = values[values["table"] == TABLES.get((dataset, private), "none")].dropna(subset="value")
    cells = own.assign(name=own["where"].str.removeprefix("public class="))
    wide = cells.pivot_table(index="name", columns="our_column", values="value", sort=False)
    panels = {"(a) activity": "public", f"(b) {private}": "private"} if len(own) else {}
    ends = {"before": "raw", "after": "mean shift"}
    return {
        title: wide[[f"{which}_{end}" for end in ends]].set_axis(list(ends.values()), axis=1)
        for title, which in panels.items()
    }


@drawn
def windows_over(signals: pd.DataFrame) -> Figure:
    """Draw original and published windows on top of each other.

    Parameters
    ----------
    signals : pandas.DataFrame
        ``public``, ``channel``, ``time``, ``original``, ``published``: one row a sample. There is one panel for each
        public class and channel.
    """
    rows, columns = (list(dict.fromkeys(signals[name])) for name in ("channel", "public"))
    size = (PAGE, 0.5 + 1.15 * len(rows))
    fig, grid = plt.subplots(len(rows), len(columns), figsize=size, sharex=True, sharey="row", squeeze=False)
    looks: dict[str, dict[str, Any]] = {
        "original": {"color": GREY, "lw": 1.8},
        "published": {"color": BLUE, "lw": 1, "ls": "--"},
    }
    for (channel, public), part in signals.groupby(["channel", "public"], sort=False):
        for name, look in looks.items():
            grid[rows.index(channel), columns.index(public)].plot(part["time"], part[name], **look)
    for axes, name in zip(grid[0], columns, strict=True):
        axes.set_title(str(name))
    for axes, name in zip(grid[:, 0], rows, strict=True):
        axes.set_ylabel(str(name))
    plt.setp(grid[-1], xlabel="seconds")
    handles = [Line2D([], [], **look) for look in looks.values()]
    fig.legend(handles, list(looks), loc="outside upper left", ncols=2)
    return fig


@drawn
def network_layers(networks: Mapping[str, Sequence[tuple[str, int]]]) -> Figure:
    """Draw the layers of networks as bars; the height is the number of neurons or filters (Figs. 2, 3, 9, 10).

    Parameters
    ----------
    networks : mapping of str to sequence of (str, int)
        Kind and size of each layer, beginning at the input.
    """
    fig, grid = plt.subplots(1, len(networks), figsize=(PAGE, 2.5), sharey=True, squeeze=False)
    looks = {"input": (GREY, ""), "dense": (BLUE, ""), "conv": (RED, "////"), "latent": (INK, "")}
    for axes, (title, layers) in zip(grid[0], networks.items(), strict=True):
        kinds, sizes = zip(*layers, strict=True)
        colours, hatches = zip(*(looks[kind] for kind in kinds), strict=True)
        axes.bar(range(len(sizes)), sizes, width=0.62, color=colours, hatch=hatches, edgecolor="white")
        for place, size in enumerate(sizes):
            note(axes, str(size), (place, size), (0, 2), ha="center")
        axes.set_xticks(range(len(sizes)), kinds, rotation=90, fontsize=SMALLEST)
        axes.set(title=title, yscale="log")
    highest = max(size for layers in networks.values() for _, size in layers)
    grid[0, 0].set(ylabel="neurons or filters", ylim=(1, 4 * highest))
    return fig


@drawn
def weight_grid(table: pd.DataFrame, measures: Sequence[str]) -> Figure:
    """Draw measures over the grid of alpha and beta (paper 3, section 5.2).

    Parameters
    ----------
    table : pandas.DataFrame
        ``alpha``, ``beta`` and the measures.
    measures : sequence of str
        One panel each.
    """
    fig, grid = plt.subplots(1, len(measures), figsize=(PAGE, 2.4), squeeze=False)
    for axes, measure in zip(grid[0], measures, strict=True):
        cells = table.pivot_table(index="beta", columns="alpha", values=measure).sort_index(ascending=False)
        looks: dict[str, Any] = {"fmt": ".3g", "annot_kws": {"fontsize": SMALLEST}, "cmap": IRIDESCENT}
        seaborn.heatmap(cells.rename("{:g}".format).rename(columns="{:g}".format), annot=True, ax=axes, **looks)
        axes.set_title(measure.replace("_", " "))
        axes.tick_params(axis="y", rotation=0)
    return fig


@drawn
def weight_frontier(table: pd.DataFrame, *, chance: float, raw: float) -> Figure:
    """Draw public against private accuracy for each pair of weights, as a line through the lengths of the shift.

    Parameters
    ----------
    table : pandas.DataFrame
        ``alpha``, ``beta``, ``transfer``, ``public_after``, ``private_after``: one row for each pair and transfer. The
        transfers are in the order of their length.
    chance : float
        Chance level of the private class: the rate of the most frequent class.
    raw : float
        Accuracy on the public class from raw windows.
    """
    fig, axes = plt.subplots(figsize=(PAGE, 3.0))
    axes.axhline(raw, color=INK, ls=":", lw=1)
    axes.axvline(chance, color=INK, ls=":", lw=1)
    for place, ((alpha, beta), part) in enumerate(table.groupby(["alpha", "beta"], sort=True)):
        colour, marker = _look(place)
        label = f"alpha {alpha:g}, beta {beta:g}"
        axes.plot(part["private_after"], part["public_after"], "-", marker=marker, color=colour, label=label)
        for row in part.to_dict("records"):
            name = row["transfer"].removeprefix("mean shift") or " x1"
            note(axes, name, (row["private_after"], row["public_after"]), (3, 3))
    axes.set_xlabel("accuracy of the original model on the private class (dotted: chance level)")
    axes.set_ylabel("accuracy on the public class")
    axes.set_xlim(0, 1.1 * max(chance, table["private_after"].max()))  # room for the names of the points
    axes.legend(loc="center left", bbox_to_anchor=(1, 0.5), fontsize=SMALLEST)
    return fig


def attack_levels(attacks: pd.DataFrame, *, rows: str = "attacker", panels: str = "release") -> Figure:
    """Draw the accuracy of attackers at each level, with intervals and chance levels (paper 3, Fig. 8).

    Parameters
    ----------
    attacks : pandas.DataFrame
        ``release``, ``attacker``, ``about``, ``level``, ``score``, ``low``, ``high``, ``chance``.
    rows, panels : str
        Columns whose values are the rows of a panel, and the panels.
    """
    names = {panels: "measure", rows: "problem", "level": "option", "score": "value"}
    table = attacks[[*names, "low", "high", "chance"]].rename(columns=names)
    titles = table["measure"].replace("subject", "identity")
    return intervals_by_set(table.assign(measure=titles + ": accuracy of the attacker"))


@drawn
def privacy_frontier(table: pd.DataFrame) -> Figure:
    """Draw activity accuracy against the strongest attacker, one point for each release.

    Parameters
    ----------
    table : pandas.DataFrame
        ``release``, ``activity``, ``strongest``, ``chance`` (the attacker's chance level), ``trivial`` (whether the
        release needs no method). The shaded area ends 10 points above chance. The dotted line is the activity of the
        release ``raw``.
    """
    fig, axes = plt.subplots(figsize=(PAGE, 3.6))
    chance, activity = float(table["chance"].iloc[0]), table.set_index("release")["activity"]
    raw = float(activity.get("raw", activity.max()))
    axes.axvspan(0, chance + 0.1, color="#DDEEDD", zorder=0, label="_near chance")
    axes.axvline(chance, color=INK, ls=":", lw=1)
    axes.axhline(raw, color=INK, ls=":", lw=1)
    for place, row in enumerate(table.to_dict("records")):
        colour, marker = _look(place)
        face = "white" if row["trivial"] else colour
        axes.plot(row["strongest"], row["activity"], marker, color=colour, mfc=face, ms=7, label=row["release"])
    axes.set_xlabel("accuracy of the strongest attacker, all windows of a recording (dotted: chance level)")
    axes.set_ylabel("activity, independent classifiers")
    axes.set_xlim(max(0, min(float(table["strongest"].min()), chance) - 0.05), 1.03)
    axes.set_ylim(min(float(table["activity"].min()), raw) - 0.03, max(float(table["activity"].max()), raw) + 0.03)
    axes.legend(loc="center left", bbox_to_anchor=(1, 0.5), fontsize=SMALLEST)
    return fig


@drawn
def loss_curves(history: pd.DataFrame, terms: Sequence[str]) -> Figure:
    """Draw the terms of the loss over epochs, one line for each public class.

    Parameters
    ----------
    history : pandas.DataFrame
        ``epoch``, ``public`` and the terms.
    terms : sequence of str
        One panel each.
    """
    fig, grid = plt.subplots(1, len(terms), figsize=(PAGE, 2.2), squeeze=False)
    for axes, term in zip(grid[0], terms, strict=True):
        seaborn.lineplot(history, x="epoch", y=term, hue="public", style="public", ax=axes, estimator=None)
        axes.set(title=term.replace("_", " "), ylabel="", yscale="log")
        axes.get_legend().remove()
    fig.legend(*grid[0, 0].get_legend_handles_labels(), loc="outside upper left", ncols=7)
    return fig


def _look(place: int) -> tuple[str, str]:
    """Return colour and marker of a series; 49 series have different looks."""
    return SERIES[place % 7], MARKERS[(place + place // 7) % 7]
