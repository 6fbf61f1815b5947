"""The user, the recording and whatever stands for them are never features, under whatever name."""

import numpy as np
import pandas as pd
import pytest

from sensorrelease.publishing.columns import Columns, learn_columns, sample_problem
from sensorrelease.read.pieces import Pieces, survey

ROLES = {"task": "room", "user": "owner"}


@pytest.fixture
def home():
    draw, n = np.random.default_rng(0), 300
    owner = draw.integers(6, size=n)
    return pd.DataFrame(
        {
            "room": draw.choice(["kitchen", "hall"], n),
            "owner": np.array(["anna", "bert", "carl", "dora", "emil", "fred"])[owner],
            "session": [f"s{who}-{draw.integers(4)}" for who in owner],
            "lux": draw.normal(owner, 0.01),  # identifies the owner, but is a measurement
            "step": owner * 10 + draw.integers(10, size=n),
            "lamp": draw.choice(["on", "off"], n),
        }
    )


def learned(table, **options):
    return learn_columns(survey(Pieces(table), 10_000), **(ROLES | options))


def test_measurements_stay_even_if_they_identify(home):
    found = learned(home, groups="session")
    assert list(found.features) == ["lux", "step", "lamp"]
    assert found.features["lamp"].categories == ["off", "on"]
    assert set(found.dropped) == {"owner", "session"}


COPIES = {
    "the same": lambda home: home["owner"],
    "a number for each user": lambda home: pd.factorize(home["owner"])[0] * 17 + 3,
    "real numbers": lambda home: (pd.factorize(home["owner"])[0] + 1) / 7,
    "categories": lambda home: home["owner"].str.upper().astype("category"),
    "with gaps": lambda home: home["owner"].where(home.index % 40 > 0),
    "two devices of each user": lambda home: home["owner"].str[:1] + (home.index % 2).astype(str),
    "a name in a text": lambda home: (
        "by " + home["owner"].where(home.index % 10 == 0, "us") + (home.index % 5).astype(str)
    ),
    "recordings as numbers": lambda home: pd.factorize(home["session"])[0],
    "a saved index": lambda home: np.random.default_rng(1).permutation(len(home)),
    "a time": lambda home: pd.date_range("2024-01-01", periods=len(home), freq="h"),
    "an address": lambda home: [f"m{at}@example.org" for at in range(len(home))],
}


@pytest.mark.parametrize("name", COPIES)
def test_copies_and_identifiers_are_dropped(home, name):
    found = learned(home.assign(other=COPIES[name](home)), groups="session")
    assert "other" in found.dropped
    assert list(found.features) == ["lux", "step", "lamp"]


def test_a_copy_cannot_be_kept_but_a_time_can(home):
    with pytest.raises(ValueError, match="column 'other' cannot be kept: 'owner' under another name"):
        learned(home.assign(other=home["owner"]), keep=["other"])
    first = dict(zip(sorted(home["owner"].unique()), ("Kim", "Kim", "Lee", "Ray", "Max", "Ann"), strict=True))
    named = home.assign(name=home["owner"].map(first))
    assert learned(named).dropped["name"] == "nearly 'owner' under another name: its 5 values name most of them"
    assert "name" in learned(named, keep=["name"]).features
    row = home.assign(row=range(len(home)))
    assert "row" in learned(row).dropped
    assert "row" in learned(row, keep=["row"]).features


@pytest.mark.parametrize(
    ("change", "options", "words"),
    [
        ({}, {"user": "room"}, "different columns"),
        ({"room": lambda t: t["owner"].str.upper()}, {}, "'room' identifies the user"),
        ({"room": "hall"}, {}, "'room' holds 'hall' only"),
        ({"owner": "anna"}, {}, "'owner' holds 'anna' only"),
        ({"room": lambda t: t["lux"]}, {}, "'room' has 300 different values"),
        ({}, {"task": "place"}, "has no column 'place'"),
        ({"owner": lambda t: t["owner"].where(t.index > 3)}, {}, "user column 'owner' is missing in 4 of 300 rows"),
        ({"lux": 1.5}, {"keep": ["owner"]}, "cannot be features"),
    ],
)
def test_unfit_tables_are_refused(home, change, options, words):
    with pytest.raises(ValueError, match=words):
        learned(home.assign(**change), **options)


def test_nothing_left(home):
    with pytest.raises(ValueError, match=r"no column is left .* Dropped: owner"):
        learned(home[["room", "owner", "session"]].assign(row=range(300)), groups="session")


def test_cells_come_back_from_numbers(home):
    home.loc[3, "lamp"] = None
    found = learned(home)
    numbers = sample_problem(found, home, "home").features
    assert found.features["lamp"].categories == [None, "off", "on"]
    assert numbers["lamp"].tolist()[3] == 0
    pd.testing.assert_frame_equal(found.cells(numbers), home[list(found.features)], check_dtype=False)
    noisy = pd.DataFrame({"lamp": [-9.0, 0.6, 1.6, 40.0], "lux": [0.1, 0.2, 0.3, 0.4]})
    assert found.cells(noisy)["lamp"].fillna("").tolist() == ["", "off", "on", "on"]


def test_other_tables_are_refused(home):
    found = learned(home)
    with pytest.raises(ValueError, match="no column 'lux'"):
        found.numbers(home.drop(columns="lux"))
    with pytest.raises(ValueError, match="columns 'extra', which the fitted defence has not seen"):
        found.numbers(home.assign(extra=1))
    with pytest.raises(ValueError, match=r"'lux' held numbers .* now holds \['x'\]"):
        found.numbers(home.assign(lux="x"))
    with pytest.raises(ValueError, match="'lux' is missing or infinite in row 7"):
        found.numbers(home.assign(lux=home["lux"].where(home.index != 7)))
    with pytest.raises(ValueError, match="'lamp' holds 'dim', which the fitted defence has not seen"):
        found.numbers(home.assign(lamp="dim"))
    assert found.numbers(home.drop(columns=["owner", "room"])).shape == (300, 3)


def test_rows_without_recordings(home):
    assert isinstance(learned(home), Columns)
    assert learned(home).groups is None
