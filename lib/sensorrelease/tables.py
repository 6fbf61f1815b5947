"""Read your own table as a problem for the game: roles, identifiers, missing values, rare labels, and what was done."""

import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import numpy as np
import pandas as pd
import pooch

from sensorprivacy.checks import check_choice, rows_in_words
from sensorprivacy.columns.cells import plain_frame, table_digest
from sensorprivacy.columns.coding import Reading, misread, read_column
from sensorprivacy.columns.copies import find_names
from sensorprivacy.columns.decimals import tidied
from sensorprivacy.columns.identifiers import IdentifierWarning
from sensorprivacy.columns.judge import (
    CONSTANT,
    DROPPED,
    NAMED,
    Judged,
    Roles,
    in_words,
    judge_table,
    name_of,
    refuse_task,
)
from sensorprivacy.columns.labels import as_classes, rare_rows
from sensorprivacy.data import Problem
from sensorrelease.pages import some
from sensorrelease.read.formats import read_table, table_name
from sensorrelease.remarks import misreading, perhaps_dates, without_names

Missing = Literal["impute", "drop", "error"]
Rare = Literal["aside", "keep", "error"]
Constant = Literal["drop", "error"]
NOBODY = "-"  # in place of the user column, if the rows of a table belong to no person


@dataclass(frozen=True, eq=False)
class OwnTable:
    """Your own table, and the problem that was made of it.

    Attributes
    ----------
    frame : pandas.DataFrame
        All rows and columns, as they were read.
    rows : numpy.ndarray of int
        Positions of the rows of the problem.
    problem : Problem
        The problem; `load_table` describes its provenance.
    """

    frame: pd.DataFrame
    rows: np.ndarray
    problem: Problem


def load_table(
    source: Any,
    *,
    task: str,
    user: str,
    groups: str | None = None,
    keep: Sequence[str] = (),
    drop: Sequence[str] = (),
    missing: Missing = "impute",
    rare: Rare = "aside",
    constant: Constant = "drop",
    bins: int | None = None,
) -> OwnTable:
    """Return your own table, and the problem for the re-identification game that was made of it.

    Parameters
    ----------
    source : path, or pandas, polars or Arrow table
        A file of any format of `formats.read_table`, or a table in memory.
    task, user : str
        Columns with the task label, and with the person that the record belongs to.
    groups : str, optional
        Column with the recording of each record.
    keep : sequence of str
        Columns that stay features although they look like identifiers or copies of the user.
    drop : sequence of str
        Columns that are no features.
    missing : {"impute", "drop", "error"}
        Missing numbers are filled in each split, with the median of its training rows (see `Problem.filled`), and a
        missing text is a category of its own, as in `publish`; or rows with missing cells are dropped; or missing cells
        are an error.
    rare : {"aside", "keep", "error"}
        Rows of users and classes with one row are set aside, kept, or an error: no model can be both trained and tested
        on them.
    constant : {"drop", "error"}
        Constant columns are dropped, or an error.
    bins : int, optional
        Divide a task of numbers in so many classes of about equal size.

    Returns
    -------
    OwnTable
        All other columns of its problem are features, except identifiers, addresses, places, points in time, row
        numbers and free text (see `columns.identifiers`), and columns that stand for the user (see `columns.copies`).
        Rows without task, user or group are dropped. The provenance has ``form`` (how the file is written), ``columns``
        (how each column was read and coded), ``notices`` (what was changed, in sentences), ``left_out`` (columns that
        identify rows or users; a warning names them), ``coded`` (texts), ``numbers_as_text``, ``dropped``, ``filled``
        (columns and their missing cells) and ``publish`` (the options of `publish` for the same table).

    Raises
    ------
    FileNotFoundError, ValueError
        As `formats.read_table`; or if a column is missing, has two roles, no column is left for the features, the task
        has too many values to be classes, or fewer than two classes or users are left.

    Warns
    -----
    IdentifierWarning
        If columns are left out.
    """
    check_choice("missing", missing, Missing)
    check_choice("rare", rare, Rare)
    check_choice("constant", constant, Constant)
    roles = Roles(task, user, groups)
    frame, name, digest = _read(source, roles)
    roles.check(frame.columns, keep, drop, name)
    frame, hidden = _without_names(frame, roles, keep, drop)
    loading = _Loading(frame, roles, name if isinstance(source, Path | str) else "the table")
    name = "table" if find_names([name], frame[user]) else name  # pages and cards state it
    loading.drop_unlabelled()
    loading.task, loading.classes = as_classes(frame[task], loading.rows, bins)
    if rare != "keep":
        loading.set_aside(rare)
    labelled = frame.iloc[loading.rows]
    refuse_task(labelled[task], labelled[user], None if groups is None else labelled[groups])
    loading.choose_features(keep, [name for name in drop if name in frame], constant, missing)
    loading.facts["left_out"] |= hidden
    gaps = loading.fill(missing)
    if missing == "drop" and rare != "keep":
        loading.set_aside(rare)  # dropped rows may leave a user or a class with one row
    facts = loading.facts | {"digest": digest, "file": name, "form": frame.attrs.get("form", "table in memory")}
    if bins is None:  # `publish` divides no task
        given = {"task": task, "user": user, "groups": groups, "keep": [*keep], "drop": [*drop]}
        given |= {"missing": "" if missing == "impute" else missing, "rare": "" if rare == "aside" else rare}
        file = str(source) if isinstance(source, Path | str) else None
        file = file if file is None or not find_names([file], frame[user]) else "FILE"
        facts["publish"] = {"file": file} | {option: value for option, value in given.items() if value}
    rows = loading.rows
    problem = Problem(
        loading.numbers.iloc[rows],
        task=loading.task[rows],
        users=frame[user].iloc[rows],
        groups=None if groups is None else frame[groups].iloc[rows],
        name=table_name(Path(name)),
        provenance=facts,
        gaps=gaps,
    )
    cells = frame.iloc[rows].reset_index(drop=True)
    problem.provenance["notices"] += misreading(problem, cells, [*problem.provenance["left_out"]], 0)
    problem.provenance["notices"] += perhaps_dates(cells[[name for name in problem.features if name not in keep]])
    for about in ("notices", "numbers_as_text"):
        problem.provenance[about] = without_names(problem.provenance[about], frame[user])
    return OwnTable(frame, rows, problem)


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
    roles = Roles(user=None if user == NOBODY else user)
    table, _, _ = _read(source, roles)
    if user is None:
        raise ValueError(
            f"user is missing: name the column with the person of each row, or give user={NOBODY!r} if there is none. "
            f"The table has {', '.join(map(str, table.columns[:12]))}"
        )
    roles.check(table.columns, keep, drop, "the table")
    hidden: dict[str, str] = {}
    if "user" in roles.named:
        table, hidden = _without_names(table, roles, keep, drop)
    judged = judge_table([table], roles, keep=keep, drop=[name for name in drop if name in table])
    left_out = dict.fromkeys(roles.named.values(), "the user of each row") | dict.fromkeys(drop, DROPPED)
    left_out |= judged.identifying
    shared = table.drop(columns=list(left_out), errors="ignore")
    left_out |= hidden
    if not shared.shape[1]:
        raise ValueError(f"no column is left: {in_words(left_out)}")
    shared.attrs["left_out"] = left_out
    return shared


