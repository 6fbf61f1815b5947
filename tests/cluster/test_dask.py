"""The subset search on dask: workers that are killed, and workers that are jobs of Slurm, change no result."""

import os
import signal
import sys
import tempfile
import threading
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
import yaml
from joblib import parallel_config
from sklearn.ensemble import RandomForestClassifier
from slurm import ask, missing, slurm

from sensorprivacy.data import Problem
from sensorprivacy.minimize.baselines import sweep
from sensorprivacy.minimize.search.exhaustive import search_subsets
from sensorprivacy.minimize.search.job import SearchJob
from sensorprivacy.minimize.search.workers import run_in_order

dask_config = pytest.importorskip("dask.config", reason="install the extra cluster to test")
distributed = pytest.importorskip("distributed", reason="install the extra cluster to test")
dask_jobqueue = pytest.importorskip("dask_jobqueue", reason="install the extra cluster to test")
pytestmark = [pytest.mark.cluster, pytest.mark.timeout(600)]
SWEEP = {"model": RandomForestClassifier(n_estimators=8), "progress": False, "seed": 3}
SETTINGS = {"model": RandomForestClassifier(n_estimators=8), "batch_size": 2, "progress": False, "seed": 3}


@pytest.fixture(scope="module")
def problem():
    draw = np.random.default_rng(1)
    task, users = draw.integers(0, 2, 300), draw.integers(0, 4, 300)
    columns = {f"x{k}": (task if k % 2 else users) + draw.normal(0, 0.3 + k / 5, 300) for k in range(6)}
    return Problem(pd.DataFrame(columns), task, users, name="six columns")


@pytest.fixture(scope="module")
def alone(problem):
    return search_subsets(problem, **SETTINGS).table


@pytest.fixture
def midway(monkeypatch):
    """Return a function that has an action done when ten batches of the search have arrived."""
    add, arrived = SearchJob._add, []

    def set_action(action):
        def count(self, *batch):
            add(self, *batch)
            arrived.append(batch)
            if len(arrived) == 10:
                action()

        monkeypatch.setattr(SearchJob, "_add", count)
        return arrived

    return set_action


def test_dask_knows_the_settings_of_the_page():
    """A setting that dask does not know changes nothing, and says nothing."""
    page = (Path(__file__).parents[2] / "book" / "howto" / "cluster.md").read_text()
    settings = yaml.safe_load(page.partition("# ~/.config/dask/search.yaml\n")[2].partition("```")[0])
    paths = pd.json_normalize(settings).columns
    assert len(paths) == 4
    for path in paths:
        dask_config.get(path)  # fails if there is none


@pytest.mark.slow
def test_the_search_of_the_page_waits_for_jobs_that_queue(problem, monkeypatch):
    """By itself, joblib gives up if no worker has started within 10 seconds; jobs wait longer than that."""
    page = (Path(__file__).parents[2] / "book" / "howto" / "cluster.md").read_text()
    code = page.partition("```python\n")[2].partition("```")[0]

    class Queue(distributed.LocalCluster):
        def __init__(self, **_):
            super().__init__(n_workers=0, threads_per_worker=1, processes=False, dashboard_address=None)
            self.timer = threading.Timer(11, self.scale, [1])

        def adapt(self, **_):
            self.timer.start()

    monkeypatch.setattr(dask_jobqueue, "SLURMCluster", Queue)
    task, users = problem.task, problem.users
    names = {"features": problem.features[["x0", "x1", "x3"]], "task": task, "users": users}
    exec(code, names)
    names["cluster"].close()
    assert "x1" in names["kept"]


@pytest.mark.slow
def test_trees_are_no_tasks_of_dask_and_killed_workers_change_no_result(problem, alone, midway):
    """A task costs dask more than a tree costs, and a forest whose trees are tasks ends with each of their workers."""
    with (
        dask_config.set({"distributed.deploy.lost-worker-timeout": "100s"}),  # 15s are too short on a busy machine
        distributed.LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None) as cluster,
        distributed.Client(cluster, set_as_default=False) as client,
        parallel_config(backend="dask", client=client),
    ):
        calm = search_subsets(problem, **SETTINGS)
        assert client.run_on_scheduler(lambda dask_scheduler: set(dask_scheduler.task_prefixes)) == {"same", "score"}
        assert calm.trained == 2 * 63
        first = client.run(os.getpid)
        arrived = midway(lambda: os.kill(next(iter(first.values())), signal.SIGKILL))
        found = search_subsets(problem, **SETTINGS).table
        client.wait_for_workers(2, timeout=60)
        assert len(set(client.run(os.getpid).values()) - set(first.values())) == 1
        swept = sweep(problem, "utility", **SWEEP)
    assert sum(len(batch) for _, batch, _ in arrived) == 2 * 63  # each subset arrived once for each player
    for table in (calm.table, found):
        pd.testing.assert_frame_equal(table, alone, check_exact=True)
    pd.testing.assert_frame_equal(swept, sweep(problem, "utility", **SWEEP), check_exact=True)


