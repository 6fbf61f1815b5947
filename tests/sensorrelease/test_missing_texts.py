"""A missing text is one category at every door, and labels that a user should look at are named (REVIEW E12)."""

import numpy as np
import pandas as pd
import pytest
from sensorrelease.publishing.columns import learn_columns
from sensorrelease.read.pieces import Pieces, survey

from sensorrelease.tables import load_table

N = 300
ROLES = {"task": "room", "user": "owner"}
ACCEPTED = ROLES | {"accept_draft": True}


def cells(draw, *words):
    """Return words that are missing in most rows."""
    return np.where(draw.random(N) < 0.6, None, np.array(words, dtype=object)[draw.integers(0, len(words), N)])


@pytest.fixture
def table():
    draw = np.random.default_rng(0)
    features = {"mode": cells(draw, "eco", "max"), "door": cells(draw, "yes", "no"), "lux": draw.normal(size=N)}
    features["lamp"] = pd.array(cells(draw, True, False), dtype="boolean")
    features["state"] = np.where(draw.random(N) < 0.3, "unavailable", draw.choice(["on", "off"], N))
    return pd.DataFrame(features).assign(
        room=draw.choice(["bath", "hall"], N), owner=draw.choice(["ann", "bob", "cy"], N)
    )


def loaded(table):
    return load_table(table, **ROLES).problem.features


def published(table):
    found = survey(Pieces(table, None, list(ROLES.values())), len(table))
    return learn_columns(found, **ROLES).numbers(table)


@pytest.mark.parametrize("door", [loaded, published])
def test_a_missing_text_is_a_category_of_its_own_at_every_door(door, table):
    found = door(table)
    assert not found.isna().any(axis=None)
    for name in ("mode", "door", "lamp"):
        codes = pd.Series(found[name].to_numpy(dtype=float))
        assert set(codes[table[name].isna()]) == {0}, name
        assert set(codes[table[name].notna()]) == {1, 2}, name
    assert found["state"].nunique() == 3  # as any other text


def test_the_page_counts_missing_texts_and_missing_numbers(table):
    table["lux"] = table["lux"].mask(table.index % 50 == 0)
    said = load_table(table, **ROLES).problem.provenance
    counts = [f"{name} ({table[name].isna().sum()})" for name in ("mode", "door", "lamp")]
    assert f"missing texts are a category of their own: {', '.join(counts)}" in said["notices"]
    assert "missing values are filled with the median of the training rows: lux (6)" in said["notices"]
    assert said["filled"] == {"lux": 6}
    with pytest.raises(ValueError, match=r"column 'mode' has .* missing values of 300"):
        load_table(table, **ROLES, missing="error")
    kept = load_table(table[["mode", "lux", "room", "owner"]], **ROLES, missing="drop").problem
    assert kept.n_records == table[["mode", "lux"]].notna().all(axis=1).sum()


@pytest.mark.parametrize("door", [loaded, published])
def test_a_column_that_refines_the_task_is_named(door, table):
    """Zeek's `detailed-label` is missing in 9,999 rows of one class; its other values lie in the other class."""
    kinds = np.random.default_rng(1).choice(["scan", "flood"], N)
    table["detailed"] = np.where(table["room"] == "bath", kinds, None)
    with pytest.warns(UserWarning, match=r"columns that refine the task 'room', .*: detailed \(100.0% of the rows\)"):
        door(table)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"room": lambda t: t["room"].where(t.index > 30, "Bath")}, "'Bath' and 'bath' of the task 'room' differ by"),
        ({"owner": lambda t: t["owner"].where(t.index > 30, "ann ")}, "'ann' and 'ann ' of the user 'owner' differ by"),
    ],
)
@pytest.mark.parametrize("door", [loaded, published])
def test_labels_that_differ_by_case_only_are_named(door, change, words, table):
    with pytest.warns(UserWarning, match=words):
        door(table.assign(**change))


def test_ordinary_tables_are_not_warned_about(table, recwarn):
    loaded(table)
    assert not [one for one in recwarn if "refine" in str(one.message) or "differ by" in str(one.message)]
