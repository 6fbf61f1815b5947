"""A prediction interval holds one more value as often as it says."""

import math

import numpy as np
import pytest

from compendium.papers.intervals import prediction_interval
from compendium.verdicts.words import FEWEST


@pytest.mark.parametrize(("n", "confidence"), [(5, 0.95), (5, 0.8), (12, 0.95)])
def test_it_covers_one_more_value_as_often_as_it_says(n, confidence):
    draw, trials = np.random.default_rng(n), 4000
    samples = draw.normal(0.8, 0.02, (trials, n + 1))
    inside = 0
    for row in samples:
        low, high = prediction_interval(row[:n], confidence)
        inside += low <= row[n] <= high
    assert abs(inside / trials - confidence) < 4 * math.sqrt(confidence * (1 - confidence) / trials)


def test_it_does_not_shrink_to_the_mean():
    """An interval for the mean would exclude most single trainings after a hundred of them."""
    values = np.random.default_rng(0).normal(size=400)
    low, high = prediction_interval(values)
    assert 3.6 < high - low < 4.4


def test_three_values_are_too_few():
    with pytest.raises(ValueError, match=f"3 values: a prediction interval needs at least {FEWEST}"):
        prediction_interval([0.2, 0.3, 0.4])


@pytest.mark.parametrize("values", [[1, 2, 3, 4, math.nan], [1, 2, 3, 4, math.inf]])
def test_a_missing_value_is_refused(values):
    with pytest.raises(ValueError, match="missing or infinite"):
        prediction_interval(values)


def test_a_confidence_that_is_no_probability_is_refused():
    with pytest.raises(ValueError, match="confidence=95"):
        prediction_interval([1, 2, 3, 4, 5], 95)
