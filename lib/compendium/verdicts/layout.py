"""Printed tables in the papers' own layout, with our value below each printed one, and the index of all of them.

Each value has the colour and the sign of its verdict, and its basis. The colours are inside the HTML, so that
JupyterLab and the book show the same.
"""

import html
import re
from collections.abc import Callable
from functools import cache
from typing import Any

import pandas as pd

from compendium.paths import data_dir
from compendium.show.tables import number_text
from compendium.verdicts.printed import number_in, printed_values
from compendium.verdicts.words import COLOURS, PAPERS, SIGNS

_HEADS = {
    "sota-accuracy": "All features: accuracy",
    "sota-identifiability": "All features: identifiability",
    "effectiveness": "relative effectiveness",
    "features": "number of features",
}
_SIDE_BY_SIDE = {"2-2", "2-7", "2-8"}  # two halves beside each other, as printed


_INDEX_HEAD = """# Where to find ours

<!-- Written by `python -m compendium report index` from data/paper/paper-1.csv, paper-2.csv and paper-3.csv. -->

Each printed value has an id, such as `2-T10-r3-utility`. Search for it: its row in `paper-<n>.csv` has the printed
text, and the run, the table, the row and the column with our value. A run's tables are in `figures/<run>/`; its
notebook writes each with `run.table(..., "<table>", ...)`. The table `statements` has values that no other table
holds; functions of `lib/compendium/papers/paper<n>` compute them.
"""


@cache
def titles() -> dict[tuple[str, str], str]:
    """Return the titles of the printed tables by paper and number, from ``data/paper/tables.csv``."""
    known = pd.read_csv(data_dir() / "paper" / "tables.csv", dtype=str)
    return dict(zip(zip(known["paper"], known["table"], strict=True), known["title"], strict=True))


def title(paper: object, table: str) -> str:
    """Return a printed table's number and title, such as ``Table 4: IoT-23 (9 features)``."""
    return "Statements in the text" if table == "text" else f"Table {table}: {titles()[str(paper), table]}"


def ours_text(claim: Any) -> str:
    """Return our value in the printed value's form: a percentage for a percentage, with its interval if it has one.

    Examples
    --------
    >>> claim = pd.Series({"printed": "57.68%", "ours": "0.5676295", "low": 0.5475646, "high": 0.5873291})
    >>> ours_text(claim)
    '56.76% [54.76, 58.73]'
    """
    stated = number_in(claim.ours) if claim.ours else None
    if stated is None or number_in(claim.printed) is None:
        return str(claim.ours)
    printed = claim.printed.strip()
    percent = printed.endswith("%")
    decimals = len(printed.rstrip("%").partition(".")[2])

    def text(value: float) -> str:
        if percent:
            return f"{100 * value:.{max(decimals, 1)}f}"
        return number_text(value, 10) if float(value).is_integer() else f"{value:.{decimals + 1}f}"

    low, high = (pd.to_numeric(claim.get(name), errors="coerce") for name in ("low", "high"))
    interval = "" if pd.isna(low) or pd.isna(high) else f" [{text(low)}, {text(high)}]"
    return f"{text(stated[0])}{'%' if percent else ''}{interval}"


def cell(claim: Any, link: Callable[[str], str] | None = None, tag: str = "td") -> str:
    """Return one printed value as a table cell: the printed value, ours below it, the verdict's sign and the basis."""
    ours = ours_text(claim) or "none"
    unit = claim.get("unit")
    basis = f"{claim.basis}, {unit}" if isinstance(unit, str) and unit else claim.basis
    about = f"{claim.verdict}, basis: {basis}" + (f". {claim.reason}" if claim.reason else "")
    below = f'<span style="font-size:85%"><b>{SIGNS[claim.verdict]}</b> {html.escape(ours)}'
    below += f' <i style="white-space:nowrap">{html.escape(basis)}</i></span>'
    printed = html.escape(claim.printed)
    if link is not None:
        label = html.escape(f"{claim.printed}: {claim.verdict}", quote=True)
        printed = (
            f'<a style="color:#0b3d66" href="{html.escape(link(claim.claim_id))}" aria-label="{label}">{printed}</a>'
        )
    style = f"background:{COLOURS[claim.verdict]};color:#1a1a1a;text-align:left;vertical-align:top"
    return f'<{tag} style="{style}" title="{html.escape(about, quote=True)}">{printed}<br>{below}</{tag}>'


def paper_table(claims: pd.DataFrame, link: Callable[[str], str] | None = None, caption: bool = True) -> str:
    """Return one printed table as HTML in the paper's own layout.

    Parameters
    ----------
    claims : pandas.DataFrame
        The verdicts on the values of one table, with the columns of ``figures/verdicts.csv``.
    link : callable, optional
        Takes a claim id and returns the address of its explanation.
    caption : bool, default True
        Whether the table has its number and title above it.
    """
    first = claims.iloc[0]
    key = f"{first['paper']}-{first['table']}"
    if first["table"] == "text":
        head, rows = _statements(claims, link)
    elif key in _SIDE_BY_SIDE:
        head, rows = _halves(claims, link)
    elif key == "2-14":
        head = ["data set", "group", "division"]
        rows = [[_head(c["row"]), _head(c["column"]), cell(c, link)] for c in _claims(claims)]
    else:
        head, rows = _grid(claims, link)
    name = html.escape(title(first["paper"], first["table"]), quote=True)
    above = f'<caption style="caption-side:top;text-align:left"><b>{name}</b></caption>' if caption else ""
    top = "".join(f'<th scope="col" style="text-align:left">{html.escape(name)}</th>' for name in head)
    body = "".join(f"<tr>{''.join(row)}</tr>" for row in rows)
    table = f"<table>{above}<thead><tr>{top}</tr></thead><tbody>{body}</tbody></table>"
    return f'<div class="sp-table" style="overflow-x:auto" tabindex="0" role="region" aria-label="{name}">{table}</div>'


