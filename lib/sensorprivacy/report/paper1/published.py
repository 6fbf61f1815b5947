"""Values for paper 1 from what its authors published: the logs of their searches, and facts from their notebooks.

They answer the cells of data sets whose rows nobody else can get (`values.FROM_LOGS`).
"""

import re
from collections.abc import Mapping
from typing import Any

import pandas as pd

from sensorprivacy.report.paper1.text import log_matches
from sensorprivacy.report.paper1.values import ELSEWHERE, FROM_LOGS, SETS, TABLES, cell, table_of

_COLUMNS = {"accuracy": "accuracy", "identifiability": "identifiability", "features": "n_features"}


def log_claims(
    picked: Mapping[str, pd.DataFrame], subsets: Mapping[str, int], protocol: pd.DataFrame
) -> tuple[dict[str, Any], dict[str, str]]:
    """Return our values for the data sets of `FROM_LOGS`, by the selection rule applied to the authors' logs.

    Parameters
    ----------
    picked : mapping of str to pandas.DataFrame
        Choice from the log for each printed table: index threshold, columns accuracy, identifiability, n_features.
    subsets : mapping of str to int
        Number of subsets in the log, by printed table.
    protocol : pandas.DataFrame
        Facts from their notebooks: columns dataset, topic, fact.

    Returns
    -------
    tuple of two dict
        Values by claim id: Tables 4 and 7 to 12; the rows of Table 2, and the features in Table 1. And the reasons why
        some are undecided: a log without all subsets cannot show that the printed choice is wrong.
    """
    ours: dict[str, Any] = {}
    undecided: dict[str, str] = {}
    for dataset in FROM_LOGS:
        for size, table in TABLES[dataset].items():
            if table not in picked:
                continue
            whole, held = 2**size - 1, subsets[table]
            matches = log_matches(picked[table], table)
            for threshold in map(float, picked[table].index):
                row: Any = picked[table].loc[threshold]
                ids = {column: cell(table, threshold, column) for column in _COLUMNS}
                own = {ids[column]: row[name] for column, name in _COLUMNS.items()}
                if table == table_of(dataset):
                    own |= _row_of_table_2(dataset, "", row) if threshold == 0.01 else {}
                    # the paper's column for all features holds the best subset of IoT-23 (D16)
                    own |= _row_of_table_2(dataset, "sota-", row) if (dataset, threshold) == ("iot-23", 0.0) else {}
                ours |= own
                if held < whole and not matches.loc[threshold].all():
                    why = f"the authors' log holds {held:,} of {whole:,} subsets, and another one of them is chosen"
                    undecided |= dict.fromkeys(own, why)
    return ours | _facts(protocol), undecided


def _row_of_table_2(dataset: str, player: str, row: pd.Series) -> dict[str, float]:
    return {f"1-T2-{SETS[dataset]}-{player}{name}": float(row[name]) for name in ("accuracy", "identifiability")}


def _facts(protocol: pd.DataFrame) -> dict[str, Any]:
    """Return the accuracy and identifiability on all features, and their number, from the authors' notebooks."""
    facts = protocol.set_index(["dataset", "topic"])["fact"]
    ours: dict[str, Any] = {}
    for word in (SETS[dataset] for dataset in ELSEWHERE):
        base = re.search(r"acc (0\.\d+), ident (0\.\d+)", str(facts.get((word, "base"), "")))
        if base:
            names = ("accuracy", "identifiability")
            ours |= {f"1-T2-{word}-sota-{name}": float(base[place]) for place, name in enumerate(names, start=1)}
        columns = re.search(r" x ([\d,]*\d)", str(facts.get((word, "rows"), "")))
        if columns:
            ours[f"1-T1-{word}-features"] = int(columns[1].replace(",", ""))
    return ours
