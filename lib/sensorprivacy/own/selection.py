"""Choose the rows of a table that may be published: labelled ones, of users and classes with several rows."""

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import pandas as pd

from sensorprivacy.checks import require_columns, rows_in_words
from sensorprivacy.columns.coding import missing_cells
from sensorprivacy.columns.labels import FEWEST
from sensorprivacy.own.pieces import Pieces, as_text


@dataclass(eq=False)
class Selection:
    """The rows that may be published, in pieces. Every pass reads the table again, and counts the rows left out.

    Parameters
    ----------
    pieces : Pieces
        The table.
    labels : dict of str to str
        Columns that every row needs a cell in, by role: task, user, groups.
    gaps : tuple of str
        Other columns that every row needs a cell in.
    rare : dict of str to frozenset
        Labels whose rows are left out, by role; see `find_rare`.

    Attributes
    ----------
    columns : list of str
        Names of the columns.
    left_out : list of str
        How many rows the last complete pass left out, and why. No label is named.
    """

    pieces: Pieces
    labels: dict[str, str]
    gaps: tuple[str, ...] = ()
    rare: dict[str, frozenset[str]] = field(default_factory=dict)
    left_out: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.columns = self.pieces.columns
        require_columns(pd.Index(self.columns), list(self.labels.values()), "the table")
        self._pairs: Counter[tuple[str, str]] = Counter()

    def __iter__(self) -> Iterator[pd.DataFrame]:
        """Yield the pieces without the rows left out, with positions in the whole table as index."""
        counts: Counter[str] = Counter()
        pairs: Counter[tuple[str, str]] = Counter()
        some = False
        for piece in self.pieces:
            kept = self.select(piece, counts)
            if {"task", "user"} <= set(self.labels):
                texts = (as_text(kept[self.labels[role]]) for role in ("user", "task"))
                pairs.update(zip(*texts, strict=True))
            if len(kept):
                some = True
                yield kept
        if not some:
            named = ", ".join([*self.labels.values(), *self.gaps][:8])
            raise ValueError(f"the table has no row with a cell in every column of {named}: fill some")
        self.left_out, self._pairs = [_left_out(why, count) for why, count in counts.items()], pairs

    def select(self, piece: pd.DataFrame, counts: "Counter[str] | None" = None) -> pd.DataFrame:
        """Return the rows of a piece that may be published, and count the others."""
        counts = Counter() if counts is None else counts
        for why, missing in self._reasons(piece):
            gone = missing.reindex(piece.index)
            if gone.any():
                counts[why] += int(gone.sum())
                piece = piece[~gone]
        return piece

    def _reasons(self, piece: pd.DataFrame) -> Iterator[tuple[str, pd.Series]]:
        for role, name in self.labels.items():
            yield f"without {role}", piece[name].isna()
        if self.gaps:
            yield "with missing values", missing_cells(piece[list(self.gaps)]).any(axis=1)
        for role, labels in self.rare.items():
            yield f"of a {role} with fewer than {FEWEST} rows", as_text(piece[self.labels[role]]).isin(labels)

    def find_rare(self) -> dict[str, frozenset[str]]:
        """Return users and classes with one row in the last complete pass, also after the others are left out."""
        pairs, found = self._pairs, {"user": frozenset[str](), "task": frozenset[str]()}
        while True:  # without the rows of a rare user, a class can become rare
            more: dict[str, Any] = {}
            for place, role in enumerate(found):
                counts: Counter[str] = Counter()
                for pair, many in pairs.items():
                    counts[pair[place]] += many
                more[role] = frozenset(label for label, many in counts.items() if many < FEWEST)
                pairs = Counter({pair: many for pair, many in pairs.items() if pair[place] not in more[role]})
            if not any(more.values()):
                return {role: labels for role, labels in found.items() if labels}
            found = {role: found[role] | more[role] for role in found}


def _left_out(why: str, count: int) -> str:
    return f"{rows_in_words(count)} {why} left out"
