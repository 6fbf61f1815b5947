"""The figures of paper 1: what they show is what was measured, and nothing is cut off or written over."""

import functools
import itertools

import numpy as np
import pandas as pd
import pytest
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.text import Text

from compendium.papers.paper1 import charts as game_charts
from compendium.papers.paper1 import curve_charts
from compendium.papers.paper1.published import published_curves
from compendium.papers.paper1.values import METHODS, printed_table
from compendium.show import charts
from compendium.show.figures import SMALLEST, render

DRAW = np.random.default_rng(7)
BASE = pd.Series(
    {"accuracy": 0.95, "identifiability": 0.8, "accuracy_chance": 0.3, "identifiability_chance": 0.1}, name="base"
)


def with_ends(frame, half=0.02):
    for name in ("accuracy", "identifiability"):
        frame[f"{name}_low"], frame[f"{name}_high"] = frame[name] - half, frame[name] + half
    return frame


def swept():
    rows = [
        {"method": method, "n_features": size, "epsilon": epsilon, "accuracy": 0.95 - 0.4 / size, "identifiability":
         0.8 - 0.6 / size - 0.001 * place, "relative_effectiveness": "N/A" if size == 1 else 0.1 * size}
        for place, method in enumerate([*curve_charts.PANELS, "dp_printed", "dp_sound"])
        for size, epsilon in ((1, 0.001), (2, 0.1), (5, 1.0), (20, 10.0))
    ]  # fmt: skip
    table = with_ends(pd.DataFrame(rows))
    losses = {"accuracy_loss": "accuracy", "identifiability_reduction": "identifiability"}
    return table.assign(**{loss: BASE[name] - table[name] for loss, name in losses.items()})


def published(dataset):
    curves = published_curves()
    return curves[curves["dataset"] == dataset]


def searched():
    accuracy = DRAW.uniform(0.3, 0.95, 60)
    sizes = DRAW.integers(1, 6, 60)
    subsets = pd.DataFrame({"accuracy": accuracy, "identifiability": accuracy * 0.8, "n_features": sizes})
    subsets.loc[3, "identifiability"] = np.nan  # a lazy adversary
    return subsets


SUBSETS = searched()
CHOSEN = with_ends(
    pd.DataFrame(
        {"accuracy": [0.94, 0.935, 0.935, 0.85, 0.67, 0.35], "identifiability": [0.75, 0.745, 0.745, 0.66, 0.5, 0.2]},
        index=pd.Index([0, 0.01, 0.03, 0.1, 0.3, 1], name="threshold"),
    )
)
BANDS = pd.DataFrame(
    [
        {"measure": measure, "problem": problem, "option": option, "value": 5.0, "low": 4.0, "high": 6.0}
        for measure in ("lost, points", "taken, points")
        for problem in ("cic-ids-2017", "iot-sentinel-flows")
        for option in ("shap-ratio", "information-utility", "gini-ratio")
    ]
)
DRAWINGS = {
    "plane": lambda: game_charts.accuracy_identifiability(SUBSETS, CHOSEN, BASE, printed=printed_table("5")),
    "panels": lambda: curve_charts.method_panels(swept(), published("iot-sentinel")),
    "panels, printed alone": lambda: curve_charts.method_panels(printed=published("amir-nprint")),
    "compared": lambda: curve_charts.compared_panels(swept(), published("cic-ids-2017")),
    "compared, printed alone": lambda: curve_charts.compared_panels(printed=published("amir-nprint")),
    "pair": lambda: curve_charts.tradeoff_pair(swept(), published("cic-ids-2017")),
    "frontier": lambda: game_charts.frontier(swept(), BASE),
    "noise": lambda: game_charts.noise_panels(swept(), BASE),
    "bands": lambda: charts.intervals_by_set(BANDS),
}


@pytest.fixture(params=DRAWINGS)
def drawing(request):
    return DRAWINGS[request.param]


@functools.cache
def texts(drawing):
    """Return a drawing's visible texts with their boxes in pixels; tick labels beyond the limits are not drawn."""
    fig = drawing()
    FigureCanvasAgg(fig).draw()
    hidden = set()
    for axes in fig.axes:
        for axis in (axes.xaxis, axes.yaxis):
            if not axis.get_visible():  # the second axes' x axis
                hidden |= set(map(id, axis.get_majorticklabels()))
            low, high = sorted(axis.get_view_interval())
            for place, label in zip(axis.get_majorticklocs(), axis.get_majorticklabels(), strict=False):
                hidden |= set() if low - 1e-9 <= place <= high + 1e-9 else {id(label)}
            hidden |= set(map(id, axis.get_minorticklabels()))
    shown = [text for text in fig.findobj(Text) if text.get_visible() and text.get_text().strip()]
    return [(text, text.get_window_extent()) for text in shown if id(text) not in hidden]


