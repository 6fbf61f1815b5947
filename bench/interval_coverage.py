"""Measure how often 95 % intervals cover the true share: of clusters, and of the strongest of several attackers.

A cluster has 30 rows, or 8 to 80, and its own rate, drawn from a beta distribution; the intra-class correlation says
how much the rates differ. "covered by rows" treats all rows as independent (Wilson's interval), "covered by clusters"
is `game.units.share`.

Attackers guess with a rate of their own for each person; their rates are correlated. "false leak" is how often the
lower end lies above the true rate of the strongest: of the best attacker's own interval ("alone"), of
`game.units.strongest`, and of an attacker chosen on half of the people and tested on the others. "found" is how often
the lower end lies above chance if one attacker is better than the others.

    python bench/interval_coverage.py           # about a minute
    python bench/interval_coverage.py --full    # more trials, writes interval_coverage.csv and strongest_attacker.csv
"""

import argparse
from collections import Counter
from itertools import product
from pathlib import Path

import numpy as np
import pandas as pd
from scipy import stats

from sensorprivacy.game.units import FEW, share, strongest

HERE = Path(__file__).resolve().parent
ROWS = 30
CHANCE, CORRELATION, ALIKE = 0.5, 0.2, 0.5  # of attackers: their rate, alike rows of a person, alike attackers


def coverage(
    rate: float, correlation: float, clusters: int, sizes: str, trials: int, seed: int = 0
) -> dict[str, float]:
    """Return the share of trials in which each interval covers the rate, its mean width, and how often it warns."""
    generator = np.random.default_rng(seed)
    many = np.full(clusters, ROWS) if sizes == "equal" else np.geomspace(8, 80, clusters).round().astype(int)
    codes, strength = np.repeat(np.arange(clusters), many), (1 - correlation) / correlation
    found: Counter[str] = Counter()
    for _ in range(trials):
        rates = generator.beta(rate * strength, (1 - rate) * strength, clusters)
        success = generator.random(len(codes)) < rates[codes]
        plain, robust = share(success), share(success, codes, unit="groups")
        found["covered by rows"] += plain.low <= rate <= plain.high
        found["covered by clusters"] += robust.low <= rate <= robust.high
        found["too low"] += robust.high < rate
        found["too high"] += robust.low > rate
        found["width"] += robust.high - robust.low
    return {name: count / trials for name, count in found.items()} | {"warned": clusters < FEW}


def attacked(people: int, attackers: int, leak: float, trials: int, seed: int = 0) -> dict[str, float]:
    """Return how often each interval of the strongest attacker misses the truth from above, and finds the leak."""
    generator = np.random.default_rng(seed)
    rates = np.full(attackers, CHANCE)
    rates[0] += leak
    strength = (1 - CORRELATION) / CORRELATION
    codes, half = np.repeat(np.arange(people), ROWS), np.repeat(np.arange(people) % 2 == 0, ROWS)
    found: Counter[str] = Counter()
    for _ in range(trials):
        normal = np.sqrt(ALIKE) * generator.standard_normal(people)
        normal = normal + np.sqrt(1 - ALIKE) * generator.standard_normal((attackers, people))
        own = stats.beta.ppf(stats.norm.cdf(normal), rates[:, None] * strength, (1 - rates[:, None]) * strength)
        right = generator.random((attackers, len(codes))) < own[:, codes]
        best, allowing = strongest(list(right), [codes] * attackers)
        alone = share(right[best], codes)
        chosen = right[right[:, half].mean(axis=1).argmax(), ~half]
        apart = share(chosen, codes[~half])
        found["above truth"] += allowing.score - rates.max()
        found["too low, strongest"] += allowing.high < rates.max()
        for name, low in (("alone", alone.low), ("strongest", allowing.low), ("half chosen", apart.low)):
            found[f"false leak, {name}"] += low > rates.max()
            found[f"found, {name}"] += low > CHANCE
    return {name: count / trials for name, count in found.items()}


def main() -> None:
    """Measure and print the tables."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--full", action="store_true", help="more trials, and write the tables")
    parser.add_argument("--only", choices=MEASURES, help="one of the tables")
    given = parser.parse_args()
    for name in [given.only] if given.only else MEASURES:
        measure, trials, cases = MEASURES[name]
        rows = [
            dict(zip(cases, case, strict=True)) | measure(*case, trials=trials if given.full else trials // 25)
            for case in product(*cases.values())
        ]
        table = pd.DataFrame(rows).round(3)
        print(table.to_string(index=False), flush=True)
        if given.full:
            table.to_csv(HERE / "results" / f"{name}.csv", index=False)


SHARES = {"rate": (0.2, 0.5, 0.8, 0.95), "correlation": (0.05, 0.2, 0.5), "clusters": (5, 12, 24, 60)}
SHARES |= {"sizes": ("equal", "unequal")}
MEASURES = {
    "interval_coverage": (coverage, 2000, SHARES),
    "strongest_attacker": (
        attacked,
        500,
        {"people": (12, 24, 60), "attackers": (1, 3, 11), "leak": (0.0, 0.1, 0.2, 0.3)},
    ),
}

if __name__ == "__main__":
    main()