def _read(source: Any, roles: Roles) -> tuple[pd.DataFrame, str, str]:
    """Return a table, its name, and the digest of its file or cells."""
    labels = list(roles.named.values())
    if isinstance(source, Path | str):
        file = Path(source).expanduser()
        return read_table(file, labels), file.name, pooch.file_hash(str(file))
    table = plain_frame(source)
    return tidied(table, labels, "the table"), "table", table_digest(table)


def _without_names(
    frame: pd.DataFrame, roles: Roles, keep: Sequence[str], drop: Sequence[str]
) -> tuple[pd.DataFrame, dict[str, str]]:
    """Leave out columns whose names hold the label of a user; also return their places, which pages may show."""
    others = [name for name in map(str, frame) if name not in {*roles.named.values(), *keep}]
    named = find_names(others, frame[roles.user])
    left = {name_of(name, NAMED, list(map(str, frame))): NAMED for name in named if name not in drop}
    return frame.drop(columns=named), left


class _Loading:
    """The steps from a table to a problem; `facts` becomes the provenance."""

    def __init__(self, frame: pd.DataFrame, roles: Roles, name: str) -> None:
        self.frame, self.roles, self.name = frame, roles, name
        self.rows = np.arange(len(frame))
        self.task, self.classes, self.numbers = pd.Series(dtype=object), "", pd.DataFrame()
        self.readings: dict[str, Reading] = {}
        self.notices: list[str] = list(frame.attrs["notices"])
        self.facts: dict[str, Any] = {"notices": self.notices, "rows_read": len(frame)}

    def drop_unlabelled(self) -> None:
        for role, name in self.roles.named.items():
            missing = self.frame[name].isna().to_numpy()[self.rows]
            if missing.any():
                self.notices.append(rows_in_words(int(missing.sum()), f"without {role} ({name})", "dropped"))
                self.rows = self.rows[~missing]
        if not len(self.rows):
            raise ValueError(f"{self.name} has no row with both task and user: name other columns")

    def set_aside(self, rare: str) -> None:
        labels = {str(self.roles.task): self.task, str(self.roles.user): self.frame[self.roles.user]}
        self.rows, found = rare_rows(labels, self.rows)
        if found and rare == "error":
            raise ValueError(
                f"{self.name}: {'; '.join(found)}: no model can be both trained and tested on them. Set them aside "
                "with rare='aside', or keep them with rare='keep'"
            )
        self.notices += [f"set aside: {words}: no model can be both trained and tested on them" for words in found]

    def choose_features(self, keep: Sequence[str], drop: Sequence[str], constant: str, missing: str) -> None:
        judged = judge_table([self.frame], self.roles, keep=keep, drop=drop, rows=self.frame.iloc[self.rows])
        empty = {name: why for name, why in judged.dropped.items() if why != DROPPED}
        if constant == "error" and (named := [name for name, why in empty.items() if why == CONSTANT]):
            raise ValueError(
                f"constant features carry no information: {', '.join(map(repr, named))}; drop them with constant='drop'"
            )
        _report(judged, self.name)
        for name in judged.features:
            kind = judged.found[name].reason if name in judged.found else ""
            self.readings[name] = read_column(self.frame[name], kind, missing=missing == "impute")
        self.numbers = pd.DataFrame({name: how.numbers(self.frame[name]) for name, how in self.readings.items()})
        texts = {name: how for name, how in self.readings.items() if how.read == "texts"}
        self.facts |= {"left_out": judged.identifying, "dropped": judged.dropped, "coded": list(texts)}
        self.facts["numbers_as_text"] = {name: how.example for name, how in texts.items() if how.example}
        self.facts["columns"] = [self._describe(str(name), judged) for name in self.frame]
        for name, example in misread(self.frame, judged.identifying).items():
            self.notices.append(
                f"column {name} is left out, but most of its cells are numbers; {example[:40]!r} is none. If it "
                "is a measurement, the table identifies users better than this page says: correct such cells"
            )
        if empty:
            self.notices.append(f"columns without information are dropped: {some(list(empty))}")

    def _describe(self, name: str, judged: Judged) -> dict[str, Any]:
        """Return how a column was read, what it is used for, and how its cells became numbers."""
        column, how = self.frame[name], self.readings.get(name)
        read = (how or read_column(column)).read
        if note := self.frame.attrs.get("numbers", {}).get(name):
            read += f" ({note})"
        used = next((role for role, named in self.roles.named.items() if named == name), "feature" if how else "no")
        coded = how.how if how else (judged.identifying | judged.dropped).get(name, "classes")
        if used == "task":
            coded = self.classes
        return {"column": name, "read": read, "used": used, "missing": int(column.isna().sum()), "coded": coded}

    def fill(self, missing: str) -> dict[str, str]:
        counts = {str(name): int(count) for name, count in self.numbers.iloc[self.rows].isna().sum().items() if count}
        self.facts["filled"] = counts if missing == "impute" else {}
        labelled = self.frame.iloc[self.rows]
        texts = {
            name: int(labelled[name].isna().sum()) for name, how in self.readings.items() if None in how.categories
        }
        if texts := {name: count for name, count in texts.items() if count}:
            self.notices.append(f"missing texts are a category of their own: {_counted(texts)}")
        if not counts:
            return {}
        if missing == "error":
            first = next(iter(counts))
            raise ValueError(
                f"column {first!r} has {counts[first]:,} missing values of {len(self.rows):,}: fill them, or use "
                "missing='impute' or missing='drop'"
            )
        if missing == "drop":
            whole = self.numbers.iloc[self.rows].notna().all(axis=1).to_numpy()
            if not whole.any():
                raise ValueError(f"{self.name} has missing values in every row: use missing='impute', or drop columns")
            dropped = rows_in_words(int((~whole).sum()), "with missing values", "dropped")
            self.notices.append(f"{dropped}: {_counted(counts)}")
            self.rows = self.rows[whole]
            return {}
        self.notices.append(f"missing values are filled with the median of the training rows: {_counted(counts)}")
        return dict.fromkeys(counts, "median")


def _counted(cells: dict[str, int]) -> str:
    return some([f"{name} ({count:,})" for name, count in cells.items()], 5)


def _report(judged: Judged, file: str) -> None:
    """Warn about columns that are left out; raise ValueError if no feature remains."""
    message = f"{file}: columns that identify rows or users are not used as features: {in_words(judged.identifying)}"
    if not judged.features:
        if judged.identifying:
            raise ValueError(f"{message}. No other column is left: add one, or name one of these in `keep`")
        raise ValueError(f"{file} has no feature: all other columns are empty, constant or dropped")
    if judged.identifying:
        warnings.warn(f"{message}. To use one, name it in `keep`", IdentifierWarning, stacklevel=4)
