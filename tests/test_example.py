"""The synthetic problem: its features reveal what its documentation says."""

import doctest

import numpy as np
import pytest
from sklearn.ensemble import RandomForestClassifier

from sensorprivacy import example
from sensorprivacy.example import example_problem
from sensorprivacy.game import play

FOREST = RandomForestClassifier(n_estimators=10)


@pytest.mark.parametrize(
    ("feature", "predicts_task", "identifies_users"),
    [("task_only", True, False), ("user_only", False, True), ("both", True, True), ("noise", False, False)],
)
def test_each_feature_reveals_what_its_name_says(feature, predicts_task, identifies_users):
    problem = example_problem(n_records=1000)
    outcome = play(problem, [feature], model=FOREST)
    assert outcome.task.beats_chance == predicts_task
    assert outcome.adversary.beats_chance == identifies_users


def test_feature_minimization_finds_the_known_answer():
    """The documented example, which runs `feature_minimize`."""
    found = doctest.testmod(example)
    assert (found.attempted, found.failed) == (5, 0)


def test_size_and_seed():
    problem = example_problem(n_users=3, n_records=50)
    assert (problem.n_records, problem.n_features, problem.users.nunique()) == (50, 4, 3)
    assert problem.digest == example_problem(n_users=3, n_records=50).digest
    assert problem.digest != example_problem(n_users=3, n_records=50, random_state=1).digest
    assert np.isfinite(problem.features.to_numpy()).all()


@pytest.mark.parametrize(("arguments", "message"), [({"n_users": 1}, "n_users=1"), ({"n_records": 40}, "n_records=40")])
def test_refuses_too_few_users_or_rows(arguments, message):
    with pytest.raises(ValueError, match=message):
        example_problem(**arguments)
