"""IoT-23: labelled flows of malicious and benign IoT traffic, as Zeek wrote them or as CSV; any of the 23 captures."""

import csv
import re
from collections.abc import Iterator, Sequence
from typing import Any, Literal, get_args

import numpy as np
import pandas as pd

from sensorprivacy.datasets.files import Source
from sensorprivacy.datasets.readers.traffic import require_columns
from sensorprivacy.datasets.types import Problem

IOT23_FEATURES = (
    "duration",
    "orig_bytes",
    "resp_bytes",
    "conn_state",
    "history",
    "orig_pkts",
    "orig_ip_bytes",
    "resp_pkts",
    "resp_ip_bytes",
)
IOT23_CODED = ("conn_state", "history")
_IOT23_LABELS = ("id.orig_h", "label", "detailed-label")
_IOT23_CAPTURE = re.compile(r"CTU-(?:IoT-)?(?:Honeypot|Malware)-Capture-(\d+-\d+)")
_IOT23_JOINED = re.compile(r"tunnel_parents\s+label\s+detailed-label")
Form = Literal["auto", "csv", "zeek"]
_CHUNK = 200_000  # rows read at a time


def iot23_flows(
    source: Source,
    captures: Sequence[str] | None = None,
    form: Form = "auto",
    sample: int | None = None,
    seed: int = 42,
) -> pd.DataFrame:
    """Return the flows of IoT-23 captures as their files hold them.

    Parameters
    ----------
    source : Source
        Holds ``conn.log.labeled`` files as Zeek wrote them, or CSV with the same columns; any of the 23 captures. The
        path of a file names its capture (``CTU-IoT-Malware-Capture-34-1``).
    captures : sequence of str, optional
        Which captures (``"34-1"``), by default all there are.
    form : {"auto", "csv", "zeek"}
        Which files; ``auto`` takes the CSV of a capture where there are both.
    sample : int, optional
        Draw at most so many flows at random, without ever holding many more: the 23 captures have 325 million.
    seed : int
        Of that draw.

    Returns
    -------
    pandas.DataFrame
        `IOT23_FEATURES` (missing where Zeek left a field unset), ``id.orig_h``, ``label`` (benign or malicious),
        ``detailed-label``, ``capture``; captures in the order of their files' names (or of `captures`), flows in
        that of their file.

    Raises
    ------
    ValueError
        If a capture is not there, a file lacks a column, `form` is unknown, or `sample` is not positive.
    """
    if form not in get_args(Form):
        raise ValueError(f"form {form!r} is unknown, one of {', '.join(get_args(Form))}")
    if sample is not None and sample < 1:
        raise ValueError(f"sample must be at least 1, got {sample}")
    files = _capture_files(source, captures, form)
    chance = np.random.default_rng(seed)
    kept, held = [], 0
    for capture, member in files.items():
        for part in _conn_log(source, member):
            kept.append(part.assign(capture=capture, drawn=chance.random(len(part))))
            held += len(part)
            if sample is not None and held > 2 * sample + _CHUNK:
                kept = [_draw(kept, sample)]
                held = sample
    table = pd.concat(kept, ignore_index=True) if sample is None else _draw(kept, sample)
    return table.drop(columns="drawn").reset_index(drop=True)


def _draw(parts: list[pd.DataFrame], sample: int) -> pd.DataFrame:
    """Return the rows with the smallest of the numbers drawn for them, in their order: a uniform sample."""
    table = pd.concat(parts, ignore_index=True)
    return table.loc[table["drawn"].nsmallest(sample).index.sort_values()]


def _capture_files(source: Source, captures: Sequence[str] | None, form: Form) -> dict[str, str]:
    """Return the file of each capture that is wanted."""
    found: dict[str, str] = {}
    for member in sorted(source.members, key=lambda path: (not path.endswith(".csv"), path)):
        match = _IOT23_CAPTURE.search(member)
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


def _conn_log(source: Source, name: str) -> Iterator[pd.DataFrame]:
    """Yield the columns that are used of one file, part by part."""
    how, columns = _layout(source, name)
    require_columns(pd.DataFrame(columns=columns), [*IOT23_FEATURES, "id.orig_h"], name)
    joined = next((column for column in columns if _IOT23_JOINED.fullmatch(column)), None)
    labels = [joined] if joined else ["label", "detailed-label"]
    require_columns(pd.DataFrame(columns=columns), labels, name)
    with source.open(name) as stream:
        chosen = [columns[0], *IOT23_FEATURES, "id.orig_h", *labels]
        how |= {"names": columns, "usecols": chosen, "na_values": "-", "dtype": str, "chunksize": _CHUNK}
        for rows in pd.read_csv(stream, **how):
            part = rows[~rows[columns[0]].str.startswith("#", na=False)].reset_index(drop=True)  # Zeek's #close
            if joined:  # the last three columns stand in one, parted by spaces instead of tabs
                parted = part[joined].str.split(r"\s+", n=2, expand=True, regex=True)
                part = part.assign(**{"label": parted[1], "detailed-label": parted[2]})
            yield _typed(part[[*IOT23_FEATURES, *_IOT23_LABELS]].copy())


def _layout(source: Source, name: str) -> tuple[dict[str, Any], list[str]]:
    """Return how pandas reads one file, and its columns."""
    with source.open(name) as stream:
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
    source: Source,
    captures: Sequence[str] | None = None,
    form: Form = "auto",
    sample: int | None = None,
    seed: int = 42,
    provenance: dict[str, Any] | None = None,
) -> Problem:
    """Return the game on IoT-23: malicious or benign = task, source host = user, capture = group.

    Parameters
    ----------
    source, captures, form, sample, seed
        See `iot23_flows`. The sample is drawn before rows with missing values are dropped: paper 1 drew 1,000,000 flows
        of all 23 captures, of which 275,551 had none.
    provenance : dict, optional
        Where the files come from.

    Returns
    -------
    Problem
        Nine features (`IOT23_FEATURES`), conn_state and history as numbers of their category in sorted order; rows with
        a missing value are dropped.

    Raises
    ------
    ValueError
        As `iot23_flows`; or if every flow has a missing value.

    References
    ----------
    Garcia, Parmisano, Erquiaga, IoT-23, 2020; paper 1, Tables 1, 2 and 4.
    """
    table = iot23_flows(source, captures, form, sample, seed)
    whole = table.dropna(subset=[*IOT23_FEATURES, "id.orig_h", "label"]).reset_index(drop=True)
    if whole.empty:
        raise ValueError(f"every one of the {len(table)} flows has a missing value")
    codes = {column: whole[column].astype("category").cat.codes.astype(np.int64) for column in IOT23_CODED}
    return Problem(
        whole[list(IOT23_FEATURES)].assign(**codes),
        task=whole["label"],
        users=whole["id.orig_h"],
        groups=whole["capture"],
        name="iot-23",
        provenance={
            **(provenance or {}),
            "captures": table["capture"].unique().tolist(),
            "flows": len(table),
            "rows_dropped": len(table) - len(whole),
        },
    )
