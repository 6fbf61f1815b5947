"""The whole of paper 2: five tables read, every table's numbers, all searches, Fig. 3's steps; processor seconds.

The plain way does the same divisions with `value_counts` and an entropy over again for every pair of thresholds, as a
script that follows Algorithm 1 line by line would.

    python bench/threeway_paper.py           # seconds; needs the five sets on this machine
    python bench/threeway_paper.py --full    # the same, and writes bench/results/threeway_paper.csv
"""

import argparse
import time
from pathlib import Path

import numpy as np
import pandas as pd

from compendium.datasets import table
from sensorprivacy.threeway import Appraiser, find_thresholds, trisect

HERE = Path(__file__).resolve().parent
SETS = ("titanic", "adult", "bank", "heart", "student")
STEPS = [k / 100 for k in range(1, 21)]


def plain_suitability(frame: pd.DataFrame, alpha: float, beta: float) -> float:
    """Return the suitability of a pair of thresholds, worked out from the rows."""
    raw = {}
    for name in frame:
        p = frame[name].value_counts(dropna=False, normalize=True)
        raw[name] = -(p * np.log(p)).sum()
    h = pd.Series(raw)
    division = trisect((h - h.min()) / (h.max() - h.min()), alpha, beta)
    quiet, between = len(division.non_sensitive), len(division.ambiguous)
    utility = np.round(h[list(division.kept)].mean() / h.mean(), 2) if division.kept else 0
    stable = np.round(quiet * between / (len(h) * (quiet + between)), 2) if division.kept else 0
    return 2 * utility * stable / (utility + stable) if utility and stable else 0.0


def main() -> None:
    """Measure every set and write the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--full", action="store_true", help="write the table")
    full = parser.parse_args().full
    rows = []
    for name in SETS:
        start = time.process_time()
        frame = table(name)
        read = time.process_time()
        appraiser = Appraiser(frame)
        stated = appraiser.restated("as_stated")
        looked = 0
        for judge in (appraiser, stated):
            for search in ("alternate", "tabu", "literal", "strict", "grid"):
                looked += len(find_thresholds(judge, search=search).trace)
        for step in STEPS:
            looked += len(find_thresholds(appraiser, step=step).trace)
        done = time.process_time()
        trace = find_thresholds(appraiser).trace
        before = time.process_time()
        slow = [plain_suitability(frame, row.alpha, row.beta) for row in trace.itertuples()]
        after = time.process_time()
        np.testing.assert_allclose(slow, trace["suitability"], atol=1e-9)
        before_ours = time.process_time()
        find_thresholds(Appraiser(frame))
        ours = time.process_time() - before_ours
        rows.append(
            {
                "set": name,
                "rows": len(frame),
                "columns": frame.shape[1],
                "read_s": round(read - start, 3),
                "everything_s": round(done - read, 3),
                "pairs_looked_at": looked,
                "one_search_s": round(ours, 4),
                "one_search_pandas_s": round(after - before, 3),
                "times_faster": round((after - before) / ours, 1),
            }
        )
        print(rows[-1], flush=True)
    print(f"all five: {sum(row['everything_s'] for row in rows):.2f} s after reading")
    if full:
        pd.DataFrame(rows).to_csv(HERE / "results" / "threeway_paper.csv", index=False)


if __name__ == "__main__":
    main()
