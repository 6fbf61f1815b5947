"""Boxes and arrows, laid out from data: the diagrams of paper 2 with a run's own numbers in them."""

import textwrap
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

from matplotlib import pyplot as plt
from matplotlib.axes import Axes
from matplotlib.colors import to_rgb
from matplotlib.figure import Figure
from matplotlib.patches import FancyBboxPatch, PathPatch
from matplotlib.path import Path

from sensorprivacy.report.figures import GROUPS, INK, PAGE, PALE, SMALLEST, drawn

_LINE = 0.135  # inches from one line of text to the next
_PAD = 0.1  # inches between a box's text and its edge
_SIDES = {"right": (1, 0), "left": (-1, 0), "up": (0, 1), "down": (0, -1)}


@dataclass(frozen=True)
class Box:
    """A box in column `column` and row `row` of a diagram, counted from the upper left.

    Parameters
    ----------
    key : str
        What arrows call it.
    title, text : str
        First line in bold, then the text; wrapped to the box's width.
    column, row : float
        Place on the grid.
    colour : str, optional
        How it is edged and, lighter, filled.
    rounded : bool, default False
        For data that flow, as against steps that act.
    """

    key: str
    title: str
    text: str = ""
    column: float = 0
    row: float = 0
    colour: str = PALE
    rounded: bool = False


@dataclass(frozen=True)
class Arrow:
    """An arrow between two boxes.

    Parameters
    ----------
    start, end : str
        The boxes' keys.
    label : str, optional
        What passes.
    leave, enter : {"right", "left", "up", "down"}
        The sides that it leaves and enters by; between them it runs at right angles.
    dashed : bool, default False
        For what goes back, such as another round.
    """

    start: str
    end: str
    label: str = ""
    leave: str = "right"
    enter: str = "left"
    dashed: bool = False


@drawn
def flow_diagram(
    boxes: Sequence[Box],
    arrows: Sequence[Arrow],
    *,
    frames: Mapping[str, Sequence[str]] | None = None,
    width: float = PAGE,
    row_gap: float = 0.46,
    column_gap: float = 0.55,
) -> Figure:
    """Draw boxes on a grid and arrows between them.

    Parameters
    ----------
    boxes : sequence of Box
        The boxes; all are as wide as the grid's columns, a row is as high as its longest text.
    arrows : sequence of Arrow
        The arrows.
    frames : mapping of str to sequence of str, optional
        A title, and the keys of the boxes that it frames.
    width : float, default 7
        Inches.
    row_gap, column_gap : float
        Inches between rows and between columns, where arrows and their labels lie.

    Raises
    ------
    ValueError
        If a key is given twice, or an arrow or a frame names a box that is not there.
    """
    _check(boxes, arrows, frames or {})
    columns = max(box.column for box in boxes) + 1
    margin = 0.16 if frames else 0.05
    wide = (width - 2 * margin - column_gap * (columns - 1)) / columns
    texts = {box.key: _wrapped(box, wide) for box in boxes}
    places, height = _lay_out(boxes, texts, wide, column_gap, row_gap, margin, 0.26 if frames else 0.05)
    fig = plt.figure(figsize=(width, height), layout="none")
    axes = fig.add_axes((0, 0, 1, 1), xlim=(0, width), ylim=(0, height), aspect="equal")
    axes.axis("off")
    for title, keys in (frames or {}).items():
        _frame(axes, title, [places[key] for key in keys])
    for box in boxes:
        _draw_box(axes, box, texts[box.key], places[box.key])
    for arrow in arrows:
        _draw_arrow(axes, arrow, places)
    return fig


