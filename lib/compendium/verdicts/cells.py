"""Read our values from the tables of runs.

Beside each printed value, ``data/paper/paper-<n>.csv`` names the cell that has ours:

=============== =======================================================================================
``run``         the run that reproduces it
``our_table``   a table of that run, or ``RUN/TABLE`` of an earlier run
``where``       the row: ``column=value`` parts between semicolons
``our_column``  the column; ``(alpha, beta)`` is a pair of columns
``basis``       what the verdict is based on, see :mod:`.words`
``needs``       what is missing if there is no such cell: data sets, or words of ``claims.toml``
``undecided``   why no value can decide the claim
=============== =======================================================================================

``|`` separates alternatives of these cells and their bases; the first cell with a value counts. If the table has the
columns ``X_low`` and ``X_high``, they are the interval of column X, over ``X_unit`` (rows, unless stated), ``X_n`` of
them. A row with a text in the column ``undecided`` cannot decide its claims.

A value may have a prediction interval: where the result of one more training, or of one more draw of split and models,
would lie; see `compendium.verdicts.prediction`.
"""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cache
from typing import Any

import pandas as pd

from compendium.paths import figures_dir
from compendium.verdicts.consistency import contradictions
from compendium.verdicts.printed import kind_of, printed_values
from compendium.verdicts.verdicts import Ours, VerdictError, judge

MISSING = "missing"
"""The table in which a run writes what it needed and did not have: columns needs, why."""
Tables = Callable[[str], pd.DataFrame | None]
"""Returns a table by its name, all cells as text and empty if missing, or None if there is no such table."""
_THOUSANDS = re.compile(r"\d+(\.\d)?k")
_MARK = "|"


@dataclass(frozen=True)
class Cells:
    """What the cells of some printed values hold, each by claim id; see :func:`.verdicts.judge`."""

    ours: dict[str, Ours] = field(default_factory=dict)
    undecided: dict[str, str] = field(default_factory=dict)
    no_data: dict[str, str] = field(default_factory=dict)
    basis: dict[str, str] = field(default_factory=dict)


def claims_of(run: str) -> pd.DataFrame:
    """Return the printed values that a run reproduces; none if it is not in the map."""
    values = printed_values()
    return values[values["run"] == run]


def judge_run(run: str, tables: Tables, missing: Callable[[str], str], *, unexplained: str = "error") -> pd.DataFrame:
    """Return the verdicts of a run on its printed values, read from its tables.

    Parameters
    ----------
    run : str
        Name of the run.
    tables : callable
        Returns a table by its name; see `Tables`.
    missing : callable
        Returns for a word of the column ``needs`` what is missing and how to get it; empty if nothing is missing.
    unexplained : {"error", "allow"}
        As for :func:`.verdicts.judge`.

    Returns
    -------
    pandas.DataFrame
        As :func:`.verdicts.judge` returns them.
    """
    claims = claims_of(run)
    cells = read(claims, tables, missing)
    impossible = {claim: why for paper in claims["paper"].unique() for claim, why in contradictions(paper).items()}
    return judge(run=run, impossible=impossible, unexplained=unexplained, **vars(cells))


def read(claims: pd.DataFrame, tables: Tables, missing: Callable[[str], str]) -> Cells:
    """Return our values of some printed values from their cells; the parameters are those of `judge_run`.

    Raises
    ------
    VerdictError
        If a column is not in its table, or several rows fit.
    """
    found, tables = Cells(), cache(tables)
    claim: Any
    for claim in claims.itertuples(index=False):
        name = claim.claim_id
        for basis, table, where, column in _alternatives(claim):
            frame = tables(table)
            row = None if frame is None else row_of(frame, where, f"{name}, table {table}")
            if row is None:
                continue
            value = value_in(claim, row, column)
            why = claim.undecided or row.get("undecided", "")
            if value is None and not why:
                continue
            found.basis[name] = basis
            if value is not None:
                found.ours[name] = _with_interval(value, row, column)
            if why:
                found.undecided[name] = why
            break
        else:
            reasons = list(filter(None, map(missing, filter(None, claim.needs.split(", ")))))
            if not reasons and tables(claim.our_table) is not None:
                found.undecided[name] = f"the run's table {claim.our_table} has no row where {claim.where}"
            else:
                found.no_data[name] = "; ".join(reasons) or f"the run has no table {claim.our_table}"
    return found


def row_of(frame: pd.DataFrame, where: str, about: str = "") -> dict[str, str] | None:
    """Return the only row of a table that a selector names, or None.

    Examples
    --------
    >>> frame = pd.DataFrame({"threshold": ["0", "0.01"], "accuracy": ["0.9", "0.8"]})
    >>> row_of(frame, "threshold=0.01")
    {'threshold': '0.01', 'accuracy': '0.8'}
    """
    for part in filter(None, where.split("; ")):
        name, _, wanted = part.partition("=")
        if name not in frame:
            raise VerdictError(f"{about}: no column {name!r} among {', '.join(frame.columns)}")
        frame = frame[frame[name] == wanted]
    if len(frame) > 1:
        raise VerdictError(f"{about}: {where!r} names {len(frame)} rows, not one")
    return {str(name): text for name, text in frame.iloc[0].items()} if len(frame) else None


def value_in(claim: Any, row: Mapping[str, str], column: str) -> Any:
    """Return our value in a row as the kind of value that is printed; None if the cell is empty."""
    names = column.strip("()").split(", ") if column.startswith("(") else [column]
    if absent := [name for name in names if name not in row]:
        raise VerdictError(f"{claim.claim_id}: no column {absent[0]!r} among {', '.join(row)}")
    text = ", ".join(row[name] for name in names)
    if not text:
        return None
    kind = kind_of(claim.printed, claim.value)
    if kind == "number":
        return float(text)
    if kind == "truth":
        return {"yes": True, "no": False}[text]
    if kind in ("set", "pair"):
        parts = text.split(", ")
        return tuple(map(float, parts)) if kind == "pair" else parts
    if _THOUSANDS.fullmatch(claim.printed):
        return f"{round(float(text) / 1000, 1):g}k"
    return text


def _alternatives(claim: Any) -> list[tuple[str, ...]]:
    columns = (claim.basis, claim.our_table, claim.where, claim.our_column)
    return list(zip(*([part.strip() for part in text.split(_MARK)] for text in columns), strict=True))


def _with_interval(value: Any, row: Mapping[str, str], column: str) -> Ours:
    low, high = (row.get(f"{column}_{end}", "") for end in ("low", "high"))
    unit, count = row.get(f"{column}_unit", "rows" if low else ""), row.get(f"{column}_n", "")
    number = int(count) if count else None
    return Ours(value, float(low), float(high), unit, number) if low else Ours(value, over=unit, n=number)


def tables_of(profile: str, run: str) -> Tables:
    """Return a function that reads a table of a run, or ``RUN/TABLE`` of another run, from ``figures/``."""

    def table(name: str) -> pd.DataFrame | None:
        owner, _, own = name.rpartition("/")
        folder = figures_dir(profile) / (owner or run)
        paths = [path for path in (folder / f"{own}.csv", folder / "drawn" / f"{own}.csv") if path.is_file()]
        return pd.read_csv(paths[0], dtype=str, keep_default_na=False) if paths else None

    return table
