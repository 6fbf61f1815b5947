"""Figures: byte-stable, legible, stamped, nothing cut off or written over."""

import functools
import html
import io
import itertools
import struct
import warnings

import matplotlib as mpl
import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.text import Text

from compendium import show
from compendium.papers.paper2 import charts as paper2_charts
from compendium.show import Arrow, Box, figures
from compendium.show.figures import SMALLEST, render, shown_figure

SETS = ["titanic", "adult", "bank", "heart", "student"]
SIZES = pd.DataFrame(
    {"sensitive": [4, 2, 3, 5, 10], "non_sensitive": [8, 13, 14, 9, 20], "ambiguous": [0] * 5}, index=SETS
)
FINAL = pd.DataFrame(
    {"sensitive": [2, 1, 1, 2, 1], "non_sensitive": [5, 6, 9, 7, 14], "ambiguous": [5, 8, 7, 5, 15]}, index=SETS
)
GAINS = pd.DataFrame({"utility": [0.3, 0.11, -0.05], "stability": [0.21, 0.23, 0.23]}, index=SETS[:3])
MOVES = pd.DataFrame(
    {"maximum": [95, 18, 9, 4], "mean": [87, 16, 8, 3.6]}, index=pd.Index([0.01, 0.05, 0.1, 0.2], name="step")
)
ENTROPY = pd.Series({"PassengerId": 1.0, "Name": 0.99, "Ticket": 0.92, "Fare": 0.66, "Pclass": 0.054, "Sex": 0.0})
PAIRS = [(a / 10, b / 10) for a in range(11) for b in range(a + 1)]
SIZES, FINAL = SIZES.head(3), FINAL.head(3)  # hatches are slow to draw
GRID = pd.DataFrame(PAIRS, columns=["alpha", "beta"]).assign(suitability=lambda f: f["alpha"] - f["beta"])
TRACE = pd.DataFrame(
    {"alpha": [0.5, 0.5, 0.55, 0.55], "beta": [0.5, 0.45, 0.45, 0.4], "accepted": [True, True, True, False]}
)
LOOP = pd.DataFrame({"round": [1, 1, 2, 2, 3], "epsilon": [1, 1, 0.5, 0.5, 0.25], "overall": [0.1, 0.1, 0.3, 0.3, 0.7]})
COUNTS = pd.DataFrame(
    {
        "printed": [12, 18],
        "exact": [12, 9],
        "within": [0, 0],
        "differs": [0, 1],
        "undecided": [0, 0],
        "no data": [0, 0],
        "not reproducible": [0, 8],
    },
    index=pd.MultiIndex.from_tuples([(2, "2"), (2, "text")], names=["paper", "table"]),
)
NAMES = {
    "sensitive": ["absences"],
    "ambiguous": [f"attribute{n}" for n in range(15)],
    "non_sensitive": ["school", "sex"],
}

EXERCISES = ["abduction", "external rotation", "forward elevation", "internal rotation", "pendulum"]
EXERCISES += ["upright row", "trapezius extension"]

DRAWINGS = {
    "group_shares": lambda: paper2_charts.group_shares(SIZES, FINAL),
    "grouped_bars": lambda: show.grouped_bars(GAINS, ylabel="gain"),
    "lines_with_markers": lambda: show.lines_with_markers(MOVES, ylabel="iterations"),
    "partition_strip": lambda: paper2_charts.partition_strip(ENTROPY, 0.95, 0.05),
    "partition_strip at the start": lambda: paper2_charts.partition_strip(ENTROPY, 0.5, 0.5),
    "partition_strip near the top": lambda: paper2_charts.partition_strip(ENTROPY, 0.97, 0.9),
    "search_path": lambda: paper2_charts.search_path(GRID, TRACE),
    "privacy_loop": lambda: paper2_charts.privacy_loop(LOOP, 0.5),
    "privacy_loop of no column": lambda: paper2_charts.privacy_loop(LOOP.head(0), 0.5),
    "verdict_bars": lambda: show.verdict_bars(COUNTS),
    "architecture": lambda: paper2_charts.architecture("titanic", (1309, 12), (2, 5, 5), (0.95, 0.05), 18),
    "three_actions": lambda: paper2_charts.three_actions("student", NAMES),
}


@pytest.fixture(params=DRAWINGS)
def drawing(request):
    return DRAWINGS[request.param]


def out_of_view(fig):
    """Return the tick labels that exist but are not drawn, for they lie beyond the axes' limits."""
    for axes in fig.axes:
        for axis in (axes.xaxis, axes.yaxis):
            low, high = sorted(axis.get_view_interval())
            for place, label in zip(axis.get_majorticklocs(), axis.get_majorticklabels(), strict=False):
                if not axes.axison or not low - 1e-9 <= place <= high + 1e-9:
                    yield label
            yield from axis.get_minorticklabels()


