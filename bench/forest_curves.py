"""What a forest costs against rows, features, classes and cores, and what memory it takes.

Shared forest and scikit-learn (joblib over subsets) side by side on MotionSense windows, in one process. Every curve is
relative to its first point; `ratio` is scikit-learn over shared at the same point. Classes: recordings merged into so
many users. Memory: the growth of the process's peak while one more search runs, over the bytes of the coded table.

    python bench/forest_curves.py            # a look: 10 trees
    python bench/forest_curves.py --full     # 50 trees; writes the results and the figure
"""

import argparse
import resource
import statistics
import sys
from pathlib import Path

import matplotlib as mpl
import numpy as np
import pandas as pd

from forest_cases import CASES, held_rows, over_subsets, shared, table
from sensorprivacy.datasets.types import Problem
from sensorprivacy.minimize.coding import code_columns
from sensorprivacy.minimize.forest import SharedEngine

mpl.use("Agg")
import matplotlib.pyplot as plt

RESULTS = Path(__file__).resolve().parent / "results"
BY_NAME = {case.name: case for case in CASES}


def at(game, rows=10_000, features=6, classes=24, cores=1):
    """Return the arguments of one measurement: rows of a split, two subsets, cores."""
    kept = np.sort(np.random.default_rng(0).permutation(game.n_records)[:rows])
    codes = game.users.iloc[kept].rank(method="dense").astype(int) % classes
    cut = Problem(game.features.iloc[kept], game.task.iloc[kept], codes, name=game.name)
    width = game.n_features
    subsets = [tuple(sorted((start + 3 * step) % width for step in range(features))) for start in range(2 * cores)]
    return held_rows(cut), subsets, cores


CURVES = {
    "rows": (1250, 2500, 5000, 10_000, 20_000),
    "features": (1, 2, 4, 6, 8, 10),
    "classes": (2, 6, 24, 90, 180, 360),
    "cores": (1, 2),
}


def timed(train, held, subsets, trees, cores):
    """Return processor seconds a subset, over the cores that share them: the median of three."""
    return statistics.median(train(held, "users", subsets, trees, cores)[1] / len(subsets) / cores for _ in range(3))


def measure(game, trees):
    """Return one row a point."""
    rows = []
    for axis, points in CURVES.items():
        first = {}
        for point in points:
            held, subsets, cores = at(game, **{axis: point})
            taken = {}
            for name, train in (("shared", shared), ("sklearn", over_subsets)):
                train(held, "users", subsets, 1, cores)
                taken[name] = timed(train, held, subsets, trees, cores)
            first = first or taken
            rows.append(
                {
                    "axis": axis, "point": point, "shared": taken["shared"] / first["shared"],
                    "sklearn": taken["sklearn"] / first["sklearn"], "ratio": taken["sklearn"] / taken["shared"],
                }
            )  # fmt: skip
            print(pd.DataFrame(rows[-1:]).round(3).to_string(index=False, header=False), flush=True)
    return pd.DataFrame(rows).round(3)


def memory(game, trees):
    """Return bytes of the coded table and of what a search adds to it, by threads, at growing rows."""
    rows = []
    for count in (5000, 20_000):
        held, subsets, _ = at(game, rows=count, cores=2)
        engine = SharedEngine(held, n_threads=1)
        coded = sys.getsizeof(code_columns(held.train, held.test))
        before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        engine.n_trees = trees
        engine.score(subsets * 4, "users")
        grown = 1024 * (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before)
        rows.append({"rows": count, "subsets": 4 * len(subsets), "coded_bytes": coded, "peak_growth_bytes": grown})
    return pd.DataFrame(rows)


def draw(curves):
    """Draw the four curves."""
    figure, panels = plt.subplots(1, 4, figsize=(11, 2.8), constrained_layout=True)
    for panel, (axis, points) in zip(panels, curves.groupby("axis", sort=False), strict=True):
        for name, marker in (("shared", "o"), ("sklearn", "s")):
            panel.loglog(points["point"], points[name], marker=marker, label=name)
        panel.set_xlabel(axis)
        panel.minorticks_off()
        panel.set_xticks(points["point"], [f"{p:,}" for p in points["point"]], fontsize=7)
    panels[0].set_ylabel("seconds a forest,\nrelative to the first point")
    panels[0].legend()
    figure.savefig(RESULTS / "forest_curves.png", dpi=120, metadata={"Software": None})


def main():
    """Measure the curves."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--full", action="store_true")
    arguments = parser.parse_args()
    trees = 50 if arguments.full else 10
    game = table(BY_NAME["MotionSense, recording"])
    space = memory(game, trees)
    print(space.to_string(index=False))
    curves = measure(game, trees)
    if arguments.full:
        curves.to_csv(RESULTS / "forest_curves.csv", index=False, lineterminator="\n")
        draw(curves)
        (RESULTS / "forest_curves.md").write_text(
            "# What a forest costs\n\n`python bench/forest_curves.py --full`; relative to each curve's first point; "
            f"ratio = scikit-learn / shared; {trees} trees, MotionSense.\n\n{curves.to_markdown(index=False)}\n\n"
            f"Memory of one thread:\n\n{space.to_markdown(index=False)}\n"
        )


if __name__ == "__main__":
    main()
