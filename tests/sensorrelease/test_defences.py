"""Defences: words of the command line, and releases that are fitted to training rows only."""

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.decomposition import PCA
from sklearn.ensemble import RandomForestClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import KBinsDiscretizer, StandardScaler

from sensorprivacy.data import Problem
from sensorprivacy.game import play
from sensorprivacy.game.splits import Split
from sensorprivacy.minimize import scores
from sensorrelease import subset_search, transformers
from sensorrelease.defences import Defence
from sensorrelease.words import parse, table_defences


@pytest.fixture(autouse=True)
def quick(monkeypatch):
    """Train small forests: the words' settings stay as they are."""
    small = lambda trees=5, **options: RandomForestClassifier(min(trees, 5), **options)  # noqa: E731
    monkeypatch.setattr(transformers, "RandomForestClassifier", small)
    monkeypatch.setattr(scores, "RandomForestClassifier", lambda: RandomForestClassifier(5))


@pytest.fixture
def train(problem):
    return np.arange(0, problem.n_records, 2)


@pytest.mark.parametrize(
    ("word", "name"),
    [
        ("none", "none"),
        ("prediction", "prediction"),
        (" minimize:threshold=.03 ", "minimize:threshold=0.03"),
        ("minimize:threshold=0,preselect=8", "minimize:threshold=0,preselect=8"),
        ("minimize+noise", "minimize+noise:threshold=0.01,epsilon=4"),
        ("minimize+noise:threshold=.1,epsilon=2", "minimize+noise:threshold=0.1,epsilon=2"),
        ("noise:epsilon=16", "noise:epsilon=16"),
        ("round", "round:digits=2"),
        ("round:digits=3", "round:digits=3"),
        ("threeway", "threeway:epsilon=1"),
        ("threeway:sound, epsilon=.5", "threeway:epsilon=0.5"),
        ("threeway:printed", "threeway:printed"),
        ("method:shap-ratio", "method:shap_ratio"),
        ("method:pca,columns=2", "method:pca,columns=2"),
    ],
)
def test_words(word, name):
    parsed = parse(word)
    assert parsed.name == name
    assert parse(name).name == name
    assert parsed.about.endswith(".")


@pytest.mark.parametrize(
    ("word", "message"),
    [
        ("minimise", r"unknown defence 'minimise': choose from none, prediction, minimize"),
        ("minimize:threshold=2", r"threshold=2 must be a number from 0 to 1"),
        ("minimize:threshold=much", r"threshold=much must be a number"),
        ("minimize:epsilon=1", r"'epsilon=1' is no setting of minimize: choose from threshold=..., preselect=..."),
        ("noise:epsilon=0", r"epsilon=0 must be a number from 1e-06 to"),
        ("noise:epsilon=nan", r"epsilon=nan must be"),
        ("threeway:printed,epsilon=2", r"leave epsilon=2 out"),
        ("method:magic", r"'magic' is no setting of method: choose from hashing, pca"),
        ("method:pca,columns=1.5", r"columns=1.5 must be a whole number"),
        ("none:epsilon=1", r"it has none"),
        ("round:digits=0", r"digits=0 must be a whole number from 1 to 15"),
    ],
)
def test_wrong_words_list_the_choices_on_one_line(word, message):
    with pytest.raises(ValueError, match=message) as raised:
        parse(word)
    assert "\n" not in str(raised.value)


def test_the_default_list_starts_with_the_trivial_ones_and_has_paper_1s_six_thresholds():
    names = [one.name for one in table_defences()]
    assert names[:2] == ["none", "prediction"]
    assert sum(name.startswith("minimize:") for name in names) == 6
    assert len(set(names)) == len(names)
    assert [one.name for one in table_defences() if one.trivial] == ["none", "prediction"]


@pytest.mark.parametrize("name", [one.name for one in table_defences()])
def test_each_default_defence_releases_every_row_and_can_be_cloned(problem, train, name):
    defence = parse(name)
    clone(defence.make(1))
    found = defence.publish(problem, train, 1)
    assert found.values.index.tolist() == list(range(problem.n_records))
    assert found.values.shape[1] >= 1
    assert found.guarantees or not np.isfinite(found.epsilon)
    again = defence.publish(problem, train, 1)
    pd.testing.assert_frame_equal(found.values, again.values)


