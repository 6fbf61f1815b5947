"""Keep search results in one SQLite file. A killed process loses at most one batch, and processes can share a file."""

import re
import sqlite3
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import astuple, dataclass
from pathlib import Path
from typing import Any

from sensorprivacy.minimize.engine_protocol import Glimpse, Subset

VERSION = 1
_LOCK_SECONDS = 60.0
_SUBSET = re.compile(r"\d{1,6}( \d{1,6})*")
_SCHEMA = (
    "CREATE TABLE IF NOT EXISTS meta (key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID",
    """CREATE TABLE IF NOT EXISTS runs (
        id INTEGER PRIMARY KEY, problem TEXT NOT NULL, engine TEXT NOT NULL, model TEXT NOT NULL,
        split TEXT NOT NULL, part TEXT NOT NULL, seed TEXT NOT NULL,
        UNIQUE (problem, engine, model, split, part, seed))""",
    """CREATE TABLE IF NOT EXISTS scores (
        run INTEGER NOT NULL REFERENCES runs (id), label TEXT NOT NULL, subset TEXT NOT NULL, accuracy REAL NOT NULL,
        PRIMARY KEY (run, label, subset)) WITHOUT ROWID""",
    """CREATE TABLE IF NOT EXISTS glimpses (
        run INTEGER NOT NULL REFERENCES runs (id), label TEXT NOT NULL, trees INTEGER NOT NULL, subset TEXT NOT NULL,
        accuracy REAL NOT NULL, agreement REAL NOT NULL, confidence REAL NOT NULL,
        PRIMARY KEY (run, label, trees, subset)) WITHOUT ROWID""",
)
_SAME_RUN = "problem = ? AND engine = ? AND model = ? AND split = ? AND part = ? AND seed = ?"


class ResultStoreError(ValueError):
    """Raised when a file cannot hold the results of this search."""


@dataclass(frozen=True)
class ResultKey:
    """What the results of a search depend on, besides label and subset.

    Attributes
    ----------
    problem : str
        Digest of the problem.
    engine, model : str
        See `sensorprivacy.minimize.engine_protocol.Engine`.
    split, part : str
        Digest of the split, and the part that models were evaluated on.
    seed : str
        Seed of the models.
    """

    problem: str
    engine: str
    model: str
    split: str
    part: str
    seed: str


