"""Does a race choose what the exhaustive search chooses? Agreement and cost, in five parts, each with `--only`.

agreement  every subset of real problems: exhaustive searches and races under three seeds each. The measure is what
           exhaustive searches of two seeds differ from each other. All choices are judged by the exhaustive scores,
           averaged over the seeds. `above`, `below`: unfinished scores outside the bounds of the race, by the
           exhaustive scores of the same seed; `above_before`, `below_before`: scores outside the bounds before the
           first tree.
dropping   the same with more features, for threshold .01 alone: most subsets have no tree.
whole      a whole race of 12 features of 2,000 rows, and the exhaustive search scaled up from subsets drawn by size, as
           in forest_search.py. `peak_mib`: growth of the process's memory.
goal       the same for 15 features of 20,000 rows, on all cores. `minutes`, those of the clock, mean little on a busy
           machine.
twenty     the same for 20 features of 20,000 rows, for threshold .01. Nobody can finish all these forests. So some
           that were dropped are finished after the race: those that came nearest to a choice, and random ones.

Costs are ratios of processor time, measured in one process: medians of three runs, of one with 20 features.

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

from forest_cases import Case, machine, table
from forest_curves import peak_from_here, status
from forest_search import drawn_by_size
from sensorprivacy.game import random_split
from sensorprivacy.minimize.engine_protocol import LABELS
from sensorprivacy.minimize.search.exhaustive import train_by_size
from sensorprivacy.minimize.search.job import SearchJob
from sensorprivacy.minimize.search.racing import TREES, Runner
from sensorprivacy.minimize.select import THRESHOLDS, Rule, select, select_table

RESULTS = Path(__file__).resolve().parent / "results"
AFTERWARDS = 200  # subsets finished after a race of 20 features, of each kind
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
                runner = Runner(job, thresholds, Rule())
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


def race_all(width, rows, trees, thresholds=THRESHOLDS, runs=1, after=None):
    """Race all subsets, and scale the exhaustive search up from subsets drawn by size. `after` looks at the last race.

    Every run must drop the same subsets. Times are medians over the runs.
    """
    game = table(Case(f"MotionSense, {width} features", "motionsense", "task", rows, width))
    before, some, times, frames = peak_from_here(), drawn_by_size(width, 60), [], []
    for _ in range(runs):
        with closing(job_of(game, trees, 0)) as job:
            job.engine.score(some[:1], "task")
            begun, clock = time.process_time(), time.monotonic()
            runner = Runner(job, thresholds, Rule())
            frame, race = runner.run()
            taken, minutes = time.process_time() - begun, (time.monotonic() - clock) / 60
            peak = (status("VmHWM") - before) / 2**20
            begun = time.process_time()
            for label in LABELS:
                job.engine.score(some, label)
            exhaustive = (time.process_time() - begun) / len(some) * len(frame)
            seen = {} if after is None else after(job, runner, frame)
        times.append({"ratio": taken / exhaustive, "cpu_minutes": taken / 60, "minutes": minutes, "peak_mib": peak})
        frames.append(frame)
        pd.testing.assert_frame_equal(frame, frames[0], check_exact=True)
    row = {"subsets": len(frame), "finished": race.finished}
    for label in LABELS:
        row |= dict(zip([f"{label}_{stage}" for stage in (*TREES, "finished")], race.grown[label], strict=True))
    row |= {"trees_task": race.share("task"), "trees_users": race.share("users"), "runs": runs}
    return pd.DataFrame([row | pd.DataFrame(times).median().to_dict() | seen])


def afterwards(job, runner, frame):
    """Finish dropped subsets. Return how many of them could have been chosen, and how many bounds were wrong."""
    chosen = select(frame, 0.01)
    (_, a_mid, a_high), (i_low, i_mid, _) = (runner.scores[label].bounds() for label in LABELS)
    least = runner.rule.least(float(np.nanmax(runner.scores["task"].exact)), 0.01)
    # standard errors between the prediction and a choice
    with np.errstate(divide="ignore", invalid="ignore"):
        lacks = np.fmax((least - a_mid) / (a_high - a_mid), (i_mid - chosen["identifiability"]) / (i_mid - i_low))
    dropped = np.setdiff1d(runner.at, np.flatnonzero(runner.scores["task"].finished & runner.scores["users"].finished))
    near = dropped[np.argsort(lacks[dropped], kind="stable")[:AFTERWARDS]]
    drawn = np.random.default_rng(0).choice(np.setdiff1d(dropped, near), AFTERWARDS, replace=False)
    row = {"chosen_features": chosen["n_features"], "chosen_accuracy": chosen["accuracy"]}
    row["chosen_identifiability"] = chosen["identifiability"]
    for kind, at in (("nearest", near), ("drawn", drawn)):
        subsets = [job.subsets[i] for i in runner.subset_at[at]]
        exact = {label: np.array(job.engine.score(subsets, label)) for label in LABELS}
        better = (exact["task"] >= least) & (exact["users"] < chosen["identifiability"])
        row[f"{kind}_better"] = f"{better.sum()} of {len(at)}"
        row[f"{kind}_above_task"] = (exact["task"] > a_high[at]).sum()
        row[f"{kind}_below_users"] = (exact["users"] < i_low[at]).sum()
    return row


def whole(trees, seeds):
    """Race all subsets of 12 features of 2,000 rows."""
    return {"whole": race_all(12, 2000, trees, runs=3)}


def goal(trees, seeds):
    """Race all 32,767 subsets of 15 features of 20,000 rows, for all six thresholds."""
    return {"goal": race_all(15, 20_000, trees, runs=3)}


def twenty(trees, seeds):
    """Race all 1,048,575 subsets of 20 features of 20,000 rows, for threshold .01."""
    return {"twenty": race_all(20, 20_000, trees, (0.01,), after=afterwards)}


PARTS = {"agreement": agreement, "dropping": dropping, "whole": whole, "goal": goal, "twenty": twenty}


TEXT = """# A race chooses what the exhaustive search chooses, for a part of its trees

