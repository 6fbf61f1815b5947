"""Paper 1 (data minimization): its printed tables, and the tables that they are compared with.

Tables 4 to 12 have one row for each threshold; the row of a data set in Table 2 repeats one of them. Values in the text
are in `text`.
"""

import math

import pandas as pd

from compendium.verdicts import printed
from compendium.verdicts.prediction import with_prediction
from sensorprivacy.game import relative_effectiveness

SETS = {
    "iot-23": "iot23",
    "iot-sentinel": "sentinel",
    "cic-ids-2017": "cicids",
    "opportunity": "opportunity",
    "amir-netml": "netml",
    "amir-nprint": "nprint",
    "service-recognition": "service",
}
"""The paper's data sets: our names, and the words for them in claim ids."""

TABLES = {
    "iot-23": {9: "4"},
    "iot-sentinel": {13: "5"},
    "cic-ids-2017": {15: "6"},
    "opportunity": {10: "7", 7: "8", 5: "9"},
    "amir-netml": {14: "10"},
    "amir-nprint": {14: "11"},
    "service-recognition": {10: "12"},
}
"""The printed tables of each data set, by the number of features that the authors searched."""

KEPT = {
    "7": (0, 3, 4, 45, 57, 70, 96, 122, 123, 132),
    "8": (3, 4, 45, 57, 70, 122, 132),
    "9": (3, 45, 57, 70, 122),
}
"""The columns of Opportunity that the authors searched for Tables 7 to 9, from their notebooks."""

ELSEWHERE = ("opportunity", "amir-netml", "amir-nprint", "service-recognition")
"""Data sets without a source in the catalogue. Notebook 12 judges their claims, with or without the data."""

FROM_LOGS = (*ELSEWHERE, "iot-23")
"""Data sets whose cells the authors' logs decide. Of IoT-23, only other captures are available (D11)."""

_MEASURES = ("accuracy", "identifiability")
_ALL = ("sota-accuracy", "sota-identifiability")  # columns of Table 2: both players on all features
_CELLS = [*_MEASURES, "features"]
_POSSIBLE = {"n_features": (1.0, math.inf), **dict.fromkeys(_MEASURES, (0.0, 1.0))}
"""The least and the greatest number that each can be."""

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
"""The twelve methods, by their names in Table 3."""


def table_of(dataset: str, searched: int | None = None) -> str | None:
    """Return the number of a data set's printed table, the one with the nearest number of searched features.

    The default of `searched` is the largest search. The result is None if the paper prints no table.
    """
    tables = TABLES.get(dataset, {})
    return tables[min(tables, key=lambda size: abs(size - (searched or max(tables))))] if tables else None


def printed_table(table: str | None) -> pd.DataFrame:
    """Return a printed selection table with one row for each threshold; no rows if `table` is None.

    Returns
    -------
    pandas.DataFrame
        Index threshold; columns accuracy, identifiability (fractions), features, effectiveness (text as printed).
    """
    if not table:
        return pd.DataFrame(columns=[*_CELLS, "effectiveness"], index=pd.Index([], name="threshold"))
    values, texts = (printed.printed_table(1, table, field) for field in ("value", "printed"))
    found = values[_CELLS].assign(effectiveness=texts["effectiveness"])
    # the threshold ends the head of a row, such as IoT Sentinel, threshold 0.01
    return found.set_axis(found.index.str.split().str[-1].astype(float).rename("threshold"))


def base_table(outcomes: pd.DataFrame, dataset: str) -> pd.DataFrame:
    """Return both players on all features, one row for each split, and the printed row of Table 2 if there is one.

    The printed values count all test rows, as the columns ``<measure>_overall`` do; their row has them in both columns.

    Parameters
    ----------
    outcomes : pandas.DataFrame
        One row for each split, columns of the game's outcome.
    dataset : str
        Name of the data set.
    """
    first = ("", "_low", "_high", "_n", "_chance", "_p", "_unseen", "_overall", "_balanced", "_auc")
    last = ("p_any", "exposed_recall", "exposed_precision")  # of the adversary only
    names = [f"{measure}{part}" for measure in _MEASURES for part in first]
    names += [f"identifiability_{part}" for part in last]
    table = outcomes[[*names, "n_train", "n_test"]].apply(pd.to_numeric)
    table.insert(0, "unit", outcomes["identifiability_unit"])
    if dataset in SETS:
        columns = [*_MEASURES, *(f"{name}_overall" for name in _MEASURES)]
        table.loc["printed in Table 2, all test rows", columns] = 2 * list(by_set("2").loc[dataset, list(_ALL)])
    return table.rename_axis("split")


def by_set(table: str, field: str = "value") -> pd.DataFrame:
    """Return Table 1, 2 or 3 as printed, one row for each of `SETS` (Table 3 has no IoT-23)."""
    names = dict(zip(printed.printed_table(1, "1").index, SETS, strict=True))
    return printed.printed_table(1, table, field).rename(index=names).rename_axis("problem")


