"""Races: survivors equal the exhaustive search, and what is dropped could not have been chosen."""

import sqlite3
from contextlib import closing

import numpy as np
import pandas as pd
import pytest
from joblib import parallel_config
from sklearn.datasets import load_wine
from sklearn.ensemble import RandomForestClassifier

from sensorprivacy.data import Problem
from sensorprivacy.game import random_split
from sensorprivacy.minimize.engine_protocol import engine_data
from sensorprivacy.minimize.engines import NoAdversary
from sensorprivacy.minimize.forest.engine import SharedEngine
from sensorprivacy.minimize.search import bounds, racing
from sensorprivacy.minimize.search.bounds import Scores, predict, sample_of_sizes
from sensorprivacy.minimize.search.exhaustive import search_subsets
from sensorprivacy.minimize.search.racing import can_race
from sensorprivacy.minimize.select import THRESHOLDS, Rule, select

RACE = {"engine": "shared", "model": RandomForestClassifier(16), "race": True, "progress": False}
WHOLE = RACE | {"race": False}
SCORES = ["accuracy", "identifiability"]


@pytest.fixture(scope="module")
def wine():
    X, y = load_wine(return_X_y=True, as_frame=True)
    users = pd.qcut(X["alcohol"].rank(method="first"), 8, labels=False)
    return Problem(X.iloc[:, [1, 3, 4, 6, 9, 11, 12]], y, users, name="wine")


@pytest.fixture(scope="module")
def whole(wine):
    return search_subsets(wine, **WHOLE).table


