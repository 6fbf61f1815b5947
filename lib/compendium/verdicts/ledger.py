"""The ledger of differences between a paper and its numbers, and the page ``DEVIATIONS.md`` made from it.

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
from pydantic import BaseModel, ConfigDict, Field, StringConstraints, ValidationError, model_validator

from compendium.paths import data_dir
from compendium.verdicts.words import PAPERS

_TEST = re.compile(r"^tests/.+\.py::test_\w+$")
_Text = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1)]


class LedgerError(ValueError):
    """The ledger breaks its own rules."""


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
        return _any_matches(self.explains, claim_id)

    def concerns(self, claim_id: str) -> bool:
        """Return whether this entry explains or concerns the claim."""
        return _any_matches((*self.explains, *self.bears_on), claim_id)

    def mends(self, claim_id: str, name: str) -> str:
        """Return the name that is meant by a name printed in the claim: the same name, unless it is misprinted."""
        return self.misprints.get(name, name) if self.concerns(claim_id) else name


def entries(path: Path | None = None) -> tuple[Entry, ...]:
    """Return the ledger's entries in the file's order.

    Parameters
    ----------
    path : pathlib.Path, optional
        The file; the default is ``data/paper/ledger.toml`` of the checkout.

    Raises
    ------
    LedgerError
        If ids are not D1, D2, ... in the file's order, a major entry comes after another one, a field is missing, empty
        or unknown, or a demonstrated entry names no test.
    """
    path = data_dir() / "paper" / "ledger.toml" if path is None else Path(path)
    found: dict[str, Entry] = {}
    for fields in tomllib.loads(path.read_text(encoding="utf-8")).get("entry", []):
        name = fields.get("id", "without id")
        try:
            entry = Entry(**fields)
        except ValidationError as error:
            faults = "; ".join(f"{'.'.join(map(str, fault['loc']))}: {fault['msg']}" for fault in error.errors())
            raise LedgerError(f"{path.name}, entry {name}: {faults}") from error
        if found.setdefault(name, entry) is not entry:
            raise LedgerError(f"{path.name}: two entries have the id {name}; give one of them a new number")
    _check_order(list(found.values()), path)
    return tuple(found.values())


def _check_order(found: list[Entry], path: Path) -> None:
    for number, entry in enumerate(found, start=1):
        if entry.id != f"D{number}":
            raise LedgerError(f"{path.name}: entry {number} has the id {entry.id}; number the entries consecutively")
    if (kinds := [entry.major for entry in found]) != sorted(kinds, reverse=True):
        raise LedgerError(f"{path.name}: a major entry comes after another one; put the major entries first")


def explanation(claim_id: str, ledger: Iterable[Entry]) -> str:
    """Return why a claim differs: the reasons of the entries that explain it, or an empty text.

    Entries that name the claim itself take precedence over those that name it by a pattern.
    """
    covering = [entry for entry in ledger if entry.covers(claim_id)]
    exact = [entry for entry in covering if claim_id in entry.explains]
    return "; ".join(f"{entry.id}: {one_line(entry.reason)}" for entry in exact or covering)


def page(ledger: Iterable[Entry], verdicts: pd.DataFrame) -> str:
    """Return the text of ``DEVIATIONS.md``.

    Parameters
    ----------
    ledger : iterable of Entry
        The entries.
    verdicts : pandas.DataFrame
        All verdicts: columns ``claim_id``, ``verdict`` and ``reason``. An entry explains those whose reason cites it.
    """
    ledger = tuple(ledger)
    major = [entry for entry in ledger if entry.major]
    lines = [
        "# Deviations: where the papers and their numbers differ",
        "",
        "<!-- Written by `python -m compendium report ledger` from data/paper/ledger.toml: edit that file. -->",
        "",
        f"The first {len(major)} entries change a conclusion of a paper. *Demonstrated*: the named test fails if the",
        "entry is wrong. *Conjectured*: the difference is there, but its cause is a guess. Every verdict *differs* or",
        "*not reproducible* in `figures/verdicts.csv` quotes the entry behind it. The tables count these values, and",
        "all printed values that an entry concerns.",
        "",
    ]
    groups = {"Changed conclusions": major} | {
        f"Paper {paper}: {name}": [entry for entry in ledger if entry.paper == paper and not entry.major]
        for paper, name in PAPERS.items()
    }
    for title, own in groups.items():
        if own:
            lines += [f"## {title}", "", *_contents(own, verdicts), ""]
            for entry in own:
                lines += _section(entry)
    return "\n".join(lines)


def explained(entry: Entry, verdicts: pd.DataFrame) -> list[str]:
    """Return the claims that differ and whose verdict cites the entry."""
    differ = verdicts[verdicts["verdict"].isin(["differs", "not reproducible"])]
    cites = differ["reason"].str.contains(rf"\b{entry.id}: ", regex=True)
    return differ.loc[cites, "claim_id"].tolist()


def _contents(own: list[Entry], verdicts: pd.DataFrame) -> list[str]:
    lines = ["| entry | paper | difference | status | explains | concerns |", "|---|---:|---|---|---:|---:|"]
    for entry in own:
        numbers = [len(explained(entry, verdicts)), sum(map(entry.concerns, verdicts["claim_id"]))]
        title = one_line(entry.title).replace("|", "\\|")
        cells = [f"[{entry.id}](#{entry.id.lower()})", str(entry.paper), title, entry.status]
        lines.append(f"| {' | '.join([*cells, *(str(number or '-') for number in numbers)])} |")
    return lines


def _section(entry: Entry) -> list[str]:
    places = ", ".join(f"[`{place}`]({place.split('::')[0]})" for place in entry.demonstration)
    parts = [
        f'<a id="{entry.id.lower()}"></a>',
        f"### {entry.id}. {one_line(entry.title)}",
        f"**Paper {entry.paper} says.** {one_line(entry.says)}",
        f"**Evidence.** {one_line(entry.evidence)}",
        f"**Effect.** {one_line(entry.effect)}",
        f"**Our choice.** {one_line(entry.choice)}",
        f"**{entry.status.capitalize()}** by {places}.",
    ]
    if entry.status == "conjectured":
        parts[-1] = f"**Conjectured.** See {places}."
    if entry.misprints:
        parts.append("**Read as.** " + ", ".join(f"`{old}` as `{new}`" for old, new in entry.misprints.items()))
    return [line for part in parts for line in (part, "")]


def _any_matches(patterns: Iterable[str], claim_id: str) -> bool:
    return any(fnmatchcase(claim_id, pattern) for pattern in patterns)


def one_line(text: str) -> str:
    """Return a text without line breaks and repeated spaces."""
    return " ".join(text.split())
