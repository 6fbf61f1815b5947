"""Diagrams of boxes and arrows, laid out on a grid from data."""

import textwrap
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

from matplotlib import pyplot as plt
from matplotlib.axes import Axes
from matplotlib.colors import to_rgb
from matplotlib.figure import Figure
from matplotlib.patches import FancyBboxPatch, PathPatch
from matplotlib.path import Path as Line

from compendium.show import figures as style
from compendium.show.figures import INK, PAGE, PALE, SMALLEST, drawn

_LINE = 0.135  # inches from one line of text to the next
_PAD = 0.1  # inches between a box's text and its edge
_LETTER = 0.062  # inches, the average width of a letter of 7.5 points
_BOLD = 0.069
_SIDES = {"right": (1, 0), "left": (-1, 0), "up": (0, 1), "down": (0, -1)}


@dataclass(frozen=True)
class Box:
    """A box at a column and row of a diagram, counted from the upper left.

    Parameters
    ----------
    key : str
        The name that arrows use for the box.
    title, text : str
        First line in bold, then the text. Both are wrapped to the box's width.
    column, row : float
        Position on the grid.
    colour : str, optional
        Colour of the edge; the box is filled with a lighter shade.
    rounded : bool, default False
        True for data, False for a processing step.
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
        Keys of the boxes.
    label : str, optional
        Text beside the arrow.
    leave, enter : {"right", "left", "up", "down"}
        The sides where the arrow leaves one box and enters the other. It runs at right angles between them.
    dashed : bool, default False
        True for an arrow that goes back, such as to the next round.
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
    row_gap: float = 0.46,
    column_gap: float = 0.55,
) -> Figure:
    """Draw boxes on a grid and arrows between them.

    Parameters
    ----------
    boxes : sequence of Box
        The boxes. All have the width of a grid column; a row is as high as its longest text.
    arrows : sequence of Arrow
        The arrows.
    frames : mapping of str to sequence of str, optional
        Frames around several boxes: the title and the keys of the boxes.
    row_gap, column_gap : float
        Inches between rows and between columns, for arrows and their labels.
    """
    frames = frames or {}
    columns = max(box.column for box in boxes) + 1
    margin, top = (0.16, 0.26) if frames else (0.05, 0.05)
    wide = (PAGE - 2 * margin - column_gap * (columns - 1)) / columns
    texts = {box.key: _wrapped(box, wide) for box in boxes}
    rows = sorted({box.row for box in boxes})
    tall = {row: max(_lines(texts[b.key]) for b in boxes if b.row == row) * _LINE + 2 * _PAD for row in rows}
    height = top + margin + sum(tall.values()) + row_gap * (len(rows) - 1) + 0.14
    places, edge = {}, height - top - 0.14
    for row in rows:
        for box in (box for box in boxes if box.row == row):
            places[box.key] = (margin + box.column * (wide + column_gap), edge - tall[row], wide, tall[row])
        edge -= tall[row] + row_gap
    fig = plt.figure(figsize=(PAGE, height), layout="none")
    axes = fig.add_axes((0, 0, 1, 1), xlim=(0, PAGE), ylim=(0, height), aspect="equal")
    axes.axis("off")
    for title, keys in frames.items():
        _frame(axes, title, [places[key] for key in keys])
    for box in boxes:
        _draw_box(axes, box, texts[box.key], places[box.key])
    for arrow in arrows:
        _draw_arrow(axes, arrow, places)
    return fig


_Place = tuple[float, float, float, float]  # left, bottom, width, height in inches


def from_file(diagram: str, /, **values: Any) -> Figure:
    """Draw a diagram of ``templates/diagrams.toml``; the values fill the braces in its texts."""
    file = Path(__file__).with_name("templates") / "diagrams.toml"
    found = tomllib.loads(file.read_text(encoding="utf-8"))[diagram]
    boxes, arrows = found.pop("boxes"), found.pop("arrows")
    for box in boxes.values():
        box |= {word: box[word].format_map(values) for word in ("title", "text") if word in box}
        box["colour"] = getattr(style, box.get("colour", "PALE"))
    return flow_diagram([Box(key, **box) for key, box in boxes.items()], [Arrow(**one) for one in arrows], **found)


def game_diagram() -> Figure:
    """Draw the re-identification game: three defences, the published data, the task model and the adversary."""
    return from_file("game")


def _wrapped(box: Box, wide: float) -> tuple[str, str]:
    """Return title and text, broken into lines that fit the box's width."""
    bold, plain = (max(int((wide - 2 * _PAD) / letter), 8) for letter in (_BOLD, _LETTER))
    return textwrap.fill(box.title, bold), textwrap.fill(box.text, plain)


def _lines(texts: tuple[str, str]) -> int:
    return sum(text.count("\n") + 1 for text in texts if text)


