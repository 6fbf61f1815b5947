"""Read your own recordings, described by a TOML file with the keys of `description`, as windows.

Files have any format of `formats.read_table`.
"""

import re
import warnings
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pooch

from sensorprivacy.checks import require_columns
from sensorprivacy.data import Windows
from sensorprivacy.paths import listing_digest
from sensorprivacy.windowing import cut, window_starts
from sensorrelease.read.clock import TIMES, Clock, timed, times_of
from sensorrelease.read.description import Description, matched_files, path_in, read_description
from sensorrelease.read.formats import raw_fields, read_bare, read_table
from sensorrelease.schema.recognise import Names

_LARGEST = 1e30  # of a signal; networks compute in 32 bits


def user_windows(description: str | Path, *, length: int = 128, stride: int = 10) -> Windows:
    """Return the windows of your own recordings.

    Parameters
    ----------
    description : path
        TOML file, see the text of this module. Its paths are relative to it.
    length, stride : int
        Samples. A window lies within one recording: one trial of one subject and one public class.

    Returns
    -------
    Windows
        n x channels x length.

    Raises
    ------
    FileNotFoundError
        If the description, or a file that it names, does not exist.
    ValueError
        If a key is missing, unknown or invalid; a column is missing, not numeric or has missing values; the name of a
        file does not fit; two files hold the same trial of the same subject and public class; a private attribute
        changes within a recording; times are out of order or do not fit the rate; or every recording is shorter than a
        window.

    Warns
    -----
    UserWarning
        If times have gaps, a column of times is not named, or a class of a private attribute has one person only.
    """
    return read_recordings(description).windows(length, stride)


@dataclass(frozen=True, eq=False)
class OwnRecordings:
    """Recordings as one table: consecutive samples of one subject, trial and public class are one recording.

    Attributes
    ----------
    given : Description
        The description.
    table : pandas.DataFrame
        All samples, with the columns of the files, the labels, ``_trial`` and ``_file``.
    run : numpy.ndarray of int64, shape (samples,)
        Number of each sample's recording: 0, 1, ...
    provenance : dict
        File name of the description, and SHA-256 over all files in its folder.
    """

    given: Description
    table: pd.DataFrame
    run: np.ndarray
    provenance: dict[str, Any]

    def starts(self, length: int, stride: int) -> np.ndarray:
        """Return the first sample of each window; the first window of a recording begins at its first sample."""
        starts = window_starts(self.run, length, stride, "file")
        if not len(starts):
            longest = np.bincount(self.run).max()
            raise ValueError(f"no recording of {self.given.name} has {length} samples; the longest has {longest}")
        self._warn_of_short(starts, length)
        return starts

    def _warn_of_short(self, starts: np.ndarray, length: int) -> None:
        """Warn of recordings shorter than a window, and name the people who have no other ones."""
        short = len(np.unique(self.run)) - len(np.unique(self.run[starts]))
        people = self.table[self.given.subject]
        lost = sorted(map(str, set(people) - set(people.iloc[starts])))
        if not short:
            return
        who = f"; {len(lost)} people have no window: {', '.join(lost[:10])}" if lost else ""
        warnings.warn(
            f"{self.given.name}: {short:,} recordings are shorter than a window of {length} samples and are left "
            f"out{who}",
            stacklevel=4,
        )

    def windows(self, length: int, stride: int) -> Windows:
        """Return the windows, see `user_windows`."""
        given, starts = self.given, self.starts(length, stride)
        signal = {"channels": given.channels, "rate": given.rate, "length": length, "stride": stride}
        first = self.table.iloc[starts]
        return Windows(
            cut(self.table[given.channels].to_numpy(np.float32), starts, length),
            public=first[given.public].reset_index(drop=True),
            private=first[given.private].reset_index(drop=True),
            subject=first[given.subject].reset_index(drop=True),
            trial=first["_trial"].reset_index(drop=True),
            name=given.name,
            provenance=self.provenance | signal | {"windowing": "file"},
        )


def read_recordings(description: str | Path) -> OwnRecordings:
    """Return your own recordings; raises as `user_windows`."""
    path = Path(description).expanduser()
    given = read_description(path)
    try:
        return _read(path, given)
    except ValueError as error:
        if path.name in str(error):
            raise
        raise ValueError(f"{path.name}: {error}") from error


def _read(path: Path, given: Description) -> OwnRecordings:
    table = _recordings(path.parent, given)
    if given.people:
        table = _with_people(table, path_in(path.parent, given.people), given)
    if given.resample:
        table = _without_missing(table, given)
    _check_columns(table, given)
    given = _without_names(table, given)
    keys = [given.subject, "_trial", given.public]
    _refuse_shared_trials(table, keys, given)
    run = (table[keys] != table[keys].shift()).any(axis=1).cumsum().to_numpy() - 1
    if given.time:
        clock = Clock(given.time, float(given.rate), resample=given.resample, gap=float(given.gap or 0))
        table, run = timed(table, run, clock, given.channels)
    else:
        _warn_of_unused_times(table, run, given)
    changing = table.groupby(run)[given.private].nunique().max()
    if (changing > 1).any():
        name = given.private[int(changing.argmax())]
        raise ValueError(f"{name!r} changes within a recording, but a private attribute must be constant for a person")
    _warn_of_single_people(table, given)
    return OwnRecordings(given, table, run, {"description": path.name, "digest": _digest(path, given)})


