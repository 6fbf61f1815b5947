"""Measure the bundles on this machine, and write and read the record of a measurement.

The record of a board decides printed values. So a negative time, another unit or a part of another network must not be
read as a measurement.
"""

import datetime
import json
import math
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from statistics import median
from typing import Any

from sensorprivacy.edge.board.bundle import find_bundles, read_bundle
from sensorprivacy.edge.board.hardware import hardware, process_memory
from sensorprivacy.edge.board.timing import BATCHES, LEAST, MOST, ROUNDS, time_bundle
from sensorprivacy.paths import check_writable, write_atomically

FORMAT, VERSION = "sensorprivacy-edge-record", 1


class RecordError(ValueError):
    """The file is no record of a measurement, or the record has another version."""


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


def read_record(path: Path | str) -> dict[str, Any]:
    """Read a record from its file.

    Raises
    ------
    FileNotFoundError
        If there is no such file.
    RecordError
        If the file is no record, the record has another version, or it holds values that no measurement gives.
    """
    path = Path(path)
    if not path.is_file():
        raise FileNotFoundError(f"no record {path}: run `sensorprivacy edge measure --out {path.name}`")
    try:
        record = json.loads(path.read_text(encoding="utf-8"))
    except ValueError as error:
        raise RecordError(f"{path} is damaged or not JSON: {error}; copy it again") from error
    if not isinstance(record, dict) or record.get("format") != FORMAT:
        raise RecordError(f"{path} is not a record of `edge measure` (expected format {FORMAT!r})")
    if record.get("version") != VERSION:
        raise RecordError(f"{path} has version {record.get('version')}, expected {VERSION}: measure again")
    try:
        check_record(record)
    except ValueError as error:
        raise RecordError(f"{path}: {error}: measure again") from error
    return record


def read_records(paths: Iterable[Path | str]) -> dict[str, dict[str, Any]]:
    """Read records and return them by the name of their file without its suffix.

    Raises
    ------
    RecordError
        If two files have the same name.
    """
    found: dict[str, dict[str, Any]] = {}
    for path in map(Path, paths):
        if path.stem in found:
            raise RecordError(f"two records have the name {path.stem}: rename {path}")
        found[path.stem] = read_record(path)
    return found


_ORDER = ("least", "median", "p95", "p99")
_ABOVE_ZERO = "a number above 0"
_FITS = 100  # a step takes its stated seconds up to this factor; a wrong unit is off by 1,000


def check_record(record: Mapping[str, Any]) -> None:
    """Raise ValueError, with what is wrong, if a record holds values that no measurement gives."""
    try:
        _check("settings", record["settings"], ("threads", "rounds", "seconds"), _ABOVE_ZERO)
        _check("the record", record, ["memory"], _ABOVE_ZERO)
        for name in ("board", "machine", "cores", "cpu"):
            record["hardware"][name]
        bundles = record["bundles"]
        if not bundles:
            raise ValueError("it holds no bundle")
        names = [bundle["name"] for bundle in bundles]
        if twice := sorted({name for name in names if names.count(name) > 1}):
            raise ValueError(f"two bundles have the name {twice[0]}")
        for bundle in bundles:
            _check_bundle(bundle)
            _check_duration(bundle, record["settings"])
    except KeyError as error:
        raise ValueError(f"it lacks {error}") from error
    except (TypeError, AttributeError) as error:
        raise ValueError(f"a part has another form than in a record ({error})") from error


def _check_bundle(bundle: Mapping[str, Any]) -> None:
    name = bundle["name"]
    _check(name, bundle, ["budget"], _ABOVE_ZERO)
    for key in ("dataset", "attribute", "precision", "samples"):
        bundle[key]
    for where, row in _rows(bundle):
        _check(f"{name}, {where}", row, _ORDER, "seconds above 0")
        if (times := [row[key] for key in _ORDER]) != sorted(times):
            raise ValueError(f"{name}, {where}: least, median, p95 and p99 are not in ascending order")
    for row in bundle["steps"]:
        _check(f"{name}, {row['step']}", row, ["batch"], "a whole number above 0", kind=int)
        _check(f"{name}, {row['step']}", row, ["cpu"], "seconds", zero=True)
    for network in bundle["networks"]:
        _check(f"{name}, {network['step']}", network, ("weights", "macs", "bytes"), "a number from 0", zero=True)
        network["kind"]
    parts = [{(row["step"], row["code"]) for row in bundle[key]} for key in ("steps", "load", "networks")]
    if not parts[0] or parts[0] != parts[1] or parts[0] != parts[2]:
        raise ValueError(f"{name}: the networks are not those of the steps")


def _rows(bundle: Mapping[str, Any]) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """Yield every summary of times, with its name."""
    for row in bundle["steps"]:
        yield f"{_title(row)}, batch {row['batch']}", row
    for row in bundle["load"]:
        yield f"load of {_title(row)}", row
    if bundle["window"] is not None:
        yield "whole windows", bundle["window"]


def _check_duration(bundle: Mapping[str, Any], settings: Mapping[str, Any]) -> None:
    """Compare the time spent on a step, repeats x mean, with the seconds that the settings allow."""
    rounds, seconds = settings["rounds"], settings["seconds"]
    # where the number of repeats is at its limit, the time spent says nothing
    free = [row for row in bundle["steps"] if 2 * LEAST * rounds < row["repeats"] < MOST * rounds / 2]
    ratios = [row["repeats"] * row["mean"] / seconds for row in free]
    if ratios and not 1 / _FITS < median(ratios) < _FITS:
        took = f"a step took {median(ratios) * seconds:.3g} s, but the settings allow {seconds:g} s"
        raise ValueError(f"{bundle['name']}: {took}; are the times in seconds?")


def _title(row: Mapping[str, Any]) -> str:
    return row["step"] if row["code"] is None else f"{row['step']} {row['code']}"


def _check(
    where: str, row: Mapping[str, Any], names: Iterable[str], wanted: str, *, zero: bool = False, kind: Any = float
) -> None:
    """Raise ValueError if a value of a row is no number, is negative, or is 0 where that is not allowed."""
    for name in names:
        value = row[name]
        fits = isinstance(value, int | kind) and not isinstance(value, bool) and math.isfinite(value)
        if not fits or value < 0 or (value == 0 and not zero):
            raise ValueError(f"{where}: {name} is {value!r}: give {wanted}")
