"""No process lives two seconds after any end of its parent, and no end leaves half of a result or a folder behind.

python bench/kills.py [--each N] [--seconds S] [--only COMMAND...]   writes bench/results/kills.csv and .md

Each command first runs undisturbed. Then it is started N times, and ended after a random share of the processor time
that it needed: by KILL, TERM, INT or HUP, alone or with its whole process group. After each end: which descendants
still live, and is every file with a final name whole? At last it runs once more to its end: it must give the result of
the undisturbed run, and leave nothing but that.
"""

import argparse
import contextlib
import csv
import itertools
import json
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import zipfile
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import nbformat
import numpy as np
import pandas as pd
import psutil

from sensorrelease.publishing.fitted import load_fitted
from sensorrelease.schema import load

ROOT = Path(__file__).resolve().parents[1]
RESULTS = ROOT / "bench" / "results"
SECONDS, LONGEST = 2.0, 30.0
SIGNALS, SCOPES = ("KILL", "TERM", "INT", "HUP"), ("alone", "group")
RUN = "20_threeway_example"
ROLES = "--task task --user who --quiet"
RELEASE = "--accept-draft --although-identifying --seed 1"
NO_RESULT = ("second", "found", "date", "time", "digest", "seed")  # parts of keys of JSON that differ between runs
# the lock of `reproduce` and the log of Snakemake stay on purpose, and Sphinx keeps its caches
NO_LEFTOVER = {"reproduce.lock", "book/doctrees", ".snakemake"}


@dataclass(frozen=True)
class Command:
    """A command, the files with its result below its folder, and how these become comparable."""

    words: str
    results: tuple[str, ...]
    facts: Callable[[Path], Any]
    before: str = ""
    module: str = "sensorrelease"
    removed: tuple[str, ...] = ()  # what is removed after each kill, because a command writes only new folders
    ended: tuple[str, ...] = ()  # what is removed after an end without a kill, because the next start has nothing to do
    environment: dict[str, str] = field(default_factory=dict)


def rows(path: Path) -> list[str]:
    """Return the lines of a release in a fixed order: its rows are shuffled."""
    return sorted(path.read_text(encoding="utf-8").splitlines())


def numbers(path: Path) -> Any:
    """Return the content of a JSON file without times and secrets."""

    def kept(content: Any) -> Any:
        if isinstance(content, dict):
            return {key: kept(one) for key, one in content.items() if not any(word in key for word in NO_RESULT)}
        return [kept(one) for one in content] if isinstance(content, list) else content

    return kept(json.loads(path.read_text(encoding="utf-8")))


def scores(path: Path) -> Any:
    """Return what `compare` measured of each defence."""
    return sorted([one["defence"], one["accuracy"], one["attack"]] for one in numbers(path)["defences"])


def names(folder: Path) -> list[str]:
    """Return the names of all files of a folder."""
    return sorted(path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file())


def members(archive: Path) -> list[str]:
    """Return the names in an archive."""
    with zipfile.ZipFile(archive) as opened:
        return sorted(opened.namelist())


def tables(folder: Path) -> dict[str, bytes]:
    """Return the tables of a run."""
    return {path.name: path.read_bytes() for path in folder.glob("*.csv")}