def _digest(path: Path, given: Description) -> str:
    """Return the SHA-256 over the description, the files that it matches and the table of people; no other file."""
    files = [path, *matched_files(path.parent, given), *([path_in(path.parent, given.people)] if given.people else [])]
    return listing_digest({file.relative_to(path.parent).as_posix() if file.is_relative_to(path.parent) else str(
        file): pooch.file_hash(str(file)) for file in files})  # fmt: skip


def _warn_of_single_people(table: pd.DataFrame, given: Description) -> None:
    """Warn of a class of a private attribute with one person: who infers the class identifies this person."""
    for name in given.private:
        people = table.groupby(name)[given.subject].nunique()
        if name != given.subject and (people == 1).any() and len(people) < table[given.subject].nunique():
            alone = ", ".join(map(str, people.index[people == 1][:5]))
            warnings.warn(
                f"{given.name}: one person only has {name} {alone}: a model of {name} can recognize that person "
                "instead of the attribute. Add people, or merge classes",
                stacklevel=4,
            )


def _warn_of_unused_times(table: pd.DataFrame, run: np.ndarray, given: Description) -> None:
    """Warn of a column that looks like times: without the key `time`, windows span gaps unseen."""
    roles = {*given.channels, *given.private, given.subject, given.public, given.trial, "_trial", "_file"}
    for name in map(str, table.columns.difference(list(roles))):
        if TIMES.search(name):
            warnings.warn(
                f"{given.name}: column {name!r} looks like times, but the description has no key `time`, so gaps and "
                f"the rate are not checked. Add time = {name!r}",
                stacklevel=4,
            )
            return


def _recordings(folder: Path, given: Description) -> pd.DataFrame:
    """Return all files as one table, with the labels in their names and the columns ``_trial`` and ``_file``."""
    files = matched_files(folder, given)
    if not files:
        what = "file" if given.sensors is None else "folder"
        raise FileNotFoundError(f"there is no {what} {given.files!r} in {folder}")
    parts = []
    each = len(given.sensors or [""])
    for number, file in enumerate(files[::each], start=1):
        part = (
            _file(file, given) if given.sensors is None else _joined(files[(number - 1) * each : number * each], given)
        )
        file = file if given.sensors is None else file.parent
        part = part.assign(**_labels_in(file, given.file_name))
        require_columns(part.columns, [given.trial] if given.trial else [], file.name)
        if absent := [name for name in given.channels if name not in part]:
            raise ValueError(
                f"{file.name} has no column {absent[0]!r}, which is a channel: its columns are "
                f"{', '.join(map(str, part.columns))}. Leave the file out, or remove the channel from `channels`"
            )
        for name in given.channels:  # a channel is measured, so its digits with leading zeros are numbers, not labels
            if not pd.api.types.is_numeric_dtype(part[name]) and part[name].dropna().astype(str).str.isdecimal().all():
                part[name] = pd.to_numeric(part[name])
        place = file.relative_to(folder).as_posix() if file.is_relative_to(folder) else str(file)
        parts.append(part.assign(_trial=part[given.trial] if given.trial else number, _file=place))
    return pd.concat(parts, ignore_index=True)


def _file(file: Path, given: Description) -> pd.DataFrame:
    if given.columns is not None:
        return read_bare(file, given.columns)
    if (fields := raw_fields(file)) and not {*given.channels} <= {*fields}:
        raise ValueError(
            f"{file.name} has no header, or its lines end with ';': name the columns with the key `columns`. Its first "
            f"line is {', '.join(fields)[:80]!r}"
        )
    return read_table(file)


def _joined(files: list[Path], given: Description) -> pd.DataFrame:
    """Return the sensors of one recording at the times of the first, interpolated; columns are named sensor.column."""
    tables = {}
    for file in files:
        table = _file(file, given)
        require_columns(table.columns, [str(given.time)], file.name)
        table = table.sort_values(str(given.time), kind="stable", ignore_index=True)
        tables[file.stem] = table, times_of(table[str(given.time)])
    (name, (first, at)), *others = tables.items()
    begin, end = max(times.iloc[0] for _, times in tables.values()), min(times.iloc[-1] for _, times in tables.values())
    shared = at.between(begin, end)
    if not shared.any():
        raise ValueError(f"{files[0].parent.name}: {', '.join(given.sensors or [])} share no time")
    joined = first[shared].drop(columns=str(given.time)).add_prefix(f"{name}.")
    joined.insert(0, str(given.time), first[str(given.time)])
    for name, (table, times) in others:
        for column in table.columns.drop(str(given.time)):
            if pd.api.types.is_numeric_dtype(table[column]):
                joined[f"{name}.{column}"] = np.interp(at[shared], times, table[column])
    return joined.reset_index(drop=True)


