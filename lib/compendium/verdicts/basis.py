"""What each verdict is based on: recomputed rows, published logs, arithmetic, a configuration, or a tested statement.

``data/paper/basis.toml`` gives the basis of every printed value. Equal sizes and sums of printed numbers are easy to
reach, so headlines count the bases of `HEADLINE` only.
"""

import tomllib
from collections.abc import Mapping
from fnmatch import fnmatchcase
from functools import cache
from pathlib import Path
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field

from compendium.paths import data_dir

Name = Literal["rows", "log", "text", "arithmetic", "configuration"]
BASES: tuple[Name, ...] = ("rows", "log", "text", "arithmetic", "configuration")
HEADLINE: tuple[Name, ...] = ("rows", "log", "text")
"""The bases that compare the paper with something other than itself."""


class BasisError(ValueError):
    """A printed value has no basis or more than one, or a run names a basis that does not fit."""


class Basis(BaseModel):
    """The basis of some printed values, one ``[[basis]]`` of the file; its head explains each key."""

    model_config = ConfigDict(extra="forbid", frozen=True, populate_by_name=True)

    name: Name
    claims: Annotated[tuple[str, ...], Field(min_length=1)]
    others: tuple[Name, ...] = Field((), alias="or")
    varied: tuple[str, ...] = ()

    def covers(self, claim_id: str) -> bool:
        """Return whether a printed value belongs to this entry."""
        return any(fnmatchcase(claim_id, pattern) for pattern in self.claims)


def bases(path: Path | None = None) -> tuple[Basis, ...]:
    """Return the entries of ``data/paper/basis.toml`` or of another file."""
    path = data_dir() / "paper" / "basis.toml" if path is None else Path(path)
    return _load(path, path.stat().st_mtime_ns)


def entry_of(claim_id: str) -> Basis:
    """Return the only entry that covers a printed value.

    Raises
    ------
    BasisError
        If no entry covers it, or more than one.

    Examples
    --------
    >>> entry_of("1-T4-thr0-effectiveness").name
    'arithmetic'
    """
    found = [entry for entry in bases() if entry.covers(claim_id)]
    if len(found) != 1:
        names = ", ".join(entry.name for entry in found) or "none"
        raise BasisError(f"{claim_id}: exactly one entry of basis.toml must cover it, found {names}")
    return found[0]


def basis_of(claim_id: str, named: Mapping[str, str] | None = None) -> str:
    """Return the basis of a verdict: the one that the run names for the claim, or else that of the file.

    Raises
    ------
    BasisError
        If the file does not allow the named basis for the claim.
    """
    entry = entry_of(claim_id)
    chosen = (named or {}).get(claim_id, entry.name)
    allowed = (entry.name, *entry.others)
    if chosen not in allowed:
        raise BasisError(f"{claim_id}: basis {chosen!r}, but basis.toml allows {' or '.join(allowed)}")
    return chosen


@cache
def _load(path: Path, _stamp: int) -> tuple[Basis, ...]:
    return tuple(Basis(**fields) for fields in tomllib.loads(path.read_text(encoding="utf-8"))["basis"])
