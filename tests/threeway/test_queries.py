"""Queries, levels and sensitivities against leaving every row out in turn."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sensorprivacy.threeway.domains import domain_of
from sensorprivacy.threeway.queries import answer, change, sensitivity

numbers = st.lists(st.integers(-20, 20).map(lambda v: v / 4), min_size=3, max_size=15)
words = st.lists(st.sampled_from("abcd"), min_size=3, max_size=15)


@settings(max_examples=60, deadline=None)
@given(st.one_of(numbers, words), st.sampled_from(["mean", "count", "histogram"]))
def test_sensitivity_is_the_worst_of_leaving_one_out(cells, query):
    """Eq. (2), by doing it."""
    column = pd.Series(cells, name="c")
    domain = domain_of(column)
    values = domain.encode(column)
    whole = answer(query, values, domain)
    worst = max(np.abs(whole - answer(query, np.delete(values, i), domain)).sum() for i in range(len(values)))
    assert sensitivity(query, column) == pytest.approx(worst, abs=1e-12)


def test_sensitivity_of_records_and_with_missing():
    column = pd.Series([1.0, -7.0, np.nan, 3.0], name="x")
    assert sensitivity("record", column) == 7
    assert sensitivity("record", pd.Series(list("aab"), name="c")) == 1
    assert sensitivity("mean", column) == pytest.approx(6 / 2)  # mean -1 of three; without -7 it is 2
    with pytest.raises(ValueError, match="1 row"):
        sensitivity("mean", pd.Series([1.0], name="x"))
    with pytest.raises(ValueError, match="not missing"):
        sensitivity("mean", pd.Series([1.0, np.nan], name="x"))


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
        sensitivity("median", pd.Series([1, 2]))
