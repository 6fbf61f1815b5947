"""Draw every figure in one style: legible at column width, without relying on colour, the same bytes on every run."""

import base64
import io
from collections.abc import Callable
from dataclasses import dataclass
from functools import wraps
from pathlib import Path
from typing import ParamSpec

import matplotlib as mpl
import matplotlib.pyplot as plt
from matplotlib.colors import LinearSegmentedColormap
from matplotlib.figure import Figure
from matplotlib.layout_engine import ConstrainedLayoutEngine

from compendium.show.tables import closing_html, page

STYLE = Path(__file__).parents[2] / "sensorprivacy" / "own" / "compendium.mplstyle"  # one style for both packages
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
_STAMP_BAND = 0.16  # inches below a stamped figure


def drawn(draw: Callable[P, Figure]) -> Callable[P, Figure]:
    """Draw in the compendium's style instead of the session's, and close the figure for the session."""

    @wraps(draw)
    def styled(*args: P.args, **kwargs: P.kwargs) -> Figure:
        with mpl.rc_context(), plt.style.context(["default", STYLE]):
            fig = draw(*args, **kwargs)
            plt.close(fig)  # otherwise a notebook shows it a second time
            return fig

    return styled


@dataclass(frozen=True)
class ShownFigure:
    """A rendered figure with its caption, for Jupyter to show."""

    png: bytes
    caption: str
    inches: float = PAGE
    closing: str = ""

    def _repr_html_(self) -> str:
        width = round(self.inches * 110)  # pixels: letters are then as large as the text around the figure
        data = base64.b64encode(self.png).decode()
        return page("figure.html", caption=self.caption, data=data, width=width) + closing_html(self.closing)

    def __repr__(self) -> str:
        return "\n".join(filter(None, [f"Figure: {self.caption}", self.closing]))


def render(fig: Figure, *, stamp: str = "") -> bytes:
    """Return a figure as PNG, with the same bytes for the same drawing, and close it.

    Parameters
    ----------
    fig : matplotlib.figure.Figure
        The figure.
    stamp : str, optional
        A word for the lower right corner, such as the profile's name. It has a band of its own below the drawing.
    """
    buffer = io.BytesIO()
    with mpl.rc_context(), plt.style.context(["default", STYLE]):
        # savefig gives a figure without a layout engine the default one; with none, the layout stays as it is
        mpl.rcParams["figure.constrained_layout.use"] = False
        if stamp:
            _stamp(fig, stamp)
        _settle(fig)
        fig.savefig(buffer, format="png", metadata={"Software": None})  # matplotlib's version is not in the picture
    plt.close(fig)
    return buffer.getvalue()


def _settle(fig: Figure) -> None:
    """Lay out a figure and round it to a millionth, because the solver's last bits depend on memory addresses."""
    if not isinstance(fig.get_layout_engine(), ConstrainedLayoutEngine):
        return
    fig.draw_without_rendering()
    fig.set_layout_engine("none")
    for axes in fig.axes:
        x, y, width, height = (round(end, 6) for end in axes.get_position(original=True).bounds)
        axes.set_position((x, y, width, height))


def _stamp(fig: Figure, word: str) -> None:
    width, height = fig.get_size_inches()
    fig.set_size_inches(width, height + _STAMP_BAND)
    share = _STAMP_BAND / (height + _STAMP_BAND)
    engine = fig.get_layout_engine()
    if isinstance(engine, ConstrainedLayoutEngine):
        engine.set(rect=(0, share, 1, 1 - share))
    else:
        for axes in fig.axes:
            x, y, w, h = axes.get_position(original=True).bounds
            axes.set_position((x, share + y * (1 - share), w, h * (1 - share)))
    fig.text(0.99, share / 2, word, ha="right", va="center", fontsize=SMALLEST, color=PURPLE, style="italic")
