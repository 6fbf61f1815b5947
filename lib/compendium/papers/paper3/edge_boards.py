"""Choose the records whose seconds can be compared with paper 3's: those of its board, with its networks.

A record of another machine or of other networks must not decide a printed value. Such records are left out and named. A
record that contradicts itself is refused.
"""

import re
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import pandas as pd

from compendium.papers.paper3.edge_tables import CLOCK, CORES, MACS_PER_CYCLE, PI3, TABLES, paper_rows
from sensorprivacy.edge.board.measurement import RecordError, read_records

Record = Mapping[str, Any]
_UNUSED = "Not compared with the printed seconds"
_ARM = ("aarch64", "arm64", "armv7l", "armv8l")
_OVERCLOCKED = 2.0  # no Raspberry Pi 3 runs at twice its clock


def read_boards(paths: Iterable[Path | str]) -> dict[str, dict[str, Any]]:
    """Read records and return them by name, see `measurement.read_records`.

    Raises
    ------
    RecordError
        Also if a record names the paper's board but comes from another machine: another processor, another number of
        cores, or times that the board cannot reach.
    """
    found = read_records(paths)
    for name, record in found.items():
        if is_pi3(record):
            _refuse_other_machines(name, record)
    return found


def paper_boards(machines: Mapping[str, Record], here: Record) -> tuple[dict[str, dict[str, Any]], list[str]]:
    """Return the records of Raspberry Pi 3 Model B with paper 3's networks only, and what was left out.

    Parameters
    ----------
    machines : mapping of str to dict
        Records by name. The record `here` itself is left out without a word, unless it is of such a board.
    here : dict
        Record of this run's networks. A bundle counts if it has the same networks.

    Returns
    -------
    tuple of dict and list of str
        Records without other bundles; and one line for each record or bundle left out, with the reason.
    """
    found: dict[str, dict[str, Any]] = {}
    unused = []
    for name, record in machines.items():
        if not is_pi3(record):
            if record is not here:
                unused.append(
                    f"{_UNUSED}: {name}: {record['hardware'].get('board') or 'an unknown board'}, not a {PI3}"
                )
            continue
        kept = []
        for bundle in record["bundles"]:
            if reason := _other_networks(bundle, here):
                unused.append(f"{_UNUSED}: {name}, {bundle['name']}: {reason}")
            else:
                kept.append(bundle)
        if kept:
            found[name] = {**record, "bundles": kept}
    return found, unused


def first_steps(boards: Mapping[str, Record]) -> pd.DataFrame | None:
    """Return the steps of Tables 4 to 7 from the first record, which decides the printed seconds; None without one."""
    return next(map(paper_rows, boards.values()), None)


def is_pi3(record: Record) -> bool:
    """Return whether a record is of a Raspberry Pi 3 Model B, the paper's board."""
    return bool(re.match(r"Raspberry Pi 3 Model B(?! Plus)", str(record["hardware"].get("board") or "")))


def _other_networks(bundle: Record, here: Record) -> str:
    """Return why a bundle's times cannot be compared with the paper's; an empty text if they can."""
    if bundle["name"] not in TABLES.values() or bundle["precision"] != "float32":
        return "not one of paper 3's networks in float32"
    if _sizes(bundle) not in [_sizes(ours) for ours in here["bundles"] if ours["name"] == bundle["name"]]:
        return "other networks than this run's; export them again with its parameters"
    return ""


def _sizes(bundle: Record) -> dict[Any, tuple[Any, ...]]:
    keys = ("kind", "weights", "macs")
    return {(each["step"], each["code"]): tuple(each[key] for key in keys) for each in bundle["networks"]}


def _refuse_other_machines(name: str, record: Record) -> None:
    hardware, claim = record["hardware"], f"{name}: the record names a {PI3}, but"
    if hardware["machine"] not in _ARM:
        raise RecordError(f"{claim} its processor is {hardware['machine']}: measure on the board itself")
    if hardware["cores"] != CORES:
        raise RecordError(f"{claim} it has {hardware['cores']} cores, not {CORES}: measure on the board itself")
    speed = MACS_PER_CYCLE * CLOCK * min(CORES, record["settings"]["threads"])
    for bundle in record["bundles"]:
        if bundle["precision"] != "float32":  # multiply-adds of 8 bits have another peak
            continue
        macs = {(each["step"], each["code"]): each["macs"] for each in bundle["networks"]}
        for row in bundle["steps"]:
            # the weights may stay in the cache between the calls, so only the multiply-adds limit a repeated step
            needed = macs[row["step"], row["code"]] * row["batch"] / speed
            if row["least"] * _OVERCLOCKED < needed:
                raise RecordError(
                    f"{claim} {bundle['name']}, {row['step']} takes {1000 * row['least']:.3g} ms at batch size "
                    f"{row['batch']}, and the board needs at least {1000 * needed:.3g} ms: measure on the board itself"
                )
