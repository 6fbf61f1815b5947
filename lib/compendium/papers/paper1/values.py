"""Values for the claims of paper 1 (data minimization): Tables 1 to 12.

Each function takes data frames and numbers, and returns our values by claim id, for the verdicts. Tables 4 to 12 have
one row for each threshold; the row of a data set in Table 2 repeats one of them. Claims in the text are in `text`.
"""

import math
import re
from collections.abc import Iterable
from typing import Any

import pandas as pd

from compendium.verdicts.intervals import FEWEST, prediction_interval
from compendium.verdicts.printed import printed_numbers, printed_values
from compendium.verdicts.verdicts import Ours

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

THRESHOLDS = (0.0, 0.01, 0.03, 0.1, 0.3, 1.0)
CELLS = ("accuracy", "identifiability", "features")
_MEASURES = ("accuracy", "identifiability")
_POSSIBLE = {"n_features": (1.0, math.inf), **dict.fromkeys(_MEASURES, (0.0, 1.0))}  # least and greatest number

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
    tables = TABLES.get(dataset)
    if not tables:
        return None
    return tables[min(tables, key=lambda size: abs(size - (searched or max(tables))))]


def printed_table(table: str | None) -> pd.DataFrame:
    """Return a printed selection table with one row for each threshold; no rows if `table` is None.

    Returns
    -------
    pandas.DataFrame
        Index threshold; columns accuracy, identifiability (fractions), features, effectiveness (text as printed).
    """
    values = printed_values(1).set_index("claim_id")
    rows = []
    for threshold in THRESHOLDS if table else ():
        numbers = {name: values.loc[cell(table, threshold, name), "value"] for name in CELLS}
        effectiveness = values.loc[cell(table, threshold, "effectiveness"), "printed"]
        rows.append({"threshold": threshold, **numbers, "effectiveness": effectiveness})
    return pd.DataFrame(rows, columns=["threshold", *CELLS, "effectiveness"]).set_index("threshold")


def base_table(outcomes: pd.DataFrame, dataset: str) -> pd.DataFrame:
    """Return both players on all features, one row for each split, and the printed row of Table 2 if there is one.

    The printed values count all test rows, so they stand in the columns ``<measure>_overall``.

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
        printed = printed_numbers(1)
        table.loc["printed in Table 2", [f"{name}_overall" for name in _MEASURES]] = [
            printed[f"1-T2-{SETS[dataset]}-sota-{name}"] for name in _MEASURES
        ]
    return table.rename_axis("split")


def beside_printed(chosen: pd.DataFrame, table: str | None) -> pd.DataFrame:
    """Return a selection table with the columns of the printed one beside ours, each named ``printed <column>``."""
    return chosen.join(printed_table(table).add_prefix("printed ")) if table else chosen


def selection_claims(dataset: str, chosen: pd.DataFrame, searched: int | None = None) -> dict[str, Any]:
    """Return our cells of a data set's selection table and of its row in Table 2.

    Parameters
    ----------
    dataset : str
        One of `SETS`; any other has no claims.
    chosen : pandas.DataFrame
        Index threshold, the six of the paper; columns accuracy and identifiability with ``_low`` and ``_high``, and
        n_features. After `over_draws`, the intervals are over draws.
    searched : int, optional
        Number of features searched; it decides between Tables 7, 8 and 9.

    Returns
    -------
    dict of str to value
        By claim id. The row of Table 2 is the row at threshold .01 of the largest search.
    """
    table = table_of(dataset, searched)
    if table is None:
        return {}
    ours: dict[str, Any] = {}
    for threshold in THRESHOLDS:
        row: Any = chosen.loc[threshold]
        ours |= {cell(table, threshold, name): value for name, value in _measured(row).items()}
        counted = _ours(row, "n_features") if "n_features_low" in row else int(row["n_features"])
        ours[cell(table, threshold, "features")] = counted
    if table == table_of(dataset):
        ours |= _table_2(dataset, "", chosen.loc[0.01])
    return ours


def base_claims(dataset: str, base: pd.Series) -> dict[str, Any]:
    """Return our columns "SOTA" of Table 2, on all features: shares of all test rows, see `over_all_rows`.

    There are no claims for data sets that the paper does not have.
    """
    return _table_2(dataset, "sota-", base) if dataset in SETS else {}


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
    measures = ("n_features", *_MEASURES)
    columns = ["features", *(f"{name}{part}" for name in measures for part in ("", "_low", "_high", "_unit", "_n"))]
    rows = {}
    for choice, own in redrawn.groupby("choice", sort=False) if len(redrawn) else ():
        row: dict[str, Any] = {"features": own["features"].iloc[0]}
        for name in measures:
            low, high = prediction_interval(own[name]) if len(own) >= FEWEST else (math.nan, math.nan)
            least, most = _POSSIBLE[name]
            low, high = max(low, least), min(high, most)  # in this order, a missing end stays missing
            row |= {name: own[name].iloc[0], f"{name}_low": low, f"{name}_high": high}
            row |= {f"{name}_unit": "draws", f"{name}_n": len(own)}
        rows[choice] = row
    return pd.DataFrame.from_dict(rows, orient="index", columns=columns).rename_axis("choice")


def over_all_rows(base: pd.DataFrame) -> pd.DataFrame:
    """Return accuracy and identifiability with their intervals as shares of all test rows, as the paper counts them.

    A row of a user without training rows is an error then. The game itself counts such rows apart, in
    ``<measure>_unseen``. The interval is that of the other rows, scaled, and so ``<measure>_n`` counts these.
    """
    scaled = {
        f"{name}{end}": base[f"{name}{end}"] * (1 - base[f"{name}_unseen"])
        for name in _MEASURES
        for end in ("", "_low", "_high")
    }
    return base.assign(**scaled)


def rank_claims(dataset: str, ranked: Iterable[str]) -> dict[str, str]:
    """Return our row of Table 3.

    Parameters
    ----------
    dataset : str
        One of `SETS` other than iot-23; any other has no row.
    ranked : iterable of str
        Methods, the best first. Methods that are not in `METHODS` are ignored.

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


