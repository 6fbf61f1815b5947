"""The statements in the text of paper 1: its numbers, by claim id, and the tables behind its advice."""

import math
import re
from collections.abc import Iterable
from typing import Any

import pandas as pd

from compendium.papers.paper1.published import Choices
from compendium.papers.paper1.values import SETS, TABLES, by_set, printed_table, table_of
from compendium.readers.iot23 import IOT23_FEATURES
from compendium.readers.opportunity import LOCOMOTION
from sensorprivacy.minimize import METHODS
from sensorprivacy.minimize.select import THRESHOLDS

KEPT, LOST, UNDECIDED = "kept", "lost", "undecided"
_STAGES = {"shap": "SHAP", "information": "mutual information", "gini": "Gini", "ratio": "cost to value"}
_TWO_HOURS = 7200


def printed_statements() -> dict[str, Any]:
    """Return the numbers in the text, computed again from the paper's own tables.

    The abstract's 16.7 % is the largest reduction of identifiability in Table 2 among rows that lose less than a point
    of accuracy. Its loss is that of the row whose reduction is nearest to 16.7 %. The threshold of Table 2 is the one
    whose rows in Tables 4 to 12 it repeats. A threshold is reasonable "across multiple data sets" if most of these
    tables have their highest relative effectiveness there. It "remains low" on service recognition if its highest value
    is below that of every other data set, of the largest search of each. The classes of Opportunity are those of its
    files.
    """
    sets, both = by_set("1").astype(int), by_set("2")
    loss = (both["sota-accuracy"] - both["accuracy"]).round(6)
    reduction = (both["sota-identifiability"] - both["identifiability"]).round(6)
    largest, nearest = str(reduction[loss < 0.01].idxmax()), str((reduction - 0.167).abs().idxmin())
    relaxed = printed_table("4").loc[0.1]
    effectiveness = {
        number: pd.to_numeric(printed_table(number)["effectiveness"], errors="coerce").dropna()
        for own in TABLES.values()
        for number in own.values()
    }
    highest = pd.Series({name: effectiveness[str(table_of(name))].max() for name in SETS})
    opportunity = {size: effectiveness[number].get(0.01, -math.inf) for size, number in TABLES["opportunity"].items()}
    return {
        "1-text-identifiability-reduction": reduction[largest],
        "1-text-abstract-loss": bool(loss[nearest] < 0.01),
        "1-text-iot23-reduction": reduction["iot-23"],
        "1-text-iot23-loss": loss["iot-23"] < 0.01,
        "1-text-relaxed-identifiability": relaxed["identifiability"],
        "1-text-maintained-accuracy": relaxed["accuracy"],
        "1-text-threshold-table2": next(level for level in THRESHOLDS if _repeated(both, level)),
        "1-text-intro-datasets": len(sets),
        "1-text-devices": sets.loc["amir-netml", "classes"],
        "1-text-classes": sets.loc["service-recognition", "classes"],
        "1-text-dense-features": sets.loc["amir-netml", "features"],
        "1-text-sparse-features": sets.loc["amir-nprint", "features"],
        "1-text-ablation-best": max(opportunity, key=lambda size: opportunity[size]),
        "1-text-reasonable-threshold": most_often(float(str(own.idxmax())) for own in effectiveness.values()),
        "1-text-sparse-low-effectiveness": str(highest.idxmin()) == "service-recognition",
        "1-text-opportunity-classes": list(LOCOMOTION.values()),
        "1-text-methods": len({method.number for method in METHODS.values()}),
    }


def published_statements(protocol: pd.DataFrame, found: Choices) -> dict[str, Any]:
    """Return the numbers in the text that the authors' own notebooks and logs give.

    Parameters
    ----------
    protocol : pandas.DataFrame
        Facts from their notebooks: columns dataset, topic, fact.
    found : Choices
        What the rule chooses from their logs.

    Returns
    -------
    dict of str to object
        The rows of service recognition; whether both players' models were tuned; whether searching 16 features takes
        two hours at their speed; the smallest and largest number of features that their greedy stage kept, which cannot
        decide the numbers that they recommend; the only feature of IoT-23 at threshold .01.
    """
    facts = protocol.set_index(["dataset", "topic"])["fact"]
    subsets, milliseconds = _numbers(str(facts["iot23", "timing: exhaustive"]))[:2]
    pace = milliseconds / 1000 / subsets
    # the nine features of IoT-23 needed no preselection
    kept = [size for name, size in found.searched.items() if name != "iot-23"]
    chosen: Any = found.picked["4"].loc[0.01]
    return {
        "1-text-flows": int(_numbers(str(facts["service", "rows"]))[0]),
        "1-text-hyperparameters": "default settings" not in str(facts["all", "exhaustive search"]),
        "1-text-hours-features": 2**16 * pace >= _TWO_HOURS,  # fewer features may take hours, too (D20)
        "1-text-preselected-from": min(kept),
        "1-text-preselected-to": max(kept),
        "1-text-recommended-from": None,
        "1-text-recommended-to": None,
        "1-text-iot23-feature": IOT23_FEATURES[chosen["features"][0]],
    }


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
    """Return for each preselection whether its accuracy is kept, lost or undecided.

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
        `KEPT` if the whole interval lies within the tolerated loss, `LOST` if all of it lies beyond, and `UNDECIDED` if
        it contains the limit.
    """
    limit = -threshold * preselections["base_accuracy"]
    found = pd.Series(UNDECIDED, index=preselections.index)
    found[preselections["accuracy_change_low"] >= limit] = KEPT
    found[preselections["accuracy_change_high"] < limit] = LOST
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
        Columns measure, problem, option (in words), value, low, high. The intervals are those of the paired
        difference from all features on the same rows.
    """
    parts = []
    measures = {"accuracy": "loss of accuracy, points", "identifiability": "reduction of identifiability, points"}
    for name, measure in measures.items():
        lost = preselections[f"base_{name}"] - preselections[name]
        low, high = (-100 * preselections[f"{name}_change_{end}"] for end in ("high", "low"))
        numbers = {"value": 100 * lost, "low": low, "high": high}
        stages = preselections["preselection"].str.split("-", expand=True).replace(_STAGES)
        about = pd.DataFrame({"problem": preselections["problem"], "option": stages[0] + " by " + stages[1]})
        parts.append(about.assign(measure=measure, **numbers))
    return pd.concat(parts, ignore_index=True)


def most_often(values: Iterable[float]) -> float:
    """Return the most frequent value, the smallest of several."""
    return float(pd.Series(list(values)).mode().min())


def _repeated(both: pd.DataFrame, threshold: float) -> bool:
    """Return whether every row of Table 2 equals the row of its data set's selection table at a threshold."""
    names = ["accuracy", "identifiability"]
    rows = {name: printed_table(table_of(name)).loc[threshold, names] for name in SETS}
    return bool((both[names] == pd.DataFrame(rows).T).all(axis=None))


def _numbers(text: str) -> list[int]:
    return [int(word.replace(",", "")) for word in re.findall(r"\d[\d,]*", text)]
