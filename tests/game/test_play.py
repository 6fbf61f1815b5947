"""The game: scikit-learn on the same rows as the oracle, and strategies whose outcome is known beforehand."""

import numpy as np
import pandas as pd
import pytest
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.decomposition import PCA
from sklearn.ensemble import RandomForestClassifier
from sklearn.metrics import accuracy_score, balanced_accuracy_score
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from sensorprivacy.datasets.types import Problem
from sensorprivacy.game import Split, play, play_repeated, random_split, repeat, summarize, wilson

TINY = RandomForestClassifier(n_estimators=10)


@pytest.fixture
def problem():
    """`task` tells the task only, `user` the user only, `both` a bit of each, `noise` nothing."""
    draw = np.random.default_rng(0)
    task, users = draw.integers(0, 2, 400), draw.integers(0, 5, 400)
    features = pd.DataFrame(
        {
            "task": task + draw.normal(0, 0.2, 400),
            "user": users + draw.normal(0, 0.2, 400),
            "both": task + users + draw.normal(0, 0.3, 400),
            "noise": draw.normal(size=400),
        }
    )
    return Problem(features, np.where(task, "tv", "fridge"), [f"user {u}" for u in users], name="toy")


def test_outcome_is_what_scikit_learn_gives_on_the_same_rows(problem):
    split = random_split(400, test=0.3, seed=1)
    outcome = play(problem, ["task", "both"], model=TINY, split=split, seed=3)
    X = problem.features[["task", "both"]].to_numpy()
    for measure, y in ((outcome.task, problem.task.to_numpy()), (outcome.adversary, problem.users.to_numpy())):
        oracle = RandomForestClassifier(n_estimators=10, random_state=3).fit(X[split.train], y[split.train])
        guess = oracle.predict(X[split.test])
        assert measure.score == accuracy_score(y[split.test], guess)
        assert measure.balanced == pytest.approx(balanced_accuracy_score(y[split.test], guess))
        assert (measure.low, measure.high) == wilson(round(measure.score * 120), 120)
    assert (outcome.n_features, outcome.n_train, outcome.n_test) == (2, 280, 120)


def test_features_give_away_what_they_hold(problem):
    quiet, loud = play(problem, ["task"], model=TINY), play(problem, ["user"], model=TINY)
    assert quiet.accuracy > 0.9
    assert not quiet.adversary.beats_chance
    assert loud.identifiability > 0.85
    assert not loud.task.beats_chance
    everything = play(problem, model=TINY)
    assert everything.task.beats_chance
    assert everything.adversary.beats_chance


def test_chance_is_the_training_majority_judged_on_held_out_rows(problem):
    task = np.array(["a"] * 300 + ["b"] * 100)
    skewed = Problem(problem.features, task, problem.users)
    split = Split(np.r_[0:200, 300:350], np.r_[200:300, 350:400])
    assert play(skewed, model=GaussianNB(), split=split).task.chance == pytest.approx(100 / 150)


def test_users_never_seen_in_training_are_counted(problem):
    users = np.array(["known", "other"] * 180 + ["stranger"] * 40)
    split = Split(np.arange(300), np.arange(300, 400))
    outcome = play(Problem(problem.features, problem.task, users), model=GaussianNB(), split=split)
    assert outcome.adversary.unseen == pytest.approx(0.4)
    assert outcome.identifiability <= 0.6


def test_both_players_get_the_same_model_class_and_the_model_stays_unfitted(problem):
    model = KNeighborsClassifier(3)
    outcome = play(problem, ["task", "user"], model=model)
    split = random_split(400, seed=42)
    X, y = problem.features[["task", "user"]].to_numpy(), problem.users.to_numpy()
    oracle = KNeighborsClassifier(3).fit(X[split.train], y[split.train])
    assert outcome.identifiability == oracle.score(X[split.test], y[split.test])
    assert outcome.model == "KNeighborsClassifier(n_neighbors=3)"
    assert not hasattr(model, "classes_")


def test_default_model_is_a_forest_of_a_hundred_trees(problem):
    assert "RandomForestClassifier(random_state=42)" in play(problem, ["task"]).model


