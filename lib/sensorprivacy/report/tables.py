"""Write tables as text that is the same in every repetition, and show them in notebooks."""

import html
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from sensorprivacy.report.printed import number_in

MARKS = {"exact": "=", "within": "~", "differs": "x", "undecided": "?", "no data": "-", "not reproducible": "!"}
_DIGITS = 6


@dataclass(frozen=True)
class ShownTable:
    """A table with its caption, for Jupyter to show; `markdown` is the text of its file."""

    frame: pd.DataFrame
    caption: str

    @property
    def markdown(self) -> str:
        """The table in Markdown, below its caption."""
        return markdown_text(self.frame, self.caption)

    def _repr_markdown_(self) -> str:
        return self.markdown

    def _repr_html_(self) -> str:
        head, rows, numeric = _cells(self.frame)
        sides = ["right" if number else "left" for number in numeric]

        def line(cells: list[str], tag: str) -> str:
            pairs = zip(sides, cells, strict=True)
            inside = "".join(f'<{tag} style="text-align:{side}">{html.escape(text)}</{tag}>' for side, text in pairs)
            return f"<tr>{inside}</tr>"

        style = "caption-side:top;text-align:left"
        title = f'<caption style="{style}"><b>{html.escape(self.caption)}</b></caption>' if self.caption else ""
        body = "".join(line(row, "td") for row in rows)
        return f"<table>{title}<thead>{line(head, 'th')}</thead><tbody>{body}</tbody></table>"

    def __repr__(self) -> str:
        return self.markdown


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
    plain = _plain(frame)
    text = pd.DataFrame({str(name): [number_text(v, digits) for v in plain[name]] for name in plain.columns})
    return text.to_csv(index=False, lineterminator="\n")


def markdown_text(frame: pd.DataFrame, caption: str = "") -> str:
    """Return a table as a Markdown pipe table below its caption, with numbers aligned right."""
    head, rows, numeric = _cells(frame)
    rule = ["---:" if number else ":---" for number in numeric]
    lines = ["| " + " | ".join(map(_escape, cells)) + " |" for cells in [head, *rows]]
    lines.insert(1, "| " + " | ".join(rule) + " |")
    above = [f"**{caption}**", ""] if caption else []
    return "\n".join([*above, *lines, ""])


def compare(verdicts: pd.DataFrame) -> pd.DataFrame:
    """Return verdicts as a table for readers: printed value, ours, their difference, the verdict and its reason.

    Parameters
    ----------
    verdicts : pandas.DataFrame
        As :func:`.verdicts.judge` returns them.
    """
    ours, printed = (pd.Series(map(_stated, verdicts[name]), dtype=float) for name in ("ours", "printed"))
    return pd.DataFrame(
        {
            "table": verdicts["table"],
            "row": verdicts["row"],
            "column": verdicts["column"],
            "printed": verdicts["printed"],
            "ours": [t if np.isnan(n) else number_text(n, 4) for n, t in zip(ours, verdicts["ours"], strict=True)],
            "difference": [number_text(d, 2) for d in ours - printed],
            "verdict": [f"{MARKS[v]} {v}" for v in verdicts["verdict"]],
            "basis": verdicts["basis"],
            "reason": verdicts["reason"],
        }
    ).reset_index(drop=True)


def _stated(text: str) -> float:
    stated = number_in(text)
    return stated[0] if stated else np.nan


def _plain(frame: pd.DataFrame) -> pd.DataFrame:
    index = frame.index
    # an index of whole numbers without a name only counts rows
    counts_rows = index.names == [None] and pd.api.types.is_integer_dtype(index)
    # blanks for a level without a name
    names = [" " * place if name is None else str(name) for place, name in enumerate(index.names)]
    plain = frame if counts_rows else frame.reset_index(names=names)
    if isinstance(plain.columns, pd.MultiIndex):
        plain = plain.set_axis([" ".join(str(part) for part in name if str(part)) for name in plain.columns], axis=1)
    if not plain.columns.is_unique:
        twice = plain.columns[plain.columns.duplicated()].tolist()
        raise ValueError(f"the table has more than one column named {', '.join(map(str, twice))}: rename them")
    return plain


def _cells(frame: pd.DataFrame) -> tuple[list[str], list[list[str]], list[bool]]:
    """Return the header, the rows as text, and which columns are numeric."""
    plain = _plain(frame)
    columns = [[number_text(value) for value in plain[name]] for name in plain.columns]
    rows = [list(row) for row in zip(*columns, strict=True)]
    kinds = pd.api.types
    numeric = [kinds.is_numeric_dtype(plain[c]) and not kinds.is_bool_dtype(plain[c]) for c in plain.columns]
    return [str(name) for name in plain.columns], rows, numeric


def _escape(text: str) -> str:
    return text.replace("|", "\\|").replace("\n", " ")
