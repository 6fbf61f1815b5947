"""A full search of feature subsets: ours against mlxtend's ExhaustiveFeatureSelector and the plain loop, same rows.

Both labels, every non-empty subset, the same forests and held-out rows; all three must give the same scores. Medians of
repeated runs in one process; ratios to our search. mlxtend searches one label a call and keeps no store.

    python bench/minimize_search.py                    # 5 features of IoT-23, 20 trees
    python bench/minimize_search.py --full             # 7 features, 100 trees; writes bench/results/minimize_search.csv
"""

import argparse
import statistics
import tempfile
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

from sensorprivacy.datasets import Problem, problem
from sensorprivacy.game import Split, random_split
from sensorprivacy.minimize.search import search

HERE = Path(__file__).resolve().parent
Scores = dict[tuple[str, ...], tuple[float, float]]


def ours(game: Problem, model: RandomForestClassifier, split: Split, jobs: int, store: Path | None = None) -> Scores:
    """Search with this library."""
    table = search(
        game, model=model, split=split, seed=0, n_jobs=jobs, store=store, allow_long=True, progress=False
    ).table
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


def timed(call: Callable[[], Scores]) -> tuple[float, Scores]:
    """Return the wall seconds of a call, and its answer."""
    begun = time.perf_counter()
    answer = call()
    return time.perf_counter() - begun, answer


def main() -> None:
    """Measure and print, and with --full write the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--full", action="store_true", help="7 features, 100 trees, 3 repeats")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--rows", type=int, default=4000)
    arguments = parser.parse_args()
    k, trees, repeats = (7, 100, 3) if arguments.full else (5, 20, 1)
    whole = problem("iot-23", progress=False)
    rows = np.sort(np.random.default_rng(0).choice(whole.n_records, arguments.rows, replace=False))
    game = Problem(whole.features.iloc[rows, :k], whole.task.iloc[rows], whole.users.iloc[rows], name="iot-23")
    model, drawn = RandomForestClassifier(n_estimators=trees), random_split(arguments.rows, seed=0)
    # mlxtend takes training rows in the order of the table, and a bootstrap depends on it
    split = Split(np.sort(drawn.train), np.sort(drawn.test))
    ways = {
        "search": lambda: ours(game, model, split, arguments.jobs),
        "plain loop, n_jobs in the forest": lambda: loop(game, model, split, arguments.jobs),
        "plain loop, one core": lambda: loop(game, model, split, 1),
        "mlxtend": lambda: mlxtend(game, model, split, arguments.jobs),
    }
    ways["search"]()  # starts the worker processes
    seconds: dict[str, list[float]] = {name: [] for name in ways}
    for _ in range(repeats):
        answers = {}
        for name, call in ways.items():
            spent, answers[name] = timed(call)
            seconds[name].append(spent)
        for name, answer in answers.items():
            assert answer == answers["search"], f"{name} gives other scores"
    with tempfile.TemporaryDirectory() as folder:
        store = Path(folder) / "scores.sqlite"
        kept, _ = timed(lambda: ours(game, model, split, arguments.jobs, store))
        again, _ = timed(lambda: ours(game, model, split, arguments.jobs, store))
    medians = {name: statistics.median(spent) for name, spent in seconds.items()}
    medians |= {"search with a store": kept, "search that the store holds": again}
    base = medians["search"]
    table = pd.DataFrame(
        [
            {"way": name, "times_the_search": round(spent / base, 3 if spent < base else 2)}
            for name, spent in medians.items()
        ]
    ).assign(features=k, subsets=2**k - 1, models=2 * (2**k - 1), trees=trees, rows=arguments.rows, jobs=arguments.jobs)
    print(table.to_string(index=False))
    if arguments.full:
        (HERE / "results").mkdir(exist_ok=True)
        table.to_csv(HERE / "results" / "minimize_search.csv", index=False)


if __name__ == "__main__":
    main()