NEW = ("out", "saved")
OWN = {
    "schema": Command(f"schema home.csv {ROLES} --out a.yaml", ("a.yaml",), Path.read_bytes, removed=("a.yaml",)),
    "schema --confirm": Command("schema b.yaml --confirm", ("b.yaml",), Path.read_bytes,
                                before=f"schema home.csv {ROLES} --out b.yaml"),
    "minimize": Command(f"minimize home.csv {ROLES} --trees 20 --preselect 4 --score information --repeat 1 --jobs 2 "
                        "--store a.sqlite --json a.json", ("a.json",), numbers),
    "minimize --out": Command(f"minimize home.csv {ROLES} --trees 20 --preselect 3 --score information --repeat 0 "
                              f"{RELEASE} --out out", ("out/data.csv",), rows, removed=NEW),
    "compare": Command(f"compare home.csv {ROLES} --defences none round:digits=1 minimize:threshold=.05 --trees 20 "
                       "--minutes 30 --store a.jsonl --report a.html --json a.json", ("a.json",), scores),
    "publish": Command(f"publish home.csv {ROLES} {RELEASE} --defence round:digits=1 --out out --save saved",
                       ("out/data.csv",), rows, removed=NEW),
    "publish large": Command(f"publish large.csv {ROLES} {RELEASE} --defence round:digits=1 --sample 2000 --out out",
                             ("out/data.csv",), rows, removed=NEW),
    "publish --fitted": Command("publish home.csv --quiet --although-identifying --seed 1 --fitted kept --out out",
                                ("out/data.csv",), rows, removed=NEW,
                                before=f"publish home.csv {ROLES} {RELEASE} --defence round:digits=1 --out o "
                                       "--save kept"),
    "publish recordings": Command(f"publish recordings --hide side --quiet {RELEASE} --out out --save saved "
                                  "--defence latent:epochs=2,inference_epochs=2",
                                  ("out",), names, removed=NEW,
                                  before="schema recordings --task activity --user person --hide side --rate 50"),
}  # fmt: skip
HERE = {"module": "compendium"}
BUILT = ("build", "figures/quick")
CHECKOUT = {
    "reproduce": Command(
        f"reproduce --no-data --cores 2 {RUN}", (f"figures/quick/{RUN}",), tables, ended=BUILT, **HERE
    ),
    "data": Command("data fetch titanic", ("cache",), names, ended=("cache",), **HERE),
    "archive": Command("archive", ("build/*.zip",), members, **HERE),
    "book": Command(f"book {RUN}", ("build/book/html",), names, **HERE),
    "review": Command("review", ("build/review",), names, **HERE),
    "report": Command("report ledger", ("DEVIATIONS.md",), Path.read_bytes, **HERE),
    "replay": Command(f"replay {RUN}", ("build/replay",), lambda _: None, **HERE),
    "lessons": Command("lessons", ("build/lessons/student",), names, **HERE),
    "make reproduce": Command(
        f"reproduce DATA=no ONLY={RUN}", (f"figures/quick/{RUN}",), tables, ended=BUILT, module="make"
    ),
    "make archive": Command("archive", ("build/*.zip",), members, module="make"),
}
COMMANDS = OWN | CHECKOUT


def prepare(name: str, folder: Path) -> None:
    """Write what a command reads: tables and recordings, or a checkout and a mirror with one data set."""
    if name in CHECKOUT:
        subprocess.run(["git", "clone", "-q", "--depth", "1", f"file://{ROOT}", str(folder)], check=True)
        subprocess.run([sys.executable, "-m", "compileall", "-q", str(folder / "lib")], check=True)
        if name.startswith("make"):  # an environment that is complete, so that nothing is installed
            (folder / "env").mkdir()
            for path in Path(sys.prefix).iterdir():
                if path.name[0] != ".":
                    (folder / "env" / path.name).symlink_to(path)
            for mark in (".ready", ".tools"):
                (folder / "env" / mark).touch()
        return
    folder.mkdir()
    draw, many = np.random.default_rng(0), 600
    task, who = draw.integers(0, 2, many), draw.integers(0, 6, many)
    table = pd.DataFrame(draw.normal(0, 9, (many, 5)), columns=[f"x{at}" for at in range(5)]).round(1)
    table = table.assign(x0=table["x0"] + 20 * task, x1=table["x1"] + 9 * who, task=np.where(task, "on", "off"))
    table.assign(who=[f"u{one}" for one in who]).to_csv(folder / "home.csv", index=False)
    if name == "publish large":
        pd.concat([pd.read_csv(folder / "home.csv")] * 1500).to_csv(folder / "large.csv", index=False)  # 36 MB
    if name == "publish recordings":
        (folder / "recordings").mkdir()
        for person, doing, day in itertools.product("pqrs", ("sit", "walk"), "12"):
            values = draw.normal(size=(1500, 2)) * (1 + 4 * (doing == "walk")) + "pqrs".index(person)
            file = folder / f"recordings/{doing}_{person}_{day}.csv"
            pd.DataFrame(values, columns=["x", "y"]).to_csv(file, index=False)
        people = pd.DataFrame({"person": list("pqrs"), "side": ["left", "right"] * 2})
        people.to_csv(folder / "recordings" / "people.csv", index=False)


def start(command: Command, folder: Path, words: str = "") -> subprocess.Popen:
    """Start a command in a folder, with a folder for temporary files beside it."""
    temporary = folder.with_name("tmp")
    temporary.mkdir(exist_ok=True)
    own = {"TMPDIR": str(temporary), "OMP_NUM_THREADS": "1", "PYTHONPATH": str(ROOT / "lib")}
    first = [sys.executable, "-m", command.module]
    if command.module != "sensorrelease":
        own |= {"PYTHONPATH": str(folder / "lib"), "SENSORPRIVACY_CACHE": str(folder / "cache")}
    if command.module == "make":
        first = ["make", "-s", f"VENV={folder / 'env'}", "CORES=2"]
    kept = {key: value for key, value in os.environ.items() if not key.startswith("MAKE")}
    quiet = {"stdout": subprocess.DEVNULL, "stderr": (folder.with_name(f"{folder.name}.log")).open("a")}
    every = [*first, *(words or command.words).split()]
    return subprocess.Popen(every, cwd=folder, env=kept | own, start_new_session=True, **quiet)


