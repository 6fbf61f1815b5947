"""How the files of a schema are written: rows of a table, and the files of recordings."""

import math
import re
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BaseModel, ConfigDict, model_validator
from pydantic import Field as Key

_EMPTY = ("", "null", "~")  # values of a key that says nothing


def _finite(number: float) -> float:
    if not math.isfinite(number):
        raise ValueError("give a finite number")
    return number


Number = Annotated[float, AfterValidator(_finite)]


class Part(BaseModel):
    """A part of a schema: no other keys, and keys without a value count as absent."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    @model_validator(mode="before")
    @classmethod
    def _without_empty_keys(cls, keys: Any) -> Any:
        if not isinstance(keys, dict):
            return keys
        return {str(key): value for key, value in keys.items() if not (isinstance(value, str) and value in _EMPTY)}


class Dialect(Part):
    """How the rows of a CSV file or a sheet are written.

    Attributes
    ----------
    delimiter, quoteChar, doubleQuote
        As in a Frictionless CSV dialect. ``quoteChar: none`` if no cell is quoted.
    headerRows : list of int
        Rows of the header, counted from 1. The lines before them are skipped. With several, the names in a column are
        joined by spaces.
    commentRows : list of int
        Further rows that hold no record, such as units below the header.
    commentChar : str or None
        Sign at the beginning of lines that are skipped.
    trailingDelimiter : bool
        Whether each row, or the header alone, ends with a delimiter.
    sheet : str or None
        Name of the sheet; by default the first visible one.
    """

    delimiter: str = Key(default=",", min_length=1, max_length=1)
    quoteChar: Annotated[str, Key(pattern="^(?:.|none)$")] = '"'
    doubleQuote: bool = True
    headerRows: list[Annotated[int, Key(ge=1)]] = [1]
    commentRows: list[Annotated[int, Key(ge=1)]] = []
    commentChar: str | None = None
    trailingDelimiter: bool = False
    sheet: str | None = None


class Recordings(Part):
    """How a folder is read as recordings: rows of one user, task and recording that follow each other.

    Attributes
    ----------
    files : str
        Pattern of the files below the folder; * is any text.
    names : str or None
        Labels in the names of the files, such as ``{activity}_{person}_{session}.csv``; with /, of their folders. Each
        label is a field. Files without a recording among the labels and columns are one recording each.
    rate : float
        Samples per second. Times with another rate are an error.
    gap : float or None
        Seconds without a sample that do not matter; by default one and a half steps.
    gaps : str
        Whether a longer gap is an ``error``, or the ``end`` of a recording, which is counted.
    people : str or None
        A CSV file in the folder with a row for each user and private attributes.
    """

    files: str
    names: str | None = None
    rate: Annotated[Number, Key(gt=0)]
    gap: Annotated[Number, Key(gt=0)] | None = None
    gaps: Literal["error", "end"] = "error"
    people: str | None = None

    @property
    def labels(self) -> list[str]:
        """The fields that are in the names of the files."""
        return re.findall(r"\{([^{}]*)\}", self.names or "")

    @model_validator(mode="after")
    def _check(self) -> "Recordings":
        for path in filter(None, (self.files, self.people)):
            if path.startswith("/") or ".." in path.split("/") or "\0" in path:
                raise ValueError(f"{path!r} leads out of the folder: give a path in it, such as *.csv")
        if len(set(self.labels)) < len(self.labels) or not all(map(str.isidentifier, self.labels)):
            raise ValueError("names needs each label once, in braces, such as {activity}_{person}.csv")
        return self
