"""Values for paper 1 from what its authors published: the logs of their searches, and facts from their notebooks.

They answer the cells of data sets whose rows nobody else can get (`values.FROM_LOGS`).
"""

import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any, NamedTuple

import pandas as pd

from compendium.papers.paper1.text import log_frame, log_matches
from compendium.papers.paper1.values import ELSEWHERE, FROM_LOGS, KEPT, SETS, TABLES, cell, table_of

_COLUMNS = {"accuracy": "accuracy", "identifiability": "identifiability", "features": "n_features"}


class Choices(NamedTuple):
    """What the selection rule chooses from the authors' logs.

    Parameters
    ----------
    picked : dict of str to pandas.DataFrame
        By printed table: index threshold; columns of the rule, and ``line``, the line of the log's file.
    searched : dict of str to int
        Number of features that the authors searched, by data set.
    subsets : dict of str to int
        Number of subsets in the log, by printed table.
    """

    picked: dict[str, pd.DataFrame]
    searched: dict[str, int]
    subsets: dict[str, int]


def choices(read: Callable[[str], bytes], choose: Callable[..., pd.DataFrame]) -> Choices:
    """Apply the selection rule to every published log.

    Parameters
    ----------
    read : callable
        Returns the content of a published file by its name.
    choose : callable
        The rule, `sensorprivacy.minimize.select_table`. Values are compared with six decimals, as some logs print.
    """
    found = Choices({}, {}, {})
    keys = ["features", "accuracy", "identifiability"]
    for dataset, tables in TABLES.items():
        content = read(_file(dataset))
        found.searched[dataset] = 1 + max(max(subset) for subset in log_frame(content)["features"])
        for table in tables.values():
            log = log_frame(content, KEPT.get(table))
            rule = choose(log, decimals=6)
            lines = dict(zip(log[keys].itertuples(index=False, name=None), log["line"], strict=True))
            rows = rule[keys].itertuples(index=False, name=None)
            found.picked[table] = rule.assign(line=[lines[row] for row in rows])
            found.subsets[table] = len(log)
    return found


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
                own |= _cells_of_table_2(dataset, table, threshold, row)
                ours |= own
                if held < whole and not matches.loc[threshold].all():
                    why = f"the authors' log holds {held:,} of {whole:,} subsets, and another one of them is chosen"
                    undecided |= dict.fromkeys(own, why)
    return ours | _facts(protocol), undecided


def log_cells(judged: pd.DataFrame, picked: Mapping[str, pd.DataFrame], protocol: pd.DataFrame) -> pd.DataFrame:
    """Return the verdicts on published logs, each with its place in the published files.

    Parameters
    ----------
    judged : pandas.DataFrame
        Verdicts as :func:`.verdicts.judge` returns them.
    picked, protocol
        As for :func:`log_claims`; `picked` with the column ``line``, see :func:`choices`.

    Returns
    -------
    pandas.DataFrame
        claim_id, printed, log (the value in the log), verdict, file, line. Numbers of features in the text come from
        all logs together and have no line.
    """
    places = dict(_places(picked, protocol))
    own = judged[judged["basis"] == "log"].rename(columns={"ours": "log"})
    found = [places.get(claim, ("subsets_*.csv", None)) for claim in own["claim_id"]]
    own = own.assign(file=[file for file, _ in found], line=pd.array([line for _, line in found], dtype="Int64"))
    return own[["claim_id", "printed", "log", "verdict", "file", "line"]]


def _places(picked: Mapping[str, pd.DataFrame], protocol: pd.DataFrame) -> Iterator[tuple[str, tuple[str, int]]]:
    """Yield claims with the published file and the line that gives each."""
    facts = {"base": ("1-T2-{}-sota-accuracy", "1-T2-{}-sota-identifiability"), "rows": ("1-T1-{}-features",)}
    special = {("service", "rows"): "1-text-flows", ("iot23", "timing: exhaustive"): "1-text-hours-features"}
    for line, (word, topic) in enumerate(zip(protocol["dataset"], protocol["topic"], strict=True), start=2):
        claims = [claim.format(word) for claim in facts.get(topic, ())]
        claims += [special[word, topic]] if (word, topic) in special else []
        yield from ((claim, ("protocol.csv", line)) for claim in claims)
    # a log gives a value more exactly than a notebook's words
    for dataset, tables in TABLES.items():
        for table in set(tables.values()) & picked.keys():
            for threshold, line in zip(map(float, picked[table].index), picked[table]["line"], strict=True):
                place = _file(dataset), int(line)
                row: Any = picked[table].loc[threshold]
                yield from ((cell(table, threshold, column), place) for column in _COLUMNS)
                yield from ((claim, place) for claim in _cells_of_table_2(dataset, table, threshold, row))
                if (threshold, table) == (0.01, table_of(dataset)):
                    yield f"1-text-{SETS[dataset]}-feature", place


def _file(dataset: str) -> str:
    return f"subsets_{SETS[dataset]}.csv"


def _cells_of_table_2(dataset: str, table: str, threshold: float, row: pd.Series) -> dict[str, float]:
    """Return the cells of Table 2 that a row of a selection table gives: those of its largest search at .01.

    The paper's column for all features has the best subset of IoT-23 (D16), its row at threshold 0.
    """
    if table != table_of(dataset) or (threshold != 0.01 and (dataset, threshold) != ("iot-23", 0.0)):
        return {}
    player = "" if threshold == 0.01 else "sota-"
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
