"""Read your own table as a problem for the game: roles, identifiers, missing values, rare labels, and what was done."""

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

import numpy as np
import pandas as pd
import pooch

from sensorprivacy.checks import check_choice, require_columns, rows_in_words
from sensorprivacy.columns.coding import Coded, code_column
from sensorprivacy.columns.frames import as_frame
from sensorprivacy.columns.identifiers import IdentifierWarning
from sensorprivacy.columns.labels import as_classes, rare_rows
from sensorprivacy.data import Problem
from sensorprivacy.own.copies import unshareable
from sensorprivacy.own.formats import read_table, table_name
from sensorprivacy.own.pieces import table_digest

Missing = Literal["impute", "drop", "error"]
Rare = Literal["aside", "keep", "error"]
Constant = Literal["drop", "error"]


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
        Missing cells of features are filled in each split, with the median or the most frequent category of its
        training rows (see `Problem.filled`); or their rows are dropped; or they are an error.
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
        numbers and free text, see `identifiers`, and columns that stand for the user, see `copies`. Rows without task,
        user or group are dropped. The provenance has ``form`` (how the file is written), ``columns`` (how each column
        was read and coded), ``notices`` (what was changed, in sentences), ``left_out`` (columns that identify rows or
        users; a warning names them), ``coded`` (texts), ``numbers_as_text``, ``dropped`` and ``filled`` (columns and
        their missing cells).

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
    frame, name, digest = _read(source)
    roles = {"task": task, "user": user} | ({"groups": groups} if groups is not None else {})
    _check_roles(frame, roles, keep, drop, name)
    loading = _Loading(frame, roles, name if isinstance(source, Path | str) else "the table")
    loading.drop_unlabelled()
    loading.label(bins)
    if rare != "keep":
        loading.set_aside(rare)
    loading.choose_features(keep, drop, constant)
    gaps = loading.fill(missing)
    if missing == "drop" and rare != "keep":
        loading.set_aside(rare)  # dropped rows may leave a user or a class with one row
    facts = loading.facts | {"digest": digest, "file": name, "form": frame.attrs.get("form", "table in memory")}
    problem = Problem(
        loading.features(),
        task=loading.task[loading.rows],
        users=frame[user].iloc[loading.rows],
        groups=None if groups is None else frame[groups].iloc[loading.rows],
        name=table_name(Path(name)) if isinstance(source, Path | str) else "table",
        provenance=facts,
        gaps=gaps,
    )
    return OwnTable(frame, loading.rows, problem)


def table_problem(source: Any, *, task: str, user: str, **options: Any) -> Problem:
    """Return your own table as a problem for the re-identification game; parameters and errors as for `load_table`."""
    return load_table(source, task=task, user=user, **options).problem


def _read(source: Any) -> tuple[pd.DataFrame, str, str]:
    if isinstance(source, Path | str):
        file = Path(source).expanduser()
        return read_table(file).reset_index(drop=True), file.name, pooch.file_hash(str(file))
    table = as_frame(source).reset_index(drop=True)
    table = table.set_axis([str(name) for name in table], axis=1)
    if table.empty:
        raise ValueError(f"the table has {table.shape[0]} rows and {table.shape[1]} columns, but needs one of each")
    return table, "table", table_digest(table)


def _check_roles(
    frame: pd.DataFrame, roles: Mapping[str, str], keep: Sequence[str], drop: Sequence[str], name: str
) -> None:
    named = list(roles.values())
    if len(set(named)) < len(named):
        raise ValueError(f"task, user and groups must be different columns, got {', '.join(map(repr, named))}")
    require_columns(frame.columns, [*named, *keep, *drop], name)
    if both := [column for column in keep if column in named]:
        raise ValueError(f"{both} are task, user or groups, so they cannot be features: leave them out of `keep`")
    if both := [column for column in drop if column in [*named, *keep]]:
        raise ValueError(f"{both} are needed or kept, so they cannot be dropped: leave them out of `drop`")