def architecture(
    name: str,
    shape: tuple[int, int],
    sizes: Sequence[int],
    thresholds: tuple[float, float],
    iterations: int,
    *,
    epsilon: float | None = None,
) -> Figure:
    """Draw the architecture of paper 2 (Fig. 1) with the numbers of a data set.

    Parameters
    ----------
    name : str
        The data set.
    shape : tuple of int
        Its rows and attributes.
    sizes : sequence of int
        Numbers of sensitive, non-sensitive and ambiguous attributes.
    thresholds : tuple of float
        alpha and beta determined.
    iterations : int
        Moves of the search.
    epsilon : float, optional
        Where the loop of the second part ended.
    """
    sensitive, quiet, between = sizes
    alpha, beta = thresholds
    noise = (
        "Laplace noise, ε lowered from round to round"
        if epsilon is None
        else f"Laplace noise, in the end ε = {epsilon:g}"
    )
    boxes = [
        Box("data", "Original data", f"{name}: {shape[0]:,} rows, {shape[1]} attributes", 0, 0, rounded=True),
        Box("divide", "Three-way divider", f"entropy against (α, β), {iterations} moves from (0.5, 0.5)", 1, 0),
        Box("evaluate", "Data set evaluation", f"utility and stability; best at ({alpha:g}, {beta:g})", 2, 0),
        Box("out", f"{sensitive} sensitive", "not published", 0, 1, GROUPS["sensitive"][0], True),
        Box("keep", f"{quiet} non-sensitive", "published as they are", 1, 1, GROUPS["non_sensitive"][0], True),
        Box("noisy", f"{between} ambiguous", "published with noise", 2, 1, GROUPS["ambiguous"][0], True),
        Box("publish", "Published data", f"{shape[0]:,} rows, {quiet + between} attributes", 0, 2, rounded=True),
        Box("synthetic", "Synthetic data set", "non-sensitive and noised attributes", 1, 2),
        Box("noise", "Noise adder", noise, 2, 2),
        Box("measure", "Privacy measure", "a query on the original and on the synthetic data", 1, 3),
    ]
    arrows = [
        Arrow("data", "divide"),
        Arrow("divide", "evaluate", "division"),
        Arrow("evaluate", "divide", "next (α, β)", "up", "up", dashed=True),
        Arrow("divide", "out", "", "down", "up"),
        Arrow("divide", "keep", "", "down", "up"),
        Arrow("divide", "noisy", "", "down", "up"),
        Arrow("keep", "synthetic", "", "down", "up"),
        Arrow("noisy", "noise", "", "down", "up"),
        Arrow("noise", "synthetic", "", "left", "right"),
        Arrow("synthetic", "measure", "", "down", "up"),
        Arrow("measure", "noise", "too little: lower ε", "right", "down", dashed=True),
        Arrow("measure", "publish", "enough", "left", "down"),
    ]
    parts = {
        "Three-way division of attributes": ["data", "divide", "evaluate", "out", "keep", "noisy"],
        "Privacy of ambiguous attributes": ["publish", "synthetic", "noise", "measure"],
    }
    return flow_diagram(boxes, arrows, frames=parts)


def three_actions(name: str, groups: Mapping[str, Sequence[str]]) -> Figure:
    """Draw trisecting and acting (paper 2, Fig. 2) with the attributes of a data set.

    Parameters
    ----------
    name : str
        The data set.
    groups : mapping of str to sequence of str
        The attributes in ``sensitive``, ``ambiguous`` and ``non_sensitive``.
    """
    acts = {"sensitive": "do not publish", "ambiguous": "add noise, publish", "non_sensitive": "publish as it is"}
    number = sum(len(groups[group]) for group in acts)
    boxes = [Box("all", name, f"{number} attributes", 1, 0, rounded=True)]
    arrows = []
    for column, (group, act) in enumerate(acts.items()):
        title = f"{group.replace('_', '-')} ({len(groups[group])})"
        listed = ", ".join(map(str, groups[group])) or "none"
        boxes += [Box(group, title, listed, column, 1, GROUPS[group][0], True), Box(act, act, "", column, 2)]
        arrows += [Arrow("all", group, "", "down", "up"), Arrow(group, act, "", "down", "up")]
    frames = {"Trisect": ["all", *acts], "Act": list(acts.values())}
    return flow_diagram(boxes, arrows, frames=frames)


_Place = tuple[float, float, float, float]  # left, bottom, width, height in inches


def _check(boxes: Sequence[Box], arrows: Sequence[Arrow], frames: Mapping[str, Sequence[str]]) -> None:
    keys = [box.key for box in boxes]
    if twice := sorted({key for key in keys if keys.count(key) > 1}):
        raise ValueError(f"boxes given twice: {', '.join(twice)}")
    named = [
        *(end for arrow in arrows for end in (arrow.start, arrow.end)),
        *(k for own in frames.values() for k in own),
    ]
    if unknown := sorted(set(named) - set(keys)):
        raise ValueError(f"no such box: {', '.join(unknown)}; there are {', '.join(keys)}")


def _wrapped(box: Box, wide: float) -> tuple[str, str]:
    """Return title and text, broken into lines that fit: a letter of 7.5 points is about .062 inches wide."""
    letters = max(int((wide - 2 * _PAD) / 0.062), 8)
    bold = max(int((wide - 2 * _PAD) / 0.069), 8)
    return textwrap.fill(box.title, bold), textwrap.fill(box.text, letters)


def _lines(texts: tuple[str, str]) -> int:
    return sum(text.count("\n") + 1 for text in texts if text)


def _lay_out(
    boxes: Sequence[Box],
    texts: Mapping[str, tuple[str, str]],
    wide: float,
    column_gap: float,
    row_gap: float,
    margin: float,
    top: float,
) -> tuple[dict[str, _Place], float]:
    """Return each box's place in inches from the lower left, and the height of the whole."""
    rows = sorted({box.row for box in boxes})
    tall = {row: max(_lines(texts[b.key]) for b in boxes if b.row == row) * _LINE + 2 * _PAD for row in rows}
    height = top + margin + sum(tall.values()) + row_gap * (len(rows) - 1) + 0.14
    places, edge = {}, height - top - 0.14
    for row in rows:
        for box in boxes:
            if box.row == row:
                left = margin + box.column * (wide + column_gap)
                places[box.key] = (left, edge - tall[row], wide, tall[row])
        edge -= tall[row] + row_gap
    return places, height


