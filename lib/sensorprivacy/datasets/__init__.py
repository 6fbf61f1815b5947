"""What comes in: the catalogue of data sets, the store that finds, fetches and verifies them, and their readers."""

from pathlib import Path
from typing import Any

import pandas as pd

from sensorprivacy.datasets.errors import CorruptDataError, DataUnavailableError, UnknownDatasetError
from sensorprivacy.datasets.problems import PROBLEMS, WINDOWS, problem, windows
from sensorprivacy.datasets.readers.tabular import PAPER_NAMES, digest, sensors, table
from sensorprivacy.datasets.store import available, names, present
from sensorprivacy.datasets.types import Problem, Windows

__all__ = [
    "PAPER_NAMES",
    "PROBLEMS",
    "WINDOWS",
    "CorruptDataError",
    "DataUnavailableError",
    "Problem",
    "UnknownDatasetError",
    "Windows",
    "available",
    "digest",
    "load",
    "names",
    "present",
    "problem",
    "sensors",
    "table",
    "windows",
]


def load(name: str | Path, **options: Any) -> pd.DataFrame | Problem:
    """Return a data set in the shape its papers use it in.

    Parameters
    ----------
    name : str or pathlib.Path
        A set of the catalogue, ``sample``, or the path of a CSV or Parquet file.
    **options
        Passed to its reader: those of `table` for the three-way paper's tables, those of `problems.problem` for the
        sets on which the re-identification game is played, and for a file with ``task`` and ``user``.

    Returns
    -------
    pandas.DataFrame or Problem
        A table, or a table with task and user labels.

    Raises
    ------
    UnknownDatasetError
        If there is no such set, or no reader for it.
    DataUnavailableError, CorruptDataError
        As `store.fetch`.
    """
    if str(name) in PROBLEMS or "task" in options:
        return problem(name, **options)
    return sensors(**options) if name == "smart-home" else table(name, **options)
