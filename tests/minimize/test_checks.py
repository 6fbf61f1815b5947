"""What the minimizer refuses at the door."""

import numpy as np
import pandas as pd
import pytest

from sensorprivacy.minimize.checks import refuse_constant, refuse_rare, refuse_unfit


def test_unfit_values_are_named_by_column_kind_and_row():
    frame = pd.DataFrame({"a": [1.0, np.nan, 3.0], "b": [1.0, 2.0, np.inf], "c": [1, 2, 3], "d": list("xyz")})
    with pytest.raises(
        ValueError, match=r"feature 'a' holds NaN in 1 of 3 rows \(first: 1\); 'b' holds infinity in 1 of 3"
    ):
        refuse_unfit(frame)
    refuse_unfit(frame[["c", "d"]])
    refuse_unfit("no table at all")  # scikit-learn's own checks say what is wrong with it


def test_an_array_s_columns_are_named_by_number():
    with pytest.raises(ValueError, match="feature 'x1' holds NaN"):
        refuse_unfit(np.array([[1.0, np.nan], [1.0, 2.0]]))


def test_only_five_of_many_unfit_columns_are_named():
    with pytest.raises(ValueError, match="and 2 more: fill or drop"):
        refuse_unfit(np.full((2, 7), np.nan))


def test_a_class_with_one_row_is_named_unless_kept():
    labels = np.array(["a", "a", "b", "b", "c"])
    with pytest.raises(ValueError, match="users: 'c' with one row each"):
        refuse_rare(labels, "users", "error")
    refuse_rare(labels, "users", "keep")
    with pytest.raises(ValueError, match="y holds one class only"):
        refuse_rare(np.array(["a", "a"]), "y", "keep")
    with pytest.raises(ValueError, match="rare='drop'"):
        refuse_rare(labels, "y", "drop")


def test_constant_features_are_named_or_dropped():
    frame = pd.DataFrame({"a": [1, 1, 1], "b": [1, 2, 3]})
    with pytest.raises(ValueError, match="constant features tell nothing: 'a'"):
        refuse_constant(frame, "error")
    assert refuse_constant(frame, "drop") == ["b"]
    with pytest.raises(ValueError, match="every feature is constant"):
        refuse_constant(frame[["a"]], "drop")
    with pytest.raises(ValueError, match="constant='keep'"):
        refuse_constant(frame, "keep")
