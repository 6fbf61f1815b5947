"""What columns tell about users."""

import re
import uuid

import numpy as np
import pandas as pd
import pytest

from sensorprivacy.columns.identifiers import IdentifierWarning
from sensorprivacy.columns.judge import (
    CONSTANT,
    DROPPED,
    EMPTY,
    Roles,
    find_identifying,
    judge_table,
    warn_of_identifying,
)

ROLES = {"task": "room", "user": "owner"}
COPY = "'owner' under another name: its value alone identifies the user"
EXPECTED = {
    "uuid": "UUIDs",
    "mail": "e-mail addresses",
    "record": "row numbers",
    "when": "points in time",
    "code": COPY,
    "badge": COPY,
    "remark": "its text names the user of the row",
    "first": "nearly 'owner' under another name: its 5 values name most of them",
}


@pytest.fixture(scope="module")
def home():
    draw, n = np.random.default_rng(0), 240
    who = draw.integers(6, size=n)
    owner = np.array(["anna", "bert", "carl", "dora", "emil", "fred"])[who]
    return pd.DataFrame(
        {
            "room": draw.choice(["kitchen", "hall"], n),
            "owner": owner,
            "lux": draw.normal(who, 0.01).round(5),  # identifies the owner, but is a measurement
            "lamp": draw.choice(["dim", "bright"], n),
            "uuid": [str(uuid.UUID(bytes=draw.bytes(16))) for _ in range(n)],
            "mail": [f"{name}@home.org" for name in owner],
            "record": range(n),
            "when": [f"{1 + at % 28:02}.{1 + at % 12:02}.2026 {at % 24:02}:15" for at in draw.permutation(n)],
            "code": who * 17 + 3,
            "badge": np.char.upper(owner),
            "remark": [f"{name}'s lamp {at % 9}" if at % 5 == 0 else "ok" for at, name in enumerate(owner)],
            "first": np.array(["Kim", "Kim", "Lee", "Ray", "Max", "Ann"])[who],
        }
    )


def test_an_estimator_warns_of_the_same_columns(home):
    with pytest.warns(IdentifierWarning) as said:
        warn_of_identifying(home.drop(columns=["room", "owner"]), home["owner"], None)
    named = re.findall(r"(\w+) \(", str(said[0].message))
    assert named == list(EXPECTED)


def test_what_tells_nothing_is_dropped_and_what_is_kept_stays():
    table = pd.DataFrame({"who": ["a", "b"] * 30, "row": range(60), "one": 1, "none": None, "load": [1, 2, 3] * 20})
    found = judge_table([table], Roles(user="who"), drop=["load"])
    assert found.features == ()
    assert found.dropped == {"load": DROPPED, "one": CONSTANT, "none": EMPTY}
    assert found.identifying == {"row": "row numbers"}
    assert judge_table([table], Roles(user="who"), keep=["row"]).features == ("row", "load")


def test_a_copy_of_the_user_is_kept_on_request_but_not_in_a_release(home):
    table = home[["owner", "code", "lux"]]
    for copies, features in ((True, ("code", "lux")), (False, ("lux",))):
        found = judge_table([table], Roles(user="owner"), keep=["code"], keep_copies=copies)
        assert found.features == features


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"keep": ["owner"], "drop": []}, "cannot be features: leave them out of `keep`"),
        ({"keep": [], "drop": ["owner"]}, "cannot be dropped: leave them out of `drop`"),
        ({"keep": ["x"], "drop": []}, "has no column 'x'"),
    ],
)
def test_roles_are_checked(home, options, words):
    with pytest.raises(ValueError, match=words):
        Roles(user="owner").check(home.columns, **options, table="home")
    with pytest.raises(ValueError, match="different columns"):
        Roles("owner", "owner").check(home.columns, [], [], "home")


def test_a_text_that_names_a_user_of_another_row_is_found():
    user = pd.Series(["ann", "bob", "cyd", "dee"] * 10, name="who")
    modes = pd.DataFrame({"mode": ["eco", "auto"] * 19 + ["eco", "bobs lamp"]})  # in a row of dee
    found = find_identifying(modes, user)["mode"]
    assert (found.reason, found.copy) == ("1 of its texts name a user", False)
