"""Compare the runs of paper 3: protocols, attacks, and the transformations that reach an aim."""

from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd

from compendium.papers.paper3.values import PREVENTED, prevented

SHIFTS = {"tables-1-3": "the paper's shift", "chosen-shift": "chosen on validation"}
_INFERENCE = {"public": "accuracy on the activity", "private": "accuracy on the private attribute"}
_COLUMNS = ["measure", "problem", "option", "value", "low", "high"]


_WORDS_OF = {
    **{"motionsense": "MotionSense", "mobifall": "MobiFall", "mobiact": "MobiAct", "smartwatch": "Smartwatch"},
    **{"raw": "six axes", "tail": "ends of recordings", "subjects": "unseen people"},
}


def problem(run: str) -> str:
    """Return the problem of a run in words: data set, private attribute, channels, test windows.

    Examples
    --------
    >>> problem("30_vae_anonymization-mobifall-gender-raw-subjects")
    'MobiFall, gender, six axes, unseen people'
    """
    return ", ".join(_WORDS_OF.get(word, word) for word in run.split("-")[1:])


def inference_intervals(tables: dict[str, pd.DataFrame]) -> pd.DataFrame:
    """Return the accuracies of the original models on all test windows, before and after, in every run of notebook 30.

    Parameters
    ----------
    tables : dict of str to pandas.DataFrame
        Rows of `latent.inference_table` with a column ``run``, for each table of `SHIFTS`.

    Returns
    -------
    pandas.DataFrame
        ``measure``, ``problem``, ``option`` (raw, then the values of `SHIFTS`, then chance), ``value``, ``low``,
        ``high``; no rows if there are no runs. The activity has no chance level here.
    """
    whole = {
        name: table[table["public class"] == "all"].to_dict("records") if len(table) else []
        for name, table in tables.items()
    }
    first = whole["tables-1-3"]
    rows = []
    for kind, measure in _INFERENCE.items():
        before, after = ([f"{kind}_{when}{end}" for end in ("", "_low", "_high")] for when in ("before", "after"))
        rows += [_row(measure, row, "raw", before) for row in first]
        for name, option in SHIFTS.items():
            rows += [_row(measure, row, option, after) for row in whole[name]]
    rows += [_row(_INFERENCE["private"], row, "chance", ["chance"] * 3) for row in first]
    return pd.DataFrame(rows, columns=_COLUMNS)


def attack_intervals(figure8: pd.DataFrame) -> pd.DataFrame:
    """Return by how much the paper's attacker exceeds the chance level in every run of notebook 31.

    Parameters
    ----------
    figure8 : pandas.DataFrame
        Rows of `sensorprivacy.game.Attacks.table` with a column ``run``.

    Returns
    -------
    pandas.DataFrame
        As `inference_intervals`. The measures are the levels; the options are the releases.
    """
    rows = []
    for row in figure8.to_dict("records"):
        above = row | {end: row[end] - row["chance"] for end in ("score", "low", "high")}
        rows.append(_row(f"{row['level']}: accuracy above chance", above, row["release"], ("score", "low", "high")))
    return pd.DataFrame(rows, columns=_COLUMNS)


def aims(frontiers: pd.DataFrame, strongest: pd.DataFrame, *, lost: float, above: float) -> pd.DataFrame:
    """Return the cost and the remaining risk of each release of notebook 31, and whether it reaches an aim.

    Parameters
    ----------
    frontiers : pandas.DataFrame
        ``run``, ``release``, ``activity``, ``cadence_error``. The release ``raw`` of each run has the accuracy on raw
        windows.
    strongest : pandas.DataFrame
        ``run``, ``release``, ``about``, ``level``, ``score``, ``low``, ``high``, ``chance``.
    lost : float
        Largest acceptable loss of activity accuracy, 0 to 1.
    above : float
        Margin over the chance level of the attack on the private attribute, see `values.prevented`.

    Returns
    -------
    pandas.DataFrame
        By ``problem`` and ``release``: ``activity``, ``lost``, ``cadence_error`` (steps per minute), the strongest
        attackers' accuracy above chance on the ``attribute`` and on ``identity`` (of a recording and of a person),
        ``prevented`` (yes, no or undecided; few people cannot show *yes*, see `values.prevented`) and ``reached``
        (prevented, and little enough is lost).
    """
    levels = [f"{what}, {level}" for what in ("attribute", "identity") for level in PREVENTED]
    columns = ["activity", "lost", "cadence_error", *levels, "prevented", "reached"]
    if frontiers.empty or strongest.empty:
        return pd.DataFrame(columns=columns)
    raw = frontiers[frontiers["release"] == "raw"].set_index("run")["activity"]
    rows = []
    for row in frontiers.to_dict("records"):
        attacks = strongest[(strongest["run"] == row["run"]) & (strongest["release"] == row["release"])]
        if attacks.empty:
            continue
        found: dict[str, Any] = {name: row.get(name) for name in ("release", "activity", "cadence_error")}
        found["problem"] = problem(row["run"])
        for attack in attacks[attacks["level"].isin(PREVENTED)].to_dict("records"):
            what = "identity" if attack["about"] == "subject" else "attribute"
            found[f"{what}, {attack['level']}"] = attack["score"] - attack["chance"]
        found["lost"] = raw.get(row["run"], np.nan) - row["activity"]
        found["prevented"] = ANSWERS[prevented(attacks, above)]
        found["reached"] = found["prevented"] if found["lost"] <= lost else "no"
        rows.append(found)
    return pd.DataFrame(rows, columns=["problem", "release", *columns]).set_index(["problem", "release"])


ANSWERS = {True: "yes", False: "no", None: "undecided"}


def _row(measure: str, row: Mapping[Any, Any], option: str, ends: Any) -> dict[str, Any]:
    """Return a row of an interval table; `ends` are the names of the value and of both ends of its interval."""
    value, low, high = (row[end] for end in ends)
    about = problem(row["run"])
    return {"measure": measure, "problem": about, "option": option, "value": value, "low": low, "high": high}
