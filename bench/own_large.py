"""Measure time and memory of ``minimize`` on a table of your own with 1,000,000 rows and 30 columns.

Run ``python bench/own_large.py`` and write what it prints into ``bench/results/own_large.md``.
"""

import os
import pty
import resource
import subprocess
import sys
import tempfile
import threading
import time
from contextlib import suppress
from pathlib import Path

import numpy as np
import pandas as pd

ROWS, COLUMNS, USERS = 1_000_000, 30, 50


def table(rows: int) -> pd.DataFrame:
    """Return rows of 50 users: 24 measurements, two levels, a truth value, a task and a user."""
    draw = np.random.default_rng(0)
    user, task = draw.integers(USERS, size=rows), draw.integers(4, size=rows)
    found = {
        f"m{at}": (task * (at % 3) + user * 0.02 * (at % 5) + draw.normal(0, 2, rows)).round(2)
        for at in range(COLUMNS - 5)
    }
    found |= {"mode": np.array(["eco", "boost", "auto"])[draw.integers(3, size=rows)], "on": draw.random(rows) < 0.3}
    found |= {"state": np.array(["idle", "run"])[(task + draw.integers(2, size=rows)) % 2]}
    return pd.DataFrame(found | {"device": np.array(["tv", "lamp", "oven", "hob"])[task], "owner": user + 1000})


def main() -> None:
    """Print the seconds until the first sign of life, the first estimate and the end, and the peak of memory."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "home.csv"
        table(ROWS).to_csv(file, index=False)
        words = [sys.executable, "-m", "sensorrelease", "minimize", str(file), "--task", "device", "--user", "owner"]
        began, seen = time.perf_counter(), []
        ours, theirs = pty.openpty()  # bars appear on terminals only
        run = subprocess.Popen(words, stderr=theirs, stdout=subprocess.PIPE)
        os.close(theirs)

        def watch() -> None:
            with suppress(OSError):  # the end of a terminal
                while part := os.read(ours, 500):
                    seen.append((time.perf_counter() - began, part.decode(errors="replace")))

        watcher = threading.Thread(target=watch)
        watcher.start()
        page = run.stdout.read().decode()
        run.wait()
        watcher.join()
        peak = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 2**10
        size = file.stat().st_size / 2**20
    print(f"{ROWS:,} rows x {COLUMNS} columns, {size:.0f} MiB; exit code {run.returncode}")
    print(f"first output after {seen[0][0]:.1f} s: {seen[0][1].strip()[:100]!r}")
    estimate = next(((at, text) for at, text in seen if "about" in text), (float("nan"), "none"))
    print(f"first overall estimate after {estimate[0]:.1f} s: {estimate[1].strip()[:120]!r}")
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    print(f"processor time {used.ru_utime + used.ru_stime:.0f} s, load of the machine {os.getloadavg()[0]:.0f}")
    print(f"end after {time.perf_counter() - began:.0f} s; peak {peak:,.0f} MiB of memory (one process)")
    print("\n".join(page.splitlines()[:8]))


if __name__ == "__main__":
    main()
