"""The tables of the three-way paper, each with the rows that its printed numbers rest on beside the rows it states.

Titanic, Student and the 20-row sample are the same either way. What differs, found by recomputing the paper's tables:

======  ==========================================  ===================================
set     rows as printed                             rows as stated (paper 2, Table 4)
======  ==========================================  ===================================
adult   the first 1,309 of ``adult.data``           48,842: ``adult.data``, ``adult.test``
bank    4,521: ``bank.csv``                         45,211: ``bank-full.csv``
heart   720, read as text: ``?`` is a value, and    720, numbers read as numbers and
        '1' and '1.0' differ in columns with a ?    ``?`` as missing
======  ==========================================  ===================================
"""

import hashlib
import io
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Literal, get_args

import pandas as pd

from sensorprivacy.datasets import store
from sensorprivacy.datasets.errors import UnknownDatasetError
from sensorprivacy.datasets.finding import Located
from sensorprivacy.datasets.own.tables import PARQUET_SUFFIXES, TEXT_SUFFIXES, read_table
from sensorprivacy.paths import data_dir

Rows = Literal["as_printed", "as_stated"]

ADULT_COLUMNS = (
    *("age", "workclass", "fnlwgt", "education", "education-num", "marital-status", "occupation", "relationship"),
    *("race", "sex", "capital-gain", "capital-loss", "hours-per-week", "native-country", "class"),
)
HEART_COLUMNS = (
    *("age", "sex", "cp", "trestbps", "chol", "fbs", "restecg", "thalach", "exang", "oldpeak", "slope", "ca", "thal"),
    "num",
)
STUDENT_GRADES = ["G1", "G2", "G3"]
#: Rows of Adult that the printed numbers rest on: as many as Titanic has.
ADULT_PRINTED_ROWS = 1309
ADULT_TRAIN_ROWS = 32561

#: What the paper's tables call a column, where that is not what the file calls it.
PAPER_NAMES: dict[str, dict[str, str]] = {
    "titanic": {"PassengerId": "Passengerid", "SibSp": "Sibsp"},
    "adult": {
        **{name: name.capitalize() for name in ADULT_COLUMNS},
        **{"marital-status": "Marital status", "capital-gain": "Capital gain", "capital-loss": "Capital loss"},
        **{"hours-per-week": "Hours per week", "native-country": "Country", "class": "Target"},
    },
    "bank": {
        name: name.capitalize()
        for name in (
            *("age", "job", "marital", "education", "default", "balance", "housing", "loan", "contact", "day", "month"),
            *("duration", "campaign", "pdays", "previous", "poutcome", "y"),
        )
    },
    "heart": {name: name.capitalize() for name in HEART_COLUMNS},
    "student": {
        name: name.capitalize()
        for name in (
            *(
                "school",
                "sex",
                "age",
                "address",
                "famsize",
                "reason",
                "guardian",
                "traveltime",
                "studytime",
                "failures",
            ),
            *("schoolsup", "famsup", "paid", "activities", "nursery", "higher", "internet", "romantic", "famrel"),
            *("freetime", "goout", "health", "absences"),
        )
    },
    "sample": {},
}


def table(name: str | Path, rows: Rows = "as_printed", *, mend: bool = False, progress: bool = True) -> pd.DataFrame:
    """Return a table of the three-way paper, or one that the user brings.

    Parameters
    ----------
    name : str or pathlib.Path
        ``titanic``, ``adult``, ``bank``, ``heart``, ``student``, ``sample`` (the paper's Table 1), or the path of a CSV
        or Parquet file.
    rows : {"as_printed", "as_stated"}
        Which rows, and how they are read; see the head of this module. No matter for the sample and for files.
    mend : bool
        For the sample: whether to read the misprint *Cleaner* of its third row as *Cleaners*, as its Table 2 does.
    progress : bool
        Whether to draw progress bars on stderr when the set has to be fetched.

    Returns
    -------
    pandas.DataFrame
        One row a record, columns as the file names them (`PAPER_NAMES` has the paper's names).

    Raises
    ------
    UnknownDatasetError
        If there is no such table.
    DataUnavailableError, CorruptDataError
        As `store.fetch`.
    FileNotFoundError, ValueError
        As `userfile.read_table`, or if `rows` is neither of the two.
    """
    if rows not in get_args(Rows):
        raise ValueError(f"rows must be one of {', '.join(get_args(Rows))}, got {rows!r}")
    if _is_file(name):
        return read_table(name)
    if name == "sample":
        return sample(mend=mend)
    known = str(name)
    if known not in READERS:
        raise UnknownDatasetError(known, [*READERS, "sample", "or the path of a CSV or Parquet file"])
    return READERS[known](store.fetch(known, progress=progress), rows)


