"""Problems that no comparison can answer get one clear line."""

import dataclasses

import numpy as np
import pytest

from sensorprivacy.game.splits import default_split
from sensorrelease.checks import check_labels, refuse_chance, split_of


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"users": ["ann"] * 240}, r"the user column.* holds 'ann' only: a model needs two or more users"),
        ({"users": [7] * 240}, r"the user column.* holds 7 only"),
        ({"task": ["tv"] * 240}, r"the task column.* holds 'tv' only: a model needs two or more classes"),
        ({"task": [f"{row} lux" for row in range(240)]}, r"the task column.* has 240 different values in 240 rows"),
        ({"groups": "users"}, "each user needs several groups; give finer groups, or none"),
        ({"groups": ["one day"] * 240}, "cannot fill 3 parts"),
    ],
)
def test_problems_without_an_answer(problem, change, message):
    change = {name: problem.users if values == "users" else values for name, values in change.items()}
    changed = dataclasses.replace(problem, **change)
    with pytest.raises(ValueError, match=message) as raised:  # noqa: PT012 - one of the two raises
        check_labels(changed.task, changed.users)
        split_of(changed, None, 42, None)
    assert "\n" not in str(raised.value)


def test_half_of_the_rows_train_and_a_quarter_chooses(problem):
    split = split_of(problem, None, 42, None)
    assert [len(rows) for rows in (split.train, split.validation, split.test)] == [120, 60, 60]
    thin = split_of(problem, None, 42, 50)
    assert [len(rows) for rows in (thin.train, thin.validation, thin.test)] == [50, 50, 50]


def test_held_out_rows_of_a_given_split_are_halved(problem):
    given = default_split(problem, test=0.5)
    split = split_of(problem, given, 42, None)
    np.testing.assert_array_equal(split.train, given.train)
    np.testing.assert_array_equal(np.sort(np.r_[split.validation, split.test]), np.sort(given.test))


@pytest.mark.slow
def test_each_part_of_few_groups_has_two_classes(make):
    """Sixteen recordings were refused because the four that were held out had one activity."""
    groups = np.repeat(np.arange(16), 15)
    for seed in range(40):
        problem = dataclasses.replace(make(), groups=groups, users=groups % 4)
        problem = dataclasses.replace(problem, task=np.array(["sit", "walk"])[groups // 4 % 2])
        split = split_of(problem, None, seed, None)
        for rows in (split.train, split.validation, split.test):
            assert problem.task.iloc[rows].nunique() == 2
            assert set(problem.users.iloc[rows]) <= {0, 1, 2, 3}


def test_held_out_rows_of_one_class_are_said():
    """Twelve recordings gave "accuracy 100.0%, chance 100.0%; choose another task"."""
    shown = {"score": 1.0, "n": 2, "unit": "people", "chance": 1.0}
    with pytest.raises(ValueError, match="the 2 people held out have one class only; give more rows, or more record"):
        refuse_chance("'activity'", shown, 1.0, 2)
    refuse_chance("'activity'", shown | {"chance": 0.5}, 0.2, 2)