class Counts(GaussianNB):
    """Tells on how many threads it was asked to fit and to predict."""

    asked: list = []  # noqa: RUF012

    def __init__(self, n_jobs=None):
        super().__init__()
        self.n_jobs = n_jobs

    def fit(self, X, y):
        self.asked.append(("fit", self.n_jobs))
        return super().fit(X, y)

    def predict(self, X):
        self.asked.append(("predict", self.n_jobs))
        return super().predict(X)


def test_threads_change_nothing(problem):
    # a forest's threads add up votes in the order they finish; ties then flip from run to run
    Counts.asked.clear()
    play(problem, ["task"], model=make_pipeline(StandardScaler(), Counts(n_jobs=4)))
    assert Counts.asked == [("fit", 4), ("predict", 1)] * 2


class Shift(TransformerMixin, BaseEstimator):
    """Publishes every column, negated: a rewriting strategy that hides nothing from who trains on its output."""

    def fit(self, X, y, users):
        self.rows_, self.users_ = len(X), users
        return self

    def transform(self, X):
        return -X


def test_adaptive_adversary_sees_through_what_the_naive_one_does_not(problem):
    outcome = play(problem, Shift(), model=TINY)
    assert outcome.identifiability > 0.85
    assert outcome.naive_adversary.score < 0.5
    assert outcome.naive_task.score < 0.6 < outcome.accuracy


def test_dropping_columns_leaves_naive_and_adaptive_the_same(problem):
    outcome = play(problem, ["both"], model=TINY)
    assert outcome.naive_adversary == outcome.adversary
    assert outcome.naive_task == outcome.task


def test_a_model_of_the_raw_data_cannot_read_components(problem):
    outcome = play(problem, PCA(2, random_state=0), model=TINY)
    assert outcome.naive_adversary is None
    assert outcome.n_features == 2
    assert np.isnan(outcome.to_series()["identifiability_naive"])


def test_strategy_learns_from_training_rows_only(problem):
    split = random_split(400, seed=0)
    outcome = play(problem, StandardScaler(), model=GaussianNB(), split=split)
    X, y = problem.features.to_numpy(), problem.task.to_numpy()
    scaler = StandardScaler().fit(X[split.train])
    oracle = GaussianNB().fit(scaler.transform(X[split.train]), y[split.train])
    assert outcome.accuracy == oracle.score(scaler.transform(X[split.test]), y[split.test])
    assert outcome.naive_adversary is not None


def test_judged_on_validation_or_test(problem):
    split = random_split(400, test=0.2, validation=0.2)
    on_validation = play(problem, ["both"], model=TINY, split=split, part="validation")
    two_ways = play(problem, ["both"], model=TINY, split=Split(split.train, split.validation))
    assert on_validation.task == two_ways.task
    assert on_validation.part == "validation"


def test_repeated_rounds(problem):
    splits = repeat(random_split, 400, times=4, seed=0)
    rounds = play_repeated(problem, ["both"], splits=splits, model=GaussianNB())
    summary = summarize(rounds)
    assert rounds["accuracy"][2] == play(problem, ["both"], split=splits[2], model=GaussianNB()).accuracy
    assert summary.loc["accuracy", "mean"] == pytest.approx(rounds["accuracy"].mean())
    assert summary.loc["accuracy", "low"] < summary.loc["accuracy", "mean"] < summary.loc["accuracy", "high"]
    # Student's t with 3 degrees of freedom, from a printed table
    half = 3.182 * rounds["accuracy"].std() / 2
    assert summary.loc["accuracy", "high"] - summary.loc["accuracy", "mean"] == pytest.approx(half, rel=1e-3)
    with pytest.raises(ValueError, match="no split"):
        play_repeated(problem, splits=[])


def test_same_seed_same_outcome(problem):
    assert play(problem, model=TINY, seed=5) == play(problem, model=TINY, seed=5)
    assert play(problem, model=TINY, seed=5).to_series().notna().all()


class Loses(Shift):
    def transform(self, X):
        return X.iloc[1:]


def test_bad_input(problem):
    with pytest.raises(KeyError, match="'speed'"):
        play(problem, ["task", "speed"])
    with pytest.raises(ValueError, match="no feature is released"):
        play(problem, [])
    with pytest.raises(TypeError, match="list of columns"):
        play(problem, "task")
    with pytest.raises(ValueError, match="must return 400 rows"):
        play(problem, Loses())
    with pytest.raises(ValueError, match="one class only"):
        play(Problem(problem.features, ["tv"] * 400, problem.users))
