"""Tables as text that is the same in every repetition, and as pages show them.

A table's CSV file keeps every column and ten digits. What a notebook or the book shows of it has percentages, each
interval beside its value, and at most eight columns.
"""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from itertools import pairwise
from pathlib import Path
from typing import Any

import jinja2
import numpy as np
import pandas as pd
from markupsafe import Markup

_Columns = Mapping[str, tuple[str, list[str]]]  # the title and the texts of each column
_DIGITS = 6
MOST_COLUMNS = 8
FOLDED = 24  # rows of a table from which a notebook shows it folded: a figure or a sentence says what is in it
_NARROW = 105  # characters that fit a page beside each other
_WRAPPED = 25  # characters after which a text continues in the next line
_SENTENCE = 60  # characters from which a text is a sentence, which needs a wide column
# Names of columns that are shares: shown as percentages if all their values lie in [-1, 1].
_SHARES = re.compile(
    r"(?:^|[\W_])(accuracy|identifiability|attack|share|public|private|chance|vote|recall|precision|loss|gain|lead|lost"
    r"|activity|worst|balanced|unseen|optimism|score|above)(?:$|[\W_])"
)
_LOW = re.compile(r"(?:(?P<value>.*)[ _])?low")


@dataclass(frozen=True)
class Shown:
    """A result for Jupyter to show: as HTML, and as text where there is no browser, with its closing sentence below."""

    html: str
    text: str
    closing: str = ""

    def _repr_html_(self) -> str:
        return self.html + closing_html(self.closing)

    def __repr__(self) -> str:
        return "\n".join(filter(None, [self.text, self.closing]))


def shown_table(frame: pd.DataFrame, caption: str, closing: str = "") -> Shown:
    """Return a table below its caption, for Jupyter to show; one of many rows is folded."""
    shown = readable(frame)
    return Shown(html_table(shown, caption, fold=len(shown.rows) >= FOLDED), markdown_text(frame, caption), closing)


def closing_html(text: str) -> str:
    """Return a closing sentence as HTML; nothing if it is empty."""
    return page("closing.html", text=text)


@dataclass(frozen=True)
class Readable:
    """A table as text for readers: its head, its rows, which columns hold numbers, and remarks on left-out columns."""

    head: list[str]
    rows: list[list[str]]
    numeric: list[bool]
    remarks: list[str]


def readable(frame: pd.DataFrame, most: int = MOST_COLUMNS) -> Readable:
    """Return a table in the form that readers see.

    Shares become percentages, other numbers have three digits, and bounds stand beside their value:
    ``62.0 [59.1, 64.8]``. If more than `most` columns are left, a column with one value in all rows becomes a remark.
    The first and the last column and those with an interval are kept before others, and a remark names the columns that
    are left out. An empty column is not shown, nor is a row with nothing beside
    its name. A table that fits the page keeps up to four columns more.

    Examples
    --------
    >>> table = pd.DataFrame({"accuracy": [0.62], "accuracy_low": [0.591], "accuracy_high": [0.648]})
    >>> shown = readable(table)
    >>> shown.head, shown.rows
    (['accuracy, %'], [['62.0 [59.1, 64.8]']])
    """
    flat = plain(frame)
    bounds = _bounds(flat)
    within = {end for ends in bounds.values() for end in ends}
    columns = {name: _column(flat, name, bounds.get(name)) for name in flat.columns if name not in within}
    columns = {name: column for name, column in columns.items() if any(column[1]) or not len(flat)}
    names, remarks = list(columns), list[str]()
    if len(names) > most and not _narrow(columns, most):
        names, remarks = _chosen(columns, bounds, most, rows=len(flat))
    rows = [list(row) for row in zip(*(columns[name][1] for name in names), strict=True)]
    if blank := [row[0] for row in rows if len(row) > 1 and row[0] and not any(row[1:])]:
        remarks.append(f"More rows in the CSV file, without a value in these columns: {', '.join(blank)}.")
        rows = [row for row in rows if any(row[1:])]
    numeric = [is_number(flat[name]) for name in names]
    return Readable([columns[name][0] for name in names], rows, numeric, remarks)


def _narrow(columns: _Columns, most: int) -> bool:
    """Return whether a table with a few columns too many fits all the same, such as one of counts."""
    widths = [max(map(len, [*title.split(), *texts]), default=0) for title, texts in columns.values()]
    return len(columns) <= most + 4 and sum(min(width, _WRAPPED) for width in widths) <= _NARROW


