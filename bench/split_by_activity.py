"""Which activities drive the fall of identifiability when recordings stay whole? MotionSense, as in notebook 10.

The forest of ``figures/10_reidentification_game-motionsense/base.csv`` is trained again, on windows drawn at random and
on whole recordings, and its test windows are counted by activity. Over all activities it must give the numbers of
``base.csv``. The chance level is that of all test windows.

    python bench/split_by_activity.py           # 10 trees, ten seconds
    python bench/split_by_activity.py --full    # 100 trees, half a minute, writes bench/results/split_by_activity.csv
"""

import argparse
from pathlib import Path

import numpy as np
import pandas as pd
from sklearn.ensemble import RandomForestClassifier

from compendium import datasets
from sensorprivacy import game
from sensorprivacy.game.chance import guessed

HERE = Path(__file__).resolve().parent
BASE = HERE.parent / "figures/10_reidentification_game-motionsense/base.csv"
SEED = 42
STILL = ("sit", "std")


def counted(problem, split, trees: int) -> list[dict]:
    """Return the share of test windows whose person a forest identifies, for each activity and for groups of them."""
    features, users = problem.filled(split.train).features.to_numpy(), problem.users.to_numpy()
    model = RandomForestClassifier(trees, random_state=SEED).fit(features[split.train], users[split.train])
    right = model.predict(features[split.test]) == users[split.test]
    chance = guessed(users[split.train], users[split.test]).mean()
    done, clusters = problem.task.to_numpy()[split.test], split.clusters(split.test)
    still = np.isin(done, STILL)
    parts = {"all": still | True, "sitting, standing": still, "others": ~still}
    parts |= {each: done == each for each in np.unique(done)}
    unit, rows = "windows" if clusters is None else "recordings", []
    for name, some in parts.items():
        found = game.share(right[some], None if clusters is None else clusters[some], unit=unit)
        ends = {"score": found.score, "low": found.low, "high": found.high, "chance": chance}
        rows.append({"apart": unit, "activities": name, "windows": found.rows, **ends, "n": found.n, "unit": unit})
    return rows


def main() -> None:
    """Measure, compare with the committed table, and print or write the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--full", action="store_true", help="100 trees, and write the table")
    full = parser.parse_args().full
    problem = datasets.problem("motionsense")
    random = game.paper_split(problem.name, problem.n_records, seed=SEED)
    splits = (random, game.leak_free(problem, random, seed=SEED))
    table = pd.DataFrame([row for split in splits for row in counted(problem, split, 100 if full else 10)])
    print(table.round(3).to_string(index=False))
    if full:
        names = ["identifiability", "identifiability_low", "identifiability_high", "identifiability_chance"]
        whole = table[table["activities"] == "all"][["score", "low", "high", "chance"]]
        np.testing.assert_allclose(whole, pd.read_csv(BASE)[names], atol=1e-9)
        table.to_csv(HERE / "results/split_by_activity.csv", index=False, float_format="%.6g")


if __name__ == "__main__":
    main()
