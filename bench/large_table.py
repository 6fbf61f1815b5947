"""Seconds and memory of `sensorprivacy minimize` on a table of 200,000 rows and 12 columns, in a process of its own.

The table is synthetic: some columns show the task, some the user, the rest nothing. Seconds of processor time are
reported beside those of the wall, which mean little on a shared machine.

    python bench/large_table.py            # about three minutes on two free cores
    python bench/large_table.py --write    # adds a line to bench/results/large_table.csv
"""

import argparse
import os
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
import pandas as pd

RESULTS = Path(__file__).resolve().parent / "results" / "large_table.csv"


def make(file: Path, rows: int) -> None:
    """Write the table as CSV."""
    draw = np.random.default_rng(0)
    owner, room = draw.integers(0, 20, rows), draw.integers(0, 4, rows)
    columns = {
        "owner": np.char.add("u", owner.astype(str)),
        "room": np.array(["hall", "kitchen", "bath", "attic"])[room],
    }
    for at in range(12):
        shown = room * (1 if at < 6 else 0.3) if at % 3 == 0 else owner * 0.2 if at % 3 == 1 else 0
        columns[f"s{at}"] = (shown + draw.normal(0, 1, rows)).round(3)
    pd.DataFrame(columns).to_csv(file, index=False)


def run() -> None:
    """Make the table, run the command, and report its cost."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, default=200_000, help="rows of the table (200,000)")
    parser.add_argument("--write", action="store_true", help=f"add the result to {RESULTS.name}")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        file, began = Path(folder) / "large.csv", time.monotonic()
        make(file, arguments.rows)
        began = time.monotonic()
        words = ["minimize", str(file), "--task", "room", "--user", "owner", "--quiet"]
        subprocess.run([sys.executable, "-m", "sensorrelease", *words], check=True)
        wall = time.monotonic() - began
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    cost = {
        "rows": arguments.rows,
        "cores": os.cpu_count(),
        "wall_s": round(wall),
        "load": round(os.getloadavg()[1], 1),
    }
    cost |= {"processor_s": round(used.ru_utime + used.ru_stime), "peak_mb": round(used.ru_maxrss / 1024)}
    print(pd.Series(cost).to_string())
    if arguments.write:
        pd.DataFrame([cost]).to_csv(RESULTS, mode="a", header=not RESULTS.exists(), index=False)


if __name__ == "__main__":
    run()
