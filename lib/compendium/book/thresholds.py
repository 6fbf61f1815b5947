"""The data of the threshold explorer. It shows committed results only, and computes nothing new from data sets."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from compendium.book.home import GAME
from compendium.verdicts.printed import pair_in, printed_values
from sensorprivacy.threeway.division import Sizes
from sensorprivacy.threeway.measures import stability, suitability

STEP = 0.05  # paper 2's step
SETS = {
    "titanic": "Titanic",
    "adult": "Adult (first 1,309 rows)",
    "bank": "Bank Marketing",
    "heart": "Heart Disease",
    "student": "Student Performance",
}


def data(figures: Path) -> dict[str, Any]:
    """Return the data of the three explorers: thresholds of paper 2, the threshold of paper 1, shifts of paper 3."""
    return {"divisions": divisions(figures), "searches": searches(figures), "shifts": shifts(figures)} | {
        "noise": noise(figures)
    }


def divisions(figures: Path) -> list[dict[str, Any]]:
    """Return paper 2's groups and measures at every pair of thresholds on a lattice of steps of 0.05.

    They follow from the committed entropies of each data set, by the functions of :mod:`sensorprivacy.threeway`.

    Returns
    -------
    list of dict
        ``name``, ``attributes`` (name and evaluation), ``printed`` (the paper's thresholds), ``found`` (ours) and
        ``rows``: alpha, beta, utility, stability, suitability in hundredths, thousandths for the measures.
    """
    values = printed_values(2).set_index("claim_id")["printed"]
    made = []
    for key, name in SETS.items():
        folder = figures / f"21_threeway_division-{key}"
        table = pd.read_csv(folder / "entropy.csv").set_index("attribute")
        entropies, evaluation = table["entropy (nats)"], table["evaluation"]
        steps = np.round(np.arange(0, 1 + STEP / 2, STEP), 2)
        pairs = [(float(a), float(b)) for a in steps for b in steps if b <= a]
        ends = pd.read_csv(folder / "searches.csv").query("search == 'alternate'").to_dict("records")[0]
        printed = pair_in(values[f"2-text-final-{key}"])
        made.append(
            {
                "name": name,
                "run": folder.name,
                "attributes": [[str(a), round(float(e), 4)] for a, e in evaluation.items()],
                "printed": [printed[0][0], printed[1][0]],
                "found": [float(ends["alpha"]), float(ends["beta"])],
                "rows": [[a, b, *measures(entropies, evaluation, a, b)] for a, b in pairs],
            }
        )
    return made


def measures(entropies: pd.Series, evaluation: pd.Series, alpha: float, beta: float) -> tuple[float, float, float]:
    """Return utility (as printed), stability and suitability of the division at a pair of thresholds."""
    levels, values = evaluation.to_numpy(), entropies.to_numpy()
    kept = levels < alpha
    published = int(np.count_nonzero(kept & (levels <= beta)))
    useful = float(values[kept].mean() / values.mean()) if kept.any() else 0.0
    stable = stability(Sizes(len(levels) - int(kept.sum()), published, int(kept.sum()) - published))
    return round(useful, 4), round(stable, 4), round(suitability(useful, stable), 4)


def searches(figures: Path) -> list[dict[str, Any]]:
    """Return paper 1's selection at each committed threshold, for each data set and number of searched columns."""
    made = []
    for folder in sorted(figures.glob("10_reidentification_game-*")):
        table = pd.read_csv(folder / "ablation.csv")
        for searched, own in table.groupby("searched"):
            rows = [
                {
                    "threshold": row["threshold"],
                    "features": row["features"],
                    "accuracy": _triple(row, "accuracy"),
                    "identifiability": _triple(row, "identifiability"),
                }
                for _, row in own.iterrows()
            ]
            name = folder.name.partition("-")[2]
            made.append({"name": f"{name}, {searched} columns searched", "run": folder.name, "rows": rows})
    return made


def shifts(figures: Path) -> dict[str, Any]:
    """Return paper 3's frontier over the weights of the loss and the length of the shift."""
    run = "30_vae_anonymization-motionsense-gender"
    table = pd.read_csv(figures / run / "grid.csv")
    lengths = table["transfer"].str.extract(r"x([\d.]+)$")[0].fillna("1").astype(float)
    rows = [
        {
            "alpha": row["alpha"],
            "beta": row["beta"],
            "length": length,
            "public": row["public_after"],
            "private": row["private_after"],
            "worst": row["worst_public"],
            "distortion": row["distortion"],
        }
        for (_, row), length in zip(table.iterrows(), lengths, strict=True)
    ]
    before = pd.read_csv(figures / run / "shifts.csv")["public_before"].iloc[0]
    attack = figures / "31_reidentification_attack-motionsense-gender"
    strongest = pd.read_csv(attack / "strongest.csv").query("about == 'gender' and level == 'recording'")
    known = pd.read_csv(attack / "frontier.csv")[["release", "activity"]].merge(strongest, on="release")
    releases = [[r["release"], r["activity"], r["score"], r["chance"]] for _, r in known.iterrows()]
    settings = json.loads((figures / run / "run.json").read_text(encoding="utf-8"))["parameters"]
    chosen = {name: settings[name] for name in ("alpha", "beta")}
    return {"run": run, "rows": rows, "before": float(before), "releases": releases, "chosen": chosen}


def noise(figures: Path) -> list[dict[str, Any]]:
    """Return the defences of the common game that have an epsilon, for each data set."""
    made = []
    for folder in sorted(figures.glob("50_one_game-*"), key=lambda folder: (folder.name != GAME, folder.name)):
        table = pd.read_csv(folder / "defences.csv")
        raw = table[table["defence"] == "none"].iloc[0]
        rows = list(_with_epsilon(table))
        ends = {"accuracy": raw["accuracy"], "attack": raw["attack"], "chance": raw["chance"]}
        made.append({"name": folder.name.partition("-")[2], "run": folder.name, "raw": ends, "rows": rows})
    return made


def _with_epsilon(table: pd.DataFrame) -> Iterator[dict[str, Any]]:
    parts = table["defence"].str.extract(r"^(?P<kind>.*?)[:,]epsilon=(?P<epsilon>[\d.]+)$")
    for (_, row), (_, part) in zip(table.iterrows(), parts.iterrows(), strict=True):
        if pd.notna(part["epsilon"]):
            yield {
                "kind": part["kind"],
                "epsilon": float(part["epsilon"]),
                "accuracy": _triple(row, "accuracy"),
                "attack": _triple(row, "attack"),
            }


def _triple(row: pd.Series, name: str) -> list[float]:
    return [round(float(row[key]), 4) for key in (name, f"{name}_low", f"{name}_high")]
