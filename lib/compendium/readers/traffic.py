"""Read tables of network traffic: CIC-IDS 2017, and the CSV files of paper 1's authors (AMIR, service recognition)."""

import io

import numpy as np
import pandas as pd

from compendium.readers.files import Files
from sensorprivacy.checks import require_columns
from sensorprivacy.data import Problem

CIC_IDENTIFIERS = ("Flow ID", "Source IP", "Source Port", "Destination IP", "Destination Port", "Protocol", "Timestamp")
CIC_LEFT_OUT = (*CIC_IDENTIFIERS, "Init_Win_bytes_forward", "Init_Win_bytes_backward", "Fwd Header Length.1", "Label")
_AMIR_STATISTICS = 36


def cic_problem(files: Files) -> Problem:
    """Return the problem on CIC-IDS 2017's web attacks: attack or benign = task, source address = user.

    Parameters
    ----------
    files : Files
        Contains CSV files with CICFlowMeter's 84 or 85 columns (``GeneratedLabelledFlows``, or the balanced sample).

    Returns
    -------
    Problem
        74 flow statistics: all columns except the label, seven identifiers (`CIC_IDENTIFIERS`), both Init_Win columns
        and the duplicate of Fwd Header Length. Groups are the time stamps, so that a group split keeps bursts together.
        Rows with missing or infinite values are dropped; the provenance has their number.

    Raises
    ------
    ValueError
        If there is no CSV file, or one lacks a column.

    References
    ----------
    Sharafaldin, Lashkari, Ghorbani, ICISSP 2018; paper 1, Tables 1, 2 and 6.
    """
    members = sorted(member for member in files.members if member.endswith(".csv"))
    if not members:
        raise ValueError("there is no CSV file")
    parts = []
    for member in members:
        with files.open(member) as stream:
            part = pd.read_csv(stream, encoding_errors="replace", skipinitialspace=True, low_memory=False)
        part.columns = part.columns.str.strip()
        require_columns(part.columns, [*CIC_IDENTIFIERS, "Label", "Flow Duration"], member)
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
        provenance={"rows_dropped": int((~whole).sum())},
    )


def amir_netml_problem(files: Files) -> Problem:
    """Return the problem on AMIR's device identification with 36 dense statistics: device = task, user = user.

    Parameters
    ----------
    files : Files
        Contains one CSV file with the columns ``feat_netml`` (36 numbers in brackets), ``user`` and ``device``.

    Returns
    -------
    Problem
        Columns ``netml_0`` ... ``netml_35``; no groups, because each row is a recording of its own.

    Raises
    ------
    ValueError
        If a column is missing, or a row has not 36 statistics.

    References
    ----------
    Paper 1, Tables 10 and 11, section 5.4.2.
    """
    name, table = _single_csv(files)
    require_columns(table.columns, ["user", "device", "feat_netml"], name)
    features = _bracketed(table["feat_netml"], name)
    return Problem(features, task=table["device"], users=table["user"], name="amir-netml")


def amir_nprint_problem(files: Files) -> Problem:
    """Return the problem on AMIR's device identification with header bits; missing bits are -1.

    Parameters
    ----------
    files : Files
        Contains one CSV file with the columns ``user``, ``device`` and ``pkt_<packet>_<field>_<bit>``.

    Returns
    -------
    Problem
        As `amir_netml_problem`, but the features are the bits.
    """
    name, table = _single_csv(files)
    require_columns(table.columns, ["user", "device"], name)
    return Problem(_bit_columns(table, name), task=table["device"], users=table["user"], name="amir-nprint")


def service_problem(files: Files) -> Problem:
    """Return the problem on service recognition: service = task, ``ip_label`` = user.

    Parameters
    ----------
    files : Files
        Contains one CSV file with bit columns ``pkt_<packet>_<field>_<bit>``, ``Label`` (the service) and ``ip_label``
        (the first two octets of the address, or a number for them).

    Returns
    -------
    Problem
        No groups, because the file does not identify the captures.

    Raises
    ------
    ValueError
        If a column is missing.

    References
    ----------
    Paper 1, Tables 1, 2 and 12.
    """
    name, table = _single_csv(files)
    require_columns(table.columns, ["Label", "ip_label"], name)
    features = _bit_columns(table, name)
    return Problem(features, task=table["Label"], users=table["ip_label"], name="service-recognition")


def _single_csv(files: Files) -> tuple[str, pd.DataFrame]:
    """Return name and content of the only CSV file. A bit becomes one byte; as a float it would take eight."""
    members = sorted(member for member in files.members if member.endswith(".csv"))
    if len(members) != 1:
        raise ValueError(f"there must be one CSV file, but there are {len(members)}: {', '.join(members) or 'none'}")
    content = files.read(members[0])
    names = pd.read_csv(io.BytesIO(content), nrows=0).columns
    types = {name: np.float32 if name.endswith("_rts") else np.int8 for name in names if name.startswith("pkt_")}
    parts = [
        part.fillna(dict.fromkeys(types, -1)).astype(types) for part in pd.read_csv(io.BytesIO(content), chunksize=5000)
    ]
    return members[0], pd.concat(parts, ignore_index=True)


def _bit_columns(table: pd.DataFrame, name: str) -> pd.DataFrame:
    columns = [column for column in table if str(column).startswith("pkt_")]
    if not columns:
        raise ValueError(f"{name} has no column that begins with 'pkt_', so it has no header bits")
    return table[columns]


def _bracketed(texts: pd.Series, name: str) -> pd.DataFrame:
    """Return the numbers in texts such as ``[1.0, 2.0 ...]``, one row for each text."""
    rows = [np.array(text.strip("[] \n").replace(",", " ").split(), dtype=float) for text in texts]
    for at, row in enumerate(rows):
        if len(row) != _AMIR_STATISTICS:
            raise ValueError(f"{name}: feat_netml of row {at} has {len(row)} numbers, not {_AMIR_STATISTICS}")
    return pd.DataFrame(np.vstack(rows), columns=[f"netml_{i}" for i in range(_AMIR_STATISTICS)])
