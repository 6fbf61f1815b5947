"""What the printed values of paper 1 (data minimization) ask of a run's tables.

Each function takes plain frames and numbers and returns our values by claim id, ready for the verdicts. Tables 4 to 12
have one row a threshold; in Table 2 the row of each data set repeats one of them. What the text says is in
`paper1_text`.
"""

import re
from collections.abc import Iterable
from typing import Any

import pandas as pd

from sensorprivacy.report.printed import printed_values
from sensorprivacy.report.verdicts import Ours

SETS = {
    "iot-23": "iot23",
    "iot-sentinel": "sentinel",
    "cic-ids-2017": "cicids",
    "opportunity": "opportunity",
    "amir-netml": "netml",
    "amir-nprint": "nprint",
    "service-recognition": "service",
}
"""The paper's data sets by our names, and the word for each in claim ids."""

TABLES = {
    "iot-23": {9: "4"},
    "iot-sentinel": {13: "5"},
    "cic-ids-2017": {15: "6"},
    "opportunity": {10: "7", 7: "8", 5: "9"},
    "amir-netml": {14: "10"},
    "amir-nprint": {14: "11"},
    "service-recognition": {10: "12"},
}
"""The printed table of each data set, by the number of features that its authors searched."""

KEPT = {
    "7": (0, 3, 4, 45, 57, 70, 96, 122, 123, 132),
    "8": (3, 4, 45, 57, 70, 122, 132),
    "9": (3, 45, 57, 70, 122),
}
"""The columns of Opportunity that the authors searched for Tables 7 to 9, from their notebooks."""

ELSEWHERE = ("opportunity", "amir-netml", "amir-nprint", "service-recognition")
"""Data sets that no source of the catalogue has: notebook 12 judges them, whether a user has them or not."""

THRESHOLDS = (0.0, 0.01, 0.03, 0.1, 0.3, 1.0)
CELLS = ("accuracy", "identifiability", "features")

METHODS = {
    "hashing": "(1) Hashing",
    "pca": "(2) PCA",
    "privacy": "(3) Privacy",
    "utility": "(4) Utility",
    "tradeoff": "(5) Tradeoff",
    "shap_utility": "(6) SHAP by utility",
    "shap_identifiability": "(7) SHAP by identifiability",
    "shap_ratio": "(8) SHAP by CTV",
    "gini_utility": "(9) Gini by utility",
    "gini_identifiability": "(10) Gini by identifiability",
    "gini_ratio": "(11) Gini by CTV",
    "dp_printed": "(12) DP",
}
"""The twelve methods as Table 3 names them."""


def table_of(dataset: str, searched: int | None = None) -> str | None:
    """Return the number of the printed table of a data set, the one whose search is nearest in size; None if none."""
    tables = TABLES.get(dataset)
    if not tables:
        return None
    return tables[min(tables, key=lambda size: abs(size - (searched or max(tables))))]


def printed_table(table: str | None) -> pd.DataFrame:
    """Return a printed selection table, one row a threshold; no row for no table.

    Returns
    -------
    pandas.DataFrame
        Index threshold; columns accuracy, identifiability (fractions), features, effectiveness (text as printed).
    """
    values = _values().loc[lambda frame: frame["table"] == str(table)]
    rows = []
    for threshold in THRESHOLDS if not values.empty else ():
        own = values[values["claim_id"].str.startswith(cell(table, threshold, ""))].set_index("column")
        numbers = {name: own.loc[name, "value"] for name in CELLS}
        rows.append({"threshold": threshold, **numbers, "effectiveness": own.loc["effectiveness", "printed"]})
    return pd.DataFrame(rows, columns=["threshold", *CELLS, "effectiveness"]).set_index("threshold")


def printed_base(dataset: str) -> tuple[float, float] | None:
    """Return accuracy and identifiability on all features as Table 2 prints them; None if it does not."""
    if dataset not in SETS:
        return None
    printed = _values().set_index("claim_id")["value"]
    cells = [f"1-T2-{SETS[dataset]}-sota-{name}" for name in ("accuracy", "identifiability")]
    return float(printed[cells[0]]), float(printed[cells[1]])


def base_table(outcomes: pd.DataFrame, dataset: str) -> pd.DataFrame:
    """Return both players on all features, one row a split, and the printed row of Table 2 where there is one.

    Parameters
    ----------
    outcomes : pandas.DataFrame
        One row a split, columns of the game's outcome.
    dataset : str
        Name of the data set.
    """
    parts = ("", "_low", "_high", "_chance", "_balanced", "_unseen")
    names = [f"{what}{part}" for what in ("accuracy", "identifiability") for part in parts]
    table = outcomes[[*names, "n_train", "n_test"]].apply(pd.to_numeric)
    printed = printed_base(dataset)
    if printed:
        table.loc["printed in Table 2", ["accuracy", "identifiability"]] = printed
    return table.rename_axis("split")


def beside_printed(chosen: pd.DataFrame, table: str | None) -> pd.DataFrame:
    """Return a selection table with the printed one's columns beside ours, each named ``printed <column>``."""
    return chosen.join(printed_table(table).add_prefix("printed ")) if table else chosen


