"""Values for the claims in the text of paper 1: its numbers, the authors' published logs, its advice.

Each function takes data frames and numbers, and returns our values by claim id, for the verdicts.
"""

import io
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import pandas as pd

from compendium.papers.paper1.values import SETS, TABLES, THRESHOLDS, cell, printed_table, table_of
from compendium.verdicts.printed import printed_numbers

KEPT, LOST, UNDECIDED = "kept", "lost", "undecided"
NOT_RECOMPUTED = "undecided: run notebook 10 again for paired intervals"

# the claims that notebook 12 judges: all except those that the runs of single data sets judge
SUMMARY = (
    *("1-T1-", "1-T7-", "1-T8-", "1-T9-", "1-T10-", "1-T11-", "1-T12-", "1-text-"),
    *(f"1-T{table}-{name}-" for table in (2, 3) for name in ("opportunity", "netml", "nprint", "service")),
    *(_LOGGED := ("1-T4-", "1-T2-iot23-")),  # only other captures of IoT-23 can be had, so the authors' log decides
)


def text_claims() -> dict[str, Any]:
    """Return the numbers in the text, computed again from the paper's own tables.

    The abstract's 16.7 % is the largest reduction of identifiability in Table 2 among rows that lose less than a point
    of accuracy. The threshold of Table 2 is the one whose rows in Tables 4 to 12 it repeats. A threshold is
    reasonable "across multiple data sets" if most of these tables have their highest relative effectiveness there.
    """
    printed = printed_numbers(1)
    drops = {
        word: [
            round(printed[f"1-T2-{word}-sota-{name}"] - printed[f"1-T2-{word}-{name}"], 6)
            for name in ("accuracy", "identifiability")
        ]
        for word in SETS.values()
    }
    loss, reduction = max((drop for drop in drops.values() if drop[0] < 0.01), key=lambda drop: drop[1])
    levels = [threshold for threshold in THRESHOLDS if all(_repeats(name, threshold) for name in SETS)]
    return {
        "1-text-identifiability-reduction": reduction,
        "1-text-abstract-loss": loss < 0.01,
        "1-text-iot23-reduction": drops["iot23"][1],
        "1-text-iot23-loss": drops["iot23"][0] < 0.01,
        "1-text-relaxed-identifiability": printed["1-T4-thr01-identifiability"],
        "1-text-maintained-accuracy": printed["1-T4-thr01-accuracy"],
        "1-text-threshold-table2": levels[0],
        "1-text-intro-datasets": sum(claim.startswith("1-T1-") and claim.endswith("-classes") for claim in printed),
        "1-text-devices": int(printed["1-T1-netml-classes"]),
        "1-text-classes": int(printed["1-T1-service-classes"]),
        "1-text-dense-features": int(printed["1-T1-netml-features"]),
        "1-text-sparse-features": int(printed["1-T1-nprint-features"]),
        "1-text-ablation-best": _best_ablation(),
        "1-text-reasonable-threshold": most_often(_best_threshold(str(table)) for table in range(4, 13)),
    }


def protocol_claims(protocol: pd.DataFrame, searched: Mapping[str, int]) -> dict[str, Any]:
    """Return values for numbers in the text, from the authors' own notebooks.

    Parameters
    ----------
    protocol : pandas.DataFrame
        Facts from their notebooks: columns dataset, topic, fact.
    searched : mapping of str to int
        Number of features that they searched, by data set.

    Returns
    -------
    dict of str to number
        The rows of service recognition; the printed number of features if searching one more takes two hours at
        their speed, else the largest number that takes less; the smallest and largest number of features that their
        greedy stage kept.
    """
    facts = protocol.set_index(["dataset", "topic"])["fact"]
    subsets, milliseconds = _numbers(str(facts["iot23", "timing: exhaustive"]))[:2]
    pace = milliseconds / 1000 / subsets
    kept = [size for name, size in searched.items() if name != "iot-23"]  # its nine features needed no preselection
    # the text says that more than so many features "can take hours": fewer may take hours, too (D20)
    printed = int(printed_numbers(1)["1-text-hours-features"])
    ours: dict[str, Any] = {
        "1-text-flows": int(_numbers(str(facts["service", "rows"]))[0]),
        "1-text-hours-features": max(printed, _within(7200, pace)),
    }
    for words in ("preselected", "recommended"):
        ours |= {f"1-text-{words}-from": min(kept), f"1-text-{words}-to": max(kept)}
    return ours