@functools.cache
def texts_of(drawing):
    """Return the visible texts of a drawing with their boxes in pixels; several tests look at the same ones."""
    return texts(drawing())


def texts(fig):
    """Return the visible texts of a figure with their boxes in pixels."""
    FigureCanvasAgg(fig).draw()
    hidden = set(map(id, out_of_view(fig)))
    shown = [text for text in fig.findobj(Text) if text.get_visible() and text.get_text().strip()]
    return [(text, text.get_window_extent()) for text in shown if id(text) not in hidden]


@pytest.mark.first(3)
def test_a_drawing_is_the_same_bytes_each_time_whatever_the_session_s_settings(drawing):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        first = render(drawing(), "Its title", "its data [quick]")
        other = {"font.size": 20, "lines.linewidth": 9, "figure.constrained_layout.use": False}
        with mpl.rc_context(other):
            assert render(drawing(), "Its title", "its data [quick]") == first


def test_a_drawing_says_nothing_of_when_and_with_what_it_was_drawn(drawing):
    fig = drawing()
    width = fig.get_size_inches()[0]
    picture = render(fig)
    assert picture.startswith(b"\x89PNG")
    assert b"Software" not in picture
    assert mpl.__version__.encode() not in picture
    assert 3.4 <= width <= 7.0
    assert struct.unpack(">I", picture[16:20])[0] / width >= 200  # dots an inch


def test_letters_are_seven_points_or_more(drawing):
    assert min(text.get_fontsize() for text, _ in texts_of(drawing)) >= SMALLEST


def test_no_text_is_cut_off(drawing):
    edge = texts_of(drawing)[0][0].get_figure(root=True).bbox
    for text, box in texts_of(drawing):
        assert box.x0 >= edge.x0 - 1, text
        assert box.x1 <= edge.x1 + 1, text
        assert box.y0 >= edge.y0 - 1, text
        assert box.y1 <= edge.y1 + 1, text


def test_no_text_is_written_over_another(drawing):
    for (one, first), (other, second) in itertools.combinations(texts_of(drawing), 2):
        wide = min(first.x1, second.x1) - max(first.x0, second.x0)
        tall = min(first.y1, second.y1) - max(first.y0, second.y0)
        assert wide <= 1 or tall <= 2, f"{one.get_text()!r} over {other.get_text()!r}"


@pytest.mark.parametrize("width", [figures.COLUMN, figures.PAGE])
@pytest.mark.parametrize("title", ["", f"Accuracy of {'the strongest attacker ' * 3}"])
def test_title_and_data_are_not_cut_off_and_not_written_over_another(width, title):
    """Both are longer than a line, so that they need a second one."""
    (head,) = figures._head(width, title, f"MotionSense: {'24 people, ' * 9}[quick]")
    boxes = [box for _, box in texts(head)]
    assert len(boxes) == 1 + bool(title)
    assert all(box.height < 0.6 * head.dpi and box.width > 0.6 * head.bbox.width for box in boxes)  # few, full lines
    assert all(box.x0 >= 0 and box.x1 <= head.bbox.x1 and box.y0 >= 0 and box.y1 <= head.bbox.y1 for box in boxes)
    assert all(above.y0 > below.y1 for above, below in itertools.pairwise(boxes))


@pytest.mark.first(3)
def test_the_drawing_below_its_title_is_the_drawing_alone(drawing):
    """Title and data stand in a band of their own, whatever the drawing's layout."""
    alone, headed = (plt.imread(io.BytesIO(render(drawing(), *head))) for head in ((), ("Its title", "its data")))
    band = len(headed) - len(alone)
    assert band > 40
    assert (headed[band:] == alone).all()
    assert (headed[:band] < 0.5).any()


def test_a_drawing_is_not_shown_twice(drawing):
    before = plt.get_fignums()
    drawing()
    assert plt.get_fignums() == before


def test_text_in_boxes_stays_in_its_box():
    fig = paper2_charts.three_actions("student", NAMES)
    boxes = [patch.get_window_extent() for patch in fig.axes[0].patches if hasattr(patch, "get_boxstyle")]
    for text, extent in texts(fig):
        if text.get_text() in ("Trisect", "Act"):
            continue
        assert any(
            extent.x0 >= box.x0 and extent.x1 <= box.x1 and extent.y0 >= box.y0 - 1 and extent.y1 <= box.y1 + 1
            for box in boxes
        ), text