def one_sweep(ranks: Iterable[str]) -> dict[str, str]:
    """Return why the ranks from a single sweep are undecided, by claim id.

    A method ranks by the setting that happens to lose least accuracy, so the order changes with the random seed.
    """
    return dict.fromkeys(ranks, "one sweep: the ranking changes with the random seed, so one sweep cannot decide it")


def size_claims(sizes: pd.DataFrame) -> dict[str, int]:
    """Return Table 1 from a frame with the columns classes, users and features, one row for each data set."""
    return {
        f"1-T1-{SETS[str(name)]}-{column}": int(row[column])
        for name, row in sizes.iterrows()
        if name in SETS
        for column in ("classes", "users", "features")
    }


def effectiveness_pairs() -> pd.DataFrame:
    """Return the printed percentages behind every printed relative effectiveness.

    Returns
    -------
    pandas.DataFrame
        Index claim id; columns accuracy, identifiability, base_accuracy, base_identifiability, as fractions. The base
        is all features in Table 2, and the row of threshold 0 in Tables 4 to 12.
    """
    printed, rows = printed_numbers(1), {}
    for claim in printed:
        own = claim.removesuffix("effectiveness")
        if own != claim:
            base = f"{own}sota-" if claim.startswith("1-T2-") else re.sub(r"-thr\d+-", "-thr0-", own)
            rows[claim] = [printed[f"{stem}{name}"] for stem in (own, base) for name in _MEASURES]
    columns = [*_MEASURES, *(f"base_{name}" for name in _MEASURES)]
    return pd.DataFrame.from_dict(rows, orient="index", columns=columns)


def ablation_claims(ablation: pd.DataFrame) -> dict[str, Any]:
    """Return our cells of Tables 7 to 12, for the data sets of `ELSEWHERE`.

    Parameters
    ----------
    ablation : pandas.DataFrame
        Selection tables of one or more data sets below each other: columns problem, searched, threshold, and those of
        `selection_claims`. A frame without rows has no claims.
    """
    ours: dict[str, Any] = {}
    for dataset in ELSEWHERE if len(ablation) else ():
        own = ablation[ablation["problem"] == dataset].astype({"searched": int})
        wanted = set(TABLES[dataset]) if len(TABLES[dataset]) > 1 else {own["searched"].max()}
        searched: Any
        for searched, rows in own[own["searched"].isin(wanted)].groupby("searched"):
            ours |= selection_claims(dataset, rows.set_index("threshold"), int(searched))
    return ours


def threshold_word(threshold: float) -> str:
    """Return a threshold as claim ids write it: ``thr001``."""
    return f"thr{threshold:g}".replace(".", "")


def cell(table: str | None, threshold: float, column: str) -> str:
    """Return the claim id of a cell of Tables 4 to 12."""
    return f"1-T{table}-{threshold_word(threshold)}-{column}"


def _table_2(dataset: str, player: str, row: Any) -> dict[str, Ours]:
    return {f"1-T2-{SETS[dataset]}-{player}{name}": value for name, value in _measured(row).items()}


def _measured(row: Any) -> dict[str, Ours]:
    """Return accuracy and identifiability of a row with their intervals.

    The columns ``<measure>_unit`` and ``<measure>_n``, if the row has them, state the unit of the interval; the
    default is rows.
    """
    return {name: _ours(row, name) for name in _MEASURES}


def _ours(row: Any, name: str) -> Ours:
    value, *ends = (float(row[f"{name}{end}"]) for end in ("", "_low", "_high"))
    low, high = (None if math.isnan(end) else end for end in ends)
    n = row.get(f"{name}_n")
    return Ours(value, low, high, str(row.get(f"{name}_unit", "rows")), None if n is None else int(n))
