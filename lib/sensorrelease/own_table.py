"""Your own table at the one door: opened with its schema, and read strictly.

A table goes one way: file, rows as the schema reads them (`OwnTable`), a sample of them, numbers behind the `Gate`, a
`Problem`, a defence, the gate again, a file. `minimize`, `compare`, `publish` and fitted defences all use it.
"""

import hashlib
from collections import Counter
from collections.abc import Collection, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pooch

from sensorprivacy.checks import rows_in_words
from sensorprivacy.data import Problem
from sensorrelease.schema.cells import as_arrow
from sensorrelease.schema.coarse import Census, title
from sensorrelease.schema.command import schema_beside
from sensorrelease.schema.draft import draft
from sensorrelease.schema.formats import check_file, column_names
from sensorrelease.schema.gate import Gate, withholding
from sensorrelease.schema.model import Constraints, Schema
from sensorrelease.schema.read import Pieces, read
from sensorrelease.schema.storage import load

IN_MEMORY = 32 * 2**20  # bytes of a file that is read in one piece
STRANGE = 0.05  # share of new cells that do not conform, from which a fitted defence does not suit them
FEWEST = 2  # rows of a user or a class: one to train on, one to test on


def find_schema(
    source: Any,
    schema: Schema | Path | str | None = None,
    *,
    task: str | None = None,
    user: str | None = None,
    recording: str | None = None,
    identifying: bool = False,
    progress: bool = False,
) -> tuple[Schema, str]:
    """Return the schema of a table, and in words where it comes from.

    Parameters
    ----------
    source : path, or table of pandas, polars, Arrow or NumPy
        The table.
    schema : Schema or path, optional
        By default the one beside the file, else a draft.
    task, user, recording : str, optional
        Columns with a role. A written schema must agree.
    identifying : bool
        Whether a draft has measurements that identify the user by themselves as features; see `draft`.
    progress : bool
        Whether to show a bar.

    Returns
    -------
    Schema
        With task and user.
    str
        ``confirmed on 2026-11-27``, ``written, not confirmed`` or ``drafted, not confirmed``.

    Raises
    ------
    FileNotFoundError, ValueError
        If the schema is wrong, disagrees, or names no task or user.
    """
    beside = schema_beside(Path(source)) if isinstance(source, Path | str) else None
    if schema is None and beside is not None and beside.is_file():
        schema = beside
    asked = {"task": task, "user": user, "recording": recording}
    if schema is None:
        if absent := [f"{role}=..." for role in ("task", "user") if asked[role] is None]:
            raise ValueError(f"name the columns of the table: {' and '.join(absent)}; or a schema, which names them")
        assert task is not None
        assert user is not None
        found = draft(source, task, user, recording, identifying=identifying, progress=progress)
        return found, "drafted, not confirmed"
    found = schema if isinstance(schema, Schema) else load(schema)
    for role, name in asked.items():
        if name is not None and name != (known := getattr(found, role)):
            raise ValueError(f"{role}={name!r}, but the schema has the {role} {known!r}: leave it out, or correct one")
    if absent := [role for role in ("task", "user") if getattr(found, role) is None]:
        raise ValueError(f"no field of the schema has the role {' or '.join(absent)}: give one field this role")
    if isinstance(schema, Schema) and not found.is_confirmed:
        return found, "not confirmed"
    if found.confirmed is not None and not found.is_confirmed:
        return found, f"changed after it was confirmed on {found.confirmed}"
    return found, f"confirmed on {found.confirmed}" if found.is_confirmed else "written, not confirmed"


