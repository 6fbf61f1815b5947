"""Real tables that the measurements of the shared forest run on, and the ways to train forests that they compare."""

import os
import time
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import combinations
from pathlib import Path

import numpy as np
from joblib import Parallel, delayed
from sklearn.ensemble import RandomForestClassifier

from compendium.datasets import problem
from sensorprivacy.data import Problem
from sensorprivacy.game import random_split
from sensorprivacy.minimize.engine_protocol import EngineData, engine_data
from sensorprivacy.minimize.forest.engine import SharedEngine

Subsets = Sequence[tuple[int, ...]]
Scored = tuple[list[float], float]


@dataclass(frozen=True)
class Case:
    """A labeling of a real table: which rows, how many features are searched."""

    name: str
    set: str
    label: str
    rows: int
    pool: int
    users: str = "users"


CASES = (
    Case("MotionSense, activity", "motionsense", "task", 20_000, 10),
    Case("MotionSense, subject", "motionsense", "users", 20_000, 10),
    Case("Sentinel, device", "iot-sentinel", "task", 20_000, 10),
    Case("IoT-23, host", "iot-23", "users", 20_000, 9),
    Case("MotionSense, recording", "motionsense", "users", 20_000, 10, users="groups"),
    Case("Sentinel, address", "iot-sentinel", "users", 20_000, 10),
    Case("CIC, address", "cic-ids-2017", "users", 20_000, 10),
    Case("CIC, attack", "cic-ids-2017", "task", 20_000, 10),
    Case("IoT-23, attack", "iot-23", "task", 20_000, 9),
)
SENTINEL = (3, 7, 8, 9, 10, 12, 13, 14, 15, 18)  # of the columns that paper 1's authors preselected


def machine() -> str:
    """Return what the measurements ran on, and how busy it was, for the results."""
    cpu = next((line.split(":")[1] for line in _lines("/proc/cpuinfo") if line.startswith("model name")), "a processor")
    return (
        f"Machine: {os.cpu_count()} cores ({' '.join(cpu.split())}), shared: {os.getloadavg()[1]:.0f} processes wanted "
        "them on average in the five minutes before the end."
    )


def _lines(path: str) -> list[str]:
    return Path(path).read_text().splitlines() if Path(path).exists() else []


def table(case: Case, seed: int = 0) -> Problem:
    """Return the rows of a case, at random, with its pool of features."""
    whole = problem(case.set)
    kept = np.sort(np.random.default_rng(seed).permutation(whole.n_records)[: case.rows])
    width = whole.n_features
    columns = SENTINEL if case.set == "iot-sentinel" else range(0, width, width // case.pool)
    users = whole.groups if case.users == "groups" else whole.users
    return Problem(
        whole.features.iloc[kept, list(columns)[: case.pool]], whole.task.iloc[kept], users.iloc[kept], name=case.name
    )


def held_rows(game: Problem, seed: int = 0) -> EngineData:
    """Return a 70/30 split as the engines read it."""
    return engine_data(game, random_split(game.n_records, test=0.3, seed=seed))


def some_subsets(width: int, count: int, seed: int = 0) -> Subsets:
    """Return subsets drawn at random from the whole lattice, the same for every way."""
    lattice = [s for size in range(1, width + 1) for s in combinations(range(width), size)]
    drawn = np.random.default_rng(seed).choice(len(lattice), min(count, len(lattice)), replace=False)
    return [lattice[i] for i in sorted(drawn)]


def shared(held: EngineData, label: str, subsets: Subsets, trees: int, jobs: int, seed: int = 0) -> Scored:
    """Score subsets with the shared forest; return accuracies and processor seconds, as all ways do.

    The table is coded before the clock runs: a search does it once for all of its subsets.
    """
    engine = coded(held, trees, jobs, seed)
    begun = time.process_time()
    return engine.score(subsets, label), time.process_time() - begun


@lru_cache(maxsize=1)
def coded(held: EngineData, trees: int, jobs: int, seed: int) -> SharedEngine:
    """Return the shared forest over rows, the last one again if it is asked for twice."""
    return SharedEngine(held, RandomForestClassifier(trees), seed, n_threads=jobs)


def over_subsets(held: EngineData, label: str, subsets: Subsets, trees: int, jobs: int, seed: int = 0) -> Scored:
    """Score subsets with scikit-learn's forests, joblib over subsets; processor seconds are the workers' own."""
    done = Parallel(n_jobs=jobs)(delayed(_one)(held, label, subset, trees, 1, seed) for subset in subsets)
    return [score for score, _ in done], sum(spent for _, spent in done)


def in_forest(held: EngineData, label: str, subsets: Subsets, trees: int, jobs: int, seed: int = 0) -> Scored:
    """Score subsets with scikit-learn's forests, one after the other, each on all cores."""
    done = [_one(held, label, subset, trees, jobs, seed) for subset in subsets]
    return [score for score, _ in done], sum(spent for _, spent in done)


def _one(
    held: EngineData, label: str, subset: tuple[int, ...], trees: int, jobs: int, seed: int
) -> tuple[float, float]:
    known, asked = held.labels[label]
    columns = list(subset)
    begun = time.process_time()
    forest = RandomForestClassifier(trees, random_state=seed, n_jobs=jobs).fit(held.train[:, columns], known)
    score = float(np.mean(forest.predict(held.test[:, columns]) == asked))
    return score, time.process_time() - begun
