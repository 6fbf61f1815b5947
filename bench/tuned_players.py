"""Measure two sentences of paper 1: what tuning changes for both players, and whether a search beats greedy sets.

Tuning (section 3.1): each player's forest has the parameters with the highest accuracy in a grid, by cross-validation
on the training rows. Search (section 4.3): sets are chosen on validation rows and judged on test rows, so that the
larger number of sets does not help the search. Greedy sets have the paper's sizes and the order of the search's pool,
and are as accurate on the validation rows as the set that the search chose.

    python bench/tuned_players.py           # one draw of 600 training rows
    python bench/tuned_players.py --full    # five draws, writes bench/results/tuned_players.csv; 90 seconds on one core
"""

import argparse
from pathlib import Path

import pandas as pd
from sklearn.ensemble import RandomForestClassifier
from sklearn.model_selection import GridSearchCV

from compendium import datasets
from compendium.papers.paper1.experiments import preselect
from sensorprivacy import game, minimize

HERE = Path(__file__).resolve().parent
GRID = {"min_samples_leaf": [1, 3, 10], "max_features": ["sqrt", 0.5]}
POOL, THRESHOLD, TREES = 7, 0.01, 50


def tuned(problem, split, seed):
    """Return the accuracy of both players on all features, with default and with tuned forests."""
    table, row = problem.filled(split.train).features.to_numpy(), {}
    for measure, labels in (("accuracy", problem.task.to_numpy()), ("identifiability", problem.users.to_numpy())):
        forest = RandomForestClassifier(TREES, random_state=seed)
        learned = table[split.train], labels[split.train]
        found = GridSearchCV(forest, GRID, cv=3).fit(*learned)
        for name, model in (("default", forest.fit(*learned)), ("tuned", found.best_estimator_)):
            row[f"{measure}, {name}"] = model.score(table[split.test], labels[split.test])
        row[f"{measure}, leaf"] = found.best_params_["min_samples_leaf"]
    return row


def searched(problem, split, seed):
    """Return what the two stages and the greedy stage alone choose on validation rows, judged on test rows."""
    forest, row = RandomForestClassifier(TREES), {}
    pools, scores = preselect(problem, split.train, ["shap-ratio"], POOL, max_rows=50, forest=forest, seed=seed)
    how = {"split": split, "part": "validation", "model": forest, "seed": seed, "engine": "shared", "progress": False}
    best = minimize.search_subsets(problem, pools["shap-ratio"], **how).select(THRESHOLD)
    alone = minimize.sweep_methods(problem, ["shap_ratio"], scores={"shap": scores["shap-ratio"]}, **how)["shap_ratio"]
    enough = alone[alone["accuracy"] >= best["accuracy"]].sort_values("identifiability")["features"]
    how = {"split": split, "model": forest, "seed": seed}
    for name, chosen in (("two stages", best["features"]), ("greedy", next(iter(enough), None))):
        if chosen is not None:
            shown = game.play(problem, list(chosen), **how).to_series()
            row |= {f"{measure}, {name}": shown[measure] for measure in ("accuracy", "identifiability")}
            row[f"features, {name}"] = len(chosen)
    return row


def main() -> None:
    """Measure and print the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--full", action="store_true", help="five draws of 2,000 training rows")
    full, rows = parser.parse_args().full, []
    for name in ("cic-ids-2017", "iot-23"):
        problem = datasets.problem(name)
        for seed in range(5 if full else 1):
            split = game.leak_free(problem, game.paper_split(name, problem.n_records, seed=seed), seed=seed)
            split = split.capped(2000 if full else 600, 4000, seed=seed).halved(seed=seed)
            rows.append(
                {"problem": name, "draw": seed, **tuned(problem, split, seed), **searched(problem, split, seed)}
            )
            print(rows[-1], flush=True)
    table = pd.DataFrame(rows)
    print(table.groupby("problem").mean().T.to_string())
    if full:
        table.to_csv(HERE / "results" / "tuned_players.csv", index=False, float_format="%.4f")


if __name__ == "__main__":
    main()
