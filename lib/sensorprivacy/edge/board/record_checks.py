"""Check that the numbers of a record can come from a measurement.

The record of a board decides printed values. So a negative time, another unit or a part of another network must not be
read as a measurement.
"""

import math
from collections.abc import Iterator, Mapping
from statistics import median
from typing import Any

from sensorprivacy.edge.board.timing import LEAST, MOST

_ORDER = ("least", "median", "p95", "p99")
_FITS = 100  # a step takes its stated seconds up to this factor; a wrong unit is off by 1,000


def check_record(record: Mapping[str, Any]) -> None:
    """Raise ValueError, with what is wrong, if a record holds values that no measurement gives."""
    try:
        for name in ("threads", "rounds", "seconds"):
            _above_zero("settings", name, record["settings"][name])
        _above_zero("the record", "memory", record["memory"])
        for name in ("board", "machine", "cores", "cpu"):
            record["hardware"][name]
        bundles = record["bundles"]
        if not bundles:
            raise ValueError("it holds no bundle")
        names = [bundle["name"] for bundle in bundles]
        if twice := sorted({name for name in names if names.count(name) > 1}):
            raise ValueError(f"two bundles have the name {twice[0]}")
        for bundle in bundles:
            _check_bundle(bundle)
            _check_duration(bundle, record["settings"])
    except KeyError as error:
        raise ValueError(f"it lacks {error}") from error
    except (TypeError, AttributeError) as error:
        raise ValueError(f"a part has another form than in a record ({error})") from error


def _check_bundle(bundle: Mapping[str, Any]) -> None:
    name = bundle["name"]
    _above_zero(name, "budget", bundle["budget"])
    for key in ("dataset", "attribute", "precision", "samples"):
        bundle[key]
    for where, row in _rows(bundle):
        for key in _ORDER:
            _above_zero(f"{name}, {where}", key, row[key])
        if (times := [row[key] for key in _ORDER]) != sorted(times):
            raise ValueError(f"{name}, {where}: least, median, p95 and p99 are not in ascending order")
    for row in bundle["steps"]:
        _whole(f"{name}, {row['step']}", "batch", row["batch"])
        if not _number(row["cpu"]) or row["cpu"] < 0:
            raise ValueError(f"{name}, {row['step']}: cpu is {row['cpu']!r}: give seconds")
    for network in bundle["networks"]:
        for key in ("weights", "macs", "bytes"):
            if not _number(network[key]) or network[key] < 0:
                raise ValueError(f"{name}, {network['step']}: {key} is {network[key]!r}")
        network["kind"]
    parts = [{(row["step"], row["code"]) for row in bundle[key]} for key in ("steps", "load", "networks")]
    if not parts[0] or parts[0] != parts[1] or parts[0] != parts[2]:
        raise ValueError(f"{name}: the networks are not those of the steps")


def _rows(bundle: Mapping[str, Any]) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """Yield every summary of times, with its name."""
    for row in bundle["steps"]:
        yield f"{_title(row)}, batch {row['batch']}", row
    for row in bundle["load"]:
        yield f"load of {_title(row)}", row
    if bundle["window"] is not None:
        yield "whole windows", bundle["window"]


def _check_duration(bundle: Mapping[str, Any], settings: Mapping[str, Any]) -> None:
    """Compare the time spent on a step, repeats x mean, with the seconds that the settings allow."""
    rounds, seconds = settings["rounds"], settings["seconds"]
    # where the number of repeats is at its limit, the time spent says nothing
    free = [row for row in bundle["steps"] if 2 * LEAST * rounds < row["repeats"] < MOST * rounds / 2]
    ratios = [row["repeats"] * row["mean"] / seconds for row in free]
    if ratios and not 1 / _FITS < median(ratios) < _FITS:
        raise ValueError(
            f"{bundle['name']}: a step took {median(ratios) * seconds:.3g} s, but the settings allow {seconds:g} s; "
            "are the times in seconds?"
        )


def _title(row: Mapping[str, Any]) -> str:
    return row["step"] if row["code"] is None else f"{row['step']} {row['code']}"


def _number(value: Any) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool) and math.isfinite(value)


def _above_zero(where: str, name: str, value: Any) -> None:
    if not _number(value) or value <= 0:
        raise ValueError(f"{where}: {name} is {value!r}: give seconds above 0" if name in _ORDER else
                         f"{where}: {name} is {value!r}: give a number above 0")  # fmt: skip


def _whole(where: str, name: str, value: Any) -> None:
    if not isinstance(value, int) or isinstance(value, bool) or value < 1:
        raise ValueError(f"{where}: {name} is {value!r}: give a whole number above 0")
