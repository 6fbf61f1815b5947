"""Does a race choose what the exhaustive search chooses? Agreement and cost, in four parts, each with `--only`.

agreement  every subset of real problems: exhaustive searches and races under three seeds each. The measure is what
           exhaustive searches of two seeds differ from each other. All choices are judged by the exhaustive scores,
           averaged over the seeds. `above`, `below`: unfinished scores outside the bounds of the race, by the
           exhaustive scores of the same seed.
whole      12 features of 2,000 rows: a whole race, and the exhaustive search scaled up from subsets drawn by size, as
           in forest_search.py.
fifteen    15 features of 6,000 rows: a race among subsets drawn by size, scaled up to all of them. Such a race has
           few neighbours to learn from and only the best of few subsets, so more subsets survive than in a whole one.
twenty     20 features of 4,000 rows, lazy=.01, scaled up in the same way.

Times are processor time of one process, and comparisons are ratios of it. Forests to learn from are finished once in a
race, whatever its size, so they are not scaled up.

    python bench/racing.py --only agreement --trees 20 --seeds 2
    python bench/racing.py --full                        # writes the results
"""

import argparse
import tempfile
import time
from contextlib import closing
from itertools import combinations
from pathlib import Path

import numpy as np
import pandas as pd
from sklearn.ensemble import RandomForestClassifier

from forest_cases import Case, table
from forest_curves import peak_from_here, status
from forest_search import drawn_by_size
from sensorprivacy.game import random_split
from sensorprivacy.minimize.engine_protocol import LABELS
from sensorprivacy.minimize.search.bounds import sample_of_sizes
from sensorprivacy.minimize.search.job import SearchJob
from sensorprivacy.minimize.search.order import train_by_size
from sensorprivacy.minimize.search.racing import Rule, Runner
from sensorprivacy.minimize.select import THRESHOLDS, select_table

RESULTS = Path(__file__).resolve().parent / "results"
CORES = 2
CASES = (
    Case("IoT-23", "iot-23", "", 3000, 8),
    Case("CIC-IDS 2017", "cic-ids-2017", "", 1200, 8),
    Case("IoT Sentinel", "iot-sentinel", "", 1200, 8),
    Case("MotionSense", "motionsense", "", 1200, 8),
    Case("smartwatch", "smartwatch", "", 1200, 8),
)


def job_of(game, trees, seed, store=None):
    """Return a search with the shared forest."""
    return SearchJob(
        game, model=RandomForestClassifier(trees), split=random_split(game.n_records, test=0.3, seed=0), part="test",
        seed=seed, engine="shared", progress=False, result_store=store,
    )  # fmt: skip


def outside(runner, exact):
    """Return how many scores a race left open, and how many of them lie above or below their bounds."""
    counts = {}
    for label, column in zip(LABELS, ("accuracy", "identifiability"), strict=True):
        scores = runner.scores[label]
        low, _, high = (part[runner.at] for part in scores.bounds())
        true, open_ = exact[column].to_numpy(), ~scores.finished[runner.at]
        counts |= {f"open_{column}": open_.sum(), f"above_{column}": (true > high)[open_].sum()}
        counts[f"below_{column}"] = (true < low)[open_].sum()
    return counts


def agreement(trees, seeds):
    """Compare choices on every problem."""
    rows, sums = [], []
    for case in CASES:
        game = table(case)
        whole, races = [], []
        for seed in range(seeds):
            # the race takes the scores of what it finishes from the store; its cost is counted in trees
            with (
                tempfile.TemporaryDirectory() as folder,
                closing(job_of(game, trees, seed, Path(folder) / "scores.sqlite")) as job,
            ):
                train_by_size(job)
                exact = job.table(None)
                runner = Runner(job, Rule(THRESHOLDS))
                frame, race = runner.run()
            whole.append(exact)
            races.append(frame)
            known = ~frame["dropped"]
            same = [(frame[c][known] == exact[c][known]).all() for c in ("accuracy", "identifiability")]
            sums.append(
                {
                    "problem": case.name, "seed": seed, "rows": game.n_records, "subsets": len(frame),
                    "finished": race.finished, "dropped_share": race.dropped / len(frame), "survivors_equal": all(same),
                    "trees_task": race.share("task"), "trees_users": race.share("users"),
                    **outside(runner, exact),
                }
            )  # fmt: skip
            print(pd.DataFrame(sums[-1:]).round(3).to_string(index=False), flush=True)
        judge = sum(frame.set_index("features")[["accuracy", "identifiability"]] for frame in whole) / seeds
        chosen = {("race", s): select_table(frame)["features"] for s, frame in enumerate(races)}
        chosen |= {("whole", s): select_table(frame)["features"] for s, frame in enumerate(whole)}
        for level in THRESHOLDS:
            score = {key: judge.loc[[names[level]]].iloc[0] for key, names in chosen.items()}
            pairs = {
                "race": [(("race", s), ("whole", s)) for s in range(seeds)],
                "reseeded": [(("whole", s), ("whole", t)) for s, t in combinations(range(seeds), 2)],
            }
            row = {"problem": case.name, "threshold": level}
            for name, both in pairs.items():
                row[f"same_{name}"] = f"{sum(chosen[a][level] == chosen[b][level] for a, b in both)} of {len(both)}"
                for column in ("accuracy", "identifiability"):
                    row[f"{column}_{name}"] = max(abs(score[a][column] - score[b][column]) for a, b in both)
            rows.append(row)
    return {"agreement": pd.DataFrame(sums), "choices": pd.DataFrame(rows)}