`python bench/racing.py --full`. {machine}

Races of real problems, 100 trees, three seeds, beside exhaustive searches. *trees*: those of the race as a share of the
exhaustive search's. *race*: choices at all thresholds that equal those of the exhaustive search of the same seed.
*other seed*: choices of two exhaustive searches with different seeds that are equal. Few features are searched for all
six thresholds, more features for threshold .01 alone; the columns of `racing_*.csv` have the scores outside the bounds.

{agreement}

Whole races of MotionSense, both labels, two cores: 12 features of 2,000 rows and 15 of 20,000 for all six thresholds,
20 of 20,000 for threshold .01. *ratio*: processor time over that of the exhaustive search, scaled up from 60 subsets.

{cost}

After the race of 20 features, {after} dropped subsets were finished: those nearest to a choice, and random ones.
Of these, {better} should have been chosen.
"""


def report(about=None):
    """Write the page of all parts."""
    read = {path.stem.removeprefix("racing_"): pd.read_csv(path) for path in RESULTS.glob("racing_*.csv")}
    rows = []
    for part, choices in (("agreement", "choices"), ("dropping", "dropping_choices")):
        for problem, own in read[part].groupby("problem", sort=False):
            chosen = read[choices][read[choices]["problem"] == problem]
            row = {"problem": problem, "subsets": own["subsets"].iloc[0]}
            row |= {f"trees, {name}": f"{own[f'trees_{name}'].mean():.2f}" for name in ("task", "users")}
            rows.append(row | {"race": added(chosen["same_race"]), "other seed": added(chosen["same_reseeded"])})
    columns = ["subsets", "finished", "ratio", "cpu_minutes", "minutes", "peak_mib"]
    cost = pd.concat([read[part][columns] for part in ("whole", "goal", "twenty")])
    text = TEXT.format(
        machine=about or machine(),
        agreement=pd.DataFrame(rows).to_markdown(index=False, disable_numparse=True),
        cost=cost.round(3).to_markdown(index=False, floatfmt=",.7g"),
        after=2 * AFTERWARDS,
        better=added(read["twenty"][["nearest_better", "drawn_better"]].iloc[0]).partition(" ")[0],
    )
    (RESULTS / "racing.md").write_text(text)


def added(counts):
    """Return several counts such as ``3 of 3`` as one."""
    pairs = [[int(word) for word in text.split(" of ")] for text in counts]
    return " of ".join(str(sum(column)) for column in zip(*pairs, strict=True))


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
    if arguments.full:
        report()


if __name__ == "__main__":
    main()
