"""Paper 2's data sets read with pandas alone, so that the ledger's demonstrations do not lean on our own readers."""

import io
import zipfile
from collections.abc import Callable

import pandas as pd
import pytest

from compendium.show.tables import csv_text
from compendium.verdicts import cells

ADULT = ["Age", "Workclass", "Fnlwgt", "Education", "Education-num", "Marital status", "Occupation", "Relationship"]
ADULT += ["Race", "Sex", "Capital gain", "Capital loss", "Hours per week", "Country", "Target"]
HEART = ["Age", "Sex", "Cp", "Trestbps", "Chol", "Fbs", "Restecg", "Thalach", "Exang", "Oldpeak", "Slope", "Ca", "Thal"]
HEART += ["Num"]


@pytest.fixture
def raw(mirror) -> Callable[..., pd.DataFrame]:
    """Return a function that reads a data set of paper 2 from the mirror, by name and variant."""

    def member(archive: str, name: str, **options) -> pd.DataFrame:
        with zipfile.ZipFile(mirror / archive) as file:
            return pd.read_csv(io.BytesIO(file.read(name)), **options)

    def titanic() -> pd.DataFrame:
        train, test, guess = (member("titanic/titanic.zip", f"{n}.csv") for n in ("train", "test", "gender_submission"))
        return pd.concat([train, test.merge(guess, on="PassengerId")[train.columns]], ignore_index=True)

    def titanic_without_guess() -> pd.DataFrame:
        return pd.concat([member("titanic/titanic.zip", f"{n}.csv") for n in ("train", "test")], ignore_index=True)

    def adult(rows: int | None = 1309) -> pd.DataFrame:
        options = {"header": None, "names": ADULT, "skipinitialspace": True}
        first = pd.read_csv(mirror / "adult/adult.data", **options)
        if rows is not None:
            return first.head(rows)
        second = pd.read_csv(mirror / "adult/adult.test", skiprows=1, **options)
        return pd.concat([first, second.assign(Target=second["Target"].str.rstrip("."))], ignore_index=True)

    def bank(file: str = "bank.csv") -> pd.DataFrame:
        return member("bank-marketing/bank.zip", file, sep=";")

    def heart(*, parsed: bool = False) -> pd.DataFrame:
        names = ("cleveland", "hungarian", "switzerland")
        text = "".join((mirror / f"heart-disease/processed.{name}.data").read_text() for name in names)
        return pd.read_csv(io.StringIO(text), header=None, names=HEART, na_values=["?"] if parsed else None)

    def student(*, grades: bool = False) -> pd.DataFrame:
        both = [pd.read_csv(mirror / f"student-performance/student-{name}.csv", sep=";") for name in ("mat", "por")]
        whole = pd.concat(both, ignore_index=True)
        return whole if grades else whole.drop(columns=["G1", "G2", "G3"])

    readers = {
        "titanic": titanic,
        "titanic without guess": titanic_without_guess,
        "adult": adult,
        "bank": bank,
        "heart": heart,
        "student": student,
    }
    return lambda name, **options: readers[name](**options)


@pytest.fixture
def judged() -> Callable[..., pd.DataFrame]:
    """Return a function that judges a run by tables made by hand, as its notebook would add them."""

    def judge(run: str, tables: dict[str, pd.DataFrame], unexplained: str = "allow") -> pd.DataFrame:
        texts = {name: io.StringIO(csv_text(frame)) for name, frame in tables.items()}
        read = {name: pd.read_csv(text, dtype=str, keep_default_na=False) for name, text in texts.items()}
        found = cells.judge_run(run, read.get, lambda name: "missing", unexplained=unexplained)
        return found[found["verdict"] != "no data"].set_index("claim_id")

    return judge


@pytest.fixture
def sample(root) -> pd.DataFrame:
    """Return the sample of Table 1 as printed."""
    return pd.read_csv(root / "data" / "paper" / "sample" / "three-way-table-1.csv")
