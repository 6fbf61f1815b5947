"""Find columns that identify a row by themselves: identifiers, addresses, points in time and row numbers.

A model cannot learn from most such columns, but whoever holds the original table can join it with a published one.
MAC, IP and e-mail addresses count even if few of them occur: an address names a device, a household or a person. An
address of a server, which many users share, can be a legitimate feature of traffic: its owner names it in `keep`.
"""

import re
import warnings
from collections.abc import Iterable, Sequence, Sized

import numpy as np
import pandas as pd


class IdentifierWarning(UserWarning):
    """Columns identify rows: they were left out of the features, or should be."""


FEWEST_ROWS = 20  # in shorter tables, distinct values are no sign of an identifier
NEARLY_ALL = 0.95  # share of distinct values from which a column is nearly unique
_DENSE = 2  # row numbers in any order take at most so many times as many places as there are rows
_LONG = 0.9  # share of rows that follow another row of their sequence
_ADDRESSES = {
    "UUIDs": re.compile(r"\{?[0-9a-f]{8}-?(?:[0-9a-f]{4}-?){3}[0-9a-f]{12}\}?", re.IGNORECASE),
    "MAC addresses": re.compile(r"(?:[0-9a-f]{2}[:-]){5}[0-9a-f]{2}|(?:[0-9a-f]{4}\.){2}[0-9a-f]{4}", re.IGNORECASE),
    "IP addresses": re.compile(
        r"(?:(?:25[0-5]|2[0-4]\d|1?\d?\d)\.){3}(?:25[0-5]|2[0-4]\d|1?\d?\d)(?::\d{1,5}|/\d{1,2})?"
        r"|(?=.*::)[0-9a-f:]{2,39}(?:%\w+)?|(?:[0-9a-f]{1,4}:){7}[0-9a-f]{1,4}(?:%\w+)?",
        re.IGNORECASE,
    ),
    "e-mail addresses": re.compile(r"[^@\s]+@[^@\s]+\.[^@\s]+"),
    "points in time": re.compile(
        r"(?:\d{4}-\d{1,2}-\d{1,2}|\d{4}/\d{1,2}/\d{1,2}|\d{1,2}[./]\d{1,2}[./]\d{2,4})"
        r"(?:[T ,]+\d{1,2}:\d{2}(?::\d{2}(?:[.,]\d+)?)?\s*(?:[AaPp]\.?[Mm]\.?)?\s*(?:Z|UTC|[+-]\d{2}:?\d{2})?)?"
    ),
}
_NAME_OF_ID = re.compile(r"(?:^|[\W_])(?:id|ids|uid|uuid|guid|key|index|serial|nr|no|number)(?:$|[\W_])", re.IGNORECASE)
_NAME_OF_TIME = re.compile(r"(?:^|[\W_])(?:time|timestamp|datetime|date|epoch|ts|unixtime)(?:$|[\W_])", re.IGNORECASE)
_EPOCH = (1e9, 2.5e9)  # seconds since 1970 of the years 2001 to 2049


def find_identifiers(features: pd.DataFrame, sequences: Sequence[pd.Series] = ()) -> dict[str, str]:
    """Return the columns that identify rows, each with the reason.

    Parameters
    ----------
    features : pandas.DataFrame
        n rows, in the order of the file.
    sequences : sequence of pandas.Series
        Labels that divide the rows into sequences, such as users and recordings. A column that numbers the rows of each
        sequence is a row number, too.

    Returns
    -------
    dict of str to str
        Column and kind: "UUIDs", "e-mail addresses", "points in time", "row numbers", "large integers that differ in
        every row", ... Continuous measurements are no identifiers, even if all their values differ.

    Examples
    --------
    >>> table = pd.DataFrame({"row": range(30), "lux": [(7 * k) ** 0.5 % 3 for k in range(30)]})
    >>> find_identifiers(table)
    {'row': 'row numbers'}
    """
    found = {str(name): _kind(features[name], str(name), sequences) for name in features}
    return {name: kind for name, kind in found.items() if kind}


