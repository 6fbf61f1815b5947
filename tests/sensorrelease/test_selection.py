"""Rows without labels, and labels with one row, are left out of every pass and counted."""

import pandas as pd
import pytest

from sensorrelease.read.pieces import Pieces, Selection

LABELS = {"task": "room", "user": "owner"}


def select(rows=2, **columns):
    return Selection(Pieces(pd.DataFrame(columns), rows), LABELS)


def test_positions_and_counts():
    found = select(room=["a", None, "a", "b"], owner=["u", "u", None, "v"], x=[1, 2, 3, 4])
    assert pd.concat(list(found)).index.tolist() == [0, 3]
    assert found.left_out == ["1 row without task left out", "1 row without user left out"]


def test_a_class_can_become_rare_without_the_rows_of_a_rare_user():
    found = select(room=["a", "a", "b", "b", "a"], owner=["u", "u", "u", "v", "u"], x=range(5))
    assert [len(piece) for piece in found] == [2, 2, 1]
    assert found.find_rare() == {"user": frozenset("v"), "task": frozenset("b")}
    found.rare = found.find_rare()
    assert pd.concat(list(found)).index.tolist() == [0, 1, 4]
    assert len(found.left_out) == 2


def test_missing_and_infinite_cells_of_named_columns():
    found = select(room=["a", "b", "a"], owner=["u", "v", "u"], x=[1, float("inf"), None], y=[None, 1, 2])
    found.gaps = ("x",)
    assert pd.concat(list(found)).index.tolist() == [0]
    assert found.left_out == ["2 rows with missing values left out"]


def test_a_table_without_a_labelled_row_is_refused():
    with pytest.raises(ValueError, match="no row with a cell in every column of room, owner"):
        list(select(room=[None, "a"], owner=["u", None], x=[1, 2]))
    with pytest.raises(ValueError, match="has no column 'owner'"):
        select(room=["a"])