def _draw_box(axes: Axes, box: Box, texts: tuple[str, str], place: _Place) -> None:
    left, bottom, wide, tall = place
    shape = f"round,pad=0,rounding_size={0.12 if box.rounded else 0.02}"
    plain = box.colour == PALE
    light = tuple(part if plain else 1 - 0.3 * (1 - part) for part in to_rgb(box.colour))
    edge = INK if plain else box.colour
    axes.add_patch(FancyBboxPatch((left, bottom), wide, tall, boxstyle=shape, fc=light, ec=edge, lw=1.1, zorder=3))
    title, text = texts
    upper = bottom + (tall + _lines(texts) * _LINE) / 2 - 0.02
    spread = _LINE * 72 / 7.5 / 1.2  # relative to matplotlib's own line spacing
    looks: dict[str, Any] = {"ha": "center", "va": "top", "fontsize": 7.5, "zorder": 4, "color": INK}
    axes.text(left + wide / 2, upper, title, fontweight="bold", linespacing=spread, **looks)
    if text:
        lower = upper - (title.count("\n") + 1) * _LINE
        axes.text(left + wide / 2, lower, text, linespacing=spread, **looks)


def _frame(axes: Axes, title: str, places: Sequence[_Place]) -> None:
    left, bottom = min(p[0] for p in places) - 0.11, min(p[1] for p in places) - 0.11
    right, top = max(p[0] + p[2] for p in places) + 0.11, max(p[1] + p[3] for p in places) + 0.29
    shape = "round,pad=0,rounding_size=0.08"
    frame = FancyBboxPatch((left, bottom), right - left, top - bottom, boxstyle=shape, fc="none", ec="#999999", ls=":")
    axes.add_patch(frame)
    axes.text(left + 0.08, top - 0.05, title, ha="left", va="top", fontsize=7.5, color="#555555", style="italic")


def _draw_arrow(axes: Axes, arrow: Arrow, places: Mapping[str, _Place]) -> None:
    points = _route(places[arrow.start], places[arrow.end], arrow.leave, arrow.enter)
    line = "--" if arrow.dashed else "-"
    axes.add_patch(PathPatch(Line(points), fc="none", ec=INK, lw=1, ls=line, zorder=2))
    (x0, y0), (x1, y1) = points[-2:]
    near = (x1 - (x1 - x0) * 1e-3, y1 - (y1 - y0) * 1e-3)
    head = {"arrowstyle": "-|>", "color": INK, "lw": 0.8, "shrinkA": 0, "shrinkB": 0}
    axes.annotate("", (x1, y1), near, arrowprops=head, zorder=5)
    if arrow.label:
        _label(axes, arrow.label, points)


def _label(axes: Axes, label: str, points: Sequence[tuple[float, float]]) -> None:
    """Write a label over the middle of an arrow's longest horizontal part, or beside an arrow without one."""
    level = [pair for pair in pairwise(points) if pair[0][1] == pair[1][1]]
    looks: dict[str, Any] = {"fontsize": SMALLEST, "zorder": 6, "color": INK}
    if not level:
        (x, y0), (_, y1) = points[0], points[-1]
        axes.text(x + 0.05, (y0 + y1) / 2, label, ha="left", va="center", **looks)
        return
    (x0, y), (x1, _) = max(level, key=lambda pair: abs(pair[0][0] - pair[1][0]))
    text = textwrap.fill(label, max(int(abs(x1 - x0) / _LETTER), 6), break_long_words=False)
    axes.text((x0 + x1) / 2, y + 0.03, text, ha="center", va="bottom", **looks)


def _side(place: _Place, side: str) -> tuple[float, float]:
    left, bottom, wide, tall = place
    x, y = _SIDES[side]
    return left + wide * (1 + x) / 2, bottom + tall * (1 + y) / 2


def _route(start: _Place, end: _Place, leave: str, enter: str) -> list[tuple[float, float]]:
    """Return the corners of a right-angled path from one box's side to another's."""
    first, last = _side(start, leave), _side(end, enter)
    horizontal = {"left", "right"}
    if leave in horizontal and enter in horizontal:
        middle = (first[0] + last[0]) / 2
        corners = [(middle, first[1]), (middle, last[1])] if first[1] != last[1] else []
    elif leave in horizontal:
        corners = [(last[0], first[1])]
    elif enter in horizontal:
        corners = [(first[0], last[1])]
    elif leave == enter:  # over or under both boxes
        beyond = max(first[1], last[1]) + 0.12 if leave == "up" else min(first[1], last[1]) - 0.12
        corners = [(first[0], beyond), (last[0], beyond)]
    else:
        middle = (first[1] + last[1]) / 2
        corners = [(first[0], middle), (last[0], middle)] if first[0] != last[0] else []
    return [first, *corners, last]
