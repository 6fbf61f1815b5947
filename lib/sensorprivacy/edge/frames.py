"""Records of boards as tables, for the notebook."""

from collections.abc import Mapping
from typing import Any

import pandas as pd

from sensorprivacy.edge.bounds import lower_bound

#: The bundle behind each of paper 3's tables, and the batch that the paper timed it at.
TABLES = {"4": "motionsense-gender", "5": "mobiact-gender", "6": "mobiact-weight", "7": "rivals"}
BATCHES = {"4": 256, "5": 256, "6": 256, "7": 128}


def steps_frame(record: Mapping[str, Any]) -> pd.DataFrame:
    """Return the steps of a record, one row a bundle, step and batch.

    Returns
    -------
    pandas.DataFrame
        ``bundle``, ``step``, ``code``, ``row`` (as paper 3's tables call it), ``kind``, ``batch``; ``median``, ``p95``,
        ``p99``, ``least``, ``cpu`` in seconds a window; ``load`` in seconds; ``bytes``, ``weights``, ``macs``;
        ``bound``: the least seconds a window on a Raspberry Pi 3 with all cores.
    """
    rows = []
    for bundle in record["bundles"]:
        networks = {(each["step"], each["code"]): each for each in bundle["networks"]}
        loads = {(each["step"], each["code"]): each["median"] for each in bundle["load"]}
        for timed in bundle["steps"]:
            key, batch = (timed["step"], timed["code"]), timed["batch"]
            network = networks[key]
            rows.append(
                {
                    "bundle": bundle["name"],
                    "step": key[0],
                    "code": key[1],
                    "row": row_name(key[0], key[1], bundle["attribute"]),
                    "kind": network["kind"],
                    "batch": batch,
                    **{name: timed[name] / batch for name in ("median", "p95", "p99", "least", "cpu")},
                    "load": loads[key],
                    **{name: network[name] for name in ("bytes", "weights", "macs")},
                    "bound": lower_bound(network, batch, cores=4, precision=bundle["precision"]),
                }
            )
    return pd.DataFrame(rows).astype({"code": "Int64"})


def row_name(step: str, code: int | None, attribute: str) -> str:
    """Return what claim ids call a step: activity, gender, weight, encoder-0, ..."""
    name = {"public": "activity", "private": attribute}.get(step, step)
    return name if code is None else f"{name}-{code}"


def paper_rows(record: Mapping[str, Any]) -> pd.DataFrame:
    """Return the steps that stand in paper 3's Tables 4 to 7, at the paper's batch sizes, with the column ``table``."""
    steps = steps_frame(record)
    parts = [
        steps[(steps["bundle"] == name) & (steps["batch"] == BATCHES[table])].assign(table=table)
        for table, name in TABLES.items()
    ]
    found = pd.concat(parts, ignore_index=True)
    return found[found["step"] != "transformation"].reset_index(drop=True)


def step_totals(rows: pd.DataFrame, column: str) -> pd.Series:
    """Return milliseconds a window of each kind of step, the slowest of a kind: what `worst_case` adds up.

    Parameters
    ----------
    rows : pandas.DataFrame
        Steps of one bundle or one of paper 3's tables, with ``row``, at one batch size.
    column : str
        Seconds a window.
    """
    kinds = rows["row"].str.replace(r"-\d$", "", regex=True)
    slow = 1000 * rows[column].groupby(kinds).max()
    named = {"activity": "public inference", "gender": "private inference", "weight": "private inference"}
    return slow.rename(index=lambda kind: named.get(kind, kind))


def time_shares(printed: pd.DataFrame, steps: pd.DataFrame, name: str) -> pd.DataFrame:
    """Return milliseconds of each kind of step, one row a source: the printed tables, ours, a Pi 3 at best.

    Ours are processor times.

    Parameters
    ----------
    printed : pandas.DataFrame
        ``table``, ``row`` and ``printed`` of Tables 4 to 6, in seconds a window.
    steps : pandas.DataFrame
        Steps of one bundle, as `steps_frame` gives them.
    name : str
        What the bundle is called.
    """
    tables = printed[printed["table"] != "7"].groupby("table")
    rows = {f"Pi 3 as printed, Table {table}": step_totals(part, "printed") for table, part in tables}
    for size in (256, 1):
        rows[f"here, {name}, batch {size}"] = step_totals(steps[steps["batch"] == size], "cpu")
    rows["Pi 3 at best, batch 1"] = step_totals(steps[steps["batch"] == 1], "bound")
    order = ["public inference", "private inference", "encoder", "transformation", "decoder"]
    return pd.DataFrame(rows).T.reindex(columns=order).fillna(0.0)


def budget_shares(records: Mapping[str, Mapping[str, Any]]) -> dict[str, float]:
    """Return, by data set, the greatest share of its budget that a window takes.

    Of the 99th percentiles of all records, and of the sum of a Raspberry Pi 3's lower bounds at batch 1 on one core.
    Without a record there is nothing to return: a bound from below does not tell that a board keeps up.
    """
    shares: dict[str, float] = {}
    for record in records.values():
        for bundle in record["bundles"]:
            if bundle["window"] is None:
                continue
            parts: dict[str, float] = {}
            for network in bundle["networks"]:
                bound = lower_bound(network, 1, precision=bundle["precision"])
                parts[network["step"]] = max(parts.get(network["step"], 0.0), bound)
            most = max(bundle["window"]["p99"], sum(parts.values())) / bundle["budget"]
            shares[bundle["dataset"]] = max(shares.get(bundle["dataset"], 0.0), most)
    return shares


def windows_frame(records: Mapping[str, Mapping[str, Any]]) -> pd.DataFrame:
    """Return what a whole window takes at batch 1, one row a record and bundle: milliseconds, share of the budget."""
    rows = []
    for name, record in records.items():
        for bundle in record["bundles"]:
            if bundle["window"] is None:
                continue
            took, budget = bundle["window"], bundle["budget"]
            rows.append(
                {
                    "machine": name,
                    "cpu": record["hardware"]["cpu"],
                    "bundle": bundle["name"],
                    "windows": bundle["samples"],
                    "median_ms": 1000 * took["median"],
                    "p95_ms": 1000 * took["p95"],
                    "p99_ms": 1000 * took["p99"],
                    "budget_ms": 1000 * budget,
                    "share_of_budget": took["p99"] / budget,
                }
            )
    return pd.DataFrame(rows)


def worst_case(rows: pd.DataFrame, column: str) -> pd.Series:
    """Return seconds a window in the worst case, by table, as section 6 adds them up.

    The inference models, the slowest encoder and the slowest decoder; in Table 7 everything.
    """

    def total(part: pd.DataFrame) -> float:
        slow = part.groupby(part["row"].str.replace(r"-\d$", "", regex=True))[column].max()
        return float(slow.sum())

    return pd.Series({table: total(part) for table, part in rows.groupby("table")}, name=column).rename_axis("table")


def hardware_frame(records: Mapping[str, Mapping[str, Any]]) -> pd.DataFrame:
    """Return what each machine is, one row a machine."""
    rows = {
        name: {
            **record["hardware"],
            "threads": record["settings"]["threads"],
            "most_memory_mb": record["memory"] / 2**20,
        }
        for name, record in records.items()
    }
    return pd.DataFrame.from_dict(rows, orient="index").rename_axis("machine")
