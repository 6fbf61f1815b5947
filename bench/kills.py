"""No process lives two seconds after any end of its parent, and no end leaves half a file under a final name.

python bench/kills.py [--kills N] [--seconds S]    writes bench/results/kills.csv, a row for each kill

Each kill starts a command in a folder of its own, sends KILL, TERM or INT after a random time, and counts its
descendants that live two seconds after its end. Then it reads every file with a final name. Killed searches continue
in one store; one that comes to its end must give the numbers of a search that nobody killed, and the next one begins
with an empty store.
"""

import argparse
import contextlib
import csv
import itertools
import json
import math
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import nbformat
import numpy as np
import pandas as pd
import psutil

from publish_memory import make as make_large
from sensorprivacy.edge.board.bundle import MANIFEST, read_bundle
from sensorrelease.schema import draft, save

ROWS, SECONDS, LONGEST = 1500, 2.0, 30.0
MINIMIZE = "minimize home.csv --task task --user who --score information --quiet --repeat 0 --jobs 2 "
MINIMIZE += "--json a.json --out a --accept-draft --although-identifying"
COMMANDS = {  # module, words, and what is there when the time begins: so many descendants, or such a file
    "search": ("sensorrelease", f"{MINIMIZE} --exhaustive --store search.sqlite --trees 400", 2),
    "race": ("sensorrelease", f"{MINIMIZE} --race --store race.sqlite --trees 400", 2),
    "compare": ("sensorrelease", "compare home.csv --task task --user who --minutes .1 --report a.html --json a.json "
                                 "--store a.jsonl --quiet", 0),
    "publish": ("sensorrelease", "publish home.csv --task task --user who --defence noise:epsilon=4 "
                                 "--accept-draft --although-identifying --out a --save b --quiet", 0),
    "run": ("compendium", "run a.ipynb -o b.ipynb --log a.log", 3),
    "edge": ("sensorrelease", "edge export recordings --hide side --out a --epochs 1", 0),
    "latent": ("sensorrelease", "publish recordings --hide side --accept-draft --defence latent:epochs=300 --out a "
                                "--save b", 0),
    "book": ("compendium", "book --out book 20_threeway_example", 1),
    "300 MB": ("sensorrelease", "publish large.csv --task room --user owner --recording session "
                                "--accept-draft --although-identifying --defence round:digits=1 --out a --quiet",
               ".a.*.part/*"),
}  # fmt: skip
# Most seconds from that moment to the kill; 4 of the others.
SECONDS_OF = {"compare": 14.0, "publish": 14.0, "edge": 25.0, "latent": 25.0, "book": 10.0, "300 MB": 25.0}
INPUTS = {"book", "a.ipynb", "a.log", "recordings", "recordings.schema.yaml"}
WHOLE = {"a": {"card.md", "card.json"}, "b": {"defence.json"}}  # what a folder with a final name has
ALONE = {"search alone": "search", "race alone": "race"}  # undisturbed
CELL = """
import time
from sensorprivacy.minimize.search.workers import run_in_order
list(run_in_order(time.sleep, [(.5,)] * 8, 2))
"""


def prepare(folder: Path) -> None:
    """Write what the commands read: a table, a notebook, recordings, or a large table."""
    draw = np.random.default_rng(0)
    if folder.name == "300 MB":
        make_large(folder / "large.csv", 0.3)
        return
    if folder.name in ("edge", "latent"):
        (folder / "recordings").mkdir()
        for person, doing, day in itertools.product("pqrs", ("sit", "walk"), "12"):
            signal_ = draw.normal(size=(1500, 2)) * (1 + 4 * (doing == "walk")) + "pqrs".index(person)
            pd.DataFrame(signal_, columns=["x", "y"]).to_csv(
                folder / f"recordings/{doing}_{person}_{day}.csv", index=False
            )
        people = pd.DataFrame({"person": list("pqrs"), "side": ["left", "right"] * 2})
        people.to_csv(folder / "recordings" / "people.csv", index=False)
        found = draft(folder / "recordings", "activity", "person", rate=50)
        save(found, folder / "recordings.schema.yaml")
        return
    table = pd.DataFrame(draw.integers(0, 50, (ROWS, 7)), columns=[f"x{i}" for i in range(7)])
    table = table.assign(x1=draw.integers(0, 20, ROWS), task=np.where(table["x0"] > 25, "on", "off"))
    table.assign(who=table["x1"]).drop(columns="x1").to_csv(folder / "home.csv", index=False)
    cells = [nbformat.v4.new_code_cell("x: int = 1  # nothing", metadata={"tags": ["parameters"]})]
    cells += [nbformat.v4.new_code_cell(CELL) for _ in range(3)]
    nbformat.write(nbformat.v4.new_notebook(cells=cells), folder / "a.ipynb")


def start(name: str, folder: Path) -> subprocess.Popen:
    """Start a command in a folder."""
    module, words, _ = COMMANDS[name]
    quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    return subprocess.Popen([sys.executable, "-m", module, *words.split()], cwd=folder, **quiet)