def digest(name: str | Path) -> str:
    """Return a SHA-256 of what `table` reads, for provenance: the set's members, the sample or the user's file.

    Raises
    ------
    LookupError, FileNotFoundError
        If there is no such table on this machine.
    """
    if _is_file(name) or name == "sample":
        file = _sample_file() if name == "sample" else Path(name).expanduser()
        return hashlib.sha256(file.read_bytes()).hexdigest()
    return store.fetch(str(name), progress=False).digest


def titanic(located: Located, rows: Rows = "as_printed") -> pd.DataFrame:
    """Return all 1,309 passengers; Survived of the test part is that of Kaggle's gender_submission."""
    train, test, answer = (_csv(located, member) for member in ("train.csv", "test.csv", "gender_submission.csv"))
    test = test.merge(answer, on="PassengerId", validate="one_to_one")
    return pd.concat([train, test[train.columns]], ignore_index=True)


def adult(located: Located, rows: Rows = "as_printed") -> pd.DataFrame:
    """Return census records: the first 1,309 of adult.data as printed; all 48,842, ``?`` as missing, as stated."""
    how = {"names": list(ADULT_COLUMNS), "header": None, "skipinitialspace": True, "keep_default_na": False}
    how["na_values"] = ["?"] if rows == "as_stated" else []
    if located.form == "wheel":
        whole = _csv(located, "adult.csv", **(how | {"header": 0}))
        rest = len(whole) - ADULT_TRAIN_ROWS  # the carrier puts adult.test first
        everyone = pd.concat([whole.iloc[rest:], whole.iloc[:rest]], ignore_index=True)
    else:
        # adult.test opens with a line that is no record, and ends its classes with a full stop
        test = _csv(located, "adult.test", **how, skiprows=1)
        test["class"] = test["class"].str.rstrip(".")
        everyone = pd.concat([_csv(located, "adult.data", **how), test], ignore_index=True)
    return everyone.head(ADULT_PRINTED_ROWS) if rows == "as_printed" else everyone


def bank(located: Located, rows: Rows = "as_printed") -> pd.DataFrame:
    """Return bank clients: bank.csv (4,521) as printed, bank-full.csv (45,211) as stated."""
    return _csv(located, "bank.csv" if rows == "as_printed" else "bank-full.csv", sep=";", keep_default_na=False)


def heart(located: Located, rows: Rows = "as_printed") -> pd.DataFrame:
    """Return the patients of Cleveland, Hungary and Switzerland, 720, read as text or as numbers."""
    texts = [
        located.read(f"processed.{place}.data").decode().strip() for place in ("cleveland", "hungarian", "switzerland")
    ]
    how = {"names": list(HEART_COLUMNS), "header": None, "keep_default_na": False, "low_memory": False}
    how["na_values"] = ["?"] if rows == "as_stated" else []
    return pd.read_csv(io.StringIO("\n".join(texts)), **how)  # type: ignore[call-overload]


def student(located: Located, rows: Rows = "as_printed") -> pd.DataFrame:
    """Return the pupils of both courses, 395 + 649, without their three grades."""
    courses = [_csv(located, f"student-{course}.csv", sep=";", keep_default_na=False) for course in ("mat", "por")]
    return pd.concat(courses, ignore_index=True).drop(columns=STUDENT_GRADES)


def sample(*, mend: bool = False) -> pd.DataFrame:
    """Return the 20 records of paper 2's Table 1, as printed or with the misprint of the third row mended."""
    records = pd.read_csv(_sample_file(), keep_default_na=False)
    return records.replace({"Occupation": {"Cleaner": "Cleaners"}}) if mend else records


def sensors(*, progress: bool = True) -> pd.DataFrame:
    """Return the sensors of the smart home that paper 2's Tables 5 and 6 show.

    Returns
    -------
    pandas.DataFrame
        24 rows, columns sensor_id, node_id, type, name (room/thing/quantity).

    Raises
    ------
    DataUnavailableError
        If the list is not on this machine.
    """
    listed = _csv(store.fetch("smart-home", progress=progress), "sensor.csv")
    return listed.assign(name=listed["name"].str.strip())


READERS: Mapping[str, Callable[[Located, Rows], pd.DataFrame]] = {
    "titanic": titanic,
    "adult": adult,
    "bank": bank,
    "heart": heart,
    "student": student,
}


def _csv(located: Located, member: str, **how: object) -> pd.DataFrame:
    with located.open(member) as stream:
        return pd.read_csv(stream, **how)  # type: ignore[call-overload]


def _is_file(name: str | Path) -> bool:
    """Tell whether a name means a file: it ends or reads like a path. A set's name never does."""
    return (
        isinstance(name, Path) or "/" in name or "\\" in name or name.lower().endswith(TEXT_SUFFIXES + PARQUET_SUFFIXES)
    )


def _sample_file() -> Path:
    return data_dir() / "paper" / "sample" / "three-way-table-1.csv"
