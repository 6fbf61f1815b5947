"""Network traffic as tables of flows: CIC-IDS 2017, and the CSV forms of paper 1's authors.

IoT-23 and IoT Sentinel, which is read from its packets, have modules of their own.
"""

import io
from collections.abc import Sequence
from typing import Any, Literal

import numpy as np
import pandas as pd

from sensorprivacy.datasets.files import Source
from sensorprivacy.datasets.types import Problem

CIC_IDENTIFIERS = ("Flow ID", "Source IP", "Source Port", "Destination IP", "Destination Port", "Protocol", "Timestamp")
CIC_LEFT_OUT = (*CIC_IDENTIFIERS, "Init_Win_bytes_forward", "Init_Win_bytes_backward", "Fwd Header Length.1", "Label")
AmirFeatures = Literal["netml", "nprint"]
_AMIR_STATISTICS = 36


def require_columns(table: pd.DataFrame, wanted: Sequence[str], name: str) -> None:
    """Raise if a table lacks columns.

    Parameters
    ----------
    table : pandas.DataFrame
        The table.
    wanted : sequence of str
        Columns that it must have.
    name : str
        What the message calls the table.

    Raises
    ------
    ValueError
        If any is missing; the message lists them.
    """
    if absent := [column for column in wanted if column not in table]:
        some = ", ".join(map(str, table.columns[:12])) + (", ..." if len(table.columns) > 12 else "")
        raise ValueError(f"{name} has no column {', '.join(map(repr, absent))}; it has {some}")


def cic_problem(source: Source, provenance: dict[str, Any] | None = None) -> Problem:
    """Return the game on CIC-IDS 2017's web attacks: attack or benign = task, source address = user.

    Parameters
    ----------
    source : Source
        Holds CSV files of CICFlowMeter's 84 or 85 columns (``GeneratedLabelledFlows``, or the balanced draw).
    provenance : dict, optional
        Where the file comes from.

    Returns
    -------
    Problem
        74 flow statistics: all columns but the label, seven identifiers (`CIC_IDENTIFIERS`), both Init_Win columns and
        the duplicate of Fwd Header Length. Groups: the time stamp, so that a burst is not on both sides of an honest
        split. Rows with missing or infinite values are dropped, and counted in the provenance.

    Raises
    ------
    ValueError
        If there is no CSV, or one lacks a column.

    References
    ----------
    Sharafaldin, Lashkari, Ghorbani, ICISSP 2018; paper 1, Tables 1, 2 and 6.
    """
    members = sorted(member for member in source.members if member.endswith(".csv"))
    if not members:
        raise ValueError("no CSV file among the members")
    parts = []
    for member in members:
        with source.open(member) as stream:
            part = pd.read_csv(stream, encoding_errors="replace", skipinitialspace=True, low_memory=False)
        part.columns = part.columns.str.strip()
        require_columns(part, [*CIC_IDENTIFIERS, "Label", "Flow Duration"], member)
        parts.append(part)
    table = pd.concat(parts, ignore_index=True)
    features = table.drop(columns=[column for column in CIC_LEFT_OUT if column in table])
    whole = np.isfinite(features.to_numpy(dtype=float)).all(axis=1) & table["Label"].notna().to_numpy()
    table, features = table[whole], features[whole]
    return Problem(
        features,
        task=table["Label"].eq("BENIGN").map({True: "benign", False: "attack"}),
        users=table["Source IP"],
        groups=table["Timestamp"],
        name="cic-ids-2017",
        provenance={**(provenance or {}), "rows_dropped": int((~whole).sum())},
    )


def amir_problem(source: Source, features: AmirFeatures, provenance: dict[str, Any] | None = None) -> Problem:
    """Return the game on AMIR's device identification, from the CSV of paper 1's authors.

    Parameters
    ----------
    source : Source
        Holds one CSV with the columns ``feat_netml`` (36 numbers in brackets), ``user``, ``device`` and
        ``pkt_<packet>_<field>_<bit>``.
    features : {"netml", "nprint"}
        ``netml``: the 36 dense statistics, ``netml_0`` ... ``netml_35``; ``nprint``: the bits, missing = -1.
    provenance : dict, optional
        Where the file comes from.

    Returns
    -------
    Problem
        Device = task, user = user; no groups, as each row is a recording of its own.

    Raises
    ------
    ValueError
        If a column is missing or a row has not 36 statistics.

    References
    ----------
    Paper 1, Tables 10 and 11, section 5.4.2.
    """
    name, table = _single_csv(source)
    require_columns(table, ["user", "device", *(["feat_netml"] if features == "netml" else [])], name)
    found = _bracketed(table["feat_netml"], name) if features == "netml" else _bit_columns(table, name)
    return Problem(
        found,
        task=table["device"],
        users=table["user"],
        name=f"amir-{features}",
        provenance=provenance or {},
    )


def service_problem(source: Source, provenance: dict[str, Any] | None = None) -> Problem:
    """Return the game on service recognition, from the CSV of paper 1's authors.

    Parameters
    ----------
    source : Source
        Holds one CSV with bit columns ``pkt_<packet>_<field>_<bit>``, ``Label`` (the service) and ``ip_label`` (the
        first two octets of the address, or a number for them).
    provenance : dict, optional
        Where the file comes from.

    Returns
    -------
    Problem
        Service = task, ``ip_label`` = user; no groups, as the file does not tell the captures apart.

    Raises
    ------
    ValueError
        If a column is missing.

    References
    ----------
    Paper 1, Tables 1, 2 and 12.
    """
    name, table = _single_csv(source)
    require_columns(table, ["Label", "ip_label"], name)
    return Problem(
        _bit_columns(table, name),
        task=table["Label"],
        users=table["ip_label"],
        name="service-recognition",
        provenance=provenance or {},
    )


def _single_csv(source: Source) -> tuple[str, pd.DataFrame]:
    """Return name and content of the only CSV; bits are read as single bytes, which a float would make eight."""
    members = sorted(member for member in source.members if member.endswith(".csv"))
    if len(members) != 1:
        raise ValueError(f"one CSV file is wanted, there are {len(members)}: {', '.join(members) or 'none'}")
    content = source.read(members[0])
    names = pd.read_csv(io.BytesIO(content), nrows=0).columns
    bits = [column for column in names if column.startswith("pkt_")]
    parts = []
    for part in pd.read_csv(io.BytesIO(content), chunksize=5000):
        kinds = {column: np.float32 if column.endswith("_rts") else np.int8 for column in bits}
        parts.append(part.fillna(dict.fromkeys(bits, -1)).astype(kinds))
    return members[0], pd.concat(parts, ignore_index=True)


def _bit_columns(table: pd.DataFrame, name: str) -> pd.DataFrame:
    columns = [column for column in table if str(column).startswith("pkt_")]
    if not columns:
        raise ValueError(f"{name} has no column that begins with 'pkt_', which the bits of headers do")
    return table[columns]


def _bracketed(texts: pd.Series, name: str) -> pd.DataFrame:
    """Return numbers written as ``[1.0, 2.0 ...]``, one row a text."""
    rows = [np.array(text.strip("[] \n").replace(",", " ").split(), dtype=float) for text in texts]
    for at, row in enumerate(rows):
        if len(row) != _AMIR_STATISTICS:
            raise ValueError(f"{name}: feat_netml of row {at} holds {len(row)} numbers, not {_AMIR_STATISTICS}")
    return pd.DataFrame(np.vstack(rows), columns=[f"netml_{i}" for i in range(_AMIR_STATISTICS)])
