"""What dask adds to a search over subsets: processor seconds of its processes, and the memory of its scheduler.

alone     all subsets of 10 features of IoT Sentinel, the shared forest, the default batches, without dask: the
          forests without a search, the search in one process, and joblib's processes.
overhead  the same search on dask with the settings of book/howto/cluster.md, and with its own.
memory    all subsets of 12 to 20 made-up features of 12 rows. They test only the path of the code. The models are
          forests of one tree, or no models at all: then a score is a number that comes from the subset at once, so
          the scheduler gets the most work. Each size has a new client and a new cluster, so each peak is its own.

A `distributed.LocalCluster` of four workers with one thread each runs in a process of its own, which is called the
scheduler here; its nannies, which watch the workers, are in it. The client is the process that searches. Seconds are
the processor's, of each process. dask itself measures the seconds of the tasks on their threads: the forests and their
batch's wrapper. A cluster that waits needs the processor too, at a rate that is measured in ten seconds before the
search. Workers and scheduler have loaded everything before the clocks run; start_up says how many seconds that takes.

    python bench/dask_search.py              # a look: 6 features, and 8 to 12
    python bench/dask_search.py --full       # writes bench/results/dask_search.*
"""

import argparse
import json
import math
import subprocess
import sys
import time
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pandas as pd
import psutil
import yaml
from distributed import Client
from joblib import Parallel, delayed, parallel_config
from sklearn.ensemble import RandomForestClassifier

from forest_cases import Case, machine, table
from sensorprivacy.data import Problem
from sensorprivacy.game import random_split
from sensorprivacy.minimize.engine_protocol import LABELS, engine_data
from sensorprivacy.minimize.forest.engine import SharedEngine
from sensorprivacy.minimize.search.exhaustive import search_subsets
from sensorprivacy.minimize.search.job import all_subsets

RESULTS = Path(__file__).resolve().parent / "results"
PAGE = RESULTS.parents[1] / "book" / "howto" / "cluster.md"
WORKERS = 4
WAIT = 10.0
PARTS = [
    f"{role}_{kind}"
    for role in ("scheduler", "client", "workers", "all")
    for kind in ("percent", "beyond_percent", "percent_on_2", "percent_on_4")
]
SHOWN = [
    "dask",
    "tasks",
    "cores",
    *PARTS,
    "batches",
    "start_up",
    "scheduler_waiting",
    "client_waiting",
    "workers_waiting",
]
SERVE = """
import json, sys
import dask
from distributed import LocalCluster
if __name__ == "__main__":
    dask.config.update(dask.config.config, json.loads(sys.argv[1]))
    with LocalCluster(n_workers=int(sys.argv[2]), threads_per_worker=1, dashboard_address=":0") as cluster:
        print(cluster.scheduler_address, flush=True)
        sys.stdin.read()
"""


def page_settings():
    """Return dask's settings that the how-to page advises."""
    return yaml.safe_load(PAGE.read_text().partition("# ~/.config/dask/search.yaml\n")[2].partition("```")[0])


@contextmanager
def cluster(engine, settings):
    """Start a cluster in a process of its own, and load the engine; yield its client and its processes by role."""
    words = [sys.executable, "-c", SERVE, json.dumps(settings), str(WORKERS)]
    process = subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    with Client(process.stdout.readline().strip(), set_as_default=False) as client:
        client.wait_for_workers(WORKERS)
        client.run(warm, engine)
        client.run_on_scheduler(lambda engine: engine.name, engine)  # it reads tasks, so it loads their modules
        workers = [psutil.Process(pid) for pid in client.run(lambda: psutil.Process().pid).values()]
        roles = {"client": [psutil.Process()], "scheduler": [psutil.Process(process.pid)], "workers": workers}
        yield client, roles, sum(value for role, value in seconds(roles).items() if role != "client")
    process.communicate()


def seconds(roles):
    """Return the processor seconds of each role so far."""
    return {role: sum(sum(p.cpu_times()[:2]) for p in processes) for role, processes in roles.items()}


def peaks(roles):
    """Return the peak resident memory of the largest process of each role, in MiB."""
    peak = {}
    for role, processes in roles.items():
        lines = [Path(f"/proc/{p.pid}/status").read_text().partition("VmHWM:")[2] for p in processes]
        peak[f"{role}_peak_mib"] = round(max(int(line.split()[0]) for line in lines) / 1024)
    return peak


def in_tasks(client):
    """Return the processor seconds of all tasks on all workers so far, as dask measures them."""
    digests = client.run(lambda dask_worker: dict(dask_worker.digests_total)).values()
    return sum(value for found in digests for key, value in found.items() if "thread-cpu" in key)


def n_tasks(client):
    """Return how many batches of subsets the scheduler has seen."""
    counts = client.run_on_scheduler(
        lambda dask_scheduler: {name: dict(p.state_counts) for name, p in dask_scheduler.task_prefixes.items()}
    )
    return sum(states.get("memory", 0) for name, states in counts.items() if name == "score")


