"""The columns of a table that may be published, and how a fitted defence reads them: the first rows and new ones."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
import pandas as pd

from sensorprivacy.columns.cells import as_text, is_text
from sensorprivacy.columns.coding import UNSEEN, Reading, read_column, read_texts
from sensorprivacy.columns.judge import (
    UNLIKE,
    Roles,
    find_unlike,
    in_words,
    judge_table,
    refuse_task,
    spans_of,
)
from sensorprivacy.columns.labels import FEWEST, as_classes, check_labels
from sensorprivacy.data import Problem
from sensorrelease.checks import split_of
from sensorrelease.read.pieces import MOST_CATEGORIES, Survey


@dataclass(frozen=True)
class Columns:
    """The roles of a table's columns, and how each feature is read.

    Attributes
    ----------
    task, user, groups : str, str, str or None
        Columns with a role. Only the task is published.
    features : dict of str to Reading
        Columns that a defence gets.
    dropped : dict of str to str
        Columns that no release may hold, with the reason.
    fills : dict of str to float
        Numbers that stand for missing cells, by feature; see `learn_fills`.
    kept : list of str
        Features that look like identifiers, and that the publisher kept.
    spans : dict of str to list of float
        Range and quartiles of features of numbers, which new rows must resemble; see `columns.judge.spans_of`.
    """

    task: str
    user: str
    groups: str | None
    features: dict[str, Reading]
    dropped: dict[str, str] = field(default_factory=dict)
    fills: dict[str, float] = field(default_factory=dict)
    kept: list[str] = field(default_factory=list)
    spans: dict[str, list[float]] = field(default_factory=dict)

    @property
    def dropped_roles(self) -> dict[str, str]:
        """Columns that are dropped because of their role, with the reason."""
        recording = {} if self.groups is None else {self.groups: "the recording of each row"}
        return {self.user: "the user of each row"} | recording

    @property
    def texts(self) -> list[str]:
        """Features whose cells are texts."""
        return [name for name, how in self.features.items() if how.read == "texts"]

    def numbers(self, table: pd.DataFrame, needed: Collection[str] | None = None) -> pd.DataFrame:
        """Return the features of some rows as finite numbers: a text as the position of its category.

        Parameters
        ----------
        table : pandas.DataFrame
            The rows.
        needed : sequence of str, optional
            Features that must be there; of the others, an absent or unreadable one is 0. Default: all features.

        Raises
        ------
        ValueError
            If the table has other columns, a number is missing or infinite, or a text is unknown and none is missing.
        """
        self.check(table.columns, needed)
        found = dict.fromkeys(self.features, pd.Series(0, table.index))
        for name in self.features:
            try:
                found |= {name: self._numbers(table[name], self.features[name])} if name in table else {}
            except ValueError:
                if needed is None or name in needed:
                    raise
        return pd.DataFrame(found)

    def _numbers(self, column: pd.Series, how: Reading) -> pd.Series:
        found = how.numbers(column)
        strange = found.isna() if how.read != "texts" else found.isna() | (found == UNSEEN)
        if not strange.any():
            return found
        if how.read == "texts" and None in how.categories:  # a text of few rows is a missing one
            return found.where(~strange, how.categories.index(None)).astype(np.int64)
        if how.read == "texts":
            raise ValueError(
                f"column {column.name!r} holds {column[strange].tolist()[0]!r}, which the fitted defence has not seen: "
                "drop such rows, or fit the defence again"
            )
        if column.name not in self.fills:
            raise ValueError(
                f"column {column.name!r} is missing or infinite in row {column.index[strange][0]}: use "
                "missing='impute' or missing='drop'"
            )
        return found.astype(float).where(~strange, self.fills[str(column.name)])

    def check_new(self, found: Survey, needed: Collection[str]) -> None:
        """Raise ValueError unless new rows may leave as the first ones did.

        Parameters
        ----------
        found : Survey
            Sample and head of the new table.
        needed : sequence of str
            Features that the defence releases or computes with.
        """
        self.check(found.sample.columns, needed)
        numbers = {name: how.numbers(found.sample[name]) for name, how in self.features.items() if name in needed}
        unlike = find_unlike(
            (found.head, found.sample),
            pd.DataFrame(numbers),
            self.spans,
            self.features,
            known=self.kept,
            labels=(self.user, self.groups),
        )
        if unlike:
            raise ValueError(UNLIKE.format(in_words(unlike)))

    def cells(self, released: pd.DataFrame) -> pd.DataFrame:
        """Return released numbers with the texts that they stand for. Only the numbers decide, so noise stays noise."""
        found = released.copy()
        for name in released.columns.intersection(self.texts):
            texts = np.array(self.features[name].categories, dtype=object)
            found[name] = texts[np.clip(np.rint(released[name].to_numpy(dtype=float)), 0, len(texts) - 1).astype(int)]
        return found

    def check(self, columns: pd.Index, needed: Collection[str] | None = None) -> None:
        """Raise ValueError if a table lacks needed features or has columns that `learn_columns` never judged."""
        known = {*self.features, *self.dropped, self.task, self.user, self.groups}
        if absent := [name for name in (self.features if needed is None else needed) if name not in columns]:
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
        Dropped are the columns that `columns.judge` refuses, and texts with more different cells than a category has.

    Raises
    ------
    ValueError
        If a column is missing or has two roles, the task has one class, differs in every row or stands for the user,
        there is one user, or no column is left.
    """
    sample = found.sample
    roles = Roles(task, user, groups)
    roles.check(sample.columns, keep, drop, "the table")
    for role, name in roles.named.items():
        if missing := int(sample[name].isna().sum()):
            raise ValueError(
                f"the {role} column {name!r} is missing in {missing} of {len(sample)} rows: fill or drop them"
            )
    check_labels(sample[task], sample[user])
    refuse_task(sample[task], sample[user], None if groups is None else sample[groups])
    parts = [sample] if sample.equals(found.head) else [sample, found.head]
    judged = judge_table(parts, roles, keep=keep, drop=drop, rows=sample, keep_copies=False)
    reasons = Columns(task, user, groups, {}).dropped_roles
    reasons |= judged.dropped | judged.identifying
    features: dict[str, Reading] = {}
    for name in judged.features:
        if name in found.categories:
            counts = as_text(sample[name]).value_counts()
            cells = [cell for cell in found.categories[name] if cell is None or counts.get(cell, 0) >= FEWEST]
            features[name] = read_texts(
                [None] * (len(cells) < len(found.categories[name]) and None not in cells) + cells
            )
        elif is_text(sample[name]):
            reasons[name] = f"text with more than {MOST_CATEGORIES:,} different cells"
        else:
            features[name] = read_column(sample[name])
    if blocked := [name for name in keep if name in reasons]:
        raise ValueError(f"column {blocked[0]!r} cannot be kept: {reasons[blocked[0]]}")
    if not features:
        raise ValueError(f"no column is left to publish beside the task. Dropped: {in_words(reasons)}")
    kept = [name for name in features if name in judged.found]
    measured = {
        name: how.numbers(sample[name]) for name, how in features.items() if how.read in ("numbers", "durations")
    }
    return Columns(task, user, groups, features, reasons, kept=kept, spans=spans_of(pd.DataFrame(measured)))


def learn_fills(columns: Columns, sample: pd.DataFrame, seed: int) -> Columns:
    """Return the columns with the medians of the training rows, which fill missing numbers in every row."""
    names = [name for name in columns.features if name not in columns.texts]
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
    task, _ = as_classes(sample[columns.task], np.arange(len(sample)))
    coded = {"coded": columns.texts}
    return Problem(columns.numbers(sample), task, sample[columns.user], groups, name, coded)
