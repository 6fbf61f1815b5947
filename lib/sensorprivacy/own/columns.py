"""Which columns of a table may be published: no user, no recording, no copy of them, nothing that identifies rows."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import pandas as pd
from sklearn.utils.multiclass import type_of_target

from sensorprivacy.checks import require_columns
from sensorprivacy.columns.coding import with_numbers
from sensorprivacy.columns.identifiers import find_identifiers
from sensorprivacy.data import Problem
from sensorprivacy.own.checks import split_of
from sensorprivacy.own.copies import link_to_user, stands_for
from sensorprivacy.own.pieces import MOST_CATEGORIES, Survey, as_text, is_text


@dataclass(frozen=True)
class Columns:
    """The roles of a table's columns, and the numbers that stand for its texts.

    Attributes
    ----------
    task, user, groups : str, str, str or None
        Columns with a role. Only the task is published.
    features : tuple of str
        Columns that a defence gets.
    categories : dict of str to list
        Features that are text or truth values, with their cells; None is a missing one. A cell's position is its code.
    dropped : dict of str to str
        Columns that no release may hold, with the reason.
    fills : dict of str to float
        Numbers that stand for missing cells, by feature; see `learn_fills`.
    """

    task: str
    user: str
    groups: str | None
    features: tuple[str, ...]
    categories: dict[str, list[str | None]] = field(default_factory=dict)
    dropped: dict[str, str] = field(default_factory=dict)
    fills: dict[str, float] = field(default_factory=dict)

    def numbers(self, table: pd.DataFrame) -> pd.DataFrame:
        """Return the features of some rows as finite numbers: a text as the position of its category.

        Raises
        ------
        ValueError
            If the table has other columns, a number is missing or infinite, or a text is unknown.
        """
        self.check(table.columns)
        found = with_numbers(table[list(self.features)].copy())
        for name, column in found.items():
            if name in self.categories:
                found[name] = self._codes(column, self.categories[str(name)])
            elif is_text(column):
                example = as_text(column.dropna().iloc[:1]).tolist()
                raise ValueError(f"column {name!r} held numbers when the defence was fitted, but now holds {example}")
            elif not (fit := np.isfinite(column.to_numpy(dtype=float, na_value=np.nan))).all():
                if name not in self.fills:
                    raise ValueError(
                        f"column {name!r} is missing or infinite in row {column.index[~fit][0]}: use missing='impute' "
                        "or missing='drop'"
                    )
                found[name] = column.astype(float).where(fit, self.fills[str(name)])
        return found

    def cells(self, released: pd.DataFrame) -> pd.DataFrame:
        """Return released numbers with the texts that they stand for. Only the numbers decide, so noise stays noise."""
        found = released.copy()
        for name in released.columns.intersection(list(self.categories)):
            texts = np.array(self.categories[name], dtype=object)
            found[name] = texts[np.clip(np.rint(released[name].to_numpy(dtype=float)), 0, len(texts) - 1).astype(int)]
        return found

    @staticmethod
    def _codes(column: pd.Series, categories: list[str | None]) -> np.ndarray:
        places = {cell: place for place, cell in enumerate(categories)}
        texts = as_text(column)
        codes = texts.where(texts.notna(), None).map(lambda cell: places.get(cell, -1)).to_numpy(dtype=np.int64)
        if (codes < 0).any():
            raise ValueError(
                f"column {column.name!r} holds {texts[codes < 0].iloc[0]!r}, which the fitted defence has not seen: "
                "drop such rows, or fit the defence again"
            )
        return codes

    def check(self, columns: pd.Index) -> None:
        """Raise ValueError if a table lacks features or has columns that `learn_columns` never judged."""
        known = {*self.features, *self.dropped, self.task, self.user, self.groups}
        if absent := [name for name in self.features if name not in columns]:
            raise ValueError(f"the table has no column {', '.join(map(repr, absent))}, which the defence was fitted to")
        if strange := [str(name) for name in columns if name not in known]:
            raise ValueError(
                f"the table has columns {', '.join(map(repr, strange))}, which the fitted defence has not seen: remove "
                "them, or fit the defence again"
            )


def learn_columns(
    found: Survey,
    *,
    task: str,
    user: str,
    groups: str | None = None,
    keep: Sequence[str] = (),
    drop: Sequence[str] = (),
) -> Columns:
    """Divide the columns of a table into those a defence gets and those that are dropped.

    Parameters
    ----------
    found : Survey
        Sample and head of the table.
    task, user, groups : str
        Columns with a role.
    keep : sequence of str
        Columns that stay features although they look like identifiers.
    drop : sequence of str
        Columns that are not published.

    Returns
    -------
    Columns
        Dropped are: empty and constant columns; identifiers, places, points in time, row numbers and free text (see
        `identifiers`); columns from whose value alone a lookup table knows the user or the recording (see
        `stands_for`), or knows most users (see `nearly_stands_for`; `keep` keeps these); texts that name the user of
        their row.

    Raises
    ------
    ValueError
        If a column is missing or has two roles, the task has one class, differs in every row or stands for the user,
        there is one user, or no column is left.
    """
    sample = found.sample
    roles = {"task": task, "user": user} | ({"groups": groups} if groups is not None else {})
    _check_roles(sample, roles, keep, drop)
    _check_task(sample[task], sample[user])
    reasons = {user: "the user of each row"} | ({groups: "the recording of each row"} if groups is not None else {})
    reasons |= dict.fromkeys(drop, "you dropped it")
    reasons |= _uninformative(sample.drop(columns=list({*roles.values(), *keep, *drop})))
    others = sample.drop(columns=list({*roles.values(), *reasons}))
    for part in (found.head, sample):
        judged = with_numbers(part[others.columns].drop(columns=list(keep)))
        reasons |= find_identifiers(judged, [part[name] for name in roles.values() if name != task])
    for name in map(str, others):
        near = name not in keep
        links = (link_to_user(part[name], part, user, groups, near) for part in (sample, found.head))
        if known := reasons.get(name) or next(filter(None, links), ""):
            reasons[name] = known
        elif is_text(others[name]) and name not in found.categories:
            reasons[name] = f"text with more than {MOST_CATEGORIES:,} different cells"
    if blocked := [name for name in keep if name in reasons]:
        raise ValueError(f"column {blocked[0]!r} cannot be kept: {reasons[blocked[0]]}")
    features = tuple(str(name) for name in others if name not in reasons)
    if not features:
        named = ", ".join(f"{name} ({reason})" for name, reason in reasons.items())
        raise ValueError(f"no column is left to publish beside the task. Dropped: {named}")
    texts = {name: found.categories[name] for name in features if name in found.categories}
    return Columns(task, user, groups, features, texts, reasons)


def _check_roles(sample: pd.DataFrame, roles: Mapping[str, str], keep: Sequence[str], drop: Sequence[str]) -> None:
    if len(set(roles.values())) < len(roles):
        raise ValueError(f"task, user and groups must be different columns, got {', '.join(map(repr, roles.values()))}")
    require_columns(sample.columns, [*roles.values(), *keep, *drop], "the table")
    if both := [name for name in keep if name in roles.values()]:
        raise ValueError(f"{both} are task, user or groups, so they cannot be features: leave them out of `keep`")
    if both := [name for name in drop if name in [*roles.values(), *keep]]:
        raise ValueError(f"{both} are needed or kept, so they cannot be dropped: leave them out of `drop`")
    for role, name in roles.items():
        if missing := int(sample[name].isna().sum()):
            raise ValueError(
                f"the {role} column {name!r} is missing in {missing} of {len(sample)} rows: fill or drop them"
            )


def _uninformative(table: pd.DataFrame) -> dict[str, str]:
    """Return columns that tell nothing, with the reason: noise on them would cost others a part of their epsilon."""
    found = {}
    for name, cells in table.items():
        if cells.isna().all():
            found[str(name)] = "it is empty"
        elif (cells == cells.iloc[0]).all():
            found[str(name)] = "it is constant"
    return found


def learn_fills(columns: Columns, sample: pd.DataFrame, seed: int) -> Columns:
    """Return the columns with the medians of the training rows, which fill missing numbers in every row."""
    names = [name for name in columns.features if name not in columns.categories]
    if not names:
        return columns
    open_columns = replace(columns, fills=dict.fromkeys(names, np.nan))
    groups = None if columns.groups is None else sample[columns.groups]
    numbers, task, users = open_columns.numbers(sample), sample[columns.task], sample[columns.user]
    problem = Problem(numbers, task, users, groups, gaps=dict.fromkeys(names, "median"))
    medians = problem.features[names].iloc[split_of(problem, None, seed, None).train].median()
    if medians.isna().any():
        raise ValueError(f"column {medians.index[medians.isna()][0]!r} is empty in the training rows: remove it")
    return replace(columns, fills={str(name): float(value) for name, value in medians.items()})


def sample_problem(columns: Columns, sample: pd.DataFrame, name: str) -> Problem:
    """Return the rows of a sample as a problem for the game, with all features that a defence gets."""
    groups = None if columns.groups is None else sample[columns.groups]
    return Problem(columns.numbers(sample), sample[columns.task], sample[columns.user], groups, name)


def without_copies(problem: Problem, keep: Sequence[str] = ()) -> tuple[Problem, dict[str, str]]:
    """Return a problem without the features that stand for the user, and these features with the reason.

    Raises
    ------
    ValueError
        If no feature is left.
    """
    features = problem.features
    names = [str(name) for name in features if name not in keep and stands_for(features[name], problem.users)]
    if len(names) == features.shape[1]:
        raise ValueError(f"every column stands for the user: {', '.join(names)}. Add other columns, or `keep` one")
    reasons = dict.fromkeys(names, "the user under another name")
    read = [
        row | ({"used": "no", "coded": reasons[row["column"]]} if row["column"] in reasons else {})
        for row in problem.provenance.get("columns", [])
    ]
    told = problem.provenance | ({"columns": read} if read else {})
    return replace(problem, features=features.drop(columns=names), provenance=told), reasons


def _check_task(task: pd.Series, users: pd.Series) -> None:
    counts: dict[str, Any] = {"task": task.nunique(), "user": users.nunique()}
    for role, labels in (("task", task), ("user", users)):
        if counts[role] < 2:
            raise ValueError(f"the {role} column {labels.name!r} has one class only: a model needs at least two")
    if counts["task"] > len(task) / 2 or type_of_target(task.to_numpy()) == "continuous":
        raise ValueError(
            f"the task column {task.name!r} has {counts['task']} different values in {len(task)} rows, so no model can "
            "learn it: give classes, such as ranges of its values, or name another task"
        )
    if stands_for(task, users):
        raise ValueError(
            f"the task column {task.name!r} identifies the user: publishing it would publish the user column "
            f"{users.name!r}. Choose another task, or coarser classes"
        )
