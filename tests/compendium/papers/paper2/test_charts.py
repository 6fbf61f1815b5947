"""Paper 2's charts name every attribute in its group; test_figures.py checks them all for bytes and legibility."""

import pandas as pd
import pytest

from compendium.papers.paper2 import charts, values
from compendium.show.charts import grouped_bars


def test_the_strip_names_the_attributes_of_each_group():
    (axes,) = charts.partition_strip(pd.Series({"age": 0.9, "sex": 0.5, "hours": 0.1}), 0.8, 0.2).axes
    words = {text.get_text() for text in [*axes.texts, *axes.get_xticklabels(), *axes.get_yticklabels()]}
    assert {"age", "sex", "hours", "sensitive (1)", "ambiguous (1)", "non-sensitive (1)"} <= words


def diamonds(axes):
    return [list(line.get_ydata()) for line in axes.lines if line.get_marker() == "D"]


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
    assert diamonds(determined)[0][0] == pytest.approx(2 / 12)
