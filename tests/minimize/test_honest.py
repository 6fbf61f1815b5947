"""Flattery of a choice: none where nothing was chosen, some where the best of many noisy numbers was."""

import numpy as np
import pandas as pd
import pytest
from sklearn.tree import DecisionTreeClassifier

from sensorprivacy.datasets.types import Problem
from sensorprivacy.game import play, random_split
from sensorprivacy.minimize.honest import confirm
from sensorprivacy.minimize.search.exhaustive import search

MODEL = DecisionTreeClassifier(max_depth=4)


def test_chosen_on_validation_rows_reported_on_test_rows(problem):
    split = random_split(240, test=0.2, validation=0.2, seed=0)
    found = search(problem, model=MODEL, split=split, seed=5, progress=False)
    table = confirm(problem, found, split, model=MODEL, thresholds=[0, 0.1, 1])
    for threshold, row in table.iterrows():
        chosen = found.select(threshold)
        test = play(problem, list(chosen["features"]), model=MODEL, split=split, seed=5)
        assert row["features"] == chosen["features"]
        assert (row["accuracy"], row["identifiability"]) == (test.accuracy, test.identifiability)
        assert row["accuracy_flattery"] == pytest.approx(chosen["accuracy"] - test.accuracy)
        assert row["identifiability_flattery"] == pytest.approx(test.identifiability - chosen["identifiability"])
        full = play(problem, model=MODEL, split=split, seed=5).accuracy
        assert row["loss"] == pytest.approx((full - test.accuracy) / full)


def test_the_best_of_many_coins_flatters():
    """Features that tell nothing: what looks best on 60 rows is no better than chance on others."""
    flattery = []
    for seed in range(5):
        draw = np.random.default_rng(seed)
        coins = Problem(pd.DataFrame(draw.normal(size=(600, 6))), draw.integers(0, 2, 600), draw.integers(0, 2, 600))
        split = random_split(600, test=0.5, validation=0.1, seed=seed)
        found = search(coins, model=MODEL, split=split, progress=False)
        flattery.append(confirm(coins, found, split, model=MODEL, thresholds=[0])["accuracy_flattery"][0])
    assert np.mean(flattery) > 0.03


def test_other_rows_are_refused(problem):
    split = random_split(240, test=0.2, validation=0.2, seed=0)
    on_test = search(problem, ["task"], model=MODEL, split=split, part="test", progress=False)
    with pytest.raises(ValueError, match="judged on test rows"):
        confirm(problem, on_test, split, model=MODEL)
    on_validation = search(problem, ["task"], model=MODEL, split=split, progress=False)
    with pytest.raises(ValueError, match="pass the same split"):
        confirm(problem, on_validation, random_split(240, test=0.2, validation=0.2, seed=1), model=MODEL)
