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
from compendium.show.charts import grouped_bars, intervals_by_set
from compendium.show.figures import BLUE, GREY, INK, IRIDESCENT, MARKERS, PAGE, SERIES, SMALLEST, drawn
from compendium.verdicts.printed import printed_values

_NAMES = {
    **{"dws": "down stairs", "ups": "up stairs", "wlk": "walking", "jog": "jogging"},
    **{"WAL": "walking", "STD": "standing", "JOG": "jogging", "STU": "stairs up"},
    # Burns et al. 2018, the exercises of the smartwatch set
    **{"PEN": "pendulum", "ABD": "abduction", "FEL": "forward elevation", "IR": "internal rotation"},
    **{"ER": "external rotation", "TRAP": "trapezius extension", "ROW": "upright row"},
    **{"subject": "identity", "public": "activity"},
}


def plain(name: object) -> str:
    """Return the name that figures show for a class, a column or a channel: ``walking`` for ``wlk``."""
    return _NAMES.get(str(name), str(name).replace("_", " "))


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
        axes.set(title=f"{panel} the shift", xlabel="latent space, through the class means")
        axes.set_ylabel("at right angles, most variance")
        axes.get_legend().remove()
    fig.legend(*grid[0, 0].get_legend_handles_labels(), loc="outside upper left", ncols=len(means), markerscale=3)
    return fig


def inference_bars(tables: Mapping[str, pd.DataFrame], dataset: str, private: str) -> Figure:
    """Draw Figs. 5 to 7: accuracy by activity before and after each change, printed values and chance levels.

    Parameters
    ----------
    tables : mapping of str to pandas.DataFrame
        As for `inference_panels`. A method called untrained is not drawn: its bars would prove nothing.
    dataset, private : str
        Data set and private attribute.
    """
    tables = {name: table for name, table in tables.items() if not name.endswith("untrained")}
    bars, marks = inference_panels(tables, private), printed_panels(dataset, private)
    chance = chance_levels(next(iter(tables.values())), private)
    return grouped_bars(bars, ylabel="accuracy", percent=True, digits=0, printed=marks, chance=chance)


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
    found, first = {}, next(iter(tables.values()))
    for which, title in (("public", "(a) activity"), ("private", f"(b) {private}")):
        after = {change: table[f"{which}_after"] for change, table in tables.items()}
        found[title] = pd.DataFrame({"raw": first[f"{which}_before"]} | after).rename(index=plain)
    return found


def chance_levels(table: pd.DataFrame, private: str) -> dict[str, pd.Series]:
    """Return the chance levels of Figs. 5 to 7: of the private class for each row, of the activity for all windows.

    Parameters
    ----------
    table : pandas.DataFrame
        By public class and ``all``: ``chance`` of the private class and ``windows``. For the activity, chance is the
        share of the most frequent one; within an activity it means nothing.
    private : str
        The private attribute.
    """
    windows = table["windows"]
    activity = pd.Series({"all": windows.drop(index="all").max() / windows["all"]})
    return {"(a) activity": activity, f"(b) {private}": table["chance"].rename(index=plain)}


def printed_panels(dataset: str, private: str) -> dict[str, pd.DataFrame]:
    """Return the printed values of Table 1, 2 or 3 in the form of `inference_panels`; none for other data.

    They are those of raw windows and of the paper's mean shift.
    """
    values = printed_values(3)
    own = values[values["table"] == TABLES.get((dataset, private), "none")].dropna(subset="value")
    cells = own.assign(name=own["where"].str.removeprefix("public class=").map(plain))
    wide = cells.pivot_table(index="name", columns="our_column", values="value", sort=False)
    panels = {"(a) activity": "public", f"(b) {private}": "private"} if len(own) else {}
    measured = {title: wide[[f"{which}_before", f"{which}_after"]] for title, which in panels.items()}
    return {title: frame.set_axis(["raw", "mean shift"], axis=1) for title, frame in measured.items()}


