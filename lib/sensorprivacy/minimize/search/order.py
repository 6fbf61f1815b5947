"""The order in which subsets are trained: from all features down, the most promising first, hopeless ones not at all.

A good answer stands early: the largest subsets are few and mostly accurate, so the highest accuracy is known almost at
once, and within a size the subsets come in the order of what is known above them. The choice so far is shown while the
search runs. What is trained depends only on accuracies of larger sizes, each finished before the next begins: not on
batches, workers, or on how often the search was killed.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby

from sensorprivacy.minimize.engines import Subset
from sensorprivacy.minimize.search.job import Job
from sensorprivacy.minimize.select import least_accuracy
from sensorprivacy.progress import tqdm

SLACK = 0.02
"""What dropping features may add to the accuracy, as pruning assumes."""

_SHOWN = 0.01  # threshold of the choice shown while a search that serves all thresholds runs


@dataclass(frozen=True)
class Pruning:
    """What was not trained, and how the assumption held where it can be seen.

    Pruning assumes that dropping features raises the accuracy by at most `slack`: where a subset S has
    Acc(S) < (1 - l) best - slack, no subset of S can reach (1 - l) best.

    Attributes
    ----------
    slack : float
        The assumption, as a fraction.
    skipped : frozenset of tuple of int
        Subsets that were not trained.
    pairs : int
        Trained subsets S with a trained subset that lacks one feature of S.
    violations : int
        Pairs where that one is more accurate than S by more than `slack`.
    largest_gain : float
        Largest gain in accuracy of any pair.
    """

    slack: float
    skipped: frozenset[Subset]
    pairs: int
    violations: int
    largest_gain: float


def descend(job: Job, lazy: float | None = None, slack: float | None = None) -> Pruning | None:
    """Train both models of every subset, size by size from all features down to single ones.

    Parameters
    ----------
    job : Job
        The search.
    lazy : float, optional
        Largest threshold l that will be asked for: the adversary is trained only where the task model can still pass
        it.
    slack : float, optional
        Skip the subsets of a subset S with Acc(S) < (1 - l) best - slack. Needs `lazy`.

    Returns
    -------
    Pruning or None
        What was skipped; None without `slack`.
    """
    known: dict[Subset, float] = {}
    skipped: set[Subset] = set()
    hopeless: set[Subset] = set()
    best = -math.inf
    total = len(job.subsets) * (2 if lazy is None else 1)
    bar = tqdm(total=total, desc="search", unit="model", disable=not job.progress, dynamic_ncols=True)
    with bar:
        for _, same_size in groupby(reversed(job.subsets), key=len):
            parents = {subset: parents_of(subset, job.pool) for subset in same_size}
            level = [subset for subset in parents if hopeless.isdisjoint(parents[subset])]
            left_out = set(parents).difference(level)
            skipped |= left_out
            bar.total = total = total - len(left_out)
            job.train("task", _promising_first(level, parents, known), bar)
            known |= {subset: job.scores["task"][subset] for subset in level}
            best = max([best, *(known[subset] for subset in level)])
            if slack is not None and lazy is not None:
                least = least_accuracy(best, lazy) - slack
                hopeless = left_out | {subset for subset in level if known[subset] < least}
            attacked = level if lazy is None else [s for s in level if known[s] >= least_accuracy(best, lazy)]
            bar.total = total = total + (0 if lazy is None else len(attacked))
            job.train("users", attacked, bar)
            bar.set_postfix_str(_choice_so_far(job, known, best, _SHOWN if lazy is None else lazy))
    return None if slack is None else _pruning(slack, skipped, known, job.pool)


def parents_of(subset: Subset, pool: Sequence[int]) -> list[Subset]:
    """Return the subsets with one feature more.

    Examples
    --------
    >>> parents_of((2, 5), [1, 2, 5, 7])
    [(1, 2, 5), (2, 5, 7)]
    """
    return [tuple(sorted((*subset, position))) for position in pool if position not in subset]


def _promising_first(
    level: Sequence[Subset], parents: Mapping[Subset, Sequence[Subset]], known: Mapping[Subset, float]
) -> list[Subset]:
    """Order subsets by the mean accuracy of those with one feature more."""
    promise = {
        subset: sum(known[above] for above in parents[subset]) / max(1, len(parents[subset])) for subset in level
    }
    return sorted(level, key=lambda subset: (-promise[subset], subset))


def _choice_so_far(job: Job, known: Mapping[Subset, float], best: float, threshold: float) -> str:
    """Return in words what would be chosen if the search ended now."""
    least = least_accuracy(best, threshold)
    users = job.scores["users"]
    identifiability, size = min((users[s], len(s)) for s in known if known[s] >= least and s in users)
    return f"best {best:.4f}, so far {identifiability:.4f} with {size} features at {threshold:g}"


def _pruning(slack: float, skipped: set[Subset], known: Mapping[Subset, float], pool: Sequence[int]) -> Pruning:
    """Check the assumption on every pair of trained subsets that differ in one feature."""
    gains = [
        accuracy - known[above] for subset, accuracy in known.items() for above in parents_of(subset, pool)
        if above in known
    ]  # fmt: skip
    return Pruning(
        slack, frozenset(skipped), len(gains), sum(gain > slack for gain in gains), max(gains, default=-math.inf)
    )
