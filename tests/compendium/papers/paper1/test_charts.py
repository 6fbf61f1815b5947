"""The figures of paper 1: what they show is what was measured, and nothing is cut off or written over."""

import functools
import itertools

import numpy as np
import pandas as pd
import pytest
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.text import Text

from compendium.papers.paper1 import charts as game_charts
from compendium.papers.paper1.values import printed_table
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
        for place, method in enumerate([*game_charts.PANELS, "dp_printed", "dp_sound"])
        for size, epsilon in ((1, 0.001), (2, 0.1), (5, 1.0), (20, 10.0))
    ]  # fmt: skip
    return with_ends(pd.DataFrame(rows))


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
    "panels": lambda: game_charts.method_panels(swept(), BASE),
    "pair": lambda: game_charts.tradeoff_pair(swept(), BASE),
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


def test_a_drawing_is_the_same_bytes_each_time(drawing):
    assert render(drawing()) == render(drawing())


def test_letters_are_large_enough_and_none_is_cut_off(drawing):
    found = texts(drawing)
    fig = found[0][0].get_figure(root=True)
    assert min(text.get_fontsize() for text, _ in found) >= SMALLEST
    for text, box in found:
        assert box.x0 >= -1, text
        assert box.x1 <= fig.bbox.x1 + 1, text
        assert box.y0 >= -1, text
        assert box.y1 <= fig.bbox.y1 + 1, text


def test_no_text_is_written_over_another(drawing):
    for (one, first), (other, second) in itertools.combinations(texts(drawing), 2):
        wide = min(first.x1, second.x1) - max(first.x0, second.x0)
        tall = min(first.y1, second.y1) - max(first.y0, second.y0)
        assert wide <= 1 or tall <= 2, f"{one.get_text()!r} over {other.get_text()!r}"


def test_all_sixteen_panels_are_there_in_the_paper_s_order():
    fig = DRAWINGS["panels"]()
    titles = [axes.get_title(loc="left") for axes in fig.axes if axes.get_title(loc="left")]
    assert [title[:3] for title in titles] == [f"({letter})" for letter in "abcdefghijklmnop"]


def test_a_panel_shows_loss_and_reduction_on_one_scale_for_all_panels():
    one, other = DRAWINGS["pair"]().axes
    loss, reduction = one.lines
    assert loss.get_xdata().tolist() == [1, 2, 5, 20]
    assert loss.get_ydata() == pytest.approx([0.4, 0.2, 0.08, 0.02])
    assert reduction.get_ydata() == pytest.approx([0.6, 0.3, 0.12, 0.03])
    assert one.get_ylim() == other.get_ylim()


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
