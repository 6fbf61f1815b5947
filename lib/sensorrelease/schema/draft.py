"""Draft a schema from a table: propose what may leave. A person reads and confirms it."""

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa

from sensorprivacy.checks import require_columns
from sensorrelease.schema.cells import check_names
from sensorrelease.schema.formats import check_file
from sensorrelease.schema.guess import ABSENT, Guess, absent_labels, guess_column, second_header, settle_commas
from sensorrelease.schema.identify import judge_values
from sensorrelease.schema.layout import lay_out
from sensorrelease.schema.model import FILE, FINEST, NUMBERS, OTHER, RUN, Constraints, Field, Schema, fold
from sensorrelease.schema.read import Pieces
from sensorrelease.schema.recognise import Names, code_in, header_kind, is_plain, is_quantity
from sensorrelease.schema.sniff import sniff
from sensorrelease.schema.sources import Files, Memory

K = 5  # users of a level that leaves, if there are so many
SAMPLE = 20_000  # rows from which a column is judged
LEVELS = 50  # most levels of a text that leaves
DIGITS, COARSE = 9_999, 99  # steps in the range of a number, and of one whose values are nearly all different
_MOST = 10_000  # levels of a text that are counted
_SENTINELS = [float(f"{nines}"[:size]) for nines in ("999999", "888888", "777777") for size in range(2, 7)]
_SOME = 0.1  # share of rows in withheld levels from which a text is withheld
_FAR = 10  # times the range of nearly all numbers that a number is beyond it
_ADVICE = "choose another task, or coarser classes"


@dataclass
class _Profile:
    """What a pass over the whole table finds in a column."""

    low: float = np.inf
    high: float = -np.inf
    owners: dict[str, set[str]] = field(default_factory=lambda: defaultdict(set))
    rows: Counter[str] = field(default_factory=Counter)

    def observe(self, column: pd.Series, who: pd.Series) -> None:
        """Look at the cells of a piece."""
        if column.dtype.kind == "f":
            self.low, self.high = np.fmin(self.low, column.min()), np.fmax(self.high, column.max())
        elif len(self.rows) <= _MOST:
            cells = pd.DataFrame({"level": column.astype("str"), "who": who})
            self.rows.update({str(level): int(rows) for level, rows in cells["level"].value_counts().items()})
            for level, person in cells.dropna().drop_duplicates().itertuples(index=False):
                self.owners[str(level)].add(str(person))


