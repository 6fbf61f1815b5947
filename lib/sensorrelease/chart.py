"""The frontier: accuracy of the task against the strongest attack, one point for each defence."""

import re
from pathlib import Path
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.ticker import PercentFormatter
from sklearn.isotonic import isotonic_regression

from sensorprivacy.minimize.baselines import METHODS

STYLE = Path(__file__).parent / "compendium.mplstyle"
PAPERS = {"minimize:threshold=0.01": 1, "threeway:printed": 2, "shift, probabilistic": 3}
"""The defence of each paper, in its own settings; it has a label wherever it lies."""

_INK, _GREY = "#222222", "#777777"
# Paul Tol's bright scheme; each kind has a colour and a marker of its own
_KINDS = {
    "trivial": (_INK, "X"),
    "drops columns": ("#4477AA", "o"),
    "divides columns in three": ("#EE6677", "D"),
    "rewrites windows": ("#AA3377", "^"),
    "guaranteed in every column": ("#228833", "s"),
    "other": (_GREY, "P"),
}
_FAMILIES = {"minimize": 1, "method": 1, "threeway": 2, "shift": 3, "latent": 3}  # place of their kind above
_SIZE = (7.0, 4.2)  # inches; readable at half of a page's width
_LINE = 0.043  # height of a label, as a share of the axis
_WORDS = (  # of names that the command line knows: pattern, replacement
    ("^none$", "raw data"),
    ("^prediction$", "predicted label alone"),
    (r"^minimize(\+noise)?:", r"minimized\1, "),
    (r"threshold=([\d.]+)", lambda found: f"loss up to {100 * float(found[1]):g} %"),
    (r"^minimized\+noise", "minimized and noise"),
    ("^threeway:printed$", "three-way division"),
    ("^threeway:", "three-way division, "),
    ("^noise:", "noise, "),
    ("^method:([a-z_]+)", lambda found: METHODS[found[1]].title.replace("-based greedy", "")),
    ("^shift, deterministic", "shift to the next class"),
    ("^shift, probabilistic", "shift to a random class"),
    ("^guaranteed", "guaranteed windows"),
    ("^donor", "latent of a donor"),
    ("^codebook ([0-9]+)", r"codebook of \1 cells"),
    ("preselect=", "of the best "),
    ("columns=([0-9]+)", r"\1 columns"),
    ("epsilon=", "ε "),
    (",(?! )", ", "),
)


def frontier(table: pd.DataFrame, hidden: str = "user") -> Figure:
    """Draw one point for each defence: to the right is more useful, lower is more private.

    Colour and marker show the kind of defence. The points that no other method beats in both measures are joined, and
    filled as the trivial ones are. These, the guaranteed ones that no other guaranteed one beats, the papers' own and
    the trivial ones have labels, in words and to the right of the axes.

    Parameters
    ----------
    table : pandas.DataFrame
        As `Findings.frame`.
    hidden : str, default "user"
        The attribute that attackers infer.
    """
    judged = table.dropna(subset="accuracy").set_index("defence")
    trivial, sure = judged["trivial"].astype(bool), judged["guaranteed"].astype(bool)
    best = _unbeaten(judged[~trivial])
    kinds: dict[Any, str] = {}
    for name, row in judged.iterrows():
        place = 0 if row["trivial"] else 4 if row["guaranteed"] else _FAMILIES.get(row["family"], 5)
        kinds[name] = list(_KINDS)[place]
    with plt.rc_context(), plt.style.context(["default", STYLE]):
        plt.rcParams["text.parse_math"] = False  # names come from files
        fig, axes = plt.subplots(figsize=_SIZE)
        for name, row in judged.iterrows():
            _point(axes, row, _KINDS[kinds[name]], filled=kinds[name] == "trivial" or name in best)
        edge = judged.loc[best].sort_values("accuracy")
        axes.plot(
            edge["accuracy"], edge["attack"], color=_GREY, lw=0.8, ls=":", zorder=1, label="joined: unbeaten in both"
        )
        raw = judged.iloc[0]
        axes.axhline(raw["chance"], color=_GREY, lw=0.9, ls="--", zorder=1, label="chance level")
        units = "recordings" if raw["unit"] == "groups" else raw["unit"]
        axes.set_xlabel("accuracy of the task, % of rows (right: more useful)")
        which = "user" if hidden == "user" else hidden
        axes.set_ylabel(
            f"{units} whose {which} the strongest attack infers,\n% of {raw['n']:,.0f} (down: more private)"
        )
        for axis in (axes.xaxis, axes.yaxis):
            axis.set_major_formatter(PercentFormatter(1.0, symbol=" %"))  # with as many decimals as ticks need
        low, high = axes.get_ylim()
        axes.set_ylim(max(low, -0.02), min(high, 1.02))
        shown = [name for name in judged.index if kinds[name] == "trivial" or name in best or name in PAPERS]
        shown = list(dict.fromkeys([*shown, *_unbeaten(judged[sure])]))
        _labels(axes, judged.loc[shown])
        handles: list[Any] = [
            Line2D([], [], color=colour, marker=marker, ls="", label=kind)
            for kind, (colour, marker) in _KINDS.items()
            if kind in kinds.values()
        ]
        handles += axes.get_legend_handles_labels()[0]
        fig.legend(handles=handles, loc="outside upper left", ncols=4, columnspacing=1.2)
        plt.close(fig)
        return fig