@dataclass(eq=False)
class _Loading:
    """The steps from a table to a problem; `facts` becomes the provenance."""

    frame: pd.DataFrame
    roles: Mapping[str, str]
    name: str
    coded: dict[str, Coded] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.rows = np.arange(len(self.frame))
        self.notices: list[str] = []
        self.columns: dict[str, dict[str, Any]] = {}
        self.facts: dict[str, Any] = {"notices": self.notices, "rows_read": len(self.frame)}
        for role, name in self.roles.items():
            self.columns[name] = {"column": name, "read": _dtype(self.frame[name]), "used": role, "coded": "classes"}

    def drop_unlabelled(self) -> None:
        for role, name in self.roles.items():
            missing = self.frame[name].isna().to_numpy()[self.rows]
            self.columns[name]["missing"] = int(missing.sum())
            if missing.any():
                self.notices.append(rows_in_words(int(missing.sum()), f"without {role} ({name})", "dropped"))
                self.rows = self.rows[~missing]
        if not len(self.rows):
            raise ValueError(f"{self.name} has no row with both task and user: name other columns")

    def label(self, bins: int | None) -> None:
        name = self.roles["task"]
        found, how = as_classes(self.frame[name], self.rows, bins)
        self.task, self.columns[name]["coded"] = found, how

    def set_aside(self, rare: str) -> None:
        labels = {self.roles["task"]: self.task, self.roles["user"]: self.frame[self.roles["user"]]}
        self.rows, found = rare_rows(labels, self.rows)
        if found and rare == "error":
            raise ValueError(
                f"{self.name}: {'; '.join(found)}: no model can be both trained and tested on them. Set them aside "
                "with rare='aside', or keep them with rare='keep'"
            )
        self.notices += [f"set aside: {words}: no model can be both trained and tested on them" for words in found]

    def choose_features(self, keep: Sequence[str], drop: Sequence[str], constant: str) -> None:
        others = self.frame.drop(columns=[*self.roles.values(), *drop])
        kinds = unshareable(others, self.frame, self.roles["user"], self.roles.get("groups"))
        left_out = {name: kind for name, kind in kinds.items() if name not in keep}
        dropped = dict.fromkeys(drop, "you dropped it")
        for name in others.columns.difference(list(left_out), sort=False):
            cells = others[name].iloc[self.rows]
            if cells.isna().all():
                dropped[name] = "it is empty"
            elif (cells == cells.iloc[0]).all():
                dropped[name] = f"constant: {cells.iloc[0]}"
            else:
                self.coded[name] = code_column(others[name], kinds.get(name, ""))
        if constant == "error" and (named := [name for name, why in dropped.items() if why.startswith("constant")]):
            raise ValueError(
                f"constant features carry no information: {', '.join(map(repr, named))}; drop them with constant='drop'"
            )
        for name in self.frame.columns.difference(list(self.roles.values()), sort=False):
            self._describe(name, left_out.get(name) or dropped.get(name, ""))
        self.facts |= {"left_out": left_out, "dropped": dropped, "columns": [
            self.columns[name] for name in self.frame.columns]}  # fmt: skip
        _report(left_out, bool(self.coded), self.name)
        if not self.coded:
            raise ValueError(f"{self.name} has no feature: all other columns are empty, constant or dropped")
        texts = {name: one for name, one in self.coded.items() if one.read == "texts"}
        self.facts["coded"] = list(texts)
        self.facts["numbers_as_text"] = {name: one.example for name, one in texts.items() if one.example}
        empty = [name for name, why in dropped.items() if why != "you dropped it"]
        if empty:
            self.notices.append(f"columns without information are dropped: {', '.join(empty)}")

    def _describe(self, name: str, reason: str) -> None:
        column, coded = self.frame[name], self.coded.get(name)
        read = coded.read if coded else _dtype(column)
        if note := self.frame.attrs.get("numbers", {}).get(name):
            read += f" ({note})"
        row = {"column": name, "read": read, "used": "feature" if coded else "no", "missing": int(column.isna().sum())}
        self.columns[name] = row | {"coded": coded.how if coded else reason}

    def fill(self, missing: str) -> dict[str, str]:
        table = pd.DataFrame({name: one.numbers for name, one in self.coded.items()}).iloc[self.rows]
        counts = {str(name): int(count) for name, count in table.isna().sum().items() if count}
        self.facts["filled"] = counts if missing == "impute" else {}
        if not counts:
            return {}
        shown = ", ".join(f"{name} ({count:,})" for name, count in list(counts.items())[:5])
        shown += f" and {len(counts) - 5} more" if len(counts) > 5 else ""
        if missing == "error":
            first = next(iter(counts))
            raise ValueError(
                f"column {first!r} has {counts[first]:,} missing values of {len(self.rows):,}: fill them, or use "
                "missing='impute' or missing='drop'"
            )
        if missing == "drop":
            whole = table.notna().all(axis=1).to_numpy()
            if not whole.any():
                raise ValueError(f"{self.name} has missing values in every row: use missing='impute', or drop columns")
            self.notices.append(f"{rows_in_words(int((~whole).sum()), 'with missing values', 'dropped')}: {shown}")
            self.rows = self.rows[whole]
            return {}
        self.notices.append(
            f"missing values are filled with the median or the most frequent category of the training rows: {shown}"
        )
        return {name: self.coded[name].fill for name in counts}

    def features(self) -> pd.DataFrame:
        """Return the features of the chosen rows, in the order of the file."""
        return pd.DataFrame({name: one.numbers.iloc[self.rows] for name, one in self.coded.items()})


def _dtype(column: pd.Series) -> str:
    kind = pd.api.types.infer_dtype(column, skipna=True)
    return "numbers" if kind in ("integer", "floating", "mixed-integer-float", "decimal") else {
        "boolean": "truth values", "datetime64": "points in time", "datetime": "points in time"}.get(
        kind, "texts")  # fmt: skip


def _report(left_out: Mapping[str, str], any_left: bool, file: str) -> None:
    """Warn about columns that are left out; raise ValueError if no feature remains."""
    if not left_out:
        return
    named = ", ".join(f"{name} ({kind})" for name, kind in left_out.items())
    message = f"{file}: columns that identify rows or users are not used as features: {named}"
    if not any_left:
        raise ValueError(f"{message}. No other column is left: add one, or name one of these in `keep`")
    warnings.warn(f"{message}. To use one, name it in `keep`", IdentifierWarning, stacklevel=4)
