"""Declared ranges set the noise of a defence."""

import numpy as np
import pandas as pd
import pytest

from sensorrelease.words import parse, takes_bounds, with_bounds


@pytest.mark.parametrize("word", ["none", "prediction", "minimize", "method:pca"])
def test_defences_without_noise_need_no_bounds(word):
    assert not takes_bounds(parse(word))
    assert takes_bounds(parse("noise"))


def test_only_columns_that_are_not_named_are_read_from_the_data():
    table = pd.DataFrame({"lux": [1.0, 5.0], "hour": [2.0, 7.0]})
    step = with_bounds(parse("noise:epsilon=2"), {"lux": (0, 10)}, ["lux", "hour"]).make(None).fit(table)
    np.testing.assert_array_equal(np.c_[step.low_, step.high_], [[0, 10], [2, 7]])
    assert step.bounds_from_data_
    assert step.guarantees_[1].startswith("The bounds of hour were read from the fitted rows")
    both = {"lux": (0, 10), "hour": (0, 23)}
    sure = with_bounds(parse("noise"), both, ["lux", "hour"]).make(None).fit(table)
    assert not sure.bounds_from_data_
    assert len(sure.guarantees_) == 1
