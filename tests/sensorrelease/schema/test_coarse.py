"""Cells become coarse and plain before they leave, and the users of each level are counted."""

import numpy as np
import pandas as pd
import pytest

from sensorrelease.schema.coarse import Census, levels_of, numbers_of, plain, rounded
from sensorrelease.schema.model import Constraints, Field, Schema

LUX = Field(name="lux", type="number", role="feature", step=0.25, constraints=Constraints(minimum=0.1, maximum=9.9))


def test_numbers_are_moved_to_the_outermost_steps_within_the_range():
    found = rounded(np.array([-5.0, 0.3, 5.13, 99.0, np.inf, np.nan, -0.0]), LUX)
    np.testing.assert_array_equal(found, [0.25, 0.25, 5.25, 9.75, np.nan, np.nan, 0.25])
    narrow = LUX.model_copy(update={"constraints": Constraints(minimum=0.3, maximum=0.4)})
    assert rounded(np.array([0.35]), narrow).tolist() == [0.25]


def test_times_that_leave_are_seconds():
    one = Field(name="at", type="datetime", role="feature", although="they agreed", step=60.0)
    times = pd.Series(pd.to_datetime(["1970-01-01T00:01:20Z", None], utc=True))
    np.testing.assert_array_equal(numbers_of(times, one), [60.0, np.nan])


def test_levels_of_truths_numbers_and_texts():
    truth = Field(name="on", type="boolean", role="feature")
    assert levels_of(pd.Series([True, False, None], dtype="boolean"), truth).tolist() == ["true", "false", None]
    number = LUX.model_copy(update={"role": "task", "step": 1.0})
    assert levels_of(pd.Series([1.2, np.nan, 3.0]), number).tolist() == ["1", None, "3"]
    text = Field(name="m", role="feature", constraints=Constraints(enum=["Eco"]))
    assert levels_of(pd.Series([" eco\u200b", "ECO", "boost", None]), text).tolist() == ["Eco", "Eco", None, None]


def test_the_census_counts_users_over_pieces():
    schema = Schema(fields=[{"name": "m", "role": "feature", "constraints": {"enum": ["a", "b", "c"]}},
                            {"name": "who", "role": "user"}])  # fmt: skip
    table = pd.DataFrame({"m": list("aaabbbcc"), "who": [1, 2, 3, 1, 2, 3, 1, 1]})
    census = Census(schema)
    for piece in (table[:5], table[5:]):
        census.add(piece)
    assert census.levels(schema.field("m"), 3) == {"b": 3, "other": 5}  # c has one user, so the next rarest level joins
    assert census.levels(schema.field("m"), 1) == {"a": 3, "b": 3, "c": 2}
    assert census.rows == {"1": 4, "2": 2, "3": 2}


@pytest.mark.parametrize(
    ("text", "quoted"),
    [
        ("=cmd|' /C calc'!A0", "'=cmd|' /C calc'!A0"),
        (" =1+1", "'=1+1"),
        ("\t@SUM(1)", "'@SUM(1)"),
        ("\r=1", "'=1"),
        ("a;=cmd", "a;'=cmd"),
        ("a,+b|-c", "a,'+b|'-c"),
        ("\uff1d1", "'=1"),
        ('"=1"', '"\'=1"'),
        ("-12.5", "-12.5"),
        ("2024-01-31", "2024-01-31"),
        ("on - off", "on - off"),
        ("-", "-"),
        ("a\x1b[2Jb\u200b", "a [2Jb"),
    ],
)
def test_no_part_of_a_text_runs_as_a_formula(text, quoted):
    assert plain(text) == quoted
