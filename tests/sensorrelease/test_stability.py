"""Repetitions keep what is informative, and show what is kept by chance."""

import numpy as np
import pytest
from sklearn.ensemble import RandomForestClassifier

from sensorprivacy.data import Problem
from sensorprivacy.minimize.minimizer import FeatureMinimizer, fit_problem
from sensorprivacy.minimize.settings import OWN
from sensorrelease.stability import repeat_selection


@pytest.fixture(scope="module")
def fitted(problem):
    features = problem.features[["user", "task", "noise"]].assign(
        noise2=np.random.default_rng(5).normal(size=problem.n_records)
    )
    small = Problem(features, problem.task, problem.users, name="toy")
    forest = RandomForestClassifier(n_estimators=5)
    return fit_problem(FeatureMinimizer(0.3, estimator=forest, search=OWN), small), small


def test_an_informative_column_is_always_kept_and_a_harmful_one_never(fitted):
    found = repeat_selection(*fitted, 3)
    assert found.repetitions == 3
    assert found.kept["task"] == 3
    assert found.kept["user"] == 0
    assert list(found.kept.values()) == sorted(found.kept.values(), reverse=True)
    assert (found.trees, found.rows) == (5, 1000)
    assert repeat_selection(*fitted, 3) == found


def test_no_repetitions(fitted):
    assert repeat_selection(*fitted, 0) is None