@drawn
def windows_over(signals: pd.DataFrame) -> Figure:
    """Draw original and published windows on top of each other.

    Parameters
    ----------
    signals : pandas.DataFrame
        ``public``, ``channel``, ``time``, ``original`` and, unless raw windows are shown alone, ``published``: one row
        a sample. There is one panel for each public class and channel.
    """
    rows, columns = (list(dict.fromkeys(signals[name])) for name in ("channel", "public"))
    size = (PAGE, 0.5 + 1.15 * len(rows))
    fig, grid = plt.subplots(len(rows), len(columns), figsize=size, sharex=True, sharey="row", squeeze=False)
    looks: dict[str, dict[str, Any]] = {
        "original": {"color": GREY, "lw": 1.8},
        "published": {"color": BLUE, "lw": 1, "ls": "--"},
    }
    looks = {name: look for name, look in looks.items() if name in signals}
    for (channel, public), part in signals.groupby(["channel", "public"], sort=False):
        for name, look in looks.items():
            grid[rows.index(channel), columns.index(public)].plot(part["time"], part[name], **look)
    for axes, name in zip(grid[0], columns, strict=True):
        axes.set_title(plain(name))
    for axes, name in zip(grid[:, 0], rows, strict=True):
        axes.set_ylabel(_UNITS.get(str(name).split("_")[0], "{}").format(plain(name)))
    plt.setp(grid[-1], xlabel="seconds")
    handles = [Line2D([], [], **look) for look in looks.values()]
    fig.legend(handles, list(looks), loc="outside upper left", ncols=2)
    return fig


@drawn
def weight_grid(table: pd.DataFrame, measures: Sequence[str]) -> Figure:
    """Draw measures over the grid of alpha and beta (paper 3, section 5.2).

    Parameters
    ----------
    table : pandas.DataFrame
        ``alpha``, ``beta`` and the measures.
    measures : sequence of str
        One panel each. Its colours cover at least ten points, or a tenth of the largest loss: small differences look
        small.
    """
    titles = {"public_after": "activity inferred", "private_after": "private class inferred"}
    fig, grid = plt.subplots(1, len(measures), figsize=(PAGE, 2.6), squeeze=False)
    for axes, measure in zip(grid[0], measures, strict=True):
        share = measure.endswith("_after")
        cells = table.pivot_table(index="beta", columns="alpha", values=measure).sort_index(ascending=False)
        cells = cells.rename("{:g}".format).rename(columns="{:g}".format) * (100 if share else 1)
        middle, least = (cells.min().min() + cells.max().max()) / 2, 10 if share else cells.max().max() / 10
        half = max(np.ptp(cells.to_numpy()), least) / 2
        looks: dict[str, Any] = {"fmt": ".0f" if share else ".3g", "annot_kws": {"fontsize": SMALLEST}}
        looks |= {"vmin": middle - half, "vmax": middle + half}
        key = {"orientation": "horizontal", "label": "percent" if share else "loss per window", "aspect": 15}
        seaborn.heatmap(cells, annot=True, ax=axes, cmap=IRIDESCENT, cbar_kws=key, **looks)
        axes.set_title(titles.get(measure, measure))
        axes.set(xlabel="alpha, weight of classification", ylabel="beta, weight of divergence")
        axes.label_outer()
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
    betas, alphas = (sorted(table[name].unique()) for name in ("beta", "alpha"))
    fig, grid = plt.subplots(1, len(betas), figsize=(PAGE, 2.5), sharex=True, sharey=True, squeeze=False)
    for axes, beta in zip(grid[0], betas, strict=True):
        axes.axhline(100 * raw, color=INK, ls=":", lw=1)
        axes.axvline(100 * chance, color=INK, ls=":", lw=1)
        for place, alpha in enumerate(alphas):
            cells = table[(table["alpha"] == alpha) & (table["beta"] == beta)]
            part = 100 * cells[["private_after", "public_after"]]
            look = {"color": SERIES[place], "marker": MARKERS[place], "ms": 5, "lw": 1}
            axes.plot(*part.to_numpy().T, mfc="white", label=f"alpha {alpha:g}", **look)
            axes.plot(*part.head(1).to_numpy().T, **look)  # the paper's length
        axes.set_title(f"beta {beta:g}")
    grid[0, 0].set(ylabel="activity inferred (%)", xlim=(0, 110 * max(chance, table["private_after"].max())))
    fig.supxlabel("private class inferred by the original model (%)", fontsize="medium")
    handles = grid[0, 0].get_legend_handles_labels()[0]
    handles.append(Line2D([], [], color=INK, ls=":", lw=1, label="chance; activity of raw windows"))
    fig.legend(handles=handles, loc="outside upper left", ncols=len(handles))
    return fig


