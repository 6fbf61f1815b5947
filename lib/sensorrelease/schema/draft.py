"""Draft a schema from a table: guess how it is read, and propose what may leave. A person reads and confirms it."""

import re
from collections import Counter, defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa

from sensorprivacy.checks import require_columns
from sensorrelease.schema.cells import as_arrow, refuse_twins
from sensorrelease.schema.identify import Finding, judge_values
from sensorrelease.schema.model import NUMBERS, Constraints, Field, Schema, fold
from sensorrelease.schema.read import Pieces, batches, check_file
from sensorrelease.schema.recognise import Names, code_in, header_kind, is_plain
from sensorrelease.schema.sniff import sniff

K = 5  # users of a level that leaves, if there are so many
SAMPLE = 20_000  # rows from which a column is judged
LEVELS = 50  # most levels of a text that leaves
DIGITS = 9_999  # steps in the range of a number
_CLASSES = 20  # most different whole numbers of a task that are classes
_MOST = 10_000  # levels of a text that are counted
_SENTINELS = [float(f"{nines}"[:size]) for nines in ("999999", "888888", "777777") for size in range(2, 7)]
_SOME = 0.1  # share of rows in withheld levels from which a text is withheld
_FAR = 10  # times the range of nearly all numbers that a number is beyond it
_POINT = re.compile(r"[+\u2212-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?", re.ASCII)
_COMMA = re.compile(r"[+\u2212-]?(?:\d+,?\d*|,\d+)(?:[eE][+-]?\d+)?", re.ASCII)
_GROUPS = {
    (",", "."): re.compile(r"[+\u2212-]?\d{1,3}(?:,\d{3})*(?:\.\d+)?", re.ASCII),
    (".", ","): re.compile(r"[+\u2212-]?\d{1,3}(?:\.\d{3})*(?:,\d+)?", re.ASCII),
    (" ", "."): re.compile(r"[+\u2212-]?\d{1,3}(?:[ \u00a0\u202f]\d{3})*(?:\.\d+)?", re.ASCII),
    ("'", "."): re.compile(r"[+\u2212-]?\d{1,3}(?:'\d{3})*(?:\.\d+)?", re.ASCII),
}
_UNIT = re.compile(r"([+\u2212-]?[\d.,]*\d)[ \u00a0\u202f]?([^\d\s.,:+-][^\d\s:]{0,9})")
_HEX = re.compile(r"0x[0-9a-f]+", re.I)
_LABEL = re.compile(r"[+-]?0\d+|\d{16,}")
_ABSENT = ["", "NA", "N/A", "n/a", "#N/A", "<NA>", "NaN", "nan", "-NaN", "NULL", "null", "Null"]
_ABSENT_NUMBERS = [
    "?",
    "-",
    "--",
    "\u2013",
    "\u2014",
    ".",
    "*",
    "n.a.",
    "missing",
    "unknown",
    "unavailable",
    "#DIV/0!",
    "#VALUE!",
    "#REF!",
    "#NUM!",
    "#NAME?",
]


@dataclass
class _Guess:
    """What the cells of a column look like."""

    keys: dict[str, Any]
    remark: str = ""
    nested: bool = False


@dataclass
class _Profile:
    """What a pass over the whole table finds in a column."""

    low: float = np.inf
    high: float = -np.inf
    levels: dict[str, set[str]] = field(default_factory=lambda: defaultdict(set))
    rows: Counter[str] = field(default_factory=Counter)
    many: bool = False


