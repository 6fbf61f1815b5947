"""The timing figures draw their data."""

import pandas as pd
import pytest
from matplotlib.figure import Figure

from compendium.papers.paper3 import edge_charts
from compendium.show.figures import render


def legends(figure):
    return [text.get_text() for legend in figure.legends for text in legend.get_texts()]


def test_shares_add_up_to_one_and_totals_are_shown():
    figure = edge_charts.where_time_goes(pd.DataFrame({"a": [1.0, 3.0], "b": [1.0, 1.0]}, index=["x", "y"]))
    widths = [bar.get_width() for bar in figure.axes[0].patches]
    assert widths == pytest.approx([0.5, 0.75, 0.5, 0.25])
    assert legends(figure) == ["a", "b"]
    assert {text.get_text() for text in figure.axes[0].texts} == {"2 ms", "4 ms"}


def test_each_table_has_a_panel():
    rows = {"table": ["4", "4", "7"], "title": ["A", "B", "C [malekzadeh19]"], "printed_ms": [1.0, 2, 3]}
    figure = edge_charts.compared_steps(pd.DataFrame(rows | {"ours_ms": [1.0, 1, 9], "bound_ms": [0.1, 0.1, 0.1]}))
    assert [axes.get_ylabel() for axes in figure.axes] == ["Table 4", "Table 7"]
    assert [text.get_text() for text in figure.axes[1].get_yticklabels()] == ["C (2019)"]


def test_budgets_and_links_can_be_rendered():
    rows = {"label": ["here", "Pi 3"], "median_ms": [1.0, 60], "p99_ms": [2.0, float("nan")], "budget_ms": [200, 500]}
    table = pd.DataFrame({"link": ["4G", "3G"], "device": [0.001, 0.001], "cloud_back": [0.05, 0.1]})
    for figure in (edge_charts.budgets(pd.DataFrame(rows)), edge_charts.links(table, ["device", "cloud_back"])):
        assert isinstance(figure, Figure)
        assert render(figure).startswith(b"\x89PNG")