def draft(
    source: Any,
    task: str | None,
    user: str,
    recording: str | None = None,
    *,
    hide: Sequence[str] = (),
    names: str | None = None,
    rate: float | None = None,
    identifying: bool = False,
    progress: bool = False,
) -> Schema:
    """Propose a schema for a table, or for a folder of recordings.

    Parameters
    ----------
    source : path or table in memory
        A file, a table of pandas, polars, Arrow or NumPy, or a folder of recordings.
    task, user, recording : str, optional
        Columns with a role; the user is needed. Of recordings, they may be labels in the names of the files.
    hide : sequence of str
        Columns with private attributes, of recordings.
    names, rate : str and float, optional
        Of recordings: labels in the names of the files, and samples per second; by default guessed.
    identifying : bool
        Whether measurements that identify the user by themselves are features all the same: for `minimize` and
        `compare`, from which no data leave, and for signals.
    progress : bool
        Whether to show a bar.

    Returns
    -------
    Schema
        Not confirmed. A column is withheld whenever it is unclear whether it may leave; `why` says what was seen.

    Raises
    ------
    FileNotFoundError, TypeError, ValueError
        If the table cannot be read, lacks a column, or its task cannot leave.
    """
    called = str(source) if isinstance(source, str | Path) else "the table"
    given = [(task, "task"), (user, "user"), (recording, "recording"), *((name, "private") for name in hide)]
    roles = {name: role for name, role in given if name is not None}
    if len(roles) < sum(name is not None for name, _ in given):
        named = ", ".join(repr(name) for name, _ in given if name is not None)
        raise ValueError(f"task, user and recording must be different columns, got {named}")
    clock: dict[str, Guess] = {}
    written: dict[str, Any] = {}
    if recorded := isinstance(source, str | Path) and Path(source).is_dir():
        wanted = {"task": task, "user": user, "recording": recording}
        written, clock, more = lay_out(Path(source).expanduser(), wanted, names, rate)
        roles = more | roles
    elif isinstance(source, str | Path):
        written = sniff(check_file(source))
    written |= {"missingValues": ABSENT}
    found, head = _head(source, written)
    require_columns(list(head), list(roles), called + ", read as cp1252," * (written.get("encoding") == "cp1252"))
    if (row := second_header(head)) is not None:
        raise ValueError(f"{found.where(row)} repeats the header: keep one table, with one header")
    guesses = {name: clock.get(name) or guess_column(cells, roles.get(name)) for name, cells in head.items()}
    settle_commas(guesses.values())
    for name, guess in guesses.items():
        if recorded and name not in roles and guess.keys.get("type") not in NUMBERS:
            guesses[name] = Guess({}, guess.remark or "it has no role, and signals are columns of numbers in the files")
        if name in roles and guess.remark:
            raise ValueError(f"{called}: column {name!r} cannot be the {roles[name]}: {guess.remark}")
    known = [_readable(name, guess, roles.get(name), at) for at, (name, guess) in enumerate(guesses.items(), 1)]
    pieces = Pieces(source, Schema(fields=known, **written), progress=progress)
    profiles, sample = _survey(pieces, user)
    users = profiles[user].rows
    if len(users) < 2:
        raise ValueError(f"{called}: the user column {user!r} has {len(users)} user: a release needs two or more")
    plan = _Plan(sample, sample[user], Names(users), min(K, len(users)), pieces.nonconforming, identifying or recorded)
    drafted = [
        _Column(field, place, guesses[field.name], profiles[field.name], plan).propose()
        for place, field in enumerate(known, 1)
    ]
    if pieces.clock is not None and not pieces.clock.gaps:
        written["recordings"] = written["recordings"].model_copy(update={"gaps": "error"})
    proposed = Schema(fields=drafted, k=plan.k, **written)
    if task is not None:
        _check_task(proposed.field(task), called, plan)
    return proposed


def _head(source: Any, written: Mapping[str, Any]) -> tuple[Files | Memory, dict[str, pa.Array]]:
    """Return what is read, and the first rows of all columns."""
    labels = getattr(written.get("recordings"), "labels", [])
    schema = Schema(fields=[Field(name=name) for name in labels], **written)
    found = Files(source, schema) if isinstance(source, str | Path) else Memory(source)
    first = next(found.batches(SAMPLE, None), None)
    if first is None:
        raise ValueError(f"{found.called} has no rows below its header: a table needs one")
    check_names(list(first.columns), found.called)
    people = getattr(schema.recordings, "people", None)
    beside = _head(Path(source) / people, {})[1] if people else {}
    return found, first.columns | {name: column for name, column in beside.items() if name not in first.columns}


def _readable(name: str, guess: Guess, role: Any, place: int) -> Field:
    """Return a field that reads a column, and counts the cells that do not conform."""
    keys: dict[str, Any] = {"role": role or "feature", "although": "a draft", "nonconforming": "missing"}
    return Field(name=name, title=f"x{place}", **(keys | guess.keys if guess.keys else {}))  # a header can be long


def _survey(pieces: Pieces, user: str) -> tuple[dict[str, _Profile], pd.DataFrame]:
    """Return profiles of all columns, and random rows in the order of the file."""
    draw = np.random.default_rng(0)
    profiles: dict[str, _Profile] = defaultdict(_Profile)
    kept, keys = pd.DataFrame(), np.empty(0)
    for piece in pieces:
        piece = piece.drop(columns=[FILE, RUN], errors="ignore")
        for name, column in piece.items():
            profiles[str(name)].observe(column, piece[user])
        key = draw.random(len(piece))
        wanted = key < (keys.max() if len(keys) == SAMPLE else 1)
        kept = pd.concat([kept, piece[wanted]]) if len(kept) else piece[wanted]
        keys = np.concatenate([keys, key[wanted]])
        best = np.sort(np.argsort(keys, kind="stable")[:SAMPLE])
        kept, keys = kept.iloc[best], keys[best]
    distinct = kept.drop_duplicates()  # a row that occurs twice would find itself
    return profiles, distinct if 4 * len(distinct) >= len(kept) else kept


