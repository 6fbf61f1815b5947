"""The description of a user's recordings: the keys of a small TOML file.

The description has these keys::

    name = "my-watch"
    files = "recordings/*.csv"          # or one long table "all.parquet"; relative to the description, * is any text
    rate = 50                           # samples per second
    channels = ["gyro_x", "acc_x"]      # columns of the signal, in this order
    subject = "person"                  # column, or a name in file_name
    trial = "session"                   # optional, the same; by default every file is a trial
    public = "activity"                 # the same
    private = ["gender"]                # columns of the files or of `people`
    file_name = "{activity}_{person}.csv"   # optional: the labels in the names of the files; with /, of their folders
    columns = ["person", "t", "x"]      # optional: names of the columns of files without a header
    sensors = ["acc.csv", "gyro.csv"]   # optional: `files` are folders with these files, joined by `time`; channels are
                                        # then acc.x, acc.y, gyro.x, ...
    people = "people.csv"               # optional: a table of private attributes with the column of `subject`
    time = "timestamp"                  # optional column: order, gaps and rate are checked, and gaps end a recording
    resample = true                     # optional: sort by time, spread equal times and interpolate to the rate
    gap = 0.1                           # optional, with resample: pauses up to so many seconds are filled
"""

import re
import tomllib
import warnings
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from sensorprivacy.paths import read_json
from sensorrelease.pages import some

_Text = Annotated[str, Field(min_length=1)]
_Names = Annotated[list[_Text], Field(min_length=1)]
_MOST_BYTES = 2**20
_STATED = ("card.json", "defence.json", "manifest.json")  # what folders that this program wrote hold
_WRITTEN = (".toml", ".html", ".json", ".md")  # endings of pages, cards and descriptions
_OF_STORE = b'{"key": '  # the first bytes of the results of compare
_TEXT, _NAMES = 'a text in quotes, such as "walk"', 'a list of different texts, such as ["x", "y"]'
_EXPECTED = {"rate": "a number above 0, without quotes", "channels": _NAMES, "private": _NAMES}
_INSIDE = 'a path in the folder of the description, such as "rec/*.csv"'
_EXPECTED |= {"sensors": _NAMES, "columns": _NAMES}
_EXPECTED |= {"resample": "true or false, without quotes", "gap": "seconds above 0, without quotes"}


class Description(BaseModel):
    """Check the keys of a description, see the text of this module."""

    model_config = ConfigDict(extra="forbid", strict=True)

    name: _Text
    files: _Text
    rate: Annotated[int | float, Field(gt=0)]
    channels: _Names
    subject: _Text
    public: _Text
    private: _Names
    trial: _Text | None = None
    file_name: _Text | None = None
    people: _Text | None = None
    sensors: _Names | None = None
    columns: _Names | None = None
    time: _Text | None = None
    resample: bool = False
    gap: Annotated[int | float, Field(gt=0)] | None = None


def read_description(path: Path) -> Description:
    """Return the checked keys of a description; raises FileNotFoundError and ValueError."""
    if not path.is_file():
        raise FileNotFoundError(f"there is no description {path}")
    try:
        if path.stat().st_size > _MOST_BYTES:
            raise ValueError(f"{path} has more than {_MOST_BYTES:,} bytes: is it a description?")
        given = Description.model_validate(tomllib.loads(path.read_text(encoding="utf-8")))
        _check_description(path, given)
        return given
    except RecursionError:
        raise ValueError(f"{path} is nested too deeply: its keys are texts, numbers and lists of texts") from None
    except UnicodeDecodeError as error:
        raise ValueError(f"{path} is not UTF-8 text (byte {error.start}): save it as UTF-8") from error
    except tomllib.TOMLDecodeError as error:
        raise ValueError(f"{path} is no TOML: {error}") from error
    except ValidationError as error:
        # an unknown key is reported first, as it may be a missing key misspelt
        first = min(error.errors(), key=lambda found: found["type"] != "extra_forbidden")
        messages = {"extra_forbidden": "is unknown", "missing": "is missing"}
        key = str(first["loc"][0])
        expected = _EXPECTED.get(key, _TEXT)
        message = messages.get(first["type"], f"= {first['input']!r} is invalid: give {expected}")
        known = f"; the keys are {', '.join(Description.model_fields)}" if first["type"] in messages else ""
        raise ValueError(f"{path}: key {key!r} {message}{known}") from error


