"""A column that identifies the users is found without any list, and a column that does not is left."""

import numpy as np
import pandas as pd
import pytest

from sensorrelease.schema.identify import agreement, judge_values, lookup, neighbours

DRAW = np.random.default_rng(0)
N, USERS = 2000, 40
WHO = DRAW.integers(0, USERS, N)
OWNERS = pd.Series([f"P{who}" for who in WHO])


def judged(values, step=1.0):
    return judge_values(pd.Series(values), OWNERS, step)


def test_recalls_have_known_values():
    who = np.repeat([0, 1], 50)
    assert lookup(who, who) == 1
    assert lookup(np.zeros(100, int), who) == pytest.approx(0, abs=0.5)
    assert lookup(np.arange(100), who) == 0  # a value that occurs once finds nobody
    assert neighbours(who * 10.0, who) >= 0.98  # at the border, a tie can be lost
    assert neighbours(DRAW.random(N), WHO) < 0.1
    assert agreement(who, who) == 1
    assert agreement(np.arange(100), who) == 0


def test_measurements_that_many_users_share_may_leave():
    for values in (DRAW.normal(20, 5, N), DRAW.integers(0, 9, N), WHO % 3 + DRAW.normal(0, 1, N)):
        assert judged(np.round(values, 2), 0.01) is None
    assert judged(DRAW.choice(["eco", "auto"], N), None) is None
    assert judged(DRAW.random(N) < 0.5, None) is None
    assert judged(np.full(N, np.nan)) is None


@pytest.mark.parametrize("chance", [0.0, 0.1])
def test_an_attribute_of_a_user_is_found_although_many_share_it(chance):
    sex = np.where(DRAW.random(N) < chance, DRAW.integers(0, 2, N), WHO % 2)
    found = judged(sex)
    assert found.soft
    assert "describes the user" in found.reason


def test_a_code_is_found_in_the_last_digits_only():
    assert judged(DRAW.integers(0, 50, N) * 100 + WHO) is not None


def test_gaps_that_follow_the_user_are_found():
    assert "missing" in judged(np.where(WHO % 2, DRAW.normal(size=N), np.nan), 0.01).reason


@pytest.mark.parametrize(
    "values",
    [
        np.arange(N),
        np.arange(N) * 0.02,
        DRAW.permutation(N),
        pd.Series(WHO).groupby(WHO).cumcount().to_numpy(),
        DRAW.integers(0, 604800, N),
        DRAW.integers(19600, 19700, N),
        DRAW.integers(0, 2**32, 50)[DRAW.integers(0, 50, N)],
    ],
)
def test_times_row_numbers_and_long_numbers_are_found_although_they_name_nobody(values):
    found = judged(values)
    assert found is not None
    assert not found.soft


def test_durations_with_a_long_tail_are_measurements():
    assert judged(np.exp(DRAW.normal(8, 1.2, N)).round(), 10.0) is None
