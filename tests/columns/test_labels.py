"""Labels become classes, or are refused with advice."""

import numpy as np
import pandas as pd
import pytest

from sensorprivacy.columns.labels import as_classes, rare_rows

ROWS = np.arange(100)


def test_few_numbers_with_decimals_are_classes():
    found, how = as_classes(pd.Series([0.5, 1.5] * 50, name="dose"), ROWS)
    assert set(found) == {"0.5", "1.5"}
    assert how == "classes"


@pytest.mark.parametrize(
    ("cells", "says"),
    [
        (np.linspace(0, 1, 100), "'task' has 100 numbers in 100 rows, and no classes: divide it .* bins=4"),
        ([f"t{at}" for at in range(100)], "'task' has 100 different values in 100 rows.*name another task"),
    ],
)
def test_a_task_without_classes_is_refused(cells, says):
    with pytest.raises(ValueError, match=says):
        as_classes(pd.Series(cells, name="task"), ROWS)


def test_numbers_are_divided_in_classes_of_equal_size():
    found, how = as_classes(pd.Series(np.linspace(0, 1, 100), name="task"), ROWS, bins=4)
    assert sorted(found.value_counts()) == [25] * 4
    assert how == "4 classes of about equal size"
    with pytest.raises(ValueError, match="bins=4: give 2 or more classes for a task of numbers"):
        as_classes(pd.Series(["a", "b"] * 50, name="task"), ROWS, bins=4)


def test_a_class_that_becomes_rare_is_set_aside_too():
    """The only two rows of attic belong to eve and to a user with one row."""
    task = pd.Series(["hall", "bath"] * 4 + ["attic", "attic"])
    user = pd.Series(["ann", "ann", "bob", "bob"] * 2 + ["ann", "eve"])
    rows, words = rare_rows({"room": task, "owner": user}, np.arange(10))
    assert rows.tolist() == list(range(8))
    assert sorted(words) == [
        "1 row of owner eve (fewer than 2 rows each)",
        "1 row of room attic (fewer than 2 rows each)",
    ]
    with pytest.raises(ValueError, match="column 'owner' has fewer than two different values with 2 rows"):
        rare_rows({"owner": pd.Series([f"u{at}" for at in range(10)])}, np.arange(10))
