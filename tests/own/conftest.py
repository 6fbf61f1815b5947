"""Small tables with a known best answer."""

import numpy as np
import pandas as pd
import pytest

from sensorprivacy.data import Problem


def make_problem(n=240, seed=0, name="toy", groups=None):
    """`task` predicts the task only, `user` the user only, the rest nothing."""
    draw = np.random.default_rng(seed)
    task, users = draw.integers(0, 2, n), draw.integers(0, 4, n)
    features = pd.DataFrame(
        {
            "user": users + draw.normal(0, 0.2, n),
            "task": task + draw.normal(0, 0.2, n),
            "noise": draw.normal(size=n),
            "day": draw.integers(0, 7, n),  # of few values, so that three-way division has entropies to compare
        }
    )
    return Problem(features, np.where(task, "tv", "fridge"), [f"u{user}" for user in users], groups, name=name)


@pytest.fixture(scope="session")
def problem():
    return make_problem()


@pytest.fixture(scope="session")
def make():
    return make_problem