def lines(path: Path) -> int:
    """Return how many lines a file has."""
    with path.open("rb") as file:
        return sum(piece.count(b"\n") for piece in iter(lambda: file.read(2**20), b""))


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
        parts = path.relative_to(folder).parts
        if (
            any(part.startswith(".") for part in parts)
            or not path.is_file()
            or INPUTS.intersection((path.name, parts[0]))
        ):
            continue
        try:
            if path.name == "large.csv":
                assert lines(path) == lines(folder / path.name), "rows"
            elif path.suffix == ".csv":
                assert len(pd.read_csv(path)) == ROWS, "rows"
            elif path.name == MANIFEST:
                read_bundle(path.parent)
            elif path.suffix == ".json":
                json.loads(path.read_text(encoding="utf-8"))
            elif path.suffix == ".html":
                assert path.read_text(encoding="utf-8").rstrip().endswith("</html>"), "end"
            elif path.name == "b.ipynb":
                cells = nbformat.read(path, as_version=4).cells
                assert all(cell.execution_count for cell in cells if cell.cell_type == "code"), "cells"
        except (AssertionError, ValueError, OSError) as error:
            found.append(f"{path.name}: {error}")
    for whole, files in () if folder.name == "edge" else WHOLE.items():
        if (folder / whole).is_dir() and not {path.name for path in (folder / whole).iterdir()} >= files:
            found.append(f"{whole}/")
    return found


def kill(name: str, folder: Path, how: str, after: float) -> dict[str, object]:
    """Start a command, end it after a time, and return what it left."""
    child = start(name, folder)
    until, below = math.inf, []
    while time.monotonic() < until and child.poll() is None:
        with contextlib.suppress(psutil.NoSuchProcess):
            below = psutil.Process(child.pid).children(recursive=True) or below
        begins = COMMANDS[name][2]
        if until == math.inf and (any(folder.glob(begins)) if isinstance(begins, str) else len(below) >= begins):
            until = time.monotonic() + after
        time.sleep(0.05)
    ended = child.poll() is None
    if ended:
        with contextlib.suppress(psutil.NoSuchProcess):
            below = psutil.Process(child.pid).children(recursive=True)
        child.send_signal(signal.Signals[f"SIG{how}"])
    child.wait(60)
    began = time.monotonic()
    left = living(below)
    while left and time.monotonic() - began < SECONDS:
        time.sleep(0.05)
        left = living(below)
    late = left
    while late and time.monotonic() - began < LONGEST:
        time.sleep(0.05)
        late = living(late)
    gone = time.monotonic() - began
    for process in late:
        process.kill()
    return {"command": name, "signal": how if ended else "", "after": f"{after:.1f}", "descendants": len(below),
            "gone": f"{gone:.1f}", "left": len(left), "broken": "; ".join(broken(folder))}  # fmt: skip


def numbers(folder: Path) -> dict[str, object]:
    """Return what a search wrote, without its times and how much of it was in the store."""
    found = json.loads((folder / "a.json").read_text(encoding="utf-8"))
    return {key: value for key, value in found.items() if "second" not in key and "found" not in key}


def main() -> None:
    """Kill commands in turn, and compare the searches with undisturbed ones."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--kills", type=int, default=10)
    parser.add_argument("--seconds", type=float, default=1e9, help="stop after this time")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--only", nargs="+", default=list(COMMANDS), choices=list(COMMANDS), help="only these commands")
    parser.add_argument("--out", type=Path, default=Path(__file__).parent / "results" / "kills.csv")
    given = parser.parse_args()
    draw, began, rows = random.Random(given.seed), time.monotonic(), []
    with tempfile.TemporaryDirectory() as temporary:
        folders = {name: Path(temporary) / name for name in [*given.only, *ALONE]}
        for folder in folders.values():
            folder.mkdir()
            prepare(folder)
        whole = {}
        for alone, name in ALONE.items():
            if name in given.only:
                start(name, folders[alone]).wait()
                whole[name] = numbers(folders[alone])
        while sum(bool(row["signal"]) for row in rows) < given.kills and time.monotonic() - began < given.seconds:
            name = given.only[len(rows) % len(given.only)]
            rows.append(
                kill(
                    name,
                    folders[name],
                    draw.choice(["KILL", "TERM", "INT"]),
                    draw.uniform(0, SECONDS_OF.get(name, 4)),
                )
            )
            if name in whole and not rows[-1]["signal"]:
                rows[-1]["broken"] = "" if numbers(folders[name]) == whole[name] else "other numbers"
                next(folders[name].glob("*.sqlite")).unlink()
            print(rows[-1], flush=True)
            for old in (
                *folders[name].glob("[ab]"),
                *folders[name].glob(".a.*.part"),
                *folders[name].glob("a.[chj]*"),
                *folders[name].glob("b.*"),
            ):
                shutil.rmtree(old) if old.is_dir() else old.unlink()
            with given.out.open("w", newline="") as file:
                writer = csv.DictWriter(file, rows[0])
                writer.writeheader()
                writer.writerows(rows)


if __name__ == "__main__":
    main()
