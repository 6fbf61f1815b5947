"""What may leave a table: declared columns only, numbers within their range and step, and the levels of many users.

A `Gate` learned from a `Census` makes rows coarse before a defence sees them, and lets only declared cells out after
it, whatever the defence computed.
"""

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np
import pandas as pd

from sensorrelease.schema.coarse import EPOCH, Census, is_levels, levels_of, numbers_of, plain, rounded, title
from sensorrelease.schema.model import MOMENTS, OTHER, Field, Schema

MOST_LEVELS = 10_000  # of a text that leaves without declared levels
_FINE = 10_000  # steps within about the deviation of a column that a defence made
_MADE = " transformed"


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
        found = levels_of(rows[one.name], one).rename(self.task)
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
                found[name] = self._places(levels_of(rows[one.name], one), name)
            else:
                cells = numbers_of(rows[one.name], one)
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
                found[name] = self._shown(rounded(column, self.declared[name]), self.declared[name])
            elif name in self.steps and pd.api.types.is_numeric_dtype(column):
                step = Field(name=name, role="withheld", step=self.steps[name])
                found[name] = rounded(column, step)
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
            times = EPOCH + pd.to_timedelta(numbers, unit="s")
            return times.strftime({"date": "%Y-%m-%d", "time": "%H:%M:%S"}.get(one.type, "%Y-%m-%dT%H:%M:%S"))
        whole = one.type == "integer" and not np.isnan(numbers).any()
        return numbers.astype(np.int64) if whole else numbers

    def leaving(self, cells: pd.DataFrame) -> pd.DataFrame:
        """Return cells as they are written: quoted, without anything that a frame carries besides."""
        found = {}
        for name, column in cells.items():
            if name in self.texts:
                column = column.map(_quoted(self.levels[str(name)])).astype(object)
            found[plain(str(name))] = column.to_numpy()
        return pd.DataFrame(found, index=cells.index)

    def stated(self, whence: str, names: Collection[str]) -> dict[str, Any]:
        """Return what a data card states of the schema, and of the ranges of published columns."""
        ranges = [
            f"{name}: {one.constraints.minimum:g} to {one.constraints.maximum:g} in steps of {one.step:g}"
            for name, one in self.declared.items()
            if name in names and one.step is not None and one.constraints.minimum is not None
        ]
        facts = {"whence": whence, "digest": self.schema.content_digest(), "k": self.schema.k, "ranges": ranges}
        return facts | {"withheld": len(self.schema.fields) - len(self.declared), "said": self.said}

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
