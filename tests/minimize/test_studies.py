"""What a search is asked besides its choice, on tables whose answers are known and on a small problem."""

import pandas as pd
import pytest
from sklearn.ensemble import RandomForestClassifier

from sensorprivacy.game import random_split
from sensorprivacy.minimize import studies
from sensorprivacy.minimize.search.store import Store
from sensorprivacy.minimize.select import THRESHOLDS

FOREST = RandomForestClassifier(n_estimators=5)


def searched(*rows):
    return pd.DataFrame(rows, columns=["features", "n_features", "accuracy", "identifiability"])


def test_flattery_is_what_choosing_on_test_rows_adds():
    # on test rows (a) is lucky; on validation rows (b) is the choice, and gets .80 on test rows
    test = searched((("a",), 1, 0.90, 0.30), (("b",), 1, 0.80, 0.40))
    validation = searched((("a",), 1, 0.70, 0.35), (("b",), 1, 0.85, 0.38))
    table = studies.flattery(validation, test)
    assert table.index.tolist() == list(THRESHOLDS)
    assert table.loc[0.0, "flattery, accuracy"] == pytest.approx(0.10)
    assert table.loc[0.0, "flattery, identifiability"] == pytest.approx(0.10)
    # at 1 both take (a), the less identifiable: nothing flatters
    assert table.loc[1.0, "flattery, accuracy"] == table.loc[1.0, "flattery, identifiability"] == 0
    with pytest.raises(ValueError, match="different subsets"):
        studies.flattery(validation.head(1), test)


def test_ablation_searches_only_the_first_features_of_the_order():
    subsets = searched((("a",), 1, 0.5, 0.2), (("b",), 1, 0.8, 0.6), (("a", "b"), 2, 0.9, 0.7))
    table = studies.ablation(subsets, ["b", "a"], [1, 5], 100).set_index(["searched", "threshold"])
    assert set(table.index.get_level_values("searched")) == {1, 2}
    assert table.loc[(1, 1.0), "features"] == ("b",)
    assert table.loc[(2, 1.0), "features"] == ("a",)
    assert table.loc[(2, 0.0), "accuracy"] == 0.9
    assert table.loc[(1, 0.0), "accuracy_low"] < 0.8 < table.loc[(1, 0.0), "accuracy_high"]


def test_the_knapsack_costs_no_more_than_the_greedy_choice():
    scores = pd.DataFrame({"feature": list("abc"), "utility": [6.0, 5.0, 5.0], "identifiability": [4.0, 5.0, 5.0]})
    table = studies.greedy_and_knapsack(scores, ["a", "b"])
    assert table.loc["greedy", ["utility", "identifiability", "n_features"]].tolist() == [11, 9, 2]
    assert table.loc["knapsack", "utility"] >= 11
    assert table.loc["knapsack", "identifiability"] <= 9


def test_preselection_scores_once_for_every_order_of_a_score(problem, monkeypatch):
    asked = []
    real = studies.score_features
    monkeypatch.setattr(studies, "score_features", lambda *a, **k: asked.append((a[3], len(a[0]))) or real(*a, **k))
    ways = ["information-utility", "gini-ratio", "information-tradeoff"]
    pools, scores = studies.preselect(problem, range(100), ways, 2, forest=FOREST, seed=0)
    assert asked == [("information", 100), ("gini", 100)]
    assert set(pools["information-utility"]) <= {"task", "task2", "both"}
    assert all(len(pool) == 2 for pool in pools.values())
    assert scores["gini-ratio"].attrs["score"] == "gini"
    with pytest.raises(ValueError, match="unknown score"):
        studies.preselect(problem, range(100), ["ratio"], 2)


def test_preselections_are_judged_on_rows_that_nothing_was_chosen_on(problem, tmp_path):
    split = random_split(problem.n_records, test=0.3, validation=0.2, seed=0)
    pools = {"one": ["task", "user"], "other": ["noise", "both"]}
    how = {"split": split, "model": FOREST, "seed": 0, "progress": False}
    table = studies.compare_preselections(problem, pools, 0.05, store=tmp_path / "s.sqlite", **how)
    table = table.set_index("preselection")
    assert table.loc["one", "features"] == ("task",)
    assert table.loc["one", "accuracy"] > table.loc["other", "accuracy"]
    assert (table["base_identifiability"] > 0.9).all()
    counted = table["accuracy"] * len(split.test)
    assert (counted - counted.round()).abs().max() < 1e-9
    assert Store(tmp_path / "s.sqlite", problem.digest)
