"""A forest that is trained in parts votes exactly as one in memory, and keeps few trees."""

import numpy as np
import pytest
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression

from sensorprivacy.game import tables as forests
from sensorprivacy.game.play import fit_clone


@pytest.fixture
def rows():
    draw = np.random.default_rng(0)
    y = draw.integers(0, 6, 300)
    return draw.normal(size=(300, 3)) + y[:, None] / 3, np.array(list("abcdef"))[y], draw.normal(size=(50, 3))


@pytest.mark.parametrize("options", [{}, {"max_samples": 0.5, "n_jobs": 2}, {"bootstrap": False, "max_features": 1}])
def test_parts_vote_as_the_whole(rows, monkeypatch, options):
    X, y, held = rows
    forest = RandomForestClassifier(7, random_state=3, **options)
    whole = fit_clone(forest, X, y).predict_proba(held)
    kept = []
    fit = RandomForestClassifier.fit
    monkeypatch.setattr(forests, "MOST_BYTES", 2 * 2 * 300 * 6 * 8)  # two trees

    def counted(self, *arguments):
        fit(self, *arguments)
        kept.append(sum(tree is not None for tree in self.estimators_))
        return self

    monkeypatch.setattr(RandomForestClassifier, "fit", counted)
    np.testing.assert_array_equal(forests.votes(forest, X, y, held), whole)
    assert kept == [2, 2, 2, 1]


def test_other_models_are_trained_at_once(rows, monkeypatch):
    monkeypatch.setattr(forests, "MOST_BYTES", 0)
    X, y, held = rows
    model = LogisticRegression()
    np.testing.assert_array_equal(forests.votes(model, X, y, held), fit_clone(model, X, y).predict_proba(held))
