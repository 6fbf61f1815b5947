"""Each cell gets the declared type, is missing, or does not conform."""

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from sensorrelease.schema import Constraints, Field, Schema, draft, read
from sensorrelease.schema.cells import Converter, as_arrow

NUMBERS = [
    ({}, "1.5", 1.5),
    ({}, "-1e3", -1000),
    ({}, "\u2212216.4", -216.4),
    ({}, " 7 ", 7),
    ({}, ".5", 0.5),
    ({}, "inf", None),
    ({}, "nan", None),
    ({}, "1e999", None),
    ({}, "0x10", None),
    ({}, "1_000", None),
    ({}, "1,5", None),
    ({}, "\u0661", None),
    ({"decimalChar": ","}, "1,5", 1.5),
    ({"decimalChar": ","}, "1.5", None),
    ({"decimalChar": ",", "groupChar": "."}, "1.234,5", 1234.5),
    ({"groupChar": ","}, "1,319", 1319),
    ({"groupChar": ","}, "1,3195", None),
    ({"groupChar": " "}, "1\u202f234.5", 1234.5),
    ({"bareNumber": False, "unit": "kW"}, "1.36 kW", 1.36),
    ({"bareNumber": False, "unit": "kW"}, "850 W", None),
    ({"bareNumber": False, "unit": "%"}, "66.1%", 66.1),
    ({"type": "integer"}, "3.0", 3),
    ({"type": "integer"}, "3.5", None),
    ({"constraints": {"maximum": 2}}, "3", None),
]


def convert(cells, **keys):
    field = Field(**({"name": "x", "type": "number", "missingValues": ["", "NA", "-999"]} | keys))
    return Converter(field, Schema(fields=[field])).convert(pa.array(cells))


@pytest.mark.parametrize(("keys", "text", "number"), NUMBERS)
def test_numbers_are_read_as_declared(keys, text, number):
    for cells in ([text], [text, "oops"]):  # the fast reader, and the one for all spellings
        found = convert(cells, **keys)
        assert found.wrong[0] == (number is None)
        np.testing.assert_equal(found.data[0], np.nan if number is None else number)


def test_missing_cells_are_missing_whatever_they_look_like():
    for cells in (["", "NA", "-999", "-999.0", None, "1"], [None, np.nan, -999.0, -999, None, 1.0]):
        found = convert(cells)
        assert found.missing.tolist() == [True] * 5 + [False]
        assert not found.wrong.any()


def test_zeros_and_missing_numbers_have_one_form():
    odd = np.array([0x7FF8000000000001, 0x7FF8000000000002], dtype=np.uint64).view(float)
    bits = convert(np.array([*odd, -0.0, 0.0])).data.view(np.uint64)
    assert len(np.unique(bits)) == 2


def test_levels_have_the_declared_spelling_and_others_are_counted():
    keys = {"type": "string", "constraints": Constraints(enum=["Hall", "bath"])}
    found = convert(["hall", "HALL\u200b", " bath", "", "attic"], **keys)
    assert found.data.tolist()[:3] == ["Hall", "Hall", "bath"]
    assert found.missing.tolist() == [False, False, False, True, False]
    assert found.wrong.tolist() == [False] * 4 + [True]
    other = convert(["attic", "hall"], **keys, nonconforming="other")
    assert other.data.tolist() == ["other", "Hall"]
    assert other.wrong.tolist() == [True, False]


def test_labels_stay_as_they_are_and_spellings_of_one_user_are_one():
    texts = ["1E5", "100000", "0100", "100", "2E3", "2000"]
    found = convert(texts, type="string", role="user")
    assert found.data.tolist() == texts
    same = convert(["Jörg", "Jo\u0308rg ", "JÖRG"], type="string", role="user")
    assert same.data.tolist() == ["Jörg"] * 3


def test_numbers_as_labels_are_the_texts_of_a_file():
    assert convert([1.0, 2.5, None], type="string").data.tolist()[:2] == ["1", "2.5"]
    assert convert([True, False], type="string").data.tolist() == ["true", "false"]


def test_a_broken_or_endless_text_does_not_conform():
    assert convert(["a\0b", "c"], type="string").broken
    assert convert(["a" * 10_001], type="string").wrong.all()
    with pytest.raises(ValueError, match="nested"):
        convert([[1], [2]], type="string")


def test_dates_conform_to_their_format():
    found = convert(["2026-11-27", "27.11.2026", "NA"], type="date")
    assert found.wrong.tolist() == [False, True, False]
    assert convert(["27.11.2026"], type="date", format="%d.%m.%Y").data[0] == pd.Timestamp("2026-11-27")


FRAME = pd.DataFrame({"load": [1.5, 2.5, None], "room": ["hall", "bath", "hall"], "owner": [1, 2, 1]})
KINDS = {
    "pandas": FRAME,
    "pyarrow types": FRAME.convert_dtypes(dtype_backend="pyarrow"),
    "nullable types": FRAME.convert_dtypes(),
    "categories": FRAME.astype({"room": "category"}),
    "objects": FRAME.astype(object),
    "polars": pl.from_pandas(FRAME),
    "lazy polars": pl.from_pandas(FRAME).lazy(),
    "categories of polars": pl.from_pandas(FRAME).with_columns(pl.col("room").cast(pl.Categorical)),
    "arrow": pa.Table.from_pandas(FRAME),
    "index": FRAME.set_index("owner"),
    "records of NumPy": FRAME.to_records(index=False),
}


@pytest.mark.parametrize("kind", [*KINDS])
def test_tables_of_all_libraries_are_read_alike(kind):
    room = Field(name="room", role="task", constraints=Constraints(enum=["hall", "bath"]))
    load = Field(name="load", type="number", role="feature", constraints={"minimum": 0, "maximum": 9}, step=0.5)
    found = read(KINDS[kind], Schema(fields=[load, room, Field(name="owner", role="user")])).frame
    np.testing.assert_array_equal(found["load"], [1.5, 2.5, np.nan])
    assert found["room"].tolist() == ["hall", "bath", "hall"]
    assert found["owner"].tolist() == ["1", "2", "1"]


ODD = {
    "periods": pd.period_range("2026-01-01", periods=60, freq="h"),
    "intervals": pd.interval_range(0, 60),
    "numbers of 64 bits": np.arange(60).astype("uint64") % 9 + np.uint64(2**63),
}


@pytest.mark.parametrize("kind", [*ODD])
def test_a_draft_withholds_types_that_hold_no_measurement(kind):
    """Each of these ended with an error of arrow or pydantic."""
    draw = np.random.default_rng(0)
    who, room = draw.integers(0, 3, 60), draw.choice(["hall", "bath"], 60)
    table = pd.DataFrame({"load": draw.normal(0, 1, 60).round(2), "room": room, "owner": [f"p{k}" for k in who]})
    found = draft(table.assign(odd=ODD[kind]), "room", "owner")
    assert found.field("odd").role == "withheld"
    assert found.field("load").role == "feature"


def test_the_message_about_an_empty_table_does_not_show_it():
    with pytest.raises(ValueError, match=r"^the table has no rows below its header"):
        draft(FRAME[:0], "room", "owner")


def test_columns_of_an_array_have_names():
    assert [*as_arrow(np.ones((2, 3)))] == ["x0", "x1", "x2"]
    with pytest.raises(TypeError, match="pandas, polars, Arrow or NumPy"):
        as_arrow([1, 2])
    with pytest.raises(ValueError, match="columns 1, 2"):
        as_arrow(pd.DataFrame([[1, 2]], columns=["a", "a"]))
