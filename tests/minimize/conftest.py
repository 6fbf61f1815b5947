"""A small problem with a known best answer."""

import numpy as np
import pandas as pd
import pytest
from sklearn.ensemble import RandomForestClassifier

from sensorprivacy.data import Problem


def make_problem(n=240, seed=0, name="toy"):
    """`task` tells the task only, `user` the user only, `both` a bit of each, the rest nothing."""
    draw = np.random.default_rng(seed)
    task, users = draw.integers(0, 2, n), draw.integers(0, 4, n)
    features = pd.DataFrame(
        {
            "user": users + draw.normal(0, 0.2, n),
            "task": task + draw.normal(0, 0.3, n),
            "both": task + users + draw.normal(0, 0.3, n),
            "noise": draw.normal(size=n),
            "task2": task + draw.normal(0, 0.6, n),
        }
    )
    return Problem(features, task, users, name=name)


@pytest.fixture(scope="session")
def problem():
    return make_problem()


@pytest.fixture
def tiny():
    return RandomForestClassifier(n_estimators=5)
