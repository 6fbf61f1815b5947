"""Judge the columns of a table, the same for every command and estimator: what may be used, and why others may not.

Each rule has one place. What names a row: `identifiers`. What names a user: `copies`. What tells nothing: here.
"""

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from sensorprivacy.checks import require_columns
from sensorprivacy.columns.cells import is_decimal
from sensorprivacy.columns.coding import read_column
from sensorprivacy.columns.copies import holds_user, nearly_holds_user
from sensorprivacy.columns.identifiers import IdentifierWarning, find_identifiers

SAMPLE = 20_000  # rows that links to the user are looked for in
DROPPED, EMPTY, CONSTANT = "you dropped it", "it is empty", "it is constant"


@dataclass(frozen=True)
class Roles:
    """Columns with a role; None if no column has it.

    Attributes
    ----------
    task, user, groups : str or None
        Column to predict, column with the person, and with the recording, of each row.
    """

    task: str | None = None
    user: str | None = None
    groups: str | None = None

    @property
    def named(self) -> dict[str, str]:
        """The columns by role, without roles that no column has."""
        return {role: name for role, name in vars(self).items() if name is not None}

    def check(self, columns: pd.Index, keep: Sequence[str], drop: Sequence[str], table: str) -> None:
        """Raise ValueError if a column is missing, or has two roles, or is both needed and dropped."""
        roles = list(self.named.values())
        if len(set(roles)) < len(roles):
            raise ValueError(f"task, user and groups must be different columns, got {', '.join(map(repr, roles))}")
        require_columns(columns, [*roles, *keep, *drop], table)
        if both := [name for name in keep if name in roles]:
            raise ValueError(f"{both} are task, user or groups, so they cannot be features: leave them out of `keep`")
        if both := [name for name in drop if name in [*roles, *keep]]:
            raise ValueError(f"{both} are needed or kept, so they cannot be dropped: leave them out of `drop`")


class Finding(NamedTuple):
    """Why a column identifies rows or users.

    Attributes
    ----------
    reason : str
        In words.
    copy : bool
        Whether it holds the user or the recording. `publish` does not keep such a column on request.
    """

    reason: str
    copy: bool


@dataclass(frozen=True)
class Judged:
    """The columns of a table, divided.

    Attributes
    ----------
    features : tuple of str
        Columns that may be used.
    found : dict of str to Finding
        Columns that identify rows or users, those in `keep` too.
    identifying : dict of str to str
        Columns that are left out because they identify rows or users, with the reason.
    dropped : dict of str to str
        Columns that are left out because the user wants it, or because they are empty or constant.
    """

    features: tuple[str, ...]
    found: dict[str, Finding]
    identifying: dict[str, str]
    dropped: dict[str, str]


def judge_table(
    parts: Sequence[pd.DataFrame],
    roles: Roles,
    *,
    keep: Sequence[str] = (),
    drop: Sequence[str] = (),
    rows: pd.DataFrame | None = None,
    keep_copies: bool = True,
) -> Judged:
    """Divide the columns of a table.

    Parameters
    ----------
    parts : sequence of pandas.DataFrame
        The table, or parts of it, such as a sample and its first rows. A column that identifies rows in one part is
        left out.
    roles : Roles
        Columns with a role.
    keep, drop : sequence of str
        Columns that are used although they look like identifiers, and columns that are not used.
    rows : pandas.DataFrame, optional
        Rows in which a column that tells something has two cells or more. Default: the last part.
    keep_copies : bool
        Whether `keep` also keeps columns that hold the user or the recording.
    """
    rows = parts[-1] if rows is None else rows
    names = [name for name in map(str, rows) if name not in {*roles.named.values(), *drop}]
    dropped = dict.fromkeys(map(str, drop), DROPPED) | _telling_nothing(rows[names])
    judged = [name for name in names if name not in dropped]
    found: dict[str, Finding] = {}
    for part in parts:
        labels = (part[name] if name is not None else None for name in (roles.user, roles.groups))
        found = find_identifying(part[judged], *labels) | found
    kept = {name for name in keep if keep_copies or not (name in found and found[name].copy)}
    identifying = {name: found[name].reason for name in judged if name in found and name not in kept}
    features = tuple(name for name in judged if name not in identifying)
    return Judged(features, found, identifying, dropped)


def find_identifying(
    features: pd.DataFrame, user: pd.Series | None, groups: pd.Series | None = None
) -> dict[str, Finding]:
    """Return the columns that identify rows or users; see `identifiers` and `copies` for the rules.

    Parameters
    ----------
    features : pandas.DataFrame
        n rows in the order of the file.
    user, groups : pandas.Series, optional
        Person and recording of each row.
    """
    labels = [some for some in (user, groups) if some is not None]
    found = find_identifiers(_with_numbers(features), labels)
    if user is None:
        return {name: Finding(reason, copy=False) for name, reason in found.items()}
    sample = user.sample(SAMPLE, random_state=0) if len(user) > SAMPLE else user
    known = pd.concat([some[sample.index] for some in labels], axis=1).dropna().index
    who, recordings = user[known], None if groups is None else groups[known]
    answer: dict[str, Finding] = {}
    for name, column in features.items():
        copy = holds_user(column[known], who, recordings) if len(known) else ""
        reason = found.get(str(name)) or copy or (nearly_holds_user(column[known], who) if len(known) else "")
        if reason:
            answer[str(name)] = Finding(reason, copy=bool(copy))
    return answer


def warn_of_identifying(features: pd.DataFrame, users: Any, groups: Any) -> None:
    """Warn with `IdentifierWarning` if features identify rows or users; the message names each, and the remedy.

    Parameters
    ----------
    features : pandas.DataFrame
        n rows.
    users, groups : array-like of shape (n,) or None
        Person and recording of each row. Labels of another length are not used.
    """
    labels = [None if some is None else pd.Series(np.ravel(some), name="users") for some in (users, groups)]
    known = [some if some is not None and len(some) == len(features) else None for some in labels]
    if found := find_identifying(features, *known):
        named = in_words({name: finding.reason for name, finding in found.items()})
        warnings.warn(
            f"columns that identify rows or users are among the features: {named}. Whoever has the original table can "
            "join a published one by them. Drop them, or ignore this warning if they are measurements",
            IdentifierWarning,
            stacklevel=5,
        )


def _with_numbers(features: pd.DataFrame) -> pd.DataFrame:
    """Return a table with durations and decimals as numbers."""
    odd = {str(name): column for name, column in features.items() if column.dtype.kind == "m" or is_decimal(column)}
    return features.assign(**{name: read_column(column).numbers(column) for name, column in odd.items()})


def _telling_nothing(table: pd.DataFrame) -> dict[str, str]:
    """Return columns without information: noise on them would cost others a part of their epsilon."""
    found = {}
    for name, cells in table.items():
        if cells.isna().all():
            found[str(name)] = EMPTY
        elif (cells == cells.iloc[0]).all():
            found[str(name)] = CONSTANT
    return found


def in_words(columns: Mapping[str, str]) -> str:
    """Return columns with their reasons as one text."""
    return ", ".join(f"{name} ({reason})" for name, reason in columns.items())
