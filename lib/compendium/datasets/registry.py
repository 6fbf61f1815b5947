"""Load a data set by name: each name is joined to the files of the set, to its reader and to the reader's options.

A reader is imported when its set is asked for. So a notebook depends on the readers of its own sets only.
"""

import inspect
import pkgutil
import re
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, get_origin

import pooch

from compendium.datasets import store
from compendium.datasets.catalogue import catalogue
from compendium.datasets.errors import UnknownDatasetError, nearest
from compendium.paths import data_dir
from sensorprivacy.checks import check_choice

if TYPE_CHECKING:
    import pandas as pd

    from compendium.readers.tabular import Rows
    from sensorprivacy.data import Problem, Windows


def _readers(kind: str) -> dict[str, str]:
    """Return the readers of one kind in the catalogue, by name."""
    listed = {name: reader for entry in catalogue().values() for name, reader in getattr(entry, kind).items()}
    return {name: f"compendium.readers.{reader}" for name, reader in listed.items()}


#: Reader of each problem. It is called with the files of the set; its keyword parameters are the options of `problem`.
PROBLEMS = _readers("problems")
#: Reader of each set of windows; its keyword parameters are the options of `windows`.
WINDOWS = _readers("windows")
#: Reader of each table of the three-way paper.
TABLES = _readers("tables")
_SENSORS = _readers("sensors")
#: Readers of your own files: a table for the game, recordings.
_OWN_PROBLEM, _OWN_WINDOWS = "sensorrelease.tables:load_table", "sensorrelease.recordings:user_windows"
#: Set of the catalogue behind each problem or set of windows.
_SETS = {name: entry.name for entry in catalogue().values() for name in (*entry.problems, *entry.windows)}


def readers_of(name: str) -> list[str]:
    """Return the readers of a data set or of a path, each as ``module:function``; none if there is no such set."""
    if _is_path(name):
        return [_OWN_PROBLEM, _OWN_WINDOWS]
    return [readers[name] for readers in (PROBLEMS, WINDOWS, TABLES, _SENSORS) if name in readers]


def problem(name: str | Path, **options: Any) -> "Problem":
    """Return a data set for the re-identification game: features, task labels and users.

    Parameters
    ----------
    name : str or path
        One of `PROBLEMS`, or the path of a table of yours.
    **options
        Options of the set's reader in `PROBLEMS`. For a table of yours: the parameters of `tables.load_table`, such
        as ``task`` and ``user``, which name its columns. None and an empty list stand for an option that is not given.

    Returns
    -------
    Problem
        Features, task labels, users, groups.

    Raises
    ------
    UnknownDatasetError
        If no set and no file has this name.
    TypeError
        If the reader has no such option; the message lists its options.
    DataUnavailableError
        If the set is neither on this machine nor can be fetched.
    ValueError
        If files lack expected columns, or an option has an unknown value.

    Examples
    --------
    >>> problem("iot-sentinel", users="person").n_features  # doctest: +SKIP
    22
    """
    options = {key: value for key, value in options.items() if value is not None and value != []}
    if str(name) in PROBLEMS:
        return _load(PROBLEMS[str(name)], str(name), options)
    if _is_path(name):
        read = pkgutil.resolve_name(_OWN_PROBLEM)
        _check_options(read, "your own table", options)
        return read(Path(name), **options).problem
    raise UnknownDatasetError(str(name), [*PROBLEMS, "or the path of a table of yours"])


def windows(name: str | Path, **options: Any) -> "Windows":
    """Return the sliding windows of a set of motion recordings.

    Parameters
    ----------
    name : {"motionsense", "smartwatch", "mobiact", "mobifall"} or path
        The set, or the schema of your own recordings, such as ``phone.schema.yaml`` beside the folder ``phone``.
    **options
        Options of the set's reader in `WINDOWS`: ``channels`` ("magnitude" or "raw"), ``length`` and ``stride`` in
        samples, ``windowing`` ("authors" or "file"), ``activities``, and others; see `motion.cut_windows`.

    Returns
    -------
    Windows
        n x channels x length, with the private attributes of the set: gender and weight class, or side.

    Raises
    ------
    UnknownDatasetError
        If no set of windows has this name.
    TypeError
        If the reader has no such option; the message lists its options.
    ValueError
        If an option has an unknown value.
    """
    if _is_path(name):
        read = pkgutil.resolve_name(_OWN_WINDOWS)
        _check_options(read, "your own recordings", options)
        return read(name, **options)
    if str(name) not in WINDOWS:
        raise UnknownDatasetError(str(name), [*WINDOWS, "or the path of a schema of recordings"])
    return _load(WINDOWS[str(name)], str(name), options)