def selection_claims(dataset: str, chosen: pd.DataFrame, searched: int | None = None) -> dict[str, Any]:
    """Return our cells of a data set's selection table and of its row of Table 2.

    Parameters
    ----------
    dataset : str
        One of `SETS`; any other has no claims.
    chosen : pandas.DataFrame
        Index threshold, the six of the paper; columns accuracy and identifiability with ``_low`` and ``_high``,
        n_features.
    searched : int, optional
        Features that were searched; tells Tables 7, 8 and 9 apart.

    Returns
    -------
    dict of str to value
        By claim id. The row of Table 2 is that at threshold .01 of the largest search.
    """
    table = table_of(dataset, searched)
    if table is None:
        return {}
    ours: dict[str, Any] = {}
    for threshold in THRESHOLDS:
        row = _row(chosen, threshold)
        for name in ("accuracy", "identifiability"):
            ours[cell(table, threshold, name)] = _measured(row, name)
        ours[cell(table, threshold, "features")] = int(row["n_features"])
    if table == table_of(dataset):
        for name in ("accuracy", "identifiability"):
            ours[f"1-T2-{SETS[dataset]}-{name}"] = _measured(_row(chosen, 0.01), name)
    return ours


def base_claims(dataset: str, base: pd.Series, chosen: pd.DataFrame) -> dict[str, Any]:
    """Return our columns "SOTA" of Table 2: all features, but the best subset for IoT-23, as the paper has it."""
    if dataset not in SETS:
        return {}
    row = _row(chosen, 0.0) if dataset == "iot-23" else base
    return {f"1-T2-{SETS[dataset]}-sota-{name}": _measured(row, name) for name in ("accuracy", "identifiability")}


def rank_claims(dataset: str, ranked: Iterable[str]) -> dict[str, str]:
    """Return our row of Table 3.

    Parameters
    ----------
    dataset : str
        One of `SETS` other than iot-23; any other has no row.
    ranked : iterable of str
        Methods, the best first; those that are not among `METHODS` are passed over.

    Raises
    ------
    ValueError
        If fewer than three methods are ranked.
    """
    if dataset not in SETS or dataset == "iot-23":
        return {}
    names = [METHODS[method] for method in ranked if method in METHODS]
    if len(names) < 3:
        raise ValueError(f"{len(names)} ranked methods: Table 3 names three")
    return {f"1-T3-{SETS[dataset]}-rank{place}": name for place, name in enumerate(names[:3], start=1)}


def size_claims(sizes: pd.DataFrame) -> dict[str, int]:
    """Return Table 1 from a frame with the columns classes, users and features, one row a data set of `SETS`."""
    return {
        f"1-T1-{SETS[str(name)]}-{column}": int(row[column])
        for name, row in sizes.iterrows()
        if name in SETS
        for column in ("classes", "users", "features")
    }


def effectiveness_pairs() -> pd.DataFrame:
    """Return, for every printed relative effectiveness, the printed percentages that it is computed from.

    Returns
    -------
    pandas.DataFrame
        Index claim id; columns accuracy, identifiability, base_accuracy, base_identifiability, as fractions: in Table 2
        against all features, in Tables 4 to 12 against the row of threshold 0.
    """
    printed = _values().set_index("claim_id")["value"]
    names, rows = ("accuracy", "identifiability"), {}
    for claim in printed.index[printed.index.str.endswith("-effectiveness")]:
        own = claim.removesuffix("effectiveness")
        base = f"{own}sota-" if claim.startswith("1-T2-") else re.sub(r"-thr\d+-", "-thr0-", own)
        rows[claim] = [printed[own + name] for name in names] + [printed[base + name] for name in names]
    return pd.DataFrame.from_dict(rows, orient="index", columns=[*names, *(f"base_{name}" for name in names)])


def ablation_claims(ablation: pd.DataFrame) -> dict[str, Any]:
    """Return our cells of the tables of a data set that is not here on the project's machines, Tables 7 to 12.

    Parameters
    ----------
    ablation : pandas.DataFrame
        Selection tables of one or more data sets below each other: columns problem, searched, threshold and those that
        `selection_claims` asks for.
    """
    ours: dict[str, Any] = {}
    if ablation.empty:  # no run has left any
        return ours
    for (dataset, searched), rows in ablation.astype({"searched": int}).groupby(["problem", "searched"]):
        size: Any = searched
        wide = len(TABLES.get(str(dataset), ())) > 1
        largest = ablation.loc[ablation["problem"] == dataset, "searched"].max()
        if _in_summary(str(dataset)) and ((searched in TABLES[str(dataset)]) if wide else searched == largest):
            ours |= selection_claims(str(dataset), rows.set_index("threshold"), int(size))
    return ours


def _row(chosen: pd.DataFrame, threshold: float) -> pd.Series:
    row = chosen.loc[threshold]
    assert isinstance(row, pd.Series)  # one row a threshold
    return row


def _measured(row: pd.Series, name: str) -> Ours:
    return Ours(float(row[name]), float(row[f"{name}_low"]), float(row[f"{name}_high"]))


def _in_summary(dataset: str) -> bool:
    return dataset in ELSEWHERE


def threshold_word(threshold: float) -> str:
    """Return a threshold as claim ids write it: ``thr001``."""
    return "thr" + f"{threshold:g}".replace(".", "")


def cell(table: str | None, threshold: float, column: str) -> str:
    """Return the claim id of a cell of Tables 4 to 12."""
    return f"1-T{table}-{threshold_word(threshold)}-{column}"


def _values() -> pd.DataFrame:
    return printed_values(1)