@pytest.mark.first(1)
@pytest.mark.parametrize("name", ["plane", "panels, printed alone", "pair", "frontier", "noise", "bands"])
def test_a_drawing_is_the_same_bytes_each_time(name):
    """One of the four grids of panels is enough: they share what draws and what saves."""
    assert render(DRAWINGS[name]()) == render(DRAWINGS[name]())


@pytest.mark.first(3)
def test_letters_are_large_enough_and_none_is_cut_off(drawing):
    found = texts(drawing)
    fig = found[0][0].get_figure(root=True)
    assert min(text.get_fontsize() for text, _ in found) >= SMALLEST
    for text, box in found:
        assert box.x0 >= -1, text
        assert box.x1 <= fig.bbox.x1 + 1, text
        assert box.y0 >= -1, text
        assert box.y1 <= fig.bbox.y1 + 1, text


@pytest.mark.first(1)
def test_no_text_is_written_over_another(drawing):
    for (one, first), (other, second) in itertools.combinations(texts(drawing), 2):
        wide = min(first.x1, second.x1) - max(first.x0, second.x0)
        tall = min(first.y1, second.y1) - max(first.y0, second.y0)
        assert wide <= 1 or tall <= 2, f"{one.get_text()!r} over {other.get_text()!r}"


@functools.cache
def figure(name):
    """Return a drawing for tests that only look at it."""
    return DRAWINGS[name]()


@pytest.mark.slow
def test_all_sixteen_panels_are_there_in_the_paper_s_order():
    titles = [axes.get_title(loc="left") for axes in figure("panels").axes]
    assert [title[:3] for title in titles if title] == [f"({letter})" for letter in "abcdefghijk"]
    rows = [axes.get_ylabel() for axes in figure("compared").axes]
    assert [label[:3] for label in rows if label] == [f"({letter})" for letter in "lmnop"]


def test_every_method_of_table_3_is_in_one_family():
    members = [method for family in curve_charts.FAMILIES.values() for method in family]
    assert set(METHODS) <= set(members)
    assert len(members) == len(set(members))


def test_a_colour_and_a_marker_mean_one_thing():
    for looks in (curve_charts.LOOKS, curve_charts._LOSS):
        colours, markers = zip(*looks.values(), strict=True)
        assert len(set(markers)) == len(markers)
        assert len(set(colours)) == len(colours) or looks is curve_charts.LOOKS
    compared = [curve_charts.LOOKS[name] for name in (*curve_charts._ORDERS, *curve_charts._OTHERS)]
    measures = [colour for colour, _ in curve_charts._LOSS.values()]
    assert len({colour for colour, _ in compared} | set(measures)) == len(compared) + len(measures)


@pytest.mark.parametrize("name", ["panels", "compared", "frontier"])
def test_a_look_in_a_panel_belongs_to_one_method_or_measure(name):
    for axes in figure(name).axes:
        drawn = [
            (line.get_color(), line.get_marker(), line.get_alpha()) for line in axes.lines if len(line.get_xdata()) > 2
        ]
        drawn = [look for look in drawn if look[1] not in ("None", ".", "*")]
        assert len(drawn) == len(set(drawn)), axes.get_title(loc="left")
        assert len({look[::2] for look in drawn}) == len({look[1:] for look in drawn})  # a marker for each colour


def test_no_point_lies_outside_its_panel():
    """The identifiability of nPrint rises by up to four points; the scale once began at -2."""
    for name in ("panels", "panels, printed alone", "pair"):
        for axes in figure(name).axes:
            low, high = axes.get_ylim()
            for line in axes.lines:
                points = np.asarray(line.get_ydata(), float)
                assert low <= np.nanmin(points, initial=0) <= np.nanmax(points, initial=0) <= high


def test_a_panel_shows_loss_and_reduction_on_one_scale_for_all_panels():
    one, other = curve_charts.tradeoff_pair(swept()).axes
    _, loss, reduction = one.lines  # after the line at zero
    assert loss.get_xdata().tolist() == [1, 2, 5, 20]
    assert loss.get_ydata() == pytest.approx([40, 20, 8, 2])
    assert reduction.get_ydata() == pytest.approx([60, 30, 12, 3])
    assert one.get_ylim() == other.get_ylim()


