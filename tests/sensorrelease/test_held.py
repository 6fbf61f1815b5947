"""Which part of a recording measures a release."""

from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest

from sensorrelease.publishing.held import ends_in_window, last_recordings


@pytest.mark.parametrize(
    ("samples", "length", "whole"),
    [(400, 100, True), (399, 100, False), (500, 100, True), (130, 100, False), (1000, 128, True)],
)
def test_a_recording_is_long_enough_if_a_window_fits_behind_its_training_part(samples, length, whole):
    """By hand: 399 samples train up to 299; the next window begins at 300 and ends at 400, one too late."""
    assert bool(ends_in_window(samples, length)) == whole


def own(sides):
    """Return recordings of two samples each: two people, one activity, worn on these sides."""
    rows = [(who, "walk", side) for who in ("anna", "bert") for side in sides]
    table = pd.DataFrame(rows, columns=["person", "activity", "side"])
    schema = SimpleNamespace(user="person", task="activity")
    doubled = table.loc[table.index.repeat(2)].reset_index(drop=True)
    return SimpleNamespace(schema=schema, table=doubled, run=np.repeat(np.arange(len(table)), 2))


@pytest.mark.parametrize(
    ("sides", "held"),
    [
        (["left", "right"], [False, False]),  # the last one alone would leave one side to learn from
        (["left", "right", "left", "right"], [False, False, True, True]),
        (["left", "left", "right"], [False, True, False]),
    ],
)
def test_adversaries_learn_from_each_value_of_what_they_must_infer(sides, held):
    assert last_recordings(own(sides), "side").tolist() == 2 * held


def test_the_last_recording_of_a_person_is_held_out_if_the_person_is_hidden():
    assert last_recordings(own(["left", "right"]), "subject").tolist() == [False, True, False, True]
