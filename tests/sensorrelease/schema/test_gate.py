"""The gate is an allow-list: whatever a frame or a defence holds, only declared cells pass it."""

import numpy as np
import pandas as pd
import pytest

from sensorrelease.schema.coarse import Census
from sensorrelease.schema.gate import Gate, released, withholding
from sensorrelease.schema.model import Schema

N = 120


def schema(**more):
    number = {"type": "number", "role": "feature", "constraints": {"minimum": 0, "maximum": 100}, "step": 0.5}
    fields = [
        {"name": "lux", **number},
        {"name": "count", **number, "type": "integer", "step": 1},
        {"name": "mode", "role": "feature", "constraints": {"enum": ["eco", "boost"]}, "nonconforming": "other"},
        {"name": "on", "type": "boolean", "role": "feature"},
        {"name": "room", "role": "task", "constraints": {"enum": ["hall", "bath", "attic"]}},
        {"name": "owner", "role": "user"},
        {"name": "note"},
    ]
    return Schema(fields=fields, **{"k": 3} | more)


@pytest.fixture
def frame():
    draw = np.random.default_rng(0)
    return pd.DataFrame(
        {
            "lux": draw.uniform(-20, 120, N),
            "count": draw.integers(0, 100, N),
            "mode": draw.choice(["eco", "boost"], N),
            "on": draw.random(N) < 0.5,
            "room": draw.choice(["hall", "bath"], N),
            "owner": np.arange(N) % 8,
            "note": "secret",
        }
    )


def test_numbers_stay_in_their_range_and_at_their_step(frame):
    frame.loc[:2, "lux"] = [-0.0, np.inf, 33.3000001]
    frame.loc[3, "lux"] = np.array([0x7FF8000000000001], dtype=np.uint64).view(float)[0]
    found = released(frame, schema())
    assert list(found) == ["lux", "count", "mode", "on", "room"]
    assert found["lux"].dropna().between(0, 100).all()
    assert (found["lux"].dropna() * 2 % 1 == 0).all()
    assert found["lux"][2] == 33.5
    assert not np.signbit(found["lux"]).any()
    bits = found["lux"][found["lux"].isna()].to_numpy().view(np.uint64)
    assert len(set(bits)) == 1
    assert len(bits) == 2


def test_a_step_leaves_no_digits_of_a_float():
    one = {"name": "t", "type": "number", "role": "feature", "constraints": {"minimum": 0, "maximum": 9}, "step": 0.1}
    table = pd.DataFrame({"t": np.arange(90) / 10 + 1e-7, "owner": np.arange(90) % 9})
    assert (
        released(table, Schema(fields=[one, {"name": "owner", "role": "user"}]))["t"].astype(str).str.len().max() == 3
    )


def test_spellings_of_a_level_are_one_level(frame):
    frame["mode"] = [
        f"{cell}{' ' * (who % 3)}\u200b".title() for cell, who in zip(frame["mode"], frame["owner"], strict=True)
    ]
    assert set(released(frame, schema())["mode"]) == {"eco", "boost"}


@pytest.mark.parametrize(("holders", "levels"), [(1, {"other"}), (2, {"other"}), (3, {"eco", "boost", "other"})])
def test_levels_of_few_users_and_undeclared_ones_become_other(frame, holders, levels):
    """With one or two holders, "other" would name them, so the next rarest level joins it."""
    frame.loc[frame["owner"] < holders, "mode"] = "anna's lamp"
    found = released(frame, schema())["mode"]
    users = frame.groupby(found)["owner"].nunique()
    assert levels <= set(found) <= {"eco", "boost", "other"}
    assert users.min() >= 3


def test_classes_of_few_users_take_their_rows_along(frame):
    frame.loc[:1, "room"] = "attic"
    found = released(frame, schema())
    assert set(found["room"]) == {"hall", "bath"}
    assert len(found) == N - 2


def test_k_is_at_most_the_number_of_users(frame):
    frame["owner"] = frame["owner"] % 2
    assert set(released(frame, schema(k=5))["room"]) == {"hall", "bath"}


def test_titles_leave_instead_of_names(frame):
    fields = [one.model_copy(update={"title": f"=x{at}"}) for at, one in enumerate(schema().fields)]
    found = released(frame, schema().model_copy(update={"fields": fields}))
    assert list(found) == [f"'=x{at}" for at in range(5)]


def test_a_defence_cannot_add_columns_or_cells(frame):
    census = Census(schema())
    census.add(frame)
    gate = Gate.learn(schema(), census)
    values = gate.numbers(frame)
    for strange in ({"note": "secret"}, {"anna": 1.0}, {"prediction": "anna"}):
        with pytest.raises(ValueError, match="not declared"):
            gate.cells(values.assign(**strange))
    noisy = gate.cells(values.assign(lux=1e9 + np.arange(N) * 1e-9, mode=7.7))
    assert set(noisy["lux"]) == {100.0}
    assert set(noisy["mode"]) <= {"eco", "boost"}
    made = pd.DataFrame({"pca 0": np.random.default_rng(0).normal(size=N)})
    coarse = gate.with_steps(made).cells(made)["pca 0"]
    assert not set(coarse) & set(made["pca 0"])
    np.testing.assert_allclose(coarse, made["pca 0"], atol=1e-4)


def test_texts_without_levels_and_identifiers_leave_only_although(frame):
    frame["note"] = [f"id {who}" for who in frame["owner"]]
    fields = [
        one.model_copy(update={"role": "feature", "although": "they agreed"}) if one.name == "note" else one
        for one in schema().fields
    ]
    assert set(released(frame, schema().model_copy(update={"fields": fields}))["note"]) == set(frame["note"])
    assert "note" not in released(frame, withholding(schema(), ["mode"]))
    assert "mode" not in released(frame, withholding(schema(), ["mode"]))


def test_a_wide_release_is_made_at_once(recwarn):
    number = {"type": "number", "role": "feature", "constraints": {"minimum": 0, "maximum": 9}, "step": 1}
    declared = Schema(fields=[{"name": f"c{at}", **number} for at in range(300)], k=1)
    frame = pd.DataFrame({f"c{at}": [1.0, 2.0] for at in range(300)})
    assert released(frame, declared).shape == (2, 300)
    assert not recwarn.list
