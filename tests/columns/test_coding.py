"""Each kind of cell becomes numbers that mean the same."""

import numpy as np
import pandas as pd
import pytest

from sensorprivacy.columns.coding import UNSEEN, read_column, read_texts


@pytest.mark.parametrize(
    ("cells", "numbers", "read"),
    [
        (["Yes", "no", None], [1, 0, np.nan], "truth values"),
        (["on", "unavailable", "off", "-"], [1, np.nan, 0, np.nan], "truth values"),
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
    column = pd.Series(cells)
    how = read_column(column)
    np.testing.assert_array_equal(how.numbers(column).to_numpy(dtype=float), numbers)
    assert how.read == read


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
    column = pd.Series(cells)
    assert read_column(column, "points in time").numbers(column).tolist() == [0, days * 86400]


def test_texts_that_are_no_times_are_categories():
    assert read_column(pd.Series(["soon", "later"]), "points in time").read == "texts"
    assert read_column(pd.Series(["1.5", "2.5", "x"])).example == "x"


@pytest.mark.parametrize(
    ("first", "new", "numbers"),
    [
        (["b", "a"], ["a", "b", "c", None], [0, 1, UNSEEN, np.nan]),
        (["yes", "no"], ["NO", "yes ", "perhaps"], [0, 1, UNSEEN]),
        (pd.to_datetime(["2026-01-02", "2026-01-01"]), pd.to_datetime(["2026-01-03"]), [2 * 86400]),
        ([1.5, 2.5], [7, None], [7, np.nan]),
        (pd.to_timedelta([1], unit="s"), pd.to_timedelta([2], unit="min"), [120]),
    ],
)
def test_new_rows_are_read_as_the_first_ones(first, new, numbers):
    found = read_column(pd.Series(first)).numbers(pd.Series(new))
    np.testing.assert_array_equal(found.to_numpy(dtype=float), numbers)


def test_a_column_that_now_holds_something_else_is_refused():
    with pytest.raises(ValueError, match=r"column 'lux' held numbers when it was fitted, but now holds \['x'\]"):
        read_column(pd.Series([1, 2])).numbers(pd.Series(["x"], name="lux"))


def test_missing_texts_can_be_a_category():
    assert read_texts([None, "off", "on"]).numbers(pd.Series(["on", None, "off"])).tolist() == [2, 0, 1]
