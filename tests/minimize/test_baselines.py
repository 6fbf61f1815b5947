"""The twelve methods behind one call."""

import numpy as np
import pandas as pd
import pytest
from sklearn.decomposition import PCA
from sklearn.ensemble import RandomForestClassifier
from sklearn.preprocessing import StandardScaler

from sensorprivacy.data import Problem
from sensorprivacy.game import Undefined, default_split, play, random_split, relative_effectiveness
from sensorprivacy.minimize import baselines, comparison
from sensorprivacy.minimize.baselines import METHODS, rank_methods, settings, sweep
from sensorprivacy.minimize.comparison import compare_methods, holm
from sensorprivacy.minimize.engine_protocol import engine_data
from sensorprivacy.minimize.greedy import rank_features
from sensorprivacy.minimize.rewrites import LaplaceNoise
from sensorprivacy.minimize.scores import score_features, score_rows

FAST = {"model": RandomForestClassifier(n_estimators=5), "progress": False}
SMALL = {"forest": RandomForestClassifier(n_estimators=5), "max_rows": 40, "max_depth": 4}


@pytest.mark.parametrize("method", METHODS)
def test_one_call_for_every_method(problem, method):
    split, kind = default_split(problem), METHODS[method].score
    scores = score_rows(problem, split.train, kind, **SMALL) if kind in ("shap", "gini") else None
    table = sweep(problem, method, split=split, scores=scores, epsilons=[0.1, 10], sizes=[2, 4], **FAST)
    assert list(table["method"].unique()) == [method]
    assert ((table[["accuracy", "identifiability"]] >= 0) & (table[["accuracy", "identifiability"]] <= 1)).all(
        axis=None
    )
    assert (table["accuracy_low"] <= table["accuracy"]).all()
    assert (table["identifiability"] <= table["identifiability_high"]).all()
    if method.startswith("dp"):
        assert list(table["epsilon"]) == [0.1, 10]
        assert set(table["n_features"]) == {5}
    else:
        assert list(table["n_features"]) == [4, 2]
    assert table.attrs["n_test"] == 72


def test_there_are_twelve():
    assert {int(method.number) for method in METHODS.values()} == set(range(1, 13))


def test_kept_features_are_played_as_the_game_plays_them(problem):
    split = random_split(240, seed=5)
    table = sweep(problem, "utility", split=split, seed=5, **FAST)
    assert list(table["n_features"]) == [4, 3, 2, 1]
    learnt = split.train
    scores = score_features(
        problem.features.iloc[learnt], problem.task[learnt], problem.users[learnt], "information", seed=5
    )
    for row in table.itertuples():
        assert row.features == tuple(rank_features(scores, "utility")[: row.n_features])
        columns = sorted(row.features, key=list(problem.features).index)
        outcome = play(problem, columns, model=FAST["model"], split=split, seed=5)
        assert (row.accuracy, row.identifiability) == (outcome.accuracy, outcome.identifiability)
        assert (row.accuracy_low, row.accuracy_high) == (outcome.task.low, outcome.task.high)


def test_base_is_the_game_on_all_features(problem):
    table = sweep(problem, "privacy", **FAST)
    outcome = play(problem, model=FAST["model"])
    base = table.attrs["base"]
    assert (base["accuracy"], base["identifiability"]) == (outcome.accuracy, outcome.identifiability)
    rows = random_split(240).test
    majority = problem.task.iloc[random_split(240).train].mode()[0]
    assert base["accuracy_chance"] == (problem.task.iloc[rows] == majority).mean()
    for row in table.itertuples():
        assert row.relative_effectiveness == relative_effectiveness(
            row.accuracy, row.identifiability, outcome.accuracy, outcome.identifiability, decimals=4
        )


def test_variant_of_the_authors_keeps_what_the_text_drops(problem):
    text = sweep(problem, "privacy", sizes=[2], **FAST)["features"][0]
    theirs = sweep(problem, "privacy", sizes=[2], variant="authors", **FAST)["features"][0]
    assert set(text) != set(theirs)


@pytest.mark.parametrize("variant", ["paper", "authors"])
def test_components_fitted_to_training_rows_or_to_both_parts(problem, variant):
    split = random_split(240, seed=42)
    train, test = (problem.features.iloc[rows].to_numpy() for rows in (split.train, split.test))
    scaler = StandardScaler().fit(train)
    components = PCA(2, random_state=42).fit(scaler.transform(train))
    learnt = components.transform(scaler.transform(train))
    if variant == "authors":
        scaler = StandardScaler().fit(test)
        components = PCA(2, random_state=42).fit(scaler.transform(test))
    judged = components.transform(scaler.transform(test))
    oracle = RandomForestClassifier(5, random_state=42).fit(learnt, problem.task.iloc[split.train])
    table = sweep(problem, "pca", sizes=[2], split=split, variant=variant, **FAST)
    assert table["accuracy"][0] == oracle.score(judged, problem.task.iloc[split.test])