def trained(table: pd.DataFrame) -> pd.DataFrame:
    """Return the rows without those of releases that are called untrained: a chart would set them beside ours."""
    return table[~table["release"].str.endswith("untrained")]


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
    table = trained(attacks)[[*names, "low", "high", "chance"]].rename(columns=names)
    titles = table["measure"].replace("subject", "identity")
    return intervals_by_set(table.assign(measure=titles + ": accuracy of the attacker"))


@drawn
def privacy_frontier(table: pd.DataFrame) -> Figure:
    """Draw activity accuracy beside the strongest attacker, one row for each release, in four groups.

    Parameters
    ----------
    table : pandas.DataFrame
        ``release``, ``activity``, ``strongest``, ``chance`` (the attacker's chance level), ``trivial`` (whether the
        release needs no method). In each group the release with the weakest attacker comes first. The shaded area ends
        10 points above chance. Dotted lines are the activity of the release ``raw`` and chance.
    """
    table = trained(table)
    groups = [_group(row["release"], row["trivial"]) for row in table.to_dict("records")]
    ordered = table.assign(group=groups).sort_values(["group", "strongest"], kind="stable")
    names = [group for group in range(4) if group in groups]
    size = (PAGE, 1.0 + 0.17 * len(table) + 0.22 * len(names))
    heights = [groups.count(group) + 0.6 for group in names]
    shared: dict[str, Any] = {"sharex": "col", "sharey": "row", "squeeze": False}
    fig, grid = plt.subplots(len(names), 2, figsize=size, height_ratios=heights, **shared)
    chance, activity = 100 * float(table["chance"].iloc[0]), 100 * table.set_index("release")["activity"]
    raw = float(activity.get("raw", activity.max()))
    for (left, right), group in zip(grid, names, strict=True):
        part, face = ordered[ordered["group"] == group], "white" if group == 0 else SERIES[group]
        look: dict[str, Any] = {"color": SERIES[group], "marker": MARKERS[group], "mfc": face, "ls": "", "ms": 5}
        for axes, column in ((left, "activity"), (right, "strongest")):
            axes.plot(100 * part[column], range(len(part)), clip_on=False, **look)
            axes.grid(axis="y")
            axes.tick_params(axis="y", length=0)
        left.axvline(raw, color=INK, ls=":", lw=1)
        right.axvline(chance, color=INK, ls=":", lw=1)
        right.axvspan(min(40, chance - 5), chance + 10, color="#DDEEDD", zorder=0)
        left.set_yticks(range(len(part)), part["release"], fontsize=SMALLEST)
        left.set(ylim=(len(part) - 0.5, -0.7), title=_GROUPS[group])
    grid[-1, 0].set(xlabel="activity inferred (%)", xlim=(min(40, activity.min() - 3), 100))
    grid[-1, 1].set(xlabel="strongest attacker, recordings (%)", xlim=(min(40, chance - 5), 100))
    return fig


TERMS = ("reconstruction", "divergence", "classification", "validation_total")


@drawn
def loss_curves(history: pd.DataFrame, terms: Sequence[str] = TERMS) -> Figure:
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
        axes.set(title=plain(term), ylabel="", yscale="log")
        axes.get_legend().remove()
    grid[0, 0].set_ylabel("mean of a window")
    handles, names = grid[0, 0].get_legend_handles_labels()
    fig.legend(handles, list(map(plain, names)), loc="outside upper left", ncols=4)
    return fig


_GROUPS = ("No method", "The paper's, some with our redraws", "Rivals", "Ours")
_UNITS = {"acceleration": "{} (g)", "rotation": "{} (rad/s)"}


def _group(release: str, trivial: bool) -> int:
    """Return the place of a release's group in `_GROUPS`."""
    if trivial or release == "raw":
        return 0
    if release.startswith(("deterministic", "probabilistic")):
        return 1
    return 2 if release.startswith(("general VAE", "Replacement", "Anonymization")) else 3
