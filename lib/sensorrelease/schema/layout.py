"""Guess how a folder of recordings is laid out: its files, the labels in their names, the clock and the rate."""

import re
from collections import Counter
from collections.abc import Mapping
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa

from sensorrelease.schema.cells import Converter
from sensorrelease.schema.clock import in_seconds, rate_of
from sensorrelease.schema.dialect import Recordings
from sensorrelease.schema.files import OPENERS
from sensorrelease.schema.formats import batches, column_names
from sensorrelease.schema.guess import ABSENT, Guess, guess_column
from sensorrelease.schema.model import NUMBERS, UNITS, Field, Schema
from sensorrelease.schema.sniff import SUFFIXES, sniff
from sensorrelease.schema.sources import check_folder, labels_in, recorded_files

PEOPLE, SESSION = "people.csv", "session"  # table of private attributes, and label of a recording in names of files
_NOT = r"(?<![a-zµμ/])(?<!m[_ .*])"  # m/s^2, rad/s and m s-2 are no times
TIMES = re.compile(rf"(?i){_NOT}(t|ts|time|timestamp|clock|datetime|date|[mun]?s|sec|seconds)(?![a-z^]|-\d)")  # names
_ACTIVITIES = re.compile(r"(?i)walk|run|jog|sit|stand|stair|lie|lying|cycl|drive|up|down")
_RECORDED = (SESSION, "recording", "trial", "run", "rep", "take", "day")  # what a label of a recording is called
_SESSIONS = re.compile(rf"(?i)({'|'.join(_RECORDED)})?[_-]?\d+\.\w+")
_USUAL = 50.0  # samples per second: of several units of time, the one with the nearest rate is meant
_LOST = 2.5  # steps of a gap that a draft tolerates: one lost sample
# files beside recordings
_ABOUT = re.compile(r"(?i)(metadata|annotation|device|info|people|subjects|participants|labels\b|readme)|(^|.*/)meta/")
_DATE = re.compile(r"\d{4}-\d\d-\d\d(?:[T_ -]\d\d[-:.]\d\d[-:.]\d\d)?")  # when a recording began
_DAYS = ("%d.%m.%Y", "%d/%m/%Y", "%m/%d/%Y", "%d-%m-%Y", "%m-%d-%Y", "%Y/%m/%d")
_FORMS = [None, *map(" ".join, product(_DAYS, ("%H:%M:%S.%f", "%H:%M:%S", "%I:%M:%S.%f %p", "%I:%M:%S %p")))]
_HEAD = 20_000  # rows from which clock and rate are guessed


def lay_out(
    folder: Path, roles: Mapping[str, str | None], names: str | None = None, rate: float | None = None
) -> tuple[dict[str, Any], dict[str, Guess], dict[str, str]]:
    """Return how a folder of recordings is written, guesses of its clock and labels, and further roles.

    Parameters
    ----------
    folder : path
        A file for each recording, or long tables.
    roles : mapping of str to str or None
        Names of ``task``, ``user`` and ``recording``.
    names : str, optional
        The labels in the names of files, as in `Recordings`; by default guessed.
    rate : float, optional
        Samples per second; by default the times show them.

    Raises
    ------
    FileNotFoundError, ValueError
        If no file is a recording, or labels or the rate are unclear.
    """
    check_folder(folder)
    if names and not names.endswith(("*", *SUFFIXES, *(f".{ending}" for ending in OPENERS if ending))):
        names += ".*"  # the ending of a file is in no label
    files = _found(folder, names)
    first = files[0]
    written = sniff(first)
    known = Schema(fields=[], **written)
    columns = column_names(first, known) or list(next(batches(first, known, 1, None)).columns)
    more: dict[str, str] = {}
    names = names or _guess_names(files, folder, columns, roles)
    pattern = re.sub(r"\{\w+\}", "*", names) if names else _glob(files, folder)
    labels = [] if names is None else list(labels_in(first.relative_to(folder), names))
    session = next((name for name in labels if name in _RECORDED and name not in roles.values()), None)
    if session and roles["recording"] is None:
        more[session] = "recording"
    if absent := [name for name in roles.values() if name and name not in [*columns, *labels]]:
        raise ValueError(
            f"{absent[0]!r} is no column of {first}, and the names of the files do not show it: give --names with its "
            f"place, such as --names '{{activity}}_{{person}}_{{session}}.csv'; this file is called "
            f"{first.relative_to(folder)}"
        )
    head = next(batches(first, known, _HEAD, None))
    guesses, seen = _clock(head.columns, [name for name in roles.values() if name in columns], first)
    if rate is None and seen is None:
        raise ValueError(f"{first} has no column of times, so its rate is unknown: give it with --rate (per second)")
    rate = float(rate or seen or 0)
    beside = folder / PEOPLE
    people = (column_names(beside, Schema(fields=[])) or []) if beside.is_file() else []
    people = people if roles["user"] in people else []
    more |= dict.fromkeys((name for name in people if name != roles["user"]), "private")
    given = Recordings(
        files=pattern,
        names=names,
        rate=rate,
        gap=float(f"{_LOST / rate:.3g}"),
        gaps="end",
        people=PEOPLE if people else None,
    )
    written |= {"recordings": given, "name": "recordings"}
    more |= dict.fromkeys(guesses, "time")
    return written, guesses | dict.fromkeys(labels, Guess({"type": "string", "missingValues": [""]})), more