def test_the_diagrams_carry_the_run_s_own_numbers():
    words = " ".join(text.get_text() for text, _ in texts(DRAWINGS["architecture"]()))
    for number in ("1,309 rows", "2 sensitive", "5 ambiguous", "18", "(0.95, 0.05)", "10 attributes"):
        assert number in words.replace("\n", " ")


def test_the_same_group_has_the_same_look_and_colour_is_not_the_only_cue():
    colours, hatches, markers = zip(*figures.GROUPS.values(), strict=True)
    for looks in (colours, hatches, markers, figures.SERIES, figures.MARKERS, figures.HATCHES):
        assert len(set(looks)) == len(looks)


def test_the_colour_scale_reads_in_grey():
    light = [0.2126 * r + 0.7152 * g + 0.0722 * b for r, g, b, _ in figures.IRIDESCENT(np.linspace(0, 1, 20))]
    assert (np.diff(light) < 0).all()


def test_a_partition_counts_its_groups_at_the_thresholds():
    fig = paper2_charts.partition_strip(pd.Series({"a": 0.3, "b": 0.7, "c": 0.5, "d": 0.1 + 0.2}), 0.7, 0.3)
    words = {text.get_text() for text, _ in texts(fig)}
    assert {"non-sensitive (2)", "ambiguous (1)", "sensitive (1)"} <= words


def test_an_upright_arrow_may_have_a_label():
    fig = show.flow_diagram([Box("a", "A"), Box("b", "B", row=1)], [Arrow("a", "b", "down here", "down", "up")])
    assert "down here" in {text.get_text() for text, _ in texts(fig)}


def test_a_shown_figure_has_its_caption_as_alternative_text():
    shown = shown_figure(b"\x89PNG", 'A "caption" & more')
    assert 'alt="A "caption" & more"' in html.unescape(shown._repr_html_())
    assert "&amp; more" in shown._repr_html_()
    assert "caption" in repr(shown)


def test_a_figure_drawn_without_our_style_is_saved_as_it_is():
    fig, axes = plt.subplots()
    axes.plot([1, 2])
    before = axes.get_position().bounds
    assert render(fig).startswith(b"\x89PNG")
    assert axes.get_position().bounds == before


def test_an_option_without_rows_in_one_panel_is_left_out_there():
    rows = [["activity", "a", "raw", 0.9, 0.8, 1.0], ["gender", "a", "chance", 0.5, 0.5, 0.5]]
    table = pd.DataFrame(rows, columns=["measure", "problem", "option", "value", "low", "high"])
    left, right = show.intervals_by_set(table).axes
    assert [len(axes.lines[0].get_xdata()) for axes in (left, right)] == [1, 0]


def test_ticks_of_small_shares_are_written_as_they_are():
    """Losses of one to three points had the ticks 0%, 2%, 3% and 5%, for 0, 1.5, 3 and 4.5."""
    fig = show.grouped_bars({"lost": pd.DataFrame({"shift": [0.012, 0.034]}, index=["a", "b"])}, percent=True)
    fig.canvas.draw()
    axes = fig.axes[0]
    for at, label in zip(axes.get_yticks(), axes.get_yticklabels(), strict=True):
        assert float(label.get_text().removesuffix("%")) == pytest.approx(100 * at)


@pytest.mark.parametrize("least", [-0.001, -0.04, -0.3])
def test_the_value_of_a_negative_bar_stays_above_the_axis_and_the_names(least):
    """The 0 of a bar of -0.1 points touched the name of its group, and the axis struck out the -4 of another."""
    panels = {name: pd.DataFrame({"shift": [0.65, least]}, index=["a", "b"]) for name in ("lost", "others")}
    fig = show.grouped_bars(panels, percent=True)
    fig.canvas.draw()
    for axes in fig.axes:
        label = axes.texts[1].get_window_extent()
        assert label.y0 > axes.get_window_extent().y0 + 1


def test_numbers_over_narrow_bars_do_not_collide():
    """Eight exercises with four bars each: "100" stood in the next bar's "100"."""
    rows = [f"exercise {at}" for at in range(8)]
    fig = show.grouped_bars(pd.DataFrame(1.0, rows, ["raw", "shift", "transport", "rival"]), percent=True, digits=0)
    fig.canvas.draw()
    boxes = [text.get_window_extent() for text in fig.axes[0].texts]
    assert len(boxes) == 32
    assert not any(one.overlaps(other) for at, one in enumerate(boxes) for other in boxes[:at])


