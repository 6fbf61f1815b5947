"""Features and labels that the minimizer rejects."""

import numpy as np
import pandas as pd
import pytest

from sensorprivacy.minimize.checks import changing_features, check_classes, check_finite


def test_unfit_values_are_named_by_column_kind_and_row():
    matrix = np.array([[1.0, 1.0, 1], [np.nan, 2.0, 2], [3.0, np.inf, 3]])
    with pytest.raises(
        ValueError, match=r"feature 'a' has NaN in 1 of 3 rows \(first: 1\); 'b' has infinity in 1 of 3"
    ):
        check_finite(matrix, ["a", "b", "c"])
    check_finite(matrix[:, 2:], ["c"])


def test_only_five_of_many_unfit_columns_are_named():
    with pytest.raises(ValueError, match="and 2 more: fill or drop"):
        check_finite(np.full((2, 7), np.nan), list("abcdefg"))


def test_a_class_with_one_row_is_named_unless_kept():
    labels = np.array(["a", "a", "b", "b", "c"])
    with pytest.raises(ValueError, match="users: 'c' with one row each"):
        check_classes(labels, "users", "error")
    check_classes(labels, "users", "keep")
    with pytest.raises(ValueError, match="y has only one class"):
        check_classes(np.array(["a", "a"]), "y", "keep")
    with pytest.raises(ValueError, match="rare='drop'"):
        check_classes(labels, "y", "drop")


def test_constant_features_are_named_or_dropped():
    frame = pd.DataFrame({"a": [1, 1, 1], "b": [1, 2, 3]})
    with pytest.raises(ValueError, match="constant features carry no information: 'a'"):
        changing_features(frame, "error")
    assert changing_features(frame, "drop") == ["b"]
    with pytest.raises(ValueError, match="every feature is constant"):
        changing_features(frame[["a"]], "drop")
    with pytest.raises(ValueError, match="constant='keep'"):
        changing_features(frame, "keep")
