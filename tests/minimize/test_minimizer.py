"""The paper's API and the estimator behind it: scikit-learn's contract, pipelines, and every bad input by name."""

import dataclasses
import re

import numpy as np
import pandas as pd
import pytest
import sklearn
from sklearn.ensemble import RandomForestClassifier
from sklearn.model_selection import GridSearchCV
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier
from sklearn.utils.estimator_checks import parametrize_with_checks

from sensorprivacy.game import play
from sensorprivacy.minimize.minimizer import FeatureMinimizer
from sensorprivacy.minimize.provider import feature_minimize
from sensorprivacy.minimize.search.exhaustive import SearchTooLongError, search_subsets
from sensorprivacy.minimize.search.job import TooManyFeaturesError
from sensorprivacy.minimize.search.results import ResultStoreError
from sensorprivacy.minimize.select import NoSubsetError
from sensorprivacy.minimize.settings import OWN, Preselection, SearchSettings

TINY = RandomForestClassifier(n_estimators=3)
PAPER = SearchSettings()


@pytest.fixture(scope="module")
def fitted(problem):
    minimizer = FeatureMinimizer(0.05, estimator=TINY, search=PAPER)
    return minimizer.fit(problem.features, problem.task, users=problem.users)


@pytest.mark.filterwarnings("ignore:no users given")
@parametrize_with_checks(
    [FeatureMinimizer(estimator=RandomForestClassifier(3), preselection=Preselection(max_rows=20), n_preselect=4)]
)
def test_scikit_learn_contract(estimator, check):
    check(estimator)


def test_the_api_of_section_3_2(problem):
    features = problem.features.set_index(pd.Index(range(1000, 1240)))
    minimized = feature_minimize(features, problem.task, problem.users, 0.05, estimator=TINY)
    assert isinstance(minimized, pd.DataFrame)
    assert {"task"} <= set(minimized.columns) <= {"task", "task2", "noise"}
    pd.testing.assert_frame_equal(minimized, features[list(minimized.columns)])
    learnt = minimized.attrs["feature_minimize"]
    assert learnt["kept"] == list(minimized.columns)
    assert sorted(learnt["kept"] + learnt["dropped"]) == sorted(features.columns)
    assert learnt["identifiability"] < learnt["all_identifiability"]
    minimized.to_json()


def test_everything_learned_is_reachable(problem):
    minimized, minimizer = feature_minimize(
        problem.features,
        problem.task,
        problem.users,
        0.05,
        estimator=TINY,
        return_minimizer=True,
        search=SearchSettings(lazy=False),
    )
    assert len(minimizer.results_) == 31
    assert list(minimizer.transform(problem.features).T.tolist()) == list(minimized.to_numpy().T.tolist())
    assert minimizer.scores_ is None
    assert minimizer.summary() == minimized.attrs["feature_minimize"]


def test_chosen_on_validation_rows_reported_on_test_rows(fitted, problem):
    searched = search_subsets(problem, model=TINY, split=fitted.split_, seed=42, lazy=0.05, progress=False)
    pd.testing.assert_frame_equal(fitted.results_, searched.table, check_exact=True)
    assert searched.key.part == "validation"
    pd.testing.assert_series_equal(fitted.chosen_, searched.select(0.05))
    expected = play(problem, list(fitted.chosen_["features"]), model=TINY, split=fitted.split_, part="test")
    assert (fitted.outcome_.task, fitted.outcome_.adversary) == (expected.task, expected.adversary)
    assert fitted.summary()["part_chosen_on"] == "validation"


def test_choosing_on_the_test_rows_as_the_paper_does(problem):
    minimizer = FeatureMinimizer(0.05, estimator=TINY, search=PAPER, validation_size=0, test_size=0.3)
    minimizer.fit(problem.features, problem.task, users=problem.users)
    assert minimizer.split_.validation is None
    assert minimizer.outcome_.accuracy == minimizer.chosen_["accuracy"]
    assert minimizer.outcome_.identifiability == minimizer.chosen_["identifiability"]


