"""Count false leaks on tables that say nothing about their users: of one release, and of at least one of several.

"alone": the lower end of the best attacker's own interval lies above chance. "allowing": that of the strongest attacker
does. "stated": `Result.leaks`, on which the sentence "The raw table shows no leak" depends.

    python bench/null_tables.py           # a minute
    python bench/null_tables.py --full    # 25 tables of each kind, writes bench/results/null_tables.csv
"""

import argparse
from pathlib import Path

import numpy as np
import pandas as pd
from sklearn.ensemble import RandomForestClassifier

from sensorprivacy.data import Problem
from sensorprivacy.own import compare

HERE = Path(__file__).resolve().parent
DEFENCES = [*(f"noise:epsilon={level}" for level in (1, 4, 16)), "threeway:epsilon=4", "method:pca,columns=2"]
DEFENCES += [f"method:gini_utility,columns={count}" for count in (1, 2, 3)]


def table(seed: int, *, grouped: bool) -> Problem:
    """Return 800 rows of 8 users, in 160 groups or none, whose columns depend on the task or on nothing."""
    draw = np.random.default_rng(seed)
    groups = np.repeat(np.arange(160), 5)
    users = draw.permutation(np.arange(160) % 8)[groups] if grouped else draw.integers(0, 8, 800)
    task = draw.integers(0, 2, 800)
    columns = {
        f"c{place}": draw.normal(size=800) + (draw.normal(size=160)[groups] if grouped else 0) for place in "abc"
    }
    features = pd.DataFrame(columns | {"task": task + draw.normal(0, 0.3, 800)})
    return Problem(features, task, [f"u{user}" for user in users], groups if grouped else None, name=str(seed))


def main() -> None:
    """Measure and print the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--full", action="store_true", help="25 tables of each kind")
    full, rows = parser.parse_args().full, []
    for grouped in (False, True):
        counts = []
        for seed in range(25 if full else 2):
            model = RandomForestClassifier(10)
            found = compare(table(seed, grouped=grouped), DEFENCES, 30, model=model, draws=199, progress=False)
            best = [(one.attacks(one.levels[0])[0].measure, one.strongest().measure) for one in found.results]
            alone, allowing = ([one.low > one.chance for one in ends] for ends in zip(*best, strict=True))
            stated = [one.leaks for one in found.results]
            kinds = {"alone": alone, "allowing": allowing, "stated": stated}
            counts.append({name: (leaks[0], any(leaks[1:])) for name, leaks in kinds.items()})
        for name in counts[0]:
            raw, some = np.mean([one[name] for one in counts], axis=0)
            rows.append({"rows in groups": grouped, "rule": name, "tables": len(counts), "raw": raw, "a defence": some})
    print(pd.DataFrame(rows).to_string(index=False))
    if full:
        pd.DataFrame(rows).to_csv(HERE / "results" / "null_tables.csv", index=False)


if __name__ == "__main__":
    main()
