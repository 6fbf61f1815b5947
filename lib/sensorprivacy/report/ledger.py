"""The ledger of places where a paper and its numbers part, and the page `DEVIATIONS.md` made from it.

``data/paper/ledger.toml`` holds one ``[[entry]]`` a place. An entry says what the paper says, what its numbers rest
on, where that is demonstrated, and which claims it explains; a verdict other than *exact* quotes its `reason`.
"""

import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from pathlib import Path

from sensorprivacy.paths import data_dir

_PAPERS = {
    1: "Data minimization",
    2: "Three-way decisions and differential privacy",
    3: "Variational autoencoder anonymization",
}
_TEXTS = ("id", "title", "says", "rests_on", "reason")


class LedgerError(ValueError):
    """The ledger breaks its own rules."""


@dataclass(frozen=True)
class Entry:
    """One place where a paper and its numbers part.

    Parameters
    ----------
    id : str
        ``D`` and a number; numbers are never reused.
    paper : int
        1, 2 or 3.
    title, says, rests_on : str
        What the place is, what the paper says, what its numbers rest on.
    reason : str
        One line for the verdict of a claim that this entry explains.
    demonstration : tuple of str
        Paths that show it, from the checkout: a notebook, or ``tests/....py::test_name``.
    explains : tuple of str
        Claim ids, ``*`` allowed, whose differences this entry explains.
    bears_on : tuple of str
        Claim ids, ``*`` allowed, that it concerns although they come out; explains no difference.
    misprints : mapping of str to str
        Names misprinted in the claims that it explains or bears on, and what is meant.
    """

    id: str
    paper: int
    title: str
    says: str
    rests_on: str
    reason: str
    demonstration: tuple[str, ...]
    explains: tuple[str, ...] = ()
    bears_on: tuple[str, ...] = ()
    misprints: Mapping[str, str] = field(default_factory=dict)

    def covers(self, claim_id: str) -> bool:
        """Return whether this entry explains a difference in the claim."""
        return any(fnmatchcase(claim_id, pattern) for pattern in self.explains)

    def concerns(self, claim_id: str) -> bool:
        """Return whether this entry explains or bears on the claim."""
        return any(fnmatchcase(claim_id, pattern) for pattern in (*self.explains, *self.bears_on))

    def mends(self, claim_id: str, name: str) -> str:
        """Return what is meant by a name printed in the claim: the name itself, unless it is a known misprint."""
        return self.misprints.get(name, name) if self.concerns(claim_id) else name

    @property
    def number(self) -> int:
        """The number in the entry's id."""
        return int(self.id[1:])


def entries(path: Path | None = None) -> tuple[Entry, ...]:
    """Return the ledger's entries in the order of their numbers.

    Parameters
    ----------
    path : pathlib.Path, optional
        The file; ``data/paper/ledger.toml`` of the checkout when left out.

    Raises
    ------
    LedgerError
        If an id is given twice or is not ``D<number>``, or a field is missing, empty or unknown.
    """
    path = data_dir() / "paper" / "ledger.toml" if path is None else Path(path)
    with path.open("rb") as file:
        raw = tomllib.load(file).get("entry", [])
    found = [_entry(fields) for fields in raw]
    ids = [entry.id for entry in found]
    if twice := sorted({name for name in ids if ids.count(name) > 1}):
        raise LedgerError(f"{path.name}: ids given twice: {', '.join(twice)}")
    return tuple(sorted(found, key=lambda entry: entry.number))


def explanation(claim_id: str, ledger: Iterable[Entry]) -> str:
    """Return why a claim differs, quoting every entry that covers it; empty if none does."""
    return "; ".join(f"{entry.id}: {entry.reason}" for entry in ledger if entry.covers(claim_id))


def page(ledger: Iterable[Entry], claim_ids: Iterable[str]) -> str:
    """Return the text of ``DEVIATIONS.md``.

    Parameters
    ----------
    ledger : iterable of Entry
        The entries.
    claim_ids : iterable of str
        Every printed claim, to count what an entry explains.
    """
    ledger, ids = tuple(ledger), tuple(claim_ids)
    lines = [
        "# Deviations: where the papers and their numbers part",
        "",
        "<!-- Written by `python -m sensorprivacy report ledger` from data/paper/ledger.toml: edit that file. -->",
        "",
        "Each entry says what a paper says, what its printed numbers rest on instead, and where this is shown.",
        "A verdict in `figures/verdicts.csv` and `REPLICATION.md` that is not *exact* quotes the entry behind it.",
        "Where the two part, the compendium gives both columns, *as stated* and *as printed*.",
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
    rows = []
    for entry in own:
        explained, concerned = sum(map(entry.covers, ids)), sum(map(entry.concerns, ids))
        rows.append(
            f"| [{entry.id}](#{entry.id.lower()}) | {_cell(entry.title)} | {explained or '-'} | {concerned or '-'} |"
        )
    return [
        "| entry | what parts | differences it explains | printed values it concerns |",
        "|---|---|---:|---:|",
        *rows,
    ]


def _section(entry: Entry, ids: tuple[str, ...]) -> list[str]:
    lines = [f'<a id="{entry.id.lower()}"></a>', "", f"### {entry.id}. {entry.title}", ""]
    lines += [f"**The paper says.** {_flow(entry.says)}", "", f"**Its numbers rest on.** {_flow(entry.rests_on)}", ""]
    lines += ["**Shown by.** " + ", ".join(_link(place) for place in entry.demonstration), ""]
    for word, patterns in (("Explains", entry.explains), ("Bears on", entry.bears_on)):
        if patterns:
            number = sum(any(fnmatchcase(name, pattern) for pattern in patterns) for name in ids)
            listed = ", ".join(f"`{pattern}`" for pattern in patterns)
            lines += [f"**{word}** {number} printed value{'s' * (number != 1)}: {listed}", ""]
    if entry.misprints:
        lines += ["**Read as.** " + ", ".join(f"`{old}` as `{new}`" for old, new in entry.misprints.items()), ""]
    return lines


def _link(place: str) -> str:
    return f"[`{place}`]({place.split('::')[0]})"


def _flow(text: str) -> str:
    return " ".join(text.split())


def _cell(text: str) -> str:
    return _flow(text).replace("|", "\\|")


def _entry(fields: dict) -> Entry:
    name = fields.get("id", "without id")
    known = set(Entry.__dataclass_fields__)
    if unknown := sorted(set(fields) - known):
        raise LedgerError(f"entry {name}: unknown fields {', '.join(unknown)}; known are {', '.join(sorted(known))}")
    for text in _TEXTS:
        if not str(fields.get(text, "")).strip():
            raise LedgerError(f"entry {name}: {text} is missing or empty")
    if not (name.startswith("D") and name[1:].isdigit()):
        raise LedgerError(f"entry {name}: an id is D and a number")
    if fields.get("paper") not in _PAPERS:
        raise LedgerError(f"entry {name}: paper {fields.get('paper')!r} is none of 1, 2, 3")
    if not fields.get("demonstration"):
        raise LedgerError(f"entry {name}: nothing demonstrates it; name a test or a notebook")
    lists = {key: tuple(fields.get(key, ())) for key in ("demonstration", "explains", "bears_on")}
    return Entry(**{**fields, **lists, "reason": _flow(fields["reason"]), "title": _flow(fields["title"])})
