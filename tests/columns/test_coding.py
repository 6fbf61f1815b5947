"""Each kind of cell becomes numbers that mean the same."""

import numpy as np
import pandas as pd
import pytest

from sensorprivacy.columns.coding import code_column


@pytest.mark.parametrize(
    ("cells", "numbers", "read"),
    [
        (["Yes", "no", None], [1, 0, np.nan], "truth values"),
        ([True, False, True], [1, 0, 1], "truth values"),
        (pd.array([True, None], dtype="boolean"), [1, np.nan], "truth values"),
        (pd.array([3, None], dtype="Int64"), [3, np.nan], "numbers"),
        ([1.0, np.inf, -np.inf], [1, np.nan, np.nan], "numbers"),
        (["b", None, "a"], [1, np.nan, 0], "texts"),
        (pd.to_timedelta([1500, 500], unit="ms"), [1.5, 0.5], "durations"),
        (pd.to_datetime(["2026-01-02", "2026-01-01"]), [86400, 0], "points in time"),
        (pd.Categorical([2, 1]), [2, 1], "numbers"),
    ],
)
def test_cells_become_numbers(cells, numbers, read):
    found = code_column(pd.Series(cells))
    np.testing.assert_array_equal(found.numbers.to_numpy(dtype=float), numbers)
    assert found.read == read


@pytest.mark.parametrize(
    ("cells", "days"),
    [
        (["13/05/2026", "01/06/2026"], 19),  # no month 13, so the day is first
        (["05/13/2026", "06/01/2026"], 19),
        (["01.06.2026", "02.06.2026"], 1),
        (["2026-06-01T00:00:00Z", "2026-06-02T02:00:00+02:00"], 1),
    ],
)
def test_texts_of_times_are_parsed(cells, days):
    found = code_column(pd.Series(cells), "points in time")
    assert found.numbers.tolist() == [0, days * 86400]


def test_texts_that_are_no_times_are_categories():
    assert code_column(pd.Series(["soon", "later"]), "points in time").read == "texts"
    assert code_column(pd.Series(["1.5", "2.5", "x"])).example == "x"
