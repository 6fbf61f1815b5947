"""Races that drop subsets before their first tree: what they drop could not have been chosen."""

import numpy as np
import pandas as pd
import pytest

from sensorprivacy.data import Problem
from sensorprivacy.minimize.engine_protocol import LABELS, Glimpse
from sensorprivacy.minimize.search.bounds import features_of, foresee, of_near_sizes, sample_of_sizes
from sensorprivacy.minimize.search.exhaustive import search_subsets
from sensorprivacy.minimize.search.job import SearchJob
from sensorprivacy.minimize.search.racing import Runner
from sensorprivacy.minimize.select import Rule, select

K = 10
HAS = (np.arange(2**K)[:, None] >> np.arange(K)) & 1
SIZE = HAS.sum(axis=1)


class Told:
    """An engine whose scores are given; its first trees show them with noise."""

    threads, name, model, n_trees = True, "shared", "told", 100

    def __init__(self, task, users, noise=0.002):
        self.true = {"task": np.round(task, 4), "users": np.round(users, 4)}
        self.noise = np.random.default_rng(1).normal(0, noise, 2**K)
        self.calls = np.inf

    def score(self, subsets, label):
        self.calls -= 1
        if self.calls < 0:
            raise KeyboardInterrupt
        return self.true[label][[sum(1 << at for at in subset) for subset in subsets]].tolist()

    def glimpse(self, subsets, label, n_trees):
        at = [sum(1 << at for at in subset) for subset in subsets]
        shown = np.array(self.score(subsets, label)) - 0.1 / n_trees + self.noise[at] * 2 / np.sqrt(n_trees)
        return [Glimpse(*values) for values in zip(shown, 0.8 * shown, 0.9 * shown, strict=True)]


@pytest.fixture(scope="module")
def table():
    draw = np.random.default_rng(0)
    labels = pd.Series(np.arange(4000) % 2)
    return Problem(pd.DataFrame(draw.normal(size=(4000, K))).rename(columns=str), labels, labels, name="told")


def users(seed=0):
    """Return identifiabilities that grow with every feature."""
    return 1 - np.prod(1 - HAS * np.random.default_rng(seed).uniform(0.05, 0.2, K), axis=1)


def race(table, engine, *thresholds, **options):
    options = {"rule": {"thresholds": thresholds or [0.01]}, "progress": False} | options
    return search_subsets(table, engine=engine, race=True, **options)


def whole(table, engine):
    return search_subsets(table, engine=engine, progress=False).table


def additive(seed=0):
    """Return accuracies to which features add, with interactions and noise."""
    rng = np.random.default_rng(seed)
    left = np.prod(1 - HAS * rng.uniform(0.1, 0.45, K), axis=1)
    return 1 - left + 0.01 * HAS[:, 0] * HAS[:, 3] + rng.normal(0, 0.001, len(left))


def parity():
    """Return accuracies of two features that are useless alone; every other feature is noise and costs accuracy."""
    return 0.5 + 0.49 * HAS[:, 2] * HAS[:, 7] - 0.004 * SIZE


def spoilt():
    """Return accuracies that one feature lowers, so the best subset lacks it."""
    return additive() - 0.15 * HAS[:, 4]


@pytest.mark.parametrize(("task", "most"), [(additive, 0.2), (parity, 0.15), (spoilt, 0.2)])
def test_the_choice_is_that_of_the_exhaustive_search_though_many_subsets_have_no_tree(table, task, most):
    engine = Told(task(), users())
    found, full = race(table, engine), whole(table, engine)
    chosen, best = found.select(0.01), select(full, 0.01)
    assert (chosen["features"], chosen["accuracy"]) == (best["features"], best["accuracy"])
    kept = ~found.table["dropped"]
    assert found.table.loc[kept, ["accuracy", "identifiability"]].equals(
        full.loc[kept, ["accuracy", "identifiability"]]
    )
    assert found.race.grown["task"][0] < most * (2**K - 1)


def test_the_pair_that_is_useless_alone_is_chosen(table):
    assert race(table, Told(parity(), users())).select(0.01)["features"] == ("2", "7")


def test_nearly_everything_is_dropped_if_every_feature_is_needed(table):
    found = race(table, Told(1 - 0.08 * (K - SIZE), users()))
    assert found.select(0.01)["n_features"] == K
    sample = len(sample_of_sizes(K))
    for label in LABELS:
        assert found.race.grown[label][0] <= sample + 10
        assert found.race.grown[label][-1] <= sample + 10


