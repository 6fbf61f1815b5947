"""Measure how often 95 % intervals of a share cover the true share, when rows come in clusters.

Each cluster has 30 rows and its own rate, drawn from a beta distribution; the intra-class correlation says how much the
rates differ. The column "covered by rows" treats all rows as independent (Wilson's interval), "covered by clusters" is
`game.units.share`.

    python bench/interval_coverage.py           # about a minute
    python bench/interval_coverage.py --full    # more trials, writes bench/results/interval_coverage.csv
"""

import argparse
from itertools import product
from pathlib import Path

import numpy as np
import pandas as pd

from sensorprivacy.game.units import FEW, share

HERE = Path(__file__).resolve().parent
ROWS = 30
FEW_EVENTS = 5  # effective successes or failures


def coverage(rate: float, correlation: float, clusters: int, trials: int, seed: int = 0) -> dict[str, float]:
    """Return the share of trials in which each interval covers the rate, and how often a warning is given."""
    generator = np.random.default_rng(seed)
    codes = np.repeat(np.arange(clusters), ROWS)
    strength = (1 - correlation) / correlation if correlation else 0.0
    covered = {"covered by rows": 0, "covered by clusters": 0, "warned": 0, "covered without warning": 0}
    for _ in range(trials):
        rates = generator.beta(rate * strength, (1 - rate) * strength, clusters) if correlation else rate
        success = generator.random(clusters * ROWS) < np.repeat(np.broadcast_to(rates, clusters), ROWS)
        plain, robust = share(success), share(success, codes, unit="groups")
        inside = robust.low <= rate <= robust.high
        covered["covered by rows"] += plain.low <= rate <= plain.high
        covered["covered by clusters"] += inside
        warned = clusters < FEW or robust.effective * min(robust.score, 1 - robust.score) < FEW_EVENTS
        covered["warned"] += warned
        covered["covered without warning"] += inside and not warned
    silent = trials - covered["warned"]
    found = {name: count / trials for name, count in covered.items()}
    return found | {"covered without warning": covered["covered without warning"] / silent if silent else np.nan}


def main() -> None:
    """Measure and print the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--full", action="store_true", help="ten times as many trials")
    trials = 4000 if (full := parser.parse_args().full) else 400
    cases = product((0.5, 0.8, 0.95), (0.0, 0.05, 0.2, 0.5), (5, 12, 24, 60))
    rows = [
        {"rate": rate, "correlation": correlation, "clusters": count} | coverage(rate, correlation, count, trials)
        for rate, correlation, count in cases
    ]
    table = pd.DataFrame(rows).round(3)
    print(table.to_string(index=False))
    if full:
        table.to_csv(HERE / "results" / "interval_coverage.csv", index=False)


if __name__ == "__main__":
    main()
