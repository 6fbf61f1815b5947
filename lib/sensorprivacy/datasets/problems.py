"""One door to every set on which the re-identification game is played, and to the windows of paper 3."""

import difflib
import inspect
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from sensorprivacy.datasets.errors import UnknownDatasetError
from sensorprivacy.datasets.own.recordings import user_windows
from sensorprivacy.datasets.own.tables import PARQUET_SUFFIXES, TEXT_SUFFIXES, read_table
from sensorprivacy.datasets.problems_by_name import PROBLEMS, WINDOWS
from sensorprivacy.datasets.readers.tabular import digest
from sensorprivacy.datasets.readers.traffic import require_columns
from sensorprivacy.datasets.types import Problem, Windows


def problem(name: str | Path, *, progress: bool = True, **options: Any) -> Problem:
    """Return a data set as the re-identification game needs it.

    Parameters
    ----------
    name : str or path
        One of `PROBLEMS`, or the path of a CSV or Parquet file.
    progress : bool
        Show progress bars on stderr.
    **options
        Choices of the reader of that set, see `PROBLEMS`; among them ``path`` (all but smartwatch): a folder or file of
        the user's own in place of the catalogue's. For a CSV or Parquet file: ``task``, ``user`` and ``groups`` name
        its columns.

    Returns
    -------
    Problem
        Features, task labels, users, groups.

    Raises
    ------
    UnknownDatasetError
        If there is neither a reader nor a file of that name.
    TypeError
        If the reader has no such option; the message lists those it has.
    DataUnavailableError
        If the set is not on this machine and cannot be fetched.
    ValueError
        If files do not have the expected columns, or an option has an unknown value.

    Examples
    --------
    >>> problem("iot-sentinel", users="person").n_features  # doctest: +SKIP
    22
    """
    reader = PROBLEMS.get(str(name))
    if reader is None:
        if isinstance(name, Path) or "/" in name or name.lower().endswith(TEXT_SUFFIXES + PARQUET_SUFFIXES):
            return _checked(table_problem, "a table of your own", options)(Path(name), progress=progress, **options)
        raise UnknownDatasetError(name, [*PROBLEMS, "or the path of a CSV or Parquet file"])
    return _checked(reader, str(name), options)(progress=progress, **options)


def windows(name: str | Path, *, progress: bool = True, **options: Any) -> Windows:
    """Return the sliding windows of a set of motion recordings.

    Parameters
    ----------
    name : {"motionsense", "smartwatch", "mobiact"} or path
        The set, or a TOML file that describes recordings of your own, see `userwindows`.
    progress : bool
        Show progress bars on stderr.
    **options
        ``channels`` ("magnitude" or "raw"), ``length`` = 128 and ``stride`` = 10 samples, ``windowing`` ("authors" or
        "file"), see `motion.cut_windows`; ``activities``: which of them, for MotionSense by default paper 3's four.

    Returns
    -------
    Windows
        n x channels x length; private attributes are gender and weight class (MotionSense) or side (smartwatch).

    Raises
    ------
    UnknownDatasetError
        If the set has no windows.
    TypeError
        If there is no such option; the message lists those there are.
    ValueError
        If an option has an unknown value.
    """
    if str(name).endswith(".toml"):
        return _checked(user_windows, "a description of your own", options)(name, **options)
    if name not in WINDOWS:
        raise UnknownDatasetError(str(name), [*WINDOWS, "or the path of a TOML description"])
    return _checked(WINDOWS[str(name)], str(name), options)(progress=progress, **options)


def table_problem(path: Path, *, task: str, user: str, groups: str | None = None, progress: bool = True) -> Problem:
    """Return a user's own table as a game.

    Parameters
    ----------
    path : pathlib.Path
        CSV or Parquet.
    task, user : str
        Columns with the task's label and with whose record it is.
    groups : str, optional
        Column with the recording that a record comes from.
    progress : bool
        Not used, as there is nothing to wait for.

    Returns
    -------
    Problem
        All other columns are features; truth values become 0 and 1, and what is no number becomes that of its category
        in sorted order (-1 for a missing one), which the provenance tells.

    Raises
    ------
    FileNotFoundError, ValueError
        As `userfile.read_table`; or if a column is missing, occurs in two roles, or none is left for the features.
    """
    table = read_table(path)
    roles = [task, user, *([groups] if groups is not None else [])]
    if len(set(roles)) < len(roles):
        raise ValueError(f"task, user and groups must be different columns, got {', '.join(map(repr, roles))}")
    require_columns(table, roles, path.name)
    features = table.drop(columns=roles)
    coded = [column for column in features if not pd.api.types.is_numeric_dtype(features[column])]
    for column in coded:
        features[column] = features[column].astype("category").cat.codes.astype(np.int64)
    features = features.astype(dict.fromkeys(features.select_dtypes("bool"), np.int64))
    return Problem(
        features,
        task=table[task],
        users=table[user],
        groups=None if groups is None else table[groups],
        name=path.stem,
        provenance={"file": path.name, "digest": digest(path), "coded": coded},
    )


def _checked(reader: Callable[..., Any], name: str, options: Mapping[str, Any]) -> Callable[..., Any]:
    """Return the reader if it has all these options and none that it needs is absent."""
    parameters = inspect.signature(reader).parameters
    known = {key: value for key, value in parameters.items() if value.kind is value.KEYWORD_ONLY}
    known.pop("progress", None)
    for option in options:
        if option not in known:
            near = difflib.get_close_matches(option, known, n=1)
            hint = f" Did you mean {near[0]!r}?" if near else ""
            raise TypeError(f"{name} has no option {option!r}.{hint} Options: {', '.join(known) or 'none'}")
    if absent := [key for key, value in known.items() if value.default is value.empty and key not in options]:
        raise TypeError(f"{name} needs {', '.join(absent)}")
    return reader
