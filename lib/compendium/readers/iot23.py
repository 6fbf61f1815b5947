"""Read IoT-23: labelled flows of malicious and benign IoT traffic, as Zeek logs or as CSV, of any of 23 captures."""

import csv
import re
from collections.abc import Iterator, Sequence
from typing import Any, Literal

import numpy as np
import pandas as pd

from compendium.readers.files import Files
from sensorprivacy.checks import check_choice, require_columns
from sensorprivacy.data import Problem

IOT23_FEATURES = (
    *("duration", "orig_bytes", "resp_bytes", "conn_state", "history"),
    *("orig_pkts", "orig_ip_bytes", "resp_pkts", "resp_ip_bytes"),
)
IOT23_CODED = ("conn_state", "history")
_LABELS = ("id.orig_h", "label", "detailed-label")
_CAPTURE = re.compile(r"CTU-(?:IoT-)?(?:Honeypot|Malware)-Capture-(\d+-\d+)")
_JOINED = re.compile(r"tunnel_parents\s+label\s+detailed-label")
Form = Literal["auto", "csv", "zeek"]
_CHUNK = 200_000  # rows read at a time


def iot23_flows(
    files: Files, captures: Sequence[str] | None = None, form: Form = "auto", sample: int | None = None, seed: int = 42
) -> pd.DataFrame:
    """Return the flows of IoT-23 captures.

    Parameters
    ----------
    files : Files
        Contains Zeek's ``conn.log.labeled`` files, or CSV files with the same columns. The path of a file contains the
        name of its capture (``CTU-IoT-Malware-Capture-34-1``).
    captures : sequence of str, optional
        Captures to read (``"34-1"``); by default all.
    form : {"auto", "csv", "zeek"}
        Files to read; ``auto`` prefers the CSV file if a capture has both.
    sample : int, optional
        Draw at most this many flows at random. Memory holds only a few times as many: the 23 captures have 325 million.
    seed : int
        Seed of this draw.

    Returns
    -------
    pandas.DataFrame
        `IOT23_FEATURES` (missing if Zeek left a field unset), ``id.orig_h``, ``label`` (benign or malicious),
        ``detailed-label``, ``capture``. Captures are in the order of `captures` or of their files' names, flows in the
        order of their file.

    Raises
    ------
    ValueError
        If a capture is missing, a file lacks a column, `form` is unknown, or `sample` is not positive.
    """
    check_choice("form", form, Form)
    if sample is not None and sample < 1:
        raise ValueError(f"sample must be at least 1, got {sample}")
    chosen = _capture_files(files, captures, form)
    chance = np.random.default_rng(seed)
    kept, held = [], 0
    for capture, member in chosen.items():
        for part in _conn_log(files, member):
            kept.append(part.assign(capture=capture, drawn=chance.random(len(part))))
            held += len(part)
            if sample is not None and held > 2 * sample + _CHUNK:
                kept = [_draw(kept, sample)]
                held = sample
    table = pd.concat(kept, ignore_index=True) if sample is None else _draw(kept, sample)
    return table.drop(columns="drawn").reset_index(drop=True)


def _draw(parts: list[pd.DataFrame], sample: int) -> pd.DataFrame:
    """Return the rows with the smallest random numbers, in their order: a uniform sample."""
    table = pd.concat(parts, ignore_index=True)
    return table.loc[table["drawn"].nsmallest(sample).index.sort_values()]


def _capture_files(files: Files, captures: Sequence[str] | None, form: Form) -> dict[str, str]:
    """Return the file of each requested capture."""
    found: dict[str, str] = {}
    for member in sorted(files.members, key=lambda path: (not path.endswith(".csv"), path)):
        match = _CAPTURE.search(member)
        kind = "csv" if member.endswith(".csv") else "zeek" if member.endswith("conn.log.labeled") else None
        if match and kind and form in ("auto", kind):
            found.setdefault(match[1], member)
    there = list(found)
    wanted = there if captures is None else list(captures)
    if absent := [capture for capture in wanted if capture not in found]:
        raise ValueError(f"no {form} file of capture {', '.join(absent)}; there are {', '.join(there) or 'none'}")
    if not wanted:
        raise ValueError("no IoT-23 capture among the files: a path must hold a name like CTU-IoT-Malware-Capture-34-1")
    return {capture: found[capture] for capture in wanted}


