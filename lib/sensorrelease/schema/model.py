"""What a person declares about a table: how its cells are read, and which of them may leave.

The names of the keys are those of the Frictionless Table Schema and Table Dialect (https://datapackage.org/standard/),
with a role for each column besides.
"""

import datetime as dt
import hashlib
import unicodedata
from collections import Counter
from typing import Annotated, Any, Literal

from pydantic import Field as Key
from pydantic import model_validator

from sensorrelease.schema.dialect import Dialect, Number, Part, Recordings

Role = Literal["task", "user", "recording", "time", "private", "feature", "withheld"]
Type = Literal["number", "integer", "boolean", "string", "datetime", "date", "time"]
Format = Literal["csv", "jsonl", "parquet", "feather", "xlsx"]
NUMBERS = ("number", "integer")
MOMENTS = ("datetime", "date", "time")
FINEST = 1e-15  # of a step beside the largest number: doubles have about 16 digits
OTHER = "other"  # the level that rare levels become
UNITS = {"s": 1.0, "ms": 1e3, "us": 1e6, "ns": 1e9}  # of times as numbers, in a second
FILE, RUN = "_file", "_run"  # columns that are added to recordings: number of the file, and of the recording


def fold(text: str) -> str:
    """Return the form in which spellings of a label are compared: NFKC, without case, format marks and outer spaces.

    Examples
    --------
    >>> fold(" Mu\u0308ller\u200b ") == fold("MÜLLER")
    True
    """
    if text.isascii():
        return " ".join(text.lower().split())
    plain = unicodedata.normalize("NFKC", "".join(mark for mark in text if unicodedata.category(mark) != "Cf"))
    return " ".join(unicodedata.normalize("NFKC", plain.casefold()).split())


class Constraints(Part):
    """What a column can hold. Other cells do not conform.

    Attributes
    ----------
    minimum, maximum : float or None
        Range of numbers.
    enum : list of str or None
        Levels of a text.
    """

    minimum: Number | None = None
    maximum: Number | None = None
    enum: list[str] | None = Key(default=None, min_length=1, max_length=10_000)


class Field(Part):
    """One column of the file.

    Attributes
    ----------
    name : str
        In the file.
    title : str
        Under which the column leaves. Default: the name.
    type : str
        As in Frictionless. Labels that look like numbers, such as 0100 and 1E5, are strings.
    role : str
        ``task``, ``user``, ``recording``, ``time``, ``feature`` or ``withheld``. Task and features leave. Of recordings
        also ``private``: an attribute to hide.
    unit : str or None
        Of numbers. Of the times of recordings: s, ms, us or ns.
    bareNumber : bool
        False if the unit is written in each cell.
    decimalChar, groupChar : str
        Of numbers.
    format : str or None
        Of dates and times, as for ``strptime``; by default ISO 8601.
    missingValues : list of str or None
        Cells that are missing; by default those of the schema.
    constraints : Constraints
        Range or levels.
    step : float or None
        To which numbers are rounded before they leave.
    nonconforming : str
        What becomes of a cell that does not conform: an ``error``, a ``missing`` cell, or the level ``other``. The last
        two are counted and reported.
    although : str or None
        Why a time, a place, an identifier or a free text leaves all the same. Without these words it does not.
    why : str or None
        What the draft saw.
    """

    name: str
    title: str = Key(default="", min_length=1, max_length=100)
    type: Type = "string"
    role: Role = "withheld"
    unit: str | None = None
    bareNumber: bool = True
    decimalChar: str = "."
    groupChar: str | None = None
    format: str | None = None
    missingValues: list[str] | None = None
    constraints: Constraints = Constraints()
    step: Annotated[Number, Key(gt=0)] | None = None
    nonconforming: Literal["error", "missing", "other"] = "error"
    although: str | None = None
    why: str | None = None

    @model_validator(mode="before")
    @classmethod
    def _titled(cls, keys: Any) -> Any:
        return {"title": str(keys["name"])[:100]} | keys if isinstance(keys, dict) and "name" in keys else keys

    @model_validator(mode="after")
    def _check(self) -> "Field":
        low, high, levels = self.constraints.minimum, self.constraints.maximum, self.constraints.enum
        if low is not None and high is not None and low > high:
            raise ValueError(f"minimum {low:g} is above maximum {high:g}: exchange them")
        ends = max(abs(low or 0), abs(high or 0))
        if self.step is not None and self.step < ends * FINEST:
            raise ValueError(
                f"step {self.step:g} is finer than numbers of this size: give at least {ends * FINEST:.0g}"
            )
        if levels and (twice := [one for one, many in Counter(map(fold, levels)).items() if many > 1]):
            raise ValueError(f"enum has {twice[0]!r} in two spellings: keep one")
        if self.nonconforming == "other" and not levels:
            raise ValueError("nonconforming is other, but enum has no levels: list them, or write missing")
        if not self.bareNumber and self.unit is None:
            raise ValueError("bareNumber is false, but unit is not given: write the unit of the cells")
        if self.leaves and self.although is None and (open_ := self._open()):
            raise ValueError(f"{open_}. Or set the role withheld, or say in words at although why it leaves")
        return self

    def _open(self) -> str:
        """Return what a column that leaves lacks."""
        if self.type in MOMENTS:
            return f"a {self.type} does not leave"
        if self.type == "string" and self.constraints.enum is None:
            return "a text leaves only with its levels: list them in constraints: enum"
        bounded = self.step is not None and None not in (self.constraints.minimum, self.constraints.maximum)
        if self.type in NUMBERS and not bounded:
            return "a number leaves only with constraints: minimum and maximum, and with step"
        return ""

    @property
    def leaves(self) -> bool:
        """Whether the column is in a release: a task, a feature, or another one with words why."""
        return self.role in ("task", "feature") or (self.role == "time" and self.although is not None)

    @property
    def is_number(self) -> bool:
        """Whether the cells are numbers."""
        return self.type in NUMBERS


