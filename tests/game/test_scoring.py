"""Identifiability as a score in scikit-learn's searches."""

import numpy as np
import pandas as pd
import pytest
from sklearn.compose import ColumnTransformer
from sklearn.dummy import DummyClassifier
from sklearn.model_selection import GridSearchCV
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer

from sensorprivacy.game import identifiability_scorer


@pytest.fixture
def rows():
    """Return features and users; `level` is constant in each of 30 recordings and says nothing about their user."""
    draw = np.random.default_rng(0)
    groups = np.repeat(np.arange(30), 10)
    users = pd.Series(groups % 3, index=np.arange(1000, 1300))
    features = pd.DataFrame(
        {"user": users + draw.normal(0, 0.2, 300), "level": draw.normal(size=30)[groups]}, index=users.index
    )
    return features, users, pd.Series(groups, index=users.index)


def test_a_search_keeps_the_column_that_identifies_least(rows):
    features, users, groups = rows
    choices = [ColumnTransformer([("kept", "passthrough", [name])]) for name in features]
    pipeline = make_pipeline(choices[0], DummyClassifier())
    scorer = identifiability_scorer(users, groups, model=GaussianNB())
    search = GridSearchCV(pipeline, {"columntransformer": choices}, scoring=scorer, cv=2, error_score="raise")
    search.fit(features, np.zeros(300))
    assert search.best_params_["columntransformer"].transformers[0][2] == ["level"]
    assert search.cv_results_["mean_test_score"][0] < -0.8


def test_groups_are_kept_whole(rows):
    """With recordings on both sides, the level finds the recording and so the user; with whole ones it cannot."""
    features, users, groups = rows
    level = features[["level"]]
    keep = FunctionTransformer().fit(level)
    leaking, whole = identifiability_scorer(users)(keep, level), identifiability_scorer(users, groups)(keep, level)
    assert leaking < -0.95
    assert whole > -0.6


def test_rows_without_a_user_are_refused(rows):
    features, users, _ = rows
    keep = FunctionTransformer().fit(features)
    with pytest.raises(ValueError, match="a row has no user"):
        identifiability_scorer(users.iloc[1:])(keep, features)
    with pytest.raises(ValueError, match="repeats an index label"):
        identifiability_scorer(pd.concat([users, users]))