@dataclass
class _Plan:
    """What all columns of a table are judged by."""

    sample: pd.DataFrame
    users: pd.Series
    names: Names
    k: int
    nonconforming: Counter[str]
    identifying: bool


@dataclass
class _Column:
    """One column, and what is proposed for it."""

    known: Field
    place: int
    guess: Guess
    profile: _Profile
    plan: _Plan

    def propose(self) -> Field:
        """Return the field of the column."""
        name, role = self.known.name, self.known.role
        neutral = f"x{self.place}" if f"x{self.place}" not in self.plan.sample else f"column {self.place}"
        plain = is_plain(name) and not self.plan.names.find(name)
        self.keys: dict[str, Any] = {
            "name": name,
            "title": name if plain and len(name) <= 100 else neutral,
            "role": role,
        } | self.guess.keys
        self.reasons = [self.guess.remark] if self.guess.remark else []
        self.seen: list[str] = []
        if role in ("user", "recording", "private"):
            self.seen = [f"{len(self.profile.rows):,} labels", absent_labels(self.profile.rows)]
        elif self.guess.keys and role != "time":
            self._judge(self.plan.sample[name])
        open_ = self.keys.get("type") == "string" and "constraints" not in self.keys
        if (role == "feature" and self.reasons) or (role == "task" and open_):
            self.keys["role"] = "withheld"
        return Field(**self.keys, why="; ".join(filter(None, dict.fromkeys([*self.reasons, *self.seen]))))

    def _judge(self, values: pd.Series) -> None:
        """Set what may leave of a task or a feature, and find reasons against it."""
        if self.known.is_number:
            self._set_range(values.dropna().to_numpy(dtype=float))
        elif self.known.type == "string":
            values = self._set_levels(values)
        if odd := self.plan.nonconforming[self.known.name]:
            self.keys["nonconforming"] = "missing"
            self.seen.append(f"{odd:,} cells do not conform and count as missing")
        if self.known.role == "task":
            self.seen.append(absent_labels(self.profile.rows))
            return
        if kind := header_kind(self.known.name):
            self.reasons.append(f"its name says that it holds {kind}")
        found = judge_values(values, self.plan.users, self.keys.get("step"))
        if found and found.coarse and is_quantity(self.known.name):
            self._bound(values.min(), values.max(), 10.0 ** np.ceil(np.log10(np.ptp(values.dropna()) / COARSE)))
            self.seen.append(f"rounded, because {found.reason}")
            coarse = (values / self.keys["step"]).round() * self.keys["step"]
            found = judge_values(coarse, self.plan.users, self.keys["step"])
        if values.nunique() < 2:
            self.reasons.append("it is constant or empty")
        elif found and not (self.plan.identifying and found.soft):
            self.reasons.append(found.reason)

    def _set_range(self, numbers: np.ndarray) -> None:
        """Set type, range and step of numbers, and say which of them count as missing."""
        marks = _sentinels(numbers)
        if len(marks):
            absent = [f"{mark:g}" for mark in marks]
            self.keys["missingValues"] = [*self.keys.get("missingValues", ABSENT), *absent]
            self.seen.append(f"{', '.join(absent)} counts as missing")
            numbers = numbers[~np.isin(numbers, marks)]
        if not len(numbers):
            return
        low, high = self.profile.low, self.profile.high
        inner = np.quantile(numbers, [0.01, 0.99])
        room = _FAR * max(inner[1] - inner[0], 1e-12)
        near = numbers[(numbers >= inner[0] - room) & (numbers <= inner[1] + room)]
        if len(marks) or low < inner[0] - room or high > inner[1] + room:
            self.keys["nonconforming"] = "missing"
            low = low if low >= inner[0] - room and low not in marks else near.min()
            high = high if high <= inner[1] + room and high not in marks else near.max()
            self.seen.append("numbers far from all others count as missing")
        whole = bool((near % 1 == 0).all()) and max(abs(low), abs(high)) < 2**53
        self.keys["type"] = "integer" if whole else "number"
        self._bound(low, high, _step(near, low, high))

    def _bound(self, low: float, high: float, step: float) -> None:
        """Set the step, and a range that begins and ends at it."""
        step = max(step, 10.0 ** np.ceil(np.log10(FINEST * max(abs(low), abs(high), 1e-300))))
        places = max(0, -round(np.log10(step)))
        ends = [round(np.floor(low / step + 1e-9) * step, places), round(np.ceil(high / step - 1e-9) * step, places)]
        self.keys |= {"constraints": {"minimum": min(ends[0], low), "maximum": max(ends[1], high)}, "step": float(step)}

    def _set_levels(self, values: pd.Series) -> pd.Series:
        """Set the levels that enough users have, find reasons against them, and return the cells that would leave."""
        merged: dict[str, list[str]] = defaultdict(list)
        for level, _ in self.profile.rows.most_common():
            merged[fold(level)].append(level)
        owners = {some[0]: set().union(*(self.profile.owners[one] for one in some)) for some in merged.values()}
        rows = {some[0]: sum(self.profile.rows[one] for one in some) for some in merged.values()}
        coded = {level: kind for level in owners if (kind := code_in(level))}
        named = {level for level in owners if self.plan.names.find(level)}
        kept = [one for one in owners if len(owners[one]) >= self.plan.k and one not in coded and one not in named]
        total = max(1, sum(rows.values()))
        if named:
            self.reasons.append(f"{len(named):,} of its texts name users")
        if sum(rows[level] for level in coded) >= _SOME * total:
            self.reasons.append(f"it holds {next(iter(coded.values()))}")
        if len(kept) > LEVELS or len(self.profile.rows) > _MOST:
            self.reasons.append(f"it has more than {LEVELS} texts")
            kept = kept[:LEVELS]
        few = sum(rows[level] for level, some in owners.items() if len(some) < self.plan.k)
        if sum(rows[level] for level in kept) < 0.5 * total and (2 * few > total or not self.reasons):
            self.reasons.append(f"most of its texts are those of fewer than {self.plan.k} users")
        if not kept:
            return values
        self.keys["constraints"] = Constraints(enum=sorted(map(_tidy, kept)))
        if len(kept) < len(owners):
            self.keys["nonconforming"] = OTHER
        said = ", ".join(f"{_tidy(level)} ({len(owners[level])} users)" for level in kept[:8])
        more = f", {len(owners) - len(kept):,} others" if len(owners) > len(kept) else ""
        self.seen.append(f"levels: {said}{more}")
        spelled = {fold(level) for level in kept}
        return values.map(lambda cell: fold(cell) if fold(cell) in spelled else OTHER, na_action="ignore")


