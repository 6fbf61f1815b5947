"""Measure the bundles on this machine, and write and read the record of a measurement."""

import datetime
import json
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

from sensorprivacy.edge.board.bundle import find_bundles, read_bundle
from sensorprivacy.edge.board.hardware import hardware, process_memory
from sensorprivacy.edge.board.record_checks import check_record
from sensorprivacy.edge.board.timing import BATCHES, ROUNDS, time_bundle

FORMAT, VERSION = "sensorprivacy-edge-record", 1
_NEEDED = {"format", "version", "hardware", "settings", "bundles", "memory"}


class RecordError(ValueError):
    """The file is no record of a measurement, or the record has another version."""


def measure(
    folder: Path | str,
    *,
    batches: tuple[int, ...] = BATCHES,
    threads: int = 1,
    seconds: float = 1.0,
    rounds: int = ROUNDS,
    progress: Callable[[str], object] = lambda _: None,
) -> dict[str, Any]:
    """Describe this machine and time every step of the bundles; return both as a record.

    Parameters
    ----------
    folder : path
        A bundle, or a folder of bundles.
    batches, threads, seconds, rounds, progress
        As for `timing.time_bundle`.

    Raises
    ------
    FileNotFoundError, BundleError
        If there is no bundle, or one is damaged.
    ValueError
        If a setting is out of range.
    """
    if min(threads, rounds) < 1 or not seconds > 0 or not batches or min(batches) < 1:
        raise ValueError(
            f"threads={threads}, seconds={seconds}, rounds={rounds}, batches={batches}: all must be above 0"
        )
    bundles = [read_bundle(path) for path in find_bundles(folder)]
    settings: dict[str, Any] = {"batches": batches, "threads": threads, "seconds": seconds, "rounds": rounds}
    return {
        "format": FORMAT,
        "version": VERSION,
        "made": datetime.datetime.now(datetime.UTC).date().isoformat(),
        "hardware": hardware(),
        "settings": settings | {"batches": list(batches)},
        "bundles": [time_bundle(bundle, **settings, progress=progress) for bundle in bundles],
        "memory": process_memory(peak=True),
    }


def check_target(path: Path) -> None:
    """Raise an error if a record cannot be written to this path: a measurement takes minutes.

    Raises
    ------
    ValueError
        If the path is a folder.
    OSError
        If its folder cannot be made or written.
    """
    if path.is_dir():
        raise ValueError(f"--out {path} is a folder: name a file, such as {path / 'board.json'}")
    part = _part(path)
    part.touch()
    part.unlink()


def write_record(record: dict[str, Any], path: Path | str) -> Path:
    """Write a record as a JSON file in one atomic step, and return its path."""
    path = Path(path)
    part = _part(path)
    part.write_text(json.dumps(record, indent=1, sort_keys=True) + "\n", encoding="utf-8")
    part.replace(path)
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
        raise FileNotFoundError(f"no record {path}: run `python -m sensorprivacy edge measure --out {path.name}`")
    try:
        record = json.loads(path.read_text(encoding="utf-8"))
    except ValueError as error:
        raise RecordError(f"{path} is damaged or not JSON: {error}; copy it again") from error
    if not isinstance(record, dict) or record.get("format") != FORMAT:
        raise RecordError(f"{path} is not a record of `edge measure` (expected format {FORMAT!r})")
    if record.get("version") != VERSION:
        raise RecordError(f"{path} has version {record.get('version')}, expected {VERSION}: measure again")
    if absent := sorted(_NEEDED - set(record)):
        raise RecordError(f"{path} lacks {', '.join(absent)}: measure again")
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


def _part(path: Path) -> Path:
    """Return the file that becomes a record when it is complete, in a folder that exists."""
    path.parent.mkdir(parents=True, exist_ok=True)
    return path.with_name(f"{path.name}.part")
