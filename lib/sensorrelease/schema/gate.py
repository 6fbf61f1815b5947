"""What may leave a table: declared columns only, numbers within their range and step, and the levels of many users.

`Census` counts the users of each level. A `Gate` learned from it makes rows coarse before a defence sees them, and
lets only declared cells out after it, whatever the defence computed.
"""

import re
import unicodedata
from collections import Counter
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field, replace
from decimal import Decimal
from functools import cached_property
from typing import Any

import numpy as np
import pandas as pd

from sensorrelease.schema.model import MOMENTS, OTHER, Field, Schema, fold

MOST_LEVELS = 10_000  # of a text that leaves without declared levels
_FINE = 10_000  # steps within about the deviation of a column that a defence made
_SIGN = r"[=@]|[+\-\u2212](?![\d.,:/ -]*(?:$|[;,|]))"  # begins a formula; numbers, dates and dashes do not
_FORMULA = re.compile(rf'(^|[;,|])(\s*"?\s*)(?={_SIGN})')
_MADE = " transformed"
_EPOCH = pd.Timestamp(0, tz="UTC")


def plain(text: str) -> str:
    r"""Return a text that leaves: without control and format characters, and with no part that runs as a formula.

    Spreadsheets divide a cell at other separators than ours, so each part gets an apostrophe.

    Examples
    --------
    >>> plain("=cmd"), plain("a; +A1"), plain("-12.5"), plain("\uff1d1+1")
    ("'=cmd", "a; '+A1", '-12.5', "'=1+1")
    """
    shown = "".join(
        " " if unicodedata.category(mark) == "Cc" else mark for mark in text if unicodedata.category(mark) != "Cf"
    )
    wide = unicodedata.normalize("NFKC", shown)
    return _FORMULA.sub(r"\1\2'", wide if _FORMULA.search(wide) else shown).strip()


def title(one: Field) -> str:
    """Return the header under which a column leaves."""
    return plain(one.title)


def is_levels(one: Field) -> bool:
    """Return whether a feature has levels; the others are numbers."""
    return one.type in ("string", "boolean")


def _rounded(values: pd.Series | np.ndarray, one: Field) -> np.ndarray:
    """Return numbers at the step of a column and within its range. Missing and infinite ones are one kind of NaN."""
    found = np.asarray(values, dtype=float)
    found = np.where(np.isfinite(found), found, np.nan)
    ends, step = (one.constraints.minimum, one.constraints.maximum), one.step
    low, high = (-np.inf if ends[0] is None else ends[0], np.inf if ends[1] is None else ends[1])
    if step is None:
        return np.clip(found, low, high) + 0.0
    last = np.floor(high / step + 1e-9)
    first = min(np.ceil(low / step - 1e-9), last)  # no multiple of the step may lie in the range
    exponent = Decimal(repr(step)).normalize().as_tuple().exponent
    whole = np.clip(np.rint(found / step), first, last)
    return np.round(whole * step, max(0, -int(exponent))) + 0.0  # no -0.0


def _numbers(column: pd.Series, one: Field) -> np.ndarray:
    """Return a column of numbers, or of times as seconds since 1970, as they may leave."""
    if one.type in MOMENTS:
        if column.dtype.kind != "m":
            times = pd.to_datetime(column.astype("string").astype(object), utc=True, format="ISO8601", errors="coerce")
            column = times - _EPOCH
        return _rounded(column.dt.total_seconds(), one)
    return _rounded(pd.to_numeric(column, errors="coerce").astype("Float64").to_numpy(float, na_value=np.nan), one)


def _levels(column: pd.Series, one: Field) -> pd.Series:
    """Return the declared level of each cell; None where there is none."""
    if one.is_number:
        numbers = _numbers(column, one)
        shown = {number: f"{number:.15g}" for number in pd.unique(numbers) if number == number}
        return pd.Series(numbers, column.index).map(shown).astype(object).where(~np.isnan(numbers), None)
    texts = column.astype(object)
    declared: dict[str, str]
    if one.type == "boolean":
        declared = {"true": "true", "false": "false", "1": "true", "0": "false", "1.0": "true", "0.0": "false"}
    else:
        declared = {fold(level): level for level in one.constraints.enum or ()}
    known: dict[Any, str | None]
    if not declared:
        known = {cell: str(cell) for cell in texts.dropna().unique()}
    else:
        rest = OTHER if one.nonconforming == "other" else None
        known = {cell: declared.get(fold(str(cell)), rest) for cell in texts.dropna().unique()}
    found = texts.map(known).astype(object)
    return found.where(found.notna(), None)


