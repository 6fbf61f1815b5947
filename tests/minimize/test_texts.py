"""Texts as numbers for a model."""

import numpy as np
import pandas as pd

from sensorprivacy.minimize.texts import TextCoder


def test_categories_are_numbered_in_sorted_order_and_unknown_ones_are_minus_one():
    table = pd.DataFrame({0: ["b", "a", "b"], "size": [1.5, 2.5, 3.5], "kind": pd.Categorical(["x", "y", "x"])})
    coder = TextCoder()
    assert coder.fit_transform(table).to_numpy().tolist() == [[1, 1.5, 0], [0, 2.5, 1], [1, 3.5, 0]]
    later = pd.DataFrame({0: ["c"], "size": [1.0], "kind": ["y"]})
    assert coder.transform(later).to_numpy().tolist() == [[-1, 1.0, 1]]
    assert table[0].tolist() == ["b", "a", "b"]


def test_numbers_and_arrays_stay_as_they_are():
    numbers, array = pd.DataFrame({"x": [1, 2]}), np.array([["a"]])
    assert TextCoder().fit_transform(numbers) is numbers
    assert TextCoder().fit_transform(array) is array
