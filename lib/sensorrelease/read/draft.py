"""Draft the description of a folder of recordings, and say what only its owner knows."""

import re
from collections import Counter
from collections.abc import Mapping
from pathlib import Path

import numpy as np
import pandas as pd

from sensorrelease.columns.identifiers import PLACES, find_identifiers
from sensorrelease.columns.moments import UNITS
from sensorrelease.read.clock import TIMES, times_of
from sensorrelease.read.description import recorded
from sensorrelease.read.formats import SUFFIXES, raw_fields, read_bare, read_table
from sensorrelease.read.text import is_number

_LABELS = {"subject": "person", "public": "activity", "trial": "session"}  # names of labels in names of files
_ROLES = {
    "subject": re.compile(r"(?i)person|subject|user|participant|^id$"),
    "public": re.compile(r"(?i)activity|label|class|exercise|task"),
    "trial": re.compile(r"(?i)trial|session|run"),
}
_ACTIVITIES = re.compile(r"(?i)walk|run|jog|sit|stand|stair|lie|lying|cycl|drive|up|down")
_USUAL = 50.0  # samples per second: of several units of time, the one with the nearest rate is meant
_ABOUT = ("metadata", "annotation", "device", "info", "people", "subjects")  # files beside the recordings
_FOLDER = "meta"  # of such files: phyphox's
_SLOW = 0.5  # share of the fastest sensor's rate below which a sensor is left out
_DATE = re.compile(r"\d{4}-\d\d-\d\d(?:[T_ -]\d\d[-:.]\d\d[-:.]\d\d)?")  # when a recording began


def draft(folder: Path) -> tuple[str, list[str]]:
    """Return the text of a description for a folder, and what it leaves open, a sentence each.

    Parameters
    ----------
    folder : pathlib.Path
        Files of recordings, in it or below it: a file for each recording, a folder for each with one file for each
        sensor, or one long table.

    Raises
    ------
    FileNotFoundError
        If no file has a known format.
    ValueError
        If the first file cannot be read.
    """
    files = _files(folder)
    held = Counter(file.name for file in files)
    folders = sorted({file.parent for file in files} - {folder})
    sensors = [name for name, count in held.items() if count == len(folders)] if len(held) < len(files) else []
    sensors = [] if any(map(_ACTIVITIES.match, sensors)) else sensors  # anna/walk.csv and anna/sit.csv
    joined = len(sensors) > 1
    units = folders if joined else files
    bare = [] if joined else [field.rstrip(";") for field in raw_fields(files[0])]
    bare = [f"column_{at + 1}" for at in range(len(bare))] if any(map(is_number, bare)) else bare
    chosen = [units[0] / name for name in sensors] if joined else files[:1]
    read = {file.name: read_bare(file, bare) if bare else read_table(file) for file in chosen}
    time = {
        name: next((str(column) for column in table if TIMES.search(str(column))), "") for name, table in read.items()
    }
    rates = {name: _rate(table, time[name]) for name, table in read.items()}
    slow = {name: f"{rate:g} Hz" for name, rate in rates.items() if rate < _SLOW * max(rates.values())}
    slow |= {name: "not in every folder" for name in held if joined and name not in read}
    sensors = sorted(set(read) - set(slow), key=lambda name: (-rates[name], name))
    found, open_points = _labels(units, folder, list(map(str, read[sensors[0]].columns)))
    channels, left_out = [], slow
    for name in sensors:
        table = read[name].select_dtypes("number")
        table = table[[one for one in table if not TIMES.search(str(one)) and str(one) not in found.values()]]
        table.columns = [f"{Path(name).stem}.{column}" if joined else str(column) for column in table]
        left_out |= {column: why for column, why in find_identifiers(table).items() if why == PLACES}
        channels += [str(column) for column in table if column not in left_out]
    sensors = [name for name in sensors if any(column.startswith(f"{Path(name).stem}.") for column in channels)]
    if left_out:
        open_points.append(f"left out: {_in_words(left_out)}")
    if not channels:
        columns = ", ".join(f"{name}: {', '.join(map(str, table.columns))}" for name, table in read.items())
        raise ValueError(f"{units[0]} has no column of measurements ({columns}): convert the files to CSV tables")
    lines: dict[str, object] = {"name": folder.resolve().name, "files": _glob(units, folder)}
    lines |= {"sensors": sensors} if joined else {"columns": bare} if bare else {}
    if bare:
        open_points.append(
            f"{files[0].name} has no header, or its lines end with ';': correct the names in the key columns, and name "
            "the channels, the time, the person and the activity by them"
        )
    lines |= {"rate": max(rates.values()), "channels": channels, **found, "private": [found["subject"]]}
    if all(time.values()):
        lines |= {"time": next(iter(time.values())), "resample": True}
    else:
        open_points.append("no column of times was found: gaps go unnoticed; name it with the key time")
    if not any(time.values()):
        open_points.append("the rate is not in the files: correct the key rate (samples per second)")
    open_points.append(
        "private lists the person only: add the attributes to hide, and a table of them with the key people"
    )
    open_points.append("channels lists every column of numbers: leave only the signals that you want to publish")
    return "".join(f"{key} = {_toml(value)}\n" for key, value in lines.items()), open_points