def test_noise_on_training_and_held_out_rows(problem):
    split = random_split(240, seed=42)
    step = LaplaceNoise(1.0, seed=42).fit(problem.features)
    learnt, judged = (step.transform(problem.features.iloc[rows]) for rows in (split.train, split.test))
    oracle = RandomForestClassifier(5, random_state=42).fit(learnt, problem.users.iloc[split.train])
    table = sweep(problem, "dp_printed", epsilons=[1.0], split=split, **FAST)
    assert table["identifiability"][0] == oracle.score(judged, problem.users.iloc[split.test])


def test_more_noise_hides_more(problem):
    table = sweep(problem, "dp_sound", epsilons=[0.01, 1e4], **FAST)
    assert table["identifiability"][0] < 0.5 < table["identifiability"][1]


def test_sizes_as_the_authors_swept():
    def sizes(method, d, dataset=""):
        return list(settings(method, d, dataset=dataset)["n_features"])

    assert sizes("utility", 135) == list(range(134, 0, -1))
    assert sizes("hashing", 22, "iot-sentinel") == list(range(3, 20))
    assert sizes("hashing", 36, "amir-netml") == list(range(1, 36))
    assert sizes("hashing", 135, "opportunity") == list(range(3, 51))
    assert sizes("pca", 135, "opportunity") == list(range(3, 20))
    assert sizes("sparse_pca", 36, "amir-netml") == list(range(3, 36))
    assert sizes("pca", 9) == list(range(3, 10))
    assert sizes("shap_ratio", 135)[:5] == [5, 7, 10, 13, 14]
    assert sizes("gini_utility", 135) == [1, 2, 5, 14, 41, 135]
    assert list(settings("dp_sound", 9)["epsilon"]) == [0.001, 0.003, 0.01, 0.03, 0.1, 0.3, 1, 3, 10]
    assert sizes("utility", 1) == [1]


def test_few_settings_are_spread_over_all_of_them():
    assert list(settings("utility", 135, most=4)["n_features"]) == [134, 90, 45, 1]
    assert list(settings("dp_sound", 9, most=3)["epsilon"]) == [0.001, 0.1, 10]
    assert len(settings("pca", 9, most=50)) == 7
    with pytest.raises(ValueError, match="most=0"):
        settings("pca", 9, most=0)


def test_workers_change_nothing(problem):
    alone = sweep(problem, "hashing", sizes=[3, 4], **FAST)
    pd.testing.assert_frame_equal(sweep(problem, "hashing", sizes=[3, 4], n_jobs=2, **FAST), alone)


def fake(method, *rows, base=(0.9, 0.8)):
    table = pd.DataFrame(rows, columns=["accuracy", "identifiability"])
    values = [relative_effectiveness(*row, *base) for row in rows]
    table = table.assign(method=method, n_features=range(len(rows), 0, -1), epsilon=np.nan)
    table["relative_effectiveness"] = pd.Series(values, dtype=object)
    table.attrs["base"] = dict(zip(("accuracy", "identifiability"), base, strict=True))
    return table


def test_an_interrupted_sweep_goes_on_from_the_settings_that_it_kept(problem, monkeypatch, tmp_path):
    played, play_setting, stop = [], baselines._play, [2]

    def counted(*task):
        if len(played) == stop[0]:
            raise KeyboardInterrupt
        played.append(tuple(task[1]))
        return play_setting(*task)

    monkeypatch.setattr(baselines, "_play", counted)
    options = {**FAST, "split": random_split(240, seed=5), "seed": 5}
    with pytest.raises(KeyboardInterrupt):
        sweep(problem, "utility", kept=tmp_path, **options)
    (file,) = tmp_path.iterdir()
    assert len(file.read_text().splitlines()) == 2
    file.write_text(file.read_text() + '{"accuracy": 0.')  # killed while it wrote a line
    stop[0] = -1
    again = sweep(problem, "utility", kept=tmp_path, **options)
    assert len(played) == 5  # all features and four sizes, each once
    pd.testing.assert_frame_equal(again, sweep(problem, "utility", **options), check_exact=True)
    for other in ({"seed": 6}, {"part": "test", "sizes": [2]}, {"split": random_split(240, seed=6)}):
        sweep(problem, "utility", kept=tmp_path, **options | other)
    assert len(list(tmp_path.iterdir())) == 4, "another seed, size or split is another sweep"


