"""Sentences about columns: perhaps dates, or numbers that were read as texts; and sentences without labels of users."""

import re
from collections.abc import Collection, Iterator, Mapping
from typing import Any

import numpy as np
import pandas as pd
from sklearn.ensemble import RandomForestClassifier

from sensorprivacy.columns.coding import misread, numbers_among
from sensorprivacy.columns.copies import find_names
from sensorprivacy.columns.moments import FEWEST, NEARLY_ALL, UNITS
from sensorprivacy.data import Problem
from sensorprivacy.game.outcome import LEVEL
from sensorprivacy.game.play import fit_clone
from sensorprivacy.game.units import difference
from sensorrelease.checks import split_of

_NAMED = "a text that names a user"
_FROM, _TO = 1900, 2012  # years of birth, and of other dates that are no time of a measurement
_SERIALS = (9_133, 40_543)  # days of a spreadsheet, of the years 1925 to 2010
_YEAR = 31_557_600  # seconds
_SPREAD = 5 * 365  # days between the first and the last date of a column of them
_ROWS = 5_000  # of a split, to measure what misreading hides


def without_names(said: Any, users: pd.Series) -> Any:
    """Return sentences, in a list or by columns, without the labels of users: pages and files state them."""
    if isinstance(said, Mapping):
        return dict(zip(said, without_names(list(said.values()), users), strict=True))
    named = set(find_names(said, users))

    def bare(text: str) -> str:
        for label in sorted(set(users.dropna().map(str)), key=len, reverse=True):
            if len(label) > 2 and label.lower() in text.lower():
                text = re.sub(re.escape(label), "...", text, flags=re.IGNORECASE)
        return _NAMED if find_names([text], users) else text

    return [bare(text) if text in named else text for text in said]


def perhaps_dates(table: pd.DataFrame) -> list[str]:
    """Return a sentence for each column of numbers that may be dates of the last century.

    Other numbers, such as the counts of a converter, can have the same range. So these columns are not left out.
    """
    said = []
    for name, column in table.select_dtypes("number").items():
        cells = column.to_numpy(dtype=float, na_value=np.nan)
        cells = cells[np.isfinite(cells)]
        if len(np.unique(cells)) < FEWEST or (cells * 2 % 1 != 0).mean() > 1 - NEARLY_ALL:
            continue
        for form, dates in _as_dates(cells):
            inside = dates[dates.dt.year.between(_FROM, _TO)]
            if len(inside) >= NEARLY_ALL * len(cells) and (inside.max() - inside.min()).days > _SPREAD:
                years = f"{inside.min().year} to {inside.max().year}"
                said.append(f"column {name} may hold dates ({form}, {years}): if so, drop it")
                break
    return said


def _as_dates(cells: np.ndarray) -> Iterator[tuple[str, pd.Series]]:
    """Yield the forms of dates that numbers can have by their size, and what they state."""
    middle, whole = float(np.median(np.abs(cells))), pd.Series(cells.astype(np.int64).astype(str))
    if _SERIALS[0] <= cells.min() and cells.max() <= _SERIALS[1]:
        yield "days of a spreadsheet", pd.Series(pd.to_datetime(cells, unit="D", origin="1899-12-30"))
    if 2_415_000 <= middle <= 2_470_000:
        yield "Julian days", pd.Series(pd.to_datetime(cells, unit="D", origin="julian", errors="coerce"))
    for form, size, what in (("%Y%j", 7, "year and day"), ("%y%m%d", 6, "year, month and day")):
        if (whole.str.len() == size).mean() >= NEARLY_ALL:
            dates = pd.to_datetime(whole, format=form, errors="coerce")
            yield what, dates.where(dates.dt.year <= _TO, dates - pd.DateOffset(years=100))
    for unit in UNITS if cells.min() < 0 else ():
        if _YEAR * unit < middle and np.abs(cells).max() < 40 * _YEAR * unit:
            yield "seconds since 1970", pd.Series(pd.to_datetime(cells / unit, unit="s"))


def misreading(problem: Problem, table: pd.DataFrame, left_out: Collection[str], seed: int) -> list[str]:
    """Measure whether all features identify users worse because columns of numbers were read as texts.

    Two forests predict the users of held-out rows: one from the features as they were read, one from the same features
    with these columns as numbers. A paired test compares them, over groups if there are any.

    Parameters
    ----------
    problem : Problem
        Features as they were read.
    table : pandas.DataFrame
        The cells of the same rows.
    left_out : collection of str
        Columns that are no features.
    seed : int
        Seed of split and forests.

    Returns
    -------
    list of str
        A sentence if there is such a column, and it is left out or its numbers identify users clearly better.
    """
    found = misread(table, [*left_out, *problem.features])
    if not found:
        return []
    try:
        split = split_of(problem, None, seed, _ROWS)
    except ValueError:  # the commands refuse such a table
        return []
    numbers = pd.DataFrame({name: numbers_among(table[name]).to_numpy() for name in found})
    numbers = numbers.fillna(numbers.iloc[split.train].median()).fillna(0)
    read = problem.filled(split.train).features
    users, right = problem.users.to_numpy(), []
    for features in (read, read.drop(columns=[*found], errors="ignore").join(numbers)):
        forest = RandomForestClassifier(50, random_state=seed)
        forest = fit_clone(forest, features.to_numpy()[split.train], users[split.train])
        right.append(forest.predict(features.to_numpy()[split.test]) == users[split.test])
    groups = None if problem.groups is None else problem.groups.to_numpy()[split.test]
    gained = difference(right[1], right[0], groups)
    clear = gained.value > 0 and gained.p / 2 < LEVEL  # one-sided: only what is hidden is a risk
    if not clear and not set(found) & set(left_out):
        return []
    scores = f"all features identify the user of {right[1].mean():.1%} of {len(split.test):,} rows, and as they are "
    scores += f"read, of {right[0].mean():.1%}"
    what = f"with the numbers of {'the column' if len(found) == 1 else f'{len(found)} columns'} that were read as text"
    return [f"measured {what}, {scores}: {'this hides a risk' if clear else 'no clear difference'}"]
