"""Read the tables of the three-way paper, with the rows behind its printed numbers or the rows that it states.

Titanic and Student are the same for both. The others differ; recomputing the paper's tables showed how:

======  ==========================================  ===================================
set     rows as printed                             rows as stated (paper 2, Table 4)
======  ==========================================  ===================================
adult   the first 1,309 of ``adult.data``           48,842: ``adult.data``, ``adult.test``
bank    4,521: ``bank.csv``                         45,211: ``bank-full.csv``
heart   720, read as text: ``?`` is a value, and    720, numbers read as numbers and
        '1' and '1.0' differ in columns with a ?    ``?`` as missing
======  ==========================================  ===================================
"""

import io
from collections.abc import Iterable
from typing import Any, Literal

import pandas as pd

from compendium.readers.files import Files

Rows = Literal["as_printed", "as_stated"]

_ADULT = (
    "age workclass fnlwgt education education-num marital-status occupation relationship race sex "
    "capital-gain capital-loss hours-per-week native-country class"
)
_HEART = "age sex cp trestbps chol fbs restecg thalach exang oldpeak slope ca thal num"
STUDENT_GRADES = ["G1", "G2", "G3"]
#: Rows of Adult behind the printed numbers: as many as Titanic has.
ADULT_PRINTED_ROWS = 1309
ADULT_TRAIN_ROWS = 32561

# The paper's names that are not the capitalized names of the file.
_ADULT_NAMES = {
    **{"marital-status": "Marital status", "capital-gain": "Capital gain", "capital-loss": "Capital loss"},
    **{"hours-per-week": "Hours per week", "native-country": "Country", "class": "Target"},
}


def paper_names(name: str, columns: Iterable[str]) -> dict[str, str]:
    """Return the paper's names for the columns of a table.

    Parameters
    ----------
    name : str
        One of the paper's data sets, or ``sample``.
    columns : iterable of str
        Columns as the file names them.

    Returns
    -------
    dict
        Printed name by column.

    Examples
    --------
    >>> paper_names("adult", ["age", "class"])
    {'age': 'Age', 'class': 'Target'}
    """
    if name == "sample":
        return {column: column for column in columns}
    special = _ADULT_NAMES if name == "adult" else {}
    return {column: special.get(column, column.capitalize()) for column in columns}


def titanic(files: Files, rows: Rows = "as_printed") -> pd.DataFrame:
    """Return all 1,309 passengers; Survived of the test part comes from Kaggle's gender_submission."""
    train, test, answer = (_csv(files, member) for member in ("train.csv", "test.csv", "gender_submission.csv"))
    test = test.merge(answer, on="PassengerId", validate="one_to_one")
    return pd.concat([train, test[train.columns]], ignore_index=True)


def adult(files: Files, rows: Rows = "as_printed") -> pd.DataFrame:
    """Return census records: the first 1,309 of adult.data as printed; all 48,842, with ``?`` as missing, as stated."""
    options = {"names": _ADULT.split(), "header": None, "skipinitialspace": True, **_missing(rows)}
    if files.form == "wheel":
        whole = _csv(files, "adult.csv", **(options | {"header": 0}))
        rest = len(whole) - ADULT_TRAIN_ROWS  # the wheel's file begins with adult.test
        everyone = pd.concat([whole.iloc[rest:], whole.iloc[:rest]], ignore_index=True)
    else:
        # the first line of adult.test is no record, and its classes end with a full stop
        test = _csv(files, "adult.test", **options, skiprows=1)
        test["class"] = test["class"].str.rstrip(".")
        everyone = pd.concat([_csv(files, "adult.data", **options), test], ignore_index=True)
    return everyone.head(ADULT_PRINTED_ROWS) if rows == "as_printed" else everyone


def bank(files: Files, rows: Rows = "as_printed") -> pd.DataFrame:
    """Return bank clients: bank.csv (4,521) as printed, bank-full.csv (45,211) as stated."""
    return _csv(files, "bank.csv" if rows == "as_printed" else "bank-full.csv", sep=";", keep_default_na=False)


def heart(files: Files, rows: Rows = "as_printed") -> pd.DataFrame:
    """Return the 720 patients of Cleveland, Hungary and Switzerland, read as text (printed) or as numbers (stated)."""
    places = ("cleveland", "hungarian", "switzerland")
    text = io.StringIO("\n".join(files.read(f"processed.{place}.data").decode().strip() for place in places))
    return pd.read_csv(text, names=_HEART.split(), header=None, low_memory=False, **_missing(rows))


def student(files: Files, rows: Rows = "as_printed") -> pd.DataFrame:
    """Return the pupils of both courses, 395 + 649, without their three grades."""
    courses = [_csv(files, f"student-{course}.csv", sep=";", keep_default_na=False) for course in ("mat", "por")]
    return pd.concat(courses, ignore_index=True).drop(columns=STUDENT_GRADES)


def smart_home_sensors(files: Files) -> pd.DataFrame:
    """Return the list of the smart home's sensors."""
    listed = _csv(files, "sensor.csv")
    return listed.assign(name=listed["name"].str.strip())


def smart_home_readings(files: Files) -> pd.DataFrame:
    """Return readings of four sensors of the smart home: about one in five minutes, with its original time."""
    parts = [_csv(files, member, parse_dates=["timestamp"]) for member in files.members]
    return pd.concat(parts, ignore_index=True)[["sensor_id", "timestamp", "value"]]


def smart_home_kitchen(files: Files, rows: Rows = "as_printed") -> pd.DataFrame:
    """Return eight sensors of the smart home's kitchen, 8,495 rows of 0 and 1 without times; the paper uses no rows."""
    return _csv(files, "kitchen.csv").astype(int)


def _missing(rows: Rows) -> dict[str, Any]:
    """Return how pandas reads ``?``: as a value as printed, as missing as stated."""
    return {"keep_default_na": False, "na_values": ["?"] if rows == "as_stated" else []}


def _csv(files: Files, member: str, **options: Any) -> pd.DataFrame:
    with files.open(member) as stream:
        return pd.read_csv(stream, **options)