def family(leader: psutil.Process) -> list[psutil.Process]:
    """Return a process and its descendants."""
    with contextlib.suppress(psutil.NoSuchProcess):
        return [leader, *leader.children(recursive=True)]
    return []


def spent(processes: Iterable[psutil.Process], known: dict[int, float]) -> float:
    """Note the processor time of each process, also of those that have ended, and return all of it."""
    for one in processes:
        with contextlib.suppress(psutil.Error):
            known[one.pid] = sum(one.cpu_times()[:2])
    return sum(known.values())


def undisturbed(command: Command, folder: Path, words: str = "") -> float:
    """Run a command to its end, and return the processor time that it needed."""
    child, known = start(command, folder, words), {}
    leader = psutil.Process(child.pid)
    while child.poll() is None:
        spent(family(leader), known)
        time.sleep(0.05)
    if child.returncode:
        log = folder.with_name(f"{folder.name}.log").read_text()
        raise SystemExit(f"{folder.name} ended with {child.returncode}: {log[-2000:]}")
    return sum(known.values())


def result(command: Command, folder: Path) -> Any:
    """Return the result of a command."""
    return [command.facts(path) for pattern in command.results for path in sorted(folder.glob(pattern))]


def living(processes: Iterable[psutil.Process]) -> list[psutil.Process]:
    """Return the processes that have not ended."""
    found = []
    for process in processes:
        with contextlib.suppress(psutil.NoSuchProcess):
            found += [process] * (process.status() != psutil.STATUS_ZOMBIE)
    return found


def broken(folder: Path, since: float) -> list[str]:
    """Return the files with a final name that were changed and are not whole."""
    found = []
    for path in sorted(folder.rglob("*")):
        parts = path.relative_to(folder).parts
        if any(part.startswith(".") for part in parts) or "env" in parts[:1] or {"logs", "doctrees"} & {*parts}:
            continue
        try:
            if not path.is_file() or path.is_symlink() or path.stat().st_mtime < since or "unfinished" in path.name:
                continue
            text = path.read_bytes()
            if path.suffix == ".csv" and path.stat().st_size:
                pd.read_csv(path, dtype=str, keep_default_na=False)
                assert text.endswith(b"\n"), "end"
            elif path.suffix == ".json":
                json.loads(text)
            elif path.name.endswith((".yaml", ".yml")) and path.parent == folder:
                load(path)
            elif path.name == "defence.json":
                load_fitted(path.parent)
            elif path.suffix == ".zip":
                with zipfile.ZipFile(path) as archive:
                    assert archive.testzip() is None, "members"
            elif path.suffix == ".html" and b"<html" in text:
                assert text.rstrip().endswith(b"</html>"), "end"
            elif path.suffix == ".ipynb":
                nbformat.reads(text.decode(), as_version=4)
            elif path.name == "DEVIATIONS.md":
                assert text.endswith(b"\n"), "end"
        except FileNotFoundError:  # a child that ends late still cleans up
            continue
        except Exception as error:
            found.append(f"{'/'.join(parts)}: {type(error).__name__} {str(error)[:80]}")
    if (folder / "out").is_dir() and not {"card.md", "card.json"} <= {*names(folder / "out")}:
        found.append("out: no card")
    return found


def kill(command: Command, folder: Path, how: str, scope: str, after: float) -> dict[str, Any]:
    """Start a command, end it after some processor time, and return what it left."""
    began = time.time()
    child, known = start(command, folder), {}
    leader = psutil.Process(child.pid)
    while child.poll() is None and spent(below := family(leader), known) < after:
        time.sleep(0.02)
    below = family(leader)
    ended = child.poll() is None
    if ended:
        (os.killpg if scope == "group" else os.kill)(child.pid, signal.Signals[f"SIG{how}"])
    child.wait(120)
    at, left = time.monotonic(), below
    while (left := living(left)) and time.monotonic() - at < LONGEST:
        lived = time.monotonic() - at
        time.sleep(0.05)
    lived = time.monotonic() - at
    late = [" ".join(one.cmdline())[-80:] for one in left]
    for one in left:
        one.kill()
    return {"signal": how if ended else "", "to": scope, "share": "", "processes": len(below), "lived": round(lived, 2),
            "late": "; ".join(late), "broken": "; ".join(broken(folder, began))}  # fmt: skip