class OwnTable:
    """The rows of a table of your own that may be used, as the schema reads them.

    A small file, and a table in memory, is read once. Each pass over a larger file reads it again, in pieces.

    Parameters
    ----------
    source : path, or table of pandas, polars, Arrow or NumPy
        The table.
    schema : Schema
        How it is read.
    rows : int, optional
        Rows of a piece.
    progress : bool
        Whether to show a bar.
    bins : int, optional
        Divide a task of numbers in so many classes of about equal size.

    Attributes
    ----------
    schema : Schema
        How it is read.
    digest : str
        SHA-256 of the file, or of the cells.
    suffix : str
        Ending of a published copy: ``.csv`` or ``.parquet``.
    gate : Gate
        What may leave; after `learn`.
    sample : pandas.DataFrame
        Random rows with their positions as index; after `learn`.
    rows, most_rows : int
        Number of rows that were read, and those of the user with most; after `learn`.
    left_out : list of str
        How many rows the last pass left out, and why. No label is named.

    Raises
    ------
    FileNotFoundError, ValueError
        If the table is not as the schema says.
    """

    gate: Gate
    sample: pd.DataFrame

    def __init__(
        self, source: Any, schema: Schema, rows: int | None = None, *, bins: int | None = None, progress: bool = False
    ) -> None:
        self._frame: pd.DataFrame | None = None
        self._rows, self._lonely = rows, frozenset[str]()
        self.schema = schema
        self.left_out: list[str] = []
        self.rows = self.most_rows = 0
        self._said: list[str] = []
        self._nonconforming: dict[str, int] = {}
        how: dict[str, Any] = {"progress": progress}
        if isinstance(source, Path | str):
            file = check_file(source)
            self.digest = pooch.file_hash(str(file))
            self.suffix = ".parquet" if schema.format in ("parquet", "feather") else ".csv"
            whole = schema.format == "xlsx" or bins is not None or (not rows and file.stat().st_size <= IN_MEMORY)
        else:
            self.suffix, whole = ".csv", True
        if whole:
            self._frame, _, self._nonconforming, self._said = read(source, schema, **how)
        else:
            self._pieces_of = Pieces(source, schema, **how | ({"rows": rows} if rows else {}))
        if not isinstance(source, Path | str):
            assert self._frame is not None
            cells = pd.util.hash_pandas_object(self._frame, index=False).to_numpy().tobytes()
            self.digest = hashlib.sha256("\0".join(map(str, self._frame)).encode() + cells).hexdigest()
        if bins is not None:
            self._divide(bins)

    @property
    def notices(self) -> list[str]:
        """What the reading counted, in words without any cell."""
        return [*self._said, *([] if self._frame is not None else self._pieces_of.notices)]

    @property
    def has_task(self) -> bool:
        """Whether the table has the column to predict; new rows need none."""
        return self.schema.task is not None

    @property
    def nonconforming(self) -> dict[str, int]:
        """Cells that did not conform, by column of the file."""
        return self._nonconforming if self._frame is not None else dict(self._pieces_of.nonconforming)

    def _divide(self, bins: int) -> None:
        assert self._frame is not None
        name = self.schema.task or ""
        if bins < 2 or not self.schema.field(name).is_number:
            raise ValueError(f"bins={bins}: give 2 or more classes for a task of numbers; {name!r} holds none")
        cells = self._frame[name].astype(float)
        classes = pd.qcut(cells, bins, duplicates="drop")
        labels = [str(one) for one in classes.cat.categories]
        self._frame = self._frame.assign(**{name: classes.astype(object).map(str).where(cells.notna(), None)})
        declared = {"type": "string", "constraints": Constraints(enum=labels), "step": None}
        fields = [one.model_copy(update=declared) if one.name == name else one for one in self.schema.fields]
        self.schema = self.schema.model_copy(update={"fields": fields})

    def _pieces(self) -> Iterator[pd.DataFrame]:
        if self._frame is not None:
            step = self._rows or max(len(self._frame), 1)
            yield from (self._frame.iloc[at : at + step] for at in range(0, len(self._frame), step))
            return
        yield from self._pieces_of

    def __iter__(self) -> Iterator[pd.DataFrame]:
        """Yield the rows that may be used, with their positions as index."""
        counts: Counter[str] = Counter()
        for piece in self._pieces():
            kept = self._select(piece, counts)
            if len(kept):
                yield kept
        self.left_out = [f"{rows_in_words(count)} {why} left out" for why, count in counts.items()]

    def _select(self, piece: pd.DataFrame, counts: Counter[str]) -> pd.DataFrame:
        learned = hasattr(self, "gate")
        for role in ("task", "user", "recording"):
            if (name := getattr(self.schema, role)) is not None:
                gone = piece[name].isna()
                counts[f"without {role}"] += int(gone.sum())
                piece = piece[~gone]
        if learned and self._lonely and self.schema.user is not None:
            gone = piece[self.schema.user].astype(str).isin(self._lonely)
            counts[f"of a user with fewer than {FEWEST} rows"] += int(gone.sum())
            piece = piece[~gone]
        if learned and self.schema.task is not None:
            gone = self.gate.classes(piece).isna()
            counts[f"of a class of the task that fewer than {self.gate.schema.k} users have"] += int(gone.sum())
            piece = piece[~gone]
        for why in [why for why, count in counts.items() if not count]:
            del counts[why]
        return piece

    def learn(self, rows: int, seed: int = 42, gate: Gate | None = None) -> None:
        """Pass over the table once: draw a sample that does not depend on the size of the pieces, and learn the gate.

        Parameters
        ----------
        rows : int
            Rows of the sample.
        seed : int
            Seed of the sample.
        gate : Gate, optional
            Of a fitted defence. Default: it is learned from the rows.

        Raises
        ------
        ValueError
            If fewer than two users or classes are left, or no feature.
        """
        draw, census = np.random.default_rng(seed), Census(self.schema)
        parts, keys = pd.DataFrame(), np.empty(0)
        self.rows = 0
        for piece in self:
            key = draw.random(len(piece))
            wanted = key < (keys.max() if len(keys) == rows else 1)
            parts = pd.concat([parts, piece[wanted]]) if len(parts) else piece[wanted]
            keys = np.concatenate([keys, key[wanted]])
            best = np.sort(np.argsort(keys, kind="stable")[:rows])
            parts, keys = parts.iloc[best], keys[best]
            self.rows += len(piece)
            census.add(piece)
        if not self.rows:
            raise ValueError("the table has no row with a cell in every column of task, user and recording")
        self.most_rows = max(census.rows.values(), default=0) if self.schema.user is not None else 0
        if gate is not None:
            self.gate, self.sample = gate, self._select(parts, Counter())
            return
        self._lonely = frozenset(who for who, many in census.rows.items() if many < FEWEST)
        self.gate = Gate.learn(self.schema, census)
        self._check_labels(census)
        self.sample = self._select(parts, Counter())
        numbers = self.gate.numbers(self.sample)
        told = (numbers != numbers.iloc[0]).any() & (numbers.notna().sum() > 1)
        if not told.any():
            raise ValueError(
                "no column is left to learn from: every feature is constant, or its levels have fewer than "
                f"{self.schema.k} users each. Declare features in the schema, or a smaller k"
            )
        if constant := told.index[~told].tolist():
            self._said.append(f"constant columns are withheld: {', '.join(constant)}")
            self.gate = replace(self.gate, schema=withholding(self.gate.schema, constant))

    def _check_labels(self, census: Census) -> None:
        task, users = self.schema.task or "", len(census.rows) - len(self._lonely)
        if users < 2:
            raise ValueError(f"the user column has {users} user with {FEWEST} rows or more: a model needs two or more")
        classes = self.gate.levels[self.gate.task]
        if len(classes) < 2:
            least, every = min(self.schema.k, len(census.rows)), len(census.classes)
            hint = ", or divide its numbers with bins=4" if self.schema.field(task).is_number else ""
            raise ValueError(
                f"the task column {task!r} has {every:,} classes, and {len(classes)} of them {least} users or more "
                f"(k in the schema): a model needs two or more. Name another task or coarser classes{hint}"
            )

    def problem(self, provenance: dict[str, Any] | None = None) -> Problem:
        """Return the sample as a problem for the game; missing numbers are gaps, see `Problem.filled`."""
        rows, gate = self.sample, self.gate
        numbers, schema = gate.numbers(rows), self.schema
        gaps = {str(name): "median" for name in numbers if numbers[name].isna().any()}
        return Problem(
            numbers.reset_index(drop=True),
            gate.classes(rows).reset_index(drop=True),
            rows[schema.user].astype(str).reset_index(drop=True).rename(gate.user),
            None if schema.recording is None else rows[schema.recording].astype(str).reset_index(drop=True),
            name=schema.name,
            provenance={"coded": gate.texts, **(provenance or {})},
            gaps=gaps,
        )


def for_new_rows(source: Any, schema: Schema, needed: Collection[str]) -> Schema:
    """Return the schema by which rows for a fitted defence are read.

    Only features that it needs must be there. Numbers that do not conform count as missing; `refuse_unlike` refuses
    many of them.
    """
    names = column_names(check_file(source), schema) if isinstance(source, Path | str) else list(as_arrow(source))
    hidden, counted = {"role": "withheld"}, {"nonconforming": "missing"}
    fields = [
        one.model_copy(update=hidden)
        if one.role in ("user", "recording", "time")
        else one.model_copy(update=counted if one.is_number and one.role == "feature" else {})
        for one in schema.fields
        if names is None or one.name in names or (one.role == "feature" and title(one) in needed)
    ]
    return schema.model_copy(update={"fields": fields})


def refuse_unlike(own: OwnTable) -> None:
    """Raise ValueError if many numbers of a column do not conform, as after a change of its unit."""
    for name, many in own.nonconforming.items():
        if many > STRANGE * own.rows and own.schema.field(name).is_number:
            raise ValueError(
                f"{many / own.rows:.0%} of the cells of {name!r} do not conform to the schema of the fitted defence: "
                "is the unit another one? Correct them, or fit the defence again"
            )
