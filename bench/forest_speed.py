"""The shared forest against the better of the two scikit-learn ways, on real rows.

The same subsets (drawn from the whole lattice), rows, trees and cores for all three ways, in turn, in one process;
medians of repeated rounds, and only ratios of them.

    python bench/forest_speed.py --rounds 1 --trees 10    # a look
    python bench/forest_speed.py --full                   # 3 rounds, 3 subsets, 30 trees; writes the results
    python bench/forest_speed.py --full --only "CIC, attack"
"""

import argparse
import statistics
import time
from pathlib import Path

import numpy as np
import pandas as pd

from forest_cases import CASES, held_rows, in_forest, machine, over_subsets, shared, some_subsets, table

RESULTS = Path(__file__).resolve().parent / "results"
WAYS = {"shared": shared, "over subsets": over_subsets, "in the forest": in_forest}
SKLEARN = ("over subsets", "in the forest")


def measure(case, rounds, subsets, trees, jobs):
    """Return one row: classes, ratios of wall and of processor time, and the accuracies."""
    held = held_rows(table(case))
    chosen = some_subsets(held.train.shape[1], subsets)
    # on one core both ways of scikit-learn are the same loop
    ways = WAYS if jobs > 1 else {way: WAYS[way] for way in ("shared", "over subsets")}
    times = {way: [] for way in ways}
    scores = {}
    over_subsets(held, case.label, chosen[:2], 1, jobs)  # workers are started, compiled code is loaded and the table
    shared(held, case.label, chosen[:1], trees, jobs)  # is coded (once a search) before the clock runs
    for _ in range(rounds):
        for way, train in ways.items():
            begun = time.perf_counter()
            scores[way], spent = train(held, case.label, chosen, trees, jobs)
            times[way].append((time.perf_counter() - begun, spent))
    wall, processor = ({way: statistics.median(t[i] for t in taken) for way, taken in times.items()} for i in (0, 1))
    sklearn = [way for way in SKLEARN if way in ways]
    better = min(sklearn, key=wall.__getitem__)
    cheaper = min(sklearn, key=processor.__getitem__)
    single = [
        min(times[way][i][0] for way in sklearn) / times["shared"][i][0]
        for i in range(rounds)
    ]  # fmt: skip
    return {
        "case": case.name,
        "rows": len(held.train) + len(held.test),
        "classes": len(np.unique(held.labels[case.label][0])),
        "trees": trees,
        "jobs": jobs,
        "better_way": better,
        "wall_ratio": wall[better] / wall["shared"],
        "lowest_round": min(single),
        "highest_round": max(single),
        "processor_ratio": processor[cheaper] / processor["shared"],
        "accuracy_shared": np.mean(scores["shared"]),
        "accuracy_sklearn": np.mean(scores["over subsets"]),
    }


def kept(row):
    """Return the table with this case's row in the place of an earlier one, and write it."""
    path = RESULTS / "forest_speed.csv"
    rows = pd.read_csv(path).to_dict("records") if path.exists() else []
    frame = pd.DataFrame([*(old for old in rows if old["case"] != row["case"]), row]).round(4)
    order = [case.name for case in CASES]
    frame = frame.sort_values("case", key=lambda names: names.map(order.index)).reset_index(drop=True)
    frame.to_csv(path, index=False, lineterminator="\n")
    return frame


def main():
    """Measure the cases."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--full", action="store_true", help="write the results")
    parser.add_argument("--only", nargs="+", choices=[case.name for case in CASES])
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--subsets", type=int, default=3)
    parser.add_argument("--trees", type=int, default=30)
    parser.add_argument("--jobs", type=int, default=2)
    given = parser.parse_args()
    for number, case in enumerate(case for case in CASES if given.only is None or case.name in given.only):
        row = measure(case, given.rounds, given.subsets, given.trees, given.jobs)
        print(pd.DataFrame([row]).round(3).to_string(index=False, header=number == 0), flush=True)
        if given.full:
            text = (
                "# Shared forest against scikit-learn\n\n"
                f"`python bench/forest_speed.py --full`: medians of {given.rounds} rounds of {given.subsets} subsets, "
                "in turn, in one process; ratio = time of the better scikit-learn way / time of the shared forest. "
                f"{machine()} So wall times are noisy (lowest and highest round); processor time, workers included, "
                "is less so: read that one. On one job both ways of scikit-learn are the same.\n\n"
            )
            (RESULTS / "forest_speed.md").write_text(text + kept(row).to_markdown(index=False) + "\n")


if __name__ == "__main__":
    main()