def test_the_printed_points_are_as_published():
    points = published("opportunity")
    panel = curve_charts.method_panels(printed=points).axes[0]
    rows = points[points["method"] == "hashing"].sort_values("n_features")
    assert panel.lines[2].get_ydata() == pytest.approx(100 * rows["identifiability_reduction"])
    assert panel.lines[2].get_ydata().max() == pytest.approx(52.129, abs=1e-3)  # curves.md
    scatter = curve_charts.compared_panels(printed=points).axes[12]  # (o), scores of information
    assert scatter.get_ylabel().startswith("(o)")
    utility = scatter.lines[0]
    assert np.nanmax(utility.get_ydata()) == pytest.approx(4.593, abs=5e-4)  # curves.md, top 3


def test_a_dotted_line_marks_the_value_with_all_features():
    axes = figure("compared, printed alone").axes[12]
    dotted = [float(line.get_xdata()[0]) for line in axes.lines if line.get_linestyle() == ":"]
    assert dotted == [pytest.approx(470 / 479)]  # curves.md
    rises = [line for line in axes.lines if line.get_marker() == "^"]
    assert any(x > 470 / 479 for line in rises for x in line.get_xdata())


def test_long_series_are_drawn_by_medians_and_the_legend_says_so():
    fig = figure("compared, printed alone")
    assert any("medians of 5 %" in text.get_text() for text in fig.legends[0].get_texts())
    assert not any("medians" in text.get_text() for text in figure("compared").legends[0].get_texts())


def test_a_panel_without_points_says_so():
    words = [text.get_text() for axes in figure("panels, printed alone").axes for text in axes.texts]
    assert words == ["not run by the authors"] * 3  # SHAP on nPrint


def test_the_frontier_holds_what_nothing_beats_in_both():
    points = pd.DataFrame({"accuracy": [0.9, 0.8, 0.85, 0.7, 0.7], "identifiability": [0.6, 0.4, 0.7, 0.3, 0.2]})
    edge = game_charts._frontier(points)
    assert list(zip(edge["accuracy"], edge["identifiability"], strict=True)) == [(0.7, 0.2), (0.8, 0.4), (0.9, 0.6)]


def test_the_plane_shows_every_attacked_subset_every_threshold_and_both_chance_levels():
    fig = DRAWINGS["plane"]()
    axes = fig.axes[0]
    assert len(axes.collections[0].get_offsets()) == 59
    words = {text.get_text() for text in axes.texts}
    assert words == {"0", "0.01, 0.03", "0.1", "0.3", "1"}
    dotted = [line for line in axes.lines if line.get_linestyle() == ":"]
    assert sorted(float(value) for line in dotted for value in set(line.get_xydata().ravel()) - {0.0, 1.0}) == [
        0.1,
        0.3,
    ]


def test_no_threshold_is_written_over_a_chosen_point():
    measured = pd.DataFrame(  # as on IoT Sentinel: two points at the right end, closer than a text is wide
        {"accuracy": [0.709, 0.702, 0.692, 0.638, 0.5], "identifiability": [0.62, 0.51, 0.496, 0.462, 0.268]},
        index=pd.Index([0, 0.01, 0.03, 0.1, 0.3], name="threshold"),
    )
    close = with_ends(measured, half=0.002)
    base = pd.Series({**BASE, "accuracy": 0.7087, "identifiability": 0.62})
    fig = game_charts.accuracy_identifiability(SUBSETS.assign(accuracy=SUBSETS["accuracy"] * 0.74), close, base)
    fig.canvas.draw()
    axes = fig.axes[0]
    points = axes.transData.transform(close[["accuracy", "identifiability"]].to_numpy())
    covered = [
        (text.get_text(), close.index[at])
        for text in axes.texts
        for at, (x, y) in enumerate(points)
        if text.get_window_extent().padded(5).contains(x, y)  # a mark has a radius of 3 points
    ]
    assert not covered
    assert all(text.get_window_extent().x1 < axes.get_window_extent().x1 for text in axes.texts)


def test_intervals_stand_where_they_were_measured():
    fig = DRAWINGS["bands"]()
    segments = [path.vertices for part in fig.axes[0].collections for path in part.get_paths()]
    assert all(sorted(ends[:, 0].tolist()) == [4.0, 6.0] for ends in segments if len(ends) == 2)
    assert len(fig.axes) == 2
    assert [label.get_text() for label in fig.axes[0].get_yticklabels()] == ["cic-ids-2017", "iot-sentinel-flows"]