def _check_description(path: Path, given: Description) -> None:
    """Raise ValueError for keys whose values have the right type but cannot be used."""
    paths = {"files": [given.files], "people": [given.people or ""], "sensors": given.sensors or []}
    problems = [
        ("channels", len(set(given.channels)) < len(given.channels), _NAMES),
        ("private", len(set(given.private)) < len(given.private), _NAMES),
        *((key, not all(_is_inside(path.parent, name) for name in names), _INSIDE) for key, names in paths.items()),
        ("resample", given.resample and not given.time, "a key `time` with the column of times, too"),
        (
            "sensors",
            given.sensors is not None and not given.time,
            "a key `time`, too: sensors are joined by their times",
        ),
        ("gap", given.gap is not None and not given.resample, "resample = true, too: only resampling fills gaps"),
    ]
    names = re.findall(r"\{([^{}]*)\}", given.file_name or "")
    fits = all(name.isidentifier() for name in names) and len(set(names)) == len(names) > 0
    form = 'a name with each label once in braces, such as "{activity}_{person}.csv"'
    problems.append(("file_name", given.file_name is not None and not fits, form))
    for key, wrong, expected in problems:
        if wrong:
            value = str(getattr(given, key)).lower() if key == "resample" else repr(getattr(given, key))
            raise ValueError(f"{path}: key {key!r} = {value} is invalid: give {expected}")


def _is_inside(folder: Path, name: str) -> bool:
    """Return whether a path is in the folder of a description, also after following symbolic links."""
    plain = "\0" not in name and not Path(name).is_absolute() and ".." not in Path(name).parts
    return plain and (folder / name).resolve().is_relative_to(folder.resolve())


def path_in(folder: Path, name: str | Path) -> Path:
    """Return a path that a description names; raises ValueError if it leads out of the description's folder."""
    if not _is_inside(folder, str(name)):
        raise ValueError(f"{str(name)!r} leads out of {folder}: give {_INSIDE}")
    return folder / name


def matched_files(folder: Path, given: Description) -> list[Path]:
    """Return the files that a description names, see `recorded`; of sensors, their folders' files."""
    found = [path for path in sorted(folder.glob(given.files)) if path.is_dir() == (given.sensors is not None)]
    found = [path for path in found if not _hidden(path, folder) and path != folder / (given.people or "")]
    kept = recorded(found, folder)
    left_out = [path for path in found if path not in set(kept) and path.suffix.lower() not in _WRITTEN]
    if left_out:
        names = some([path.relative_to(folder).as_posix() for path in left_out], 5)
        said = f"{given.name}: left out as no recordings, because this program wrote them: {names}"
        warnings.warn(said, stacklevel=4)
    return [path_in(folder, path.relative_to(folder) / name) for path in kept for name in given.sensors or [""]]


def recorded(paths: Sequence[Path], folder: Path) -> list[Path]:
    """Return files or folders of recordings: not hidden ones, nor what this program wrote, unless nothing else is."""
    shown = [path for path in paths if not _hidden(path, folder)]
    kinds: dict[Path, bool] = {}
    return [path for path in shown if not _is_written(path, folder, kinds)] or shown


def _hidden(path: Path, folder: Path) -> bool:
    """Return whether a name says that a system or another program keeps the file for itself."""
    return any(part.startswith((".", "~$")) or part == "__MACOSX" for part in path.relative_to(folder).parts)


def _is_written(path: Path, folder: Path, kinds: dict[Path, bool]) -> bool:
    """Return whether this program wrote a file or its folder; `kinds` remembers folders."""
    for parent in (path, *path.parents):
        if parent == folder:
            break
        if parent not in kinds:
            kinds[parent] = parent.is_dir() and any(map(_states_a_format, (parent / name for name in _STATED)))
        if kinds[parent]:
            return True
    if path.suffix == ".jsonl":
        with path.open("rb") as stream:
            return stream.read(len(_OF_STORE)) == _OF_STORE
    return path.suffix.lower() in _WRITTEN


def _states_a_format(file: Path) -> bool:
    try:
        content = read_json(file) if file.is_file() else {}
    except (OSError, ValueError):
        return False
    return isinstance(content, dict) and str(content.get("format", "")).startswith("sensorprivacy-")
