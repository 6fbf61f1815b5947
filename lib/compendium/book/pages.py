"""Fill the templates of pages, with numbers quoted from committed tables, and write pages.

A template never holds a number of a result: ``{{ numbers.share("RUN/TABLE", "COLUMN", KEY="ROW") }}`` reads it from
``figures/RUN/TABLE.csv``. The first page of the book and README.md state the same findings, from one template.
"""

import contextlib
import re
import shutil
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import jinja2
import pandas as pd

from compendium.paths import VERDICTS_FILE, figures_dir
from compendium.verdicts.quotes import cell, row_in
from compendium.verdicts.verdicts import read_verdicts
from compendium.verdicts.words import BASES, HEADLINE, VERDICTS

MARK = ".made-by-sensorprivacy"
_PLACE = re.compile(r"(<!-- findings[^>]*-->\n).*?(<!-- end of findings -->)", re.DOTALL)


class BookError(RuntimeError):
    """The book could not be built."""


def write(path: Path, text: str) -> Path:
    """Write a text file, with its folders, and return its path."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8", newline="\n")
    return path


def empty(folder: Path) -> Path:
    """Make an empty folder in place of one that an earlier build made, and return its path.

    Raises
    ------
    BookError
        If the folder has files, and no earlier build made it.
    """
    if folder.is_dir() and any(folder.iterdir()) and not (folder / MARK).is_file():
        raise BookError(f"{folder} has files that no earlier build made; choose another folder with --out")
    shutil.rmtree(folder, ignore_errors=True)
    write(folder / MARK, "Made by `compendium book`, which empties this folder before each build.\n")
    return folder


class Numbers:
    """Numbers of committed results, in the words of a page.

    Parameters
    ----------
    verdicts : pandas.DataFrame
        ``figures/verdicts.csv``.
    intervals : bool
        Whether an interval follows a share whose table says what the interval counts.
    """

    def __init__(self, verdicts: pd.DataFrame, *, intervals: bool = True) -> None:
        self._verdicts, self._intervals = verdicts, intervals

    def cell(self, table: str, column: str, **where: str) -> Any:
        """Return a cell of a committed table: its column, in the only row with the given values."""
        return _plain(cell(table, _selector(where), column))

    def share(self, table: str, column: str, **where: str) -> str:
        """Return a share in whole percents."""
        row = {name: _plain(text) for name, text in row_in(table, _selector(where)).items()}
        text = f"{100 * row[column]:.0f} %"
        low, high, n, unit = (row.get(f"{column}_{name}", row.get(name, "")) for name in ("low", "high", "n", "unit"))
        counted = f"{n:,.0f} {unit}" if n and isinstance(unit, str) and unit else ""
        counted = n.removeprefix("n = ") if isinstance(n, str) else counted
        if not (self._intervals and counted):
            return text
        return f"{text} (95 % interval {100 * low:.0f} to {100 * high:.0f}, {counted})"

    def claim(self, claim_id: str, column: str) -> Any:
        """Return a column of the verdict on one printed value."""
        return self._verdicts.set_index("claim_id").loc[claim_id, column]

    def tally(self, paper: int | None = None, tables: Iterable[str] = (), bases: Iterable[str] = BASES) -> pd.Series:
        """Return the number of each verdict, and of all (``all``), among some printed values."""
        own = self._verdicts[self._verdicts["basis"].isin(list(bases))]
        own = own if paper is None else own[(own["paper"] == paper) & own["table"].isin(list(tables))]
        counts = own["verdict"].value_counts().reindex(list(VERDICTS), fill_value=0)
        return pd.concat([counts, pd.Series({"all": len(own)})])


def _selector(where: dict[str, str]) -> str:
    return "; ".join(f"{name}={value}" for name, value in where.items())


def _plain(text: str) -> Any:
    """Return the number that a cell holds, or its text."""
    for number in (int, float):
        with contextlib.suppress(ValueError):
            return number(text)
    return text


def templates(*folders: Path) -> jinja2.Environment:
    """Return the environment of the templates in the given folders and in ``templates/`` beside this module."""
    loader = jinja2.FileSystemLoader([*folders, Path(__file__).with_name("templates")])
    return jinja2.Environment(
        loader=loader,
        autoescape=jinja2.select_autoescape(),  # of HTML; pages in Markdown are trusted
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        keep_trailing_newline=True,
    )


def findings(verdicts: pd.DataFrame, *, book: bool) -> str:
    """Return the five findings in Markdown: one sentence each, and in the book with intervals and what follows."""
    numbers = Numbers(verdicts, intervals=book)
    return templates().get_template("findings.md").render(numbers=numbers, book=book, headline=HEADLINE).strip()


def readme(text: str) -> str:
    """Return the text of ``README.md`` with the findings of the committed results between its two marks."""
    found = findings(read_verdicts(figures_dir("paper") / VERDICTS_FILE), book=False)
    return _PLACE.sub(lambda match: f"{match[1]}{found}\n{match[2]}", text)