class Census:
    """Count rows and users of each level of the columns that leave, piece by piece.

    Parameters
    ----------
    schema : Schema
        With a user, or without one if the rows belong to nobody.
    """

    def __init__(self, schema: Schema) -> None:
        self._user = schema.user
        self._fields = [one for one in schema.released if is_levels(one) or one.role == "task"]
        self._pairs: dict[str, Counter[tuple[str | None, str]]] = {one.name: Counter() for one in self._fields}
        self.rows: Counter[str] = Counter()  # of each user

    @property
    def classes(self) -> set[str]:
        """All classes of the task."""
        return {str(level) for one in self._fields if one.role == "task" for level, _ in self._pairs[one.name] if level}

    def add(self, piece: pd.DataFrame) -> None:
        """Count some rows, with the columns of the file; each row has a user."""
        users = pd.Series("", piece.index) if self._user is None else piece[self._user].astype(str)
        counts: Any = users.value_counts().to_dict()
        self.rows.update(counts)
        for one in self._fields:
            pairs = pd.DataFrame({"level": _levels(piece[one.name], one), "user": users})
            counts = pairs.groupby(["level", "user"], dropna=False, sort=False).size().to_dict()
            self._pairs[one.name].update(counts)

    def levels(self, one: Field, k: int) -> dict[str | None, int]:
        """Return the levels that may leave with their rows; None stands for missing cells, if they are a level.

        Levels of fewer than `k` users become "other", and so do the next rarest ones until "other" has as many.
        """
        users: dict[str | None, set[str]] = {}
        rows: Counter[str | None] = Counter()
        for (level, who), many in self._pairs[one.name].items():
            level = None if level is None or level != level else level
            users.setdefault(level, set()).add(who)
            rows[level] += many
        least = 1 if one.although is not None or self._user is None else min(k, len(self.rows))
        if one.role == "task":
            return {level: rows[level] for level in users if level is not None and len(users[level]) >= least}
        order = sorted(users, key=lambda level: (len(users[level]), str(level)))
        merged: set[str] = set()
        gone = [level for level in order if len(users[level]) < least]
        for level in order:
            if level in gone or 0 < len(merged) < least:
                merged |= users[level]
                gone += [] if level in gone else [level]
        kept = {level: rows[level] for level in order if level not in gone}
        return kept | ({OTHER: sum(rows[level] for level in gone) + rows[OTHER] * (OTHER in kept)} if gone else {})