def test_two_stages(problem):
    minimizer = FeatureMinimizer(0.1, n_preselect=2, preselection=Preselection("gini"), estimator=TINY)
    minimizer.fit(problem.features, problem.task, users=problem.users)
    assert len(minimizer.preselected_) == 2
    assert len(minimizer.results_) == 3
    assert list(minimizer.scores_["feature"]) == list(problem.features.columns)
    assert "user" not in minimizer.preselected_


def test_definition_1_counts_from_all_features(problem):
    minimizer = FeatureMinimizer(0.1, estimator=TINY, search=SearchSettings(reference="all"))
    minimizer.fit(problem.features, problem.task, users=problem.users)
    full = play(problem, model=TINY, split=minimizer.split_, part="validation")
    assert minimizer.chosen_["accuracy"] >= 0.9 * full.accuracy - 1e-12


def test_the_defaults_are_those_of_the_command(problem):
    """All rows with scikit-learn took two minutes for six columns of 20,000 rows, and over an hour for others."""
    assert FeatureMinimizer()._settings is OWN
    draw = np.random.default_rng(0)
    task, users = draw.integers(0, 2, 9000), draw.integers(0, 4, 9000)
    table = pd.DataFrame({"load": task + draw.normal(0, 1, 9000), "voice": users + draw.normal(0, 1, 9000)})
    fitted = FeatureMinimizer(0.05, estimator=TINY).fit(table, task, users=users)
    assert len(fitted.search_split_.train) == OWN.max_rows < len(fitted.split_.train)
    assert fitted.outcome_.n_test == len(fitted.split_.test)


@pytest.mark.parametrize("model", [DecisionTreeClassifier(max_depth=3), RandomForestClassifier(3, max_depth=3)])
def test_models_that_the_shared_forest_cannot_train_are_trained_by_scikit_learn(problem, model):
    minimizer = FeatureMinimizer(0.05, estimator=model)
    assert minimizer._settings == dataclasses.replace(OWN, engine="sklearn")
    minimizer.fit(problem.features, problem.task, users=problem.users)
    assert minimizer.outcome_.model.startswith(type(model).__name__)


def test_groups_stay_on_one_side(problem):
    groups = np.repeat(np.arange(24), 10)
    minimizer = FeatureMinimizer(0.1, estimator=TINY)
    minimizer.fit(problem.features, problem.task, users=problem.users, groups=groups)
    parts = [set(groups[rows]) for rows in (minimizer.split_.train, minimizer.split_.validation, minimizer.split_.test)]
    assert sum(map(len, parts)) == 24


def test_set_output_and_names(fitted, problem):
    assert set(fitted.get_feature_names_out()) == set(fitted.chosen_["features"])
    assert fitted.get_support().sum() == fitted.chosen_["n_features"]
    minimizer = FeatureMinimizer(0.05, estimator=TINY, search=PAPER).set_output(transform="pandas")
    frame = minimizer.fit(problem.features, problem.task, users=problem.users).transform(problem.features)
    assert list(frame.columns) == list(fitted.get_feature_names_out())


def test_without_users_the_fewest_features_are_kept(problem):
    minimizer = FeatureMinimizer(0.02, estimator=TINY, search=PAPER)
    with pytest.warns(UserWarning, match="without an adversary the fewest features"):
        minimizer.fit(problem.features, problem.task)
    passing = minimizer.results_[minimizer.results_["accuracy"] >= 0.98 * minimizer.results_["accuracy"].max()]
    assert minimizer.chosen_["n_features"] == passing["n_features"].min()
    assert minimizer.summary()["identifiability"] is None


def test_pipeline_routes_users(problem):
    with sklearn.config_context(enable_metadata_routing=True):
        pipeline = Pipeline(
            [
                ("scale", StandardScaler()),
                ("minimize", FeatureMinimizer(0.05, estimator=TINY).set_fit_request(users=True)),
                ("classify", GaussianNB()),
            ]
        )
        pipeline.fit(problem.features, problem.task, users=problem.users)
    assert pipeline["minimize"].adversary_
    assert pipeline.score(problem.features, problem.task) > 0.8
    assert pipeline["classify"].n_features_in_ == pipeline["minimize"].support_.sum()


