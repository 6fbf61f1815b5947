"""Paper 2's charts name every attribute in its group; test_figures.py checks them all for bytes and legibility."""

import pandas as pd
import pytest

from compendium import datasets
from compendium.papers.paper2 import charts, values
from compendium.show.charts import grouped_bars
from sensorprivacy import threeway


def test_the_strip_names_the_attributes_of_each_group():
    (axes,) = charts.partition_strip(pd.Series({"age": 0.9, "sex": 0.5, "hours": 0.1}), 0.8, 0.2).axes
    words = {text.get_text() for text in [*axes.texts, *axes.get_xticklabels(), *axes.get_yticklabels()]}
    assert {"age", "sex", "hours", "sensitive (1)", "ambiguous (1)", "non-sensitive (1)"} <= words


def diamonds(axes):
    return [list(line.get_ydata()) for line in axes.lines if line.get_marker() == "D"]


def test_a_strip_of_many_attributes_fits_a_page_without_their_names():
    many = charts.partition_strip(pd.Series(range(135), [f"column {k}" for k in range(135)]) / 134, 0.8, 0.2)
    assert many.get_size_inches()[1] < 9
    assert many.axes[0].get_yticklabels() == []
    assert many.axes[0].get_ylabel() == "135 attributes, by entropy"


def test_printed_gains_of_two_decimals_lie_at_most_their_rounding_beside_ours(mirror):
    """The caption of Fig. 5 says so; measures of the start and of the end are each rounded by up to .005."""
    beside = []
    for name in values.TRACE_TABLES:
        judge = threeway.Appraiser(datasets.table(name))
        end = threeway.find_thresholds(judge)
        start, found = (judge.table([pair]).iloc[0] for pair in ((0.5, 0.5), (end.alpha, end.beta)))
        ours = (found - start)[list(values.GAINS)].astype(float)
        beside += list((values.printed_gains().loc[name] - ours).abs())
    assert max(beside) > 0.005, "unrounded bars do not end at the printed marks"
    assert max(beside) < 0.0101


def test_printed_gains_lie_on_our_bars():
    printed = values.printed_gains()
    assert printed.loc["titanic"].round(2).tolist() == [0.30, 0.21, 0.33]
    ours = pd.DataFrame(0.5, index=["heart", "titanic"], columns=list(values.GAINS))  # another order, fewer sets
    fig = grouped_bars(ours, printed=printed)
    assert diamonds(fig.axes[0])[0] == printed.loc[["heart", "titanic"], "utility"].tolist()
    assert "printed in the paper" in [text.get_text() for text in fig.legends[0].get_texts()]
    assert diamonds(grouped_bars(ours).axes[0]) == []


def test_printed_groups_are_marked_where_the_paper_prints_them():
    printed = values.printed_groups()
    assert printed.loc["titanic", ["sensitive", "non_sensitive", "ambiguous"]].tolist() == [2, 5, 5]
    start, determined = charts.group_shares(printed, printed, printed).axes
    assert diamonds(start) == []
    assert "no numbers" in start.get_title(loc="left") + start.get_title(), "else a reader looks for the marks"
    assert diamonds(determined)[0][0] == pytest.approx(2 / 12)
