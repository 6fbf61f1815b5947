import numpy as np
import pandas as pd
import pytest
from scipy.special import logsumexp

from sensorprivacy.data import Windows
from sensorprivacy.game.chance import macro_auc
from sensorprivacy.game.measuring import log_odds, pooled
from sensorprivacy.game.units import share
from sensorprivacy.latent.attackers import units_of


def some(sides: list[str]) -> Windows:
    n = len(sides)
    private = pd.DataFrame({"side": sides, "gender": ["f"] * (n // 2) + ["m"] * (n - n // 2)})
    subject = [0] * (n // 2) + [1] * (n - n // 2)
    return Windows(np.ones((n, 1, 4)), ["walk", "run"] * (n // 2), private, subject, np.arange(n) // 2)


def test_levels_group_windows_recordings_and_people() -> None:
    windows = some(["left", "left", "left", "left", "left", "left", "right", "right"])
    assert units_of(windows, "window", "gender").tolist() == list(range(8))
    assert len(set(units_of(windows, "recording", "gender"))) == 8  # each trial has both activities
    assert units_of(windows, "person", "gender").tolist() == [0, 0, 0, 0, 1, 1, 1, 1]
    # a person who changes the side has one unit for each
    assert units_of(windows, "person", "side").tolist() == [0, 0, 0, 0, 1, 1, 2, 2]


def test_pooling_multiplies_odds_and_counts_the_prior_once() -> None:
    odds = np.array([[0.6, 0.4], [0.6, 0.4], [0.1, 0.9], [0.9, 0.1]])
    even = pooled(odds, np.array([0.5, 0.5]), np.array([0, 0, 0, 1]))
    # two windows of .6 against one of .9: the product is for the second class
    assert even.argmax(axis=1).tolist() == [1, 0]
    assert np.exp(even).sum(axis=1) == pytest.approx(1)
    # a hundred windows that say nothing leave the prior as it was
    prior = np.array([0.7, 0.3])
    nothing = pooled(np.tile(prior, (100, 1)), prior, np.zeros(100, dtype=int))
    assert np.exp(nothing[0]) == pytest.approx(prior)


def test_auc_is_free_of_the_threshold() -> None:
    truth = np.array([0, 0, 1, 1])
    logs = np.log(np.array([[0.9, 0.1], [0.8, 0.2], [0.7, 0.3], [0.6, 0.4]]))
    assert macro_auc(log_odds(logs), truth) == 1  # although everything is predicted as class 0
    assert np.isnan(macro_auc(log_odds(logs), np.zeros(4, dtype=int)))


def test_log_odds_tell_apart_what_is_rounded_to_certainty() -> None:
    sums = np.array([[0.0, -40.0], [0.0, -80.0], [-50.0, 0.0]])
    logs = np.asarray(sums - logsumexp(sums, axis=1, keepdims=True))
    assert np.exp(logs[0, 0]) == np.exp(logs[1, 0]) == 1
    np.testing.assert_allclose(log_odds(logs), [[40, -40], [80, -80], [-50, 50]])


def test_the_interval_of_five_people_of_five_is_wide() -> None:
    """REVIEW B5: with recordings as units, the same result had an interval from .935."""
    right, people = np.ones(75), np.repeat(np.arange(5), 15)
    found = share(right, people, unit="people")
    assert found.low < 0.6
    assert (found.n, found.unit) == (5, "people")
    assert "only 5 people" in found.warning