def log_frame(content: bytes, columns: Sequence[int] | None = None) -> pd.DataFrame:
    """Return a published search log.

    Parameters
    ----------
    content : bytes
        A CSV file with the columns features (positions separated by spaces), n_features, accuracy, identifiability.
    columns : sequence of int, optional
        Use only the subsets of these columns of the data set. The log's column original_columns has the columns.

    Returns
    -------
    pandas.DataFrame
        features (tuple of int), n_features, accuracy, identifiability, line (of the file); the empty subset is left
        out.
    """
    texts = {"features": str, "original_columns": str}
    log = pd.read_csv(io.BytesIO(content), dtype=texts, keep_default_na=False)
    log["line"] = range(2, len(log) + 2)  # the first line has the names of the columns
    log = log[log["n_features"] > 0]
    if columns is not None:
        log = log[[set(map(int, text.split())) <= set(columns) for text in log["original_columns"]]]
    features = [tuple(map(int, text.split())) for text in log["features"]]
    columns_kept = ["features", "n_features", "accuracy", "identifiability", "line"]
    return log.assign(features=pd.Series(features, index=log.index, dtype=object))[columns_kept].reset_index(drop=True)


def log_matches(chosen: pd.DataFrame, table: str) -> pd.DataFrame:
    """Return for each threshold whether the choice from a log equals the printed table, cell by cell.

    Parameters
    ----------
    chosen : pandas.DataFrame
        Index threshold; columns accuracy, identifiability, n_features.
    table : str
        The printed table.

    Returns
    -------
    pandas.DataFrame
        Index threshold; columns accuracy, identifiability, features: True if equal at printed precision.
    """
    printed = printed_table(table).loc[chosen.index]
    near = {name: (chosen[name] - printed[name]).abs() <= 5e-5 + 1e-9 for name in ("accuracy", "identifiability")}
    return pd.DataFrame({**near, "features": chosen["n_features"] == printed["features"]})


def advice(preselections: pd.DataFrame, threshold: float) -> pd.DataFrame:
    """Return the best preselection for each data set.

    Parameters
    ----------
    preselections : pandas.DataFrame
        One row for each data set and preselection: problem, preselection, accuracy, identifiability with ``_low`` and
        ``_high``, base_accuracy, base_identifiability, accuracy_change with ``_low`` and ``_high`` (see
        `accuracy_kept`).
    threshold : float
        Tolerated loss of accuracy, as a share of the base.

    Returns
    -------
    pandas.DataFrame
        Index problem. `best`: the preselection with the lowest identifiability among those that keep the accuracy; if
        none does, among those that do not lose it; if all lose it, the most accurate one. `accuracy`: whether it keeps
        the accuracy, see `accuracy_kept`. `indistinguishable`: other preselections that may be as good: their accuracy
        is not lost, and their interval of identifiability overlaps with that of the best or lies below it. `loss` and
        `reduction`: of accuracy and identifiability, compared with all features.
    """
    rows = {}
    decided = preselections.assign(decision=accuracy_kept(preselections, threshold))
    for problem, own in decided.groupby("problem", sort=False):
        kept, possible = own[own["decision"] == KEPT], own[own["decision"] != LOST]
        enough = kept if len(kept) else possible
        ranked = enough.sort_values("identifiability") if len(enough) else own.sort_values("accuracy", ascending=False)
        best = ranked.iloc[0]
        rivals = (possible if len(possible) else own).query("preselection != @best.preselection")
        near = rivals[rivals["identifiability_low"] <= best["identifiability_high"]]["preselection"]
        rows[problem] = {
            "best": best["preselection"],
            "accuracy": best["decision"],
            "indistinguishable": ", ".join(near),
            "loss": best["base_accuracy"] - best["accuracy"],
            "reduction": best["base_identifiability"] - best["identifiability"],
        }
    return pd.DataFrame.from_dict(rows, orient="index").rename_axis("problem")


def accuracy_kept(preselections: pd.DataFrame, threshold: float) -> pd.Series:
    """Return for each preselection whether its accuracy is kept, lost, undecided or not recomputed.

    Parameters
    ----------
    preselections : pandas.DataFrame
        base_accuracy; accuracy_change_low and accuracy_change_high: the interval of the paired difference from all
        features on the same rows. Tables of earlier versions have no such interval.
    threshold : float
        Tolerated loss of accuracy, as a share of the base.

    Returns
    -------
    pandas.Series of str
        `KEPT` if the whole interval lies within the tolerated loss, `LOST` if all of it lies beyond, `UNDECIDED` if it
        contains the limit, and `NOT_RECOMPUTED` if there is no interval.
    """
    paired = preselections.reindex(columns=["accuracy_change_low", "accuracy_change_high"]).astype(float)
    limit = -threshold * preselections["base_accuracy"]
    found = pd.Series(UNDECIDED, index=preselections.index)
    found[paired["accuracy_change_low"] >= limit] = KEPT
    found[paired["accuracy_change_high"] < limit] = LOST
    found[paired.isna().any(axis=1)] = NOT_RECOMPUTED
    return found


