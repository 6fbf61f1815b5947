"""Searches with the shared forest, and their order from all features down to single ones."""

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


@pytest.mark.slow
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


@pytest.mark.first(1)
@pytest.mark.parametrize("backend", ["threading", "loky"])
def test_backends_give_the_same_table(wine, backend):
    with parallel_config(backend=backend, n_jobs=2):
        together = shared_table(wine, batch_size=5)
    pd.testing.assert_frame_equal(together, shared_table(wine), check_exact=True)


@pytest.mark.slow
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


@pytest.mark.slow
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


# --- order


def lattice(seed, k=6):
    """Accuracies that grow with the features that tell something, as a table would hold."""
    rng = np.random.default_rng(seed)
    worth = rng.uniform(0, 0.25, k)
    subsets = [s for size in range(1, k + 1) for s in itertools.combinations(range(k), size)]
    task = {s: float(1 - np.prod(1 - worth[list(s)])) for s in subsets}
    return task, {s: float(rng.uniform()) for s in subsets}


def toy(k=6):
    rng = np.random.default_rng(0)
    features = pd.DataFrame(rng.normal(size=(20, k)), columns=list("abcdefgh"[:k]))
    return Problem(features, np.arange(20) % 2, np.arange(20) % 4, name="toy")


def test_the_largest_come_first(tmp_path):
    task, users = lattice(3)
    engine = Recorded(task, users)
    search_subsets(toy(), engine=engine, n_jobs=1, batch_size=1, result_store=tmp_path / "s", **QUIET)
    # the estimate tries a few subsets of three sizes first
    order = [subset for label, subset in engine.asked if label == "task"][3:]
    sizes = [len(subset) for subset in order]
    assert sizes == sorted(sizes, reverse=True)


@pytest.mark.parametrize("engine", [{"engine": "sklearn", "model": GaussianNB()}, SHARED])
def test_the_choice_so_far_is_shown(wine, capsys, terminal, engine):
    search_subsets(wine, **(engine | {"lazy": 0.1, "progress": True}))
    shown = capsys.readouterr().err
    assert "so far" in shown
    assert "features at 0.1" in shown