def paper_tables(claims: pd.DataFrame, link: Callable[[str], str] | None = None) -> str:
    """Return all tables of some verdicts in the paper's own layout, and the legend above them."""
    groups = claims.groupby(["paper", "table"], sort=False)
    return legend(claims["verdict"].unique()) + "".join(paper_table(own, link) for _, own in groups)


def index_page() -> str:
    """Return ``data/paper/index.md``: one row for each printed table and each table with ours."""
    values = printed_values()
    parts = [_INDEX_HEAD]
    for paper, subject in PAPERS.items():
        own = values[values["paper"] == paper]
        parts += [
            f"## Paper {paper}: {subject}",
            "",
            "| printed | values | run | table | notebook |",
            "|---|---:|---|---|---|",
        ]
        groups = own.groupby(["table", "run", "our_table"], sort=False)
        parts += [_index_row(paper, str(key[0]), str(key[1]), str(key[2]), rows) for key, rows in groups]
        parts.append("")
    return "\n".join(parts)


def legend(verdicts: Any = tuple(SIGNS)) -> str:
    """Return a line that explains the signs and colours."""
    style = "color:#1a1a1a;padding:0 .4em;margin-right:.5em;display:inline-block"
    marks = [
        f'<span style="background:{COLOURS[name]};{style}"><b>{sign}</b> {name}</span>'
        for name, sign in SIGNS.items()
        if name in set(verdicts)
    ]
    about = (
        "Each cell: the printed value; below it ours and its interval; in italics its basis and the interval's unit."
    )
    return f"<p>{about} {' '.join(marks)}</p>"


def _claims(claims: pd.DataFrame) -> list[pd.Series]:
    return [claim for _, claim in claims.iterrows()]


def _head(text: str) -> str:
    return f'<th scope="row" style="text-align:left;font-weight:normal;vertical-align:top">{html.escape(text)}</th>'


def _statements(claims: pd.DataFrame, link: Any) -> tuple[list[str], list[list[str]]]:
    rows = [[_head(c["row"]), f"<td>{html.escape(c['column'])}</td>", cell(c, link)] for c in _claims(claims)]
    return ["section", "statement", "printed, ours"], rows


def _halves(claims: pd.DataFrame, link: Any) -> tuple[list[str], list[list[str]]]:
    pairs = [_head(c["row"]) + cell(c, link) for c in _claims(claims)]
    half = (len(pairs) + 1) // 2
    right = [*pairs[half:], *["<td></td><td></td>"] * (2 * half - len(pairs))]
    return ["Attributes", "Entropy"] * 2, [list(row) for row in zip(pairs[:half], right, strict=True)]


def _grid(claims: pd.DataFrame, link: Any) -> tuple[list[str], list[list[str]]]:
    places = {(c["row"], c["column"]): cell(c, link) for c in _claims(claims)}
    columns = list(dict.fromkeys(claims["column"]))
    labels = {row: _row_label(row) for row in dict.fromkeys(claims["row"])}
    width = max(map(len, labels.values()))
    heads = {2: ["data set", "thresholds"], 1: [""]}[width]
    if all("threshold " in row for row in labels):
        heads = ["threshold"]
    rows, above = [], ""
    for row, parts in labels.items():
        shown = [*parts, *[""] * (width - len(parts))]
        first = "" if width == 2 and shown[0] == above else shown[0]
        above = shown[0]
        cells = [places.get((row, column), "<td></td>") for column in columns]
        rows.append([*map(_head, [first, *shown[1:]]), *cells])
    return [*heads, *(_HEADS.get(column, column) for column in columns)], rows


def _row_label(row: str) -> list[str]:
    """Return a row's label as one part, or as data set and thresholds: ``Titanic (α, β)``."""
    if match := re.fullmatch(r".*, threshold (.+)", row):
        return [match[1]]
    match = re.fullmatch(r"([A-Z][\w ]+) (\([^)]*,[^)]*\))", row)
    return [match[1], match[2]] if match else [row]


def _index_row(paper: int, table: str, run: str, ours: str, rows: pd.DataFrame) -> str:
    names = ", or ".join(f"`{name}`" for name in ours.split(" | "))
    notebook = re.split("-", run, maxsplit=1)[0]
    cells = [title(paper, table), str(len(rows)), f"`{run}`", names, f"[{notebook}](../../notebooks/{notebook}.ipynb)"]
    return f"| {' | '.join(cells)} |"
