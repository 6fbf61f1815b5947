"""Does a race choose what the exhaustive search chooses? Agreement and cost, in six parts, each with `--only`.

agreement  every subset of real problems: exhaustive searches and races under three seeds each. The measure is what
           exhaustive searches of two seeds differ from each other. All choices are judged by the exhaustive scores,
           averaged over the seeds. `above`, `below`: unfinished scores outside the bounds of the race, by the
           exhaustive scores of the same seed.
dropping   the same with more features, for threshold .01 alone: many subsets have no tree. `foreseen`: subsets with
           bounds before their first tree; `above_before`, `below_before`: those whose score is outside of them.
whole      a whole race of 12 features of 2,000 rows, and the exhaustive search scaled up from subsets drawn by size, as
           in forest_search.py. `peak_mib`: growth of the process's memory.
fifteen    races among 250 of the subsets of 15 features of 4,000 rows, replayed from forests that were grown once, with
           five draws of the sample to learn from; their cost is scaled up to all 32,767 subsets. Such a race has no
           neighbours to learn from, and only the best of few subsets, so more subsets survive than in a whole one.
           The costs of forests are measured at 4,000 and at 20,000 rows, the shares of survivors at 4,000.
goal       the same for 15 features of 20,000 rows, on all cores. `minutes`, those of the clock, mean little on a busy
           machine.
twenty     a race of 20 features of 20,000 rows for threshold .01, estimated from parts, see racing_twenty.py.

Costs are ratios of processor time, measured in one process.

    python bench/racing.py --only agreement --trees 20 --seeds 2
    python bench/racing.py --full                        # writes the results
"""

import argparse
import tempfile
import time
from contextlib import closing
from itertools import combinations
from pathlib import Path
from types import SimpleNamespace
from unittest.mock import patch

import numpy as np
import pandas as pd
from sklearn.ensemble import RandomForestClassifier

