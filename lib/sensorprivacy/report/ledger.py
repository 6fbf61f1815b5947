"""The ledger of differences between a paper and its numbers, and the page ``DEVIATIONS.md`` made from it.

``data/paper/ledger.toml`` holds one ``[[entry]]`` for each difference. An entry states what the paper says, what its
numbers depend on, where this is demonstrated, and which claims it explains. A verdict other than *exact* quotes its
`reason`.
"""

import tomllib
from collections.abc import Iterable
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field, StringConstraints, ValidationError

from sensorprivacy.paths import data_dir

_PAPERS = {
    1: "Data minimization",
    2: "Three-way decisions and differential privacy",
    3: "Variational autoencoder anonymization",
}
_Text = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1)]


class LedgerError(ValueError):
    """The ledger breaks its own rules."""


class Entry(BaseModel):
    """One difference between a paper and its numbers.

    Parameters
    ----------
    id : str
        ``D`` and a number. Numbers are never reused.
    paper : int
        1, 2 or 3.
    title, says, rests_on : str
        The subject, what the paper says, and what its numbers depend on.
    reason : str
        One line for the verdict of a claim that this entry explains.
    demonstration : tuple of str
        Paths in the repository that show it: a notebook, or ``tests/....py::test_name``.
    explains : tuple of str
        Claim ids whose differences this entry explains; ``*`` matches any text.
    bears_on : tuple of str
        Further claim ids that the entry concerns. It explains no difference in them.
    misprints : mapping of str to str
        Misprinted names in the claims of this entry, and the names that are meant.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    id: Annotated[str, Field(pattern=r"^D\d+$")]
    paper: Annotated[int, Field(ge=1, le=3)]
    title: _Text
    says: _Text
    rests_on: _Text
    reason: _Text
    demonstration: Annotated[tuple[str, ...], Field(min_length=1)]
    explains: tuple[str, ...] = ()
    bears_on: tuple[str, ...] = ()
    misprints: dict[str, str] = {}

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
    """Return the ledger's entries in the order of their numbers.

    Parameters
    ----------
    path : pathlib.Path, optional
        The file; the default is ``data/paper/ledger.toml`` of the checkout.

    Raises
    ------
    LedgerError
        If two entries have the same id, an id is not ``D<number>``, or a field is missing, empty or unknown.
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
    return tuple(sorted(found.values(), key=lambda entry: int(entry.id[1:])))


def explanation(claim_id: str, ledger: Iterable[Entry]) -> str:
    """Return why a claim differs: the reasons of all entries that explain it, or an empty text."""
    return "; ".join(f"{entry.id}: {one_line(entry.reason)}" for entry in ledger if entry.covers(claim_id))


def page(ledger: Iterable[Entry], claim_ids: Iterable[str]) -> str:
    """Return the text of ``DEVIATIONS.md``.

    Parameters
    ----------
    ledger : iterable of Entry
        The entries.
    claim_ids : iterable of str
        The ids of all printed values, to count those that each entry explains.
    """
    ledger, ids = tuple(ledger), tuple(claim_ids)
    lines = [
        "# Deviations: where the papers and their numbers differ",
        "",
        "<!-- Written by `python -m sensorprivacy report ledger` from data/paper/ledger.toml: edit that file. -->",
        "",
        "Each entry states what a paper says, what its printed numbers depend on instead, and where this is shown.",
        "Every verdict in `figures/verdicts.csv` and `REPLICATION.md` that is not *exact* quotes the entry behind it.",
        "Where a paper's text and numbers differ, the compendium offers both: *as stated* and *as printed*.",
        "",
    ]
    for paper, name in _PAPERS.items():
        own = [entry for entry in ledger if entry.paper == paper]
        if own:
            lines += [f"## Paper {paper}: {name}", "", *_contents(own, ids), ""]
            for entry in own:
                lines += _section(entry, ids)
    return "\n".join(lines)


def _contents(own: list[Entry], ids: tuple[str, ...]) -> list[str]:
    head = "| entry | difference | differing values it explains | printed values it concerns |"
    lines = [head, "|---|---|---:|---:|"]
    for entry in own:
        explained, concerned = sum(map(entry.covers, ids)) or "-", sum(map(entry.concerns, ids)) or "-"
        title = one_line(entry.title).replace("|", "\\|")
        lines.append(f"| [{entry.id}](#{entry.id.lower()}) | {title} | {explained} | {concerned} |")
    return lines


def _section(entry: Entry, ids: tuple[str, ...]) -> list[str]:
    places = ", ".join(f"[`{place}`]({place.split('::')[0]})" for place in entry.demonstration)
    parts = [
        f'<a id="{entry.id.lower()}"></a>',
        f"### {entry.id}. {one_line(entry.title)}",
        f"**The paper says.** {one_line(entry.says)}",
        f"**Its numbers depend on.** {one_line(entry.rests_on)}",
        f"**Shown by.** {places}",
    ]
    for word, patterns in (("Explains", entry.explains), ("Concerns", entry.bears_on)):
        if patterns:
            number = sum(_any_matches(patterns, name) for name in ids)
            listed = ", ".join(f"`{pattern}`" for pattern in patterns)
            parts.append(f"**{word}** {number} printed value{'s' * (number != 1)}: {listed}")
    if entry.misprints:
        parts.append("**Read as.** " + ", ".join(f"`{old}` as `{new}`" for old, new in entry.misprints.items()))
    return [line for part in parts for line in (part, "")]


def _any_matches(patterns: Iterable[str], claim_id: str) -> bool:
    return any(fnmatchcase(claim_id, pattern) for pattern in patterns)


def one_line(text: str) -> str:
    """Return a text without line breaks and repeated spaces."""
    return " ".join(text.split())
