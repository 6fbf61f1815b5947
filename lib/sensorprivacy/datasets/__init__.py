"""Find, fetch and read data sets: the catalogue, the store of verified files, a reader for each set, and your own data.

`problem` returns a table for the re-identification game, `windows` returns windows of motion data, and `table` returns
a table of the three-way paper.
"""

from sensorprivacy.datasets.errors import CorruptDataError, DataUnavailableError, UnknownDatasetError
from sensorprivacy.datasets.readers.tabular import paper_names
from sensorprivacy.datasets.registry import PROBLEMS, WINDOWS, digest, problem, sensors, table, windows
from sensorprivacy.datasets.store import available, names, present
from sensorprivacy.datasets.types import Problem, Windows

__all__ = [
    "PROBLEMS",
    "WINDOWS",
    "CorruptDataError",
    "DataUnavailableError",
    "Problem",
    "UnknownDatasetError",
    "Windows",
    "available",
    "digest",
    "names",
    "paper_names",
    "present",
    "problem",
    "sensors",
    "table",
    "windows",
]