def _files(folder: Path) -> list[Path]:
    """Return the files of recordings, without those that tell about them."""
    every = recorded([file for file in sorted(folder.rglob("*")) if file.is_file()], folder)
    files = [file for file in every if file.suffix.lower() in SUFFIXES and not file.stem.lower().startswith(_ABOUT)]
    files = [file for file in files if _FOLDER not in file.relative_to(folder).parts]
    packed = next((file for file in every if file.suffix.lower() == ".zip"), None)
    if not files:
        remedy = f"; unpack {packed.name} and the like, each into a folder with its name" if packed else ""
        raise FileNotFoundError(f"{folder} holds no recording: no file ends with {', '.join(SUFFIXES)}{remedy}")
    return files


def _glob(units: list[Path], folder: Path) -> str:
    """Return the shortest pattern that fits all files or folders."""
    if len(units) == 1:
        return units[0].relative_to(folder).as_posix()
    depths = {len(unit.relative_to(folder).parts) for unit in units}
    endings = {unit.suffix for unit in units} if units[0].is_file() else {""}
    last = f"*{endings.pop()}" if len(endings) == 1 else "*"
    last = units[0].name if units[0].is_file() and len({unit.name for unit in units}) == 1 else last
    return "/".join(["*"] * (depths.pop() - 1) + [last]) if len(depths) == 1 else f"**/{last}"


def _rate(table: pd.DataFrame, time: str) -> float:
    """Return samples per second, or the usual ones if there are no times."""
    if not time:
        return _USUAL
    times = times_of(table[time]).to_numpy()
    steps = np.abs(np.diff(times))
    middle = np.median(steps[steps > 0]) if (steps > 0).any() else 1 / _USUAL
    step = float(steps[steps < 2 * middle].mean()) or middle  # the mean, because times may be rounded
    rates = [unit / step for unit in (UNITS if pd.api.types.is_numeric_dtype(table[time]) else UNITS[:1])]
    return float(f"{min(rates, key=lambda rate: abs(np.log(rate / _USUAL))):.3g}")


def _labels(units: list[Path], folder: Path, columns: list[str]) -> tuple[dict[str, str], list[str]]:
    """Return the keys subject, public, trial and file_name as far as columns or names of files show them."""
    found = {role: next((name for name in columns if words.search(name)), "") for role, words in _ROLES.items()}
    names = [_DATE.sub("*", unit.relative_to(folder).as_posix()) for unit in units]
    parts = [re.split(r"([_\-/. ]+)", name) for name in names]
    pattern = ""
    if len({tuple(part[1::2]) for part in parts}) == 1 and len(names) > 1:
        for at, texts in enumerate(zip(*parts, strict=True)):
            different = sorted(set(texts))
            role = next(
                (role for role in ("public", "subject", "trial") if not found[role] and _plays(role, different)), ""
            )
            found |= {role: _LABELS[role]} if role and at % 2 == 0 and len(different) > 1 else {}
            label = f"{{{_LABELS[role]}}}" if role and at % 2 == 0 and len(different) > 1 else ""
            pattern += label or (different[0] if len(different) == 1 else "*")
    open_points = [
        f"the key {role} is a guess to be replaced: neither a column nor a part of the file names shows it"
        for role in ("subject", "public")
        if not found[role]
    ]
    found |= {role: found[role] or role for role in ("subject", "public")}
    keys = {role: name for role, name in found.items() if name}
    pattern = re.sub(r"\*(?:[_\-. ]*\*)+", "*", pattern)
    return keys | ({"file_name": pattern} if "{" in pattern else {}), open_points


def _plays(role: str, texts: list[str]) -> bool:
    """Return whether different parts of file names can be activities, people or trials."""
    known = [bool(_ACTIVITIES.search(text)) for text in texts]
    if role == "public":
        return any(known)
    digits = all(re.search(r"\d", text) for text in texts)
    return not any(known) and (not digits or len(texts) > 2 if role == "subject" else digits)


def _toml(value: object) -> str:
    if isinstance(value, list):
        return f"[{', '.join(map(_toml, value))}]"
    if isinstance(value, bool):
        return str(value).lower()
    return (
        f"{value:g}" if isinstance(value, float) else '"' + str(value).replace("\\", "\\\\").replace('"', '\\"') + '"'
    )


def _in_words(columns: Mapping[str, str], most: int = 20) -> str:
    """Return columns with their reasons as one text, without those after the first ones."""
    shown = [f"{name} ({reason})" for name, reason in columns.items()]
    return ", ".join(shown[:most]) + (f" and {len(shown) - most:,} more" if len(shown) > most else "")
