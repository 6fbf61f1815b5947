"""Make an executed notebook fit to read: no warnings, tables that fit the page, verdicts in the papers' layout.

Notebooks that ran under an older version of the library are brought to the present form.
"""

import copy
from collections.abc import Callable
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import nbformat
import pandas as pd
from docutils.nodes import make_id

from compendium.show.readable import html_table, readable
from compendium.verdicts.layout import paper_tables
from compendium.verdicts.printed import printed_values
from compendium.verdicts.words import SIGNS

PROFILES = ("paper", "quick")  # the profile that is preferred first
_JUDGED = "printed values: "
_SCROLLS = 'style="overflow-x:auto" tabindex="0" role="region" aria-label="table"'
_OLD_SIGNS = ("= ", "~ ", "x ", "? ", "- ", "! ")


def find(run: str, folder: Path) -> tuple[Path, str] | None:
    """Return the executed notebook of a run and its profile, the paper profile if it is there; None if neither is.

    Parameters
    ----------
    run : str
        Name of the run.
    folder : pathlib.Path
        The folder ``build/executed``.
    """
    for profile in PROFILES:
        path = folder / profile / f"{run}.ipynb"
        if path.is_file():
            return path, profile
    return None


def cleaned(notebook: Any, link: Callable[[str], str] | None = None) -> Any:
    """Return a copy of an executed notebook in which every output is fit to read.

    Parameters
    ----------
    notebook : nbformat.NotebookNode
        The executed notebook.
    link : callable, optional
        Takes a claim id and returns the address of its explanation.
    """
    made = copy.deepcopy(notebook)
    for cell in made.cells:
        if cell.cell_type != "code":
            continue
        cell.outputs = [each for each in cell.outputs if each.get("name") != "stderr"]
        for output in cell.outputs:
            page = output.get("data", {}).get("text/html", "")
            if page.startswith("<table>"):
                output["data"]["text/html"] = _modern(page, link)
            elif "<table" in page and "sp-table" not in page:  # a data frame of pandas
                output["data"]["text/html"] = f'<div class="sp-table" {_SCROLLS}>{page}</div>'
    made.metadata.pop("widgets", None)
    return made


def section_of_verdicts(notebook: Any) -> str:
    """Return the anchor of the section whose output compares values with the printed ones; empty if there is none."""
    anchor = ""
    for cell in notebook.cells:
        if cell.cell_type == "markdown":
            heads = [line.lstrip("# ") for line in cell.source.splitlines() if line.startswith("#")]
            anchor = make_id(heads[-1]) if heads else anchor
        elif any(_JUDGED in output.get("data", {}).get("text/html", "") for output in cell.outputs):
            return anchor
    return ""


def title_of(notebook: Any) -> str:
    """Return the first heading of a notebook."""
    texts = (cell.source for cell in notebook.cells if cell.cell_type == "markdown")
    return next((line.lstrip("# ") for text in texts for line in text.splitlines() if line.startswith("# ")), "")


def read(path: Path) -> Any:
    """Return a notebook from its file."""
    return nbformat.read(path, as_version=4)


class _Table(HTMLParser):
    """The caption, the head and the rows of a table, and which columns are numeric."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.caption, self.head, self.rows, self.numeric = "", [], [], []  # type: tuple[str, list, list, list]
        self._text: list[str] = []
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self._text = []
        if tag == "tr":
            self.rows.append([])
        if tag == "th":
            self.numeric.append("right" in str(dict(attrs).get("style")))

    def handle_data(self, data: str) -> None:
        self._text.append(data)

    def handle_endtag(self, tag: str) -> None:
        text = "".join(self._text)
        if tag == "b":
            self.caption = text
        elif tag == "th":
            self.head.append(text)
        elif tag == "td":
            self.rows[-1].append(text)

    def frame(self) -> pd.DataFrame:
        """Return the table as a data frame; columns that were aligned right hold numbers."""
        frame = pd.DataFrame([row for row in self.rows if row], columns=self.head, dtype=str)
        for name, number in zip(self.head, self.numeric, strict=True):
            if number:
                frame[name] = pd.to_numeric(frame[name], errors="coerce")
        return frame


def _modern(page: str, link: Callable[[str], str] | None) -> str:
    """Return a table of an older version in the present form."""
    table = _Table(page)
    if len(set(table.head)) < len(table.head):
        return page
    frame = table.frame()
    if {"printed", "ours", "verdict", "basis", "reason"} <= set(frame.columns) and _JUDGED in table.caption:
        judged = _identified(frame)
        if judged is not None:
            return f"<p><b>{table.caption}</b></p>{paper_tables(judged, link)}"
    return html_table(readable(frame), table.caption)


def _identified(frame: pd.DataFrame) -> pd.DataFrame | None:
    """Return verdicts with the paper and the claim id of each; None if they are not unique."""
    keys = ["table", "row", "column", "printed"]
    known = printed_values()[["claim_id", "paper", *keys]]
    own = frame.astype(dict.fromkeys(keys, str))
    papers = [paper for paper, values in known.groupby("paper") if len(own.merge(values, on=keys)) == len(own)]
    if len(papers) != 1:
        return None
    own = own.merge(known[known["paper"] == papers[0]], on=keys)
    own["verdict"] = [text[2:] if text.startswith(_OLD_SIGNS) else text for text in own["verdict"]]
    return own if own["verdict"].isin(list(SIGNS)).all() else None
