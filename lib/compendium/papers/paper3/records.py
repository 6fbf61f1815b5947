"""Read the records of boards, which ``edge.pyz measure`` writes.

The record of a board decides printed values. So a negative time, another unit or a part of another network must not be
read as a measurement.
"""

import json
from collections.abc import Iterable
from pathlib import Path
from statistics import median
from typing import Annotated, Any

from pydantic import AfterValidator, ConfigDict, Field, NonNegativeInt, PositiveInt, ValidationError, create_model

from sensorprivacy.edge.board.measurement import FORMAT, VERSION
from sensorprivacy.edge.board.timing import LEAST, MOST

_FITS = 100  # a step takes its stated seconds up to this factor; a wrong unit is off by 1,000
Seconds = Annotated[float, Field(gt=0, allow_inf_nan=False)]
NotNegative = Annotated[float, Field(ge=0, allow_inf_nan=False)]


class RecordError(ValueError):
    """The file is no record of a measurement, or the record has another version."""


def _ordered(row: Any) -> Any:
    if not row.least <= row.median <= row.p95 <= row.p99:
        raise ValueError("least, median, p95 and p99 are not in ascending order")
    return row


def _part(**types: Any) -> Any:
    """Return a strict model that needs these fields."""
    fields: Any = {name: (kind, ...) for name, kind in types.items()}
    return create_model("Part", __config__=ConfigDict(strict=True), **fields)


def _some(part: Any) -> Any:
    return Annotated[list[part], Field(min_length=1)]


_TIMES = dict.fromkeys(("least", "median", "p95", "p99", "mean"), Seconds) | {"repeats": PositiveInt}
_OF: Any = {"step": str, "code": int | None}
_LOAD: Any = Annotated[_part(**_TIMES, **_OF), AfterValidator(_ordered)]
_STEP: Any = Annotated[_part(**_TIMES, **_OF, batch=PositiveInt, cpu=NotNegative), AfterValidator(_ordered)]
_NETWORK = _part(**_OF, kind=str, weights=NonNegativeInt, macs=NonNegativeInt, bytes=NonNegativeInt)
_BUNDLE = _part(
    **dict.fromkeys(("name", "dataset", "attribute", "precision", "samples"), str),
    budget=Seconds, networks=_some(_NETWORK), load=_some(_LOAD), steps=_some(_STEP),
    window=Annotated[_part(**_TIMES), AfterValidator(_ordered)] | None,
)  # fmt: skip
_RECORD = _part(
    settings=_part(threads=PositiveInt, rounds=PositiveInt, seconds=Seconds),
    hardware=_part(board=str | None, machine=str, cores=int | None, cpu=str | None),
    bundles=_some(_BUNDLE), memory=PositiveInt,
)  # fmt: skip


def check_record(record: Any) -> None:
    """Raise ValueError, with what is wrong, if a record holds values that no measurement gives."""
    try:
        found = _RECORD.model_validate(record)
    except ValidationError as error:
        first = error.errors()[0]
        given = "" if isinstance(first["input"], dict | list) else f", got {first['input']!r}"
        said = first["msg"].removeprefix("Value error, ")
        raise ValueError(f"{', '.join(map(str, first['loc']))}: {said}{given}") from error
    names = [bundle.name for bundle in found.bundles]
    if twice := sorted({name for name in names if names.count(name) > 1}):
        raise ValueError(f"two bundles have the name {twice[0]}")
    rounds, seconds = found.settings.rounds, found.settings.seconds
    for bundle in found.bundles:
        parts = [{(row.step, row.code) for row in rows} for rows in (bundle.steps, bundle.load, bundle.networks)]
        if parts[0] != parts[1] or parts[0] != parts[2]:
            raise ValueError(f"{bundle.name}: the networks are not those of the steps")
        # where the number of repeats is at its limit, the time spent says nothing
        free = [row for row in bundle.steps if 2 * LEAST * rounds < row.repeats < MOST * rounds / 2]
        ratios = [row.repeats * row.mean / seconds for row in free]
        if ratios and not 1 / _FITS < median(ratios) < _FITS:
            took = f"a step took {median(ratios) * seconds:.3g} s, but the settings allow {seconds:g} s"
            raise ValueError(f"{bundle.name}: {took}; are the times in seconds?")


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
        raise FileNotFoundError(f"no record {path}: run `sensorprivacy edge measure --out {path.name}`")
    try:
        record = json.loads(path.read_text(encoding="utf-8"))
    except ValueError as error:
        raise RecordError(f"{path} is damaged or not JSON: {error}; copy it again") from error
    if not isinstance(record, dict) or record.get("format") != FORMAT:
        raise RecordError(f"{path} is not a record of `edge measure` (expected format {FORMAT!r})")
    if record.get("version") != VERSION:
        raise RecordError(f"{path} has version {record.get('version')}, expected {VERSION}: measure again")
    try:
        check_record(record)
    except ValueError as error:
        raise RecordError(f"{path}: {error}: measure again") from error
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
