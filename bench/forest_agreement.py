"""Do searches with the shared forest give scikit-learn's answers? Every subset of a real 10-feature problem.

Three searches of both labels: the shared forest, scikit-learn, and scikit-learn under another seed. The measure is
what scikit-learn differs from itself. The scikit-learn searches are kept in a store and resume.

    python bench/forest_agreement.py --store FILE            # 5 of the features, 20 trees
    python bench/forest_agreement.py --store FILE --full     # 10 features, 100 trees; writes the results
"""

import argparse
from pathlib import Path

import pandas as pd
from scipy.stats import spearmanr
from sklearn.ensemble import RandomForestClassifier

from forest_cases import Case, table
from sensorprivacy.game import random_split
from sensorprivacy.minimize.search import search
from sensorprivacy.minimize.select import THRESHOLDS

RESULTS = Path(__file__).resolve().parent / "results"
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


def choices(found):
    """Return what each search chooses at the paper's thresholds, judged by the first scikit-learn search."""
    judge = found["sklearn"].table.set_index("features")
    rows = []
    for level in THRESHOLDS:
        row = {"threshold": level}
        for name, result in found.items():
            chosen = result.select(level)["features"]
            row |= {
                f"features_{name}": len(chosen),
                f"accuracy_{name}": judge["accuracy"][chosen],
                f"identifiability_{name}": judge["identifiability"][chosen],
            }
        rows.append(row)
    return pd.DataFrame(rows)


def main():
    """Search three times and compare."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--full", action="store_true")
    parser.add_argument("--store", type=Path, required=True)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--rows", type=int, default=5000)
    arguments = parser.parse_args()
    game = table(Case(f"MotionSense, {arguments.rows:,} windows", "motionsense", "task", arguments.rows, 10))
    features = list(game.features)[:: 1 if arguments.full else 2]
    base = {
        "model": RandomForestClassifier(100 if arguments.full else 20),
        "split": random_split(game.n_records, test=0.3, seed=0),
        "store": arguments.store,
        "allow_long": True,
    }
    found = {
        "shared": search(game, features, engine="shared", seed=0, **base),
        "sklearn": search(game, features, engine="sklearn", seed=0, n_jobs=arguments.jobs, **base),
        "reseeded": search(game, features, engine="sklearn", seed=1, n_jobs=arguments.jobs, **base),
    }
    gaps = pd.DataFrame(
        compare(name, label, found[one].table, found[other].table)
        for label in ("accuracy", "identifiability")
        for name, one, other in PAIRS
    ).round(4)
    chosen = choices(found).round(4)
    print(gaps.to_string(index=False), chosen.to_string(index=False), sep="\n\n")
    if arguments.full:
        gaps.to_csv(RESULTS / "forest_agreement.csv", index=False, lineterminator="\n")
        chosen.to_csv(RESULTS / "forest_agreement_choices.csv", index=False, lineterminator="\n")
        (RESULTS / "forest_agreement.md").write_text(
            f"# Shared forest against scikit-learn: all {gaps['subsets'][0]} subsets of {game.name}\n\n"
            f"`python bench/forest_agreement.py --full --rows {arguments.rows}`: differences in points of accuracy; "
            "the second row of each label is what scikit-learn differs from itself under another seed.\n\n"
            + gaps.to_markdown(index=False)
            + "\n\nWhat each search chooses, judged by the scores of the first scikit-learn search:\n\n"
            + chosen.to_markdown(index=False)
            + "\n"
        )


if __name__ == "__main__":
    main()
