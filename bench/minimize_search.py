"""A full search of feature subsets: ours with both engines, mlxtend's ExhaustiveFeatureSelector and the plain loop.

The same rows, held-out rows, both labels and every non-empty subset. The search by scikit-learn's engine, the loop and
mlxtend train the same forests and must give the same scores. Medians of repeated rounds in one process, as ratios to
the search by the shared engine. mlxtend searches one label a call and keeps no store.

On one job (the default) the clock is the processor's, which tells the work of each way even where others use the
machine. On more jobs it is the wall's, and small searches suffer from handing work to processes: a search goes size by
size, and the few subsets of the largest and smallest sizes leave workers idle.

    python bench/minimize_search.py                    # 4 features of IoT-23, 20 trees
    python bench/minimize_search.py --full             # 5 features, 50 trees; writes bench/results/minimize_search.*
"""

import argparse
import statistics
import time
from collections.abc import Callable
from itertools import combinations
from pathlib import Path

import numpy as np
import pandas as pd
from mlxtend.evaluate import PredefinedHoldoutSplit
from mlxtend.feature_selection import ExhaustiveFeatureSelector
from sklearn.base import clone
from sklearn.ensemble import RandomForestClassifier

from compendium.datasets import problem
from forest_cases import machine
from sensorprivacy.data import Problem
from sensorprivacy.game import Split, random_split
from sensorprivacy.minimize.engine_protocol import engine_data
from sensorprivacy.minimize.forest.engine import SharedEngine
from sensorprivacy.minimize.search.exhaustive import search_subsets

HERE = Path(__file__).resolve().parent
Scores = dict[tuple[str, ...], tuple[float, float]]


def ours(
    game: Problem,
    model: RandomForestClassifier,
    split: Split,
    jobs: int,
    engine: str | SharedEngine = "sklearn",
) -> Scores:
    """Search with this library."""
    workers = None if engine == "shared" else jobs
    if engine == "shared":  # its threads are counted here, not joblib's workers
        engine = SharedEngine(engine_data(game, split), model, 0, n_threads=jobs)
    table = search_subsets(
        game, model=model, split=split, seed=0, engine=engine, n_jobs=workers, allow_long=True, progress=False
    ).table  # fmt: skip
    return {row.features: (row.accuracy, row.identifiability) for row in table.itertuples()}


def loop(game: Problem, model: RandomForestClassifier, split: Split, jobs: int) -> Scores:
    """Search as a script would: one forest after the other, each with all cores."""
    scores: Scores = {}
    names = list(game.features)
    for size in range(1, len(names) + 1):
        for subset in combinations(names, size):
            rows = game.features[list(subset)].to_numpy()
            pair = []
            for labels in (game.task.to_numpy(), game.users.to_numpy()):
                forest = clone(model).set_params(random_state=0, n_jobs=jobs)
                forest.fit(rows[split.train], labels[split.train])
                forest.n_jobs = 1  # threads add up votes in the order they finish, and ties flip
                pair.append(float(np.mean(forest.predict(rows[split.test]) == labels[split.test])))
            scores[subset] = (pair[0], pair[1])
    return scores


def mlxtend(game: Problem, model: RandomForestClassifier, split: Split, jobs: int) -> Scores:
    """Search with mlxtend, once a label."""
    found = []
    for labels in (game.task, game.users):
        selector = ExhaustiveFeatureSelector(
            clone(model).set_params(random_state=0),
            min_features=1,
            max_features=game.n_features,
            scoring="accuracy",
            cv=PredefinedHoldoutSplit(split.test),
            print_progress=False,
            n_jobs=jobs,
        )
        selector.fit(game.features.to_numpy(), pd.factorize(labels, sort=True)[0])
        found.append({tuple(map(int, s["feature_idx"])): float(s["avg_score"]) for s in selector.subsets_.values()})
    names = list(game.features)
    return {tuple(names[i] for i in subset): (found[0][subset], found[1][subset]) for subset in found[0]}


def timed(call: Callable[[], Scores], clock: Callable[[], float]) -> tuple[float, Scores]:
    """Return the seconds that a call takes, and its answer."""
    begun = clock()
    answer = call()
    return clock() - begun, answer


def gap(one: Scores, other: Scores) -> float:
    """Return the mean absolute difference of two searches, in points."""
    return 100 * float(np.mean([np.abs(np.subtract(one[subset], other[subset])).mean() for subset in one]))


def main() -> None:
    """Measure and print, and with --full write the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--full", action="store_true", help="5 features, 50 trees, 3 repeats")
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--rows", type=int, default=2000)
    parser.add_argument("--features", type=int, help="instead of 5 with --full, else 4")
    arguments = parser.parse_args()
    jobs, clock = arguments.jobs, time.process_time if arguments.jobs == 1 else time.perf_counter
    k, trees, repeats = (5, 50, 3) if arguments.full else (4, 20, 1)
    k = arguments.features or k
    whole = problem("iot-23")
    rows = np.sort(np.random.default_rng(0).choice(whole.n_records, arguments.rows, replace=False))
    game = Problem(whole.features.iloc[rows, :k], whole.task.iloc[rows], whole.users.iloc[rows], name="iot-23")
    model, drawn = RandomForestClassifier(n_estimators=trees), random_split(arguments.rows, seed=0)
    # mlxtend takes training rows in the order of the table, and a bootstrap depends on it
    split = Split(np.sort(drawn.train), np.sort(drawn.test))
    ways = {
        "search, shared engine": lambda: ours(game, model, split, jobs, "shared"),
        "search, scikit-learn's engine": lambda: ours(game, model, split, jobs),
        "plain loop": lambda: loop(game, model, split, 1),
        "mlxtend": lambda: mlxtend(game, model, split, jobs),
    }
    if jobs > 1:
        ways["plain loop, n_jobs in the forest"] = lambda: loop(game, model, split, jobs)
    seconds: dict[str, list[float]] = {name: [] for name in ways}
    for name in list(ways)[:2]:  # compiled code is loaded and workers are started before the clock runs
        ways[name]()
    for _ in range(repeats):
        answers = {}
        for name, call in ways.items():
            spent, answers[name] = timed(call, clock)
            seconds[name].append(spent)
        for name in list(ways)[2:]:
            assert answers[name] == answers["search, scikit-learn's engine"], f"{name} gives other scores"
    medians = {name: statistics.median(spent) for name, spent in seconds.items()}
    base = medians["search, shared engine"]
    reference = answers["plain loop"]
    table = pd.DataFrame(
        {
            "way": list(medians),
            "times_the_shared": [round(spent / base, 2) for spent in medians.values()],
            "mean_abs_points_from_the_loop": [round(gap(answers[name], reference), 3) for name in medians],
        }
    ).assign(features=k, subsets=2**k - 1, models=2 * (2**k - 1), trees=trees, rows=arguments.rows, jobs=jobs)
    print(table.to_string(index=False))
    if arguments.full:
        (HERE / "results").mkdir(exist_ok=True)
        table.to_csv(HERE / "results" / "minimize_search.csv", index=False, lineterminator="\n")
        (HERE / "results" / "minimize_search.md").write_text(
            f"# The same search in {len(ways)} ways\n\n`python bench/minimize_search.py --full`: medians of {repeats} "
            f"rounds in one process, {'processor' if jobs == 1 else 'wall'} time. {machine()}\n\n"
            f"{table.to_markdown(index=False)}\n"
        )


if __name__ == "__main__":
    main()
