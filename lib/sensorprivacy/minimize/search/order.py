"""The order in which subsets are trained: from all features down to single ones, the most promising first.

Large subsets are few and mostly accurate. So the highest accuracy is known almost at once, and the best choice so far
can be shown during the search. Which models are trained depends only on the accuracies of larger subsets, and each size
is finished before the next begins. So the result does not depend on batches, workers or interruptions.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby

from sensorprivacy.minimize.engine_protocol import Subset
from sensorprivacy.minimize.search.job import SearchJob
from sensorprivacy.minimize.search.subsets import supersets
from sensorprivacy.minimize.select import least_accuracy
from sensorprivacy.progress import tqdm

SLACK = 0.02
"""Largest gain in accuracy from dropping features that pruning assumes."""

_SHOWN = 0.01  # threshold of the choice shown during a search that serves all thresholds


@dataclass(frozen=True)
class Pruning:
    """Subsets that were not trained, and how often the assumption behind this failed.

    Pruning assumes that dropping features raises the accuracy by at most the slack. If a subset S has
    Acc(S) < (1 - l) best - slack, then no subset of S reaches (1 - l) best.

    Attributes
    ----------
    skipped : frozenset of tuple of int
        Subsets that were not trained.
    pairs : int
        Pairs of trained subsets, of which one lacks one feature of the other.
    violations : int
        Pairs in which the smaller subset is more accurate by more than the slack.
    largest_gain : float
        Largest gain in accuracy of any pair.
    """

    skipped: frozenset[Subset]
    pairs: int
    violations: int
    largest_gain: float


def train_by_size(job: SearchJob, lazy: float | None = None, slack: float | None = None) -> Pruning | None:
    """Train both models of every subset, from all features down to single ones.

    Parameters
    ----------
    job : SearchJob
        The search.
    lazy : float, optional
        Largest threshold l. The adversary is trained only if the task model can still pass it.
    slack : float, optional
        Skip the subsets of any S with Acc(S) < (1 - l) best - slack. Needs `lazy`.

    Returns
    -------
    Pruning or None
        None without `slack`.
    """
    known: dict[Subset, float] = {}
    skipped: set[Subset] = set()
    hopeless: set[Subset] = set()
    best = -math.inf
    total = len(job.subsets) * (2 if lazy is None else 1)
    bar = tqdm(total=total, desc="search", unit="model", disable=not job.progress, dynamic_ncols=True)
    with bar:
        for _, same_size in groupby(reversed(job.subsets), key=len):
            larger = {subset: supersets(subset, job.positions) for subset in same_size}
            level = [subset for subset in larger if hopeless.isdisjoint(larger[subset])]
            below = set(larger).difference(level)
            skipped |= below
            bar.total = total = total - len(below)
            job.train("task", _most_promising_first(level, larger, known), bar)
            known |= {subset: job.scores["task"][subset] for subset in level}
            best = max([best, *(known[subset] for subset in level)])
            if slack is not None and lazy is not None:
                least = least_accuracy(best, lazy) - slack
                hopeless = below | {subset for subset in level if known[subset] < least}
            attacked = level
            if lazy is not None:
                attacked = [subset for subset in level if known[subset] >= least_accuracy(best, lazy)]
                bar.total = total = total + len(attacked)
            job.train("users", attacked, bar)
            bar.set_postfix_str(_choice_so_far(job, known, best, _SHOWN if lazy is None else lazy))
    return None if slack is None else _pruning(slack, skipped, known, job.positions)


def _most_promising_first(
    level: Sequence[Subset], larger: Mapping[Subset, Sequence[Subset]], known: Mapping[Subset, float]
) -> list[Subset]:
    """Sort subsets by the mean accuracy of the subsets with one feature more."""
    promise = {subset: sum(known[s] for s in larger[subset]) / max(1, len(larger[subset])) for subset in level}
    return sorted(level, key=lambda subset: (-promise[subset], subset))


def _choice_so_far(job: SearchJob, known: Mapping[Subset, float], best: float, threshold: float) -> str:
    """Describe the subset that would be chosen if the search ended now."""
    least = least_accuracy(best, threshold)
    users = job.scores["users"]
    identifiability, size = min((users[s], len(s)) for s in known if known[s] >= least and s in users)
    return f"best {best:.4f}, so far {identifiability:.4f} with {size} features at {threshold:g}"


def _pruning(slack: float, skipped: set[Subset], known: Mapping[Subset, float], positions: Sequence[int]) -> Pruning:
    """Check the assumption on every pair of trained subsets that differ in one feature."""
    gains = [known[s] - known[larger] for s in known for larger in supersets(s, positions) if larger in known]
    violations = sum(gain > slack for gain in gains)
    return Pruning(frozenset(skipped), len(gains), violations, max(gains, default=-math.inf))