def losses_and_reductions(preselections: pd.DataFrame) -> pd.DataFrame:
    """Return each preselection's loss of accuracy and reduction of identifiability, in points, with intervals.

    Parameters
    ----------
    preselections : pandas.DataFrame
        As for :func:`advice`.

    Returns
    -------
    pandas.DataFrame
        Columns measure, problem, option, value, low, high. The intervals are those of the paired difference from all
        features on the same rows. Rows from earlier versions have none, and so no interval here.
    """
    parts = []
    words = {"accuracy": "loss of accuracy, points", "identifiability": "reduction of identifiability, points"}
    for name, measure in words.items():
        lost = preselections[f"base_{name}"] - preselections[name]
        paired = preselections.reindex(columns=[f"{name}_change_high", f"{name}_change_low"]).astype(float)
        numbers = {"value": 100 * lost, "low": -100 * paired.iloc[:, 0], "high": -100 * paired.iloc[:, 1]}
        about = preselections[["problem", "preselection"]].rename(columns={"preselection": "option"})
        parts.append(about.assign(measure=measure, **numbers))
    return pd.concat(parts, ignore_index=True)


def unanswered(ours: Iterable[str], absent: Mapping[str, str]) -> dict[str, str]:
    """Return why claims of the summary have no value.

    Parameters
    ----------
    ours : iterable of str
        The claims with a value.
    absent : mapping of str to str
        How to get each data set of `SETS` that is not on this machine.

    Returns
    -------
    dict of str to str
        The missing data, by claim id.
    """
    answered = set(ours)
    words = {SETS[name]: why for name, why in absent.items() if name in SETS}
    tables = {table: words[SETS[name]] for name, own in TABLES.items() if SETS[name] in words for table in own.values()}
    reasons = {}
    for claim in printed_numbers(1):
        if claim in answered or not claim.startswith(SUMMARY):
            continue
        _, table, *rest = claim.split("-")
        number = table.removeprefix("T")
        if claim.startswith(_LOGGED):
            reasons[claim] = "needs the authors' published logs, which are missing"
        elif number in tables:
            reasons[claim] = tables[number]
        elif rest[0] in words:
            reasons[claim] = words[rest[0]]
        elif table == "text":
            reasons[claim] = "needs runs of notebooks 10 and 11, or the authors' published logs, which are missing"
    return reasons


def most_often(values: Iterable[float]) -> float:
    """Return the most frequent value, the smallest of several."""
    return float(pd.Series(list(values)).mode().min())


def _within(seconds: float, pace: float) -> int:
    """Return the largest number of features that can be searched in this time, with `pace` seconds for each subset."""
    return max(size for size in range(1, 40) if 2**size * pace < seconds)


def _effectiveness(table: str) -> dict[float, float]:
    """Return the printed values of relative effectiveness that are numbers, by threshold."""
    printed = printed_numbers(1)
    cells = {threshold: printed[cell(table, threshold, "effectiveness")] for threshold in THRESHOLDS}
    return {threshold: value for threshold, value in cells.items() if not pd.isna(value)}


def _best_threshold(table: str) -> float:
    values = _effectiveness(table)
    return max(values, key=lambda threshold: (values[threshold], -threshold))


def _best_ablation() -> int:
    """Return the number of features with the highest relative effectiveness at threshold .01 in Tables 7 to 9."""
    sizes = {table: size for size, table in TABLES["opportunity"].items()}
    return sizes[max(sizes, key=lambda table: _effectiveness(table).get(0.01, float("-inf")))]


def _repeats(dataset: str, threshold: float) -> bool:
    """Return whether a data set's row of Table 2 equals the row of its selection table at a threshold."""
    printed = printed_numbers(1)
    table = table_of(dataset)
    names = ("accuracy", "identifiability")
    return all(printed[f"1-T2-{SETS[dataset]}-{name}"] == printed[cell(table, threshold, name)] for name in names)


def _numbers(text: str) -> list[int]:
    return [int(word.replace(",", "")) for word in re.findall(r"\d[\d,]*", text)]
