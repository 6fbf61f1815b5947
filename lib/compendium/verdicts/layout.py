"""Printed tables in the papers' own layout, with our value below each printed one, and the index of all of them.

Each value has the colour and the sign of its verdict, and its basis. The colours are inside the HTML, so that
JupyterLab and the book show the same.
"""

import re
from collections.abc import Callable
from functools import cache
from itertools import zip_longest
from typing import Any

import pandas as pd

from compendium.paths import data_dir
from compendium.show.tables import number_text, page
from compendium.verdicts.printed import printed_values
from compendium.verdicts.words import COLOURS, PAPERS, SIGNS

_HEADS = {
    "sota-accuracy": "All features: accuracy",
    "sota-identifiability": "All features: identifiability",
    "effectiveness": "relative effectiveness",
    "features": "number of features",
}
_SIDE_BY_SIDE = {"2-2", "2-7", "2-8"}  # two halves beside each other, as printed
_Cell = dict[str, str]
_EMPTY = {"text": ""}


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
    number, printed = pd.to_numeric(claim.ours, errors="coerce"), claim.printed.strip()
    if pd.isna(number) or not re.match(r"-?\d|[a-z]+$", printed):  # such as 57.68%, 2/20 or three
        return str(claim.ours)
    percent = printed.endswith("%")
    decimals = len(printed.rstrip("%").partition(".")[2])

    def text(value: float) -> str:
        if percent:
            return f"{100 * value:.{max(decimals, 1)}f}"
        return number_text(value, 10) if float(value).is_integer() else f"{value:.{decimals + 1}f}"

    low, high = (pd.to_numeric(claim.get(name), errors="coerce") for name in ("low", "high"))
    interval = "" if pd.isna(low) or pd.isna(high) else f" [{text(low)}, {text(high)}]"
    return f"{text(number)}{'%' if percent else ''}{interval}"


def _cell(claim: Any, link: Callable[[str], str] | None) -> _Cell:
    """Return one printed value for the template: the printed value, ours, the verdict's sign and the basis."""
    unit = claim.get("unit")
    basis = f"{claim.basis}, {unit}" if isinstance(unit, str) and unit else claim.basis
    about = f"{claim.verdict}, basis: {basis}" + (f". {claim.reason}" if claim.reason else "")
    looks = {"sign": SIGNS[claim.verdict], "colour": COLOURS[claim.verdict]}
    words = {"printed": claim.printed, "ours": ours_text(claim) or "none", "verdict": claim.verdict}
    return words | looks | {"basis": basis, "about": about, "link": link(claim.claim_id) if link else ""}


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
    places = [(claim["row"], claim["column"], _cell(claim, link)) for _, claim in claims.iterrows()]
    head, rows = _grid(places)
    if first["table"] == "text":
        head = ["section", "statement", "printed, ours"]
        rows = [[row, {"text": column}, cell] for row, column, cell in places]
    elif f"{first['paper']}-{first['table']}" in _SIDE_BY_SIDE:
        head, half = ["Attributes", "Entropy"] * 2, (len(places) + 1) // 2
        pairs = [[row, cell] for row, _, cell in places]
        rows = [left + right for left, right in zip_longest(pairs[:half], pairs[half:], fillvalue=[_EMPTY, _EMPTY])]
    elif f"{first['paper']}-{first['table']}" == "2-14":
        head, rows = ["data set", "group", "division"], [list(place) for place in places]
    name = title(first["paper"], first["table"])
    return page("paper_table.html", name=name, caption=caption, head=head, rows=rows)


def paper_tables(claims: pd.DataFrame, link: Callable[[str], str] | None = None) -> str:
    """Return all tables of some verdicts in the paper's own layout, and the legend above them."""
    groups = claims.groupby(["paper", "table"], sort=False)
    return legend(claims["verdict"].unique()) + "".join(paper_table(own, link) for _, own in groups)


def index_page() -> str:
    """Return ``data/paper/index.md``: one row for each printed table and each table with ours."""
    rows: dict[int, list[list[str]]] = {paper: [] for paper in PAPERS}
    groups: Any = printed_values().groupby(["paper", "table", "run", "our_table"], sort=False)
    for (paper, table, run, ours), own in groups:
        names, notebook = ", or ".join(f"`{name}`" for name in ours.split(" | ")), run.partition("-")[0]
        link = f"[{notebook}](../../notebooks/{notebook}.ipynb)"
        rows[paper].append([title(paper, table), str(len(own)), f"`{run}`", names, link])
    return page("index.md", papers=PAPERS, rows=rows) + "\n"


def legend(verdicts: Any = tuple(SIGNS)) -> str:
    """Return a line that explains the signs and colours."""
    shown = {name: sign for name, sign in SIGNS.items() if name in set(verdicts)}
    return page("legend.html", signs=shown, colours=COLOURS)


def _grid(places: list[Any]) -> tuple[list[str], list[list[Any]]]:
    """Return the head and the rows of a table whose rows and columns are as printed."""
    cells = {(row, column): cell for row, column, cell in places}
    columns = list(dict.fromkeys(column for _, column, _ in places))
    labels = {row: _row_label(row) for row, _, _ in places}
    width = max(map(len, labels.values()))
    heads = ["threshold" if all("threshold " in row for row in labels) else ""]
    heads = ["data set", "thresholds"] if width == 2 else heads
    rows, above = list[list[Any]](), ""
    for row, (first, *rest) in labels.items():
        label = ["" if width == 2 and first == above else first, *rest, *[""] * (width - 1 - len(rest))]
        rows.append([*label, *(cells.get((row, column), _EMPTY) for column in columns)])
        above = first
    return [*heads, *(_HEADS.get(column, column) for column in columns)], rows


def _row_label(row: str) -> list[str]:
    """Return a row's label as one part, or as data set and thresholds: ``Titanic (α, β)``."""
    if match := re.fullmatch(r".*, threshold (.+)", row):
        return [match[1]]
    match = re.fullmatch(r"([A-Z][\w ]+) (\([^)]*,[^)]*\))", row)
    return [match[1], match[2]] if match else [row]
