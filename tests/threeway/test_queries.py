"""Queries and privacy levels."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sensorprivacy.threeway.domains import domain_of
from sensorprivacy.threeway.queries import change

numbers = st.lists(st.integers(-20, 20).map(lambda v: v / 4), min_size=3, max_size=15)
words = st.lists(st.sampled_from("abcd"), min_size=3, max_size=15)


@settings(max_examples=60, deadline=None)
@given(
    st.one_of(numbers, words),
    st.sampled_from(["record", "mean", "count", "histogram"]),
    st.floats(-50, 50),
    st.integers(0, 10**6),
)
def test_level_lies_between_nothing_moved_and_one(cells, query, shift, seed):
    column = pd.Series(cells, name="c")
    domain = domain_of(column)
    values = domain.encode(column)
    assert change(query, values, values, domain) == 0
    other = np.random.default_rng(seed).permutation(values)
    if values.dtype.kind == "f":
        other = other + shift
    assert 0 <= change(query, values, other, domain) <= 1


def test_levels_by_hand():
    ages = domain_of(pd.Series([0.0, 10.0]))
    before, after = np.array([0.0, 10.0, 4.0]), np.array([1.0, -90.0, 4.0])
    assert change("record", before, after, ages) == pytest.approx((0.1 + 1 + 0) / 3)
    assert change("mean", before, np.array([3.0, 10.0, 4.0]), ages) == pytest.approx(0.1)
    assert change("count", before, np.array([6.0, 10.0, 4.0]), ages) == pytest.approx(1 / 3)
    assert change("histogram", before, np.array([0.0, 9.5, 7.0]), ages) == pytest.approx(1 / 3)
    missing = np.array([np.nan, 10.0, np.nan])
    assert change("record", missing, np.array([np.nan, 10.0, 5.0]), ages) == pytest.approx(1 / 3)
    towns = domain_of(pd.Series(list("abcd")))
    codes = np.array([0, 0, 1, 2])
    assert change("record", codes, np.array([0, 1, 1, 2]), towns) == pytest.approx(0.25 / 0.75)
    assert change("mean", codes, np.array([0, 1, 1, 2]), towns) == pytest.approx(0.25)
    assert change("count", codes, np.array([0, 1, 1, 2]), towns) == pytest.approx(0.25)


def test_drawing_all_anew_reaches_level_one_for_records():
    rng = np.random.default_rng(0)
    towns = domain_of(pd.Series(list("abc")))
    codes, fresh = rng.integers(3, size=(2, 30_000))
    assert change("record", codes, fresh, towns) == pytest.approx(1, abs=0.02)


def test_refuses_unknown_queries():
    with pytest.raises(ValueError, match="query='median'"):
        change("median", np.zeros(2), np.zeros(2), domain_of(pd.Series([1.0, 2.0])))