def test_a_sweep_makes_few_tasks_ahead_and_names_one_that_ends_its_workers():
    """Each task may hold a copy of a table, and joblib's own backend waited forever for a task that dask gave up."""
    made = []

    def tasks():
        for at in range(30):
            made.append(at)
            yield (at,)

    with (
        distributed.LocalCluster(n_workers=1, threads_per_worker=1, processes=False, dashboard_address=None) as cluster,
        distributed.Client(cluster),
        parallel_config(backend="dask"),
    ):
        results = run_in_order(abs, tasks())
        assert next(results) == 0
        assert len(made) <= 4
        assert list(results) == list(range(1, 30))

        def killed(*_):
            raise distributed.KilledWorker("a", SimpleNamespace(address="here"), 3)  # as dask's scheduler does

        with pytest.raises(RuntimeError, match="a task ended 4 workers of the cluster, maybe for lack of memory"):
            list(run_in_order(killed, [(1,)]))


class EndsItsWorker:
    """Engine that ends each worker that scores one of the subsets, as one does that needs too much memory."""

    name, model, threads = "ends its worker", "none", False

    def __init__(self):
        self.client = os.getpid()

    def score(self, subsets, label):
        if (2, 4, 5) in subsets and os.getpid() != self.client:
            os._exit(1)
        return [0.5] * len(subsets)


@pytest.mark.slow
def test_a_batch_that_ends_every_worker_ends_the_search_with_a_reason(problem, tmp_path):
    """Joblib's own backend for dask waits forever here. What was finished is stored."""
    settings = SETTINGS | {"engine": EndsItsWorker(), "result_store": tmp_path / "scores.sqlite"}
    with (
        dask_config.set({"distributed.scheduler.allowed-failures": 1}),  # 3 by itself
        distributed.LocalCluster(n_workers=1, threads_per_worker=1, dashboard_address=None) as cluster,
        distributed.Client(cluster),
        parallel_config(backend="dask"),
        pytest.raises(RuntimeError, match=r"ended 2 workers of the cluster.*memory"),
    ):
        search_subsets(problem, **settings)
    again = search_subsets(problem, **settings)  # in this process, where the batch ends nothing
    assert again.found >= 2 * (1 + 6 + 15)  # subsets of six, five and four features come first; the batch has three
    assert again.found + again.trained == 2 * 63


@pytest.mark.slow
@pytest.mark.xdist_group("slurm")
@pytest.mark.skipif(bool(missing()), reason=f"Slurm is not installed (apt install slurm-wlm): no {missing()}")
def test_workers_that_are_jobs_of_slurm_change_no_result(problem, alone, midway, monkeypatch):
    """One of the two jobs is cancelled; dask-jobqueue submits another."""
    with tempfile.TemporaryDirectory(prefix="slurm-", dir="/tmp") as folder, slurm(Path(folder)) as environment:
        for name in ("PATH", "SLURM_CONF"):
            monkeypatch.setenv(name, environment[name])
        settings = {"cores": 1, "processes": 1, "memory": "1GB", "walltime": "00:10:00", "python": sys.executable}
        with (
            dask_config.set({"distributed.deploy.lost-worker-timeout": "2s"}),  # 15s by itself
            dask_jobqueue.SLURMCluster(**settings, log_directory=folder, local_directory=folder) as cluster,
            distributed.Client(cluster) as client,
            parallel_config(backend="dask"),
        ):
            cluster.adapt(minimum_jobs=2, maximum_jobs=2)
            client.wait_for_workers(2, timeout=120)
            jobs = ask(["squeue", "--noheader", "--format=%i", "--states=RUNNING"], environment).split()
            arrived = midway(lambda: ask(["scancel", jobs[0]], environment))
            found = search_subsets(problem, **SETTINGS).table
            client.wait_for_workers(2, timeout=120)
            later = ask(["squeue", "--noheader", "--format=%i", "--states=RUNNING"], environment).split()
    assert len(jobs) == 2
    assert sum(len(batch) for _, batch, _ in arrived) == 2 * 63
    assert set(later) - set(jobs)
    pd.testing.assert_frame_equal(found, alone, check_exact=True)