def draft(
    source: Any,
    task: str | None,
    user: str,
    recording: str | None = None,
    *,
    identifying: bool = False,
    progress: bool = False,
) -> Schema:
    """Propose a schema for a table.

    Parameters
    ----------
    source : path or table in memory
        A file, or a table of pandas, polars, Arrow or NumPy.
    task, user, recording : str, optional
        Columns with a role; the user is needed.
    identifying : bool
        Whether measurements that identify the user by themselves are features all the same: for `minimize` and
        `compare`, from which no data leave.
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
    file = check_file(source) if isinstance(source, str | Path) else None
    called = str(file or "the table")
    written = {} if file is None else sniff(file)
    empty = Schema(fields=[], **written)
    head = _head(source, empty)
    given = {"task": task, "user": user, "recording": recording}
    roles = {role: name for role, name in given.items() if name is not None}
    if len({*roles.values()}) < len(roles):
        raise ValueError(f"task, user and recording must be different columns, got {', '.join(roles.values())}")
    require_columns(list(head), list(roles.values()), called)
    role_of = {name: role for role, name in roles.items()}
    guesses = {name: _guess(name, cells, role_of.get(name), called) for name, cells in head.items()}
    _settle_commas(guesses)
    for name in roles.values():
        if guesses[name].nested:
            raise ValueError(
                f"{called}: column {name!r} {guesses[name].remark[3:]}, so it cannot be the {role_of[name]}"
            )
    provisional = [_provisional(name, guess, role_of.get(name)) for name, guess in guesses.items()]
    schema = Schema(fields=provisional, missingValues=_ABSENT, **written)
    pieces = Pieces(source, schema, progress=progress)
    profiles, sample, users = _survey(pieces, user)
    if len(users) < 2:
        raise ValueError(f"{called}: the user column {user!r} has {len(users)} user: a release needs two or more")
    k = min(K, len(users))
    names = Names(users)
    distinct = sample.drop_duplicates()  # a row that occurs twice would find itself
    sample = distinct if 4 * len(distinct) >= len(sample) else sample
    drafted = []
    for place, known in enumerate(schema.fields, 1):
        column = _Column(known, guesses[known.name], profiles[known.name], k)
        drafted.append(column.propose(sample, user, names, place, pieces, identifying=identifying))
    proposed = Schema(fields=_with_titles(drafted), k=k, missingValues=_ABSENT, **written)
    if task is not None:
        _check_task(proposed, called, sample[task], sample[user])
    return proposed


def _head(source: Any, schema: Schema) -> dict[str, pa.Array]:
    """Return the first rows of all columns."""
    if not isinstance(source, str | Path):
        return {name: column.slice(0, SAMPLE).combine_chunks() for name, column in as_arrow(source).items()}
    some = list(islice(batches(check_file(source), schema, SAMPLE, None), 1))
    if not some or not some[0].rows:
        raise ValueError(f"{source} has no rows below its header: a table needs one")
    refuse_twins(list(some[0].columns), source)
    return some[0].columns


def _guess(name: str, cells: pa.Array, role: str | None, called: str) -> _Guess:
    kind = cells.type.value_type if pa.types.is_dictionary(cells.type) else cells.type
    if pa.types.is_nested(kind) or pa.types.is_binary(kind) or pa.types.is_large_binary(kind):
        return _Guess({"type": "string"}, "it holds nested values or bytes", nested=True)
    if role in ("user", "recording"):
        return _Guess({"type": "string", "missingValues": [""]})
    if pa.types.is_boolean(kind):
        return _Guess({"type": "boolean"})
    if role == "task" and _are_classes(cells):
        return _Guess({"type": "string", "missingValues": [""]})
    if pa.types.is_integer(kind):
        return _Guess({"type": "integer"})
    if pa.types.is_floating(kind) or pa.types.is_decimal(kind) or pa.types.is_duration(kind):
        return _Guess({"type": "number"})
    if pa.types.is_temporal(kind):
        return _Guess({"type": "string"}, "it holds times")
    texts = Counter(text for cell in cells.to_pylist() if cell is not None and (text := str(cell).strip()))
    if name in texts and len(texts) > 1 and _is_number(texts, name):
        raise ValueError(f"{called}: column {name!r} holds its own name as a cell: is there a second header or table?")
    return _guess_text(texts)


def _are_classes(cells: pa.Array) -> bool:
    """Return whether a task has few different cells, so that each is a class: 1E5 and 100000 are two."""
    found = [cell for cell in cells.unique().to_pylist() if cell is not None]
    return len(found) <= _CLASSES


def _is_number(texts: Counter[str], name: str) -> bool:
    return sum(rows for text, rows in texts.items() if _POINT.fullmatch(text)) > 0.5 * (
        sum(texts.values()) - texts[name]
    )


def _guess_text(texts: Counter[str]) -> _Guess:
    """Return how a column of texts is read."""
    if 0 < len(texts) < 9 and {fold(text) for text in texts} <= {"true", "false"}:
        return _Guess({"type": "boolean"})
    absent = [text for text in texts if text.lower() in _ABSENT_NUMBERS]
    known = {*_ABSENT, *absent}
    cells = Counter({text: rows for text, rows in texts.items() if text not in known})
    total = sum(cells.values())
    missing = {"missingValues": [*_ABSENT, *absent]} if absent else {}
    if not total or any(map(_LABEL.fullmatch, cells)):
        return _Guess({"type": "string"})
    ways: list[tuple[dict[str, Any], re.Pattern[str]]] = [({}, _POINT), ({"decimalChar": ","}, _COMMA)]
    ways += [({"groupChar": group, "decimalChar": point}, form) for (group, point), form in _GROUPS.items()]
    shares = [
        (sum(rows for text, rows in cells.items() if form.fullmatch(text)) / total, -at)
        for at, (_, form) in enumerate(ways)
    ]
    share, place = max(shares)
    keys, form = ways[-place]
    if share < 1 and (united := _units(cells)):
        return united if united.remark else _Guess(united.keys | missing)
    if share == 1:
        unclear = place == -1 and all(re.fullmatch(r"[+\u2212-]?[1-9]\d{0,2},\d{3}|\d+", text) for text in cells)
        if unclear:
            odd = next(text for text in cells if "," in text)
            return _Guess({"type": "number", "unclear": odd} | missing)
        return _Guess({"type": "number"} | keys | missing)
    words = [text for text in cells if not form.fullmatch(text)]
    if share >= 1 - _SOME and len(words) <= 3 and not any(map(str.isdigit, "".join(words))):
        return _Guess({"type": "number", "missingValues": [*_ABSENT, *absent, *words]} | keys)
    if sum(rows for text, rows in cells.items() if _HEX.fullmatch(text)) > 0.5 * total:
        return _Guess({"type": "string"}, "it holds hexadecimal numbers")
    if share >= 0.5:
        return _Guess(
            {"type": "string"}, f"most of its cells are numbers, but not {words[0][:30]!r} and {len(words) - 1} more"
        )
    return _Guess({"type": "string"})


def _units(cells: Counter[str]) -> _Guess | None:
    """Return a guess for numbers with units in their cells, or None."""
    found = [_UNIT.fullmatch(text) for text in cells]
    units = Counter(match[2] for match in found if match)
    if not units or sum(units.values()) < 0.9 * len(cells):
        return None
    if len(units) > 1 or sum(units.values()) < len(cells):
        return _Guess({"type": "string"}, f"its cells have several units: {', '.join(map(repr, list(units)[:4]))}")
    bare = _guess_text(Counter(match[1] for match in found if match))
    if bare.keys["type"] != "number" or "unclear" in bare.keys:
        return _Guess({"type": "string"}, "its cells are numbers with a unit, written in an unclear way")
    return _Guess(bare.keys | {"unit": next(iter(units)), "bareNumber": False})


def _settle_commas(guesses: dict[str, _Guess]) -> None:
    """Decide what 1,234 means by the other columns, or leave the column out."""
    keys = [guess.keys for guess in guesses.values()]
    commas = any(known.get("decimalChar") == "," for known in keys)
    for guess in guesses.values():
        if odd := guess.keys.pop("unclear", None):
            guess.keys |= {"decimalChar": ","} if commas else {"groupChar": ","}
            if not commas:
                guess.remark = f"{odd!r} can mean thousands or decimals: say it with groupChar or decimalChar"


def _provisional(name: str, guess: _Guess, role: str | None) -> Field:
    """Return a field that reads a column, and counts the cells that do not conform."""
    if guess.nested:
        return Field(name=name)
    keys = guess.keys
    return Field(name=name, role=role or "feature", although="a draft", nonconforming="missing", **keys)


def _survey(pieces: Pieces, user: str) -> tuple[dict[str, _Profile], pd.DataFrame, list[str]]:
    """Return profiles of all columns, random rows in the order of the file, and the users."""
    draw = np.random.default_rng(0)
    profiles: dict[str, _Profile] = defaultdict(_Profile)
    kept, keys = pd.DataFrame(), np.empty(0)
    users: dict[str, None] = {}
    for piece in pieces:
        who = piece[user]
        users.update(dict.fromkeys(who.dropna().unique()))
        for name, column in piece.items():
            _observe(profiles[str(name)], column, who)
        key = draw.random(len(piece))
        wanted = key < (keys.max() if len(keys) == SAMPLE else 1)
        kept = pd.concat([kept, piece[wanted]]) if len(kept) else piece[wanted]
        keys = np.concatenate([keys, key[wanted]])
        best = np.sort(np.argsort(keys, kind="stable")[:SAMPLE])
        kept, keys = kept.iloc[best], keys[best]
    return profiles, kept, list(users)


def _observe(profile: _Profile, column: pd.Series, who: pd.Series) -> None:
    if column.dtype.kind == "f":
        if column.notna().any():
            profile.low, profile.high = min(profile.low, column.min()), max(profile.high, column.max())
        return
    if profile.many:
        return
    texts = column.astype(str).where(column.notna()) if column.dtype != "str" else column
    profile.rows.update({str(level): int(rows) for level, rows in texts.value_counts().items()})
    profile.many = len(profile.rows) > _MOST
    for level, person in pd.DataFrame({"level": texts, "who": who}).dropna().drop_duplicates().itertuples(index=False):
        profile.levels[str(level)].add(str(person))


@dataclass
class _Column:
    """One column, and what is proposed for it."""

    known: Field
    guess: _Guess
    profile: _Profile
    k: int

    def propose(
        self, sample: pd.DataFrame, user: str, names: Names, place: int, pieces: Pieces, *, identifying: bool
    ) -> Field:
        known = self.known
        named = names.find(known.name)
        plain = is_plain(known.name) and not named
        keys: dict[str, Any] = {"name": known.name, "title": known.name if plain else f"x{place}", "role": known.role}
        keys |= {key: value for key, value in self.guess.keys.items() if key != "unclear"}
        if known.role in ("user", "recording"):
            keys |= {"title": known.role, "why": f"{len(self.profile.rows):,} labels{self._absent_labels()}"}
            return Field(**keys)
        if self.guess.nested:
            return Field(name=known.name, title=keys["title"], why=self.guess.remark)
        values, users = sample[known.name], sample[user]
        is_task = known.role == "task"
        seen, reasons = [], [] if is_task else self._by_header()
        if known.type in NUMBERS:
            seen.append(self._range(keys, values))
        elif known.type == "string":
            said, wrong = self._levels(keys, names)
            seen.append(said + (self._absent_labels() if is_task else ""))
            reasons += wrong
        if self.guess.remark:
            reasons.append(self.guess.remark)
        if known.name in pieces.columns and (odd := pieces.nonconforming[known.name]):
            keys["nonconforming"] = "missing"
            seen.append(f"{odd:,} cells do not conform and count as missing")
        if values.nunique() < 2 and not is_task:
            reasons.append("it is constant or empty")
        elif not is_task and (found := judge_values(self._released(values, keys), users, keys.get("step"))):
            reasons += [] if identifying and found.soft else [found.reason]
        if reasons and not is_task:
            keys["role"] = "withheld"
        if is_task and (self.guess.remark or (keys["type"] == "string" and "constraints" not in keys)):
            said = self.guess.remark or f"no level that {self.k} users share and that names nobody"
            raise ValueError(
                f"the task column {known.name!r} cannot leave: {said}. Choose another task, or coarser classes"
            )
        keys["why"] = "; ".join([*reasons, *filter(None, seen)])
        return Field(**keys)

    def _by_header(self) -> list[str]:
        kind = header_kind(self.known.name)
        return [f"its name says that it holds {kind}"] if kind else []

    def _absent_labels(self) -> str:
        """Return in words which labels can mean missing ones."""
        found = [label for label in self.profile.rows if label in _ABSENT or label.lower() in _ABSENT_NUMBERS]
        return f"; {', '.join(map(repr, found))} count as labels: add them to missingValues if not" if found else ""

    def _range(self, keys: dict[str, Any], values: pd.Series) -> str:
        """Set type, range and step of numbers, and return in words which of them count as missing."""
        numbers, said = values.dropna().to_numpy(dtype=float), []
        marks = _sentinels(numbers)
        if len(marks):
            keys["missingValues"] = [*keys.get("missingValues", _ABSENT), *(f"{mark:g}" for mark in marks)]
            numbers = numbers[~np.isin(numbers, marks)]
            said.append(f"{', '.join(f'{mark:g}' for mark in marks)} counts as missing")
        if not len(numbers):
            return ""
        low, high = self.profile.low, self.profile.high
        whole = bool((numbers % 1 == 0).all()) and max(abs(low), abs(high)) < 2**53
        keys["type"] = "integer" if whole else "number"
        inner = np.quantile(numbers, [0.01, 0.99])
        room = _FAR * max(inner[1] - inner[0], 1e-12)
        near = numbers[(numbers >= inner[0] - room) & (numbers <= inner[1] + room)]
        if len(marks) or low < inner[0] - room or high > inner[1] + room:
            keys["nonconforming"] = "missing"
            low, high = (
                (low if low >= inner[0] - room and low not in marks else near.min()),
                (high if high <= inner[1] + room and high not in marks else near.max()),
            )
            if len(near) < len(numbers):
                said.append("numbers far from all others count as missing")
        step = _step(near, low, high)
        places = max(0, -round(np.log10(step)))
        ends = [round(np.floor(low / step + 1e-9) * step, places), round(np.ceil(high / step - 1e-9) * step, places)]
        keys |= {"constraints": {"minimum": min(ends[0], low), "maximum": max(ends[1], high)}, "step": step}
        return "; ".join(said)

    def _levels(self, keys: dict[str, Any], names: Names) -> tuple[str, list[str]]:
        """Set the levels that enough users have, and return them in words, with reasons against the column."""
        profile, reasons = self.profile, []
        merged: dict[str, list[str]] = defaultdict(list)
        for level, _ in profile.rows.most_common():
            merged[fold(level)].append(level)
        owners = {some[0]: set().union(*(profile.levels[one] for one in some)) for some in merged.values()}
        rows = {some[0]: sum(profile.rows[one] for one in some) for some in merged.values()}
        coded = {level: kind for level in owners if (kind := code_in(level))}
        named = [level for level in owners if names.find(level)]
        kept = [level for level in owners if len(owners[level]) >= self.k and level not in coded and level not in named]
        total = max(1, sum(rows.values()))
        if named:
            reasons.append(f"{len(named):,} of its texts name users")
        if sum(rows[level] for level in coded) >= _SOME * total:
            reasons.append(f"it holds {next(iter(coded.values()))}")
        if profile.many or len(kept) > LEVELS:
            reasons.append(f"it has more than {LEVELS} texts")
            kept = kept[:LEVELS]
        if sum(rows[level] for level in kept) < 0.5 * total:
            reasons.append(f"most of its texts are those of fewer than {self.k} users")
        if kept:
            # a folded spelling would betray letter case: the first spelling is that of most rows
            keys["constraints"] = Constraints(enum=sorted({_tidy(level) for level in kept}, key=str))
            if len(kept) < len(owners):
                keys["nonconforming"] = "other"
        said = ", ".join(f"{_tidy(level)} ({len(owners[level])} users)" for level in kept[:8])
        more = f", {len(owners) - len(kept):,} others" if len(owners) > len(kept) else ""
        return (f"{len(kept)} levels: {said}{more}" if kept else ""), reasons

    def _released(self, values: pd.Series, keys: dict[str, Any]) -> pd.Series:
        """Return the cells as they would leave: levels only."""
        if self.known.type != "string" or "constraints" not in keys:
            return values
        spelled = {fold(level): level for level in keys["constraints"].enum}
        return values.map(lambda cell: spelled.get(fold(cell), "other"), na_action="ignore")


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
    finest = next(
        (
            places
            for places in range(13)
            if np.allclose(numbers, np.round(numbers, places), rtol=0, atol=1e-9 * max(1, abs(high)))
        ),
        12,
    )
    coarsest = int(np.ceil(np.log10(max(high - low, 1e-300) / DIGITS))) if high > low else -finest
    return float(10.0 ** max(-finest, coarsest))


def _with_titles(fields: Iterable[Field]) -> list[Field]:
    """Return fields whose titles differ."""
    done: list[Field] = []
    seen: set[str] = set()
    for place, some in enumerate(fields, 1):
        title = some.title
        while title in seen:
            title = f"x{place}" if title != f"x{place}" else f"{title}_{place}"
        seen.add(title)
        done.append(some.model_copy(update={"title": title}))
    return done


def _check_task(schema: Schema, called: str, task: pd.Series, users: pd.Series) -> None:
    known = schema.field(str(schema.task))
    levels = known.constraints.enum
    if known.type == "string" and (levels is None or len(levels) + (known.nonconforming == "other") < 2):
        raise ValueError(
            f"{called}: the task column {known.name!r} has fewer than two levels that {schema.k} users share and that "
            f"name nobody ({known.why}): choose another task, or coarser classes"
        )
    found = judge_values(task, users, known.step) if known.type == "string" else None
    if isinstance(found, Finding) and not found.soft:
        raise ValueError(
            f"{called}: the task column {known.name!r} must not leave: {found.reason}. Choose another task"
        )


def describe(schema: Schema) -> str:
    """Return one table of a schema in words: column, kind, unit, range or levels, proposal and why."""
    rows = [("column", "leaves as", "kind", "role", "range or levels; why")]
    for known in schema.fields:
        limits = known.constraints
        span = f"{limits.minimum:g} to {limits.maximum:g} in steps of {known.step:g}" if known.step else ""
        kind = known.type + (f" in {known.unit}" if known.unit else "")
        rows.append(
            (
                known.name[:40],
                known.title if known.leaves else "-",
                kind,
                known.role,
                "; ".join(filter(None, [span, known.why])),
            )
        )
    widths = [max(len(row[at]) for row in rows) for at in range(4)]
    return "\n".join(
        "  ".join([*(cell.ljust(width) for cell, width in zip(row, widths, strict=False)), row[4]]) for row in rows
    )