@pytest.mark.slow
def test_grid_search_over_the_threshold(problem):
    with sklearn.config_context(enable_metadata_routing=True):
        pipeline = Pipeline(
            [
                ("minimize", FeatureMinimizer(estimator=TINY).set_fit_request(users=True)),
                ("classify", GaussianNB()),
            ]
        )
        grid = GridSearchCV(pipeline, {"minimize__threshold": [0.05, 0.9]}, cv=2)
        grid.fit(problem.features, problem.task, users=problem.users)
    assert grid.best_params_ == {"minimize__threshold": 0.05}
    assert grid.best_estimator_["minimize"].adversary_


def test_settings_can_be_cloned_and_set():
    minimizer = FeatureMinimizer(search=SearchSettings(engine="shared"), preselection=Preselection("gini"))
    assert sklearn.clone(minimizer).search == minimizer.search
    minimizer.set_params(search=SearchSettings(margin=0.1), preselection=None)
    assert minimizer.get_params()["search"].margin == 0.1


@pytest.mark.slow
def test_resumes_from_its_result_store(problem, tmp_path):
    settings = {"estimator": TINY, "search": SearchSettings(result_store=tmp_path / "scores")}
    first, second = (
        FeatureMinimizer(0.05, **settings).fit(problem.features, problem.task, users=problem.users) for _ in "12"
    )
    pd.testing.assert_frame_equal(first.results_, second.results_, check_exact=True)
    with pytest.raises(ResultStoreError, match="made from other data"):
        FeatureMinimizer(0.05, **settings).fit(problem.features, 1 - problem.task, users=problem.users)