@pytest.mark.parametrize("name", ["minimize", "threeway", "method:pca", "method:gini_utility", "noise", "prediction"])
def test_held_out_rows_change_nothing_that_is_learned(problem, train, name):
    held = np.setdiff1d(np.arange(problem.n_records), train)
    features, task, users = problem.features.copy(), problem.task.copy(), problem.users.copy()
    features.iloc[held] *= 100
    task.iloc[held], users.iloc[held] = "tv", "u0"
    other = Problem(features, task, users)
    first, second = (parse(name).publish(table, train, 1).values.iloc[train] for table in (problem, other))
    pd.testing.assert_frame_equal(first, second)


def test_none_releases_the_table(problem, train):
    pd.testing.assert_frame_equal(parse("none").publish(problem, train).values, problem.features)


def test_the_prediction_is_a_label_that_training_rows_get_from_other_rows(problem, train):
    noisy = Problem(problem.features[["noise"]], problem.task, problem.users)
    found = parse("prediction").publish(noisy, train).values["prediction"]
    assert set(found) == {"tv", "fridge"}
    # a forest repeats the labels that it was trained on; new rows get about half of them
    assert (found == noisy.task).iloc[train].mean() < 0.7


@pytest.mark.slow
def test_minimization_loses_no_more_than_its_threshold_where_few_columns_are_searched():
    """The task needs twelve columns, and only two are searched."""
    draw = np.random.default_rng(0)
    parts = pd.DataFrame(draw.normal(size=(900, 12))).add_prefix("part ")
    problem = Problem(parts, parts.sum(axis=1) > 0, draw.integers(0, 3, 900))
    train = np.arange(600)
    kept = list(parse("minimize:threshold=.05,preselect=2").publish(problem, train).values)
    split = Split(train, np.arange(600, 900))
    whole, some = (play(problem, names, split=split, seed=0).accuracy for names in (None, kept))
    assert some >= 0.9 * whole
    assert list(parse("minimize:threshold=.6,preselect=2").publish(problem, train).values) != kept


def test_minimization_keeps_the_column_of_the_task_and_searches_once(problem, train, monkeypatch):
    subset_search.LAST_SEARCH.clear()
    calls, search = [], subset_search.search_subsets
    monkeypatch.setattr(subset_search, "search_subsets", lambda *a, **k: calls.append(1) or search(*a, **k))
    for threshold in (0.03, 0.1):
        assert list(parse(f"minimize:threshold={threshold}").publish(problem, train).values) == ["task"]
    assert len(calls) == 1


def test_guarantees_and_epsilon(problem, train):
    noise = parse("noise:epsilon=2").publish(problem, train)
    assert noise.epsilon == 2
    assert "epsilon 2 for the whole row" in noise.guarantees[0]
    assert "bounds were read" in noise.guarantees[1]
    both = parse("minimize+noise:threshold=.03,epsilon=2").publish(problem, train)
    assert (both.epsilon, list(both.values)) == (2, ["task"])
    assert "columns were chosen from the fitted rows" in both.guarantees[-1]
    assert not both.values["task"].equals(problem.features["task"])
    threeway = parse("threeway:epsilon=.5").publish(problem, train)
    assert threeway.epsilon == np.inf or threeway.epsilon % 0.5 == 0
    assert threeway.epsilon > 0
    assert any("not differentially private" in line or "local" in line for line in threeway.guarantees)


def test_without_a_seed_noise_is_secure(problem, train):
    assert parse("noise").make(None).seed is None
    assert parse("minimize+noise").make(None).noise_seed is None
    assert parse("threeway").make(None).noise_source is None
    first, second = (parse("noise").publish(problem, train, None).values for _ in range(2))
    assert not first.equals(second)


@pytest.mark.parametrize(
    ("step", "columns"),
    [
        (PCA(2), ["pca0", "pca1"]),
        (KBinsDiscretizer(3, encode="onehot"), None),
        (make_pipeline(StandardScaler(), PCA(1)), ["pca0"]),
    ],
)
def test_any_transformer_is_a_defence(problem, train, step, columns):
    found = Defence("own", "own", lambda seed: clone(step)).publish(problem, train)
    assert columns is None or list(found.values) == columns
    assert found.guarantees == ()
    assert len(found.values) == problem.n_records


def test_a_defence_that_drops_rows_is_refused(problem, train):
    class Drops:
        def fit(self, X, y):
            return self

        def transform(self, X):
            return X.iloc[1:]

    with pytest.raises(ValueError, match="Drops returned 119 rows for 120"):
        Defence("own", "own", lambda seed: Drops()).publish(problem, train)


def test_too_many_columns(problem, train):
    with pytest.raises(ValueError, match="columns=9: the table has only 4 features"):
        parse("method:pca,columns=9").publish(problem, train)
