"""Measure how often 95 % intervals cover the truth: of shares, of paired differences, and of the strongest attacker.

Clusters have 30 rows; or 8 to 80; or 2 to 500; or one holds half of all rows. A cluster has its own rate, drawn from a
beta distribution; the intra-class correlation says how much the rates differ. "covered by rows" treats all rows as
independent (Wilson's interval), "covered by clusters" is `game.units.share`.

`differences` compares two models on the same rows, by `game.units.difference` and, with several trainings of each, by
`latent.trainings.mean_over_trainings`. The rates of a person under both models correlate. `kinds` has people of two
kinds: an attacker recognizes some in 95 % of the rows, the others in 5 %. "none seen" is how often the rarer kind is
not in the sample at all: then no interval from the sample can know of it.

Attackers guess with a rate of their own for each person; their rates are correlated. "false leak" is how often the
lower end lies above the true rate of the strongest: of the best attacker's own interval ("alone"), of
`game.units.strongest`, and of an attacker chosen on half of the people and tested on the others. "found" is how often
the lower end lies above chance if one attacker is better than the others.

    python bench/interval_coverage.py           # about a minute
    python bench/interval_coverage.py --full    # 20 minutes; writes the tables
"""

import argparse
from collections import Counter
from itertools import product
from pathlib import Path

import numpy as np
import pandas as pd
from scipy import stats

from sensorprivacy.game.units import difference, share, strongest
from sensorprivacy.latent.trainings import mean_over_trainings

HERE = Path(__file__).resolve().parent
ROWS = 30
CHANCE, CORRELATION, ALIKE = 0.5, 0.2, 0.5  # of attackers: their rate, alike rows of a person, alike attackers


SIZES = {
    "equal": lambda n: np.full(n, ROWS),
    "8 to 80": lambda n: np.geomspace(8, 80, n).round().astype(int),
    "2 to 500": lambda n: np.geomspace(2, 500, n).round().astype(int),
    "one holds half": lambda n: np.r_[ROWS * (n - 1), np.full(n - 1, ROWS)],
}


def coverage(
    rate: float, correlation: float, clusters: int, sizes: str, trials: int, seed: int = 0
) -> dict[str, float]:
    """Return the share of trials in which each interval covers the rate, and the mean width."""
    generator, codes = np.random.default_rng(seed), np.repeat(np.arange(clusters), SIZES[sizes](clusters))
    strength = (1 - correlation) / correlation
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
    return {name: count / trials for name, count in found.items()}


def differences(
    rate: float, effect: float, correlation: float, alike: float, trainings: int, clusters: int, sizes: str,
    trials: int, seed: int = 0,
) -> dict[str, float]:  # fmt: skip
    """Return the share of trials in which the interval of a difference covers the effect, its width, and its power."""
    generator, codes = np.random.default_rng(seed), np.repeat(np.arange(clusters), SIZES[sizes](clusters))
    normal = generator.standard_normal((2, trials, clusters))
    normal[1] = alike * normal[0] + np.sqrt(1 - alike**2) * normal[1]
    strength, quantile = (1 - correlation) / correlation, stats.norm.cdf(normal)
    first, second = (
        stats.beta.ppf(some, mean * strength, (1 - mean) * strength)
        for some, mean in zip(quantile, (rate + effect, rate), strict=True)
    )
    found: Counter[str] = Counter()
    for ours, theirs in zip(first, second, strict=True):
        # a training moves all rows of both models by up to 3 points of what is left
        luck = 1 - generator.uniform(0, 0.06, (2, trainings, 1)) * (trainings > 1)
        right = generator.random((2, trainings, len(codes))) < luck * np.stack([ours, theirs])[:, None, codes]
        change = right[0].astype(float) - right[1]
        one = mean_over_trainings(change, codes) if trainings > 1 else difference(right[0, 0], right[1, 0], codes)
        truth = effect * (0.97 if trainings > 1 else 1)
        found["covered"] += one.low <= truth <= one.high
        found["width"] += one.high - one.low
        found["differs"] += one.p < 0.05
    return {name: count / trials for name, count in found.items()}


def kinds(rarer: float, clusters: int, sizes: str, trials: int, seed: int = 0) -> dict[str, float]:
    """Return how often intervals of the share, and of its difference from a model that is right in 95 %, cover."""
    generator, codes = np.random.default_rng(seed), np.repeat(np.arange(clusters), SIZES[sizes](clusters))
    truth = 0.95 - 0.9 * rarer
    found: Counter[str] = Counter()
    for _ in range(trials):
        other = generator.random(clusters) < rarer
        right, always = generator.random((2, len(codes))) < [
            np.where(other, 0.05, 0.95)[codes],
            np.full(len(codes), 0.95),
        ]
        alone, paired = share(right, codes), difference(always, right, codes)
        found["share covered"] += alone.low <= truth <= alone.high
        found["difference covered"] += paired.low <= 0.95 - truth <= paired.high
        found["share width"] += alone.high - alone.low
        found["difference width"] += paired.high - paired.low
    return {name: count / trials for name, count in found.items()} | {"none seen": (1 - rarer) ** clusters}


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
            dict(zip(cases, case, strict=True))
            | measure(*case, trials=trials if given.full else max(trials // 100, 20))
            for case in product(*cases.values())
        ]
        table = pd.DataFrame(rows).round(3)
        print(table.to_string(index=False), flush=True)
        if given.full:
            table.to_csv(HERE / "results" / f"{name}.csv", index=False)


UNITS = {"clusters": (6, 12, 24, 60), "sizes": tuple(SIZES)}
SHARES = {"rate": (0.2, 0.5, 0.8, 0.95), "correlation": (0.05, 0.2, 0.5)} | UNITS
PAIRS = {"rate": (0.5, 0.9), "effect": (0.08,), "correlation": (0.05, 0.5), "alike": (0.7,)}
MEASURES = {
    "interval_coverage": (coverage, 4000, SHARES),
    "interval_differences": (differences, 4000, PAIRS | {"trainings": (1,)} | UNITS),
    "interval_trainings": (
        differences,
        4000,
        {"rate": (0.7,), "effect": (0.1,), "correlation": (0.2,), "alike": (0.7,), "trainings": (2, 4)} | UNITS,
    ),
    "interval_kinds": (kinds, 4000, {"rarer": (0.5, 0.2, 0.1, 0.05)} | UNITS),
    "strongest_attacker": (
        attacked,
        500,
        {"people": (12, 24, 60), "attackers": (1, 3, 11), "leak": (0.0, 0.1, 0.2, 0.3)},
    ),
}

if __name__ == "__main__":
    main()