def beside_printed(chosen: pd.DataFrame, table: str | None) -> pd.DataFrame:
    """Return a selection table with the columns of the printed one beside ours, each named ``printed <column>``."""
    return chosen.join(printed_table(table).add_prefix("printed ")) if table else chosen


def over_draws(redrawn: pd.DataFrame) -> pd.DataFrame:
    """Return the first draw's results, with intervals in which the result of one more draw would lie.

    The paper drew its training rows, its forests and its features once, with unknown seeds. Its numbers agree with ours
    if they could be one more draw of ours.

    Parameters
    ----------
    redrawn : pandas.DataFrame
        As returned by `experiments.redraw`.

    Returns
    -------
    pandas.DataFrame
        Index choice: ``all features``, and each threshold. Columns features, n_features, accuracy and identifiability,
        each number with ``_low``, ``_high`` (missing if there are fewer than five draws), ``_unit`` and ``_n``. An
        interval ends where a number must: accuracies at 0 and 1, numbers of features at 1. No draws have no rows.
    """
    rows = {}
    for choice, own in redrawn.groupby("choice", sort=False) if len(redrawn) else ():
        row: dict[str, object] = {"features": own["features"].iloc[0]}
        for name, limits in _POSSIBLE.items():
            row |= with_prediction(name, own[name].iloc[0], own[name], "draws", limits)
        rows[choice] = row
    parts = [f"{name}{end}" for name in _POSSIBLE for end in ("", "_low", "_high", "_unit", "_n")]
    return pd.DataFrame.from_dict(rows, orient="index", columns=["features", *parts]).rename_axis("choice")


def possible_draws(chosen: pd.DataFrame, ranges: pd.DataFrame) -> list[bool]:
    """Return whether each printed accuracy and identifiability could be one more draw.

    Parameters
    ----------
    chosen, ranges : pandas.DataFrame
        As `beside_printed` and `over_draws` return them. Values without an interval are left out.
    """
    both = chosen.join(ranges, rsuffix="_drawn") if len(ranges) else chosen.head(0)
    found: list[bool] = []
    for name in _MEASURES:
        ends = [f"printed {name}", f"{name}_low_drawn", f"{name}_high_drawn"]
        own = both.reindex(columns=ends).astype(float).dropna()
        found += own[ends[0]].between(own[ends[1]], own[ends[2]]).tolist()
    return found


def over_all_rows(base: pd.DataFrame) -> pd.DataFrame:
    """Return accuracy and identifiability with their intervals as shares of all test rows, as the paper counts them.

    A row of a user without training rows is an error then. The game itself counts such rows apart, in
    ``<measure>_unseen``. The interval is that of the other rows, scaled, and so ``<measure>_n`` counts these.
    """
    scaled = base.copy()
    for name in _MEASURES:
        ends = [name, f"{name}_low", f"{name}_high"]
        scaled[ends] = base[ends].mul(1 - base[f"{name}_unseen"], axis=0)
    return scaled


def table_2(base: pd.DataFrame, selection: pd.DataFrame, threshold: float) -> pd.DataFrame:
    """Return both players before and after the choice at a threshold, a row for each data set (Table 2).

    Parameters
    ----------
    base, selection : pandas.DataFrame
        Tables of these names of all runs of notebook 10, with the column ``run``.
    threshold : float
        The threshold.
    """
    measured = "^(accuracy|identifiability)(_low|_high|_chance)?$"
    before = over_all_rows(base).groupby("run").first().filter(regex=measured)
    after = selection.query("threshold == @threshold").set_index("run")
    found = before.add_prefix("all: ").join(after[["n_features", *_MEASURES]])
    scores = found[[*_MEASURES, *(f"all: {name}" for name in _MEASURES)]].to_numpy()
    found["relative_effectiveness"] = [relative_effectiveness(*row, decimals=4) for row in scores]
    return found.rename(lambda run: run.split("-", 1)[1]).rename_axis("problem")


def effectiveness_pairs() -> pd.DataFrame:
    """Return the printed percentages behind every printed relative effectiveness.

    Returns
    -------
    pandas.DataFrame
        Index claim id; columns accuracy, identifiability, base_accuracy, base_identifiability, as fractions. The base
        is all features in Table 2, and the row of threshold 0 in Tables 4 to 12.
    """
    names = [*_MEASURES, *(f"base_{name}" for name in _MEASURES)]
    parts = [printed.printed_table(1, "2")[[*_MEASURES, *_ALL]].set_axis(names, axis=1)]
    parts[0].index = pd.Index(printed.printed_table(1, "2", "claim_id")["effectiveness"])
    for table in (number for own in TABLES.values() for number in own.values()):
        values, claims = (printed.printed_table(1, table, field) for field in ("value", "claim_id"))
        base = {f"base_{name}": values[name].iloc[0] for name in _MEASURES}
        parts.append(values[list(_MEASURES)].assign(**base).set_axis(claims["effectiveness"].to_list()))
    order = printed.printed_values(1)["claim_id"]
    pairs = pd.concat(parts)
    return pairs.loc[order[order.isin(pairs.index)]]
