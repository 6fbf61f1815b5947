"""Optimism of a choice: zero where nothing was chosen, positive where the best of many noisy numbers was."""

import dataclasses

import numpy as np
import pandas as pd
import pytest
from sklearn.tree import DecisionTreeClassifier

from sensorprivacy.data import Problem
from sensorprivacy.game import play, random_split
from sensorprivacy.minimize.comparison import optimism_table
from sensorprivacy.minimize.search.exhaustive import search_subsets
from sensorprivacy.minimize.select import THRESHOLDS

MODEL = DecisionTreeClassifier(max_depth=4)


def search_both(problem, split, names=None, **options):
    """Search on the validation rows and on the test rows."""
    how = {"model": MODEL, "split": split, "progress": False} | options
    return [search_subsets(problem, names, part=part, **how) for part in ("validation", "test")]


def test_subsets_chosen_on_validation_rows_are_evaluated_on_test_rows(problem):
    split = random_split(240, test=0.2, validation=0.2, seed=0)
    on_validation, on_test = search_both(problem, split, seed=5)
    table = optimism_table(on_validation, on_test)
    assert table.index.tolist() == list(THRESHOLDS)
    for threshold, row in table.iterrows():
        honest, chosen = on_validation.select(threshold), on_test.select(threshold)
        test = play(problem, list(honest["features"]), model=MODEL, split=split, seed=5)
        assert row["accuracy, chosen on validation rows"] == test.accuracy
        assert row["identifiability, chosen on validation rows"] == test.identifiability
        assert row["accuracy, chosen on test rows"] == chosen["accuracy"]
        assert row["optimism, accuracy"] == pytest.approx(chosen["accuracy"] - test.accuracy)
        assert row["optimism, identifiability"] == pytest.approx(test.identifiability - chosen["identifiability"])


def test_a_lucky_subset_on_test_rows_is_optimistic(problem):
    # on test rows (a) is lucky; on validation rows (b) is chosen, and gets .80 on test rows
    split = random_split(240, test=0.2, validation=0.2, seed=0)
    columns = ["features", "n_features", "accuracy", "identifiability"]
    test = pd.DataFrame([(("a",), 1, 0.90, 0.30), (("b",), 1, 0.80, 0.40)], columns=columns)
    validation = pd.DataFrame([(("a",), 1, 0.70, 0.35), (("b",), 1, 0.85, 0.38)], columns=columns)
    searches = search_both(problem, split, ["task"])
    searches = [dataclasses.replace(one, table=t) for one, t in zip(searches, (validation, test), strict=True)]
    table = optimism_table(*searches)
    assert table.loc[0.0, "optimism, accuracy"] == pytest.approx(0.10)
    assert table.loc[0.0, "optimism, identifiability"] == pytest.approx(0.10)
    # at 1 both choices are (a), the less identifiable: there is no optimism
    assert table.loc[1.0, "optimism, accuracy"] == table.loc[1.0, "optimism, identifiability"] == 0
    with pytest.raises(ValueError, match="different subsets"):
        optimism_table(dataclasses.replace(searches[0], table=validation.head(1)), searches[1])


@pytest.mark.slow
def test_the_best_of_many_coins_is_optimistic():
    """Features without information: the best subset on 60 rows is no better than chance on other rows."""
    gaps = []
    for seed in range(5):
        draw = np.random.default_rng(seed)
        coins = Problem(pd.DataFrame(draw.normal(size=(600, 6))), draw.integers(0, 2, 600), draw.integers(0, 2, 600))
        split = random_split(600, test=0.1, validation=0.5, seed=seed)
        gaps.append(optimism_table(*search_both(coins, split))["optimism, accuracy"][0])
    assert np.mean(gaps) > 0.03


def test_searches_on_other_rows_are_rejected(problem):
    split, other = (random_split(240, test=0.2, validation=0.2, seed=seed) for seed in (0, 1))
    on_validation, on_test = search_both(problem, split, ["task"])
    with pytest.raises(ValueError, match=r"searches on \('test', 'test'\) rows"):
        optimism_table(on_test, on_test)
    with pytest.raises(ValueError, match="of the same split"):
        optimism_table(on_validation, search_both(problem, other, ["task"])[1])