def in_words(name: str) -> str:
    """Return a defence's name in words; other names than those of the command line stay as they are.

    Examples
    --------
    >>> in_words("minimize+noise:threshold=0.01,epsilon=4")
    'minimized and noise, loss up to 1 %, ε 4'
    >>> in_words("method:shap_ratio")
    'SHAP by cost-to-value ratio'
    """
    words = name
    for pattern, replacement in _WORDS:
        words = re.sub(pattern, replacement, words)
    return f"paper {PAPERS[name]}: {words}" if name in PAPERS else words


def _unbeaten(places: pd.DataFrame) -> list[str]:
    """Return the names that no other beats: at least as good in both measures and better in one."""
    accuracy, attack = (places[name].to_numpy(float) for name in ("accuracy", "attack"))
    as_good = (accuracy >= accuracy[:, None]) & (attack <= attack[:, None])
    better = (accuracy > accuracy[:, None]) | (attack < attack[:, None])
    return [str(name) for name, beaten in zip(places.index, as_good & better, strict=True) if not beaten.any()]


def _point(axes: Axes, row: pd.Series, looks: tuple[str, str], *, filled: bool) -> None:
    colour, marker = looks
    x, y = row["accuracy"], row["attack"]
    axes.errorbar(
        x,
        y,
        xerr=[[x - row["accuracy_low"]], [row["accuracy_high"] - x]],
        yerr=[[y - row["attack_low"]], [row["attack_high"] - y]],
        marker=marker,
        color=colour,
        mfc=colour if filled else "white",
        ms=5,
        elinewidth=0.5,
        alpha=1.0 if filled else 0.6,
        zorder=3 if filled else 2,
    )


def _labels(axes: Axes, places: pd.DataFrame) -> None:
    """Write names in a column to the right of the axes, in the order of the points, each on a line of its own."""
    low, high = axes.get_ylim()
    ordered = places.sort_values(["attack", "accuracy"], ascending=[True, False])
    heights = (ordered["attack"].to_numpy(float) - low) / (high - low)
    steps = np.arange(len(heights)) * min(_LINE, 1 / len(heights))
    # the nearest heights that are at least one line apart
    free = isotonic_regression(heights - steps, y_min=0, y_max=1 - steps[-1]) + steps
    for (name, row), height in zip(ordered.iterrows(), free, strict=True):
        axes.annotate(
            in_words(str(name)),
            (row["accuracy"], row["attack"]),
            xytext=(1.03, height),
            textcoords="axes fraction",
            va="center",
            arrowprops={"arrowstyle": "-", "lw": 0.4, "color": _GREY, "shrinkB": 3, "relpos": (0, 0.5)},
            zorder=4,
        )