def test_long_names_below_bars_do_not_collide():
    """Names of the smartwatch set's exercises ran into one another."""
    names = [*EXERCISES, "all"]
    fig = show.grouped_bars({"a": pd.DataFrame(1.0, names, ["raw"]), "b": pd.DataFrame(1.0, names, ["raw"])})
    fig.canvas.draw()
    for axes in fig.axes:
        boxes = [label.get_window_extent() for label in axes.get_xticklabels()]
        assert [label.get_text().replace("\n", " ") for label in axes.get_xticklabels()] == names
        assert all(left.x1 < right.x0 for left, right in itertools.pairwise(boxes))


def test_a_legend_of_many_names_is_not_cut_off():
    """Five changes with the printed values and chance: "chance level" stood beyond the edge."""
    frame = pd.DataFrame(0.5, ["walking"], ["raw", "mean shift", "transport", "general VAE", "Anonymization AE"])
    fig = show.grouped_bars(frame, printed=frame, chance={"": 0.5})
    boxes = {text.get_text(): box for text, box in texts(fig)}
    assert max(boxes[name].x1 for name in (*frame, "printed in the paper", "chance level")) < fig.bbox.x1
    few = show.grouped_bars(frame[["raw", "transport"]], chance={"": 0.5})
    assert len({round(box.y0) for text, box in texts(few) if text.get_text() in (*frame, "chance level")}) == 1


def test_a_title_wider_than_its_panel_is_broken():
    """Titles of seven panels ran into one another; a short title and a note in a panel stay as they are."""
    with plt.style.context(["default", figures.STYLE]):
        fig, grid = plt.subplots(1, 7, figsize=(figures.PAGE, 2))
        for axes, name in zip(grid, EXERCISES, strict=True):
            axes.set_title(name)
        grid[0].text(0, 0, "a note that is wider than its panel")
        render(fig)
        titles = [axes.get_title(loc="left") for axes in grid]
        boxes = [box for text, box in texts(fig) if text.get_text() in titles]
    assert titles[:2] == ["abduction", "external\nrotation"]
    assert [title.replace("\n", " ") for title in titles] == EXERCISES
    assert grid[0].texts[0].get_text() == "a note that is wider than its panel"
    assert len(boxes) == 7
    assert all(left.x1 < right.x0 for left, right in itertools.pairwise(boxes))


def test_the_number_of_a_bar_stands_above_its_printed_value():
    """The diamond of a printed value that lies just above a bar struck out the bar's number."""
    ours, printed = pd.DataFrame({"raw": [0.80, 0.5]}), pd.DataFrame({"raw": [0.87, np.nan]})
    fig = show.grouped_bars(ours, printed=printed)
    fig.canvas.draw()
    (axes,) = fig.axes
    at = axes.transData.transform([(0, 0.87), (1, 0.5)])[:, 1]
    assert axes.texts[0].get_window_extent().y0 > at[0] + 2
    assert 0 < axes.texts[1].get_window_extent().y0 - at[1] < 6


def test_chance_levels_lie_over_the_bars_of_their_row():
    frame = pd.DataFrame({"raw": [0.9, 0.8]}, index=["walking", "all"])
    chance = {"a": 0.57, "b": pd.Series({"all": 0.4})}
    fig = show.grouped_bars(dict.fromkeys(("a", "b", "c"), frame), chance=chance)
    drawn = [[line.tolist() for line in some.get_segments()] for axes in fig.axes for some in axes.collections]
    assert drawn[0] == [[[-0.48, 0.57], [0.48, 0.57]], [[0.52, 0.57], [1.48, 0.57]]]
    assert drawn[1] == [[], [[0.52, 0.4], [1.48, 0.4]]]  # "walking" has no level
    assert len(drawn) == 2
    assert fig.legends[0].get_texts()[-1].get_text() == "chance level"


@pytest.mark.parametrize("name", ["$\\frac{$", "a$b_{$c", "$$$", "$x$"])
def test_a_name_with_dollars_is_no_formula(name):
    """Issue 57: the name of a file ended notebook 21."""

    def draw():
        fig, (names, powers) = plt.subplots(1, 2, layout="constrained")
        names.bar([name, "b"], [1, 2], label=name)
        names.set(title=name, xlabel=name)
        names.legend()
        powers.plot([1, 1e4], [1, 2])
        powers.set_xscale("log")
        powers.text(10, 1, name)
        return fig

    fig = figures.drawn(draw)()
    assert figures.render(fig, f"Fig. 1. Of {name}. " * 9, f"of {name}")
    shown = [text for text in fig.findobj(Text) if name in text.get_text()]
    assert len(shown) >= 5
    assert not any(text.get_parse_math() for text in shown)
    powers = [text for text in fig.axes[1].get_xticklabels() if "mathdefault" in text.get_text()]
    assert powers
    assert all(text.get_parse_math() for text in powers)
