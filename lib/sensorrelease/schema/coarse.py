"""Cells of a declared column as they may leave: coarse numbers, declared levels, plain texts; and who has a level."""

import re
import unicodedata
from collections import Counter
from decimal import Decimal
from typing import Any

import numpy as np
import pandas as pd

from sensorrelease.schema.model import MOMENTS, OTHER, Field, Schema, fold

_SIGN = r"[=@]|[+\-\u2212](?![\d.,:/ -]*(?:$|[;,|]))"  # begins a formula; numbers, dates and dashes do not
_FORMULA = re.compile(rf'(^|[;,|])(\s*"?\s*)(?={_SIGN})')
EPOCH = pd.Timestamp(0, tz="UTC")


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


def rounded(values: pd.Series | np.ndarray, one: Field) -> np.ndarray:
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


def numbers_of(column: pd.Series, one: Field) -> np.ndarray:
    """Return a column of numbers, or of times as seconds since 1970, as they may leave."""
    if one.type in MOMENTS:
        if column.dtype.kind != "m":
            times = pd.to_datetime(column.astype("string").astype(object), utc=True, format="ISO8601", errors="coerce")
            column = times - EPOCH
        return rounded(column.dt.total_seconds(), one)
    return rounded(pd.to_numeric(column, errors="coerce").astype("Float64").to_numpy(float, na_value=np.nan), one)


def levels_of(column: pd.Series, one: Field) -> pd.Series:
    """Return the declared level of each cell; None where there is none."""
    if one.is_number:
        numbers = numbers_of(column, one)
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
            pairs = pd.DataFrame({"level": levels_of(piece[one.name], one), "user": users})
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
