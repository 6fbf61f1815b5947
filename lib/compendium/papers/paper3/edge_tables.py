"""Turn records of measurements into tables, with the least time that a step can take on the paper's Raspberry Pi 3.

A step is never faster than its multiply-adds at the processor's peak, or than the transfer of its weights from memory.
Real code reaches neither limit, so the bound is no forecast. The ratio of a printed time to the bound shows how much of
that time the networks explain.

A record of another machine or of other networks must not decide a printed value. Such records are left out and named. A
record that contradicts itself is refused.
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

import pandas as pd

from compendium.papers.paper3.records import RecordError, read_records
from compendium.papers.paper3.values import printed_code

#: The bundle behind each of paper 3's tables, and the batch size of the paper's measurement.
TABLES = {"4": "motionsense-gender", "5": "mobiact-gender", "6": "mobiact-weight", "7": "rivals"}
BATCHES = {"4": 256, "5": 256, "6": 256, "7": 128}
Records = Mapping[str, Mapping[str, Any]]


def steps_table(record: Mapping[str, Any]) -> pd.DataFrame:
    """Return the times of a record, one row per bundle, step and batch size.

    Returns
    -------
    pandas.DataFrame
        ``bundle``, ``step``, ``code``, ``row`` (as in paper 3's tables), ``kind``, ``batch``; ``median``, ``p95``,
        ``p99``, ``least``, ``cpu`` in seconds per window; ``load`` in seconds; ``bytes``, ``weights``, ``macs``;
        ``bound``: the least seconds per window on a Raspberry Pi 3 with all cores.
    """
    rows = []
    for bundle in record["bundles"]:
        networks = {(each["step"], each["code"]): each for each in bundle["networks"]}
        loads = {(each["step"], each["code"]): each["median"] for each in bundle["load"]}
        for timed in bundle["steps"]:
            step, code, batch = timed["step"], timed["code"], timed["batch"]
            network = networks[step, code]
            rows.append(
                {"bundle": bundle["name"], "step": step, "code": code}
                | {"row": row_name(step, printed_code(bundle["dataset"], code), bundle["attribute"])}
                | {"kind": network["kind"], "batch": batch}
                | {name: timed[name] / batch for name in ("median", "p95", "p99", "least", "cpu")}
                | {"load": loads[step, code]}
                | {name: network[name] for name in ("bytes", "weights", "macs")}
                | {"bound": lower_bound(network, batch, cores=4, precision=bundle["precision"])}
            )
    return pd.DataFrame(rows).astype({"code": "Int64"})


def all_steps(records: Records) -> pd.DataFrame:
    """Return the times of all records in microseconds per window, and milliseconds to load, one row per step."""
    steps = pd.concat({name: steps_table(record) for name, record in records.items()}, names=["machine"])
    times = {f"{name}_us": 1e6 * steps[name] for name in ("median", "p95", "p99")}
    shown = ["bundle", "row", "kind", "batch", *times, "load_ms", "bytes", "weights", "macs"]
    return steps.assign(**times, load_ms=1000 * steps["load"])[shown].reset_index("machine")


def paper_rows(record: Mapping[str, Any]) -> pd.DataFrame:
    """Return the steps of paper 3's Tables 4 to 7 at the paper's batch sizes, with the column ``table``."""
    steps = steps_table(record)
    steps = steps[steps["step"] != "transformation"]
    parts = [
        steps[(steps["bundle"] == name) & (steps["batch"] == BATCHES[table])].assign(table=table)
        for table, name in TABLES.items()
    ]
    return pd.concat(parts, ignore_index=True)


def step_totals(rows: pd.DataFrame, column: str) -> pd.Series:
    """Return the milliseconds per window of each kind of step, for the slowest step of the kind.

    Parameters
    ----------
    rows : pandas.DataFrame
        Steps of one bundle or of one of paper 3's tables, with ``row``, at one batch size.
    column : str
        Column with the seconds per window.
    """
    slowest = 1000 * rows[column].groupby(_kinds(rows)).max()
    names = {"activity": "public inference", "gender": "private inference", "weight": "private inference"}
    return slowest.rename(index=lambda kind: names.get(kind, kind))


def worst_case(rows: pd.DataFrame, column: str) -> pd.Series:
    """Return the seconds per window in the worst case, by table, as section 6 adds them up.

    The sum takes the inference models, the slowest encoder and the slowest decoder; in Table 7 all steps.
    """
    slowest = rows[column].groupby([rows["table"], _kinds(rows)]).max()
    return slowest.groupby("table").sum()


def time_shares(printed: pd.DataFrame, steps: pd.DataFrame, name: str) -> pd.DataFrame:
    """Return the milliseconds of each kind of step: as printed, measured here (processor time), and the lower bound.

    Parameters
    ----------
    printed : pandas.DataFrame
        ``table``, ``row`` and ``printed`` of Tables 4 to 6, in seconds per window.
    steps : pandas.DataFrame
        Steps of one bundle, as `steps_table` returns them.
    name : str
        Name of the bundle.
    """
    tables = printed[printed["table"] != "7"].groupby("table")
    rows = {f"Pi 3 as printed, Table {table}": step_totals(part, "printed") for table, part in tables}
    for size in (256, 1):
        rows[f"here, {name}, batch {size}"] = step_totals(steps[steps["batch"] == size], "cpu")
    rows["Pi 3 at best, batch 1"] = step_totals(steps[steps["batch"] == 1], "bound")
    order = ["public inference", "private inference", "encoder", "transformation", "decoder"]
    return pd.DataFrame(rows).T.reindex(columns=order).fillna(0.0)


def budget_shares(records: Records) -> dict[str, float]:
    """Return, by data set, the greatest share of its time budget that a window takes.

    It covers the 99th percentile of each record, and the sum of a Raspberry Pi 3's lower bounds at batch size 1 on one
    core. Without a record the result is empty: a lower bound cannot show that a board keeps up.
    """
    shares: dict[str, float] = {}
    for _, _, bundle in _whole_pipelines(records):
        networks = pd.DataFrame(bundle["networks"])
        bounds = networks.apply(lower_bound, axis=1, batch=1, precision=bundle["precision"])
        slowest = bounds.groupby(networks["step"]).max().sum()
        share = max(bundle["window"]["p99"], slowest) / bundle["budget"]
        shares[bundle["dataset"]] = max(shares.get(bundle["dataset"], 0.0), share)
    return shares


def windows_table(records: Records) -> pd.DataFrame:
    """Return the milliseconds of a whole window and its share of the budget, one row per record and bundle."""
    rows = []
    for name, record, bundle in _whole_pipelines(records):
        row = {"label": f"{name}, {bundle['name']}", "machine": name, "cpu": record["hardware"]["cpu"]}
        row |= {"bundle": bundle["name"], "windows": bundle["samples"]}
        row |= {f"{part}_ms": 1000 * bundle["window"][part] for part in ("median", "p95", "p99")}
        share = bundle["window"]["p99"] / bundle["budget"]
        rows.append(row | {"budget_ms": 1000 * bundle["budget"], "share_of_budget": share})
    return pd.DataFrame(rows)


def hardware_table(records: Records) -> pd.DataFrame:
    """Describe each machine, one row per record."""
    rows = {}
    for name, record in records.items():
        used = {"threads": record["settings"]["threads"], "most_memory_mb": record["memory"] / 2**20}
        rows[name] = record["hardware"] | used
    return pd.DataFrame.from_dict(rows, orient="index").rename_axis("machine")


def _whole_pipelines(records: Records) -> Iterator[tuple[str, Mapping[str, Any], Mapping[str, Any]]]:
    """Yield name, record and bundle for each bundle of which whole windows were timed."""
    for name, record in records.items():
        for bundle in record["bundles"]:
            if bundle["window"] is not None:
                yield name, record, bundle


def row_name(step: str, code: int | None, attribute: str) -> str:
    """Return a step's name as in claim ids: activity, gender, weight, encoder-0, ..."""
    name = {"public": "activity", "private": attribute}.get(step, step)
    return name if code is None else f"{name}-{code}"


def _kinds(rows: pd.DataFrame) -> pd.Series:
    return rows["row"].str.replace(r"-\d$", "", regex=True)


PI3 = "Raspberry Pi 3 Model B"
# Raspberry Pi documentation, processors: BCM2837, four Cortex-A53 at 1.2 GHz, 512 KB level 2 cache
CORES = 4
CLOCK = 1.2e9  # Hz
# ncnn, developer guide on Cortex-A53: a core starts one fmla of four float32 per cycle
MACS_PER_CYCLE = 4
# Raspberry Pi 3 Model B, product brief: 1 GB of LPDDR2 at 900 MT/s; a 32-bit bus moves at most 3.6 GB/s
BANDWIDTH = 3.6e9  # bytes per second
_BYTES = {"float32": 4, "int8": 1}


def lower_bound(
    network: Mapping[str, float] | pd.Series, batch: int, *, cores: int = 1, precision: str = "float32"
) -> float:
    """Return the least seconds per window that a step can take on a Raspberry Pi 3.

    Parameters
    ----------
    network : mapping
        ``weights`` and ``macs`` (multiply-adds per window) of the step, as in a record.
    batch : int
        Windows per call. Every call reads the weights from memory once.
    cores : int
        Number of cores in use.
    precision : {"float32", "int8"}
        Precision of the weights. Multiply-adds count at the peak of float32 for both.

    Raises
    ------
    ValueError
        If the board has fewer cores, or the batch is empty.
    """
    if batch < 1 or not 1 <= cores <= CORES:
        raise ValueError(f"batch={batch}, cores={cores}: use a batch of at least 1; {PI3} has 1 to {CORES} cores")
    # A pipeline's weights are many times the cache, so every call reads them from memory. Windows and values between
    # layers may stay in the cache, and a lower bound must allow for that.
    memory = network["weights"] * _BYTES[precision] / BANDWIDTH
    arithmetic = network["macs"] * batch / (cores * MACS_PER_CYCLE * CLOCK)
    return max(arithmetic, memory) / batch  # the two overlap


Record = Mapping[str, Any]
_UNUSED = "Not compared with the printed seconds"
_ARM = ("aarch64", "arm64", "armv7l", "armv8l")
_OVERCLOCKED = 2.0  # no Raspberry Pi 3 runs at twice its clock


def read_boards(paths: Iterable[Path | str]) -> dict[str, dict[str, Any]]:
    """Read records and return them by name, see `records.read_records`.

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
                board = record["hardware"].get("board") or "an unknown board"
                unused.append(f"{_UNUSED}: {name}: {board}, not a {PI3}")
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
