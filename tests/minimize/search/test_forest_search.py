"""Searches with the shared forest, and the order and pruning of the lattice, against plain enumeration."""

import itertools
import pickle
import sqlite3
import time
from contextlib import closing

import numpy as np
import pandas as pd
import pytest
from joblib import parallel_config
from sklearn.datasets import load_wine
from sklearn.ensemble import RandomForestClassifier
from sklearn.naive_bayes import GaussianNB

from sensorprivacy.data import Problem
from sensorprivacy.game import random_split
from sensorprivacy.minimize.engine_protocol import engine_data
from sensorprivacy.minimize.forest.engine import SharedEngine
from sensorprivacy.minimize.search.exhaustive import search_subsets
from sensorprivacy.minimize.search.order import SLACK
from sensorprivacy.minimize.search.subsets import supersets

QUIET = {"progress": False}
SHARED = {"engine": "shared", "model": RandomForestClassifier(6), **QUIET}


@pytest.fixture(scope="module")
def wine():
    X, y = load_wine(return_X_y=True, as_frame=True)
    users = pd.qcut(X["alcohol"].rank(method="first"), 8, labels=False)
    return Problem(X.iloc[:, [1, 3, 4, 6, 9, 11, 12]], y, users, name="wine")


class Recorded:
    """An engine whose numbers come from a table and which records what it was asked."""

    name, model, threads = "recorded", "a table", False

    def __init__(self, task, users):
        self.numbers, self.asked = {"task": task, "users": users}, []

    def score(self, subsets, label):
        self.asked += [(label, subset) for subset in subsets]
        return [self.numbers[label][subset] for subset in subsets]


def shared_table(problem, **options):
    return search_subsets(problem, **(SHARED | options)).table


def test_a_search_is_the_engine_asked_for_every_subset(wine):
    split = random_split(wine.n_records, seed=42)
    engine = SharedEngine(engine_data(wine, split), RandomForestClassifier(6), 42)
    table = shared_table(wine, split=split)
    positions = [tuple(list(wine.features).index(name) for name in names) for names in table["features"]]
    assert len(positions) == 127
    assert table["accuracy"].tolist() == engine.score(positions, "task")
    assert table["identifiability"].tolist() == engine.score(positions, "users")


@pytest.mark.parametrize("n_threads", [1, 2, 5])
def test_threads_give_the_same_table(wine, n_threads):
    split = random_split(wine.n_records, seed=42)
    engine = SharedEngine(engine_data(wine, split), RandomForestClassifier(6), 42, n_threads=n_threads)
    threaded = search_subsets(wine, engine=engine, split=split, **QUIET).table
    pd.testing.assert_frame_equal(threaded, shared_table(wine), check_exact=True)


@pytest.mark.parametrize("backend", ["loky", "threading"])
def test_backends_give_the_same_table(wine, backend):
    with parallel_config(backend=backend, n_jobs=2):
        together = shared_table(wine, batch_size=5)
    pd.testing.assert_frame_equal(together, shared_table(wine), check_exact=True)


def test_dask_gives_the_same_table(wine):
    distributed = pytest.importorskip("distributed", reason="dask runs on clusters; install dask[distributed] to test")
    cluster = distributed.LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None)
    with cluster, distributed.Client(cluster), parallel_config(backend="dask"):
        together = shared_table(wine, batch_size=9)
    pd.testing.assert_frame_equal(together, shared_table(wine), check_exact=True)


def test_killed_and_resumed_gives_the_same_table(wine, tmp_path, monkeypatch):
    path = tmp_path / "scores.sqlite"
    whole = SharedEngine.score
    left = iter(range(7))

    def dies(self, subsets, label):
        if next(left, None) is None:
            raise KeyboardInterrupt
        return whole(self, subsets, label)

    with monkeypatch.context() as patch:
        patch.setattr(SharedEngine, "score", dies)
        with pytest.raises(KeyboardInterrupt):
            search_subsets(wine, **SHARED, result_store=path, batch_size=8)
    resumed = search_subsets(wine, **SHARED, result_store=path)
    assert 0 < resumed.found < 254
    assert resumed.key.engine == "shared"
    pd.testing.assert_frame_equal(resumed.table, shared_table(wine), check_exact=True)


KILLED = """
import pickle, sys
from sklearn.ensemble import RandomForestClassifier
from sensorprivacy.minimize.search.exhaustive import search_subsets
with open(sys.argv[1], "rb") as file:
    wine = pickle.load(file)
forest = RandomForestClassifier(200)
search_subsets(wine, engine="shared", model=forest, result_store=sys.argv[2], batch_size=2, progress=False)
"""


def test_kill_9_and_resumed_gives_the_same_table(wine, tmp_path, start_warm):
    path = tmp_path / "scores.sqlite"
    (tmp_path / "wine.pkl").write_bytes(pickle.dumps(wine))
    run = start_warm(KILLED, tmp_path / "wine.pkl", path)
    until = time.monotonic() + 120
    while scores_in(path) < 20 and run.exitcode is None and time.monotonic() < until:
        time.sleep(0.01)
    run.kill()
    run.join(60)
    known = scores_in(path)
    assert 20 <= known < 254, "the kill came before any score, or after all"
    options = SHARED | {"model": RandomForestClassifier(200)}
    resumed = search_subsets(wine, **options, result_store=path)
    assert (resumed.found, resumed.trained) == (known, 254 - known)
    pd.testing.assert_frame_equal(resumed.table, search_subsets(wine, **options).table, check_exact=True)


