"""Read the files of MobiAct and MobiFall, two sets of one owner: tables of people, annotated files, raw files."""

import io
import re
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import takewhile

import numpy as np
import pandas as pd

from compendium.readers.files import Files
from compendium.readers.motion import weight_class
from sensorprivacy.checks import require_columns

#: The set behind each name of a table of people; where a person is in both sets, the first one counts.
TABLES = {"readme.txt": "MobiAct", "datadescribe.txt": "MobiFall"}
_PERSON = re.compile(
    r"^\|\s*(?P<subject>\d+)\s*\|\s*(?:sub|pat)\d+\s*\|\s*(?:sub|pat)\d+\s*\|\s*(?P<age>\d+)\s*\|"
    r"\s*(?P<height>\d+)\s*\|\s*(?P<weight>\d+)\s*\|\s*(?P<gender>\S+?)\s*\|",
    re.MULTILINE | re.IGNORECASE,
)
# the owner's table has a Greek capital My for some men; read as Latin-1, it is the second letter
_GENDERS = {"M": "male", "Ì": "male", "Μ": "male", "F": "female"}
_HEADER = re.compile(r"^#(?P<name>[^:\n]+):[ \t]*(?P<value>[^\r\n]*)", re.MULTILINE)
_STATED = {"Age": "age", "Height(cm)": "height", "Weight(kg)": "weight", "Gender": "gender"}
_TURN, _MOVE = [f"gyro_{axis}" for axis in "xyz"], [f"acc_{axis}" for axis in "xyz"]


@dataclass(frozen=True, eq=False)
class OwnerFolder:
    """A folder as the owner sends it.

    Attributes
    ----------
    name : {"MobiAct", "MobiFall"}
        The set.
    table : str
        Path of its table of people.
    people : pandas.DataFrame
        The table, by the subject's number: ``age`` (years), ``height`` (cm), ``weight`` (kg), ``weight_class``,
        ``gender``.
    members : tuple of str
        Paths of all files of the folder.
    """

    name: str
    table: str
    people: pd.DataFrame
    members: tuple[str, ...]


def owner_folders(files: Files) -> list[OwnerFolder]:
    """Return the owner's folders, MobiAct before MobiFall. A file belongs to the closest table of people.

    Raises
    ------
    ValueError
        If there is no such file or table, or a gender is neither M nor F.
    """
    tables = {
        member: _table(files.read(member).decode("latin-1"), member)
        for member in sorted(files.members, key=lambda path: (_rank(path), path))
        if _rank(member) < len(TABLES)
    }
    if not tables:
        raise ValueError("the owner's Readme.txt (MobiFall: DataDescribe.txt) is missing: its table lists the people")
    tables = {member: people for member, people in tables.items() if len(people)} or tables
    if empty := [member for member, people in tables.items() if people.empty]:
        raise ValueError(f"{empty[0]} has no table '| ID | Name | Surname | Age | Height | Weight | Gender |'")
    owned: dict[str, list[str]] = {table: [] for table in tables}
    for member in files.members:
        owned[max(tables, key=lambda table: _shared(table, member))].append(member)
    names = list(TABLES.values())
    return [OwnerFolder(names[_rank(table)], table, tables[table], tuple(owned[table])) for table in tables]


def annotated(content: bytes, member: str, activity: str) -> tuple[np.ndarray, np.ndarray]:
    """Return seconds and the six axes of an annotated file, for the samples with the label of the activity."""
    table = pd.read_csv(io.BytesIO(content))
    require_columns(table.columns, ["rel_time", "label", *_TURN, *_MOVE], member)
    table = table[table["label"] == activity].dropna(subset=[*_TURN, *_MOVE])
    if table.empty:
        raise ValueError(f"{member} has no sample labelled {activity}")
    seconds = table["rel_time"].to_numpy(float)
    check_time(seconds, member)
    return seconds, table[[*_TURN, *_MOVE]].to_numpy(float)


