"""Find columns that hold the user under another name, and your own table without them."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from sensorprivacy.datasets.checks import require_columns
from sensorprivacy.datasets.own.coding import with_numbers
from sensorprivacy.datasets.own.formats import as_frame, read_table
from sensorprivacy.datasets.own.identifiers import find_identifiers
from sensorprivacy.datasets.own.pieces import as_text, is_text

COPY = 0.95  # mean recall of a lookup table from which a column stands for the user
NOBODY = "-"  # in place of the user column, if the rows of a table belong to no person
_FEWEST_NAMED = 0.01  # share of rows whose text names their user


def shareable_table(
    source: Any, *, user: str | None, drop: Sequence[str] = (), keep: Sequence[str] = ()
) -> pd.DataFrame:
    """Return your own table without the columns that no release may hold.

    Parameters
    ----------
    source : path, or pandas, polars or Arrow table
        The table, see `formats.read_table`.
    user : str
        Column with the person of each row, or ``"-"`` if rows belong to no person.
    drop : sequence of str
        Columns that are left out.
    keep : sequence of str
        Columns that stay although they look like identifiers or copies of the user.

    Returns
    -------
    pandas.DataFrame
        The table without the user, columns that stand for the user or name the user, and identifiers. ``attrs`` has
        ``left_out``: each of these columns with the reason.

    Raises
    ------
    ValueError
        If `user` is None, a column is missing, or no column is left.
    """
    table = read_table(source) if isinstance(source, Path | str) else as_frame(source)
    if user is None:
        raise ValueError(
            f"user is missing: name the column with the person of each row, or give user={NOBODY!r} if there is none. "
            f"The table has {', '.join(map(str, table.columns[:12]))}"
        )
    named = [] if user == NOBODY else [user]
    require_columns(table.columns, [*named, *drop, *keep], "the table")
    others = table.drop(columns=[*named, *drop])
    left_out = dict.fromkeys(named, "the user of each row") | dict.fromkeys(drop, "you dropped it")
    judged = others.drop(columns=list(keep))
    left_out |= find_identifiers(with_numbers(judged.copy()), [table[name] for name in named])
    for name in judged.columns.difference(list(left_out), sort=False) if named else []:
        if reason := link_to_user(judged[name], table, user, None):
            left_out[str(name)] = reason
    shared = table.drop(columns=list(left_out))
    if not shared.shape[1]:
        raise ValueError(f"no column is left: {', '.join(f'{name} ({why})' for name, why in left_out.items())}")
    shared.attrs["left_out"] = left_out
    return shared


def stands_for(column: pd.Series, labels: pd.Series) -> bool:
    """Return whether a lookup table from a column's cells to labels is right for nearly all rows of each label.

    The table is made from all other rows, so that a value which occurs once tells nothing. Numbers must also follow
    from the label: a number that differs between people is a measurement, but a number for each person is a name. If
    most labels occur once, this says nothing, and whole numbers stand for labels if each has one number and vice versa.
    """
    codes, of = (pd.factorize(some, use_na_sentinel=False)[0] for some in (column, labels))
    if 2 * of.max() > len(of) and not is_text(column) and (column.dropna() % 1 == 0).all():
        return len(np.unique(codes)) == len(np.unique(of)) == len(np.unique(np.stack([codes, of]), axis=1).T)
    if _recall(codes, of) < COPY:
        return False
    return is_text(column) or _recall(of, codes) >= COPY


def _recall(seen: np.ndarray, wanted: np.ndarray) -> float:
    """Return the mean recall of looking up the most frequent `wanted` of the other rows with the same `seen`."""
    pairs = pd.DataFrame({"seen": seen, "wanted": wanted}).value_counts().reset_index(name="rows")
    cells, labels, rows = pairs.sort_values(["seen", "rows"], ascending=[True, False]).to_numpy().T
    begins = np.flatnonzero(np.diff(cells, prepend=cells[0] - 1))
    sizes = np.diff(begins, append=len(cells))
    # the strongest other label of the same cell: the second one for the first, the first one for all others
    second = np.where(sizes > 1, rows[np.minimum(begins + 1, len(rows) - 1)], 0)
    rival = np.repeat(rows[begins], sizes)
    rival[begins] = second
    right = np.bincount(labels, np.where(rows - 1 > rival, rows, 0), minlength=labels.max() + 1)
    return float(np.mean(right / np.maximum(np.bincount(labels, rows), 1)))


def link_to_user(column: pd.Series, sample: pd.DataFrame, user: str, groups: str | None) -> str:
    """Return how a column stands for the user or the recording, or an empty text."""
    if stands_for(column, sample[user]):
        return f"{user!r} under another name: its value alone identifies the user"
    if groups is not None and stands_for(column, sample[groups]) and stands_for(sample[groups], column):
        return f"{groups!r} under another name: its value alone identifies the recording"
    if is_text(column) and not pd.api.types.is_bool_dtype(column):
        pairs = pd.DataFrame({"cell": as_text(column), "user": as_text(sample[user])}).dropna().value_counts()
        named = [len(who) > 2 and who.lower() in cell.lower() for cell, who in pairs.index]
        if len(pairs) and pairs[named].sum() > _FEWEST_NAMED * len(sample):
            return "its text names the user of the row"
    return ""