class Timed(Runner):
    """A race that keeps the processor seconds of every stage, apart from those of the sample it learns from."""

    def run(self):
        """Race, and return the same."""
        self.seconds, self.learning = dict.fromkeys(LABELS, 0.0), 0.0
        self.first = dict.fromkeys(LABELS, 0.0)
        return super().run()

    def _grow(self, label, at, stage):
        begun = time.process_time()
        super()._grow(label, at, stage)
        taken = time.process_time() - begun
        if stage and np.array_equal(at, sample_of_sizes(len(self.job.positions))):
            self.learning += taken
        else:
            self.seconds[label] += taken
            self.first[label] += taken if stage == 0 else 0.0


def scaled(case, trees, count, thresholds):
    """Race among `count` subsets (None: all) and scale processor time up to the whole lattice."""
    game, k = table(case), case.pool
    before = peak_from_here()
    job = job_of(game, trees, 0)
    subsets = 2**k - 1
    if count is not None:
        learnt = sample_of_sizes(k)
        job.subsets = sorted(
            {*drawn_by_size(k, count)} | {tuple(b for b in range(k) if at >> b & 1) for at in learnt.tolist()},
            key=lambda subset: (len(subset), subset),
        )
    job.engine.score([(0,)], "task")
    runner = Timed(job, Rule(thresholds))
    begun = time.process_time()
    frame, race = runner.run()
    taken = time.process_time() - begun
    some = drawn_by_size(k, 60)
    begun = time.process_time()
    job.engine.score(some, "task")
    middle = time.process_time()
    job.engine.score(some, "users")
    exhaustive = (time.process_time() - begun if max(thresholds) == 1 else middle - begun) / len(some) * subsets
    up = subsets / len(job.subsets)
    whole = sum(runner.seconds.values()) * up + runner.learning
    row = {
        "part": f"{case.name}, {game.n_records:,} rows, thresholds to {max(thresholds):g}", "subsets": subsets,
        "raced": len(job.subsets), "finished": race.finished, "dropped_share": race.dropped / len(frame),
        **{f"grown_{label}": " ".join(map(str, race.grown[label])) for label in LABELS},
        "seconds": taken, "learning_seconds": runner.learning,
        "race_minutes": whole / 60 / CORES, "exhaustive_minutes": exhaustive / 60 / CORES, "ratio": whole / exhaustive,
        "first_stage_ratio": sum(runner.first.values()) * up / exhaustive,
        "peak_mib": (status("VmHWM") - before) / 2**20,
    }  # fmt: skip
    print(pd.DataFrame([row]).T.to_string(), flush=True)
    return pd.DataFrame([row])


def one_race(trees, seeds):
    """Race all subsets of 12 features."""
    case = Case("MotionSense, 12 features", "motionsense", "", 2000, 12)
    return {"whole": scaled(case, trees, None, THRESHOLDS)}


def fifteen(trees, seeds):
    """Race a share of the subsets of 15 features."""
    case = Case("MotionSense, 15 features", "motionsense", "", 6000, 15)
    return {"fifteen": scaled(case, trees, 800, THRESHOLDS)}


def twenty(trees, seeds):
    """Race a share of the subsets of 20 features."""
    case = Case("MotionSense, 20 features", "motionsense", "", 4000, 20)
    return {"twenty": scaled(case, trees, 1500, (0.0, 0.01))}


PARTS = {"agreement": agreement, "whole": one_race, "fifteen": fifteen, "twenty": twenty}


def main():
    """Measure the parts."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--full", action="store_true")
    parser.add_argument("--only", choices=PARTS)
    parser.add_argument("--trees", type=int, default=100)
    parser.add_argument("--seeds", type=int, default=3)
    arguments = parser.parse_args()
    for name in [arguments.only] if arguments.only else PARTS:
        for part, frame in PARTS[name](arguments.trees, arguments.seeds).items():
            print(frame.round(4).to_string(index=False), flush=True)
            if arguments.full:
                frame.round(4).to_csv(RESULTS / f"racing_{part}.csv", index=False, lineterminator="\n")


if __name__ == "__main__":
    main()
