"""Scores of features: by hand where it can be done, by scipy and by SHAP's own additivity where it cannot."""

import numpy as np
import pandas as pd
import pytest
from scipy.stats import entropy
from sklearn.ensemble import RandomForestClassifier
from sklearn.feature_selection import mutual_info_classif
from sklearn.metrics import mutual_info_score
from sklearn.tree import DecisionTreeClassifier

from sensorprivacy.data import draw_rows
from sensorprivacy.minimize.scores import (
    cost_to_value,
    entropies,
    mutual_information,
    score_features,
    shap_values,
)

SMALL = RandomForestClassifier(n_estimators=10)


@pytest.mark.parametrize("score", ["information", "shap", "gini"])
def test_one_frame_for_every_score(problem, score):
    frame = score_features(problem.features, problem.task, problem.users, score, forest=SMALL, max_rows=100)
    assert list(frame.columns) == ["feature", "utility", "identifiability", "ratio"]
    assert list(frame["feature"]) == list(problem.features.columns)
    assert (frame[["utility", "identifiability"]] >= 0).all(axis=None)
    np.testing.assert_allclose(frame["ratio"] * frame["utility"], frame["identifiability"])
    assert frame.attrs["score"] == score
    value = frame.set_index("feature")["utility"]
    assert value["task"] > value["user"]
    again = score_features(problem.features, problem.task, problem.users, score, forest=SMALL, max_rows=100)
    pd.testing.assert_frame_equal(frame, again)


@pytest.mark.parametrize("score", ["shap", "gini"])
def test_both_models_are_scored(problem, score):
    frame = score_features(problem.features, problem.task, problem.users, score, forest=SMALL).set_index("feature")
    assert frame["utility"].idxmax() == "task"
    assert frame["identifiability"].idxmax() == "user"
    swapped = score_features(problem.features, problem.users, problem.task, score, forest=SMALL).set_index("feature")
    np.testing.assert_allclose(swapped["utility"], frame["identifiability"])


def test_entropy_of_ten_bins():
    table = pd.DataFrame({"flat": np.arange(100), "constant": 7.0, "two": [0] * 75 + [9] * 25})
    expected = [np.log(10), 0, entropy([0.75, 0.25])]
    np.testing.assert_allclose(entropies(table), expected)
    np.testing.assert_allclose(entropies(table, bins=5)[0], np.log(5))


def test_the_information_of_bits_is_exact():
    """Scikit-learn's estimator for continuous columns is up to 0.25 nats off on header bits."""
    rng = np.random.default_rng(0)
    labels = rng.integers(0, 12, 1000)
    bits = ((labels[:, None] + rng.integers(0, 6, (1000, 4))) % 12 < 5) - (labels[:, None] == 3).astype(float)
    exact = [mutual_info_score(bits[:, column], labels) for column in range(4)]
    np.testing.assert_allclose(mutual_information(bits, labels), exact, rtol=1e-9)
    assert np.abs(mutual_info_classif(bits, labels, random_state=0) - exact).max() > 0.01


def test_one_column_of_numbers_keeps_the_estimator_of_all():
    rng = np.random.default_rng(1)
    labels = rng.integers(0, 3, 300)
    table = np.column_stack([labels > 1, labels + rng.normal(size=300)])
    expected = mutual_info_classif(table, labels, random_state=42)
    np.testing.assert_array_equal(mutual_information(table, labels), expected)


def test_mutual_information_of_a_perfect_and_a_useless_feature():
    labels = np.repeat([0, 1], 500)
    table = pd.DataFrame(
        {"all": labels * 10 + np.random.default_rng(0).normal(size=1000), "nothing": np.tile([0.0, 1.0], 500)}
    )
    perfect, useless = score_features(table, labels, labels, "information")["utility"]
    assert perfect == pytest.approx(np.log(2), abs=0.01)
    assert useless == pytest.approx(0, abs=0.03)


def test_shap_of_one_stump_by_hand():
    # a stump on x: probability of class 1 goes from the base rate 1/2 to 0 or 1, all of it due to x
    x = pd.DataFrame({"x": np.repeat([0.0, 1.0], 50), "y": np.tile([0.0, 1.0], 50)})
    stump = DecisionTreeClassifier(max_depth=1, random_state=0)
    np.testing.assert_allclose(shap_values(x, np.repeat([0, 1], 50), stump, np.arange(100)), [0.5, 0], atol=1e-6)


def test_shap_is_the_mean_of_the_maximum_over_classes(problem):
    import shap

    forest, rows = RandomForestClassifier(5, max_depth=3, random_state=0), np.array([3, 50, 111])
    X = problem.features.to_numpy()
    values = shap.TreeExplainer(forest.fit(X, problem.users)).shap_values(X[rows])
    by_hand = [
        np.mean([max(abs(values[i, j, k]) for k in range(4)) for i in range(3)]) for j in range(problem.n_features)
    ]
    np.testing.assert_allclose(shap_values(problem.features, problem.users, forest, rows), by_hand)


def test_gini_scores_are_the_importances_of_the_forests(problem):
    frame = score_features(
        problem.features, problem.task, problem.users, "gini", forest=RandomForestClassifier(5), seed=1
    )
    for column, labels in (("utility", problem.task), ("identifiability", problem.users)):
        oracle = RandomForestClassifier(5, random_state=1).fit(problem.features.to_numpy(), labels)
        np.testing.assert_array_equal(frame[column], oracle.feature_importances_)


def test_caps_are_kept_and_reported(problem):
    frame = score_features(
        problem.features, problem.task, problem.users, "shap", forest=SMALL, max_rows=20, max_depth=3
    )
    assert frame.attrs == {"score": "shap", "rows": 20, "rows_available": 240, "max_depth": 3, "seed": 42}
    rows = draw_rows(1000, 10, 0)
    assert len(set(rows)) == 10
    assert list(rows) == sorted(rows)
    assert list(draw_rows(5, 10, 0)) == [0, 1, 2, 3, 4]


def test_feature_without_utility_has_an_infinite_ratio():
    assert list(cost_to_value(pd.Series([0.0, 0.2, 0.2]), pd.Series([0.0, 0.0, 0.4]))) == [np.inf, np.inf, 0.5]


def test_bad_input(problem):
    with pytest.raises(ValueError, match="unknown score 'lime': choose from information, shap, gini"):
        score_features(problem.features, problem.task, problem.users, "lime")
    with pytest.raises(ValueError, match="240 rows of features, 239 task labels"):
        score_features(problem.features, problem.task[:-1], problem.users)
    with pytest.raises(ValueError, match="max_rows=0"):
        score_features(problem.features, problem.task, problem.users, max_rows=0)
