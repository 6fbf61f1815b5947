"""The data of the two explorers: every printed value beside ours, and thresholds with sliders.

They show committed results only, and compute nothing new from data sets.
"""

import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from compendium.verdicts.layout import ours_text, title
from compendium.verdicts.printed import pair_in, printed_values
from compendium.verdicts.words import COLOURS, PAPERS, SIGNS
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


def verdicts_data(verdicts: pd.DataFrame, places: Mapping[str, Mapping[str, str]]) -> dict[str, Any]:
    """Return the data of the explorer.

    Parameters
    ----------
    verdicts : pandas.DataFrame
        ``figures/verdicts.csv``.
    places : mapping of str to mapping
        The addresses of each run's page (``page``), section of verdicts (``section``) and results (``results``).

    Returns
    -------
    dict
        ``claims``: one mapping for each printed value; ``tables``, ``papers``: titles; ``runs``: addresses; ``signs``
        and ``colours`` of the verdicts.
    """
    tables = verdicts[["paper", "table"]].drop_duplicates().itertuples(index=False)
    return {
        "claims": [_claim(row) for _, row in verdicts.iterrows()],
        "papers": PAPERS,
        "tables": {f"{paper}-{table}": title(paper, table) for paper, table in tables},
        "runs": {name: dict(place) for name, place in places.items()},
        "signs": SIGNS,
        "colours": COLOURS,
    }


def script(content: Mapping[str, Any], name: str) -> str:
    """Return data as a script that sets one global name: a page opened as a file may not fetch other files."""
    text = json.dumps(content, ensure_ascii=False, separators=(",", ":"), allow_nan=False).replace("</", "<\\/")
    return f"window.{name} = {text};\n"


def _claim(row: pd.Series) -> dict[str, Any]:
    ours, _, interval = ours_text(row).partition(" [")
    same = ("table", "row", "column", "printed", "unit", "verdict", "basis", "reason", "run")
    claim = {"id": row["claim_id"], "paper": int(row["paper"])} | {name: row[name] for name in same}
    claim |= {"ours": ours, "interval": f"[{interval}" if interval else ""}
    claim["entries"] = sorted(set(re.findall(r"\bD\d+\b", row["reason"])))
    return {key: value for key, value in claim.items() if value not in ("", [])}


def thresholds(figures: Path) -> dict[str, Any]:
    """Return the data of the sliders: thresholds of paper 2, the threshold of paper 1, shifts of paper 3, epsilon."""
    return {made.__name__: made(figures) for made in (divisions, searches, shifts, noise)}


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
                {name: row[name] for name in ("threshold", "features")}
                | {name: _triple(row, name) for name in ("accuracy", "identifiability")}
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
    names = {"public_after": "public", "private_after": "private", "worst_public": "worst"}
    shown = table.assign(length=lengths).rename(columns=names)
    rows = shown[["alpha", "beta", "length", "public", "private", "worst", "distortion"]].to_dict("records")
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
    folders = sorted(figures.glob("50_one_game-*"))
    for folder in sorted(folders, key=lambda folder: not folder.match("*-motionsense-subject")):
        table = pd.read_csv(folder / "defences.csv")
        raw = table[table["defence"] == "none"].iloc[0]
        known = table.join(table["defence"].str.extract(r"^(?P<kind>.*?)[:,]epsilon=(?P<epsilon>[\d.]+)$"))
        rows = [
            {"kind": row["kind"], "epsilon": float(row["epsilon"])}
            | {name: _triple(row, name) for name in ("accuracy", "attack")}
            for _, row in known.dropna(subset="epsilon").iterrows()
        ]
        ends = {"accuracy": raw["accuracy"], "attack": raw["attack"], "chance": raw["chance"]}
        made.append({"name": folder.name.partition("-")[2], "run": folder.name, "raw": ends, "rows": rows})
    return made


def _triple(row: pd.Series, name: str) -> list[float]:
    return [round(float(row[key]), 4) for key in (name, f"{name}_low", f"{name}_high")]