def table(name: str | Path, rows: "Rows" = "as_printed", *, mend: bool = False) -> "pd.DataFrame":
    """Return a table of the three-way paper.

    Parameters
    ----------
    name : str or pathlib.Path
        One of `TABLES`, or ``sample`` (the paper's Table 1).
    rows : {"as_printed", "as_stated"}
        The rows behind the printed numbers, or the rows that the paper states; see `readers.tabular`. The sample is
        the same for both.
    mend : bool
        For the sample: correct the misprint *Cleaner* in its third row to *Cleaners*, as in the paper's Table 2.

    Returns
    -------
    pandas.DataFrame
        One record for each row, with the column names of the file (`paper_names` gives the paper's names).

    Raises
    ------
    UnknownDatasetError
        If no table has this name.
    DataUnavailableError, CorruptDataError
        As `store.fetch`.
    ValueError
        If `rows` is unknown.
    """
    import pandas as pd

    if name == "sample":
        records = pd.read_csv(_sample_file(), keep_default_na=False)
        return records.replace({"Occupation": {"Cleaner": "Cleaners"}}) if mend else records
    if str(name) not in TABLES:
        raise UnknownDatasetError(str(name), [*TABLES, "sample"])
    read = pkgutil.resolve_name(TABLES[str(name)])
    check_choice("rows", rows, inspect.signature(read).parameters["rows"].annotation)
    return read(store.fetch(str(name)), rows)


def sensors() -> "pd.DataFrame":
    """Return the sensors of the smart home in paper 2's Tables 5 and 6.

    Returns
    -------
    pandas.DataFrame
        24 rows; columns sensor_id, node_id, type, name (room/thing/quantity).
    """
    return pkgutil.resolve_name(_SENSORS["smart-home"])(store.fetch("smart-home"))


def sensor_readings() -> "pd.DataFrame":
    """Return readings of four sensors in paper 2's Table 5, picked about every five minutes.

    Returns
    -------
    pandas.DataFrame
        191,381 rows; columns sensor_id, timestamp, value.
    """
    files = store.fetch("smart-home-readings")
    return pkgutil.resolve_name(_SENSORS["smart-home-readings"])(files)


def digest(name: str | Path) -> str:
    """Return a SHA-256 of the files that `table` reads, for provenance.

    Raises
    ------
    LookupError, FileNotFoundError
        If the table is not on this machine.
    """
    if not _is_path(name) and name != "sample":
        return store.fetch(str(name)).digest
    return pooch.file_hash(str(_sample_file() if name == "sample" else Path(name).expanduser()))


def words(name: str | Path) -> str:
    """Return a data set in words, for the titles of figures; the file's name for your own.

    Examples
    --------
    >>> words("iot-sentinel-flows"), words("motionsense"), words("my/home.csv")
    ('IoT Sentinel, flows', 'MotionSense', 'home')
    """
    entry = catalogue().get(_SETS.get(str(name), str(name)))
    if entry is None:
        return Path(name).stem
    form = str(name).removeprefix(entry.name).strip("-")
    return ", ".join(filter(None, [re.split(r"[:(,]| v\d", entry.title)[0].strip(), form]))


def _sample_file() -> Path:
    return data_dir() / "paper" / "sample" / "three-way-table-1.csv"


def _is_path(name: str | Path) -> bool:
    """Return whether a name is the path of a file: names of data sets have neither slashes nor endings."""
    return isinstance(name, Path) or "/" in name or "\\" in name or bool(Path(name).suffix)


def _load(named: str, name: str, options: Mapping[str, Any]) -> Any:
    """Call a reader with the files of its set, and note in the provenance where they come from."""
    reader, folder = pkgutil.resolve_name(named), _SETS[name]
    _check_options(reader, name, options)
    files = store.fetch(folder)
    data = reader(files, **options)
    return replace(data, provenance={"set": folder, "form": files.form, "digest": files.digest, **data.provenance})


def _check_options(reader: Callable[..., Any], name: str, options: Mapping[str, Any]) -> None:
    """Raise if options are unknown, missing or have unknown values: a reader's keyword parameters are its options."""
    parameters = inspect.signature(reader).parameters
    known = {key: value for key, value in parameters.items() if value.kind is value.KEYWORD_ONLY}
    for option, value in options.items():
        if option not in known:
            hint = nearest(option, list(known))
            raise TypeError(f"{name} has no option {option!r}.{hint} Options: {', '.join(known) or 'none'}")
        if get_origin(known[option].annotation) is Literal:
            check_choice(option, value, known[option].annotation)
    if absent := [key for key, value in known.items() if value.default is value.empty and key not in options]:
        raise TypeError(f"{name} needs {', '.join(absent)}")
