"""Run commands where memory, files, disk or the checkout are limited: each ends right, or with one clear line.

python bench/conditions.py [--only WORD]        writes bench/results/conditions.csv; mounts need root
"""

import argparse
import contextlib
import os
import resource
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import pandas as pd
import psutil

from hostile_inputs import table
from kills import RUN

ROOT = Path(__file__).resolve().parents[1]
ROLES = "--task room --user owner --quiet"
PUBLISH = f"publish home.csv {ROLES} --defence round:digits=2 --accept-draft --although-identifying --out out"
COMPARE = f"compare home.csv {ROLES} --defences none noise --trees 20 --store a.jsonl --report a.html"
MINIMIZE = f"minimize home.csv {ROLES} --trees 20 --preselect 4 --repeat 0 --jobs 2 --json a.json"


def limited(which: int, value: int) -> Callable[[], None]:
    """Return a function that limits a process, and those that it starts."""
    return partial(resource.setrlimit, which, (value, value))


def start(words: str, folder: Path, limit: Callable[[], None] | None = None, **more: str) -> subprocess.Popen:
    """Start a command in a folder."""
    module = "sensorrelease" if words.split()[0] in ("publish", "compare", "minimize", "schema") else "compendium"
    environment = {**os.environ, "PYTHONPATH": str(ROOT / "lib"), "SENSORPRIVACY_CACHE": str(folder / "cache"), **more}
    return subprocess.Popen(
        [sys.executable, "-m", module, *words.split()], cwd=folder, env=environment, preexec_fn=limit,
        stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, start_new_session=True,
    )  # fmt: skip


def watched(child: subprocess.Popen) -> tuple[int, str, int]:
    """Return the exit code of a command, its last line, and the most memory of all its processes in MiB.

    Pages that processes share count once.
    """
    peak, leader = 0.0, psutil.Process(child.pid)
    while child.poll() is None:
        with contextlib.suppress(psutil.Error):
            tree = [leader, *leader.children(recursive=True)]
            peak = max(peak, sum(one.memory_full_info().pss for one in tree))
        time.sleep(0.2)
    said = [line for line in child.stderr.read().splitlines() if not line.startswith("note: ")]
    return child.returncode, "; ".join(said)[-300:], round(peak / 2**20)


@contextlib.contextmanager
def mounted(folder: Path, *words: str) -> Iterator[None]:
    """Mount something on a folder."""
    subprocess.run(["mount", *words, str(folder)], check=True)
    try:
        yield
    finally:
        subprocess.run(["umount", "-l", str(folder)], check=True)


def large(folder: Path) -> None:
    """Write a table of 45 MB, which is read in pieces."""
    made = table(3000)
    pd.concat([made] * 400).to_csv(folder / "home.csv", index=False)


def run(words: str, folder: Path, limit: Callable[[], None] | None = None, **more: str) -> Iterator[dict[str, Any]]:
    """Yield how a command ended."""
    code, said, peak = watched(start(words, folder, limit, **more))
    yield {"command": words.split()[0], "code": code, "said": said, "MiB": peak}


def memory_of_trees(folder: Path) -> Iterator[dict[str, Any]]:
    """Measure the memory of whole process trees on small tables."""
    for words in (PUBLISH, COMPARE, MINIMIZE, f"reproduce --no-data --cores 2 {RUN}"):
        yield from run(words, folder, SENSORPRIVACY_OUTPUT=str(folder / "results"))


def little_memory(folder: Path) -> Iterator[dict[str, Any]]:
    """Allow less address space than the libraries need, and about as much."""
    for gib in (0.5, 1, 2, 3, 4):
        yield from run(PUBLISH, folder, limited(resource.RLIMIT_AS, int(gib * 2**30)), OPENBLAS_NUM_THREADS="1")
        shutil.rmtree(folder / "out", ignore_errors=True)


def few_files(folder: Path) -> Iterator[dict[str, Any]]:
    """Allow few open files."""
    large(folder)
    for many in (24, 64):
        yield from run(PUBLISH, folder, limited(resource.RLIMIT_NOFILE, many))
        shutil.rmtree(folder / "out", ignore_errors=True)
    table().to_csv(folder / "home.csv", index=False)
    yield from run(MINIMIZE, folder, limited(resource.RLIMIT_NOFILE, 64))
    results = str(folder / "results")
    limit = limited(resource.RLIMIT_NOFILE, 64)
    yield from run(f"reproduce --no-data --cores 2 {RUN}", folder, limit, SENSORPRIVACY_OUTPUT=results)


def two_at_once(folder: Path) -> Iterator[dict[str, Any]]:
    """Publish twice into one folder at the same time."""
    for child in [start(PUBLISH, folder) for _ in range(2)]:
        code, said, peak = watched(child)
        yield {"command": "publish", "code": code, "said": said, "MiB": peak}


def full_disk(folder: Path) -> Iterator[dict[str, Any]]:
    """Let the disk be full at once, and while the rows are written."""
    for size in ("2m", "92m"):
        (small := folder / "small").mkdir(exist_ok=True)
        with mounted(small, "-t", "tmpfs", "-o", f"size={size}", "none"):
            (large if size == "92m" else lambda one: table().to_csv(one / "home.csv", index=False))(small)
            yield from run(PUBLISH, small)
            hidden = [path.name for path in small.iterdir() if path.name not in ("home.csv", "cache")]
            yield {"command": "left there", "code": 0, "said": ", ".join(hidden) or "nothing", "MiB": 0}


def read_only_checkout(folder: Path) -> Iterator[dict[str, Any]]:
    """Run a notebook of a checkout that cannot be written to, without and with another place for results."""
    checkout = folder / "checkout"
    subprocess.run(["git", "clone", "-q", "--depth", "1", f"file://{ROOT}", str(checkout)], check=True)
    with mounted(checkout, "--bind", str(checkout)):
        subprocess.run(["mount", "-o", "remount,ro,bind", str(checkout)], check=True)
        more = {"PYTHONPATH": str(checkout / "lib"), "PYTHONDONTWRITEBYTECODE": "1"}
        for words in (f"reproduce --no-data {RUN}", "report ledger", "archive", f"book {RUN}", "lessons"):
            yield from run(words, folder, **more)
            if not words.startswith("report"):
                results = {"SENSORPRIVACY_OUTPUT": str(folder / "results")}
                if words.startswith(("archive", "book")):
                    shutil.copytree(ROOT / "figures", folder / "results" / "figures", dirs_exist_ok=True)
                yield from run(words, folder, **more, **results)


CONDITIONS: dict[str, Callable[[Path], Iterator[dict[str, Any]]]] = {
    "memory of all processes": memory_of_trees,
    "limit of address space": little_memory,
    "few open files": few_files,
    "two into one folder": two_at_once,
    "full disk": full_disk,
    "read-only checkout": read_only_checkout,
}


def main() -> None:
    """Try each condition."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", default="", help="conditions whose name holds this word")
    parser.add_argument("--out", type=Path, default=ROOT / "bench" / "results" / "conditions.csv")
    given = parser.parse_args()
    found = []
    for name, attempts in CONDITIONS.items():
        if given.only not in name:
            continue
        with tempfile.TemporaryDirectory() as root:
            table().to_csv(Path(root) / "home.csv", index=False)
            for row in attempts(Path(root)):
                found.append({"condition": name, **row, "hidden left": len([*Path(root).glob(".*.part")])})
                print(found[-1], flush=True)
                pd.DataFrame(found).to_csv(given.out, index=False)


if __name__ == "__main__":
    main()