def raw_pair(contents: Mapping[str, tuple[str, bytes]], person: pd.Series) -> tuple[np.ndarray, np.ndarray]:
    """Return seconds and the six axes of a pair of raw files, at the accelerometer's times that both files cover.

    Parameters
    ----------
    contents : mapping
        Path and content of the files ``acc`` and ``gyro``.
    person : pandas.Series
        The person's row in the owner's table, which the headers of both files must repeat.
    """
    sensors = {}
    for sensor, (member, content) in contents.items():
        head, mark, data = content.decode("latin-1").partition("@DATA")
        if not mark:
            raise ValueError(f"{member} has no line @DATA ({len(head)} characters read)")
        check_header(head, member, person)
        sensors[sensor] = _samples(data, member)
    (turned, turn), (moved, move) = sensors["gyro"], sensors["acc"]
    both = (moved >= turned[0]) & (moved <= turned[-1])
    if not both.any():
        raise ValueError(f"{contents['acc'][0]} and {contents['gyro'][0]} share no time")
    at = moved[both]
    turn = np.column_stack([np.interp(at, turned, axis) for axis in turn.T])
    return at, np.hstack([turn, move[both]])


def check_header(head: str, member: str, person: pd.Series) -> None:
    """Check the header of a raw file against its person's row in the owner's table.

    A number of 0 in a header states nothing: MobiFall's standing files of person 5 have 0 years, cm and kg.

    Raises
    ------
    ValueError
        If subject, age, height, weight or gender differ.
    """
    found = {match["name"].strip(): match["value"].strip() for match in _HEADER.finditer(head)}
    expected = {"Subject ID": str(person.name)} | {name: str(person[key]) for name, key in _STATED.items()}
    for name, value in expected.items():
        stated = found.get(name, "0")
        same = stated[:1].upper() == value[:1].upper() if name == "Gender" else stated == value
        if stated not in ("0", "") and not same:
            both = f"its header has {name} {stated}, but the owner's table has {value} for subject {person.name}"
            raise ValueError(f"{member}: {both}: replace the file, or correct the table")


def check_time(seconds: np.ndarray, member: str) -> None:
    """Check that time stamps do not go backwards.

    Raises
    ------
    ValueError
        With the first sample whose time is before that of the sample above it.
    """
    back = np.flatnonzero(np.diff(seconds) < 0)
    if len(back):
        at = back[0] + 1
        steps = f"from {seconds[at - 1]:.3f} to {seconds[at]:.3f} s, {len(back)} time(s) in all"
        where = f"the time stamps go backwards at sample {at + 1} of {len(seconds)} ({steps})"
        raise ValueError(f"{member}: {where}: replace the file, or leave out this subject")


def _table(text: str, member: str) -> pd.DataFrame:
    """Return the people in the text of a table of people; empty if it has no such table."""
    people = pd.DataFrame([match.groupdict() for match in _PERSON.finditer(text)])
    if people.empty:
        return people
    unknown = people.loc[~people["gender"].isin(_GENDERS)]
    if len(unknown):
        row = unknown.iloc[0]
        raise ValueError(f"{member}: gender {row['gender']!r} of subject {row['subject']} is not M or F")
    numbers = people[["subject", "age", "height", "weight"]].astype(int)
    numbers["weight_class"] = weight_class(numbers["weight"])
    return numbers.assign(gender=people["gender"].map(_GENDERS)).set_index("subject")


def _rank(path: str) -> int:
    """Return the place of a file's name in `TABLES`; their number for any other file."""
    name = path.rsplit("/", 1)[-1].lower()
    return list(TABLES).index(name) if name in TABLES else len(TABLES)


def _shared(table: str, member: str) -> int:
    """Return how many folders of a file's path are those of a table's, from the top on."""
    ours, theirs = table.split("/")[:-1], member.split("/")[:-1]
    return sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(ours, theirs, strict=False)))


def _samples(data: str, member: str) -> tuple[np.ndarray, np.ndarray]:
    """Return seconds and three axes from lines with nanoseconds and values."""
    try:
        values = np.loadtxt(io.StringIO(data), delimiter=",", ndmin=2)
    except ValueError as error:
        raise ValueError(f"{member}: {error}") from error
    if values.shape[1:] != (4,) or len(values) < 2:
        raise ValueError(f"{member} has {values.shape} values after @DATA instead of lines with time, x, y, z")
    seconds = values[:, 0] / 1e9
    check_time(seconds, member)
    return seconds, values[:, 1:]