import racing_twenty
from forest_cases import Case, held_rows, some_subsets, table
from forest_curves import peak_from_here, status
from forest_search import drawn_by_size
from sensorprivacy.game import random_split
from sensorprivacy.minimize.engine_protocol import LABELS
from sensorprivacy.minimize.forest.engine import SharedEngine
from sensorprivacy.minimize.search import racing
from sensorprivacy.minimize.search.job import SearchJob
from sensorprivacy.minimize.search.order import train_by_size
from sensorprivacy.minimize.search.racing import TREES, Rule, Runner
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
WIDE = (
    Case("IoT-23", "iot-23", "", 1800, 9),
    Case("CIC-IDS 2017", "cic-ids-2017", "", 1800, 10),
    Case("IoT Sentinel", "iot-sentinel", "", 1800, 10),
    Case("MotionSense", "motionsense", "", 1800, 10),
    Case("smartwatch", "smartwatch", "", 1800, 10),
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
        before, foreseen = scores.before[:, runner.at], ~np.isin(runner.at, runner.sample)
        foreseen &= ~np.isnan(before[1])
        counts[f"no_tree_{column}"] = np.isnan(scores.glimpses[0, runner.at, 0]).sum()
        counts |= {f"foreseen_{column}": foreseen.sum(), f"above_before_{column}": (true > before[2])[foreseen].sum()}
        counts[f"below_before_{column}"] = (true < before[0])[foreseen].sum()
    return counts


def agreement(trees, seeds, cases=CASES, thresholds=THRESHOLDS):
    """Compare choices on every problem."""
    rows, sums = [], []
    for case in cases:
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
                runner = Runner(job, Rule(thresholds))
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
        chosen = {("race", s): select_table(frame, thresholds)["features"] for s, frame in enumerate(races)}
        chosen |= {("whole", s): select_table(frame, thresholds)["features"] for s, frame in enumerate(whole)}
        for level in thresholds:
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


def dropping(trees, seeds):
    """Compare choices of races for threshold .01 alone, among more features: many subsets have no tree."""
    found = agreement(trees, seeds, WIDE, (0.01,))
    return {"dropping": found["agreement"], "dropping_choices": found["choices"]}


def grown(rows, width, count, trees):
    """Return subsets of MotionSense drawn at random, and scores, glimpses and seconds of their forests by label."""
    game = table(Case(f"MotionSense, {width} features", "motionsense", "task", rows, width))
    engine = SharedEngine(held_rows(game), RandomForestClassifier(trees), 0, n_threads=1)
    subsets = some_subsets(width, count, 1)
    found = {}
    for label in LABELS:
        engine.score(subsets[:1], label)
        for stage in (*TREES, trees):
            begun = time.process_time()
            shown = engine.score(subsets, label) if stage == trees else engine.glimpse(subsets, label, stage)
            found[label, stage] = np.array(shown), time.process_time() - begun
    return subsets, found


class Replay(Runner):
    """A race among subsets whose forests are known; it marks the leaders, whose number does not grow with a race."""

    led = frozenset()

    def _leaders(self):
        at = super()._leaders()
        self.led |= set(at.tolist())
        return at


def replay(subsets, found, width, thresholds, learnt, seed):
    """Race among the subsets, `learnt` of them the sample. Return shares of the others that grew to each stage."""
    rng = np.random.default_rng(seed)
    at = np.array([sum(1 << bit for bit in subset) for subset in subsets])
    sample = np.sort(rng.permutation(at)[:learnt])
    trees = max(stage for _, stage in found)
    known = {key: dict(zip(subsets, shown.tolist(), strict=True)) for key, (shown, _) in found.items()}
    job = SimpleNamespace(
        engine=SimpleNamespace(n_trees=trees), positions=list(range(width)), subsets=subsets, progress=False,
        key=SimpleNamespace(part="test"), split=SimpleNamespace(part=lambda _: range(1200)), scores={},
        problem=SimpleNamespace(features=pd.DataFrame(columns=list("abcdefghijklmnopqrst"[:width]))),
        look=lambda label, some, stage, bar: {subset: known[label, stage][subset] for subset in some},
    )  # fmt: skip
    job.train = lambda label, some, bar: job.scores.update({label: known[label, trees]})
    with patch.object(racing, "sample_of_sizes", lambda _: sample):
        runner = Replay(job, Rule(thresholds))
        frame, _ = runner.run()
    whole = frame.assign(accuracy=known["task", trees].values(), identifiability=known["users", trees].values())
    others = np.setdiff1d(at, sample)
    row = {"same": (select_table(frame, thresholds)["features"] == select_table(whole, thresholds)["features"]).sum()}
    for label in LABELS:
        scores = runner.scores[label]
        for stage, glimpse in zip(TREES, scores.glimpses, strict=True):
            row[f"{label}_{stage}"] = np.mean(~np.isnan(glimpse[others, 0]))
        done = scores.finished[others]
        row[f"{label}_finished"] = np.mean(done & ~np.isin(others, list(runner.led)))
        row[f"{label}_with_leaders"] = np.mean(done)
    return row


def fifteen(trees, seeds, measured=None):
    """Replay races on random subsets of 15 features and scale their cost to all 32,767."""
    small, large = measured or (grown(4000, 15, 250, trees), grown(20_000, 15, 40, trees))
    rows = []
    for thresholds in (THRESHOLDS, (0.0, 0.01)):
        runs = pd.DataFrame([replay(*small, 15, thresholds, 80, seed) for seed in range(5)])
        for name, (_, found) in (("4,000 rows", small), ("20,000 rows", large)):
            seconds = {key: taken for key, (_, taken) in found.items()}
            total, spent, most = 0.0, 0.0, 0.0
            learning = len(racing.sample_of_sizes(15)) / (2**15 - 1)
            for label in LABELS:
                shares = runs.filter(like=label).mean()
                early = sum(shares[f"{label}_{stage}"] * seconds[label, stage] for stage in TREES)
                early += learning * sum(seconds[label, stage] for stage in (*TREES, trees))
                spent += early + shares[f"{label}_finished"] * seconds[label, trees]
                most += early + shares[f"{label}_with_leaders"] * seconds[label, trees]
                if label == "task" or max(thresholds) == 1:
                    total += seconds[label, trees]
            rows.append(
                {
                    "thresholds": f"to {max(thresholds):g}", "cost of forests at": name, "same_min": runs["same"].min(),
                    **runs.drop(columns="same").mean(), "ratio": spent / total, "ratio_with_leaders": most / total,
                    "first_stage": sum(
                        runs[f"{label}_{TREES[0]}"].mean() * seconds[label, TREES[0]] for label in LABELS
                    ) / total,
                }
            )  # fmt: skip
    return {"fifteen": pd.DataFrame(rows)}


def race_all(width, rows, trees):
    """Race all subsets, and scale the exhaustive search up from subsets drawn by size."""
    game = table(Case(f"MotionSense, {width} features", "motionsense", "task", rows, width))
    before = peak_from_here()
    with closing(job_of(game, trees, 0)) as job:
        some = drawn_by_size(width, 60)
        job.engine.score(some[:1], "task")
        begun, clock = time.process_time(), time.monotonic()
        frame, race = Runner(job, Rule(THRESHOLDS)).run()
        taken, minutes = time.process_time() - begun, (time.monotonic() - clock) / 60
        begun = time.process_time()
        for label in LABELS:
            job.engine.score(some, label)
        exhaustive = (time.process_time() - begun) / len(some) * len(frame)
    row = {"subsets": len(frame), "finished": race.finished}
    for label in LABELS:
        row |= dict(zip([f"{label}_{stage}" for stage in (*TREES, "finished")], race.grown[label], strict=True))
    row |= {"trees_task": race.share("task"), "trees_users": race.share("users"), "ratio": taken / exhaustive}
    row |= {"cpu_minutes": taken / 60, "minutes": minutes, "peak_mib": (status("VmHWM") - before) / 2**20}
    return pd.DataFrame([row])


def whole(trees, seeds):
    """Race all subsets of 12 features of 2,000 rows."""
    return {"whole": race_all(12, 2000, trees)}


def goal(trees, seeds):
    """Race all 32,767 subsets of 15 features of 20,000 rows, for all six thresholds."""
    return {"goal": race_all(15, 20_000, trees)}


def twenty(trees, seeds):
    """Estimate a whole race of 20 features for threshold .01."""
    return racing_twenty.twenty(trees)


PARTS = {
    "agreement": agreement,
    "dropping": dropping,
    "whole": whole,
    "fifteen": fifteen,
    "goal": goal,
    "twenty": twenty,
}


TEXTS = {
    "agreement": "Whole races of real problems, 100 trees. trees_task, trees_users: trees of the race, as a share "
    "of the exhaustive search's, with trees that were grown again. open: subsets whose forests stayed unfinished; "
    "above, below: those of them whose score in the exhaustive search is outside the bounds. With eight features, the "
    "sample to learn from is 74 of 255 subsets, so these races save little; they test the choices.",
    "choices": "Choices of the races and of exhaustive searches with the same seed (race), and of exhaustive searches "
    "with two seeds (reseeded): how many pairs choose the same subset, and the largest difference of the choices, "
    "judged by the mean exhaustive scores of all seeds.",
    "whole": "A whole race of 12 features of MotionSense, 2,000 rows, both labels, all six thresholds. task_N: forests "
    "grown to N trees. ratio: processor time of the race over that of the exhaustive search (from 60 subsets).",
    "fifteen": "15 features of MotionSense, scaled up from races among 250 random subsets of 4,000 rows, 80 of them to "
    "learn from, means of five draws. task_N: share of the other subsets that grew to N trees. finished leaves out the "
    "leaders, whose number does not grow with the number of subsets; with_leaders counts them, which is too many. "
    "ratio: estimated processor time of the whole race over that of the exhaustive search. same_min: the fewest "
    "thresholds (of six, or of two) at which the race chose what all 250 finished forests choose.",
    "goal": "A whole race of all subsets of 15 features of MotionSense, 20,000 rows, both labels, all six thresholds, "
    "on two cores. minutes: of the clock; cpu_minutes: of the processor, over all threads.",
    "dropping": "As agreement, but races for threshold .01 alone among more features, 1,800 rows, 16 trees, two seeds. "
    "no_tree: subsets without any tree. foreseen: subsets outside the sample with bounds before their first tree; "
    "above_before, below_before: those whose exhaustive score is outside these bounds.",
    "dropping_choices": "Choices of these races, as in choices.",
    "twenty": "Before subsets were dropped without a tree: 20 features of MotionSense, 20,000 rows: hours on two cores "
    "to grow so many trees of the forests of all 1,048,575 subsets, scaled up from a few random subsets, on a machine "
    "with 20 to 30 waiting processes. There, the forests of `fifteen` at 20,000 rows took 1.9 times the processor time "
    "of `forest_search_fifteen.md`.",
    "twenty_cost": "Processor seconds of a forest of 20 features, 20,000 rows, by size, from four random subsets each.",
    "twenty_top": "A share of the race of 20 features: forests of sizes 20 to 17 outside the sample. seconds: of the "
    "processor, with the sample. low, high: bounds of the best accuracy after these sizes.",
    "twenty_inner": "Races for threshold .01 in a sub-lattice: so many of the 20 features are searched, so many are "
    "always in. sample: subsets of each size to learn from; the race of 20 features has 52. Forests outside "
    "the sample by whole size. best of: the loss counts from the best accuracy of the "
    "sub-lattice, or from that of all subsets.",
    "twenty_hours": "Hours on two cores of each stage of the race of 20 features for threshold .01, scaled up from "
    "twenty_inner and twenty_cost. Leaders count as a share here though they do not become more, so this is too high.",
    "twenty_overhead": "A whole race of 20 features with an engine that needs no time: seconds and memory outside "
    "forests.",
}


def report():
    """Write the page of all parts that were measured."""
    lines = [
        "# Races and exhaustive searches",
        "",
        "`python bench/racing.py --full`. "
        "`whole`, `fifteen` and `twenty` were measured on 22 November 2026, one by one on a busy machine, by "
        "scripts that call the functions of this file with smaller samples. They are races as they were before "
        "subsets were dropped without a tree. All other parts were measured after that, on 24 November: "
        "`agreement` and `choices` with two seeds, `goal` whole, on two cores that other work shared (before, the "
        "race took 39.9 processor minutes and .146 of the exhaustive search's, on another machine), and "
        "`dropping` and the parts of `twenty_` one by one on one core of a busy machine.",
    ]
    for part, text in TEXTS.items():
        if (file := RESULTS / f"racing_{part}.csv").exists():
            lines += ["", f"## {part.capitalize()}", "", text, "", pd.read_csv(file).to_markdown(index=False)]
    (RESULTS / "racing.md").write_text("\n".join(lines) + "\n")


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
                report()


if __name__ == "__main__":
    main()
