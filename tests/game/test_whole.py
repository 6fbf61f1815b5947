"""Statistics of whole groups: what the sum over rows cannot see, and the rows that carry it."""

import numpy as np
import pytest

from sensorprivacy.game.measuring import pooled
from sensorprivacy.game.whole import as_rows, chosen_on_units, of_units


def test_statistics_of_units_are_those_of_their_rows():
    values = np.array([[1.0, 7.0], [2.0, 0.0], [3.0, 7.0], [6.0, 0.0], [9.0, 5.0]])
    units = np.array([0, 1, 0, 1, 0])
    found = of_units(values, units)
    rows = values[units == 0]
    expected = [rows.mean(axis=0), rows.std(axis=0), *np.quantile(rows, [0.1, 0.25, 0.5, 0.75, 0.9], axis=0)]
    np.testing.assert_allclose(found[0, :14], np.concatenate(expected))
    levels = found[:, 14:]  # 1, 2, 3, 6, 9 of the first column, 0, 5, 7 of the second
    np.testing.assert_allclose(levels[0], [1 / 3, 0, 1 / 3, 0, 1 / 3, 0, 1 / 3, 2 / 3])


def test_neighbours_correlate_only_within_their_unit():
    draw = np.random.default_rng(0)
    smooth, rough = np.cumsum(draw.normal(size=500)), draw.normal(size=500)
    values, units = np.r_[smooth, rough][:, None], np.repeat([0, 1], 500)
    correlation = of_units(values, units, in_order=True)[:, -1]
    assert correlation[0] > 0.95
    assert abs(correlation[1]) < 0.15
    assert of_units(np.ones((3, 1)), np.array([0, 0, 1]), in_order=True)[:, -1].tolist() == [0, 0]


def test_rows_add_up_to_the_posterior_of_their_unit():
    prior, posterior = np.array([0.5, 0.3, 0.2]), np.array([[0.2, 0.5, 0.3], [1.0, 0.0, 0.0], [0.1, 0.1, 0.8]])
    units = np.repeat([0, 1, 2], [1, 40, 7])
    rows = as_rows(posterior, prior, units)
    np.testing.assert_allclose(rows.sum(axis=1), 1)
    np.testing.assert_allclose(np.exp(pooled(rows, prior, units)), posterior, atol=3e-6)


@pytest.mark.parametrize("each", [1, 2, 5])
def test_the_choice_needs_no_unit_of_training(each):
    """Each class keeps a unit to learn from, and one is enough to predict."""
    draw = np.random.default_rng(1)
    codes = np.repeat([0, 1, 2], 4 * each)
    rows = draw.normal(size=(len(codes), 3)) + 4 * np.eye(3)[codes]
    found = chosen_on_units(rows, codes, 4 * np.eye(3), np.repeat(np.arange(3 * each), 4), 0)
    assert found.shape == (3, 3)
    assert found.argmax(axis=1).tolist() == [0, 1, 2]
