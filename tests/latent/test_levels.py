import numpy as np
import pandas as pd
import pytest
from scipy.special import logsumexp

from sensorprivacy.data import Windows
from sensorprivacy.game.chance import macro_auc
from sensorprivacy.game.measuring import pooled
from sensorprivacy.latent.levels import balanced_accuracy, log_odds, pooling, share_of_people


def some(sides: list[str]) -> Windows:
    n = len(sides)
    private = pd.DataFrame({"side": sides, "gender": ["f"] * (n // 2) + ["m"] * (n - n // 2)})
    subject = [0] * (n // 2) + [1] * (n - n // 2)
    return Windows(np.ones((n, 1, 4)), ["walk", "run"] * (n // 2), private, subject, np.arange(n) // 2)


def test_levels_group_windows_recordings_and_people() -> None:
    windows = some(["left", "left", "left", "left", "left", "left", "right", "right"])
    assert pooling(windows, "window", "gender").groups.tolist() == list(range(8))
    assert len(pooling(windows, "recording", "gender").first) == 8  # each trial has both activities
    people = pooling(windows, "person", "gender")
    assert people.groups.tolist() == [0, 0, 0, 0, 1, 1, 1, 1]
    assert people.people.tolist() == [0, 1]
    # a person who changes the side has one group for each
    assert pooling(windows, "person", "side").groups.tolist() == [0, 0, 0, 0, 1, 1, 2, 2]
    with pytest.raises(ValueError, match="level 'week' is unknown"):
        pooling(windows, "week", "gender")  # type: ignore[arg-type]


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
    assert balanced_accuracy(logs.argmax(axis=1) == truth, truth) == 0.5


def test_log_odds_tell_apart_what_is_rounded_to_certainty() -> None:
    sums = np.array([[0.0, -40.0], [0.0, -80.0], [-50.0, 0.0]])
    logs = np.asarray(sums - logsumexp(sums, axis=1, keepdims=True))
    assert np.exp(logs[0, 0]) == np.exp(logs[1, 0]) == 1
    np.testing.assert_allclose(log_odds(logs), [[40, -40], [80, -80], [-50, 50]])


def test_the_interval_of_five_people_of_five_is_wide() -> None:
    """REVIEW B5: with recordings as units, the same result had an interval from .935."""
    right, people = np.ones(75), np.repeat(np.arange(5), 15)
    found = share_of_people(right, people)
    assert found.low < 0.6
    assert (found.n, found.unit) == (5, "people")
    assert "only 5 people" in found.warning
