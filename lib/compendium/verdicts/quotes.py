"""Quote numbers of committed results in texts, so that no text can have a stale number.

``{RUN/TABLE | ROW | COLUMN | FORM}`` stands for a cell of ``figures/RUN/TABLE.csv``, ``{verdicts | ...}`` for one of
``figures/verdicts.csv``, and ``{bench/TABLE | ...}`` for one of ``bench/results/TABLE.csv``. ROW names the row as in
:mod:`.cells`. FORM says how to write the number: ``.3f`` (a share below 1 begins with its point), ``%`` (whole
percents), ``points`` (hundredths, one decimal), ``,`` (a whole number); by default as in the table.

Instead of one row, COLUMN may be of several, of all runs if RUN has a ``*``: ``count()`` is their number, and
``max(NAME)`` the highest number in a column. ROW then selects by the signs ``=``, ``!=``, ``>=`` and ``<=``. A text
may have ``*`` and ``?`` for any text, and ``or`` between alternatives.

``{=TEXT}`` is TEXT: a number that no run of ours can change, because the paper prints it, or because it follows from
printed numbers or from the data files by the tests that demonstrate an entry.
"""

import re
from fnmatch import fnmatchcase
from typing import Any

import pandas as pd

from compendium.paths import project_root
from compendium.verdicts.cells import row_of, tables_of
from compendium.verdicts.earlier_runs import gather

BENCH = "bench"  # in place of a run's name
_OF_ROWS = re.compile(r"(count|max)\((.*)\)")
_PART = re.compile(r"(.+?)(!=|>=|<=|=)(.*)")
REFERENCE = re.compile(r"\{(?:=(?P<own>[^{}]*)|(?P<table>[^{}|]+)\|(?P<rest>[^{}]*))\}")


class QuoteError(LookupError):
    """A text quotes a number that no committed table has."""


def quoted(text: str) -> str:
    """Return a text with the numbers that it quotes from the results in ``figures/``.

    Examples
    --------
    >>> quoted("{=12} attributes: {22_threeway_summary/table-4 | data set=adult | records | ,} rows")
    '12 attributes: 48,842 rows'
    """
    return REFERENCE.sub(_number, text)


def row_in(place: str, where: str) -> dict[str, str]:
    """Return a row of a committed table, its cells as text.

    Parameters
    ----------
    place : str
        ``RUN/TABLE``, or ``bench/TABLE`` for a measurement of ``bench/``.
    where : str
        The row, as in :mod:`.cells`.

    Raises
    ------
    QuoteError
        If there is no such table or row.
    """
    run, _, name = place.rpartition("/")
    frame = _measurement(name) if run == BENCH else tables_of("paper", run)(name)
    row = None if frame is None else row_of(frame, where, _file(place))
    if row is None:
        raise QuoteError(f"{_file(place)} has no row {where!r}: correct the reference")
    return row


def cell(place: str, where: str, column: str) -> str:
    """Return a cell of such a row.

    Raises
    ------
    QuoteError
        If there is no such table, row or column.
    """
    row = row_in(place, where)
    if column not in row:
        raise QuoteError(f"{_file(place)} has no column {column!r}: correct the reference")
    return row[column]


def _file(place: str) -> str:
    return f"{place.replace('/', '/results/')}.csv" if place.startswith(f"{BENCH}/") else f"figures/{place}.csv"


def _measurement(name: str) -> pd.DataFrame | None:
    path = project_root() / _file(f"{BENCH}/{name}")
    return pd.read_csv(path, dtype=str, keep_default_na=False) if path.is_file() else None


def _number(match: re.Match[str]) -> str:
    if match["own"] is not None:
        return match["own"]
    place, parts = match["table"].strip(), [part.strip() for part in match["rest"].split("|")]
    where, column, form = [*parts, ""] if len(parts) == 2 else parts
    if (several := _OF_ROWS.fullmatch(column)) is None:
        return _written(cell(place, where, column), form)
    run, _, name = place.rpartition("/")
    frame = gather("paper", run, name)
    if frame.empty:
        raise QuoteError(f"{match[0]}: no committed run has the table {place}")
    try:
        rows = _rows_of(frame, where)
        return _written(len(rows) if several[1] == "count" else rows[several[2]].max(), form)
    except (KeyError, AttributeError) as error:
        raise QuoteError(f"{match[0]}: {place} has no {error}, or a part is not of the form COLUMN=TEXT") from error


def _rows_of(frame: pd.DataFrame, where: str) -> pd.DataFrame:
    for part in filter(None, where.split("; ")):
        name, sign, wanted = _PART.fullmatch(part).groups()  # type: ignore[union-attr]
        if sign in (">=", "<="):
            fits = frame[name] >= float(wanted) if sign == ">=" else frame[name] <= float(wanted)
        else:
            texts = wanted.split(" or ")
            alike = [any(fnmatchcase(str(each), text) for text in texts) for each in frame[name]]
            fits = pd.Series(alike, frame.index) == (sign == "=")
        frame = frame[fits]
    return frame


def _written(value: Any, form: str) -> str:
    if not form:
        return str(value)
    if form in ("%", "points"):
        return f"{100 * float(value):.0f} %" if form == "%" else f"{100 * float(value):.1f}"
    text = format(round(float(value)) if form == "," else float(value), form)
    return text.replace("0.", ".", 1) if text.removeprefix("-").startswith("0.") else text