def warm(engine):
    """Load compiled code, and give other processes the time to be asked too."""
    time.sleep(0.3)
    engine.score([(0, 1)], "task")


def search(game, engine, split=None, jobs=None):
    """Return the table of a whole search."""
    options = {"n_jobs": jobs, "allow_long": True, "progress": False}
    return search_subsets(game, engine=engine, split=split, seed=0, **options).table


def on_dask(game, engine, client, roles, start_up, split):
    """Search on a cluster; return the table, and seconds and peaks by process."""
    first = seconds(roles)
    time.sleep(WAIT)
    before, tasks, batches, begun = seconds(roles), in_tasks(client), n_tasks(client), time.perf_counter()
    waited = {f"{role}_waiting": (before[role] - first[role]) / WAIT for role in roles}
    idle = {name.replace("peak", "before"): mib for name, mib in peaks(roles).items()}
    with parallel_config(backend="dask", client=client):
        found = search(game, engine, split)
    after, tasks, taken = seconds(roles), in_tasks(client) - tasks, time.perf_counter() - begun
    spent = {role: after[role] - before[role] for role in roles} | {"tasks": tasks, "cores": tasks / taken}
    spent |= {f"{role}_beyond": spent[role] - taken * waited[f"{role}_waiting"] for role in roles}
    return found, spent | waited | idle | peaks(roles) | {"batches": n_tasks(client) - batches, "start_up": start_up}


def on_joblib(game, engine, split):
    """Search with joblib's processes; return the table and the seconds of all processes."""
    Parallel(n_jobs=WORKERS)(delayed(warm)(engine) for _ in range(4 * WORKERS))
    others = [p for p in psutil.Process().children(recursive=True) if any("loky" in word for word in p.cmdline())]
    roles = {"all": [psutil.Process(), *others]}
    before = seconds(roles)
    found = search(game, engine, split, WORKERS)
    return found, seconds(roles)["all"] - before["all"]


def in_one(call):
    """Return what a call returns, and the processor seconds of this process."""
    begun = time.process_time()
    answer = call()
    return answer, time.process_time() - begun


def sentinel(features, rows, trees):
    """Return a real problem, the engine of its search, and the split."""
    game = table(Case("IoT Sentinel", "iot-sentinel", "", rows, features))
    split = random_split(game.n_records, test=0.3, seed=0)
    engine = SharedEngine(engine_data(game, split), RandomForestClassifier(trees), 0, n_threads=1)
    warm(engine)
    return game, engine, split


def alone(problem, rounds):
    """Measure the forests without a search, the search in one process, and on joblib's processes."""
    game, engine, split = problem
    subsets, measured = all_subsets(range(game.n_features)), []
    for _ in range(rounds):
        scores, forests = in_one(lambda: {label: engine.score(subsets, label) for label in LABELS})
        one, searched = in_one(lambda: search(game, engine, split))
        several, joblibs = on_joblib(game, engine, split)
        assert list(one["accuracy"]) == scores["task"]
        pd.testing.assert_frame_equal(one, several, check_exact=True)
        measured.append({"forests": forests, "search": searched, "joblib": joblibs})
        yield pd.DataFrame(measured).median().to_frame().T.assign(rounds=len(measured))


def overhead(problem, rounds):
    """Measure the search on dask, under both settings."""
    game, engine, split = problem
    measured, tables = [], []
    for name, settings in {"of the page": page_settings(), "dask's own": {}}.items():
        with cluster(engine, settings) as ready:
            for _ in range(rounds):
                found, spent = on_dask(game, engine, *ready, split)
                tables.append(found)
                pd.testing.assert_frame_equal(found, tables[0], check_exact=True)
                measured.append({"settings": name} | spent | shares(spent))
                groups = pd.DataFrame(measured).groupby("settings", sort=False)
                yield groups[SHOWN].median().assign(rounds=groups.size()).reset_index()


def shares(spent):
    """Return what each process took besides the tasks, in percent of the tasks.

    Beyond waiting: without what the same cluster takes in the same time when it has no work. On free cores: this, and
    waiting as long as a search takes whose workers have a core each, or two cores together.
    """
    parts = {role: [spent[role], spent[f"{role}_beyond"], spent[f"{role}_waiting"]] for role in ("scheduler", "client")}
    parts["workers"] = [
        spent["workers"] - spent["tasks"],
        spent["workers_beyond"] - spent["tasks"],
        spent["workers_waiting"],
    ]
    parts["all"] = [sum(values) for values in zip(*parts.values(), strict=True)]
    found = {"dask": spent["client"] + spent["scheduler"] + spent["workers"]}
    for name, (measured, beyond, waiting) in parts.items():
        found |= {
            f"{name}_percent": 100 * measured / spent["tasks"],
            f"{name}_beyond_percent": 100 * beyond / spent["tasks"],
        }
        found |= {f"{name}_percent_on_{c}": 100 * (beyond / spent["tasks"] + waiting / c) for c in (2, WORKERS)}
    return found


