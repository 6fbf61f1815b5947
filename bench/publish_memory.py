"""Peak memory and seconds of `sensorprivacy publish` on a CSV of any size, in a process of its own.

The table has users, sessions, a task, a name and 16 columns of numbers. The parent makes it, runs the
command, and reports the child's peak resident memory. --write adds the results to bench/results/publish_memory.csv.

    python bench/publish_memory.py                      # 0.1 GB, a minute or two
    python bench/publish_memory.py --gb 2 --write       # 2 GB, about 5 GB of free disk, a quarter of an hour
"""

import argparse
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
import pandas as pd

HERE = Path(__file__).resolve().parent
_ROWS = 100_000


def make(file: Path, gb: float) -> int:
    """Write a CSV of about so many gigabytes, whose rows repeat after 100,000, and return its number of rows."""
    draw, who = np.random.default_rng(0), np.random.default_rng(1).integers(50, size=_ROWS)
    room = draw.integers(5, size=_ROWS)
    piece = pd.DataFrame({f"sensor {at}": draw.normal(room if at < 4 else who, 3 + at) for at in range(16)})
    names = {"owner": who, "session": who * 20 + draw.integers(20, size=_ROWS), "room": room}
    piece = piece.assign(**names, name=np.char.add("person ", who.astype(str)), lamp=draw.choice(["on", "off"], _ROWS))
    head, _, body = piece.to_csv(index=False).encode().partition(b"\n")
    times = max(1, round(gb * 1e9 / len(body)))
    with file.open("wb") as stream:
        stream.write(head + b"\n")
        for _ in range(times):
            stream.write(body)
    return times * _ROWS


def run(file: Path, out: Path, words: list[str]) -> tuple[float, float, int]:
    """Publish the file in a child; return its peak memory in MiB, its seconds, and the bytes that it wrote."""
    command = [sys.executable, "-m", "sensorrelease", "publish", str(file), "--task", "room", "--user", "owner"]
    command += ["--accept-draft", "--although-identifying"]
    start = time.perf_counter()
    child = subprocess.Popen([*command, "--recording", "session", "--out", str(out), *words], stdout=subprocess.DEVNULL)
    _, status, usage = os.wait4(child.pid, 0)
    seconds = time.perf_counter() - start
    if status:
        raise SystemExit(f"the command failed with status {status}")
    return usage.ru_maxrss / 1024, seconds, (out / "data.csv").stat().st_size


def main() -> None:
    """Measure the defences that the command line names."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--gb", type=float, default=0.1, help="size of the table in gigabytes (0.1)")
    parser.add_argument("--defence", nargs="+", default=["minimize:threshold=.01,preselect=6"])
    parser.add_argument("--folder", type=Path, help="where to put the files (a temporary folder)")
    parser.add_argument("--write", action="store_true", help="add the results to bench/results/publish_memory.csv")
    given = parser.parse_args()
    found = []
    with tempfile.TemporaryDirectory(dir=given.folder) as folder:
        file = Path(folder, "table.csv")
        rows = make(file, given.gb)
        for number, defence in enumerate(given.defence):
            peak, seconds, written = run(file, Path(folder, f"out{number}"), ["--defence", defence])
            (Path(folder, f"out{number}") / "data.csv").unlink()
            found.append({"gb": round(file.stat().st_size / 1e9, 2), "rows": rows, "defence": defence})
            found[-1] |= {"peak_mib": round(peak), "seconds": round(seconds), "written_gb": round(written / 1e9, 2)}
            print(found[-1], flush=True)
    if given.write:
        results = HERE / "results" / "publish_memory.csv"
        earlier = [pd.read_csv(results)] if results.exists() else []
        pd.concat([*earlier, pd.DataFrame(found)]).to_csv(results, index=False)


if __name__ == "__main__":
    main()
