"""A prediction interval holds one more value as often as it says."""

import math

import numpy as np
import pytest

from compendium.verdicts.prediction import FEWEST, prediction_interval


@pytest.mark.parametrize("n", [5, 12])
def test_it_covers_one_more_value_as_often_as_it_says(n):
    draw, trials = np.random.default_rng(n), 4000
    samples = draw.normal(0.8, 0.02, (trials, n + 1))
    inside = 0
    for row in samples:
        low, high = prediction_interval(row[:n])
        inside += low <= row[n] <= high
    assert abs(inside / trials - 0.95) < 4 * math.sqrt(0.95 * 0.05 / trials)


def test_it_does_not_shrink_to_the_mean():
    """An interval for the mean would exclude most single trainings after a hundred of them."""
    values = np.random.default_rng(0).normal(size=400)
    low, high = prediction_interval(values)
    assert 3.6 < high - low < 4.4


def test_one_value_less_than_needed_gives_no_interval():
    assert np.isnan(prediction_interval(np.arange(FEWEST - 1))).all()
    assert np.isfinite(prediction_interval(np.arange(FEWEST))).all()


@pytest.mark.parametrize("bad", [math.nan, math.inf])
def test_a_training_without_a_value_is_refused(bad):
    with pytest.raises(ValueError, match="a value is missing or infinite"):
        prediction_interval([0.2, 0.21, 0.22, 0.23, bad])
