"""The linkage attacker knows the answer for tables whose rows are equal, near or unique."""

import numpy as np
import pandas as pd

from sensorprivacy.game.joins import join_rows


def test_a_unique_column_joins_every_row_and_a_constant_one_none():
    """REVIEW E1: a serial number confuses a forest, so it looked harmless."""
    table = pd.DataFrame({"serial": np.random.default_rng(0).permutation(50), "floor": 1.0})
    found = join_rows(table, ["floor", "serial"])
    assert (found.exact, found.near) == (1, 1)
    assert found.alone == {"serial": 1, "floor": 0}
    found = join_rows(table, ["floor"])
    assert (found.exact, found.near) == (0, 0)


def test_values_that_are_nearly_equal_join_exactly_but_not_nearly():
    table = pd.DataFrame({"lux": [0.0, 0.001, 0.5, 0.501, 1.0], "door": [0, 0, 1, 1, 1]})
    found = join_rows(table, ["lux", "door"], tolerance=0.01)
    assert found.exact == 1
    assert found.near == 0.2
    assert join_rows(table, ["door"]).exact == 0


def test_missing_values_are_alike():
    table = pd.DataFrame({"lux": [np.nan, np.nan, 1.0, 2.0]})
    found = join_rows(table, ["lux"])
    assert (found.exact, found.near) == (0.5, 0.5)


def test_a_sample_does_not_change_the_exact_share():
    table = pd.DataFrame({"x": np.arange(500) // 2})
    found = join_rows(table, ["x"], sample=20)
    assert (found.exact, found.near, found.rows) == (0, 0, 20)
