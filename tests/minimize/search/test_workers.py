"""Workers end with their parent, however it ends."""

import contextlib
import os
import signal
import subprocess
import sys
import time

import joblib
import joblib._parallel_backends as joblib_backends
import numpy as np
import pandas as pd
import psutil
import pytest
from sklearn.ensemble import RandomForestClassifier

from sensorprivacy.example import example_problem
from sensorprivacy.game import learners
from sensorprivacy.minimize.baselines import METHODS, sweep
from sensorrelease.comparison import compare

pytestmark = pytest.mark.skipif(os.name != "posix", reason="signals")
SWEEP = """
from joblib import parallel_config
import pandas as pd
from sensorprivacy.data import Problem
from sensorprivacy.minimize.baselines import sweep
table = pd.read_csv("home.csv")
with parallel_config(backend="loky", n_jobs=2):
    for seed in range(1000):
        problem = Problem(table.drop(columns=["task", "who"]), table["task"], table["who"])
        sweep(problem, "utility", seed=seed, sizes=range(1, 9), progress=False)
"""
DASK = """
import distributed, sys
from joblib import parallel_config
from sensorrelease.cli import main
if __name__ == "__main__":
    with distributed.LocalCluster(2, threads_per_worker=1, dashboard_address=None) as cluster, \\
            distributed.Client(cluster), parallel_config(backend="dask"):
        sys.exit(main(sys.argv[1:]))
"""


def alive(processes: list[psutil.Process]) -> list[psutil.Process]:
    found = []
    for process in processes:
        with contextlib.suppress(psutil.NoSuchProcess):
            found += [process] * (process.status() != psutil.STATUS_ZOMBIE)
    return found


def working(parent: psutil.Process) -> list[psutil.Process]:
    """Return all descendants, once two of them have worked for two seconds."""
    until = time.monotonic() + 100
    while time.monotonic() < until and parent.is_running() and parent.status() != psutil.STATUS_ZOMBIE:
        found = parent.children(recursive=True)
        with contextlib.suppress(psutil.NoSuchProcess):
            if sum(process.cpu_times().user > 2 for process in found) >= 2:
                return found
        time.sleep(0.05)
    raise AssertionError("no two workers at work")


@pytest.mark.slow
@pytest.mark.timeout(200)
@pytest.mark.parametrize("how", ["KILL", "TERM", "INT"])
@pytest.mark.parametrize("what", ["shared", "sklearn", "race", "sweep", "dask"])
def test_no_worker_is_left_two_seconds_after_the_end_of_its_parent(tmp_path, what, how, interruptible):
    generator = np.random.default_rng(0)
    table = pd.DataFrame(generator.integers(0, 50, (2000, 12)), columns=[f"x{i}" for i in range(12)])
    who = generator.integers(0, 20, 2000)
    table.assign(who=who, task=np.where(table["x0"] > 25, "on", "off"), x1=who).to_csv(
        tmp_path / "home.csv", index=False
    )
    words = ["minimize", "home.csv", "--task", "task", "--user", "who", "--score", "information", "--preselect", "12"]
    words += ["--allow-long", "--quiet", "--jobs", "2", "--race" if what == "race" else "--exhaustive"]
    words += ["--engine", "sklearn" if what == "sklearn" else "shared"]
    started = ["-m", "sensorrelease", *words]
    if what == "sweep":
        started = ["-c", SWEEP]
    if what == "dask":
        (tmp_path / "searching.py").write_text(DASK)
        started = ["searching.py", *words]
    parent = subprocess.Popen([sys.executable, *started], cwd=tmp_path, preexec_fn=interruptible)
    workers: list[psutil.Process] = []
    try:
        workers = working(psutil.Process(parent.pid))
        parent.send_signal(signal.Signals[f"SIG{how}"])
        parent.wait(20)
        time.sleep(2)
        assert not alive(workers)
    finally:
        for process in [*alive(workers), parent]:
            process.kill()


@pytest.mark.slow
@pytest.mark.parametrize("method", METHODS)
def test_every_worker_watches_its_parent(monkeypatch, method):
    """scikit-learn's own parallel parts under a user's ``parallel_config`` started workers that nobody ends."""
    parents = []
    make = joblib_backends.get_memmapping_executor

    def recorded(*args, **options):
        parents.append(options.get("initargs"))
        return make(*args, **options)

    monkeypatch.setattr(joblib_backends, "get_memmapping_executor", recorded)
    monkeypatch.setattr(learners, "MOST_BYTES", 1)  # forests in parts
    problem, model = example_problem(), RandomForestClassifier(3, random_state=0)
    with joblib.parallel_config(backend="loky", n_jobs=2):
        sweep(problem, method, model=model, sizes=(2,), progress=False)
        if method == "utility":
            compare(problem, ["none", "prediction", "method:pca"], model=model, draws=360, progress=False)
    assert set(parents) <= {(os.getpid(),)}
    assert parents
