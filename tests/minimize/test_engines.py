"""Engines by name, and the arrays that they read; the shared forest has its own tests."""

import numpy as np
import pandas as pd
import pytest
from sklearn.neighbors import KNeighborsClassifier

from sensorprivacy.data import Problem
from sensorprivacy.game.splits import Split
from sensorprivacy.minimize.engine_protocol import engine_data
from sensorprivacy.minimize.engines import SklearnEngine, make_engine


@pytest.fixture
def data():
    features = pd.DataFrame({"task": [0.0, 0, 9, 9, 0, 9], "users": [0.0, 9, 0, 9, 9, 0]})
    problem = Problem(features, [0, 0, 1, 1, 0, 1], [0, 1, 0, 1, 1, 0], name="six rows")
    return engine_data(problem, Split(np.arange(4), np.arange(4, 6)))


def test_each_subset_gets_the_accuracy_of_its_own_columns(data):
    engine = make_engine("sklearn", data, KNeighborsClassifier(1))
    assert isinstance(engine, SklearnEngine)
    assert engine.score([(0,), (0, 1)], "task") == [1, 1]
    assert engine.score([(1,)], "users") == [1]


def test_an_engine_object_is_used_as_it_is_and_an_unknown_name_is_refused(data):
    engine = SklearnEngine(data)
    assert make_engine(engine, data) is engine
    with pytest.raises(ValueError, match="fast"):
        make_engine("fast", data)
