"""Choose the split that judges a problem: the paper's random one, or one without leaks.

Options of all functions: ``test`` and ``validation`` are shares of the rows, see `grouped_split` and `random_split`;
``seed`` is the seed of the draw, by default the authors' 42; ``train_rows`` and ``held_rows`` limit the rows, see
`Split.capped`.
"""

from dataclasses import replace

from sensorprivacy.data import Problem
from sensorprivacy.game.splits import Split, grouped_split, random_split

PAPER_SPLITS: dict[str, dict[str, float]] = {
    "iot-23": {"test": 0.15, "validation": 0.15},
    "iot-sentinel": {"test": 0.9},
    "cic-ids-2017": {"test": 0.3},
    "opportunity": {"test": 0.99},
    "amir-netml": {"test": 0.2},
    "amir-nprint": {"test": 0.2},
    "service-recognition": {"test": 0.2},
}
"""Fractions of the rows that the paper's authors held out, by data set. Where they set a seed, it is 42."""

_LEAST_KNOWN = 0.5  # share of held-out rows whose users have training rows


def default_split(problem: Problem, *, test: float = 0.3, validation: float = 0.0, seed: int | None = 42) -> Split:
    """Return the split that judges a problem without leaks: by whole groups if it has groups, else by rows.

    Parameters
    ----------
    problem : Problem
        The table.
    test, validation, seed
        See the module.

    Returns
    -------
    Split
    """
    if problem.groups is None:
        return random_split(problem.n_records, test=test, validation=validation, seed=seed)
    return grouped_split(problem.groups, problem.users, test=test, validation=validation, seed=seed)


def leak_free(
    problem: Problem, split: Split, *, seed: int = 42, train_rows: int | None = None, held_rows: int | None = None
) -> Split:
    """Return the default split of a problem with groups, with limited rows; the given split if that is impossible.

    Parameters
    ----------
    problem : Problem
        The table.
    split : Split
        A random split.
    seed, train_rows, held_rows
        See the module.

    Returns
    -------
    Split
        The given split if there are no groups, or if each user has about one group. In the second case, whole groups
        would leave most held-out rows with users whom nobody can know; `how` then says so.
    """
    if problem.groups is None:
        return split
    whole = default_split(problem, seed=seed)
    known = problem.users.iloc[whole.test].isin(problem.users.iloc[whole.train])
    if known.mean() < _LEAST_KNOWN:
        return replace(split, how=f"{split.how}; groups are torn apart, as most users have one group only")
    return whole.capped(train_rows, held_rows, seed=seed)


def paper_split(
    name: str, n: int, *, seed: int = 42, train_rows: int | None = None, held_rows: int | None = None
) -> Split:
    """Return the split that the paper's authors drew, with limited rows; it ignores groups.

    Parameters
    ----------
    name : str
        Name of the data set. A set that is not in the paper is split at random, 70/30.
    n : int
        Number of rows.
    seed, train_rows, held_rows
        See the module.

    Returns
    -------
    Split
    """
    split = random_split(n, seed=seed, **PAPER_SPLITS.get(name, {}))
    return split.capped(train_rows, held_rows, seed=seed)
