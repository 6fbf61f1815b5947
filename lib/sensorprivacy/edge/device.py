"""The measurement that runs on any board, and the record that it leaves. Needs numpy and onnxruntime."""

import datetime
import json
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

from sensorprivacy.edge.bundle import find_bundles, read_bundle
from sensorprivacy.edge.hardware import hardware, is_pi3
from sensorprivacy.edge.timing import BATCHES, memory_high_water, time_bundle

FORMAT, VERSION = "sensorprivacy-edge-record", 1
_NEEDED = {"format", "version", "hardware", "settings", "bundles", "memory"}

__all__ = ["RecordError", "is_pi3", "measure", "read_record", "read_records", "write_record"]


class RecordError(ValueError):
    """A file that is no record of a measurement, or of another version."""


def measure(
    folder: Path | str,
    *,
    batches: tuple[int, ...] = BATCHES,
    threads: int = 1,
    seconds: float = 1.0,
    tell: Callable[[str], object] = lambda _: None,
) -> dict[str, Any]:
    """Return the record of this machine: what it is, and how long every bundle's steps take.

    Parameters
    ----------
    folder : path
        A bundle, or a folder of bundles.
    batches, threads, seconds, tell
        As for `timing.time_bundle`.

    Raises
    ------
    FileNotFoundError, BundleError
        If there is no bundle, or one is damaged.
    ValueError
        If a setting is out of range.
    """
    if threads < 1 or not seconds > 0 or not batches or min(batches) < 1:
        raise ValueError(f"threads={threads}, seconds={seconds}, batches={batches}: all must be above 0")
    bundles = [read_bundle(path) for path in find_bundles(folder)]
    timed = [time_bundle(each, batches=batches, threads=threads, seconds=seconds, tell=tell) for each in bundles]
    return {
        "format": FORMAT,
        "version": VERSION,
        "made": datetime.datetime.now(datetime.UTC).date().isoformat(),
        "hardware": hardware(),
        "settings": {"threads": threads, "batches": list(batches), "seconds": seconds},
        "bundles": timed,
        "memory": memory_high_water(),
    }


def write_record(record: dict[str, Any], path: Path | str) -> Path:
    """Write a record as JSON, at once or not at all, and return its path."""
    path = Path(path)
    path.parent.mkdir(parents=True, exist_ok=True)
    part = path.with_name(f"{path.name}.part")
    part.write_text(json.dumps(record, indent=1, sort_keys=True) + "\n", encoding="utf-8")
    part.replace(path)
    return path


def read_record(path: Path | str) -> dict[str, Any]:
    """Return the record of a file.

    Raises
    ------
    FileNotFoundError
        If there is no such file.
    RecordError
        If it is no record, or of another version.
    """
    path = Path(path)
    if not path.is_file():
        raise FileNotFoundError(
            f"no record {path}: make one with `python -m sensorprivacy edge measure --out {path.name}`"
        )
    try:
        record = json.loads(path.read_text(encoding="utf-8"))
    except ValueError as error:
        raise RecordError(f"{path} is damaged or no JSON: {error}") from error
    if not isinstance(record, dict) or record.get("format") != FORMAT:
        raise RecordError(f"{path} is no record of `edge measure` (expected format {FORMAT!r})")
    if record.get("version") != VERSION:
        raise RecordError(f"{path} is of version {record.get('version')}, expected {VERSION}: measure anew")
    if absent := sorted(_NEEDED - set(record)):
        raise RecordError(f"{path} lacks {', '.join(absent)}: measure anew")
    return record


def read_records(paths: Iterable[Path | str]) -> dict[str, dict[str, Any]]:
    """Return records by the name of their file without its ending.

    Raises
    ------
    RecordError
        If two files have the same name.
    """
    found: dict[str, dict[str, Any]] = {}
    for path in map(Path, paths):
        if path.stem in found:
            raise RecordError(f"two records are called {path.stem}: rename {path}")
        found[path.stem] = read_record(path)
    return found
