"""Draw every figure in one style: legible at column width, without relying on colour, the same bytes on every run."""

import base64
import io
import textwrap
from collections.abc import Callable
from functools import wraps
from pathlib import Path
from typing import Any, ParamSpec

import matplotlib as mpl
import matplotlib.pyplot as plt
import numpy as np
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.colors import LinearSegmentedColormap
from matplotlib.figure import Figure
from matplotlib.layout_engine import ConstrainedLayoutEngine
from matplotlib.text import Text

from compendium.show.tables import Shown, page

STYLE = Path(__file__).parents[2] / "sensorrelease" / "compendium.mplstyle"  # one style for both packages
COLUMN, PAGE = 3.4, 7.0  # inches: one column, two columns
SMALLEST = 7  # points

# Paul Tol's bright scheme, safe for colour-blind readers, in the order in which series take it
SERIES = ("#4477AA", "#EE6677", "#228833", "#CCBB44", "#66CCEE", "#AA3377", "#BBBBBB")
BLUE, RED, GREEN, YELLOW, CYAN, PURPLE, GREY = SERIES
HATCHES = ("", "////", "....", "\\\\\\\\", "xxxx", "----", "++++")
MARKERS = ("o", "s", "^", "D", "v", "P", "X")
INK, PALE = "#222222", "#F2F2F2"

# colour, hatch and marker of paper 2's three groups, in every figure that has them
GROUPS = {"sensitive": (RED, "////", "s"), "ambiguous": (YELLOW, "....", "D"), "non_sensitive": (BLUE, "", "o")}

# Paul Tol's iridescent scheme, from light to dark, so that it is legible in grey too
_LIGHT_TO_DARK = ["#FEFBE9", "#EAF0B5", "#C2E3D2", "#9BD2E1", "#7EB2E4", "#9B8AC4", "#9A709E", "#805770", "#46353A"]
IRIDESCENT = LinearSegmentedColormap.from_list("iridescent", _LIGHT_TO_DARK)

P = ParamSpec("P")


def drawn(draw: Callable[P, Figure]) -> Callable[P, Figure]:
    """Draw in the compendium's style instead of the session's, and close the figure for the session."""

    @wraps(draw)
    def styled(*args: P.args, **kwargs: P.kwargs) -> Figure:
        with mpl.rc_context(), plt.style.context(["default", STYLE]):
            fig = draw(*args, **kwargs)
            plt.close(fig)  # otherwise a notebook shows it a second time
            return fig

    return styled


def shown_figure(png: bytes, caption: str, closing: str = "") -> Shown:
    """Return a rendered figure with its caption, for Jupyter to show."""
    width = round(PAGE * 110)  # pixels: letters are then as large as the text around the figure
    html = page("figure.html", caption=caption, data=base64.b64encode(png).decode(), width=width)
    return Shown(html, f"Figure: {caption}", closing)


def render(fig: Figure, title: str = "", about: str = "") -> bytes:
    """Return a figure as PNG, with the same bytes for the same drawing, and close it.

    Parameters
    ----------
    fig : matplotlib.figure.Figure
        The figure.
    title : str, optional
        What it shows. It has a band of its own above the drawing.
    about : str, optional
        Of which data, and with which settings: the line below the title.
    """
    with mpl.rc_context(), plt.style.context(["default", STYLE]):
        # a figure without a layout engine would be given the default one; with none, the layout stays as it is
        mpl.rcParams["figure.constrained_layout.use"] = False
        _show_dollars(fig)
        _settle(fig)
        parts = [*_head(fig.get_figwidth(), title, about), fig]
        buffer, dpi = io.BytesIO(), float(mpl.rcParams["savefig.dpi"])
        pixels = np.vstack([_pixels(part, dpi) for part in parts])
        plt.imsave(buffer, pixels, dpi=dpi, format="png", metadata={"Software": None})  # without matplotlib's version
    plt.close(fig)
    return buffer.getvalue()


def _show_dollars(fig: Figure) -> None:
    """Show names with dollar signs as they are: they come from files, and may be no formula that can be read."""
    formulas = set()
    for axis in [axis for axes in fig.axes for axis in (axes.xaxis, axes.yaxis)]:
        labels = axis.get_ticklabels(which="both")  # made now, from the names of categories
        formulas |= set(labels) if axis.get_scale() == "log" else set()  # powers of ten
    for text in fig.findobj(Text):
        if "$" in text.get_text() and text not in formulas:
            text.set_parse_math(False)


def _settle(fig: Figure) -> None:
    """Lay out a figure and round it to a millionth, because the solver's last bits depend on memory addresses."""
    if not isinstance(fig.get_layout_engine(), ConstrainedLayoutEngine):
        return
    fig.draw_without_rendering()
    if _break_titles(fig):
        fig.draw_without_rendering()
    fig.set_layout_engine("none")
    for axes in fig.axes:
        x, y, width, height = (round(end, 6) for end in axes.get_position(original=True).bounds)
        axes.set_position((x, y, width, height))


def _break_titles(fig: Figure) -> bool:
    """Break titles that are wider than their panels and run into the next one; return whether there are any."""
    found = False
    for axes in fig.axes:
        for text in axes.get_children():
            if not isinstance(text, Text) or text in axes.texts:
                continue
            words, wide = text.get_text(), text.get_window_extent().width
            if wide > axes.bbox.width:
                found = True
                letters = max(1, int(len(words) * axes.bbox.width / wide))
                text.set_text(textwrap.fill(words, letters, break_long_words=False))
    return found


def _head(width: float, title: str, about: str) -> list[Figure]:
    """Return the band above a drawing, with lines that are broken where it ends; none if there is nothing to say."""
    if not title + about:
        return []
    fig, gap = plt.figure(figsize=(width, 1)), 0.05  # inches
    looks: list[dict[str, Any]] = [{"weight": "bold", "size": 9}, {"size": SMALLEST + 0.5}]
    texts = [  # at the edge itself, every word would have its line; a dollar sign begins no formula
        fig.text(0.01, 0.5, line.replace("$", r"\$"), va="top", wrap=True, **look)
        for line, look in zip((title, about), looks, strict=True)
        if line
    ]
    tall = [text.get_window_extent().height / fig.dpi + gap for text in texts]
    fig.set_figheight(gap + sum(tall))
    for place, text in enumerate(texts):
        text.set_y(1 - (gap + sum(tall[:place])) / fig.get_figheight())
    plt.close(fig)
    return [fig]


def _pixels(fig: Figure, dpi: float) -> np.ndarray:
    fig.set_dpi(dpi)
    canvas = FigureCanvasAgg(fig)
    canvas.draw()
    return np.asarray(canvas.buffer_rgba())
