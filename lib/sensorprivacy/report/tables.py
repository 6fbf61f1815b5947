"""Tables as files that do not change from run to run, and as something a notebook shows."""

import html
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from sensorprivacy.report.printed import number_in

MARKS = {"exact": "=", "within": "~", "differs": "x", "no data": "-", "not reproducible": "!"}
_DIGITS = 6


@dataclass(frozen=True)
class ShownTable:
    """A table with its caption; Jupyter shows it, `markdown` is the file's text."""

    frame: pd.DataFrame
    caption: str

    @property
    def markdown(self) -> str:
        """The table in Markdown, caption first."""
        return markdown_text(self.frame, self.caption)

    def _repr_markdown_(self) -> str:
        return self.markdown

    def _repr_html_(self) -> str:
        head, rows = _cells(self.frame)
        plain = _plain(self.frame)
        left = [not _is_number(plain[name]) for name in plain.columns]
        return _html(head, rows, left, self.caption)

    def __repr__(self) -> str:
        return self.markdown


def number_text(value: Any, digits: int = _DIGITS) -> str:
    """Return a cell as text, the same on every machine.

    Floats get at most `digits` significant digits, whole floats none behind the point, missing values nothing.

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
    """Return a table as CSV text: line feeds, floats with at most `digits` significant digits.

    An index that says what a row is (it has a name, or is not of whole numbers) becomes the first column.
    """
    plain = _plain(frame)
    text = pd.DataFrame({str(name): [number_text(v, digits) for v in plain[name]] for name in plain.columns})
    return text.to_csv(index=False, lineterminator="\n")


def markdown_text(frame: pd.DataFrame, caption: str = "") -> str:
    """Return a table as a Markdown pipe table, numbers to the right, with its caption above."""
    head, rows = _cells(frame)
    plain = _plain(frame)
    rule = ["---:" if _is_number(plain[name]) else ":---" for name in plain.columns]
    lines = ["| " + " | ".join(map(_escape, cells)) + " |" for cells in [head, *rows]]
    lines.insert(1, "| " + " | ".join(rule) + " |")
    above = [f"**{caption}**", ""] if caption else []
    return "\n".join([*above, *lines, ""])


def compare(verdicts: pd.DataFrame) -> pd.DataFrame:
    """Return verdicts as a table to read: printed beside ours, the difference, the verdict with its mark, the reason.

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
            "reason": verdicts["reason"],
        }
    ).reset_index(drop=True)


def _stated(text: str) -> float:
    stated = number_in(text)
    return stated[0] if stated else np.nan


def _plain(frame: pd.DataFrame) -> pd.DataFrame:
    index = frame.index
    # a nameless index of whole numbers only counts rows; any other says what a row is
    counts_rows = index.names == [None] and pd.api.types.is_integer_dtype(index)
    plain = frame if counts_rows else frame.reset_index(names=_index_names(index))
    if isinstance(plain.columns, pd.MultiIndex):
        plain = plain.set_axis([" ".join(str(part) for part in name if str(part)) for name in plain.columns], axis=1)
    if not plain.columns.is_unique:
        raise ValueError(f"column names given twice: {plain.columns[plain.columns.duplicated()].tolist()}")
    return plain


def _index_names(index: pd.Index) -> list[str]:
    """Return a header for each level of an index; a level without a name has a blank one."""
    return [" " * place if name is None else str(name) for place, name in enumerate(index.names)]


def _cells(frame: pd.DataFrame) -> tuple[list[str], list[list[str]]]:
    plain = _plain(frame)
    columns = [[number_text(value) for value in plain[name]] for name in plain.columns]
    return [str(name) for name in plain.columns], [list(row) for row in zip(*columns, strict=True)]


def _is_number(column: pd.Series) -> bool:
    return pd.api.types.is_numeric_dtype(column) and not pd.api.types.is_bool_dtype(column)


def _escape(text: str) -> str:
    return text.replace("|", "\\|").replace("\n", " ")


def _html(head: list[str], rows: list[list[str]], left: list[bool], caption: str) -> str:
    sides = ["left" if side else "right" for side in left]
    cell = '<{tag} style="text-align:{side}">{text}</{tag}>'

    def line(cells: list[str], tag: str) -> str:
        parts = (cell.format(tag=tag, side=s, text=html.escape(t)) for s, t in zip(sides, cells, strict=True))
        return f"<tr>{''.join(parts)}</tr>"

    body = "".join(line(row, "td") for row in rows)
    title = (
        f'<caption style="caption-side:top;text-align:left"><b>{html.escape(caption)}</b></caption>' if caption else ""
    )
    return f"<table>{title}<thead>{line(head, 'th')}</thead><tbody>{body}</tbody></table>"
