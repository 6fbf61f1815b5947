"""Redraws of split, forests and choices: equal seeds repeat a result, other seeds move it."""

import runpy
from pathlib import Path

import pytest
from sklearn.ensemble import RandomForestClassifier

from compendium.papers.paper1.experiments import redraw
from sensorprivacy.game import play, random_split

problem = runpy.run_path(str(Path(__file__).parents[3] / "minimize" / "conftest.py"))["problem"]

FOREST = RandomForestClassifier(n_estimators=5)
HOW = {"preselection": "gini-utility", "k": 3, "model": FOREST, "progress": False}


@pytest.fixture
def drawn(problem):
    return lambda seeds: redraw(problem, lambda seed: random_split(problem.n_records, seed=seed), seeds, **HOW)


def test_each_seed_has_one_row_for_all_features_and_one_for_each_threshold(drawn, problem):
    table = drawn([1, 2])
    assert table.groupby("seed").size().tolist() == [7, 7]
    assert table.loc[table["seed"] == 1, "choice"].tolist() == ["all features", 0.0, 0.01, 0.03, 0.1, 0.3, 1.0]
    assert table.loc[table["choice"] == "all features", "n_features"].tolist() == [problem.n_features] * 2
    assert (table.loc[table["choice"] != "all features", "n_features"] <= 3).all()


def test_all_features_are_judged_as_the_game_judges_them(drawn, problem):
    split = random_split(problem.n_records, seed=7)
    played = play(problem, None, model=FOREST, split=split, seed=7).to_series()
    assert drawn([7]).loc[0, "accuracy"] == played["accuracy_overall"]


def test_a_seed_repeats_its_rows_and_another_seed_moves_them(drawn):
    first, again = drawn([1, 2]), drawn([2])
    second = first[first["seed"] == 2].reset_index(drop=True)
    assert second.equals(again)
    assert set(first.loc[first["seed"] == 1, "accuracy"]) != set(second["accuracy"])
