"""Judge the columns of a table, the same for every command and estimator: what may be used, and why others may not.

Each rule has one place. What names a row: `identifiers`. What names a user: `copies`. What tells nothing: here.
"""

import warnings
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from sensorprivacy.checks import require_columns
from sensorprivacy.columns.cells import as_text, is_decimal, is_text
from sensorprivacy.columns.coding import UNSEEN, Reading, read_column
from sensorprivacy.columns.copies import find_names, holds_user, nearly_holds_user, stands_for
from sensorprivacy.columns.identifiers import IdentifierWarning, find_identifiers
from sensorprivacy.columns.labels import FEWEST, warn_of_labels

SAMPLE = 20_000  # rows that links to the user are looked for in
STRANGE = 0.05  # share of new cells unlike the first ones, from which a fitted defence does not suit them
UNLIKE = "these rows are not like those that the defence was fitted to: {}. Correct the columns, or fit it again"
UNKNOWN = "the defence was fitted without it"
DROPPED, EMPTY, CONSTANT = "you dropped it", "it is empty", "it is constant"
NAMED = "its name holds the label of a user"
MOST_COLUMNS = 5_000  # whose search ends in a reasonable time


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

    Raises
    ------
    ValueError
        If there are more columns than `MOST_COLUMNS`.

    Warns
    -----
    UserWarning
        About labels, see `labels.warn_of_labels`.
    """
    rows = parts[-1] if rows is None else rows
    names = [name for name in map(str, rows) if name not in {*roles.named.values(), *drop}]
    if len(names) > MOST_COLUMNS:
        raise ValueError(
            f"the table has {len(names):,} columns besides its labels, at most {MOST_COLUMNS:,} are judged: leave some "
            "out of the file, or name them in `drop`"
        )
    dropped = dict.fromkeys(map(str, drop), DROPPED) | _telling_nothing(rows[names])
    judged = [name for name in names if name not in dropped]
    found: dict[str, Finding] = {}
    for part in parts:
        owners = (part[name] if name is not None else None for name in (roles.user, roles.groups))
        found = find_identifying(part[judged], *owners) | found
    kept = {name for name in keep if keep_copies or not (name in found and found[name].copy)}
    identifying = {name: found[name].reason for name in judged if name in found and name not in kept}
    features = tuple(name for name in judged if name not in identifying)
    labels = {role: rows[name] for role, name in roles.named.items() if role != "groups" and name in rows}
    warn_of_labels(rows[list(features)], labels)
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
        reason = reason or (NAMED if find_names([str(name)], user) else _naming(column, user))
        if reason:
            answer[str(name)] = Finding(reason, copy=bool(copy))
    return answer


def _naming(column: pd.Series, user: pd.Series) -> str:
    if not is_text(column) or pd.api.types.is_bool_dtype(column):
        return ""
    named = find_names(as_text(column).dropna().unique(), user)
    return f"{len(named)} of its texts name a user" if named else ""


def name_of(column: str, reason: str, columns: Sequence[str]) -> str:
    """Return how a page names a column that is left out: by its place, if its name may hold the label of a user."""
    return f"column {list(columns).index(column) + 1}" if reason in (NAMED, UNKNOWN) else column


def refuse_task(task: pd.Series, user: pd.Series, groups: pd.Series | None = None) -> None:
    """Raise ValueError if a task must not leave beside the features: it stands for users, names them, or rows."""
    known = pd.concat([task, user], axis=1).dropna().index
    if stands_for(task[known], user[known]):
        why = "it stands for the user: each of its classes is of one of them"
    else:
        found = find_identifying(task.to_frame(), user, groups).get(str(task.name))
        why = "" if found is None or found.reason == NAMED else found.reason
    if why:
        raise ValueError(
            f"the task column {task.name!r} identifies the user, so no release may hold it ({why}). Choose another "
            "task, or coarser classes"
        )


def without_rare_texts(table: pd.DataFrame) -> pd.DataFrame:
    """Return a table in which texts of fewer than `FEWEST` rows are missing: such a text is a name of its row."""
    rare = {
        str(name): column.mask(column.map(column.value_counts()) < FEWEST, None)
        for name, column in table.items()
        if is_text(column) and not pd.api.types.is_bool_dtype(column)
    }
    return table.assign(**rare)


def spans_of(numbers: pd.DataFrame) -> dict[str, list[float]]:
    """Return the lowest value, the quartiles and the highest value of each column, without missing cells."""
    found = numbers.astype(float).quantile([0, 0.25, 0.5, 0.75, 1])
    return {str(name): list(column) for name, column in found.items() if column.notna().all()}


def moved(numbers: pd.DataFrame, spans: Mapping[str, Sequence[float]]) -> dict[str, str]:
    """Return the columns whose new rows are not like those of `spans_of`, each with the reason.

    More than 5 % of the numbers are outside the old range, which is widened by half of itself at both ends; or the
    median moved by a factor of 10 and the middle halves do not overlap, as after a change from W to kW.
    """
    found = {}
    for name, (low, first, middle, third, high) in spans.items():
        cells = numbers[name].dropna().astype(float) if name in numbers else pd.Series(dtype=float)
        if cells.empty:
            continue
        room = (high - low) / 2
        strange = ((cells < low - room) | (cells > high + room)).mean()
        now, sizes = cells.quantile([0.25, 0.5, 0.75]).to_list(), sorted([abs(middle), float(cells.abs().median())])
        if sizes[1] >= 10 * sizes[0] > 0 and (now[0] > third or now[2] < first):
            found[name] = f"its median moved from {middle:g} to {now[1]:g}: is the unit another one?"
        elif strange > STRANGE:
            found[name] = f"{strange:.0%} of its numbers are outside {low:g} to {high:g}"
    return found


def warn_of_identifying(features: pd.DataFrame, users: Any, groups: Any) -> dict[str, Finding]:
    """Return the features that identify rows or users; warn with `IdentifierWarning`, which names the remedy.

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
    return found


