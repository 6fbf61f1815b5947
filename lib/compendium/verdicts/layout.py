"""Printed tables in the papers' own layout, with our value below each printed one.

Each value has the colour and the sign of its verdict, and its basis. The colours are inside the HTML, so that
JupyterLab and the book show the same.
"""

import html
import re
from collections.abc import Callable
from typing import Any

import pandas as pd

from compendium.show.tables import number_text
from compendium.verdicts.printed import number_in
from compendium.verdicts.words import COLOURS, SIGNS

TITLES = {
    "1-1": "Data sets used in the experiments",
    "1-2": "State-of-the-art and two-stage data minimization",
    "1-3": "Top three methods for each data set",
    "1-4": "IoT-23 (9 features)",
    "1-5": "IoT Sentinel",
    "1-6": "CIC-IDS 2017",
    "1-7": "Opportunity (10 features)",
    "1-8": "Opportunity (7 features)",
    "1-9": "Opportunity (5 features)",
    "1-10": "Device identification (NetML)",
    "1-11": "Device identification (nPrint)",
    "1-12": "Service recognition (nPrint)",
    "2-2": "Entropy of the attributes of the sample",
    "2-3": "Utility, stability and suitability under different thresholds",
    "2-4": "Description of the data sets",
    "2-5": "Sample records of motion, light, pressure and contact sensors",
    "2-6": "Sensors, monitored objects and locations",
    "2-7": "Entropy of the attributes of Titanic",
    "2-8": "Entropy of the attributes of Adult",
    "2-9": "Attributes in three groups: Titanic",
    "2-10": "Attributes in three groups: Adult",
    "2-11": "Attributes in three groups: Bank Marketing",
    "2-12": "Attributes in three groups: Heart Disease",
    "2-13": "Attributes in three groups: Student Performance",
    "2-14": "Division of the attributes with the determined thresholds",
    "2-15": "The determined thresholds and the extreme thresholds",
    "3-1": "Activity and gender recognition on anonymized MotionSense",
    "3-2": "Activity and gender recognition on MobiAct, gender anonymization",
    "3-3": "Activity and weight recognition on MobiAct, weight anonymization",
    "3-4": "Execution times of gender anonymization on MotionSense",
    "3-5": "Execution times of gender anonymization on MobiAct",
    "3-6": "Execution times of weight anonymization on MobiAct",
    "3-7": "Execution times of model-based gender anonymization on MotionSense",
}
_HEADS = {
    "sota-accuracy": "All features: accuracy",
    "sota-identifiability": "All features: identifiability",
    "effectiveness": "relative effectiveness",
    "features": "number of features",
}
_SIDE_BY_SIDE = {"2-2", "2-7", "2-8"}  # two halves beside each other, as printed


def title(paper: object, table: str) -> str:
    """Return a printed table's number and title, such as ``Table 4: IoT-23 (9 features)``."""
    return "Statements in the text" if table == "text" else f"Table {table}: {TITLES[f'{paper}-{table}']}"


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
