"""Checks and words that several readers share."""

from collections.abc import Sequence
from typing import Any, get_args

import pandas as pd


def check_choice(option: str, value: object, choices: Any) -> None:
    """Raise ValueError if the value of an option is not one of the choices, a ``Literal`` type."""
    if value not in get_args(choices):
        raise ValueError(f"{option} {value!r} is unknown, one of {', '.join(map(str, get_args(choices)))}")


def counted(count: int, what: str, one: str = "", many: str = "") -> str:
    """Return a number of things in words, with the verb for one of them or for many.

    Examples
    --------
    >>> counted(1, "cell", "counts", "count"), counted(1200, "cell", "counts", "count")
    ('1 cell counts', '1,200 cells count')
    """
    return f"{count:,} {what}{'s' * (count != 1)} {one if count == 1 else many}".rstrip()


def rows_in_words(count: int, which: str = "", done: str = "") -> str:
    """Return a number of rows in words, and what is done with them.

    Examples
    --------
    >>> rows_in_words(1200)
    '1,200 rows'
    >>> rows_in_words(1, "without user", "dropped")
    '1 row without user is dropped'
    """
    words = [counted(count, "row"), which, done and f"{'is' if count == 1 else 'are'} {done}"]
    return " ".join(filter(None, words))


def require_columns(columns: Sequence[str] | pd.Index, wanted: Sequence[str], name: str) -> None:
    """Raise ValueError if a table lacks columns.

    Parameters
    ----------
    columns : sequence of str
        Columns of the table.
    wanted : sequence of str
        Columns that it must have.
    name : str
        Name of the table in the message.
    """
    if absent := [column for column in wanted if column not in columns]:
        some = ", ".join(map(str, columns[:12])) + (", ..." if len(columns) > 12 else "")
        raise ValueError(f"{name} has no column {', '.join(map(repr, absent))}; it has {some}")