def scores_in(path):
    if not path.exists():
        return 0
    with closing(sqlite3.connect(path, timeout=60)) as base:
        try:
            return base.execute("SELECT count(*) FROM scores").fetchone()[0]
        except sqlite3.OperationalError:  # its tables are not made yet
            return 0


# --- order and pruning


def lattice(seed, k=6, bumps=0.0):
    """Accuracies that grow with the features that tell something, some of them bumped up, as a table would hold."""
    rng = np.random.default_rng(seed)
    worth = rng.uniform(0, 0.25, k)
    subsets = [s for size in range(1, k + 1) for s in itertools.combinations(range(k), size)]
    task = {s: float(1 - np.prod(1 - worth[list(s)]) + bumps * rng.uniform(0, 1)) for s in subsets}
    return task, {s: float(rng.uniform()) for s in subsets}


def toy(k=6):
    rng = np.random.default_rng(0)
    features = pd.DataFrame(rng.normal(size=(20, k)), columns=list("abcdefgh"[:k]))
    return Problem(features, np.arange(20) % 2, np.arange(20) % 4, name="toy")


def expected_skips(task, lazy, slack, k):
    """Skipped by definition: below a subset that fell short of the best accuracy among its size and larger ones."""
    skipped = set()
    for size in range(k - 1, 0, -1):
        best = max(a for s, a in task.items() if len(s) > size and s not in skipped)
        for subset in itertools.combinations(range(k), size):
            above = supersets(subset, range(k))
            if any(s in skipped or task[s] < (1 - lazy) * best - slack for s in above):
                skipped.add(subset)
    return skipped


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("lazy", [0.0, 0.03, 0.3])
def test_skips_exactly_what_is_below_a_hopeless_subset(seed, lazy):
    task, users = lattice(seed, bumps=0.05)
    engine = Recorded(task, users)
    found = search_subsets(toy(), engine=engine, lazy=lazy, prune=True, batch_size=3, **QUIET)
    skips = expected_skips(task, lazy, SLACK, 6)
    assert found.pruning.skipped == skips
    assert found.table["skipped"].sum() == len(skips)
    assert (found.table["accuracy"].isna() == found.table["skipped"]).all()
    fitted = {s: a for s, a in task.items() if s not in skips}
    gains = [a - fitted[above] for s, a in fitted.items() for above in supersets(s, range(6)) if above in fitted]
    assert found.pruning.pairs == len(gains)
    assert found.pruning.violations == sum(gain > SLACK for gain in gains)
    assert found.pruning.largest_gain == max(gains)


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("lazy", [0.0, 0.01, 0.1])
def test_the_choice_is_the_full_searchs_where_the_assumption_holds(seed, lazy):
    task, users = lattice(seed, bumps=SLACK / 6)  # dropping features never gains more than the slack
    full = search_subsets(toy(), engine=Recorded(task, users), **QUIET)
    pruned = search_subsets(toy(), engine=Recorded(task, users), lazy=lazy, prune=True, **QUIET)
    assert pruned.pruning.violations == 0
    assert pruned.trained < full.trained
    chosen, expected = pruned.select(lazy), full.select(lazy)
    assert chosen["features"] == expected["features"]


def test_the_assumption_can_fail_and_is_counted():
    task, users = lattice(0)
    task |= {(0,): 0.999, (0, 1): 0.99, (0, 1, 2): 0.98}
    found = search_subsets(toy(), engine=Recorded(task, users), lazy=0.9, prune=True, **QUIET)
    assert found.pruning.violations > 0
    assert found.pruning.largest_gain > SLACK


def test_the_largest_come_first_and_the_most_promising_of_a_size(tmp_path):
    task, users = lattice(3)
    engine = Recorded(task, users)
    search_subsets(toy(), engine=engine, n_jobs=1, batch_size=1, result_store=tmp_path / "s", **QUIET)
    # the estimate tries a few subsets of three sizes first
    order = [subset for label, subset in engine.asked if label == "task"][3:]
    sizes = [len(subset) for subset in order]
    assert sizes == sorted(sizes, reverse=True)
    pairs = [subset for subset in order if len(subset) == 2]
    promise = [np.mean([task[s] for s in supersets(subset, range(6))]) for subset in pairs]
    assert promise == sorted(promise, reverse=True)


def test_a_pruned_table_does_not_depend_on_what_the_store_knows(wine, tmp_path):
    options = SHARED | {"lazy": 0.01, "prune": True, "slack": 0.01}
    search_subsets(wine, **SHARED, result_store=tmp_path / "full")
    known = search_subsets(wine, **options, result_store=tmp_path / "full")
    fresh = search_subsets(wine, **options, batch_size=3)
    assert known.trained == 0
    assert fresh.table["skipped"].any()
    pd.testing.assert_frame_equal(known.table, fresh.table, check_exact=True)
    assert known.pruning == fresh.pruning


@pytest.mark.parametrize("engine", [{"engine": "sklearn", "model": GaussianNB()}, SHARED])
def test_the_choice_so_far_is_shown(wine, capsys, terminal, engine):
    search_subsets(wine, **(engine | {"lazy": 0.1, "progress": True}))
    shown = capsys.readouterr().err
    assert "so far" in shown
    assert "features at 0.1" in shown


@pytest.mark.parametrize("options", [{"prune": True}, {"prune": True, "lazy": 0.1, "slack": -0.1}])
def test_pruning_needs_a_threshold_and_a_sensible_slack(wine, options):
    with pytest.raises(ValueError, match="prune needs lazy"):
        search_subsets(wine, **SHARED, **options)
