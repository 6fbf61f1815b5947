"""The ledger of differences between a paper and its numbers, and its index ``DEVIATIONS.md``.

``data/paper/ledger.toml`` holds one ``[[entry]]`` for each difference. An entry states what the paper says, the
evidence, the effect and our choice; whether a test demonstrates it; and which claims it explains. A verdict that
differs quotes its `reason`.
"""

import re
import tomllib
from collections.abc import Iterable
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Annotated, Literal

import pandas as pd
from pydantic import BaseModel, ConfigDict, Field, StringConstraints, model_validator

from compendium.paths import data_dir
from compendium.show import tables
from compendium.show.tables import page as filled

_TEST = re.compile(r"^tests/.+\.py::test_\w+$")
_Text = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1)]


_ID = re.compile(r'^id = "(D\d+)"$', re.MULTILINE)


class Entry(BaseModel):
    """One difference between a paper and its numbers.

    Parameters
    ----------
    id : str
        ``D`` and a number. Numbers are consecutive: first the major entries, then those of each paper.
    paper : int
        1, 2 or 3.
    major : bool
        Whether the entry changes a conclusion of the paper.
    title, says, evidence, effect, choice : str
        The subject; what the paper says; what its numbers depend on, and how we know; what this changes; what the
        compendium does.
    status : {"demonstrated", "conjectured"}
        Demonstrated: a test in `demonstration` fails if it is not so.
    reason : str
        One line for the verdict of a claim that this entry explains.
    demonstration : tuple of str
        Paths in the repository that show it: ``tests/....py::test_name``, or a file.
    explains : tuple of str
        Claim ids that this entry explains if their value differs; ``*`` matches any text. An id without ``*`` takes
        precedence over patterns of other entries.
    bears_on : tuple of str
        Further claim ids that the entry concerns. It explains no difference in them.
    misprints : mapping of str to str
        Misprinted names in the claims of this entry, and the names that are meant.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    id: Annotated[str, Field(pattern=r"^D\d+$")]
    paper: Annotated[int, Field(ge=1, le=3)]
    major: bool = False
    title: _Text
    says: _Text
    evidence: _Text
    effect: _Text
    choice: _Text
    status: Literal["demonstrated", "conjectured"]
    reason: _Text
    demonstration: Annotated[tuple[str, ...], Field(min_length=1)]
    explains: tuple[str, ...] = ()
    bears_on: tuple[str, ...] = ()
    misprints: dict[str, str] = {}

    @model_validator(mode="after")
    def _has_a_test(self) -> "Entry":
        if self.status == "demonstrated" and not any(_TEST.search(place) for place in self.demonstration):
            raise ValueError("a demonstrated entry names a test (tests/....py::test_name), a conjectured one need not")
        return self

    def covers(self, claim_id: str) -> bool:
        """Return whether this entry explains a difference in the claim."""
        return any_matches(self.explains, claim_id)

    def concerns(self, claim_id: str) -> bool:
        """Return whether this entry explains or concerns the claim."""
        return any_matches((*self.explains, *self.bears_on), claim_id)

    def mends(self, claim_id: str, name: str) -> str:
        """Return the name that is meant by a name printed in the claim: the same name, unless it is misprinted."""
        return self.misprints.get(name, name) if self.concerns(claim_id) else name


class _Ledger(BaseModel):
    entry: tuple[Entry, ...]


def entries(path: Path | None = None) -> tuple[Entry, ...]:
    """Return the ledger's entries in the file's order.

    Parameters
    ----------
    path : pathlib.Path, optional
        The file; the default is ``data/paper/ledger.toml`` of the checkout.

    Raises
    ------
    pydantic.ValidationError
        If a field of an entry is missing, empty or unknown, or a demonstrated entry names no test.
    """
    path = data_dir() / "paper" / "ledger.toml" if path is None else Path(path)
    return _Ledger.model_validate(tomllib.loads(path.read_text(encoding="utf-8"))).entry


def explanation(claim_id: str, ledger: Iterable[Entry]) -> str:
    """Return why a claim differs: the reasons of the entries that explain it, or an empty text.

    Entries that name the claim itself take precedence over those that name it by a pattern.
    """
    covering = [entry for entry in ledger if entry.covers(claim_id)]
    exact = [entry for entry in covering if claim_id in entry.explains]
    return "; ".join(f"{entry.id}: {one_line(entry.reason)}" for entry in exact or covering)


def page(verdicts: pd.DataFrame, path: Path | None = None) -> str:
    """Return the text of ``DEVIATIONS.md``: one line for each entry, with a link to the entry in the ledger's file.

    Parameters
    ----------
    verdicts : pandas.DataFrame
        All verdicts: columns ``claim_id``, ``verdict`` and ``reason``. An entry explains those whose reason cites it.
    path : pathlib.Path, optional
        The ledger; the default is ``data/paper/ledger.toml`` of the checkout.
    """
    ledger = entries(path)
    text = (path or data_dir() / "paper" / "ledger.toml").read_text(encoding="utf-8")
    lines = {match[1]: text.count("\n", 0, match.start()) + 1 for match in _ID.finditer(text)}
    table = overview(ledger, verdicts)
    table["entry"] = [f'<a id="{i.lower()}"></a>[{i}](data/paper/ledger.toml#L{lines[i]})' for i in table["entry"]]
    major = sum(entry.major for entry in ledger)
    return filled("deviations.md", major=major, table=tables.markdown_text(table)) + "\n"


def overview(ledger: Iterable[Entry], verdicts: pd.DataFrame) -> pd.DataFrame:
    """Return one row for each entry, with the numbers of values that differ because of it and that it concerns."""
    names = ["entry", "paper", "difference", "status", "explains", "concerns"]
    ids = verdicts["claim_id"]
    rows = []
    for one in ledger:
        numbers = len(explained(one, verdicts)), sum(map(one.concerns, ids))
        rows.append((one.id, one.paper, one_line(one.title), one.status, *numbers))
    return pd.DataFrame(rows, columns=names)


def explained(entry: Entry, verdicts: pd.DataFrame) -> list[str]:
    """Return the claims that differ and whose verdict cites the entry."""
    differ = verdicts[verdicts["verdict"].isin(["differs", "not reproducible"])]
    cites = differ["reason"].str.contains(rf"\b{entry.id}: ", regex=True)
    return differ.loc[cites, "claim_id"].tolist()


def any_matches(patterns: Iterable[str], claim_id: str) -> bool:
    """Return whether one of some patterns matches a claim id."""
    return any(fnmatchcase(claim_id, pattern) for pattern in patterns)


def one_line(text: str) -> str:
    """Return a text without line breaks and repeated spaces."""
    return " ".join(text.split())