def made_up(features):
    """Return a table of 12 rows."""
    task, users = np.arange(12) % 2, np.arange(12) // 2 % 3
    drawn = np.random.default_rng(0).integers(0, 3, (12, features))
    return Problem(pd.DataFrame(drawn, columns=[f"x{at}" for at in range(features)]), task, users, name="made up")


class NoModel:
    """Engine whose scores come from the subsets at once."""

    name, model, threads = "none", "none", False

    def score(self, subsets, label):
        """Return numbers from 0 to 1."""
        return [math.fmod(sum(subset) * math.pi + len(subset) * len(label), 1.0) for subset in subsets]


def memory(features, trees):
    """Measure the peaks of a whole search of many models that cost next to nothing."""
    game = made_up(features)
    split = random_split(game.n_records, test=0.3, seed=0)
    engine = NoModel()
    if trees:
        engine = SharedEngine(engine_data(game, split), RandomForestClassifier(trees), 0, n_threads=1)
    with cluster(engine, {}) as ready:
        found, spent = on_dask(game, engine, *ready, split)
    assert found[["accuracy", "identifiability"]].notna().all(axis=None)
    kept = [f"{role}_{when}_mib" for role in ("scheduler", "client", "workers") for when in ("before", "peak")]
    return {
        "trees": trees, "features": features, "subsets": len(found),
        "batches": spent["batches"], **{name: spent[name] for name in kept},
        **{f"{role}_seconds": round(spent[role], 1) for role in ("scheduler", "client", "workers", "tasks")},
    }  # fmt: skip


PARTS = ("alone", "overhead", "memory")
TEXT = """# Scheduling by dask costs {percent:.0f} % of the work of a search, and a few hundred MiB

`python bench/dask_search.py --full`. {machine}

Processor seconds of all subsets of 10 features of IoT Sentinel, 5,000 rows, both labels, the shared forest of 20 trees
on one thread, medians of the rounds. *forests*: without a search. *search*: in one process. *joblib*: on four
processes.

{alone}

The same search on dask. *tasks*: seconds of the forests. *all_percent*: what scheduler, client and workers take beside
them, in percent of the tasks; *beyond*: without what the same cluster takes while it waits; *on_2*, *on_4*: with
waiting on two and four free cores (computed). All tables are equal. The parts are in `dask_search_overhead.csv`.

{overhead}

Peak resident memory in MiB and processor seconds. *trees* 0: no models, which gives the scheduler the most work.

{memory}
"""


def report(part, frame, about=None):
    """Write the table of one part, and the page as soon as all parts were measured."""
    frame.round(3).to_csv(RESULTS / f"dask_search_{part}.csv", index=False, lineterminator="\n")
    files = {name: RESULTS / f"dask_search_{name}.csv" for name in PARTS}
    if not all(file.exists() for file in files.values()):
        return
    read = {name: pd.read_csv(file) for name, file in files.items()}
    overhead = read["overhead"].set_index(read["overhead"].columns[0])
    read["overhead"] = overhead.filter(regex="^(tasks|scheduler_percent$|all_|rounds)").reset_index(names="settings")
    read["memory"] = read["memory"].filter(regex="^(trees|features|subsets|.*_peak_mib|.*_seconds)$")
    shown = {name: table.to_markdown(index=False, floatfmt=",.7g") for name, table in read.items()}
    percent = overhead["all_percent"].iloc[0]
    text = TEXT.format(percent=percent, machine=about or machine(), **shown)
    (RESULTS / "dask_search.md").write_text(text)


def main():
    """Measure and print, and with --full write the tables."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--full", action="store_true")
    parser.add_argument("--only", choices=PARTS)
    parser.add_argument("--case", type=int, nargs=2, metavar=("FEATURES", "TREES"), help="one case of memory, as JSON")
    given = parser.parse_args()
    if given.case:
        print(json.dumps(memory(*given.case)))
        return
    if given.only != "memory":
        problem = sentinel(*(10, 5000, 20) if given.full else (5, 5000, 20))
        for part, measure in {"alone": alone, "overhead": overhead}.items():
            for found in measure(problem, 3 if given.full else 1) if given.only in (None, part) else ():
                print(found.T.round(3).to_string(), flush=True)
                if given.full:
                    report(part, found)
    if given.only in (None, "memory"):
        cases = [(12, 1), (15, 1), (12, 0), (15, 0), (18, 0), (20, 0)] if given.full else [(8, 1), (10, 0)]
        rows = []
        for case in cases:  # each in a new process, because its memory is measured
            words = [sys.executable, __file__, "--case", *map(str, case)]
            rows.append(json.loads(subprocess.run(words, stdout=subprocess.PIPE, check=True, text=True).stdout))
            print(rows[-1], flush=True)
            if given.full:
                report("memory", pd.DataFrame(rows))


if __name__ == "__main__":
    main()
