"""The released values of a strategy; `play` is tested on whole games."""

import numpy as np
import pandas as pd
import pytest
from sklearn.preprocessing import StandardScaler

from sensorprivacy.data import Problem
from sensorprivacy.game.play import release


@pytest.fixture
def problem():
    features = pd.DataFrame({"a": [1.0, 2.0, 3.0, 4.0], "b": [5.0, 6.0, 7.0, 8.0]})
    return Problem(features, [0, 0, 1, 1], [0, 1, 0, 1], name="four rows")


def test_kept_columns_are_released_as_they_are(problem):
    found = release(problem, ["b"], np.arange(2))
    assert found.same_as_raw
    assert found.matrix.tolist() == [[5], [6], [7], [8]]


def test_a_transformer_learns_from_training_rows_only(problem):
    found = release(problem, StandardScaler(), np.arange(2))
    assert not found.same_as_raw
    assert found.matrix[:, 0].tolist() == [-1, 1, 3, 5]


def test_an_unknown_column_and_an_empty_choice_are_refused(problem):
    with pytest.raises(KeyError, match="no such feature: 'c'"):
        release(problem, ["c"], np.arange(2))
    with pytest.raises(ValueError, match="no feature is released"):
        release(problem, [], np.arange(2))
