"""Comparisons of preselections, on tables with known results and on a small problem."""

import runpy
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from sklearn.ensemble import RandomForestClassifier

from compendium.papers.paper1 import experiments
from compendium.show.tables import readable
from sensorprivacy.game import random_split
from sensorprivacy.minimize.search.results import ResultStore

problem = runpy.run_path(str(Path(__file__).parents[3] / "minimize" / "conftest.py"))["problem"]

FOREST = RandomForestClassifier(n_estimators=5)


def searched(*rows):
    return pd.DataFrame(rows, columns=["features", "n_features", "accuracy", "identifiability"])


def test_ablation_searches_only_the_first_features_of_the_order():
    subsets = searched((("a",), 1, 0.5, 0.2), (("b",), 1, 0.8, 0.6), (("a", "b"), 2, 0.9, 0.7))
    table = experiments.ablation(subsets, ["b", "a"], [1, 5], 100).set_index(["searched", "threshold"])
    assert set(table.index.get_level_values("searched")) == {1, 2}
    assert table.loc[(1, 1.0), "features"] == ("b",)
    assert table.loc[(2, 1.0), "features"] == ("a",)
    assert table.loc[(2, 0.0), "accuracy"] == 0.9
    assert table.loc[(1, 0.0), "accuracy_low"] < 0.8 < table.loc[(1, 0.0), "accuracy_high"]


def test_the_knapsack_costs_no_more_than_the_greedy_choice():
    scores = pd.DataFrame({"feature": list("abc"), "utility": [6.0, 5.0, 5.0], "identifiability": [4.0, 5.0, 5.0]})
    table = experiments.greedy_and_knapsack(scores, ["a", "b"])
    assert table.loc["greedy", ["total value", "total cost", "n_features"]].tolist() == [11, 9, 2]
    assert table.loc["knapsack", "total value"] >= 11
    assert table.loc["knapsack", "total cost"] <= 9
    assert readable(table).head[1:3] == ["total value", "total cost"]  # sums of scores are no percentages


def test_preselection_scores_once_for_every_order_of_a_score(problem, monkeypatch):
    asked = []
    real = experiments.score_features
    monkeypatch.setattr(experiments, "score_features", lambda *a, **k: asked.append((a[3], len(a[0]))) or real(*a, **k))
    ways = ["information-utility", "gini-ratio", "information-tradeoff"]
    pools, scores = experiments.preselect(problem, range(100), ways, 2, forest=FOREST, seed=0)
    assert asked == [("information", 100), ("gini", 100)]
    assert set(pools["information-utility"]) <= {"task", "task2", "both"}
    assert all(len(pool) == 2 for pool in pools.values())
    assert scores["gini-ratio"].attrs["score"] == "gini"
    with pytest.raises(ValueError, match="unknown score"):
        experiments.preselect(problem, range(100), ["ratio"], 2)


def test_preselections_are_judged_on_rows_that_nothing_was_chosen_on(problem, tmp_path):
    split = random_split(problem.n_records, test=0.3, validation=0.2, seed=0)
    pools = {"one": ["task", "user"], "other": ["noise", "both"]}
    how = {"split": split, "model": FOREST, "seed": 0, "progress": False}
    table = experiments.compare_preselections(problem, pools, 0.05, result_store=tmp_path / "s.sqlite", **how)
    table = table.set_index("preselection")
    assert table.loc["one", "features"] == ("task",)
    assert table.loc["one", "accuracy"] > table.loc["other", "accuracy"]
    assert (table["base_identifiability"] > 0.9).all()
    np.testing.assert_allclose(table["accuracy_change"], table["accuracy"] - table["base_accuracy"], atol=1e-12)
    assert (table["identifiability_change_high"] < 0).loc["one"]
    counted = table["accuracy"] * len(split.test)
    assert (counted - counted.round()).abs().max() < 1e-9
    assert ResultStore(tmp_path / "s.sqlite", problem.digest)
