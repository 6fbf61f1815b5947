"""No release holds the user, a copy of the user, or an identifier."""

import numpy as np
import pandas as pd
import pytest

from sensorprivacy.columns.copies import holds_user, nearly_holds_user, stands_for

USERS = pd.Series(np.random.default_rng(3).integers(40, size=2000))
CARDS = np.random.default_rng(4).integers(10**15, 9 * 10**15, (40, 3))
NEARLY = {
    "a name that some share": USERS.map(lambda who: f"customer {who % 36}"),
    "a name that is often missing": USERS.map(lambda who: f"customer {who % 36}").where(USERS.index % 3 == 0, "none"),
    "three cards of each user": pd.Series(CARDS[USERS, np.arange(2000) % 3]),
    "nine cards of each user": (USERS * 9 + np.arange(2000) % 9) * 7919 % 10007,
    "a number that some share": 70_000 + USERS % 36 * 77,
}
MEASURED = {
    "continuous": np.random.default_rng(5).normal(USERS, 0.01),
    "levels of each user": USERS * 10 + np.random.default_rng(6).integers(10, size=2000),
    "age": 20 + USERS % 30,
    "size of the home": USERS % 6 * 15,
    "postcode": (USERS % 4).astype(str),
    "sex": np.where(USERS % 2, "f", "m"),
    "room": np.random.default_rng(7).choice(["hall", "attic"], 2000),
    "a rare remark": np.where(USERS == 3, "tenant moved out", None),
}


@pytest.mark.parametrize("name", NEARLY)
def test_labels_that_name_most_users_are_found(name):
    reason = nearly_holds_user(pd.Series(NEARLY[name]), USERS.rename("owner"))
    assert reason.startswith("nearly 'owner' under another name: ")


@pytest.mark.parametrize("name", MEASURED)
def test_measurements_and_attributes_of_many_users_stay(name):
    column = pd.Series(MEASURED[name])
    assert nearly_holds_user(column, USERS) == ""
    assert holds_user(column, USERS.rename("owner")) == ""


def test_a_value_that_occurs_once_tells_nothing():
    users = pd.Series(list("aabbcc"))
    assert not stands_for(pd.Series(range(6)), users)
    assert stands_for(pd.Series([1, 1, 2, 2, 3, 3]), users)
    assert not stands_for(pd.Series([1, 1, 1, 1, 3, 3]), users)


def test_a_number_of_each_user_is_found_among_users_with_one_row():
    draw = np.random.default_rng(0)
    users = pd.Series(draw.integers(10**6, size=300)).astype(str)
    assert stands_for(pd.Series(pd.factorize(users)[0] * 7919 % 10007), users)
    assert not stands_for(pd.Series(draw.integers(50, size=300)), users)
    assert not stands_for(pd.Series(draw.normal(size=300)), users)
