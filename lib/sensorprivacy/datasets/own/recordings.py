"""Recordings that a user brings, described by a small TOML file, as windows.

The description, every key of it::

    name = "my-watch"
    files = "recordings/*.csv"          # or one long table "all.parquet"; beside the description, * stands for any text
    rate = 50                           # samples a second
    channels = ["gyro_x", "acc_x"]      # columns with the signal, in this order
    subject = "person"                  # column, or a name in file_name
    trial = "session"                   # the same; left out: every file is a trial
    public = "activity"                 # the same
    private = ["gender"]                # columns, of the files or of `people`
    file_name = "{activity}_{person}.csv"   # left out unless labels stand in the files' names
    people = "people.csv"               # left out unless private attributes stand in a table of their own,
                                        # which has the column named by `subject`
"""

import re
import tomllib
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from sensorprivacy.datasets.files import OwnFiles
from sensorprivacy.datasets.own.tables import read_table
from sensorprivacy.datasets.readers.windowing import cut, window_starts
from sensorprivacy.datasets.types import Windows

_NEEDED: dict[str, type | tuple[type, ...]] = {
    "name": str,
    "files": str,
    "rate": (int, float),
    "channels": list,
    "subject": str,
    "public": str,
    "private": list,
}
_OPTIONAL: dict[str, type | tuple[type, ...]] = {"trial": str, "file_name": str, "people": str}


def user_windows(description: str | Path, *, length: int = 128, stride: int = 10) -> Windows:
    """Return the windows of a user's own recordings.

    Parameters
    ----------
    description : path
        TOML file, see the module's text. Paths in it are relative to it.
    length, stride : int
        Samples. No window spans two recordings: a recording is one subject's one trial of one public class.

    Returns
    -------
    Windows
        n x channels x length.

    Raises
    ------
    FileNotFoundError
        If the description or a file it names is not there.
    ValueError
        If a key is missing, unknown or of the wrong type; a column is missing, not numeric or has missing values; a
        file's name is not as described; a private attribute changes within a recording; or no recording is as long as
        a window.
    """
    path = Path(description).expanduser()
    asked = _read(path)
    table = _recordings(path.parent, asked)
    if "people" in asked:
        table = _with_people(table, path.parent / asked["people"], asked)
    _check_columns(table, asked)
    keys = [asked["subject"], "_trial", asked["public"]]
    run = (table[keys] != table[keys].shift()).any(axis=1).cumsum().to_numpy() - 1
    changing = table.groupby(run)[asked["private"]].nunique().max()
    if (changing > 1).any():
        raise ValueError(
            f"{asked['private'][int(changing.argmax())]!r} changes within a recording: it must be a person's own"
        )
    starts = window_starts(run, length, stride, "file")
    if not len(starts):
        raise ValueError(
            f"no recording of {asked['name']} has {length} samples; the longest has {np.bincount(run).max()}"
        )
    first = table.iloc[starts]
    return Windows(
        cut(table[asked["channels"]].to_numpy(np.float32), starts, length),
        public=first[asked["public"]].to_numpy(),
        private=first[asked["private"]].reset_index(drop=True),
        subject=first[asked["subject"]].to_numpy(),
        trial=first["_trial"].reset_index(drop=True),
        name=asked["name"],
        provenance={
            "description": path.name,
            "digest": OwnFiles(path.parent).digest,
            "channels": asked["channels"],
            "rate": asked["rate"],
            "length": length,
            "stride": stride,
            "windowing": "file",
        },
    )


def _read(path: Path) -> dict[str, Any]:
    """Return the checked description."""
    if not path.is_file():
        raise FileNotFoundError(f"no description {path}")
    try:
        asked = tomllib.loads(path.read_text(encoding="utf-8"))
    except tomllib.TOMLDecodeError as error:
        raise ValueError(f"{path} is no TOML: {error}") from error
    known = {**_NEEDED, **_OPTIONAL}
    if unknown := sorted(set(asked) - set(known)):
        raise ValueError(f"{path}: unknown key {unknown[0]!r}; known are {', '.join(known)}")
    if absent := [key for key in _NEEDED if key not in asked]:
        raise ValueError(f"{path}: key {absent[0]!r} is missing")
    for key, value in asked.items():
        if not isinstance(value, known[key]) or isinstance(value, bool) or value in ("", []):
            raise ValueError(f"{path}: {key} = {value!r} is of the wrong type or empty")
    if not asked["rate"] > 0:
        raise ValueError(f"{path}: rate = {asked['rate']} must be above 0")
    return asked


def _recordings(folder: Path, asked: dict[str, Any]) -> pd.DataFrame:
    """Return all files as one table, with the labels in their names, and a column ``_trial``."""
    files = sorted(path for path in folder.glob(asked["files"]) if path.is_file())
    if not files:
        raise FileNotFoundError(f"no file {asked['files']!r} in {folder}")
    parts = []
    for number, file in enumerate(files, start=1):
        part = read_table(file)
        for key, value in _labels_in(file.name, asked.get("file_name")).items():
            part[key] = value
        trial = asked.get("trial")
        if trial is not None and trial not in part:
            raise ValueError(f"{file.name} has no column {trial!r} (the trial)")
        part["_trial"] = number if trial is None else part[trial]
        parts.append(part)
    return pd.concat(parts, ignore_index=True)


def _labels_in(name: str, pattern: str | None) -> dict[str, str]:
    """Return the labels that a file's name carries."""
    if pattern is None:
        return {}
    expression = re.sub(r"\\\{(\w+)\\\}", r"(?P<\1>[^_/]+)", re.escape(pattern))
    match = re.fullmatch(expression, name)
    if match is None:
        raise ValueError(f"file {name!r} is not named as file_name = {pattern!r} says")
    return match.groupdict()


def _with_people(table: pd.DataFrame, path: Path, asked: dict[str, Any]) -> pd.DataFrame:
    """Return the table with the private attributes of each subject."""
    people, subject = read_table(path), asked["subject"]
    if absent := [name for name in (subject, *asked["private"]) if name not in people]:
        raise ValueError(f"{path.name} has no column {absent[0]!r}")
    if subject not in table:
        raise ValueError(f"there is no column {subject!r} (the subject) in the files or their names")
    people = people.assign(**{subject: people[subject].astype(str)})
    if twice := people.loc[people[subject].duplicated(), subject].tolist():
        raise ValueError(f"{path.name} lists subject {twice[0]} more than once")
    table = table.assign(**{subject: table[subject].astype(str)}).drop(columns=asked["private"], errors="ignore")
    if unknown := sorted(set(table[subject]) - set(people[subject])):
        raise ValueError(f"{path.name} does not list subject {unknown[0]}")
    return table.merge(people[[subject, *asked["private"]]], on=subject, how="left", validate="many_to_one")


def _check_columns(table: pd.DataFrame, asked: dict[str, Any]) -> None:
    wanted = [*asked["channels"], asked["subject"], asked["public"], *asked["private"]]
    if absent := [name for name in wanted if name not in table]:
        raise ValueError(f"there is no column {absent[0]!r}; there are {', '.join(map(str, table.columns[:20]))}")
    for name in asked["channels"]:
        if not pd.api.types.is_numeric_dtype(table[name]):
            raise ValueError(f"channel {name!r} is {table[name].dtype}, not numeric")
        if missing := int(table[name].isna().sum()):
            raise ValueError(f"channel {name!r} misses {missing} of {len(table)} samples: fill or cut them first")
    for name in (asked["subject"], asked["public"], *asked["private"]):
        if missing := int(table[name].isna().sum()):
            raise ValueError(f"column {name!r} misses {missing} of {len(table)} labels")
