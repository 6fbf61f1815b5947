"""An own table is read by its schema, whole or in pieces, and new rows meet the same schema."""

import numpy as np
import pandas as pd
import pytest

from sensorrelease.own_table import OwnTable, find_schema, for_new_rows, refuse_unlike
from sensorrelease.schema import draft


@pytest.fixture(scope="module")
def home():
    draw = np.random.default_rng(0)
    who, room = draw.integers(6, size=600), draw.integers(3, size=600)
    return pd.DataFrame(
        {
            "owner": np.array(["Ann A", "Bob B", "Cyd C", "Dee D", "Eve E", "Fay F"])[who],
            "room": np.array(["attic", "bath", "hall"])[room],
            "lux": (room + draw.normal(0, 1, 600)).round(2),
            "lamp": draw.choice(["bright", "dim"], 600),
            "mail": [f"user{one}@home.org" for one in who],
            "record": range(600),
        }
    )


def test_roles_are_needed_and_agree_with_the_schema(home):
    with pytest.raises(ValueError, match=r"name the columns of the table: task=\.\.\. and user=\.\.\."):
        find_schema(home)
    schema = draft(home, "room", "owner")
    with pytest.raises(ValueError, match="task='lamp', but the schema has the task 'room'"):
        find_schema(home, schema, task="lamp")
    fields = [one.model_copy(update={"role": "withheld"}) if one.role == "user" else one for one in schema.fields]
    with pytest.raises(ValueError, match="no field of the schema has the role user"):
        find_schema(home, schema.model_copy(update={"fields": fields}))


def test_pieces_give_the_sample_of_the_whole(home, tmp_path):
    home.to_csv(tmp_path / "home.csv", index=False)
    schema = draft(tmp_path / "home.csv", "room", "owner")
    found = [OwnTable(tmp_path / "home.csv", schema, rows) for rows in (None, 70)]
    for one in found:
        one.learn(100)
    pd.testing.assert_frame_equal(found[0].sample, found[1].sample)
    assert found[0].gate == found[1].gate
    assert (found[0].rows, found[0].most_rows) == (600, home["owner"].value_counts().max())
    pd.testing.assert_frame_equal(pd.concat(list(found[0])), pd.concat(list(found[1])))


def test_columns_without_information_are_withheld(home):
    schema = draft(home, "room", "owner")
    table = OwnTable(home.assign(lamp="dim"), schema)
    table.learn(1000)
    assert table.gate.features == ["lux"]
    assert "constant columns are withheld: lamp" in table.notices
    table = OwnTable(home.assign(lamp="dim", lux=home["lux"].iloc[0]), schema)
    with pytest.raises(ValueError, match="no column is left to learn from"):
        table.learn(1000)


def test_new_rows_need_only_what_the_defence_needs(home):
    schema = draft(home, "room", "owner")
    new = home[["room", "lux"]]
    table = OwnTable(new, for_new_rows(new, schema, ["lux"]))
    assert table.schema.user is None
    with pytest.raises(ValueError, match="has no column 'lamp'"):
        OwnTable(new, for_new_rows(new, schema, ["lux", "lamp"]))
    kilo = home.assign(lux=home["lux"] * 1000)
    table = OwnTable(kilo, for_new_rows(kilo, schema, ["lux", "lamp"]))
    table.learn(100, gate=table_gate(home, schema))
    with pytest.raises(ValueError, match="of the cells of 'lux' do not conform"):
        refuse_unlike(table)


def table_gate(home, schema):
    table = OwnTable(home, schema)
    table.learn(1000)
    return table.gate