@dataclass(frozen=True)
class Gate:
    """What may leave a table, and how its columns become numbers for models. Columns are called by their titles.

    Attributes
    ----------
    schema : Schema
        The declared columns.
    levels : dict of str to list
        Cells of texts that may leave, in the order of their numbers; None stands for missing ones.
    usual : dict of str to int
        Number of the most frequent level.
    fills : dict of str to float
        Numbers that stand for missing ones, by column.
    steps : dict of str to float
        Step of each column that the defence made.
    """

    schema: Schema
    levels: dict[str, list[str | None]] = field(default_factory=dict)
    usual: dict[str, int] = field(default_factory=dict)
    fills: dict[str, float] = field(default_factory=dict)
    steps: dict[str, float] = field(default_factory=dict)

    @classmethod
    def learn(cls, schema: Schema, census: Census) -> "Gate":
        """Return the gate of a table whose rows were counted.

        Raises
        ------
        ValueError
            If a text without declared levels has more different cells than `MOST_LEVELS`.
        """
        found, usual = {}, {}
        for one in schema.released:
            if not is_levels(one) and one.role != "task":
                continue
            rows = census.levels(one, schema.k)
            if len(rows) > MOST_LEVELS:
                raise ValueError(
                    f"column {one.name!r} has {len(rows):,} different cells, and texts leave with at most "
                    f"{MOST_LEVELS:,}: withhold it"
                )
            declared = one.constraints.enum or sorted(map(str, {*rows} - {None}))
            extra = [OTHER] if OTHER in rows and OTHER not in declared else []
            levels = [None] * (None in rows) + [level for level in [*declared, *extra] if level in rows]
            found[title(one)] = levels
            usual[title(one)] = max(range(len(levels)), key=lambda at: rows[levels[at]], default=0)
        return cls(schema, found, usual)

    @cached_property
    def declared(self) -> dict[str, Field]:
        """The columns that leave, by title."""
        return {title(one): one for one in self.schema.released}

    @property
    def task(self) -> str:
        """Title of the column to predict."""
        return title(self.schema.field(self.schema.task or ""))

    @property
    def user(self) -> str | None:
        """Title of the column with the person."""
        return None if self.schema.user is None else title(self.schema.field(self.schema.user))

    @property
    def features(self) -> list[str]:
        """Titles of the columns that a defence gets."""
        return [name for name, one in self.declared.items() if one.role != "task"]

    @property
    def texts(self) -> list[str]:
        """Features whose cells are levels."""
        return [name for name in self.features if is_levels(self.declared[name])]

    def classes(self, rows: pd.DataFrame) -> pd.Series:
        """Return the task of rows of the file; None where the class may not leave."""
        one = self.declared[self.task]
        found = _levels(rows[one.name], one).rename(self.task)
        return found.where(found.isin(self.levels[self.task]), None)

    def numbers(self, rows: pd.DataFrame, needed: Collection[str] | None = None) -> pd.DataFrame:
        """Return the features of rows of the file as numbers, coarse as they may leave; a text is its level's place.

        Missing numbers are filled if the gate knows how, see `fills`. New rows need only the features in `needed`.
        """
        fields = {name: self.declared[name].name for name in (self.features if needed is None else needed)}
        if absent := [repr(name) for name in fields.values() if name not in rows]:
            raise ValueError(f"the table has no column {', '.join(absent)}, which the defence was fitted to")
        found: dict[str, np.ndarray] = {}
        for name in self.features:
            one = self.declared[name]
            if one.name not in rows:  # new rows lack a column that the defence does not need
                found[name] = np.zeros(len(rows))
            elif name in self.texts:
                found[name] = self._places(_levels(rows[one.name], one), name)
            else:
                cells = _numbers(rows[one.name], one)
                found[name] = np.where(np.isnan(cells), self.fills.get(name, np.nan), cells)
        return pd.DataFrame(found, index=rows.index)

    def _places(self, levels: pd.Series, name: str) -> np.ndarray:
        places = {level: at for at, level in enumerate(self.levels[name])}
        rest = places.get(OTHER, self.usual[name])
        coded = levels.map({level: at for level, at in places.items() if level is not None})
        missing = places.get(None, rest)
        return np.where(levels.isna(), missing, coded.fillna(rest)).astype(np.int64)

    def with_steps(self, released: pd.DataFrame, raw: pd.DataFrame | None = None) -> "Gate":
        """Return the gate with a step for each column that the defence made, learned from some of its rows.

        Parameters
        ----------
        released, raw : pandas.DataFrame
            The same rows after and before the defence. Without `raw`, columns that keep their name keep their meaning.
            With it, those with other values leave under another name.
        """
        made = {}
        for name, values in ((str(name), released[name]) for name in released):
            other = raw is not None and name in raw and not np.allclose(values, raw[name])
            if pd.api.types.is_numeric_dtype(values) and (name not in self.declared or other):
                made[f"{name}{_MADE}" if other else name] = values.astype(float)
        spread = {name: float(values.std()) or 1.0 for name, values in made.items()}
        steps = {name: 10.0 ** np.floor(np.log10(some / _FINE)) for name, some in spread.items()}
        return replace(self, steps=steps)

    def cells(self, values: pd.DataFrame) -> pd.DataFrame:
        """Return what leaves of the columns that a defence released.

        Parameters
        ----------
        values : pandas.DataFrame
            Numbers of declared features, numbers in columns that the defence made, or predicted classes.

        Raises
        ------
        ValueError
            If a column is neither declared nor known from the fit, or holds texts that are no classes of the task.
        """
        found: dict[str, Any] = {}
        for name in map(str, values):
            column = values[name]
            name = name + _MADE * (name + _MADE in self.steps)
            if name in self.texts:
                levels = np.array(self.levels[name], dtype=object)
                places = np.clip(np.rint(column.to_numpy(dtype=float)), 0, len(levels) - 1).astype(int)
                found[name] = levels[places]
            elif name in self.features:
                found[name] = self._shown(_rounded(column, self.declared[name]), self.declared[name])
            elif name in self.steps and pd.api.types.is_numeric_dtype(column):
                step = Field(name=name, role="withheld", step=self.steps[name])
                found[name] = _rounded(column, step)
            else:
                found[name] = self.labels(column, name)
        return pd.DataFrame(found, index=values.index)

    def labels(self, column: pd.Series, name: str = "") -> pd.Series:
        """Return classes of the task as they leave: only levels of many users."""
        one, allowed = self.declared[self.task], self.levels[self.task]
        if strange := [cell for cell in column.unique() if cell not in allowed]:
            raise ValueError(f"column {name or self.task!r} of the release holds {strange[0]!r}, which is not declared")
        if one.is_number:
            return column.astype(float).astype(np.int64 if one.type == "integer" else float)
        return column.map({level: plain(str(level)) for level in allowed}).astype(object)

    def _shown(self, numbers: np.ndarray, one: Field) -> Any:
        if one.type in MOMENTS:
            times = _EPOCH + pd.to_timedelta(numbers, unit="s")
            return times.strftime({"date": "%Y-%m-%d", "time": "%H:%M:%S"}.get(one.type, "%Y-%m-%dT%H:%M:%S"))
        whole = one.type == "integer" and not np.isnan(numbers).any()
        return numbers.astype(np.int64) if whole else numbers

    def leaving(self, cells: pd.DataFrame) -> pd.DataFrame:
        """Return cells as they are written: quoted, without anything that a frame carries besides."""
        found = pd.DataFrame(index=cells.index)
        for name in self.texts:
            if name in cells:
                cells = cells.assign(**{name: cells[name].map(_quoted(self.levels[name])).astype(object)})
        for title_of, column in cells.items():
            found[plain(str(title_of))] = column.to_numpy()
        return found

    @property
    def said(self) -> list[str]:
        """What was withheld at the gate, in sentences that name no cell."""
        rare = [name for name, levels in self.levels.items() if OTHER in levels]
        texts = [level for name in self.levels for level in self.levels[name] if level and plain(level) != level]
        k, said = self.schema.k, []
        if rare:
            said.append(f'Levels that fewer than {k} users have are "{OTHER}" in {", ".join(rare)}.')
        if texts:
            said.append(f"{len(texts)} levels that a spreadsheet would run as a formula are quoted with '.")
        return said


