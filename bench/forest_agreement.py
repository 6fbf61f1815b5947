"""Do searches with the shared forest give scikit-learn's answers? Every subset of a real 10-feature problem.

Three searches of both labels: the shared forest, scikit-learn, and scikit-learn under another seed. The measure is
what scikit-learn differs from itself. The scikit-learn searches are kept in a store and resume.

Half of the rows are held out, so that a score is not mostly the chance of few rows. What each search chooses is judged
by other forests: the mean of scikit-learn's under five further seeds, none of which chose.

    python bench/forest_agreement.py --store FILE            # 5 of the features, 20 trees
    python bench/forest_agreement.py --store FILE --full     # 10 features, 100 trees; writes the results
    python bench/forest_agreement.py --singles 60            # each feature alone, both forests under 60 seeds

The last one looks at the bias of one-feature subsets, which a single pair of seeds tells badly: where a feature has few
values and there are many classes, near ties make the score jump with the seed.
"""

import argparse
from pathlib import Path

import numpy as np
import pandas as pd
from scipy.stats import spearmanr
from sklearn.ensemble import RandomForestClassifier

from forest_cases import Case, table
from sensorprivacy.game import play, random_split
from sensorprivacy.minimize.engine_protocol import engine_data
from sensorprivacy.minimize.forest.engine import SharedEngine
from sensorprivacy.minimize.search.exhaustive import search_subsets
from sensorprivacy.minimize.select import THRESHOLDS

RESULTS = Path(__file__).resolve().parent / "results"
JUDGES = (100, 105)  # seeds of the forests that judge the choices
PAIRS = (("shared, sklearn", "shared", "sklearn"), ("sklearn, sklearn reseeded", "sklearn", "reseeded"))


def compare(name, label, one, other):
    """Return how two columns of scores differ, in points."""
    gap = 100 * (one[label] - other[label])
    single = gap[one["n_features"] == 1]
    return {
        "pair": name,
        "label": label,
        "subsets": len(gap),
        "mean_abs": gap.abs().mean(),
        "max_abs": gap.abs().max(),
        "bias": gap.mean(),
        "bias_single_feature": single.mean(),
        "max_abs_single_feature": single.abs().max(),
        "spearman": spearmanr(one[label], other[label]).statistic,
    }


def judged(game, features, split, trees):
    """Return the mean accuracy of both players on these features, over forests that chose nothing."""
    seeds = range(JUDGES[0], JUDGES[1])
    played = [play(game, features, model=RandomForestClassifier(trees), split=split, seed=seed) for seed in seeds]
    return {what: np.mean([getattr(each, what) for each in played]) for what in ("accuracy", "identifiability")}


def choices(found, game, split, trees):
    """Return what each search chooses at the paper's thresholds, judged by forests of further seeds."""
    known, rows = {}, []
    for level in THRESHOLDS:
        row = {"threshold": level}
        for name, result in found.items():
            chosen = result.select(level)["features"]
            if chosen not in known:
                known[chosen] = judged(game, list(chosen), split, trees)
            row |= {f"features_{name}": len(chosen)} | {f"{what}_{name}": at for what, at in known[chosen].items()}
        rows.append(row)
    return pd.DataFrame(rows)


def singles(game, split, seeds):
    """Print for each feature alone the mean score over many seeds of either forest, and their difference."""
    held = engine_data(game, split)
    for label, (known, asked) in held.labels.items():
        for column, name in enumerate(game.features):
            one, other = held.train[:, [column]], held.test[:, [column]]
            ours, theirs = np.empty(seeds), np.empty(seeds)
            for seed in range(seeds):
                ours[seed] = SharedEngine(held, RandomForestClassifier(100), seed, 1).score([(column,)], label)[0]
                theirs[seed] = RandomForestClassifier(100, random_state=seed).fit(one, known).score(other, asked)
            noise = np.sqrt((ours.var() + theirs.var()) / seeds)
            bias = ours.mean() - theirs.mean()
            print(f"{label:6} {name:32} {100 * bias:6.2f} points +- {100 * noise:.2f}", flush=True)


def main():
    """Search three times and compare."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--full", action="store_true")
    parser.add_argument("--store", type=Path)
    parser.add_argument("--singles", type=int, help="seeds")
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--rows", type=int, default=2000)
    arguments = parser.parse_args()
    game = table(Case(f"MotionSense, {arguments.rows:,} windows", "motionsense", "task", arguments.rows, 10))
    if arguments.singles:
        singles(game, random_split(game.n_records, test=0.5, seed=0), arguments.singles)
        return
    features = list(game.features)[:: 1 if arguments.full else 2]
    trees = 100 if arguments.full else 20
    split = random_split(game.n_records, test=0.5, seed=0)
    base = {
        "model": RandomForestClassifier(trees),
        "split": split,
        "result_store": arguments.store,
        "allow_long": True,
    }
    found = {
        "shared": search_subsets(game, features, engine="shared", seed=0, **base),
        "sklearn": search_subsets(game, features, engine="sklearn", seed=0, n_jobs=arguments.jobs, **base),
        "reseeded": search_subsets(game, features, engine="sklearn", seed=1, n_jobs=arguments.jobs, **base),
    }
    gaps = pd.DataFrame(
        compare(name, label, found[one].table, found[other].table)
        for label in ("accuracy", "identifiability")
        for name, one, other in PAIRS
    ).round(4)
    chosen = choices(found, game, split, trees).round(4)
    print(gaps.to_string(index=False), chosen.to_string(index=False), sep="\n\n")
    if arguments.full:
        gaps.to_csv(RESULTS / "forest_agreement.csv", index=False, lineterminator="\n")
        chosen.to_csv(RESULTS / "forest_agreement_choices.csv", index=False, lineterminator="\n")
        (RESULTS / "forest_agreement.md").write_text(
            f"# Shared forest against scikit-learn: all {gaps['subsets'][0]} subsets of {game.name}\n\n"
            f"`python bench/forest_agreement.py --full --rows {arguments.rows}`: differences in points of accuracy; "
            "the second row of each label is what scikit-learn differs from itself under another seed.\n\n"
            + gaps.to_markdown(index=False)
            + "\n\nWhat each search chooses at each threshold, judged by scikit-learn's forests of five further seeds "
            "(means):\n\n" + chosen.to_markdown(index=False) + "\n"
        )


if __name__ == "__main__":
    main()