def _draw_box(axes: Axes, box: Box, texts: tuple[str, str], place: _Place) -> None:
    left, bottom, wide, tall = place
    style = f"round,pad=0,rounding_size={0.12 if box.rounded else 0.02}"
    light = box.colour if box.colour == PALE else _lighter(box.colour)
    edge = INK if box.colour == PALE else box.colour
    patch = FancyBboxPatch((left, bottom), wide, tall, boxstyle=style, fc=light, ec=edge, lw=1.1, zorder=3)
    axes.add_patch(patch)
    title, text = texts
    upper = bottom + (tall + _lines(texts) * _LINE) / 2
    middle = left + wide / 2
    spread = _LINE * 72 / 7.5 / 1.2  # of matplotlib's own distance between lines
    looks: dict[str, Any] = {
        "ha": "center",
        "va": "top",
        "fontsize": 7.5,
        "zorder": 4,
        "color": INK,
        "linespacing": spread,
    }
    axes.text(middle, upper - 0.02, title, fontweight="bold", **looks)
    if text:
        axes.text(middle, upper - 0.02 - (title.count("\n") + 1) * _LINE, text, **looks)


def _lighter(colour: str) -> tuple[float, ...]:
    return tuple(1 - 0.3 * (1 - part) for part in to_rgb(colour))


def _frame(axes: Axes, title: str, places: Sequence[_Place]) -> None:
    left, bottom = min(p[0] for p in places) - 0.11, min(p[1] for p in places) - 0.11
    right, top = max(p[0] + p[2] for p in places) + 0.11, max(p[1] + p[3] for p in places) + 0.29
    style = "round,pad=0,rounding_size=0.08"
    frame = FancyBboxPatch((left, bottom), right - left, top - bottom, boxstyle=style, fc="none", ec="#999999", ls=":")
    axes.add_patch(frame)
    axes.text(left + 0.08, top - 0.05, title, ha="left", va="top", fontsize=7.5, color="#555555", style="italic")


def _draw_arrow(axes: Axes, arrow: Arrow, places: Mapping[str, _Place]) -> None:
    points = _route(places[arrow.start], places[arrow.end], arrow.leave, arrow.enter)
    line = "--" if arrow.dashed else "-"
    axes.add_patch(PathPatch(Path(points), fc="none", ec=INK, lw=1, ls=line, zorder=2))
    (x0, y0), (x1, y1) = points[-2:]
    axes.annotate(
        "",
        (x1, y1),
        (x1 - (x1 - x0) * 1e-3, y1 - (y1 - y0) * 1e-3),
        arrowprops={"arrowstyle": "-|>", "color": INK, "lw": 0.8, "shrinkA": 0, "shrinkB": 0},
        zorder=5,
    )
    if arrow.label:
        _label(axes, arrow.label, points)


def _label(axes: Axes, label: str, points: Sequence[tuple[float, float]]) -> None:
    """Write a label over the middle of an arrow's longest level stretch, or beside an arrow that has none."""
    level = [pair for pair in pairwise(points) if pair[0][1] == pair[1][1]]
    looks: dict[str, Any] = {"fontsize": SMALLEST, "zorder": 6, "color": INK}
    if not level:
        (x, y0), (_, y1) = points[0], points[-1]
        axes.text(x + 0.05, (y0 + y1) / 2, label, ha="left", va="center", **looks)
        return
    (x0, y), (x1, _) = max(level, key=lambda pair: abs(pair[0][0] - pair[1][0]))
    text = textwrap.fill(label, max(int(abs(x1 - x0) / 0.062), 6), break_long_words=False)
    axes.text((x0 + x1) / 2, y + 0.03, text, ha="center", va="bottom", **looks)


def _side(place: _Place, side: str) -> tuple[float, float]:
    left, bottom, wide, tall = place
    x, y = _SIDES[side]
    return left + wide * (1 + x) / 2, bottom + tall * (1 + y) / 2


def _route(start: _Place, end: _Place, leave: str, enter: str) -> list[tuple[float, float]]:
    """Return the corners of a way at right angles from one box's side to another's."""
    first, last = _side(start, leave), _side(end, enter)
    level = {"left", "right"}
    if leave in level and enter in level:
        middle = (first[0] + last[0]) / 2
        corners = [(middle, first[1]), (middle, last[1])] if first[1] != last[1] else []
    elif leave not in level and enter not in level:
        if leave == enter:  # over or under both
            beyond = max(first[1], last[1]) + 0.12 if leave == "up" else min(first[1], last[1]) - 0.12
            corners = [(first[0], beyond), (last[0], beyond)]
        else:
            middle = (first[1] + last[1]) / 2
            corners = [(first[0], middle), (last[0], middle)] if first[0] != last[0] else []
    else:
        corners = [(last[0], first[1])] if leave in level else [(first[0], last[1])]
    return [first, *corners, last]
