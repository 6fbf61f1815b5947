"""Problems for the game made of your own tables, by a written schema or a draft; no data leave through them."""

import warnings
from collections.abc import Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pandas as pd

from sensorprivacy.data import Problem
from sensorrelease.own_table import OwnTable, find_schema
from sensorrelease.recordings import is_recorded
from sensorrelease.schema.coarse import is_levels, title
from sensorrelease.schema.draft import draft
from sensorrelease.schema.gate import released, withholding
from sensorrelease.schema.model import Schema
from sensorrelease.schema.read import read

NOBODY = "-"  # in place of the user column, if the rows of a table belong to no person
SAMPLE = 50_000  # rows of which `minimize` and `compare` make a problem


def own_problem(
    source: Any,
    schema: Schema | Path | str | None = None,
    *,
    task: str | None = None,
    user: str | None = None,
    recording: str | None = None,
    bins: int | None = None,
    seed: int = 42,
    progress: bool = False,
) -> Problem:
    """Return the problem for the re-identification game that a table of your own holds.

    No data leave through it, so a draft is enough; a warning says what was assumed.

    Parameters
    ----------
    source, schema, task, user, recording, progress
        As for `find_schema`.
    bins : int, optional
        Divide a task of numbers in so many classes of about equal size.
    seed : int
        Seed of the sample, of a table with more than `SAMPLE` rows.

    Returns
    -------
    Problem
        Columns are called by their titles. The provenance has ``form`` (where the schema comes from), ``columns`` (how
        each was read and coded), ``notices`` (what was changed), and ``publish`` (the options of `publish`).

    Raises
    ------
    FileNotFoundError, ValueError
        As `find_schema` and `OwnTable`.
    """
    _refuse_recordings(source)
    how: dict[str, Any] = {"task": task, "user": user, "recording": recording, "progress": progress}
    declared, whence = find_schema(source, schema, **how, identifying=True)
    if not declared.is_confirmed:
        warnings.warn(assumed(declared, whence), UserWarning, stacklevel=3)
    table = OwnTable(source, declared, bins=bins, progress=progress)
    table.learn(SAMPLE, seed)
    facts: dict[str, Any] = {"rows_read": table.rows, "form": f"schema {whence}"}
    facts |= {"notices": [*table.notices, *table.left_out, *table.gate.said], "columns": described(table)}
    facts["labels"] = {"task": table.gate.task, "user": table.gate.user}
    facts["withheld"] = len(declared.fields) - len(table.gate.declared)
    if bins is None:  # `publish` divides no task
        given = {"schema": str(schema)} if isinstance(schema, Path | str) else {}
        if whence.startswith("drafted"):
            given = {name: how[name] for name in ("task", "user", "recording") if how[name]}
        file = str(source) if isinstance(source, Path | str) else None
        facts["publish"] = {"file": file, **given} | ({} if declared.is_confirmed else {"accept_draft": True})
    return table.problem(facts)


def _refuse_recordings(source: Any) -> None:
    if is_recorded(source):
        raise ValueError(f"{source} holds recordings, and this needs a table: compare and publish take recordings")


def assumed(schema: Schema, whence: str) -> str:
    """Return in words what a schema that nobody confirmed assumes."""
    withheld = [f"{one.name} ({one.why or 'so declared'})" for one in schema.fields if not one.leaves]
    used = ", ".join(one.title for one in schema.released)
    return f"schema {whence}. These columns are used: {used}. Withheld: {'; '.join(withheld)}"


def described(table: OwnTable) -> list[dict[str, Any]]:
    """Return how each column that leaves was read, and how its cells became numbers."""
    rows = []
    for name, one in table.gate.declared.items():
        if is_levels(one) or one.role == "task":
            coded = f"{len(table.gate.levels[name])} levels"
        else:
            coded = f"{one.constraints.minimum:g} to {one.constraints.maximum:g}, step {one.step:g}" if one.step else ""
        missing = int(table.sample[one.name].isna().sum())
        rows.append({"column": name, "read": one.type, "used": one.role, "missing": missing, "coded": coded})
    return rows


def load_table(
    source: Any, *, task: str, user: str, groups: str | None = None, keep: Sequence[str] = (), drop: Sequence[str] = ()
) -> SimpleNamespace:
    """Return the ``problem`` of a table by a draft of its schema, for the notebooks of the compendium.

    Parameters
    ----------
    source : path or table
        The table.
    task, user, groups : str
        Columns with a role.
    keep, drop : sequence of str
        Columns that are features whatever the draft proposes, and columns that are none.

    Raises
    ------
    FileNotFoundError, ValueError
        As `own_problem`.
    """
    _refuse_recordings(source)
    declared = _edited(draft(source, task, user, groups, identifying=True), keep, drop)
    problem = own_problem(source, declared)
    problem.provenance["digest"] = OwnTable(source, declared).digest
    return SimpleNamespace(problem=problem)


def shareable_table(
    source: Any, *, user: str | None, drop: Sequence[str] = (), keep: Sequence[str] = ()
) -> pd.DataFrame:
    """Return what may leave of a table by a draft of its schema, for the notebooks of the compendium.

    Parameters
    ----------
    source : path or table
        The table.
    user : str
        Column with the person of each row, or `NOBODY` if rows belong to no person.
    drop, keep : sequence of str
        Columns that do not leave, and columns that leave whatever the draft proposes.

    Returns
    -------
    pandas.DataFrame
        Numbers and levels. ``attrs`` has ``left_out``: each withheld column with the reason.

    Raises
    ------
    ValueError
        If `user` is None, or no column is left.
    """
    if user is None:
        raise ValueError(f"user is missing: name the column with the person of each row, or give user={NOBODY!r}")
    if user == NOBODY:  # each row stands for someone, so that levels have users
        source = pd.read_parquet(source) if str(source).endswith("parquet") else pd.read_csv(source)
        source = source.assign(**{NOBODY: [f"{NOBODY}{row}" for row in range(len(source))]})
    declared = _edited(draft(source, None, user), keep, drop)
    shared = released(read(source, declared).frame, declared)
    if not shared.shape[1]:
        raise ValueError(f"no column is left: {assumed(declared, 'drafted')}")
    shared.attrs["left_out"] = {one.name: one.why or "" for one in declared.fields if not one.leaves}
    return shared


def _edited(schema: Schema, keep: Sequence[str], drop: Sequence[str]) -> Schema:
    """Return a draft in which some columns are features, and others are withheld."""
    kept = {"role": "feature", "although": "kept on request"}
    fields = [one.model_copy(update=kept) if one.name in keep else one for one in schema.fields]
    edited = schema.model_copy(update={"fields": fields})
    return withholding(edited, {title(edited.field(name)) for name in drop}, "you dropped it")
