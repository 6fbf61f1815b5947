"""Features and labels that the minimizer rejects."""

import numpy as np
import pandas as pd
import pytest

from sensorprivacy.minimize.checks import changing_features, check_classes


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
