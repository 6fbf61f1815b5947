"""No process lives two seconds after any end of its parent, and no end leaves half a file under a final name.

python bench/kills.py [--kills N] [--seconds S] [--only COMMAND ...]    adds rows to bench/results/kills.csv, one a kill

Each kill starts a command in a folder of its own, sends KILL, TERM or INT after a random time, and counts its
descendants that live two seconds after its end. Then it reads every file with a final name. Killed searches continue
in one store; at the end they must give the numbers of a search that nobody killed. `writing` is a `publish` that is
killed while it writes. `workers` only starts two workers, so that a kill costs little. `fetch` takes the set adult from
a slow server; SENSORPRIVACY_MIRROR must be a folder with it.
"""

import argparse
import contextlib
import csv
import functools
import http.server
import json
import math
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

import nbformat
import numpy as np
import pandas as pd
import psutil

ROWS, LARGE, SECONDS = 1500, 100_000, 2.0
RATE = 2**20  # bytes per second of the server
MINIMIZE = "minimize home.csv --task task --user who --score information --quiet --repeat 0 --jobs 2 "
MINIMIZE += "--json a.json --out a.csv"
COMMANDS = {  # module, words, and descendants that it has when the time begins
    "search": ("sensorprivacy", f"{MINIMIZE} --exhaustive --store search.sqlite --trees 400", 2),
    "race": ("sensorprivacy", f"{MINIMIZE} --race --store race.sqlite --trees 400", 2),
    "compare": ("sensorprivacy", "compare home.csv --task task --user who --minutes .1 --report a.html --json a.json "
                                 "--store a.jsonl --quiet", 0),
    "publish": ("sensorprivacy", "publish home.csv --task task --user who --defence noise:epsilon=4 "
                                 "--out a --save b --quiet", 0),
    "run": ("compendium", "run a.ipynb -o b.ipynb --log a.log", 3),
    "writing": ("sensorprivacy", "publish large.csv --task task --user who --defence none --sample 1500 --rare keep "
                                 "--out a --save b --quiet", 0),
    "fetch": ("compendium", "data fetch adult", 0),
    "workers": ("", "", 2),
}  # fmt: skip
WINDOWS = {
    "writing": ".a.*.part/large.csv",
    "fetch": "data/raw/adult/.partial/*.part",
}  # the time begins with this file
WORKERS = """
import time
from sensorprivacy.minimize.search.workers import run_in_order
list(run_in_order(time.sleep, [(.5,)] * 400, 2))
"""
MIRROR: list[str] = []  # address of the server
CELL = """
import time
from sensorprivacy.minimize.search.workers import run_in_order
list(run_in_order(time.sleep, [(.5,)] * 8, 2))
"""


def prepare(folder: Path) -> None:
    """Write the table and the notebook that the commands read."""
    draw = np.random.default_rng(0)
    table = pd.DataFrame(draw.integers(0, 50, (ROWS, 7)), columns=[f"x{i}" for i in range(7)])
    table = table.assign(x1=draw.integers(0, 20, ROWS), task=np.where(table["x0"] > 25, "on", "off"))
    table = table.assign(who=table["x1"]).drop(columns="x1")
    table.to_csv(folder / "home.csv", index=False)
    if folder.name.startswith("writing"):
        table.sample(LARGE, replace=True, random_state=0).to_csv(folder / "large.csv", index=False)
    for name in ("notebooks", "lib", "data"):
        (folder / name).mkdir()
    cells = [nbformat.v4.new_code_cell("x: int = 1  # nothing", metadata={"tags": ["parameters"]})]
    cells += [nbformat.v4.new_code_cell(CELL) for _ in range(3)]
    nbformat.write(nbformat.v4.new_notebook(cells=cells), folder / "a.ipynb")


