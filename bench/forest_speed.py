"""The shared forest against the better of the two scikit-learn ways, on real rows.

The same subsets (drawn from the whole lattice), rows, trees and cores for all three ways, in turn, in one process;
medians of repeated rounds, and only ratios of them.

    python bench/forest_speed.py                          # a look: 2 rounds, 4 subsets, 20 trees
    python bench/forest_speed.py --full                   # 3 rounds, 6 subsets, 100 trees; writes the results
"""

import argparse
import statistics
import time
from pathlib import Path

import numpy as np
import pandas as pd

from forest_cases import CASES, held_rows, in_forest, over_subsets, shared, some_subsets, table

RESULTS = Path(__file__).resolve().parent / "results"
WAYS = {"shared": shared, "over subsets": over_subsets, "in the forest": in_forest}
SKLEARN = ("over subsets", "in the forest")


def measure(case, rounds, subsets, trees, jobs):
    """Return one row: classes, ratios of wall and of processor time, and the accuracies."""
    held = held_rows(table(case))
    chosen = some_subsets(held.train.shape[1], subsets)
    times = {way: [] for way in WAYS}
    scores = {}
    for train in WAYS.values():  # compiled code is loaded and workers are started before the clock runs
        train(held, case.label, chosen[:2], 2, jobs)
    for _ in range(rounds):
        for way, train in WAYS.items():
            begun = time.perf_counter()
            scores[way], spent = train(held, case.label, chosen, trees, jobs)
            times[way].append((time.perf_counter() - begun, spent))
    wall, processor = ({way: statistics.median(t[i] for t in taken) for way, taken in times.items()} for i in (0, 1))
    better = min(SKLEARN, key=wall.__getitem__)
    cheaper = min(SKLEARN, key=processor.__getitem__)
    single = [
        min(times[way][i][0] for way in SKLEARN) / times["shared"][i][0]
        for i in range(rounds)
    ]  # fmt: skip
    return {
        "case": case.name,
        "rows": len(held.train) + len(held.test),
        "classes": len(np.unique(held.labels[case.label][0])),
        "better_way": better,
        "wall_ratio": wall[better] / wall["shared"],
        "lowest_round": min(single),
        "highest_round": max(single),
        "processor_ratio": processor[cheaper] / processor["shared"],
        "accuracy_shared": np.mean(scores["shared"]),
        "accuracy_sklearn": np.mean(scores["over subsets"]),
    }


def main():
    """Measure every case."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--full", action="store_true")
    parser.add_argument("--jobs", type=int, default=2)
    arguments = parser.parse_args()
    rounds, subsets, trees = (3, 6, 100) if arguments.full else (2, 4, 20)
    rows = []
    for case in CASES:
        rows.append(measure(case, rounds, subsets, trees, arguments.jobs))
        print(pd.DataFrame(rows[-1:]).round(3).to_string(index=False, header=len(rows) == 1), flush=True)
        if arguments.full:
            frame = pd.DataFrame(rows).round(4)
            frame.to_csv(RESULTS / "forest_speed.csv", index=False, lineterminator="\n")
    if arguments.full:
        text = (
            f"# Shared forest against scikit-learn, {trees} trees, {arguments.jobs} cores\n\n"
            f"`python bench/forest_speed.py --full`: medians of {rounds} rounds of {subsets} subsets in one process; "
            "ratio = time of the better scikit-learn way / time of the shared forest. Wall times of a machine that "
            "others use too are noisy (lowest and highest round); processor time, workers included, is not.\n\n"
        )
        (RESULTS / "forest_speed.md").write_text(text + frame.to_markdown(index=False) + "\n")


if __name__ == "__main__":
    main()