def _labels_in(file: Path, pattern: str | None) -> dict[str, str]:
    """Return the labels in the name of a file, and of as many of its folders as the pattern names."""
    if pattern is None:
        return {}
    name = "/".join(file.parts[-1 - pattern.count("/") :])
    expression = re.sub(r"\\\{(\w+)\\\}", r"(?P<\1>[^_/]+?)", re.escape(pattern)).replace(r"\*", "[^/]*")
    match = re.fullmatch(expression, name)
    if match is None:
        raise ValueError(
            f"the file name {name!r} does not fit file_name = {pattern!r}; * is any text, and {{person}}/*.csv reads "
            "the name of a folder"
        )
    return match.groupdict()


def _with_people(table: pd.DataFrame, path: Path, given: Description) -> pd.DataFrame:
    """Return the table with the private attributes of each subject."""
    people, subject = read_table(path), given.subject
    require_columns(people.columns, [subject, *given.private], path.name)
    require_columns(_theirs(table), [subject], given.files)
    people = people.assign(**{subject: people[subject].astype(str)})
    if twice := people.loc[people[subject].duplicated(), subject].tolist():
        raise ValueError(f"{path.name} lists subject {twice[0]} more than once")
    table = table.assign(**{subject: table[subject].astype(str)}).drop(columns=given.private, errors="ignore")
    if unknown := sorted(set(table[subject]) - set(people[subject])):
        raise ValueError(f"{path.name} does not list subject {unknown[0]}")
    return table.merge(people[[subject, *given.private]], on=subject, how="left", validate="many_to_one")


def _without_missing(table: pd.DataFrame, given: Description) -> pd.DataFrame:
    """Return the samples with a value in every channel: resampling fills a lost one as it fills a short pause."""
    require_columns(_theirs(table), given.channels, given.files)
    whole = table[given.channels].notna().all(axis=1)
    if not whole.all():
        warnings.warn(
            f"{given.name}: {int((~whole).sum()):,} of {len(table):,} samples lack a channel and are left out, the "
            f"first in {table.loc[~whole, '_file'].iloc[0]}",
            stacklevel=4,
        )
    return table[whole].reset_index(drop=True)


def _theirs(table: pd.DataFrame) -> pd.Index:
    """Return the columns that the files and their names have."""
    return table.columns.drop(["_trial", "_file"])


def _check_columns(table: pd.DataFrame, given: Description) -> None:
    wanted = list(dict.fromkeys([*given.channels, given.subject, given.public, *given.private]))
    require_columns(_theirs(table), wanted, given.files)
    for name in given.channels:
        if not pd.api.types.is_numeric_dtype(table[name]):
            strange = pd.to_numeric(table[name], errors="coerce").isna() & table[name].notna()
            first = table[strange].iloc[0] if strange.any() else table.iloc[0]
            raise ValueError(
                f"channel {name!r} is not numeric: {first['_file']} has the cell {first[name]!r}. Correct it, or "
                "remove the channel from `channels`"
            )
        large = table[name].abs().to_numpy(dtype=float) > _LARGEST
        if large.any():
            first = table[large].iloc[0]
            raise ValueError(
                f"channel {name!r} holds {first[name]:g}, in {first['_file']}, which is too large (at most "
                f"{_LARGEST:g}): correct it, or leave the cell empty"
            )
    for name in wanted:
        if missing := int(table[name].isna().sum()):
            where = table.loc[table[name].isna(), "_file"].iloc[0]
            remedy = "fill or remove them first"
            if name in given.channels:  # samples in between can be interpolated
                needs = "" if given.time else " and name the column of times with `time`"
                remedy = f"set resample = true{needs}, which leaves such samples out, or fill them"
            raise ValueError(
                f"column {name!r} has {missing} missing values of {len(table)}, the first in {where}: {remedy}"
            )


def _without_names(table: pd.DataFrame, given: Description) -> Description:
    """Return the description with a name that names nobody: pages and cards state it; refuse such public labels."""
    people = Names(map(str, table[given.subject].unique()))
    for role, names in ((given.public, table[given.public].unique()), ("channel", given.channels)):
        if named := [name for name in map(str, names) if people.find(name)]:
            raise ValueError(f"{role} {named[0]!r} names a person, so no release may hold it: rename it")
    return given.model_copy(update={"name": "recordings"}) if people.find(given.name) else given


def _refuse_shared_trials(table: pd.DataFrame, keys: list[str], given: Description) -> None:
    """Raise ValueError if a recording lies in two files: its windows would span both."""
    places = table[[*keys, "_file"]].drop_duplicates()
    twice = places[places.duplicated(keys, keep=False)]
    if len(twice):
        # One trial of one subject and class, in the files that hold it.
        first = twice[(twice[keys] == twice[keys].iloc[0]).all(axis=1)]
        names = (given.subject, given.trial, given.public)
        which = ", ".join(f"{name} {value}" for name, value in zip(names, first[keys].iloc[0], strict=True))
        raise ValueError(
            f"{first['_file'].iloc[0]} and {first['_file'].iloc[1]} both hold a recording with {which}: number the "
            "trials of each subject, or remove the key `trial` to make each file a trial; join files of one recording"
        )