def warn_of_identifiers(features: pd.DataFrame, sequences: Sequence[pd.Series] = ()) -> None:
    """Warn with `IdentifierWarning` if columns identify rows; the message names each with its kind, and the remedy.

    Parameters
    ----------
    features, sequences
        As for `find_identifiers`.
    """
    if found := find_identifiers(features, sequences):
        named = ", ".join(f"{name} ({kind})" for name, kind in found.items())
        warnings.warn(
            f"columns that identify rows are among the features: {named}. Whoever has the original table can join a "
            "published one by them. Drop them, or ignore this warning if they are measurements",
            IdentifierWarning,
            stacklevel=4,
        )


def _kind(column: pd.Series, name: str, sequences: Sequence[pd.Series]) -> str:
    present = column.dropna()
    if pd.api.types.is_bool_dtype(column) or present.empty:
        return ""
    if column.dtype.kind == "M" and not isinstance(column.dtype, pd.CategoricalDtype):
        return "points in time"
    n_values = present.nunique()
    distinct = n_values / len(column)
    if not pd.api.types.is_numeric_dtype(column):
        cells = {str(cell).strip() for cell in present.unique()}
        matching = (kind for kind, pattern in _ADDRESSES.items() if all(map(pattern.fullmatch, cells)))
        differ = (
            "texts that differ in nearly every row" if len(column) >= FEWEST_ROWS and distinct >= NEARLY_ALL else ""
        )
        return next(matching, differ)
    if len(present) < max(FEWEST_ROWS, NEARLY_ALL * len(column)):
        return ""
    values = present.to_numpy(dtype=float)
    if _is_time(values, name, [labels[present.index] for labels in sequences]):
        return "points in time"
    if n_values > 2 and _has_constant_steps(present, sequences):  # two values make no long sequence
        return "row numbers"
    if distinct < NEARLY_ALL or (values % 1 != 0).any():
        return ""
    if (np.diff(values) >= 0).all() or np.ptp(values) < _DENSE * len(values):
        return "row numbers"
    if np.abs(values).max() > 2**53:
        return "large integers that differ in nearly every row"
    return "numbers that differ in nearly every row" if _is_called(_NAME_OF_ID, name) else ""


def _is_time(values: np.ndarray, name: str, sequences: Iterable[pd.Series]) -> bool:
    """Return whether a column holds times: two of a name, rising values, and seconds (or parts of them) since 1970."""
    low, high = values.min(), values.max()
    since_1970 = any(_EPOCH[0] <= low / unit and high / unit <= _EPOCH[1] for unit in (1, 1e3, 1e6, 1e9))
    signs = since_1970 + _is_called(_NAME_OF_TIME, name)
    if signs != 1:
        return signs == 2
    within = (pd.Series(values).groupby(labels.to_numpy()).diff().dropna() for labels in sequences)
    steps = (np.diff(values), *(found.to_numpy() for found in within))
    return any(_in_long_sequences(found, values) and (found >= 0).all() and found.any() for found in steps)


def _has_constant_steps(column: pd.Series, sequences: Iterable[pd.Series]) -> bool:
    """Return whether the values rise or fall by the same step from row to row, in the table or in each sequence."""
    numbers = column.astype(float)
    for steps in (numbers.diff(), *(numbers.groupby(labels[column.index]).diff() for labels in sequences)):
        known = steps.dropna().to_numpy()
        if _in_long_sequences(known, column) and known[0] != 0 and np.allclose(known, known[0], rtol=1e-6, atol=0):
            return True
    return False


def _in_long_sequences(steps: np.ndarray, values: Sized) -> bool:
    """Return whether sequences have about ten rows or more: in short ones, values rise by chance."""
    return len(steps) >= _LONG * len(values)


def _is_called(pattern: re.Pattern[str], name: str) -> bool:
    return pattern.search(re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", name)) is not None