def _found(folder: Path, names: str | None) -> list[Path]:
    """Return the files of recordings, without those that tell about them."""
    if names is not None:
        return recorded_files(folder, Recordings(files=re.sub(r"\{\w+\}", "*", names), rate=1))
    try:
        every = recorded_files(folder, Recordings(files="**/*", rate=1))
    except FileNotFoundError:
        every = []
    files = [file for file in every if {*file.suffixes[-2:]} & {*SUFFIXES}]
    files = [
        file for file in files if not _ABOUT.match(file.relative_to(folder).as_posix()) and not _ABOUT.match(file.name)
    ]
    if not files:
        packed = next((file for file in every if file.suffix.lower() == ".zip"), None)
        remedy = f"; unpack {packed.name} and the like, each into a folder with its name" if packed else ""
        raise FileNotFoundError(f"{folder} holds no recording: no file ends with {', '.join(SUFFIXES)}{remedy}")
    held, folders = Counter(file.name for file in files), {file.parent for file in files}
    sensors = [name for name, count in held.items() if count > 1]
    if (
        len(sensors) > 1
        and len(files) > len(folders)
        and not any(map(_ACTIVITIES.match, sensors))
        and not all(map(_SESSIONS.fullmatch, sensors))
    ):
        raise ValueError(
            f"the recordings in {folder} have several files each ({', '.join(sensors[:5])}): join them first (guide: "
            f"recordings of apps), or name one of them, such as --names '{{activity}}_{{person}}/{sensors[0]}'"
        )
    return files


def _glob(files: list[Path], folder: Path) -> str:
    """Return the shortest pattern that fits all files."""
    parts = [file.relative_to(folder).parts for file in files]
    if len(files) == 1:
        return "/".join(parts[0])
    endings = {"".join(file.suffixes[-1:]) for file in files}
    last = files[0].name if len({part[-1] for part in parts}) == 1 else f"*{endings.pop() if len(endings) == 1 else ''}"
    return "/".join(["*"] * (len(parts[0]) - 1) + [last]) if len({*map(len, parts)}) == 1 else f"**/{last}"


def _guess_names(files: list[Path], folder: Path, columns: list[str], roles: Mapping[str, str | None]) -> str | None:
    """Return the pattern of the labels in the names of files."""
    wanted = {role: name for role, name in roles.items() if name not in columns}
    names = [_DATE.sub("*", file.relative_to(folder).as_posix()) for file in files]
    parts = [re.split(r"([_\-/. ]+)", name) for name in names]
    if len({tuple(part[1::2]) for part in parts}) > 1 or len(names) < 2 or not {"task", "user"} & {*wanted}:
        return None
    pattern, open_ = "", ["task", "user", "recording"]
    for at, texts in enumerate(zip(*parts, strict=True)):
        different = sorted(set(texts))
        role = next((one for one in open_ if one in wanted and _plays(one, different)), "") if at % 2 == 0 else ""
        if role and len(different) > 1:
            open_.remove(role)
            pattern += f"{{{wanted[role] or SESSION}}}"
        else:
            pattern += different[0] if len(different) == 1 else "*"
    pattern = re.sub(r"\*(?:[_\-. ]*\*)+", "*", pattern)
    return pattern if "{" in pattern else None


def _plays(role: str, texts: list[str]) -> bool:
    """Return whether different parts of file names can be tasks, users or recordings."""
    known = [bool(_ACTIVITIES.search(text)) for text in texts]
    if role == "task":
        return any(known)
    digits = all(re.search(r"\d", text) for text in texts)
    return not any(known) and (not digits or len(texts) > 2 if role == "user" else digits)


def _clock(head: Mapping[str, pa.Array], labels: list[str], file: Path) -> tuple[dict[str, Guess], float | None]:
    """Return the guess of the column of times, and the samples per second; nothing if there is none."""
    name = next((name for name in head if name not in labels and TIMES.search(name)), None)
    if name is None:
        return {}, None
    frame = pd.DataFrame({one: head[one].to_pandas() for one in labels})
    run = int((frame != frame.iloc[0]).any(axis=1).argmax()) if labels else 0
    cells = head[name].slice(0, run or None)  # of the first recording
    keys = guess_column(cells, None).keys
    number = keys if keys.get("type") in NUMBERS else {"type": "number"}  # long digits can be labels, but not here
    ways: list[dict[str, Any]] = [number | {"unit": unit} for unit in UNITS]
    best: tuple[float, Guess, float] | None = None
    for way in [*ways, *({"type": "datetime", "format": form} for form in _FORMS)]:
        field, dated = Field(name="time", role="time", **way), way["type"] == "datetime"
        if dated and best is not None and "unit" in best[1].keys:
            break
        read = Converter(field, Schema(fields=[], missingValues=ABSENT)).convert(cells)
        if read.wrong.any() or read.data is None:
            continue
        steps = np.abs(np.diff(in_seconds(pd.Series(read.data).dropna(), field)))
        if not (steps > 0).any():
            continue
        rate = rate_of(steps) if (steps > 0).all() else len(steps) / steps.sum()  # of a coarse clock
        far = float(steps.sum()) if dated else abs(np.log(rate / _USUAL))  # a wrong order of day and month jumps
        if best is None or far < best[0]:
            best = far, Guess(way), float(f"{rate:.3g}")
    return ({}, None) if best is None else ({name: best[1]}, best[2])