def _conn_log(files: Files, name: str) -> Iterator[pd.DataFrame]:
    """Yield the used columns of one file, part by part."""
    how, columns = _layout(files, name)
    require_columns(columns, [*IOT23_FEATURES, "id.orig_h"], name)
    joined = next((column for column in columns if _JOINED.fullmatch(column)), None)
    labels = [joined] if joined else ["label", "detailed-label"]
    require_columns(columns, labels, name)
    with files.open(name) as stream:
        chosen = [columns[0], *IOT23_FEATURES, "id.orig_h", *labels]
        how |= {"names": columns, "usecols": chosen, "na_values": "-", "dtype": str, "chunksize": _CHUNK}
        for rows in pd.read_csv(stream, **how):
            part = rows[~rows[columns[0]].str.startswith("#", na=False)].reset_index(drop=True)  # Zeek's #close
            if joined:  # spaces instead of tabs separate the last three columns
                parted = part[joined].str.split(r"\s+", n=2, expand=True, regex=True)
                part = part.assign(**{"label": parted[1], "detailed-label": parted[2]})
            yield _typed(part[[*IOT23_FEATURES, *_LABELS]].copy())


def _layout(files: Files, name: str) -> tuple[dict[str, Any], list[str]]:
    """Return the options with which pandas reads one file, and its columns."""
    with files.open(name) as stream:
        first = stream.readline().decode()
        if not first.startswith("#"):
            return {"skiprows": 1}, next(csv.reader([first.strip()]), [])
        columns: list[str] = []
        lines = 1
        while (text := stream.readline().decode()).startswith("#"):
            lines += 1
            if text.startswith("#fields"):
                columns = text.strip().split("\t")[1:]
    if not columns:
        raise ValueError(f"{name} has no line #fields before its first flow: it is no Zeek log")
    return {"skiprows": lines, "sep": "\t", "quoting": csv.QUOTE_NONE}, columns


def _typed(table: pd.DataFrame) -> pd.DataFrame:
    table["label"] = table["label"].str.strip().str.lower()
    table["detailed-label"] = table["detailed-label"].str.strip().fillna("-")
    for column in IOT23_FEATURES:
        if column not in IOT23_CODED:
            table[column] = pd.to_numeric(table[column])
    return table


def iot23_problem(
    files: Files,
    *,
    captures: Sequence[str] | None = None,
    form: Form = "auto",
    sample: int | None = None,
    seed: int = 42,
) -> Problem:
    """Return the problem on IoT-23: malicious or benign = task, source host = user, capture = group.

    Parameters
    ----------
    files, captures, form, sample, seed
        See `iot23_flows`. The sample is drawn before rows with missing values are dropped. Paper 1 drew 1,000,000 flows
        of all 23 captures; 275,551 of them had no missing value.

    Returns
    -------
    Problem
        Nine features (`IOT23_FEATURES`); conn_state and history become the number of their category in sorted order.
        Rows with a missing value are dropped.

    Raises
    ------
    ValueError
        As `iot23_flows`; or if every flow has a missing value.

    References
    ----------
    Garcia, Parmisano, Erquiaga, IoT-23, 2020; paper 1, Tables 1, 2 and 4.
    """
    table = iot23_flows(files, captures, form, sample, seed)
    whole = table.dropna(subset=[*IOT23_FEATURES, "id.orig_h", "label"]).reset_index(drop=True)
    if whole.empty:
        raise ValueError(f"every one of the {len(table)} flows has a missing value")
    codes = {column: whole[column].astype("category").cat.codes.astype(np.int64) for column in IOT23_CODED}
    found = table["capture"].unique().tolist()
    return Problem(
        whole[list(IOT23_FEATURES)].assign(**codes),
        task=whole["label"],
        users=whole["id.orig_h"],
        groups=whole["capture"],
        name="iot-23",
        provenance={"captures": found, "flows": len(table), "rows_dropped": len(table) - len(whole)},
    )