class ResultStore:
    """Accuracies of trained models, kept in a file.

    A file belongs to one problem. It holds the results of any number of models, splits, seeds and feature lists. So a
    search over 7 features reuses what a search over 10 of them computed.

    Parameters
    ----------
    path : path-like or None
        The file, created if missing. None keeps the results in memory.
    problem : str
        Digest of the problem.
    name : str
        Name of the problem, for messages.

    Raises
    ------
    ResultStoreError
        If the file is no result store, has another version, or belongs to other data.
    OSError
        If the file cannot be read or written.
    """

    def __init__(self, path: str | Path | None, problem: str, name: str = "unnamed") -> None:
        self.path = None if path is None else Path(path)
        if self.path is not None:
            self.path.parent.mkdir(parents=True, exist_ok=True)
        with self._clear_errors():
            if self.path is not None and not self.path.exists():
                self.path.touch(mode=0o600)  # results describe people
            # no isolation level: the transactions below begin and end explicitly
            self._database = sqlite3.connect(self.path or ":memory:", timeout=_LOCK_SECONDS, isolation_level=None)
        try:
            self._open(problem, name)
        except BaseException:
            self.close()
            raise

    def _open(self, problem: str, name: str) -> None:
        with self._clear_errors():
            self._wait_for_lock("PRAGMA journal_mode=WAL")
            # with a write-ahead log, a killed process loses nothing; only a power failure can lose the last batch
            self._database.execute("PRAGMA synchronous=NORMAL")
            tables = {row[0] for row in self._database.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}
        if tables and "meta" not in tables:
            listed = ", ".join(sorted(tables))
            raise ResultStoreError(f"{self.path} is another database (tables {listed}): name another file")
        with self._transaction():
            for statement in _SCHEMA:
                self._database.execute(statement)
            facts = {"version": str(VERSION), "problem": problem, "name": name}
            self._database.executemany("INSERT OR IGNORE INTO meta VALUES (?, ?)", facts.items())
        with self._clear_errors():
            found = dict(self._database.execute("SELECT key, value FROM meta"))
        if found.get("version") != str(VERSION):
            raise ResultStoreError(f"{self.path} has version {found.get('version')}, not {VERSION}: name another file")
        if found.get("problem") != problem:
            ours, theirs = f"{name!r} ({problem[:12]})", f"{found.get('name')!r} ({str(found.get('problem'))[:12]})"
            raise ResultStoreError(f"{self.path} was made from other data, {theirs} instead of {ours}: name another")

    def read(self, key: ResultKey, label: str, trees: int | None = None) -> dict[Subset, Any]:
        """Return what is stored of one label (``"task"`` or ``"users"``), by subset.

        By default these are accuracies. With a number of trees, they are the glimpses of so many first trees.
        """
        which, more = ("scores", "") if trees is None else ("glimpses", ", agreement, confidence")
        query = f"SELECT subset, accuracy{more} FROM {which} JOIN runs ON id = run WHERE {_SAME_RUN} AND label = ?"  # noqa: S608
        query += "" if trees is None else " AND trees = ?"
        with self._clear_errors():
            rows = self._database.execute(query, (*astuple(key), label, *([] if trees is None else [trees])))
            found = {self._subset(subset, *shares): shares for subset, *shares in rows}
        return {subset: shares[0] if trees is None else Glimpse(*shares) for subset, shares in found.items()}

    def write(self, key: ResultKey, label: str, shown: Mapping[Subset, Any], trees: int | None = None) -> None:
        """Add the accuracies of one batch, or the glimpses of so many first trees: all or none of them.

        If another process has already stored one, that one stays: both processes computed the same number.
        """
        run = astuple(key)
        with self._transaction():
            self._database.execute(
                "INSERT OR IGNORE INTO runs (problem, engine, model, split, part, seed) VALUES (?, ?, ?, ?, ?, ?)", run
            )
            (number,) = self._database.execute(f"SELECT id FROM runs WHERE {_SAME_RUN}", run).fetchone()  # noqa: S608
            rows = [
                (number, label, " ".join(map(str, subset)), found)
                if trees is None
                else (number, label, trees, " ".join(map(str, subset)), *found)
                for subset, found in shown.items()
            ]
            which = "scores VALUES (?, ?, ?, ?)" if trees is None else "glimpses VALUES (?, ?, ?, ?, ?, ?, ?)"
            self._database.executemany(f"INSERT INTO {which} ON CONFLICT DO NOTHING", rows)

    def _subset(self, text: object, *shares: object) -> Subset:
        """Return a stored subset, whose shares must be 0 to 1."""
        wrong = [share for share in shares if not (isinstance(share, int | float) and 0 <= share <= 1)]
        if wrong or not isinstance(text, str) or not _SUBSET.fullmatch(text):
            what = f"the share {wrong[0]!r}" if wrong else f"the subset {text!r}"
            raise ResultStoreError(f"{self.path} is damaged: it holds {what}; name another file")
        return tuple(map(int, text.split()))

    def close(self) -> None:
        """Close the file. Everything written is kept."""
        self._database.close()

    @contextmanager
    def _clear_errors(self) -> Iterator[None]:
        """Replace errors of SQLite by errors that name the file and say what to do."""
        try:
            yield
        except sqlite3.OperationalError as error:  # a full disk, a read-only folder, a lock that is never released
            remedy = "check the free space and permissions, or name another file"
            raise OSError(f"{self.path}: cannot read or write search results ({error}); {remedy}") from error
        except sqlite3.IntegrityError:
            raise
        except (sqlite3.DatabaseError, UnicodeDecodeError) as error:
            raise ResultStoreError(f"{self.path} is no file of search results: {error}; name another file") from error

    @contextmanager
    def _transaction(self) -> Iterator[None]:
        with self._clear_errors():
            self._wait_for_lock("BEGIN IMMEDIATE")
            try:
                yield
                self._database.execute("COMMIT")
            except BaseException:
                if self._database.in_transaction:  # a full disk has ended it already
                    self._database.execute("ROLLBACK")
                raise

    def _wait_for_lock(self, statement: str) -> None:
        """Execute a statement that needs a lock. SQLite itself does not wait for every kind of lock."""
        until = time.monotonic() + _LOCK_SECONDS
        while True:
            try:
                self._database.execute(statement).fetchall()
                return
            except sqlite3.OperationalError as error:
                if "locked" not in str(error) or time.monotonic() > until:
                    raise
                time.sleep(0.05)
