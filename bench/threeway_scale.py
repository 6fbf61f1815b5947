"""Entropies, all candidate thresholds and both utilities, from 100,000 to 10 million rows by 15 columns.

Beside it the plain pandas way: `value_counts` a column for the entropies, and `groupby(kept).size()` for the joint
entropy of every distinct set of columns that some pair of thresholds keeps. Each run is a process of its own, so that
its peak memory is its own; seconds are processor time, the best of three up to a million rows, since wall time on a
shared machine measures the neighbours. A full run writes bench/results/threeway_scale.csv.

    python bench/threeway_scale.py           # up to 1 million rows, half a minute
    python bench/threeway_scale.py --full    # up to 10 million rows, about five minutes
"""

import argparse
import json
import resource
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pandas as pd

HERE = Path(__file__).resolve().parent
STEPS = ("entropy", "both utilities, all thresholds")
QUICK, FULL = (100_000, 300_000, 1_000_000), (100_000, 300_000, 1_000_000, 3_000_000, 10_000_000)
# numbers of distinct values, as Adult's fifteen columns have them; the last but one and the last grow with the rows
VALUES = (2, 2, 5, 6, 7, 7, 9, 15, 16, 16, 42, 74, 96, None, None)
TEXT = {3, 5, 7}


def make(n: int) -> pd.DataFrame:
    """Return n rows of 15 columns: small and large integers, three of text, one of floats with missing values."""
    rng = np.random.default_rng(0)
    columns = {}
    for place, k in enumerate(VALUES):
        if place == 13:
            columns["amount"] = np.where(rng.random(n) < 0.05, np.nan, rng.integers(0, max(2, n // 10), n) / 4)
        elif place == 14:
            columns["weight"] = rng.integers(0, n, n)
        else:
            codes = np.minimum((rng.random(n) ** 2 * k).astype(np.int64), k - 1)
            names = pd.array([f"value {v}" for v in range(k)], dtype="str")
            columns[f"c{place}"] = names.take(codes) if place in TEXT else codes
    return pd.DataFrame(columns)


def peak() -> float:
    """Return the largest memory this process has held, GiB."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20


def ours(frame: pd.DataFrame) -> dict:
    """Return seconds of the library's steps, and the utilities of every pair."""
    from sensorprivacy.threeway import Appraiser, entropies, find_thresholds

    t = [time.process_time()]
    entropies(frame)
    t.append(time.process_time())
    printed = Appraiser(frame)
    t.append(time.process_time())
    searches = [find_thresholds(a, search="grid") for a in (printed, printed.restated("as_stated"))]
    t.append(time.process_time())
    kept = {row.sensitive: row.utility for row in searches[1].trace.itertuples()}
    return {
        "entropy": t[1] - t[0],
        "both utilities, all thresholds": t[3] - t[1],
        "check": [float(printed.entropies.sum()), *(kept[s] for s in sorted(kept))],
    }


def plain(frame: pd.DataFrame) -> dict:
    """Return seconds of the same by value_counts and groupby."""

    def h(counts: pd.Series) -> float:
        p = counts.to_numpy() / counts.sum()
        return float(-(p * np.log(p)).sum())

    t = [time.process_time()]
    raw = pd.Series({name: h(frame[name].value_counts(dropna=False)) for name in frame})
    t.append(time.process_time())
    raw_again = pd.Series({name: h(frame[name].value_counts(dropna=False)) for name in frame})
    evaluation = (raw_again - raw_again.min()) / (raw_again.max() - raw_again.min())
    whole = h(frame.groupby(list(frame), dropna=False, sort=False).size())
    joint = {}
    for alpha in [0.5 + 0.05 * k for k in range(10)] + [0.05 * k for k in range(10)]:
        kept = tuple(evaluation.index[evaluation < alpha])
        if kept not in joint:
            joint[kept] = h(frame.groupby(list(kept), dropna=False, sort=False).size()) / whole if kept else 0.0
    t.append(time.process_time())
    utilities = [joint[k] for k in sorted(joint, key=lambda kept: -len(kept))]
    return {
        "entropy": t[1] - t[0],
        "both utilities, all thresholds": t[2] - t[1],
        "check": [float(raw.sum()), *utilities],
    }


def one(method: str, n: int) -> None:
    """Measure one method at one size and print the result as JSON."""
    frame = make(n)
    before = peak()
    measure = {"ours": ours, "plain": plain}[method]
    measure(frame.head(1000))  # first calls load code
    found = measure(frame)
    for _ in range(2 if n <= 1_000_000 else 0):
        again = measure(frame)
        found |= {step: min(found[step], again[step]) for step in STEPS}
    size = float(frame.memory_usage(deep=True).sum()) / 2**30
    print(json.dumps({"frame_gib": size, "before_gib": before, "peak_gib": peak(), **found}))


def main() -> None:
    """Measure every size and write the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--full", action="store_true", help="up to ten million rows")
    parser.add_argument("--one", nargs=2, metavar=("METHOD", "ROWS"), help="one measurement, as JSON")
    arguments = parser.parse_args()
    if arguments.one:
        one(arguments.one[0], int(arguments.one[1]))
        return
    rows = []
    for n in FULL if arguments.full else QUICK:
        found = {}
        for method in ("ours", "plain"):
            command = [sys.executable, __file__, "--one", method, str(n)]
            run = subprocess.run(command, capture_output=True, text=True, check=False)
            found[method] = json.loads(run.stdout) if run.returncode == 0 else None
            if run.returncode:
                print(f"{method} at {n:,} rows ended with {run.returncode}: {run.stderr.strip().splitlines()[-1:]}")
        a, b = found["ours"], found["plain"]
        if b:
            np.testing.assert_allclose(a["check"], b["check"], rtol=1e-9)
        for step in STEPS:
            rows.append(
                {
                    "rows": n,
                    "step": step,
                    "ours_s": round(a[step], 3),
                    "ours_us_per_row": round(a[step] / n * 1e6, 3),
                    "pandas_s": round(b[step], 3) if b else None,
                    "times_faster": round(b[step] / a[step], 2) if b else None,
                    "table_gib": round(a["frame_gib"], 2),
                    "ours_peak_gib": round(a["peak_gib"], 2),
                    "pandas_peak_gib": round(b["peak_gib"], 2) if b else None,
                }
            )
            print(rows[-1], flush=True)
    if arguments.full:
        pd.DataFrame(rows).to_csv(HERE / "results" / "threeway_scale.csv", index=False)


if __name__ == "__main__":
    main()