def test_rank_by_highest_relative_effectiveness():
    ranked = rank_methods(
        [
            fake("pca", (0.8, 0.75), (0.7, 0.1)),
            fake("utility", (0.89, 0.6), (0.95, 0.7), (0.9, 0.7)),
            # accuracy and identifiability both rose: a positive ratio that is no achievement
            fake("hashing", (0.91, 0.99)),
        ]
    )
    assert list(ranked.index) == ["utility", "pca", "hashing"]
    assert ranked.loc["utility", "relative_effectiveness"] == pytest.approx(np.log(20))
    assert ranked.loc["utility", "dominating"] == 1
    assert np.isnan(ranked.loc["hashing", "relative_effectiveness"])
    assert ranked.loc["pca", "n_features"] == 1
    assert fake("x", (0.95, 0.7))["relative_effectiveness"][0] is Undefined.DOMINATES


def test_bad_input(problem):
    with pytest.raises(ValueError, match="unknown method 'lasso': choose from hashing, pca"):
        sweep(problem, "lasso")
    with pytest.raises(ValueError, match="unknown variant 'mine'"):
        sweep(problem, "pca", variant="mine")
    with pytest.raises(ValueError, match=r"sizes=\[6\]: give at least one, from 1 to 5"):
        sweep(problem, "utility", sizes=[6])
    with pytest.raises(ValueError, match=r"sizes=\[0\]"):
        sweep(problem, "hashing", sizes=[0])
    with pytest.raises(ValueError, match="epsilons="):
        sweep(problem, "dp_sound", epsilons=[1, 0])


@pytest.fixture
def recorded(problem):
    """Return the problem in 24 recordings of ten rows, each of one user."""
    groups = np.arange(240) // 10
    users = groups % 4
    features = problem.features.assign(user=users + np.random.default_rng(0).normal(0, 0.5, 240))
    return Problem(features, problem.task, users, groups, name="recorded")


def test_methods_never_see_a_recording_on_both_sides(recorded, monkeypatch):
    """REVIEW A4: the twelve methods never received the groups."""
    seen = []
    monkeypatch.setattr(baselines, "engine_data", lambda *given: seen.append(given[1]) or engine_data(*given))
    table = sweep(recorded, "utility", **FAST)
    groups = recorded.groups
    assert not set(groups.iloc[seen[0].train]) & set(groups.iloc[seen[0].test])
    assert table["n"].str.fullmatch(r"n = \d groups").all()


def test_several_methods_share_their_scores(recorded, monkeypatch):
    kinds = []
    monkeypatch.setattr(
        comparison, "score_rows", lambda *given, **how: kinds.append(given[2]) or score_rows(*given, **how)
    )
    split = default_split(recorded)
    found = comparison.sweep_methods(recorded, ["utility", "privacy", "gini_ratio"], split=split, **FAST)
    assert kinds == ["information", "gini"]
    pd.testing.assert_frame_equal(found["privacy"], sweep(recorded, "privacy", split=split, **FAST))


def test_paired_tests_find_a_real_difference_and_no_other(recorded):
    split = default_split(recorded, test=0.5)
    first = sweep(recorded, "utility", split=split, **FAST)
    assert not compare_methods(recorded, {"utility": first}, split=split, model=FAST["model"])["differs"].any()
    rows = {"utility": ["noise", "task"], "privacy": ["user", "noise"]}
    sweeps = {
        method: first.iloc[:1].assign(method=method, features=[tuple(names)], accuracy=0.1, relative_effectiveness=r)
        for (method, names), r in zip(rows.items(), (2.0, 1.0), strict=True)
    }
    for table in sweeps.values():
        table.attrs["base"] = {"accuracy": 1.0}
    found = compare_methods(recorded, sweeps, split=split, model=FAST["model"])
    assert list(found.index) == ["utility", "privacy"]
    assert found.loc["privacy", "identifiability"] > 0.3
    assert found.loc["privacy", "identifiability_p"] < 0.01
    assert found.loc["privacy", "differs"]
    assert found.loc["utility", "n"] == "n = 12 groups"


def test_holms_correction_by_hand():
    np.testing.assert_allclose(holm(np.array([0.04, 0.01, 0.03, 0.2])), [0.09, 0.04, 0.09, 0.2])
