"""Write tables as text that is the same in every repetition."""

from typing import Any

import numpy as np
import pandas as pd

_DIGITS = 6


def number_text(value: Any, digits: int = _DIGITS) -> str:
    """Return the value of a cell as text, the same on every machine.

    A float has at most `digits` significant digits, and none after the point if it is whole. A missing value is empty.

    Examples
    --------
    >>> number_text(0.1 + 0.2), number_text(48842.0), number_text(float("nan")), number_text(1309), number_text(-0.0)
    ('0.3', '48842', '', '1309', '0')
    """
    if isinstance(value, (bool, np.bool_)):
        return "yes" if value else "no"
    if isinstance(value, (float, np.floating)):
        if np.isnan(value):
            return ""
        if float(value).is_integer() and abs(float(value)) < 1e15:
            return str(int(value))
        return f"{round(float(value), 12) + 0.0:.{digits}g}"
    if isinstance(value, (tuple, list, set, frozenset)):
        ordered = sorted(value, key=str) if isinstance(value, (set, frozenset)) else value
        return ", ".join(number_text(item, digits) for item in ordered)
    return "" if value is None or value is pd.NA or value is pd.NaT else str(value)


def csv_text(frame: pd.DataFrame, digits: int = 10) -> str:
    """Return a table as CSV text, with line feeds and at most `digits` significant digits.

    An index that describes the rows becomes the first column: one that has a name, or is not of whole numbers.
    """
    return _texts(plain(frame), digits).to_csv(index=False, lineterminator="\n")


def markdown_text(frame: pd.DataFrame, caption: str = "") -> str:
    """Return a table as a Markdown pipe table below its caption, with numbers aligned right."""
    flat = plain(frame)
    texts = _texts(flat, _DIGITS).map(lambda text: text.replace("|", "\\|").replace("\n", " "))
    rule = ["---:" if is_number(flat[name]) else ":---" for name in flat.columns]
    lines = ["| " + " | ".join(cells) + " |" for cells in [texts.columns, rule, *texts.to_numpy()]]
    return "\n".join([*([f"**{caption}**", ""] if caption else []), *lines, ""])


def is_number(values: pd.Series) -> bool:
    """Return whether a column holds numbers, which are aligned right."""
    return pd.api.types.is_numeric_dtype(values) and not pd.api.types.is_bool_dtype(values)


def plain(frame: pd.DataFrame) -> pd.DataFrame:
    """Return a table with flat, unique column names, in which an index that describes the rows is a column."""
    index = frame.index
    # an index of whole numbers without a name only counts rows
    counts_rows = index.names == [None] and pd.api.types.is_integer_dtype(index)
    # blanks for a level without a name
    names = [" " * place if name is None else str(name) for place, name in enumerate(index.names)]
    flat = frame if counts_rows else frame.reset_index(names=names)
    if isinstance(flat.columns, pd.MultiIndex):
        flat = flat.set_axis([" ".join(str(part) for part in name if str(part)) for name in flat.columns], axis=1)
    if not flat.columns.is_unique:
        twice = flat.columns[flat.columns.duplicated()].tolist()
        raise ValueError(f"the table has more than one column named {', '.join(map(str, twice))}: rename them")
    return flat


def _texts(flat: pd.DataFrame, digits: int) -> pd.DataFrame:
    return pd.DataFrame({str(name): [number_text(value, digits) for value in flat[name]] for name in flat.columns})