class TestBadInput:
    """One by one, as a provider would hit them."""

    def minimize(self, problem, threshold=0.05, features=None, task=None, users=None, **options):
        return feature_minimize(
            problem.features if features is None else features,
            problem.task if task is None else task,
            problem.users if users is None else users,
            threshold,
            **({"estimator": TINY} | options),
        )

    def spoilt(self, problem, column, row, value):
        features = problem.features.copy()
        features.loc[row, column] = value
        return features

    @pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
    def test_unfit_feature_is_named(self, problem, value):
        with pytest.raises(ValueError, match=r"'both' is missing or infinite in 1 of 240 rows \(first: row 7\)"):
            self.minimize(problem, features=self.spoilt(problem, "both", 7, value))

    def test_unfit_column_of_an_array_is_named(self, problem):
        X = self.spoilt(problem, "both", 7, np.nan).to_numpy()
        with pytest.raises(ValueError, match="feature 'x2' is missing or infinite"):
            FeatureMinimizer().fit(X, problem.task, users=problem.users)

    def test_user_with_one_row(self, problem):
        users = problem.users.astype(str)
        users[3] = "stranger"
        with pytest.raises(ValueError, match=r"users: 'stranger' with one row each.*rare='keep'"):
            self.minimize(problem, users=users)
        assert self.minimize(problem, users=users, rare="keep").shape[1] >= 1

    def test_class_with_one_row(self, problem):
        task = problem.task.copy()
        task[3] = 9
        with pytest.raises(ValueError, match="y: 9 with one row each"):
            self.minimize(problem, task=task)

    def test_one_class_only(self, problem):
        with pytest.raises(ValueError, match="y has only one class"):
            self.minimize(problem, task=np.zeros(240, dtype=int))
        with pytest.raises(ValueError, match="users has only one class"):
            self.minimize(problem, users=["ann"] * 240)

    def test_constant_feature_is_named(self, problem):
        features = problem.features.assign(room=3.0)
        with pytest.raises(ValueError, match=r"constant features carry no information: 'room'; .*constant='drop'"):
            self.minimize(problem, features=features)
        minimized, minimizer = self.minimize(problem, features=features, constant="drop", return_minimizer=True)
        assert "room" not in minimizer.preselected_
        assert "room" in minimized.attrs["feature_minimize"]["dropped"]
        with pytest.raises(ValueError, match="every feature is constant"):
            self.minimize(problem, features=features[["room"]], constant="drop")

    @pytest.mark.parametrize("word", ["task", "users"])
    def test_labels_of_unequal_length(self, problem, word):
        with pytest.raises(ValueError, match=r"239"):
            self.minimize(problem, **{word: getattr(problem, word)[:-1]})

    def test_too_many_features_without_preselection(self, problem):
        wide = pd.DataFrame(np.random.default_rng(0).normal(size=(240, 21))).add_prefix("f")
        with pytest.raises(TooManyFeaturesError, match=r"21 features .* preselected with"):
            self.minimize(problem, features=wide, n_preselect=None)

    @pytest.mark.parametrize("threshold", [-0.1, 1.1, np.nan, None])
    def test_threshold_outside_0_1(self, problem, threshold):
        with pytest.raises(ValueError, match="threshold="):
            self.minimize(problem, threshold)

    def test_no_subset_meets_the_threshold(self, problem):
        # greedy by identifiability keeps noise alone, which cannot keep the accuracy of all features
        greedy = Preselection("gini", by="identifiability")
        options = {"n_preselect": 1, "preselection": greedy, "search": SearchSettings(reference="all")}
        poor = problem.features.drop(columns=["task", "task2"])
        poor["sum"] = problem.task * 4 + problem.users
        with pytest.raises(NoSubsetError, match="no subset keeps an accuracy of"):
            self.minimize(problem, 0.0, features=poor, **options)
        options["search"] = SearchSettings(reference="all", more=True)
        kept = self.minimize(problem, 0.0, features=poor, **options).attrs["feature_minimize"]["kept"]
        assert "sum" in kept

    def test_unknown_words(self, problem):
        for options, message in (
            ({"preselection": Preselection("lime"), "n_preselect": 2}, "unknown score 'lime'"),
            ({"preselection": Preselection(by="luck"), "n_preselect": 2}, "unknown order 'luck'"),
            ({"preselection": Preselection(variant="mine"), "n_preselect": 2}, "unknown variant 'mine'"),
            ({"search": SearchSettings(reference="mean")}, "unknown reference 'mean'"),
            ({"search": SearchSettings(engine="cuda")}, "unknown engine 'cuda'"),
            ({"rare": "ok"}, "rare='ok'"),
            ({"constant": "ok"}, "constant='ok'"),
        ):
            with pytest.raises(ValueError, match=re.escape(message)):
                self.minimize(problem, **options)

    def test_long_search_needs_permission(self, problem, monkeypatch):
        """The error named allow_long=True, which raised a TypeError."""
        monkeypatch.setattr("sensorprivacy.minimize.search.exhaustive.HOUR", 0.0)
        with pytest.raises(SearchTooLongError) as refused:
            self.minimize(problem)
        remedies = re.findall(r"(\w+)=(\w+)", str(refused.value))
        assert remedies == [("allow_long", "True")]
        assert self.minimize(problem, **{name: value == "True" for name, value in remedies}).shape[1] >= 1
        assert "(n_preselect)" in str(refused.value)
        assert self.minimize(problem, n_preselect=2, preselection=Preselection("gini")).shape[1] >= 1

    def test_words_instead_of_numbers(self, problem):
        features = problem.features.assign(place="kitchen").to_numpy()
        with pytest.raises(ValueError, match="kitchen"):
            FeatureMinimizer().fit(features, problem.task, users=problem.users)

    def test_no_data_frame_and_no_users(self, problem):
        with pytest.raises(TypeError, match="must be a pandas, polars or Arrow table"):
            self.minimize(problem, features=problem.features.to_numpy())
        with pytest.raises(ValueError, match="user_labels is None"):
            feature_minimize(problem.features, problem.task, None, 0.1)


def test_problem_stays_as_it_was(problem):
    copy = dataclasses.replace(problem, features=problem.features.copy())
    feature_minimize(copy.features, copy.task, copy.users, 0.05, estimator=TINY)
    assert copy.digest == problem.digest


def test_a_race_chooses_by_the_minimizers_own_rule(problem):
    """With a reference and a margin of one standard error, as for own tables."""
    rule = {"lazy": False, "reference": "all", "margin": "standard error", "slack": True}
    forest, search = RandomForestClassifier(8), SearchSettings("shared", race=True, **rule)
    fitted = FeatureMinimizer(0.05, estimator=forest, search=search).fit(problem.features, problem.task, problem.users)
    whole = search_subsets(
        problem, model=forest, split=fitted.split_, part="validation", engine="shared", progress=False
    )
    assert fitted.race_.finished + fitted.race_.dropped == 31
    assert fitted.chosen_["features"] == whole.select(0.05, **fitted.rule_)["features"]