def leftovers(folder: Path, clean: set[str]) -> list[str]:
    """Return hidden and temporary files that the undisturbed run did not leave."""
    temporary = folder.with_name("tmp")
    inside = {path.relative_to(folder).as_posix() for path in folder.rglob("*") if ".git" not in path.parts}
    hidden = {
        name for name in inside if any(part.startswith(".") or part.endswith(".part") for part in name.split("/"))
    }
    hidden |= {f"tmp/{path.name}" for path in temporary.iterdir()}
    return sorted(name for name in hidden - clean if not any(known in name for known in NO_LEFTOVER))


def campaign(
    name: str, root: Path, each: int, draw: random.Random, signals: Sequence[str] = SIGNALS
) -> Iterable[dict[str, Any]]:
    """Yield a row for each kill of a command, and one for its last run."""
    command, folder = COMMANDS[name], root / name.replace(" ", "_")
    prepare(name, folder)
    if command.before:
        undisturbed(command, folder, command.before)

    def fresh(every: tuple[str, ...] = command.removed) -> None:
        for old in every:
            for path in folder.glob(old):
                shutil.rmtree(path) if path.is_dir() else path.unlink()

    needed = undisturbed(command, folder)
    expected, clean = result(command, folder), {*leftovers(folder, set())}
    fresh(command.ended)
    assert all(each is None or each for each in expected)
    assert expected
    hows = itertools.cycle(itertools.product(signals, SCOPES))
    for _ in range(each):
        how, scope = next(hows)
        fresh()
        if name == "minimize":
            (folder / "a.sqlite").unlink(missing_ok=True)
        if name == "compare" and draw.random() < 0.3:
            (folder / "a.jsonl").unlink(missing_ok=True)
        share = draw.uniform(0.02, 0.98)
        row = kill(command, folder, how, scope, share * needed)
        yield {"command": name} | row | {"share": f"{share:.2f}"}
        if not row["signal"]:
            fresh(command.ended)
    fresh()
    undisturbed(command, folder)
    other = [] if result(command, folder) == expected else ["another result"]
    left = leftovers(folder, clean)
    yield {"command": name, "signal": "", "to": "last run", "broken": "; ".join(other), "late": "; ".join(left)}


def page(found: pd.DataFrame) -> str:
    """Return the table of all commands."""
    head = ["command", "kills", "lost or half", "left behind", "living after 2 s", "longest life of a child (s)"]
    lines = [" | ".join(head), "|".join(["---"] * len(head))]
    for name, some in found.groupby("command", sort=False):
        kills, last = some[some["signal"] != ""], some[some["to"] == "last run"]
        left = sum(len(one.split("; ")) for one in last["late"] if one)
        lived = pd.to_numeric(kills["lived"])
        row = [name, len(kills), (some["broken"] != "").sum(), left, (lived > SECONDS).sum(), f"{lived.max():.1f}"]
        lines.append(" | ".join(map(str, row)))
    return "\n".join(f"| {line} |" for line in lines) + "\n"


def main() -> None:
    """Kill commands in turn."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--each", type=int, default=11, help="kills of each command")
    parser.add_argument("--seconds", type=float, default=1e9, help="start no further command after this time")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--signals", nargs="+", default=SIGNALS, choices=SIGNALS)
    parser.add_argument("--only", nargs="+", default=list(COMMANDS), choices=list(COMMANDS), help="only these commands")
    parser.add_argument("--out", type=Path, default=RESULTS / "kills.csv")
    given = parser.parse_args()
    for each in SIGNALS[1:]:  # a shell may start us with signals ignored, and children inherit that
        signal.signal(signal.Signals[f"SIG{each}"], signal.SIG_DFL)
    began, found = time.monotonic(), []
    for name in given.only:
        if time.monotonic() - began > given.seconds:
            break
        with tempfile.TemporaryDirectory() as root:
            for row in campaign(name, Path(root), given.each, random.Random(f"{name} {given.seed}"), given.signals):
                found.append({"load": round(os.getloadavg()[0], 1)} | row)
                print(found[-1], flush=True)
                with given.out.open("w", newline="", encoding="utf-8") as file:
                    writer = csv.DictWriter(file, list(found[0]))
                    writer.writeheader()
                    writer.writerows(found)
    print(page(pd.read_csv(given.out, dtype=str, keep_default_na=False)))


if __name__ == "__main__":
    main()