def _tidy(level: str) -> str:
    """Return a level without format marks and outer spaces."""
    plain = " ".join("".join(mark for mark in level if mark.isprintable() or mark.isspace()).split())
    return plain if fold(plain) == fold(level) else fold(level)


def _sentinels(numbers: np.ndarray) -> np.ndarray:
    """Return numbers such as -999 that occur several times and lie apart from all others: they mean missing cells."""
    found, rows = np.unique(numbers, return_counts=True)
    marks = found[np.isin(np.abs(found), _SENTINELS) & (rows > 1)]
    others = found[~np.isin(found, marks)]
    if not len(others):
        return marks[:0]
    return marks[(marks < others.min() - np.ptp(others)) | (marks > others.max() + np.ptp(others))]


def _step(numbers: np.ndarray, low: float, high: float) -> float:
    """Return the resolution of numbers, but at least the ten-thousandth part of their range as a power of ten."""
    near = 1e-9 * max(1, abs(high))
    finest = next((places for places in range(12) if np.abs(numbers - numbers.round(places)).max() <= near), 12)
    coarsest = int(np.ceil(np.log10((high - low) / DIGITS))) if high > low else -finest
    return float(10.0 ** max(-finest, coarsest))


def _check_task(task: Field, called: str, plan: _Plan) -> None:
    """Raise ValueError if a task has no classes that may leave, or follows from the user."""
    levels = task.constraints.enum
    if task.type == "string" and (levels is None or len(levels) + (task.nonconforming == OTHER) < 2):
        raise ValueError(
            f"{called}: the task column {task.name!r} has fewer than two levels that {plan.k} users share and that "
            f"name nobody ({task.why}): {_ADVICE}"
        )
    found = judge_values(plan.sample[task.name], plan.users, None) if task.type == "string" else None
    if found is not None and not found.soft:
        raise ValueError(f"{called}: the task column {task.name!r} must not leave: {found.reason}: {_ADVICE}")