def test_high_identifiability_drops_subsets_before_their_first_tree(table):
    """All subsets are as accurate, but only few can have the lowest identifiability."""
    found = race(table, Told(np.full(2**K, 0.9), users()))
    assert found.race.grown["users"][0] < 0.2 * len(found.table)
    assert found.select(0.01)["n_features"] == 1


@pytest.mark.parametrize("seed", range(2))
def test_bounds_before_the_first_tree_are_rarely_wrong(table, seed):
    engine = Told(additive(seed), users(seed))
    with_trees = SearchJob(table, engine=engine, progress=False)
    runner = Runner(with_trees, (0.01, 0.03), Rule())
    runner.run()
    low, middle, high = runner.scores["task"].before
    known = ~np.isnan(middle)
    known[runner.sample] = False
    assert known.sum() > 0.5 * 2**K
    above, below = engine.true["task"] > high, engine.true["task"] < low
    assert np.mean(above[known]) < 0.01
    assert np.mean((above | below)[known]) < 0.02
    assert np.mean((high - low)[known]) < 0.1


def test_killed_and_resumed_gives_the_same_race(table, tmp_path):
    engine = Told(additive(), users())
    straight = race(table, engine)
    for calls in (12, 30):
        path, engine.calls = tmp_path / f"{calls}.sqlite", calls
        with pytest.raises(KeyboardInterrupt):
            race(table, engine, result_store=path, batch_size=50)
        engine.calls = np.inf
        resumed = race(table, engine, result_store=path)
        pd.testing.assert_frame_equal(resumed.table, straight.table, check_exact=True)


def test_batches_do_not_change_what_is_dropped(table):
    engine = Told(additive(), users())
    some, one = race(table, engine, batch_size=7), race(table, engine, batch_size=500)
    pd.testing.assert_frame_equal(some.table, one.table, check_exact=True)
    assert some.race == one.race


@pytest.mark.parametrize("thresholds", [(0.01,), (0.05,), (0.0,), (0.0, 0.01, 0.03, 0.1, 0.3, 1.0)])
def test_a_race_serves_the_thresholds_it_was_asked_for(table, thresholds):
    engine = Told(additive(5), users(5))
    found, full = race(table, engine, *thresholds), whole(table, engine)
    assert found.race.thresholds == thresholds
    assert found.select_table().index.tolist() == list(thresholds)
    for level in thresholds:
        assert found.select(level)["features"] == select(full, level)["features"]


def test_one_threshold_needs_fewer_trees_than_six(table):
    engine = Told(additive(), users())
    one = race(table, engine)
    six = search_subsets(table, engine=engine, race=True, progress=False)
    learning = len(sample_of_sizes(K)) * 152 / 100 / (2**K - 1)
    for label in LABELS:
        assert one.race.share(label) - learning < 0.8 * (six.race.share(label) - learning)


@pytest.mark.parametrize("thresholds", [[], [0.2], [2.0]])
def test_thresholds_that_cannot_be_served_are_refused(table, thresholds):
    with pytest.raises(ValueError, match="threshold"):
        race(table, Told(additive(), users()), rule={"thresholds": thresholds}, lazy=0.1)


def test_a_prediction_extrapolates():
    """If every feature halves the error, the logarithm of the error is linear in the features."""
    true = 1 - 0.5**SIZE * 0.9
    sample = sample_of_sizes(K)
    foreseen = foresee(sample, true[sample], K)
    np.testing.assert_allclose(foreseen[1:], true[1:], atol=0.025)
    np.testing.assert_allclose(foreseen[SIZE > 4], true[SIZE > 4], atol=0.006)


def test_a_sampled_subset_is_predicted_without_itself():
    """The oracle leaves it out and fits again."""
    true, sample = additive(), sample_of_sizes(K)
    foreseen = foresee(sample, true[sample], K)
    for left_out in (3, 40, 70):
        others = np.delete(sample, left_out)
        assert foreseen[sample[left_out]] == pytest.approx(foresee(others, true[others], K)[sample[left_out]], abs=2e-3)
    spoilt_one = true[sample].copy()
    spoilt_one[40] -= 0.3
    assert foresee(sample, spoilt_one, K)[sample[40]] == pytest.approx(foreseen[sample[40]], abs=0.05)


def test_what_a_regression_sees_of_a_subset():
    np.testing.assert_array_equal(features_of(np.array([0, 5]), 4), [[0, 0, 0, 0], [1, 0, 1, 0]])
    known = np.arange(30)
    assert of_near_sizes(known, np.repeat([1, 2, 3], 10), 3, 2).tolist() == list(range(20, 30))
    assert of_near_sizes(known, np.repeat([1, 2, 3], 10), 3, 3).tolist() == list(range(10, 30))
