"""Paper 2's charts name every attribute in its group; test_figures.py checks them all for bytes and legibility."""

import pandas as pd

from sensorprivacy.report.paper2 import charts


def test_the_strip_names_the_attributes_of_each_group():
    (axes,) = charts.partition_strip(pd.Series({"age": 0.9, "sex": 0.5, "hours": 0.1}), 0.8, 0.2).axes
    words = {text.get_text() for text in [*axes.texts, *axes.get_xticklabels(), *axes.get_yticklabels()]}
    assert {"age", "sex", "hours", "sensitive (1)", "ambiguous (1)", "non-sensitive (1)"} <= words
