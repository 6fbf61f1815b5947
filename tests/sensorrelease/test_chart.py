"""The frontier of a comparison: names in words, apart from each other, and one meaning for each colour."""

import itertools

import numpy as np
import pandas as pd
import pytest
from matplotlib.text import Text

from sensorrelease.chart import _KINDS, PAPERS, frontier, in_words
from sensorrelease.words import table_defences

RELEASES = ("inferred label alone", "random training window", "shift, deterministic", "shift, probabilistic, redrawn")
RELEASES += ("guaranteed, per window", "transport, 0.7 kept", "codebook 8, synthetic", "donor")


def committed(root, run, **changed):
    table = pd.read_csv(root / "figures" / run / "defences.csv", true_values=["yes"], false_values=["no"])
    return table.assign(**changed)


@pytest.fixture(params=["motionsense-subject", "smartwatch-subject", "iot-sentinel-flows", "crowded"])
def table(request, root):
    if request.param == "crowded":  # all points at one place
        return committed(root, "50_one_game-motionsense-subject", attack=0.5, attack_low=0.4, attack_high=0.6)
    return committed(root, f"50_one_game-{request.param}")


def test_names_are_words():
    names = [one.name for one in table_defences()] + list(RELEASES) + list(PAPERS)
    for word in map(in_words, names):
        assert "_" not in word
        assert "=" not in word
    assert len(set(map(in_words, names))) == len(set(names))
    assert in_words("my own defence") == "my own defence"


def test_labels_are_apart_and_inside(table):
    fig = frontier(table)
    fig.draw_without_rendering()
    labels = fig.axes[0].texts
    boxes = [Text.get_window_extent(label) for label in labels]  # without the leader line
    assert len(boxes) > 5
    for one, other in itertools.combinations(boxes, 2):
        assert min(one.y1, other.y1) - max(one.y0, other.y0) <= 1
    area, page = fig.axes[0].get_window_extent(), fig.bbox
    assert all(box.x0 >= area.x1 and box.x1 <= page.x1 + 1 and box.y0 >= -1 for box in boxes)
    order = [label.xy[1] for label in sorted(labels, key=lambda label: label.xyann[1])]
    assert order == sorted(order)


def test_the_axis_shows_shares_only(table):
    low, high = frontier(table).axes[0].get_ylim()
    assert low >= -0.02
    assert high <= 1.02


def test_the_papers_own_defences_are_named(root):
    table = committed(root, "50_one_game-motionsense-subject")
    named = {text.get_text() for text in frontier(table).axes[0].texts}
    assert {in_words(name) for name in PAPERS} <= named
    assert {"raw data", "predicted label alone"} <= named


def test_a_kind_has_one_colour_and_one_marker(root):
    assert len(set(_KINDS.values())) == len(_KINDS) == len({colour for colour, _ in _KINDS.values()})
    assert len({marker for _, marker in _KINDS.values()}) == len(_KINDS)
    table = committed(root, "50_one_game-motionsense-subject")
    points = [line for line in frontier(table).axes[0].lines if line.get_marker() in dict(_KINDS.values()).values()]
    found = [(line.get_color(), line.get_marker()) for line in points]
    looks = dict(zip(table["defence"], found, strict=True))
    assert looks["minimize:threshold=0.1"] == looks["method:pca"] == _KINDS["drops columns"]
    assert looks["threeway:printed"] == _KINDS["divides columns in three"]
    assert looks["noise:epsilon=1"] == looks["guaranteed, per window"] == _KINDS["guaranteed in every column"]


def test_what_nothing_beats_is_filled():
    names = ["none", "a", "b", "c"]
    accuracy, attack = np.array([0.9, 0.8, 0.7, 0.8]), np.array([0.9, 0.5, 0.6, 0.4])
    table = pd.DataFrame({"defence": names, "family": "own", "trivial": [True, False, False, False]})
    table = table.assign(guaranteed=False, accuracy=accuracy, attack=attack, chance=0.1, n=50, unit="rows")
    for name, values in (("accuracy", accuracy), ("attack", attack)):
        table[f"{name}_low"], table[f"{name}_high"] = values - 0.01, values + 0.01
    fig = frontier(table, "gender")
    assert {text.get_text() for text in fig.axes[0].texts} == {"raw data", "c"}
    assert fig.axes[0].get_ylabel().startswith("rows whose gender")