def find_unlike(
    parts: Sequence[pd.DataFrame],
    numbers: pd.DataFrame,
    spans: Mapping[str, Sequence[float]],
    readings: Mapping[Any, Reading],
    *,
    known: Collection[str],
    labels: Sequence[str | None] = (None, None),
) -> dict[str, str]:
    """Return the columns of new rows that identify someone, or are unlike the first ones, each with the reason.

    Parameters
    ----------
    parts : sequence of pandas.DataFrame
        The new rows, or parts of them. The last part has the rows of `numbers`.
    numbers : pandas.DataFrame
        The released columns of the last part, read as numbers.
    spans : mapping
        What numbers they must resemble, see `spans_of`.
    readings : mapping
        How columns are read. A column of numbers needs no reading.
    known : collection of str
        Columns that identified someone in the first rows, too.
    labels : (str or None, str or None)
        Columns with the person and the recording of each row, as far as the parts have them.
    """
    named: dict[str, str] = {}
    for part in parts:
        given = [part.get(name) for name in labels]
        features = part[[name for name in numbers if name not in known]]
        named |= {name: some.reason for name, some in find_identifying(features, *given).items()}
    found = moved(numbers, spans) | named
    texts = [name for name, how in readings.items() if how.read == "texts" and name in numbers and name not in found]
    for name in texts:
        unseen = (numbers[name] == UNSEEN).to_numpy()
        if unseen.mean() > STRANGE:
            example = parts[-1][name][unseen].tolist()[0]  # not NumPy's form of it
            found[name] = f"the fitted defence has not seen {unseen.mean():.0%} of its cells, such as {example!r}"
    return found


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
        elif cells.notna().all() and (cells == cells.iloc[0]).all():  # a nullable column compares NA as NA
            found[str(name)] = CONSTANT
    return found


def in_words(columns: Mapping[str, str], most: int = 20) -> str:
    """Return columns with their reasons as one text, without those after the first ones."""
    shown = [f"{name} ({reason})" for name, reason in columns.items()]
    return ", ".join(shown[:most]) + (f" and {len(shown) - most:,} more" if len(shown) > most else "")