class Schema(Part):
    """A table of your own: how it is read, and what of it may leave.

    Attributes
    ----------
    sensorprivacy : int
        Version of this format.
    name : str
        Title and file name of what leaves.
    k : int
        A level that fewer users have does not leave.
    confirmed : date or None
        When a person confirmed the schema.
    digest : str or None
        Of everything else when it was confirmed.
    format, encoding, compression, dialect
        How the file is written.
    missingValues : list of str
        Cells that are missing.
    fields : list of Field
        All columns of the file, in any order.
    recordings : Recordings or None
        How a folder of recordings is read.
    """

    sensorprivacy: Literal[1] = 1
    name: str = Key(default="data", pattern=r"^\w[\w .-]{0,60}$")
    k: int = Key(default=5, ge=1)
    confirmed: dt.date | None = None
    digest: str | None = None
    format: Format = "csv"
    encoding: str = "utf-8"
    compression: Literal["gz", "bz2", "xz"] | None = None
    dialect: Dialect = Dialect()
    missingValues: list[str] = Key(default=[""])
    fields: list[Field]
    recordings: Recordings | None = None

    @model_validator(mode="before")
    @classmethod
    def _version(cls, keys: Any) -> Any:
        return keys | {"sensorprivacy": 1} if isinstance(keys, dict) and keys.get("sensorprivacy") == "1" else keys

    @model_validator(mode="after")
    def _check(self) -> "Schema":
        for what, names in (("name", self.names), ("title", [field.title for field in self.fields])):
            if twice := [name for name, many in Counter(names).items() if many > 1]:
                raise ValueError(f"two fields have the {what} {twice[0]!r}: rename one")
        for role in ("task", "user", "recording", *(["time"] if self.recordings else [])):
            if len(some := [field.name for field in self.fields if field.role == role]) > 1:
                raise ValueError(f"the fields {', '.join(some)} have the role {role}, which one field can have")
        if self.recordings is None:
            return self
        if absent := [name for name in self.recordings.labels if name not in self.names]:
            raise ValueError(f"names of files have the label {absent[0]!r}, which is no field: add it, or write *")
        if texts := [one.name for one in self.features if not one.is_number]:
            raise ValueError(f"the feature {texts[0]!r} holds no numbers, and signals are numbers: withhold it")
        clock = self.time and self.field(self.time)
        if clock and clock.type not in ("datetime", "number", "integer"):
            raise ValueError(f"times of recordings are numbers or datetime, but {clock.name} is {clock.type}")
        if clock and clock.is_number and clock.unit not in UNITS:
            raise ValueError(f"{clock.name} has the unit {clock.unit!r}: times have one of {', '.join(UNITS)}")
        return self

    @property
    def names(self) -> list[str]:
        """The names of all columns in the file."""
        return [field.name for field in self.fields]

    @property
    def task(self) -> str | None:
        """The column to predict."""
        return self._named("task")

    @property
    def user(self) -> str | None:
        """The column with the person of each row."""
        return self._named("user")

    @property
    def recording(self) -> str | None:
        """The column with the recording of each row."""
        return self._named("recording")

    @property
    def time(self) -> str | None:
        """The column with the time of each row."""
        return self._named("time")

    @property
    def private(self) -> list[str]:
        """The columns with attributes to hide, of recordings."""
        return [field.name for field in self.fields if field.role == "private"]

    def _named(self, role: str) -> str | None:
        return next((field.name for field in self.fields if field.role == role), None)

    @property
    def features(self) -> list[Field]:
        """The columns from which the task is predicted."""
        return [field for field in self.fields if field.role == "feature"]

    @property
    def released(self) -> list[Field]:
        """The columns that leave."""
        return [field for field in self.fields if field.leaves]

    def field(self, name: str) -> Field:
        """Return the column of a name; raises KeyError if there is none."""
        return next(field for field in self.fields if field.name == name) if name in self.names else self._absent(name)

    def _absent(self, name: str) -> Field:
        raise KeyError(f"the schema has no field {name!r}; it has {', '.join(self.names)}")

    def content_digest(self) -> str:
        """Return the SHA-256 of everything besides the confirmation."""
        return hashlib.sha256(self.model_dump_json(exclude={"confirmed", "digest"}).encode()).hexdigest()

    @property
    def is_confirmed(self) -> bool:
        """Whether a person confirmed the schema, and nothing changed since."""
        return self.confirmed is not None and self.digest == self.content_digest()

    def confirm(self, today: dt.date) -> "Schema":
        """Return the schema as a person confirmed it."""
        return self.model_copy(update={"confirmed": today, "digest": self.content_digest()})
