"""The frontier: accuracy of the task against the strongest attack, one point for each defence."""

from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from sensorprivacy.own.findings import Findings, hidden_in
from sensorprivacy.own.results import Result

STYLE = Path(__file__).parent / "compendium.mplstyle"
_BLUE, _GREEN, _INK, _GREY = "#4477AA", "#228833", "#222222", "#777777"
_SIZE = (5.4, 4.2)  # inches; readable at half of a page's width
_NEAR = 0.015  # points that are nearer than this share of both axes have one label
_LINE = 0.045  # height of a label, as a share of the axis
Place = tuple[float, float]


def frontier(found: Findings) -> Figure:
    """Draw one point for each defence: to the right is more useful, lower is more private.

    A square is guaranteed in every column, a circle is not, a cross is a trivial release: the raw table and the
    prediction alone. The points that no other method beats in both measures are filled and joined. These, the
    guaranteed ones that no other guaranteed one beats, and the trivial ones have labels.
    """
    with plt.rc_context(), plt.style.context(["default", STYLE]):
        fig, axes = plt.subplots(figsize=_SIZE)
        places = {
            one.defence: (one.task().measure.score, one.attacks(one.levels[0])[0].measure.score)
            for one in found.results
        }
        own = {one.defence: places[one.defence] for one in found.results if not one.trivial}
        best = {name for name, place in own.items() if not _beaten(place, own)}
        for one in found.results:
            _point(axes, one, filled=one.trivial or one.defence in best)
        if best:
            axes.plot(*zip(*sorted(own[name] for name in best), strict=True), color=_GREY, lw=0.8, ls=":", zorder=1)
        raw, task = found.raw.strongest().measure, found.raw.task().measure
        axes.axhline(raw.chance, color=_GREY, lw=0.9, ls="--", zorder=1)
        axes.text(
            0.005, raw.chance, "chance", fontsize=7, color=_GREY, va="bottom", transform=axes.get_yaxis_transform()
        )
        sure = {one.defence: places[one.defence] for one in found.results if one.guaranteed}
        best |= {name for name, place in sure.items() if not _beaten(place, sure)}
        shown = [one for one in found.results if one.trivial or one.defence in best]
        _labels(axes, {one.defence: places[one.defence] for one in shown})
        axes.set_xlabel(f"accuracy of the task (n = {task.n:,} {task.unit})")
        what = "users identified" if (hidden := hidden_in(found)) == "user" else f"{hidden} inferred"
        axes.set_ylabel(f"{what} by the strongest attack (n = {raw.n:,} {raw.unit})")
        axes.xaxis.set_major_formatter(lambda x, _: f"{x:.0%}")
        axes.yaxis.set_major_formatter(lambda y, _: f"{y:.0%}")
        axes.set_title("right: more useful; down: more private; square: guaranteed", fontsize=7.5, weight="normal")
        plt.close(fig)
        return fig


def _beaten(place: Place, places: dict[str, Place]) -> bool:
    """Return whether another point is at least as good in both measures and better in one."""
    return any(other != place and other[0] >= place[0] and other[1] <= place[1] for other in places.values())


def _point(axes: Axes, one: Result, *, filled: bool) -> None:
    task, attack = one.task().measure, one.strongest().measure
    colour = _INK if one.trivial else _GREEN if one.guaranteed else _BLUE
    axes.errorbar(
        task.score,
        attack.score,
        xerr=[[task.score - task.low], [task.high - task.score]],
        yerr=[[attack.score - attack.low], [attack.high - attack.score]],
        marker="X" if one.trivial else "s" if one.guaranteed else "o",
        color=colour,
        mfc=colour if filled else "white",
        ms=5,
        elinewidth=0.5,
        alpha=1.0 if filled else 0.5,
        zorder=3 if filled else 2,
    )


def _labels(axes: Axes, places: dict[str, Place]) -> None:
    """Write names beside points, from the top; points at one place share a label, and labels keep a distance."""
    (left, right), (low, high) = axes.get_xlim(), axes.get_ylim()
    size = np.array([right - left, high - low])
    merged: list[tuple[list[str], Place]] = []
    for name, place in sorted(places.items(), key=lambda item: -item[1][1]):
        near = next((names for names, other in merged if (abs(np.subtract(place, other)) < _NEAR * size).all()), None)
        if near is None:
            merged.append(([name], place))
        else:
            near.append(name)
    lowest = {"left": np.inf, "right": np.inf}
    for names, (x, y) in merged:
        side = "left" if x - left < size[0] / 2 else "right"
        height = lowest[side] = min(y + _LINE * size[1] / 2, lowest[side] - _LINE * size[1])
        axes.annotate(
            _short(names[0]) + (f" and {len(names) - 1} more" if len(names) > 1 else ""),
            (x, y),
            xytext=(x + (0.015 if side == "left" else -0.015) * size[0], height),
            ha=side,
            va="center",
            fontsize=6.5,
            arrowprops={"arrowstyle": "-", "lw": 0.3, "color": _GREY},
            bbox={"boxstyle": "square,pad=0.1", "fc": "white", "ec": "none", "alpha": 0.7},
            zorder=4,
        )
    axes.set_ylim(min(low, *(height - _LINE * size[1] for height in lowest.values())), high)  # labels stay inside


def _short(name: str) -> str:
    """Return a defence's name without the words that its symbols say.

    Examples
    --------
    >>> _short("minimize+noise:threshold=0.01,epsilon=4")
    'minimize+noise 0.01 ε=4'
    >>> _short("shift, probabilistic")
    'shift probabilistic'
    """
    for word, sign in (("threshold=", ""), ("epsilon=", "ε="), (":", " "), (",", " ")):
        name = name.replace(word, sign)
    return " ".join(name.split())
