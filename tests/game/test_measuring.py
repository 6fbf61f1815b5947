"""Predictions of any model are judged like those of the game."""

import numpy as np
import pytest
from scipy.special import logsumexp

from sensorprivacy.game.chance import macro_auc
from sensorprivacy.game.measuring import log_odds, measure, member, pooled


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


def test_pooling_multiplies_odds_and_counts_the_prior_once():
    odds = np.array([[0.6, 0.4], [0.6, 0.4], [0.1, 0.9], [0.9, 0.1]])
    even = pooled(odds, np.array([0.5, 0.5]), np.array([0, 0, 0, 1]))
    # two windows of .6 against one of .9: the product is for the second class
    assert even.argmax(axis=1).tolist() == [1, 0]
    assert np.exp(even).sum(axis=1) == pytest.approx(1)
    # a hundred windows that say nothing leave the prior as it was
    prior = np.array([0.7, 0.3])
    nothing = pooled(np.tile(prior, (100, 1)), prior, np.zeros(100, dtype=int))
    assert np.exp(nothing[0]) == pytest.approx(prior)


def test_auc_is_free_of_the_threshold():
    truth = np.array([0, 0, 1, 1])
    logs = np.log(np.array([[0.9, 0.1], [0.8, 0.2], [0.7, 0.3], [0.6, 0.4]]))
    assert macro_auc(log_odds(logs), truth) == 1  # although everything is predicted as class 0
    assert np.isnan(macro_auc(log_odds(logs), np.zeros(4, dtype=int)))


def test_log_odds_tell_apart_what_is_rounded_to_certainty():
    sums = np.array([[0.0, -40.0], [0.0, -80.0], [-50.0, 0.0]])
    logs = np.asarray(sums - logsumexp(sums, axis=1, keepdims=True))
    assert np.exp(logs[0, 0]) == np.exp(logs[1, 0]) == 1
    np.testing.assert_allclose(log_odds(logs), [[40, -40], [80, -80], [-50, 50]])
