"""How long does the shared forest need to prepare the rows of a subset, before its first tree? Ratios to plain NumPy.

ratio        processor time of `subset_rows` over that of the same steps with pandas' factorize, a stable argsort and
             fancy indexing, which must return the same arrays. Median of runs in one process.
first_trees  processor time of `subset_rows` over that of a whole glimpse of four trees.

    python bench/forest_rows.py --full                   # writes results/forest_rows.csv
"""

import argparse
import time
from pathlib import Path
from statistics import median

import numpy as np
import pandas as pd
from sklearn.ensemble import RandomForestClassifier

from forest_cases import Case, held_rows, table
from sensorprivacy.minimize.forest.coding import lay_out, subset_rows
from sensorprivacy.minimize.forest.engine import SharedEngine

RESULTS = Path(__file__).resolve().parent / "results"
CASES = (
    Case("MotionSense, 20 features", "motionsense", "task", 20_000, 20),
    Case("Sentinel, device", "iot-sentinel", "task", 20_000, 10),
    Case("CIC, attack", "cic-ids-2017", "task", 20_000, 10),
)


def plainly(columns, subset, classes):
    """Return the groups and the sorted items of a subset, and its held-out groups."""
    found = []
    for codes, labels in (
        (columns.train[subset], classes),
        (columns.test[subset], np.zeros(columns.test.shape[1], int)),
    ):
        group = pd.factorize(labels)[0]
        for column in codes:
            group = pd.factorize(group * (int(column.max()) + 1) + column)[0]
        found.append((group, np.unique(group, return_index=True)[1]))
    (group, first), (held_groups, _) = found
    codes = np.ascontiguousarray(columns.train[subset][:, first])
    layout = lay_out(int(classes.max()), len(first) - 1, int(codes.max()))
    order = np.argsort(codes, axis=1, kind="stable")
    ordered = np.take_along_axis(codes, order, axis=1).astype(np.uint64) << layout.code
    ordered |= (order.astype(np.uint64) << layout.row) | classes[first][order].astype(np.uint64)
    return group, ordered, held_groups


def seconds(call):
    """Return the processor seconds of a call."""
    begun = time.process_time()
    call()
    return time.process_time() - begun


def measure(engine, subsets, runs):
    """Compare both ways, and return the median ratios."""
    columns, classes, most = engine.columns, engine.labels["task"][0], engine.most["task"]
    for subset in subsets:
        rows, _, held_groups = subset_rows(columns, subset, classes, most)
        for ours, oracle in zip(
            (rows.group, rows.ordered, held_groups), plainly(columns, subset, classes), strict=True
        ):
            np.testing.assert_array_equal(ours, oracle)
    ways = {
        "ours": lambda: [subset_rows(columns, subset, classes, most) for subset in subsets],
        "plain": lambda: [plainly(columns, subset, classes) for subset in subsets],
        "trees": lambda: engine.glimpse(subsets, "task", 4),
    }
    taken = pd.DataFrame([{name: seconds(way) for name, way in ways.items()} for _ in range(runs)])
    return {
        "ratio": median(taken["ours"] / taken["plain"]), "first_trees": median(taken["ours"] / taken["trees"])
    }  # fmt: skip


def main():
    """Measure every case and size."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--full", action="store_true")
    parser.add_argument("--runs", type=int, default=5)
    arguments = parser.parse_args()
    rows = []
    for case in CASES:
        engine = SharedEngine(held_rows(table(case)), RandomForestClassifier(100), 0, n_threads=1)
        width = len(engine.columns.train)
        for size in (size for size in (3, 6, 9, 12, 16) if size <= width):
            draw = np.random.default_rng(size)
            subsets = [np.sort(draw.choice(width, size, replace=False)) for _ in range(10)]
            rows.append({"problem": case.name, "features": size, **measure(engine, subsets, arguments.runs)})
    frame = pd.DataFrame(rows)
    print(frame.round(3).to_string(index=False))
    if arguments.full:
        frame.round(3).to_csv(RESULTS / "forest_rows.csv", index=False, lineterminator="\n")


if __name__ == "__main__":
    main()