def _chosen(columns: _Columns, bounds: Iterable[str], most: int, rows: int) -> tuple[list[str], list[str]]:
    """Return the columns to show, and remarks on the others.

    The first and the last column are kept before those with an interval, then chance levels, then others. The first
    says what a row is, and the last often what follows from it.
    """
    names, remarks = list(columns), []
    ends, measured = {names[0], names[-1]}, set(bounds)
    if rows > 1:
        same = [n for n in names[1:] if n not in measured and len(set(columns[n][1])) == 1]
        words = {n: columns[n][1][0] + " %" * columns[n][0].endswith(", %") for n in same if columns[n][1][0]}
        alike: dict[str, list[str]] = {}  # the values of all columns whose names end in one word: n, unit
        for n in names:
            alike.setdefault(n.rpartition("_")[2], []).append(words.get(n, n))
        for end, values in alike.items():
            if len(values) > 1 and len(set(values)) == 1:
                words = {end if n.rpartition("_")[2] == end else n: text for n, text in words.items()}
        said = [f"{_spaced(n)} {text}" for n, text in words.items()]
        remarks += [f"The same in all rows: {', '.join(said)}."] if said else []
        names = [name for name in names if name not in same]
    if len(names) > most:
        ranked = sorted(names, key=lambda name: (name not in ends, name not in measured, not name.endswith("chance")))
        left_out = [name for name in names if name not in ranked[:most]]
        remarks.append(f"More columns in the CSV file: {', '.join(map(_spaced, left_out))}.")
        names = [name for name in names if name not in left_out]
    return names, remarks


def html_table(shown: Readable, caption: str, label: str = "", fold: bool = False) -> str:
    """Return a readable table as HTML that scrolls in its own box, named by `label`, if the page is narrow.

    A reader opens a table with `fold`.
    """
    sides = ["right" if number else "left" for number in shown.numeric]
    return page("table.html", table=shown, caption=caption, sides=sides, label=label or caption or "table", fold=fold)


def page(template: str, **values: Any) -> str:
    """Return a template of the folder ``templates/``, filled with values, in which HTML is escaped."""
    return _forms().get_template(template).render(values).strip()


@cache
def _forms() -> jinja2.Environment:
    loader = jinja2.FileSystemLoader(Path(__file__).with_name("templates"))
    forms = jinja2.Environment(loader=loader, autoescape=True, trim_blocks=True)
    forms.filters["breakable"] = _breakable
    return forms


def _bounds(plain: pd.DataFrame) -> dict[str, tuple[str, str]]:
    """Return the columns of the lower and the upper bound of each value column that has both."""
    found: dict[str, tuple[str, str]] = {}
    for left, low in pairwise(["", *plain.columns]):
        match = _LOW.fullmatch(low)
        value = match["value"] or left if match else ""  # bounds without a name are those of the column on their left
        high = f"{low.removesuffix('low')}high"
        if {value, high} <= set(plain.columns) and pd.api.types.is_numeric_dtype(plain[value]):
            found[value] = (low, high)
    return found


def _column(plain: pd.DataFrame, name: str, ends: tuple[str, str] | None) -> tuple[str, list[str]]:
    values = plain[name]
    a_score = name == "identifiability" and "utility" in plain  # of features: both in one unit, as their ratio
    share = names_share(name) and _is_share(values) and not a_score
    texts = [_text(value, share) for value in values]
    if ends:
        lows, highs = ([_text(value, share) for value in plain[end]] for end in ends)
        texts = [f"{t} [{lo}, {hi}]" if lo and hi else t for t, lo, hi in zip(texts, lows, highs, strict=True)]
    return f"{_spaced(name)}, %" if share else _spaced(name), texts


def names_share(name: str) -> bool:
    """Return whether a name says that its numbers are shares, such as an accuracy."""
    return bool(_SHARES.search(name.lower()))


def _is_share(values: pd.Series) -> bool:
    if not pd.api.types.is_float_dtype(values):
        return False
    known = values[np.isfinite(values)].to_numpy(dtype=float)
    return len(known) > 0 and bool(np.abs(known).max() <= 1) and not bool(np.isin(known, [0, 1]).all())


def _text(value: Any, share: bool) -> str:
    if isinstance(value, (float, np.floating)) and np.isfinite(value):
        number = float(value)
        if share:
            return f"{100 * number + 0.0:.1f}"
        if abs(number) >= 1000 and not number.is_integer():
            return f"{number:,.0f}"
    return number_text(value, 3)


def _spaced(name: object) -> str:
    return str(name).replace("_", " ")


def _breakable(text: str) -> Markup:
    """Return escaped text in which a browser may break long names, but not inside an interval."""
    if re.fullmatch(r"[-\d., e+]+\[[-\d., e+]+\]", text):
        return Markup('<span style="white-space:nowrap">{}</span>').format(text)
    broken = Markup("<wbr>").join(re.split(r"(?<=[_/=])", text))
    # a browser squeezes the columns of texts first, so a sentence asks for its width
    return Markup('<div style="min-width:16rem">{}</div>').format(broken) if len(text) > _SENTENCE else broken


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