@pytest.fixture(scope="module", autouse=True)
def _few():
    """Let races learn from few subsets, so that a small problem has some to drop."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(bounds, "_SAMPLE", 6)
        yield


@pytest.fixture(scope="module")
def raced(wine, _few):
    return search_subsets(wine, **RACE)


def test_the_first_trees_are_those_of_the_whole_forest(wine):
    data = engine_data(wine, random_split(wine.n_records, seed=0))
    small, large = (SharedEngine(data, RandomForestClassifier(trees), 3) for trees in (5, 40))
    subsets = [(0,), (1, 4), (0, 2, 3, 6)]
    for label in ("task", "users"):
        shown = large.glimpse(subsets, label, 5)
        assert [glimpse.accuracy for glimpse in shown] == small.score(subsets, label)
        assert [glimpse.accuracy for glimpse in large.glimpse(subsets, label, 40)] == large.score(subsets, label)
        assert all(0 <= glimpse.agreement <= glimpse.confidence <= 1 for glimpse in shown)


def test_one_tree_agrees_with_itself(wine):
    """Without a bootstrap, every leaf of a tree has one class, and the vote is the prediction."""
    data = engine_data(wine, random_split(wine.n_records, seed=0))
    engine = SharedEngine(data, RandomForestClassifier(10, bootstrap=False), 0)
    (glimpse,) = engine.glimpse([(1, 2, 3)], "task", 1)
    assert glimpse == (glimpse.accuracy, glimpse.accuracy, 1.0)


def test_survivors_have_the_scores_of_the_exhaustive_search(raced, whole):
    kept = ~raced.table["dropped"]
    assert 0 < kept.sum() < len(whole)
    pd.testing.assert_frame_equal(raced.table.loc[kept, SCORES], whole.loc[kept, SCORES], check_exact=True)
    assert raced.table.loc[~kept, SCORES].isna().all(axis=None)
    assert raced.table[["features", "n_features"]].equals(whole[["features", "n_features"]])


def test_a_race_says_how_many_trees_it_grew(raced):
    table = raced.table
    assert (raced.race.finished, raced.race.dropped) == ((~table["dropped"]).sum(), table["dropped"].sum())
    looked, done = raced.race.grown["task"]
    assert raced.race.finished <= done <= looked < 127
    assert raced.race.share("task") == (looked * 4 + done * 16) / (127 * 16)


def test_the_choices_are_those_of_the_exhaustive_search(raced, wine, whole):
    """Where they are not, the choice of a race is no worse than that of another seed, by the exhaustive scores."""
    other = search_subsets(wine, **WHOLE, seed=1).table
    by_name = whole.set_index("features")
    for level in THRESHOLDS:
        ours, best, reseeded = (select(frame, level) for frame in (raced.table, whole, other))
        loss = by_name.loc[[ours["features"]], "identifiability"].iloc[0] - best["identifiability"]
        noise = abs(by_name.loc[[reseeded["features"]], "identifiability"].iloc[0] - best["identifiability"])
        assert ours["features"] == best["features"] or loss <= noise


@pytest.mark.first(1)
@pytest.mark.parametrize("n_threads", [1, 3])
def test_batches_and_threads_do_not_change_a_race(wine, raced, n_threads):
    split = random_split(wine.n_records, seed=42)
    engine = SharedEngine(engine_data(wine, split), RandomForestClassifier(16), 42, n_threads=n_threads)
    again = search_subsets(wine, engine=engine, split=split, race=True, batch_size=7, progress=False)
    pd.testing.assert_frame_equal(again.table, raced.table, check_exact=True)
    assert again.race == raced.race


def test_workers_do_not_change_a_race(wine, raced):
    with parallel_config(backend="threading", n_jobs=2):
        again = search_subsets(wine, **RACE)
    pd.testing.assert_frame_equal(again.table, raced.table, check_exact=True)


@pytest.mark.parametrize("calls", [1, 9, 30])
def test_killed_and_resumed_gives_the_same_race(wine, raced, tmp_path, monkeypatch, calls):
    left = iter(range(calls))

    def dying(whole):
        def dies(*args):
            if next(left, None) is None:
                raise KeyboardInterrupt
            return whole(*args)

        return dies

    path = tmp_path / "scores.sqlite"
    with monkeypatch.context() as patch:
        for name in ("score", "glimpse"):
            patch.setattr(SharedEngine, name, dying(getattr(SharedEngine, name)))
        with pytest.raises(KeyboardInterrupt):
            search_subsets(wine, **RACE, result_store=path, batch_size=8)
    resumed = search_subsets(wine, **RACE, result_store=path)
    pd.testing.assert_frame_equal(resumed.table, raced.table, check_exact=True)


def test_a_finished_race_trains_nothing_again(wine, raced, tmp_path, monkeypatch):
    path = tmp_path / "scores.sqlite"
    search_subsets(wine, **RACE, result_store=path)
    for name in ("score", "glimpse"):
        monkeypatch.setattr(SharedEngine, name, lambda *_: pytest.fail("trained again"))
    monkeypatch.setattr("sensorprivacy.minimize.search.job._WORTH_ESTIMATING", 1000)
    again = search_subsets(wine, **RACE, result_store=path)
    pd.testing.assert_frame_equal(again.table, raced.table, check_exact=True)


def test_partial_scores_are_never_mixed_with_finished_ones(wine, raced, whole, tmp_path):
    path = tmp_path / "scores.sqlite"
    search_subsets(wine, **RACE, result_store=path)
    with closing(sqlite3.connect(path)) as base:
        looked = base.execute("SELECT label, trees, count(*) FROM glimpses GROUP BY 1, 2").fetchall()
    assert looked == [(label, 4, raced.race.grown[label][0]) for label in ("task", "users")]
    pd.testing.assert_frame_equal(search_subsets(wine, **WHOLE, result_store=path).table, whole, check_exact=True)
    # and a race does not depend on what an exhaustive search has stored
    pd.testing.assert_frame_equal(search_subsets(wine, **RACE, result_store=path).table, raced.table, check_exact=True)


def test_a_lazy_race_serves_its_threshold_and_attacks_fewer_subsets(wine, raced):
    lazy = search_subsets(wine, **RACE, lazy=0.03)
    full = search_subsets(wine, **WHOLE, lazy=0.03)
    assert lazy.select_table().index.tolist() == [0.0, 0.01, 0.03]
    assert lazy.select_table()["accuracy"].iloc[0] == full.select_table()["accuracy"].iloc[0]
    assert lazy.race.share("users") < raced.race.share("users")


def test_a_race_without_users_keeps_the_fewest_features(wine):
    split = random_split(wine.n_records, seed=42)
    engine = NoAdversary(SharedEngine(engine_data(wine, split), RandomForestClassifier(16), 42), 7)
    found, full = (search_subsets(wine, engine=engine, split=split, race=way, progress=False) for way in (True, False))
    assert found.select(0.1)["features"] == full.select(0.1)["features"]


@pytest.mark.parametrize(
    "rule",
    [
        {"reference": 0.9, "margin": "standard error", "slack": True, "rows": 54, "chance": 0.2},
        {"margin": 0.05},
    ],
)
def test_a_race_serves_other_rules_of_choice(wine, whole, rule):
    found = search_subsets(wine, **RACE, rule={"threshold": 0.2} | rule).table
    for level in (0.1, 0.2, 0.3):
        chosen, best = select(found, level, **rule), select(whole, level, **rule)
        assert chosen["n_features"] <= best["n_features"] + 1


# --- what decides


@pytest.mark.parametrize("model", [{"engine": "sklearn"}, {"model": RandomForestClassifier(7)}])
def test_a_race_needs_the_shared_forest_and_some_trees(wine, model):
    with pytest.raises(ValueError, match="race=True needs engine='shared' and at least 8 trees"):
        search_subsets(wine, **RACE | model)
    assert search_subsets(wine, ["magnesium", "proline"], **RACE | model | {"race": None}).race is None


@pytest.mark.parametrize(("long", "fewest", "races"), [(1e3, 3, True), (1e12, 3, False), (1e3, 4, False)])
def test_by_default_only_long_searches_race(wine, monkeypatch, long, fewest, races):
    monkeypatch.setattr(racing, "LONG", long)
    monkeypatch.setattr(racing, "FEATURES", fewest)
    assert (
        search_subsets(wine, ["malic_acid", "magnesium", "proline"], **RACE | {"race": None}).race is not None
    ) == races


def test_fifteen_features_of_many_rows_are_long():
    engine = type("Engine", (), {"n_trees": 100, "glimpse": None})()
    assert can_race(engine)
    assert racing.work(10, engine, 14_000) < racing.LONG < racing.work(15, engine, 14_000)
    assert not can_race(object())


def test_the_expected_share_falls_with_the_number_of_features():
    shares = [racing.expected_share(k, 100) for k in range(11, 21)]
    assert 1 > shares[0] > shares[-1] > 0.001
    assert (np.diff(shares) < 0).all()
    assert racing.expected_share(5, 100) == 1  # such a race learns from nearly all


def lattice(k, seed):
    """Accuracies as a forest might have, and what its first trees show of them."""
    rng = np.random.default_rng(seed)
    at = np.arange(2**k)
    has = (at[:, None] >> np.arange(k)) & 1
    true = 1 - np.prod(1 - has * rng.uniform(0, 0.3, k), axis=1)
    shown = [true * (0.9 - 0.2 / trees) + rng.normal(0, 0.02 / np.sqrt(trees), len(at)) for trees in (4, 12, 36)]
    return true, np.stack([np.stack([s, 0.8 * s, 0.5 + s / 2], axis=1) for s in shown])


def test_bounds_hold_for_subsets_that_nothing_was_learnt_from():
    k = 10
    true, shown = lattice(k, 0)
    scores = Scores(k, 5000, (4, 12, 36))
    sample = sample_of_sizes(k)
    scores.glimpses[:, sample] = shown[:, sample]
    widths = []
    for stage in range(3):
        scores.glimpses[stage, 1:] = shown[stage, 1:]
        scores.exact[sample] = true[sample]
        scores.learn(sample)
        low, _, high = scores.bounds()
        open_ = np.setdiff1d(np.arange(1, 2**k), sample)
        assert np.mean((true < low) | (true > high), where=np.isin(np.arange(2**k), open_)) < 0.01
        np.testing.assert_array_equal(high[sample], true[sample])
        widths.append(np.mean((high - low)[open_]))
    assert widths[0] > widths[2]


def test_bounds_are_open_while_little_is_known():
    scores = Scores(3, 100, (4,))
    scores.glimpses[0, 1:] = 0.5
    low, _, high = scores.bounds()
    assert (low[1:] == 0).all()
    assert (high[1:] == 1).all()
    assert predict(np.ones((5, 2)), np.full(5, np.nan), 0.01) is None


def test_a_prediction_is_least_squares():
    rng = np.random.default_rng(0)
    shown = rng.normal(size=(300, 2))
    exact = 0.3 + shown @ [0.1, -0.2] + rng.normal(0, 0.05, 300)
    value, error = predict(np.column_stack([shown, np.ones(300)]), np.where(np.arange(300) < 200, exact, np.nan), 0.0)
    wanted = np.linalg.lstsq(np.column_stack([np.ones(200), shown[:200]]), exact[:200], rcond=None)[0]
    np.testing.assert_allclose(value, np.column_stack([np.ones(300), shown]) @ wanted)
    assert 0.04 < error.mean() < 0.06


def test_a_rule_is_that_of_select():
    assert Rule().least(0.5, 0.1) == pytest.approx(0.45)
    assert Rule(reference=1.0).least(0.5, 0.1) == pytest.approx(0.9)
    assert Rule(margin=0.1, chance=0.3).near(0.2) == pytest.approx(0.4)
