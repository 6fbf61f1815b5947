"""Make classes of the labels of your own table: few enough to learn, and none with one row."""

import warnings
from collections import Counter
from collections.abc import Mapping

import numpy as np
import pandas as pd

from sensorprivacy.checks import rows_in_words
from sensorprivacy.columns.cells import as_text

FEWEST = 2  # rows of a user or a class: one to train on, one to test on
_MOST = 20  # different values of numbers with decimals that are classes
_SHARE = 0.5  # of the rows: with more different values, a task has no classes
_REFINES = 0.99  # of the rows whose class a column of categories fixes, from which it may be made from the task
_REPEATS = 10  # rows of a category, on average


def as_classes(task: pd.Series, rows: np.ndarray, bins: int | None = None) -> tuple[pd.Series, str]:
    """Return the task as classes, and in words how they were made.

    Parameters
    ----------
    task : pandas.Series
        The column.
    rows : numpy.ndarray of int
        Positions of the rows that have a task.
    bins : int, optional
        Number of classes of about equal size that numbers are divided in.

    Raises
    ------
    ValueError
        If numbers have too many different values to be classes, `bins` is below 2, or the task has no numbers.
    """
    cells = task.iloc[rows]
    distinct, numeric = cells.nunique(), pd.api.types.is_numeric_dtype(task) and not pd.api.types.is_bool_dtype(task)
    if bins is not None:
        if bins < 2 or not numeric:
            raise ValueError(
                f"bins={bins}: give 2 or more classes for a task of numbers; {task.name!r} is {task.dtype}"
            )
        classes = pd.qcut(task.astype(float), bins, duplicates="drop")
        return classes.astype(str).where(task.notna()), f"{classes.cat.categories.size} classes of about equal size"
    if _has_no_classes(cells):
        what = "numbers" if numeric else "different values"
        advice = "divide it in classes with bins=4, or name another task" if numeric else "name another task"
        raise ValueError(
            f"the task column {task.name!r} has {distinct:,} {what} in {len(cells):,} rows, and no classes: {advice}"
        )
    return (task.map(str, na_action="ignore").astype(object) if _has_fractions(cells) else task), "classes"


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


def warn_of_labels(features: pd.DataFrame, labels: Mapping[str, pd.Series]) -> None:
    """Warn about columns that refine the task, and about labels that differ by case only.

    Parameters
    ----------
    features : pandas.DataFrame
        n rows. A column refines the task if its categories, with a missing cell as one, fix the class of nearly every
        row, and the most frequent class does not.
    labels : mapping of str to pandas.Series
        Columns of labels of the same rows, by role. Without a ``task``, no column refines it.
    """
    for role, column in labels.items():
        texts = pd.Series(as_text(column).dropna().unique(), dtype=object)
        alike = texts.groupby(texts.str.strip().str.casefold().to_numpy()).agg(list)
        for some in alike[alike.map(len) > 1].head(5):
            named = " and ".join(map(repr, sorted(some)))
            warnings.warn(
                f"{named} of the {role} {column.name!r} differ by case or spaces only, but count as different "
                "labels: write them alike",
                UserWarning,
                stacklevel=4,
            )
    classes = labels.get("task")
    if classes is None or classes.value_counts(normalize=True).max() >= _REFINES:
        return
    found = [
        f"{name} ({purity:.1%} of the rows)"
        for name, column in features.items()
        if column.nunique() * _REPEATS <= len(column)
        and (purity := pd.crosstab(as_text(column).fillna(""), classes).max(axis=1).sum() / len(column)) >= _REFINES
    ]
    if found:
        warnings.warn(
            f"columns that refine the task {classes.name!r}, because each of their categories lies in one class: "
            f"{', '.join(found)}. If they were made from the task, a service does not have them: drop them",
            UserWarning,
            stacklevel=4,
        )


def _has_no_classes(task: pd.Series) -> bool:
    distinct = task.nunique()
    return (_has_fractions(task) and distinct > _MOST) or distinct > max(2, _SHARE * len(task))


def _has_fractions(task: pd.Series) -> bool:
    numeric = pd.api.types.is_numeric_dtype(task) and not pd.api.types.is_bool_dtype(task)
    return bool(numeric and (task.dropna().astype(float) % 1 != 0).any())


def find_rare(rows: Counter[tuple[str, ...]]) -> list[dict[str, int]]:
    """Return the labels with fewer than `FEWEST` rows, also after the rows of other rare labels are left out.

    Parameters
    ----------
    rows : Counter
        Number of rows by their labels, such as user and task.

    Returns
    -------
    list of dict
        Rare labels and the rows left out for each, in the order of the labels.
    """
    found: list[dict[str, int]] = [{} for _ in next(iter(rows), ())]
    while True:  # without the rows of a rare user, a class can become rare
        more = False
        for place, known in enumerate(found):
            counts: Counter[str] = Counter()
            for labels, many in rows.items():
                counts[labels[place]] += many
            rare = {label: many for label, many in counts.items() if many < FEWEST}
            rows = Counter({labels: many for labels, many in rows.items() if labels[place] not in rare})
            known.update(rare)
            more = more or bool(rare)
        if not more:
            return found


def rare_rows(labels: Mapping[str, pd.Series], rows: np.ndarray) -> tuple[np.ndarray, list[str]]:
    """Return the rows without rare users and classes, and in words which rows are missing.

    Raises
    ------
    ValueError
        If fewer than two users or classes have enough rows.
    """
    texts = {name: as_text(column.iloc[rows]) for name, column in labels.items()}
    rare = find_rare(Counter(zip(*texts.values(), strict=True)))
    words, left = [], np.ones(len(rows), dtype=bool)
    for (name, column), some in zip(texts.items(), rare, strict=True):
        counts = column.value_counts()
        if (counts >= FEWEST).sum() < 2 or len(counts) - len(some) < 2:
            raise ValueError(
                f"column {name!r} has fewer than two different values with {FEWEST} rows or more, of "
                f"{len(counts):,} in {len(rows):,} rows: a model needs at least two to learn from"
            )
        if some:
            shown = ", ".join(list(some)[:5]) + (f" and {len(some) - 5} more" if len(some) > 5 else "")
            words.append(f"{rows_in_words(sum(some.values()))} of {name} {shown} (fewer than {FEWEST} rows each)")
            left &= ~column.isin(some).to_numpy()
    return rows[left], words