class Slow(http.server.SimpleHTTPRequestHandler):
    """Send files slowly, and do not resume."""

    def copyfile(self, source, outputfile) -> None:  # noqa: D102
        with contextlib.suppress(ConnectionError):
            while piece := source.read(RATE // 20):
                outputfile.write(piece)
                time.sleep(0.05)

    def log_message(self, *_) -> None:  # noqa: D102
        pass


def served(mirror: Path) -> str:
    """Serve a mirror slowly, and return its address."""
    handler = functools.partial(Slow, directory=str(mirror))
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    return f"http://127.0.0.1:{server.server_port}"


def start(name: str, folder: Path) -> subprocess.Popen:
    """Start a command in a folder."""
    module, words, _ = COMMANDS[name]
    quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    env = os.environ | ({"SENSORPRIVACY_HOME": str(folder)} if name == "fetch" else {})
    if name == "fetch":
        env |= {"SENSORPRIVACY_CACHE": str(folder / "cache"), "SENSORPRIVACY_MIRROR": MIRROR[0]}
    given = ["-m", module, *words.split()] if module else ["-c", WORKERS]
    return subprocess.Popen([sys.executable, *given], cwd=folder, env=env, **quiet)


def living(processes: list[psutil.Process]) -> list[psutil.Process]:
    """Return the processes that have not ended."""
    found = []
    for process in processes:
        with contextlib.suppress(psutil.NoSuchProcess):
            found += [process] * (process.status() != psutil.STATUS_ZOMBIE)
    return found


def broken(folder: Path) -> list[str]:
    """Return the files with a final name that are not whole."""
    found = []
    for path in sorted(folder.rglob("*")):
        hidden = any(part.startswith(".") for part in path.relative_to(folder).parts)
        if hidden or not path.is_file() or path.name in ("a.ipynb", "a.log"):
            continue
        try:
            if path.suffix == ".csv":
                assert len(pd.read_csv(path)) == (LARGE if path.name == "large.csv" else ROWS), "rows"
            elif path.name.startswith("adult."):
                whole = Path(os.environ["SENSORPRIVACY_MIRROR"], "adult", path.name)
                assert path.read_bytes() == whole.read_bytes(), "bytes"
            elif path.suffix == ".json":
                json.loads(path.read_text(encoding="utf-8"))
            elif path.suffix == ".html":
                assert path.read_text(encoding="utf-8").rstrip().endswith("</html>"), "end"
            elif path.name == "b.ipynb":
                cells = nbformat.read(path, as_version=4).cells
                assert all(cell.execution_count for cell in cells if cell.cell_type == "code"), "cells"
        except (AssertionError, ValueError) as error:
            found.append(f"{path.name}: {error}")
    for whole in (folder / "a", folder / "b"):
        if whole.is_dir() and not {path.name for path in whole.iterdir()} >= (
            {"card.md", "card.json"} if whole.name == "a" else {"defence.json"}
        ):
            found.append(f"{whole.name}/")
    return found


def kill(name: str, folder: Path, how: str, after: float) -> dict[str, object]:
    """Start a command, end it after a time, and return what it left."""
    child = start(name, folder)
    until, below = math.inf, []
    while time.monotonic() < until and child.poll() is None:
        with contextlib.suppress(psutil.NoSuchProcess):
            below = psutil.Process(child.pid).children(recursive=True) or below
        if until == math.inf and len(below) >= COMMANDS[name][2] and any(folder.glob(WINDOWS.get(name, "home.csv"))):
            until = time.monotonic() + after
        time.sleep(0.05)
    ended = child.poll() is None
    if ended:
        with contextlib.suppress(psutil.NoSuchProcess):
            below = psutil.Process(child.pid).children(recursive=True)
        child.send_signal(signal.Signals[f"SIG{how}"])
    child.wait(60)
    began = time.monotonic()
    while living(below) and time.monotonic() - began < SECONDS:
        time.sleep(0.05)
    gone, left = time.monotonic() - began, living(below)
    named = []
    for process in left:
        with contextlib.suppress(psutil.NoSuchProcess):
            named.append(" ".join(process.cmdline())[-60:])
            process.kill()
    return {"command": name, "signal": how if ended else "", "after": f"{after:.1f}", "descendants": len(below),
            "gone": f"{gone:.1f}", "left": len(left), "named": "; ".join(named), "load": f"{os.getloadavg()[0]:.0f}",
            "broken": "; ".join(broken(folder))}  # fmt: skip


def main() -> None:
    """Kill commands in turn, and compare the searches with undisturbed ones."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--kills", type=int, default=10)
    parser.add_argument("--seconds", type=float, default=1e9, help="stop after this time")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--only", nargs="+", choices=COMMANDS, default=list(COMMANDS))
    parser.add_argument("--signals", nargs="+", default=["KILL", "TERM", "INT"])
    parser.add_argument("--out", type=Path, default=Path(__file__).parent / "results" / "kills.csv")
    given = parser.parse_args()
    draw, began, rows = random.Random(given.seed), time.monotonic(), []
    if "fetch" in given.only:
        MIRROR.append(served(Path(os.environ["SENSORPRIVACY_MIRROR"])))
    new = not given.out.exists()
    with tempfile.TemporaryDirectory() as temporary, given.out.open("a", newline="") as file:
        folders = {name: Path(temporary) / name for only in given.only for name in (only, f"{only} alone")}
        for folder in folders.values():
            folder.mkdir()
            prepare(folder)
        while sum(bool(row["signal"]) for row in rows) < given.kills and time.monotonic() - began < given.seconds:
            name = given.only[len(rows) % len(given.only)]
            longest = 3 if name in WINDOWS else 4 if COMMANDS[name][2] else 14
            rows.append(kill(name, folders[name], draw.choice(given.signals), draw.uniform(0, longest)))
            print(rows[-1], flush=True)
            clear(folders[name], name)
            writer = csv.DictWriter(file, rows[0])
            if new:
                writer.writeheader()
            new = False
            writer.writerow(rows[-1])
            file.flush()
        for name in given.only:
            if name not in ("compare", "workers"):  # the budget of `compare` is time
                for folder in (folders[name], folders[f"{name} alone"]):
                    start(name, folder).wait()
                same = outcome(name, folders[name]) == outcome(name, folders[f"{name} alone"])
                print(name, "equals an undisturbed one:", same, broken(folders[name]), flush=True)


def clear(folder: Path, name: str) -> None:
    """Remove what a command wrote, but not what it continues from."""
    for old in (*folder.glob("[ab]"), *folder.glob("a.[chj]*"), *folder.glob("b.*")):
        shutil.rmtree(old) if old.is_dir() else old.unlink()
    if name == "fetch" and (folder / "data/raw/adult/adult.names").exists():
        shutil.rmtree(folder / "data" / "raw")


def outcome(name: str, folder: Path) -> object:
    """Return what a finished command wrote, without times and without the order of rows."""
    if name in ("search", "race"):
        facts = json.loads((folder / "a.json").read_text())
        return {key: value for key, value in facts.items() if "second" not in key and "found" not in key}
    if name == "writing":
        table = pd.read_csv(folder / "a" / "large.csv")
        return table.sort_values(list(table)).to_numpy().tolist()
    if name == "fetch":
        return {path.name: path.read_bytes() for path in folder.glob("data/raw/adult/adult*")}
    return sorted(path.name for path in folder.glob("[ab]*"))


if __name__ == "__main__":
    main()
