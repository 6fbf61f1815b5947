"""Repeat the choice of a defence on redrawn validation rows, to see whether it depends on a few of them."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import pandas as pd

from sensorprivacy.game.outcome import Attack
from sensorprivacy.own.advice import advise
from sensorprivacy.own.results import Result

TIMES = 20


@dataclass(frozen=True)
class Repetition:
    """How often each defence was chosen.

    Attributes
    ----------
    times : int
        Number of repetitions.
    chosen : dict of str to int
        Repetitions that chose a defence, the most frequent first; ``none qualifies`` if none was chosen.
    """

    times: int
    chosen: dict[str, int]

    @property
    def text(self) -> str:
        """The repetitions in words."""
        named = "; ".join(f"{count} of {self.times}: {name}" for name, count in self.chosen.items())
        advice = (
            "" if len(self.chosen) < 2 else " The choice depends on the rows: prefer a defence that is often chosen."
        )
        return (
            f"Chosen again on {self.times} random draws of the validation rows, without new training: {named}.{advice}"
        )


def repeat_advice(results: Sequence[Result], max_loss: float, times: int = TIMES, seed: int = 0) -> Repetition:
    """Return how often each defence is chosen if the validation rows, or their groups, are drawn with replacement.

    Parameters
    ----------
    results : sequence of Result
        The first is the raw table's.
    max_loss : float
        Tolerated loss of accuracy, see `advise`.
    times, seed : int
        Number of draws, and their seed. Results whose rows have one order get the same draw.
    """
    counts: Counter[str] = Counter()
    for draw in range(times):
        drawn = [replace(one, judged=[_redrawn(line, [seed, draw]) for line in one.judged]) for one in results]
        counts[advise(drawn, max_loss).defence or "none qualifies"] += 1
    return Repetition(times, dict(counts.most_common()))


def _redrawn(line: Attack, seed: list[int]) -> Attack:
    """Return a line of the validation part with its rows drawn again; equal seeds and sizes give equal draws."""
    if line.part != "validation" or not len(line.right):
        return line
    generator = np.random.default_rng(seed)
    if line.clusters is None:
        rows, clusters = generator.integers(len(line.right), size=len(line.right)), None
    else:
        codes = pd.factorize(line.clusters)[0]
        order, many = np.argsort(codes, kind="stable"), int(codes.max()) + 1
        parts = np.split(order, np.cumsum(np.bincount(codes))[:-1])
        drawn = generator.integers(many, size=many)
        rows = np.concatenate([parts[one] for one in drawn])
        clusters = np.repeat(np.arange(many), [len(parts[one]) for one in drawn])
    right = line.right[rows]
    return replace(line, right=right, clusters=clusters, measure=replace(line.measure, score=float(right.mean())))
