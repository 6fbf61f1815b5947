"""Read the records of boards, which ``edge.pyz measure`` writes.

The record of a board decides printed values. So a negative time, another unit or a part of another network must not be
read as a measurement.
"""

import json
from collections.abc import Iterable
from pathlib import Path
from statistics import median
from typing import Annotated, Any, Self

from pydantic import BaseModel, ConfigDict, Field, PositiveInt, ValidationError, model_validator

from sensorprivacy.edge.board.measurement import FORMAT, VERSION
from sensorprivacy.edge.board.timing import LEAST, MOST

_FITS = 100  # a step takes its stated seconds up to this factor; a wrong unit is off by 1,000
Seconds = Annotated[float, Field(gt=0, allow_inf_nan=False)]
Count = Annotated[int, Field(ge=0)]


class RecordError(ValueError):
    """The file is no record of a measurement, or the record has another version."""


class _Part(BaseModel):
    model_config = ConfigDict(strict=True)


class _Times(_Part):
    least: Seconds
    median: Seconds
    p95: Seconds
    p99: Seconds
    mean: Seconds
    repeats: PositiveInt

    @model_validator(mode="after")
    def _ordered(self) -> Self:
        if not self.least <= self.median <= self.p95 <= self.p99:
            raise ValueError("least, median, p95 and p99 are not in ascending order")
        return self


class _Load(_Times):
    step: str
    code: int | None


class _Step(_Load):
    batch: PositiveInt
    cpu: Annotated[float, Field(ge=0, allow_inf_nan=False)]


class _Network(_Part):
    step: str
    code: int | None
    kind: str
    weights: Count
    macs: Count
    bytes: Count


class _Bundle(_Part):
    name: str
    dataset: str
    attribute: str
    precision: str
    samples: str
    budget: Seconds
    networks: list[_Network]
    load: list[_Load]
    steps: Annotated[list[_Step], Field(min_length=1)]
    window: _Times | None

    @model_validator(mode="after")
    def _of_the_same_networks(self) -> Self:
        parts: Any = (self.steps, self.load, self.networks)
        steps, *others = [{(row.step, row.code) for row in rows} for rows in parts]
        if any(other != steps for other in others):
            raise ValueError("the networks are not those of the steps")
        return self


class _Settings(_Part):
    threads: PositiveInt
    rounds: PositiveInt
    seconds: Seconds


class _Hardware(_Part):
    board: str | None
    machine: str
    cores: int | None
    cpu: str | None


class _Record(_Part):
    settings: _Settings
    hardware: _Hardware
    bundles: Annotated[list[_Bundle], Field(min_length=1)]
    memory: PositiveInt

    @model_validator(mode="after")
    def _plausible(self) -> Self:
        names = [bundle.name for bundle in self.bundles]
        if twice := sorted({name for name in names if names.count(name) > 1}):
            raise ValueError(f"two bundles have the name {twice[0]}")
        rounds, seconds = self.settings.rounds, self.settings.seconds
        for bundle in self.bundles:
            # where the number of repeats is at its limit, the time spent says nothing
            free = [row for row in bundle.steps if 2 * LEAST * rounds < row.repeats < MOST * rounds / 2]
            ratios = [row.repeats * row.mean / seconds for row in free]
            if ratios and not 1 / _FITS < median(ratios) < _FITS:
                took = f"a step took {median(ratios) * seconds:.3g} s, but the settings allow {seconds:g} s"
                raise ValueError(f"{bundle.name}: {took}; are the times in seconds?")
        return self


def read_record(path: Path | str) -> dict[str, Any]:
    """Read a record from its file.

    Raises
    ------
    FileNotFoundError
        If there is no such file.
    RecordError
        If the file is no record, the record has another version, or it holds values that no measurement gives.
    """
    path = Path(path)
    if not path.is_file():
        raise FileNotFoundError(f"no record {path}: run `python -m sensorrelease edge measure --out {path.name}`")
    try:
        record = json.loads(path.read_text(encoding="utf-8"))
    except ValueError as error:
        raise RecordError(f"{path} is damaged or not JSON: {error}; copy it again") from error
    if not isinstance(record, dict) or record.get("format") != FORMAT:
        raise RecordError(f"{path} is not a record of `edge measure` (expected format {FORMAT!r})")
    if record.get("version") != VERSION:
        raise RecordError(f"{path} has version {record.get('version')}, expected {VERSION}: measure again")
    try:
        _Record.model_validate(record)
    except ValidationError as error:
        first = error.errors()[0]
        where = "".join(f"{part}: " if part == first["loc"][-1] else f"{part}, " for part in first["loc"])
        given = "" if isinstance(first["input"], dict | list) else f", got {first['input']!r}"
        said = first["msg"].removeprefix("Value error, ")
        raise RecordError(f"{path}: {where}{said}{given}: measure again") from error
    return record


def read_records(paths: Iterable[Path | str]) -> dict[str, dict[str, Any]]:
    """Read records and return them by the name of their file without its suffix.

    Raises
    ------
    RecordError
        If two files have the same name.
    """
    found: dict[str, dict[str, Any]] = {}
    for path in map(Path, paths):
        if path.stem in found:
            raise RecordError(f"two records have the name {path.stem}: rename {path}")
        found[path.stem] = read_record(path)
    return found
