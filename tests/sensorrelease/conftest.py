"""Small tables with a known best answer."""

from functools import partial

import numpy as np
import pandas as pd
import pytest

from sensorprivacy.data import Problem
from sensorrelease.card import measure_table
from sensorrelease.cli import main
from sensorrelease.publishing import recordings, tables


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


@pytest.fixture(scope="session", autouse=True)
def few_trees():
    """Measure published tables with small forests: a hundred trees took most of the time of these tests."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(tables, "measure_table", partial(measure_table, trees=5))
        for module in (tables, recordings):  # their default is secret, so every run would measure something else
            patch.setattr(module, "secret_seed", lambda seed: 42 if seed is None else seed)
        yield


@pytest.fixture(scope="session")
def problem():
    return make_problem()


@pytest.fixture(scope="session")
def make():
    return make_problem


@pytest.fixture
def unmeasured(monkeypatch):
    """Publish tables without measuring attacks on them, which takes most of the time."""
    monkeypatch.setattr(tables, "measure_table", lambda *_, **__: [])


@pytest.fixture(scope="session")
def declare():
    """Return a function that drafts and confirms the schema of a folder of recordings, and returns the folder."""

    def declared(folder, *words, task="activity", user="person"):
        path = folder.with_name(f"{folder.name}.schema.yaml")
        path.unlink(missing_ok=True)
        assert main(["schema", str(folder), "--task", task, "--user", user, *map(str, words), "--quiet"]) == 0
        assert main(["schema", str(path), "--confirm"]) == 0
        return folder

    return declared
