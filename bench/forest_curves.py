"""What a forest costs against rows, features, classes and cores, and what memory it takes.

Shared forest and scikit-learn (joblib over subsets) side by side on MotionSense windows, in one process. Every curve is
in units of the shared forest's first point; `ratio` is scikit-learn over shared at the same point. Times are the
processor's, over the cores: against cores they show whether threads get into each other's way. Classes: recordings
merged into so many users. Memory: the growth of the process's peak while subsets are searched (read from Linux), over
the coded table, each case in a process of its own.

    python bench/forest_curves.py            # a look
    python bench/forest_curves.py --full     # writes the results and the figure
"""

import argparse
import gc
import multiprocessing
import statistics
import sys
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

import matplotlib as mpl
import numpy as np
import pandas as pd
from sklearn.ensemble import RandomForestClassifier

from forest_cases import CASES, held_rows, machine, over_subsets, shared, table
from sensorprivacy.data import Problem
from sensorprivacy.minimize.forest.engine import SharedEngine

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
MEMORY = ((5000, 6, 24, 1), (20_000, 6, 24, 1), (20_000, 10, 24, 1), (20_000, 6, 360, 1), (20_000, 6, 24, 2))


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
                    "sklearn": taken["sklearn"] / first["shared"], "ratio": taken["sklearn"] / taken["shared"],
                }
            )  # fmt: skip
            print(pd.DataFrame(rows[-1:]).round(3).to_string(index=False, header=False), flush=True)
    return pd.DataFrame(rows).round(3)


def memory(trees):
    """Return what a search adds to the process's memory at its peak, beside the bytes of the coded table."""
    spawn = multiprocessing.get_context("spawn")  # a process that has searched before has memory to use again
    with ProcessPoolExecutor(1, mp_context=spawn, max_tasks_per_child=1) as pool:
        return pd.DataFrame(list(pool.map(grown, MEMORY, [trees] * len(MEMORY)))).round(2)


def grown(case, trees):
    """Return one row of the table of memory."""
    count, features, classes, threads = case
    game = table(BY_NAME["MotionSense, recording"])
    held, subsets, _ = at(game, rows=count, features=features, classes=classes, cores=4)
    small = at(game, rows=500, features=features, classes=classes)
    SharedEngine(small[0], RandomForestClassifier(1), n_threads=1).score(small[1], "users")  # compiled code is loaded
    engine = SharedEngine(held, RandomForestClassifier(trees), n_threads=threads)
    before = peak_from_here()
    engine.score(subsets, "users")
    growth = status("VmHWM") - before
    seen = len(np.unique(held.labels["users"][0]))
    votes = 8 * len(held.test) * seen * threads  # one number a held-out row and class: the other part that grows
    return {
        "rows": len(held.train), "held": len(held.test), "features": features, "classes": seen, "threads": threads,
        "subsets": len(subsets), "coded_mib": sys.getsizeof(engine.columns) / 2**20, "growth_mib": growth / 2**20,
        "votes_mib": votes / 2**20, "words_a_row_and_thread": (growth - votes) / threads / len(held.train) / 8,
    }  # fmt: skip


def peak_from_here():
    """Let the kernel count the peak anew from what is resident now (Linux), and return that, in bytes."""
    gc.collect()
    Path("/proc/self/clear_refs").write_text("5")
    return status("VmRSS")


def status(name):
    """Return one of the kernel's counters of this process, in bytes."""
    line = next(line for line in Path("/proc/self/status").read_text().splitlines() if line.startswith(f"{name}:"))
    return 1024 * int(line.split()[1])


def draw(curves):
    """Draw the four curves."""
    figure, panels = plt.subplots(1, 4, figsize=(11, 2.8), constrained_layout=True)
    for panel, (axis, points) in zip(panels, curves.groupby("axis", sort=False), strict=True):
        for name, marker in (("shared", "o"), ("sklearn", "s")):
            panel.loglog(points["point"], points[name], marker=marker, label=name)
        panel.set_xlabel(axis)
        panel.minorticks_off()
        low, high = points[["shared", "sklearn"]].min().min(), points[["shared", "sklearn"]].max().max()
        ticks = [step * 10**power for power in range(-1, 4) for step in (1, 2, 5)]
        panel.set_yticks(
            kept := [t for t in ticks if low / 1.5 <= t <= high * 1.5], [f"{t:g}" for t in kept], fontsize=7
        )
        panel.set_xticks(points["point"], [f"{p:,}" for p in points["point"]], fontsize=7)
    panels[0].set_ylabel("cost of a forest, in units of\nthe shared one at the first point")
    panels[0].legend()
    figure.savefig(RESULTS / "forest_curves.png", dpi=120, metadata={"Software": None})


def main():
    """Measure the curves."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--full", action="store_true", help="write the results and the figure")
    parser.add_argument("--trees", type=int, default=10)
    arguments = parser.parse_args()
    game = table(BY_NAME["MotionSense, recording"])
    space = memory(arguments.trees)
    print(space.to_string(index=False), flush=True)
    curves = measure(game, arguments.trees)
    if arguments.full:
        curves.to_csv(RESULTS / "forest_curves.csv", index=False, lineterminator="\n")
        space.to_csv(RESULTS / "forest_memory.csv", index=False, lineterminator="\n")
        draw(curves)
        (RESULTS / "forest_curves.md").write_text(
            "# What a forest costs\n\n`python bench/forest_curves.py --full`: processor time a forest, divided by the "
            "cores that share the forests; in units of the shared forest's at each curve's first point; "
            "ratio = scikit-learn / shared; "
            f"medians of three, {arguments.trees} trees, MotionSense windows (10,000 of them, 6 features, 24 classes "
            f"and one core but for the axis). {machine()}\n\n{curves.to_markdown(index=False)}\n\n"
            "![Cost curves](forest_curves.png)\n\n"
            "Memory: the growth of the process's peak while subsets are searched, beside the coded table, which is "
            "there once. Of the growth, one number a held-out row and class and thread is the votes; the rest is given "
            f"in words of 64 bits a training row and thread.\n\n{space.to_markdown(index=False)}\n"
        )


if __name__ == "__main__":
    main()