def withholding(schema: Schema, titles: Collection[str], why: str = "constant") -> Schema:
    """Return a schema in which some columns do not leave."""
    gone = {"role": "withheld", "why": why}
    fields = [one.model_copy(update=gone) if title(one) in titles else one for one in schema.fields]
    return schema.model_copy(update={"fields": fields})


def _quoted(levels: list[str | None]) -> Mapping[str, str]:
    return {level: plain(level) for level in levels if level is not None}


def released(frame: pd.DataFrame, schema: Schema, users: Any = None) -> pd.DataFrame:
    """Return what may leave of a table: an allow-list of columns, ranges, steps and levels.

    Parameters
    ----------
    frame : pandas.DataFrame
        n rows with the columns of the file, as the schema reads them.
    schema : Schema
        What was declared.
    users : array-like of shape (n,), optional
        User of each row, if the frame has no column with them.

    Returns
    -------
    pandas.DataFrame
        At most n rows, under the titles of the schema: those whose class of the task may leave. Missing numbers stay
        missing.
    """
    if users is not None and schema.user is not None:
        frame = frame.assign(**{schema.user: np.asarray(users)})
    census = Census(schema)
    census.add(frame)
    gate = Gate.learn(schema, census)
    if schema.task is None:
        return gate.leaving(gate.cells(gate.numbers(frame)))
    classes = gate.classes(frame)
    rows = frame[classes.notna()]
    return gate.leaving(gate.cells(gate.numbers(rows)).assign(**{gate.task: gate.labels(classes[classes.notna()])}))
