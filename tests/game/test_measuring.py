"""Predictions of any model are judged like those of the game."""

import numpy as np
import pytest

from sensorprivacy.game.measuring import measure, member, pooled


@pytest.mark.parametrize("labels", [["b", "a", "c"], [2, 1, 3], [True, False, True]])
def test_members(labels):
    labels = np.array(labels * 5)
    assert member(labels, labels[:2]).tolist() == np.isin(labels, labels[:2]).tolist()


def test_texts_are_found_fast():
    labels = np.array([f"device {row}" for row in range(20_000)], dtype=object)
    assert member(labels, labels[::2]).sum() == 10_000  # np.isin takes minutes


def test_rows_of_unknown_classes_are_left_out():
    truth = np.array(["a", "b", "x", "a"])
    found = measure(np.array(["a", "b", "a", "b"]), truth, np.array(["a", "b", "b"]), draws=49)
    assert (found.n, found.unseen) == (3, 0.25)
    assert found.score == pytest.approx(2 / 3)
    assert np.isnan(found.auc)
    assert measure(truth, truth, np.array(["q", "r"])).n == 0


def test_pooling_counts_the_prior_once():
    prior = np.array([0.9, 0.1])
    nothing = pooled(np.tile(prior, (50, 1)), prior, np.zeros(50, dtype=int))
    np.testing.assert_allclose(np.exp(nothing), [prior])
