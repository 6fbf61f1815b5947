"""Reject problems that no comparison can answer, and split the others."""

import numpy as np

from sensorprivacy.data import Problem
from sensorprivacy.game.measuring import member
from sensorprivacy.game.outcome import LEVEL
from sensorprivacy.game.splits import Split, default_split
from sensorprivacy.game.tables import PARTS
from sensorprivacy.game.units import FEW
from sensorprivacy.own.results import Result


def check_labels(problem: Problem) -> None:
    """Reject labels with one class only, and a task that has no classes."""
    for labels, word, plural in ((problem.task, "task", "classes"), (problem.users, "user", "users")):
        if labels.nunique() < 2:
            only = labels.iloc[0]
            raise ValueError(f"the {word} column holds {only!r} only: comparing needs two or more {plural}")
    if problem.task.nunique() > problem.n_records / 2:
        raise ValueError(
            f"the task column has {problem.task.nunique():,} values in {problem.n_records:,} rows: give classes, "
            "such as ranges of its values"
        )


def split_of(problem: Problem, split: Split | None, seed: int, max_rows: int | None) -> Split:
    """Return a split with validation rows, in which held-out rows belong to known users."""
    if split is None:
        split = default_split(problem, test=0.25, validation=0.25, seed=seed)
    split = split.halved(seed=seed).capped(max_rows, max_rows, seed=seed)
    users, task = problem.users.to_numpy(), problem.task.to_numpy()
    if len(np.unique(task[split.train])) < 2 or len(np.unique(users[split.train])) < 2:
        raise ValueError(f"the training rows ({split.how}) hold one user or one task class only: give more rows")
    for part in PARTS:
        if not member(users[split.part(part)], users[split.train]).any():
            raise ValueError(
                f"no {part} row belongs to a user with training rows ({split.how}): each user needs several groups; "
                "give finer groups, or none"
            )
    return split


def check_learnable(problem: Problem, raw: Result) -> None:
    """Reject a task that the raw table does not predict better than chance, if there are enough rows to know."""
    measures = [raw.task(part).measure for part in PARTS]
    units = sum(measure.n for measure in measures)
    if min(measure.p for measure in measures) > LEVEL / len(PARTS) and (
        units >= FEW or measures[-1].score <= measures[-1].chance
    ):
        shown = measures[-1]
        raise ValueError(
            f"the task of {problem.name} cannot be learned from its columns: accuracy {shown.score:.1%} on {shown.n:,} "
            f"{shown.unit}, chance {shown.chance:.1%}; choose another task or add columns or rows"
        )
