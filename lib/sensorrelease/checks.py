"""Reject problems that no comparison can answer, and split the others."""

import secrets
from collections.abc import Mapping
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from sensorprivacy.data import Problem
from sensorprivacy.game.measuring import member
from sensorprivacy.game.outcome import LEVEL
from sensorprivacy.game.splits import Split, default_split
from sensorprivacy.game.tables import PARTS
from sensorrelease.schema.identify import order_or_size
from sensorrelease.schema.recognise import header_kind

if TYPE_CHECKING:
    from sensorrelease.results import Result  # imports the minimizer, which few tables need

_ENOUGH = 12  # rows or groups, to say that a task cannot be learned
_SPLITS = 20  # that are drawn until each part has two classes

_MOST = 20  # different values of numbers with decimals that are classes
_SHARE = 0.5  # of the rows: with more different values, a task has no classes


def secret_seed(seed: int | None) -> int:
    """Return a seed; without one, a secret one: whoever has a table and its seed can repeat what is drawn with it."""
    return secrets.randbits(32) if seed is None else seed


def split_of(problem: Problem, split: Split | None, seed: int, max_rows: int | None) -> Split:
    """Return a split with validation rows, in which held-out rows belong to known users."""
    if split is None:
        tried = (default_split(problem, test=0.25, validation=0.25, seed=seed + at) for at in range(_SPLITS))
        first = next(tried)
        split = next((one for one in (first, *tried) if _has_classes(problem, one)), first)
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


@lru_cache(maxsize=1)  # all defences of a comparison have one problem
def identifying(problem: Problem) -> frozenset[str]:
    """Return the columns of the original table that identify rows: attackers have them from elsewhere, too."""
    who = pd.factorize(problem.users)[0]
    found = set()
    for name, column in problem.features.items():
        values, known = column.to_numpy(dtype=float, na_value=np.nan), column.notna().to_numpy()
        place = header_kind(str(name)) == "places" and (values[known] % 1 != 0).any()
        if place or (known.sum() > 1 and order_or_size(values[known], who[known])):
            found.add(str(name))
    return frozenset(found)


def _has_classes(problem: Problem, split: Split) -> bool:
    """Return whether each part has two classes of the task or more: of few groups, a part can have one."""
    task = problem.task.to_numpy()
    return all(len(np.unique(task[rows])) > 1 for rows in (split.train, split.validation, split.test))


def check_learnable(problem: Problem, raw: "Result") -> None:
    """Reject a task that the raw table does not predict better than chance, if there are enough rows to know."""
    measures = [raw.task(part).measure for part in PARTS]
    p, units = min(measure.p for measure in measures), sum(measure.n for measure in measures)
    refuse_chance(f"of {problem.name}", vars(measures[-1]), p * len(PARTS), units)


def refuse_chance(task: str, shown: Mapping[str, Any], p: float, units: int) -> None:
    """Raise ValueError for a task whose accuracy does not differ from the chance level.

    Parameters
    ----------
    task : str
        Its name.
    shown : mapping
        ``score``, ``n``, ``unit`` and ``chance`` of the model on the original table.
    p : float
        Probability of such a score by chance.
    units : int
        Rows, or groups, behind it: few show nothing unless the score is not above chance.
    """
    if shown["chance"] == 1:
        raise ValueError(
            f"the task {task} cannot be measured: the {shown['n']:,} {shown['unit']} held out have one class only; "
            "give more rows, or more recordings of each class"
        )
    if p > LEVEL and (units >= _ENOUGH or shown["score"] <= shown["chance"]):
        raise ValueError(
            f"the task {task} cannot be learned from the columns: accuracy {shown['score']:.1%} on {shown['n']:,} "
            f"{shown['unit']}, chance {shown['chance']:.1%}; choose another task or add columns or rows"
        )


def check_labels(task: pd.Series, users: pd.Series) -> None:
    """Raise ValueError if there is one user or class only, or the task has too many values to be classes."""
    for role, labels, plural in (("user", users, "users"), ("task", task, "classes")):
        named = f"the {role} column" + ("" if labels.name is None else f" {labels.name!r}")
        if labels.nunique() < 2:
            raise ValueError(f"{named} holds {labels.tolist()[0]!r} only: a model needs two or more {plural}")
    if _has_no_classes(task):
        raise ValueError(
            f"{named} has {task.nunique():,} different values in {len(task):,} rows, so no model can learn it: give "
            "classes, such as ranges of its values, or name another task"
        )


def _has_no_classes(task: pd.Series) -> bool:
    distinct = task.nunique()
    return (_has_fractions(task) and distinct > _MOST) or distinct > max(2, _SHARE * len(task))


def _has_fractions(task: pd.Series) -> bool:
    numeric = pd.api.types.is_numeric_dtype(task) and not pd.api.types.is_bool_dtype(task)
    return bool(numeric and (task.dropna().astype(float) % 1 != 0).any())
