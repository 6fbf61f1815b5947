"""Count false leaks on tables that say nothing about their users: of one release, and of at least one of several.

"alone": the lower end of the best attacker's own interval lies above chance. "allowing": that of the strongest attacker
does. "stated": `Result.leaks`, on which the sentence "The raw table shows no leak" depends.

Then count how often the raw table is found to leak if each user shifts one column by a standard deviation: by the
interval on whole groups, by that on rows, by the permutation test on rows, and as stated. Groups have 5 rows; or 1 to
12; or 2 to 200.

    python bench/null_tables.py           # a minute
    python bench/null_tables.py --full    # 25 tables of each kind, 6 minutes; writes both tables
"""

import argparse
from pathlib import Path

import numpy as np
import pandas as pd
from sklearn.ensemble import RandomForestClassifier

from sensorprivacy.data import Problem
from sensorrelease import compare

HERE = Path(__file__).resolve().parent
DEFENCES = [*(f"noise:epsilon={level}" for level in (1, 4, 16)), "threeway:epsilon=4", "method:pca,columns=2"]
DEFENCES += [f"method:gini_utility,columns={count}" for count in (1, 2, 3)]


SIZES = {"5": (5, 5), "1 to 12": (1, 12), "2 to 200": (2, 200)}


def table(seed: int, *, grouped: bool = True, sizes: str = "5", effect: float = 0.0) -> Problem:
    """Return rows of 8 users, in 160 groups or none, whose columns depend on the task, and on the user by `effect`."""
    draw = np.random.default_rng(seed)
    groups = np.repeat(np.arange(160), draw.permutation(np.geomspace(*SIZES[sizes], 160).round().astype(int)))
    n = len(groups)
    users = draw.permutation(np.arange(160) % 8)[groups] if grouped else draw.integers(0, 8, n)
    task = draw.integers(0, 2, n)
    columns = {place: draw.normal(size=n) + (draw.normal(size=160)[groups] if grouped else 0) for place in "abc"}
    columns["a"] += effect * draw.normal(size=8)[users]
    features = pd.DataFrame(columns | {"task": task + draw.normal(0, 0.3, n)})
    return Problem(features, task, [f"u{user}" for user in users], groups if grouped else None, name=str(seed))


def found_leaks(sizes: str, effect: float, tables: int) -> dict[str, float]:
    """Return how often each rule says that the raw table leaks, and the means of the scores and chance levels."""
    rows = []
    for seed in range(tables):
        problem = table(seed, sizes=sizes, effect=effect)
        raw = compare(problem, ["noise"], 30, model=RandomForestClassifier(10), progress=False).raw
        groups, single = raw.strongest("group").measure, raw.strongest("row").measure
        tested = raw.attacks("row")
        p = min(min(one.measure.p, one.measure.p_any) for one in tested) * len(tested)
        rules = {"groups": groups.low > groups.chance, "rows": single.low > single.chance, "permutation": p < 0.025}
        scores = {"group score": groups.score, "group chance": groups.chance}
        rows.append(rules | {"stated": raw.leaks} | scores | {"row score": single.score, "row chance": single.chance})
    return pd.DataFrame(rows).mean().to_dict()


def main() -> None:
    """Measure and print the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--full", action="store_true", help="25 tables of each kind")
    full, rows = parser.parse_args().full, []
    for grouped in (False, True):
        counts = []
        for seed in range(25 if full else 2):
            model = RandomForestClassifier(10)
            found = compare(table(seed, grouped=grouped), DEFENCES, 30, model=model, progress=False)
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
    cases = [{"rows of a group": sizes, "effect": effect} for sizes in SIZES for effect in (0.0, 1.0)]
    power = [one | found_leaks(*one.values(), 25 if full else 2) for one in cases]
    print(pd.DataFrame(power).round(3).to_string(index=False))
    if full:
        pd.DataFrame(power).round(3).to_csv(HERE / "results" / "leaking_tables.csv", index=False)


if __name__ == "__main__":
    main()
