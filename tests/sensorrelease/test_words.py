"""Stated bounds: words of the command line, and the noise that they set."""

import numpy as np
import pandas as pd
import pytest

from sensorrelease.words import check_bounds, parse, parse_bounds, with_bounds


def test_names_may_hold_an_equals_sign():
    assert parse_bounds(["a=b=-1:2.5"]) == {"a=b": (-1, 2.5)}


@pytest.mark.parametrize("word", ["lux", "lux=1", "=0:1", "lux=2:1", "lux=0:inf", "lux=a:b", "lux=0:1:2"])
def test_wrong_words_are_refused(word):
    with pytest.raises(ValueError, match="write the column, its lowest and its highest value, such as lux=0:1000"):
        parse_bounds([word])


def test_a_column_is_named_once():
    with pytest.raises(ValueError, match="column 'lux' has bounds already"):
        parse_bounds(["lux=0:1", "lux=0:2"])


@pytest.mark.parametrize("word", ["none", "prediction", "minimize", "method:pca"])
def test_defences_without_noise_need_no_bounds(word):
    check_bounds({}, parse(word))
    with pytest.raises(ValueError, match="bounds are for defences with noise"):
        check_bounds({"lux": (0, 1)}, parse(word))


def test_only_columns_that_are_not_named_are_read_from_the_data():
    table = pd.DataFrame({"lux": [1.0, 5.0], "hour": [2.0, 7.0]})
    step = with_bounds(parse("noise:epsilon=2"), {"lux": (0, 10)}, ["lux", "hour"], [], []).make(None).fit(table)
    np.testing.assert_array_equal(np.c_[step.low_, step.high_], [[0, 10], [2, 7]])
    assert step.bounds_from_data_
    assert step.guarantees_[1].startswith("The bounds of hour were read from the fitted rows")
    both = {"lux": (0, 10), "hour": (0, 23)}
    sure = with_bounds(parse("noise"), both, ["lux", "hour"], [], []).make(None).fit(table)
    assert not sure.bounds_from_data_
    assert len(sure.guarantees_) == 1
