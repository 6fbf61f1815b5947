"""Measure on new recordings what `compare`'s main method loses that keeps columns at a threshold.

A part of the recordings chooses the columns, as in `compare`; the others stand for new data. For each draw and
threshold: the tolerated and the true loss of accuracy, and the share of rows whose user a forest identifies. Real data,
from the mirror or from their hosts. Repeat it with another commit's code to compare.

Usage: ``python bench/minimized_loss.py [--set smartwatch] [--draws 5]``
"""

import argparse
import time
from collections.abc import Iterator
from typing import Any

import pandas as pd
from sklearn.ensemble import RandomForestClassifier

from compendium import datasets
from sensorprivacy.game.splits import default_split
from sensorrelease.transformers import MinimizedTable

THRESHOLDS = (0.01, 0.1)
_ROWS = 8000  # of each part, at most


def losses(name: str, draws: int) -> Iterator[dict[str, Any]]:
    """Yield the results of each draw and threshold."""
    raw = datasets.problem(name)
    for draw in range(draws):
        split = default_split(raw, test=0.3, seed=draw).capped(_ROWS, _ROWS, seed=draw)
        table = raw.filled(split.train)
        parts = [
            (table.features.iloc[rows], table.task.iloc[rows], table.users.iloc[rows])
            for rows in (split.train, split.test)
        ]
        groups = None if table.groups is None else table.groups.iloc[split.train]
        every = _scores(parts, list(table.features))
        for threshold in THRESHOLDS:
            began = time.process_time()
            kept = MinimizedTable(threshold, seed=draw).fit(*parts[0], groups).kept_
            seconds = time.process_time() - began
            task, users = _scores(parts, kept)
            yield {
                "set": name, "draw": draw, "threshold": threshold, "columns": len(kept),
                "tolerated": round(threshold * every[0], 3), "loss": round(every[0] - task, 3),
                "identified": round(users, 3), "of all columns": round(every[1], 3), "seconds": round(seconds, 1),
            }  # fmt: skip


def _scores(parts: list[tuple[Any, ...]], columns: list[Any]) -> list[float]:
    """Return the accuracy of forests for the task and for the users."""
    (known, *labels), (new, *truths) = parts
    return [
        RandomForestClassifier(100, random_state=0).fit(known[columns], label).score(new[columns], truth)
        for label, truth in zip(labels, truths, strict=True)
    ]


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--set", default="smartwatch")
    parser.add_argument("--draws", type=int, default=1)
    options = parser.parse_args()
    found = pd.DataFrame(losses(options.set, options.draws))
    print(found.to_string(index=False))
    print(found.groupby("threshold")[["tolerated", "loss", "identified", "of all columns"]].mean().round(3))
