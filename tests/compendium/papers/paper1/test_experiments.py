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


def test_ablation_of_a_race_takes_scores_of_few_features_from_the_whole_search():
    few = searched((("a",), 1, 0.8, 0.3), (("b",), 1, 0.7, 0.5), (("a", "b"), 2, 0.81, 0.6))
    raced = few.assign(accuracy=np.nan, identifiability=np.nan)  # dropped, since c is better than all of them
    raced = pd.concat([raced, searched((("c",), 1, 0.9, 0.1))], ignore_index=True)
    table = experiments.ablation(pd.concat([few, raced]), ["a", "b", "c"], [2, 3], 100)
    chosen = table.set_index(["searched", "threshold"])["features"]
    assert (chosen[2, 0.0], chosen[2, 0.03], chosen[3, 0.0]) == (("a", "b"), ("a",), ("c",))


def test_definition_1_counts_the_loss_from_all_features():
    """By hand: all features have .8, the best subset has .9. At .1 the tables need .81 and Definition 1 .72."""
    subsets = searched((("a",), 1, 0.75, 0.2), (("b",), 1, 0.82, 0.4), (("a", "b"), 2, 0.9, 0.7))
    table = experiments.both_rules(subsets, 0.8)
    assert table.loc[0.1, "accuracy, as printed"] == 0.82
    assert table.loc[0.1, "accuracy, as stated"] == 0.75
    assert table.loc[0.0, ["n_features, as printed", "n_features, as stated"]].tolist() == [2, 1]
    strict = experiments.both_rules(subsets, 0.95)  # all features are better than every searched subset
    assert strict.loc[[0.0, 0.01, 0.03], "accuracy, as stated"].isna().all()
    assert strict.loc[[0.0, 0.01, 0.03], "accuracy, as printed"].tolist() == [0.9] * 3
    assert strict.loc[0.1, "accuracy, as stated"] == 0.9


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
