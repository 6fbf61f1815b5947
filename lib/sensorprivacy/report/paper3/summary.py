"""Paper 3's runs side by side: protocols, attacks, and which transformations reach an aim."""

from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd

SHIFTS = {"tables-1-3": "the paper's shift", "chosen-shift": "chosen on validation"}
_INFERENCE = {"public": "activity told", "private": "private attribute told"}
_BOUNDS = ("", "_low", "_high")


def problem(run: str) -> str:
    """Return what a run is about: its name without its notebook's."""
    return run.split("-", 1)[1]


def inference_intervals(tables: dict[str, pd.DataFrame]) -> pd.DataFrame:
    """Return what the original models tell of all test windows, before and after, in every run of notebook 30.

    Parameters
    ----------
    tables : dict of str to pandas.DataFrame
        Rows of `latent.inference_table` with a column ``run``, by name of the table: those of `SHIFTS`.

    Returns
    -------
    pandas.DataFrame
        ``measure``, ``problem``, ``option`` (raw, then the words of `SHIFTS`, then chance), ``value``, ``low``,
        ``high``; no rows where there are no runs. The activity has no chance level here.
    """
    rows = []
    first = _all(tables["tables-1-3"]).to_dict("records")
    for kind, measure in _INFERENCE.items():
        rows += [_row(measure, row, "raw", [row[f"{kind}_before{end}"] for end in _BOUNDS]) for row in first]
        for table, words in SHIFTS.items():
            some = _all(tables[table]).to_dict("records")
            rows += [_row(measure, row, words, [row[f"{kind}_after{end}"] for end in _BOUNDS]) for row in some]
    rows += [_row(_INFERENCE["private"], row, "chance", [row["chance"]] * 3) for row in first]
    return pd.DataFrame(rows, columns=["measure", "problem", "option", "value", "low", "high"])


def attack_intervals(figure8: pd.DataFrame) -> pd.DataFrame:
    """Return how far the paper's attacker gets above chance in every run of notebook 31.

    Parameters
    ----------
    figure8 : pandas.DataFrame
        Rows of `latent.frontier.attack_all` with a column ``run``.

    Returns
    -------
    pandas.DataFrame
        As `inference_intervals`: measures are windows and votes over a recording, options are the releases.
    """
    rows = []
    for row in figure8.to_dict("records"):
        for ends, chance, measure in (
            (("accuracy", "low", "high"), "chance", "windows, above chance"),
            (("vote", "vote_low", "vote_high"), "vote_chance", "vote of a recording, above chance"),
        ):
            found = [row[end] - row[chance] for end in ends]
            rows.append(_row(measure, row, row["release"], found))
    return pd.DataFrame(rows, columns=["measure", "problem", "option", "value", "low", "high"])


def aims(frontiers: pd.DataFrame, *, lost: float, above: float) -> pd.DataFrame:
    """Return what each release of notebook 31 costs and leaves, and whether it reaches an aim.

    Parameters
    ----------
    frontiers : pandas.DataFrame
        ``run``, ``release``, ``activity``, ``vote``, ``vote_chance``, ``attacker``, ``distortion``; the release ``raw``
        of each run has the activity told from raw windows and no attack.
    lost : float
        Share of activity that may be lost, 0 to 1.
    above : float
        How far above chance the strongest attacker's vote may lie, 0 to 1.

    Returns
    -------
    pandas.DataFrame
        By ``problem`` and ``release``: ``activity``, ``lost``, ``attacker``, ``vote``, ``above_chance``,
        ``distortion``, ``reached``.
    """
    columns = ["activity", "lost", "attacker", "vote", "above_chance", "distortion", "reached"]
    if frontiers.empty:
        return pd.DataFrame(columns=columns)
    raw = frontiers[frontiers["release"] == "raw"].set_index("run")["activity"]
    found = frontiers[frontiers["vote"].notna()].copy()
    found["problem"] = [problem(run) for run in found["run"]]
    found["lost"] = found["run"].map(raw) - found["activity"]
    found["above_chance"] = found["vote"] - found["vote_chance"]
    within = (found["lost"] <= lost) & (found["above_chance"] <= above)
    found["reached"] = np.where(within, "yes", "no")
    return found.set_index(["problem", "release"])[columns]


def _all(table: pd.DataFrame) -> pd.DataFrame:
    return table[table["public class"] == "all"] if len(table) else table


def _row(measure: str, row: Mapping[Any, Any], option: str, values: list[float]) -> dict[str, str | float]:
    value, low, high = values
    about = problem(row["run"])
    return {"measure": measure, "problem": about, "option": option, "value": value, "low": low, "high": high}
