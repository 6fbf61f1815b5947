"""Measure the bundles on this machine, and write the record of a measurement."""

import datetime
import json
import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

from sensorprivacy.edge.board.bundle import find_bundles, read_bundle
from sensorprivacy.edge.board.hardware import hardware, process_memory
from sensorprivacy.edge.board.timing import BATCHES, ROUNDS, time_bundle
from sensorprivacy.paths import check_writable, write_atomically

FORMAT, VERSION = "sensorprivacy-edge-record", 1


def measure(
    folder: Path | str,
    *,
    batches: tuple[int, ...] = BATCHES,
    threads: int = 1,
    seconds: float = 1.0,
    rounds: int = ROUNDS,
    minutes: float = math.inf,
    progress: Callable[[str], object] = lambda _: None,
) -> dict[str, Any]:
    """Describe this machine and time every step of the bundles; return both as a record.

    Parameters
    ----------
    folder : path
        A bundle, or a folder of bundles.
    batches, threads, seconds, rounds, progress
        As for `timing.time_bundle`.
    minutes : float
        Time for all bundles. When it is over, only the smallest batches that are still missing are measured.

    Raises
    ------
    FileNotFoundError, BundleError
        If there is no bundle, or one is damaged.
    ValueError
        If a setting is out of range.
    """
    if min(threads, rounds) < 1 or not seconds > 0 or not batches or min(batches) < 1:
        raise ValueError(f"{threads=}, {seconds=}, {rounds=}, {batches=}: all must be above 0")
    bundles = [read_bundle(path) for path in find_bundles(folder)]
    settings: dict[str, Any] = {"batches": batches, "threads": threads, "seconds": seconds, "rounds": rounds}
    return {
        "format": FORMAT,
        "version": VERSION,
        "made": datetime.datetime.now(datetime.UTC).date().isoformat(),
        "hardware": hardware(),
        "settings": settings | {"batches": list(batches)},
        "bundles": [
            time_bundle(each, **settings, limit=60 * minutes / len(bundles), progress=progress) for each in bundles
        ],
        "memory": process_memory(peak=True),
    }


def check_target(path: Path) -> None:
    """Raise an error if a record cannot be written to this path: a measurement takes minutes.

    Raises
    ------
    ValueError
        If the path is a folder.
    OSError
        If its folder cannot be made or written, or its disk is full.
    """
    if path.is_dir():
        raise ValueError(f"--out {path} is a folder: name a file, such as {path / 'board.json'}")
    check_writable(path.parent)


def write_record(record: dict[str, Any], path: Path | str) -> Path:
    """Write a record as a JSON file in one atomic step, and return its path."""
    path = Path(path)
    text = json.dumps(record, indent=1, sort_keys=True) + "\n"
    write_atomically(path, lambda part: part.write_text(text, encoding="utf-8"))
    return path
