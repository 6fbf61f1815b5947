"""Scores of searched subsets in one SQLite file: written in batches, safe to kill, shared by processes."""

import sqlite3
import time
from collections.abc import Iterable, Mapping
from contextlib import contextmanager
from dataclasses import astuple, dataclass
from pathlib import Path
from types import TracebackType
from typing import Any

from sensorprivacy.minimize.engines import Subset

VERSION = 1
_PATIENCE = 60.0
_SCHEMA = (
    "CREATE TABLE IF NOT EXISTS meta (key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID",
    """CREATE TABLE IF NOT EXISTS runs (
        id INTEGER PRIMARY KEY, problem TEXT NOT NULL, engine TEXT NOT NULL, model TEXT NOT NULL,
        split TEXT NOT NULL, part TEXT NOT NULL, seed TEXT NOT NULL,
        UNIQUE (problem, engine, model, split, part, seed))""",
    """CREATE TABLE IF NOT EXISTS scores (
        run INTEGER NOT NULL REFERENCES runs (id), label TEXT NOT NULL, subset TEXT NOT NULL, accuracy REAL NOT NULL,
        PRIMARY KEY (run, label, subset)) WITHOUT ROWID""",
)


class StoreError(ValueError):
    """A file cannot serve as the store of this search."""


@dataclass(frozen=True)
class RunKey:
    """What the scores of a search depend on, besides label and subset.

    Attributes
    ----------
    problem : str
        Digest of the problem.
    engine, model : str
        What trained, see `sensorprivacy.minimize.engines.Engine`.
    split, part : str
        Digest of the split, and the part that was judged on.
    seed : str
        Seed of the models.
    """

    problem: str
    engine: str
    model: str
    split: str
    part: str
    seed: str


class Store:
    """Scores that outlive the process that computed them.

    A store belongs to one problem; any number of models, splits, seeds and feature pools of it share the file, so one
    search serves several thresholds and a search over 10 features finds what one over 7 of them has done.

    Parameters
    ----------
    path : path-like or None
        The file, made if it is missing; None keeps the scores in memory.
    problem : str
        Digest of the problem.
    name : str
        Name of the problem, for messages.

    Raises
    ------
    StoreError
        If the file is no store, of another version, or was made from other data.
    """

    def __init__(self, path: str | Path | None, problem: str, name: str = "unnamed") -> None:
        self.path = None if path is None else Path(path)
        if self.path is not None:
            self.path.parent.mkdir(parents=True, exist_ok=True)
        # autocommit: every transaction below is opened and closed by name
        self._base = sqlite3.connect(self.path or ":memory:", timeout=_PATIENCE, isolation_level=None)
        try:
            self._open(problem, name)
        except BaseException:
            self._base.close()
            raise

    def _open(self, problem: str, name: str) -> None:
        try:
            self._patiently("PRAGMA journal_mode=WAL")
            # with a write-ahead log this survives a killed process; only a power cut may lose the last batch
            self._base.execute("PRAGMA synchronous=NORMAL")
            tables = {row[0] for row in self._base.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}
            if tables and "meta" not in tables:
                raise StoreError(f"{self.path} is a database of something else (tables {', '.join(sorted(tables))})")
            with self._transaction():
                for statement in _SCHEMA:
                    self._base.execute(statement)
                facts = {"version": str(VERSION), "problem": problem, "name": name}
                self._base.executemany("INSERT OR IGNORE INTO meta VALUES (?, ?)", facts.items())
        except sqlite3.DatabaseError as error:
            raise StoreError(f"{self.path} cannot be used as a search store: {error}; name another file") from error
        found = dict(self._base.execute("SELECT key, value FROM meta"))
        if found.get("version") != str(VERSION):
            raise StoreError(
                f"{self.path} is a store of version {found.get('version')}, not {VERSION}: name another file"
            )
        if found["problem"] != problem:
            raise StoreError(
                f"{self.path} was made from other data: it holds {found['name']!r} (digest {found['problem'][:12]}), "
                f"this problem is {name!r} (digest {problem[:12]}); name another file"
            )

    def read(self, key: RunKey, label: str) -> dict[Subset, float]:
        """Return every score there is.

        Parameters
        ----------
        key : RunKey
            Which search.
        label : {"task", "users"}
            Which labeling.

        Returns
        -------
        dict of tuple of int to float
            Accuracy by subset.
        """
        rows = self._base.execute(
            "SELECT subset, accuracy FROM scores JOIN runs ON runs.id = scores.run "
            "WHERE problem = ? AND engine = ? AND model = ? AND split = ? AND part = ? AND seed = ? AND label = ?",
            (*astuple(key), label),
        )
        return {_positions(subset): accuracy for subset, accuracy in rows}

    def write(self, key: RunKey, label: str, scores: Mapping[Subset, float] | Iterable[tuple[Subset, float]]) -> None:
        """Add the scores of one batch, all or none of them.

        A score that another process has written meanwhile stays as it is: both computed the same number.

        Parameters
        ----------
        key : RunKey
            Which search.
        label : {"task", "users"}
            Which labeling.
        scores : mapping or iterable of pairs
            Accuracy by subset.
        """
        pairs = scores.items() if isinstance(scores, Mapping) else scores
        with self._transaction():
            self._base.execute(
                "INSERT OR IGNORE INTO runs (problem, engine, model, split, part, seed) VALUES (?, ?, ?, ?, ?, ?)",
                astuple(key),
            )
            (run,) = self._base.execute(
                "SELECT id FROM runs WHERE problem = ? AND engine = ? AND model = ? AND split = ? AND part = ? "
                "AND seed = ?",
                astuple(key),
            ).fetchone()
            self._base.executemany(
                "INSERT INTO scores VALUES (?, ?, ?, ?) ON CONFLICT DO NOTHING",
                [(run, label, " ".join(map(str, subset)), accuracy) for subset, accuracy in pairs],
            )

    def close(self) -> None:
        """Close the file; what was written stays."""
        self._base.close()

    def __enter__(self) -> "Store":
        return self

    def __exit__(self, kind: type | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.close()

    @contextmanager
    def _transaction(self) -> Any:
        self._patiently("BEGIN IMMEDIATE")
        try:
            yield
        except BaseException:
            self._base.execute("ROLLBACK")
            raise
        self._base.execute("COMMIT")

    def _patiently(self, statement: str) -> None:
        """Execute a statement that takes a lock; SQLite does not wait for every kind of lock by itself."""
        until = time.monotonic() + _PATIENCE
        while True:
            try:
                self._base.execute(statement).fetchall()
                return
            except sqlite3.OperationalError as error:
                if "locked" not in str(error) or time.monotonic() > until:
                    raise
                time.sleep(0.05)


def _positions(subset: str) -> Subset:
    return tuple(map(int, subset.split()))
