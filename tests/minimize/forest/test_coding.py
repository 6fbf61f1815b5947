"""Ranks of columns are those of numpy.unique, whatever way they are computed."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from sensorprivacy.minimize.forest.coding import code_columns

SMALL = st.integers(-3, 3).map(float)
WIDE = st.integers(-(2**24), 2**24).map(float)
REAL = st.floats(-10, 10, width=32)


@given(st.tuples(*[arrays(float, (7, 2), elements=kind) for kind in (SMALL, WIDE, REAL)]), st.integers(1, 6))
def test_ranks_are_those_of_unique(parts, n_train):
    table = np.hstack(parts)
    table[:, 1] += 2.0**20  # integers of a small range far from zero
    coded = code_columns(table[:n_train], table[n_train:])
    for column, values in enumerate(table.T.astype(np.float32)):
        distinct, ranks = np.unique(values, return_inverse=True)
        first, end = coded.offsets[column : column + 2]
        np.testing.assert_array_equal(coded.values[first:end], distinct)
        np.testing.assert_array_equal(coded.train[column], ranks[:n_train])
        np.testing.assert_array_equal(coded.test[column], ranks[n_train:])
    assert coded.train.dtype == np.uint16


def test_the_largest_small_range_and_the_first_wide_one():
    for top in (255, 256, 70_000):
        table = np.arange(top + 1.0)[::-1, np.newaxis]
        coded = code_columns(table[:1], table[1:])
        assert coded.train.dtype == (np.uint16 if top < 2**16 else np.uint32)
        np.testing.assert_array_equal(coded.test[0], np.arange(top)[::-1])


def test_the_first_bad_value_is_named():
    table = np.zeros((4, 3))
    table[2, 1] = np.nan
    table[3, 1] = 1e300
    with pytest.raises(ValueError, match=r"column 1 has missing, .* in 2 rows \(first: row 2 of"):
        code_columns(table[:2], table[2:])
