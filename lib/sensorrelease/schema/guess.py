"""Guess how the cells of a column are read: type, decimal sign, unit, missing cells. A person confirms the guesses."""

import re
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from sensorrelease.schema.cells import Converter, is_nested
from sensorrelease.schema.model import Field, Schema, fold

CLASSES = 20  # most different cells of a task that are classes
ABSENT = ["", "NA", "N/A", "n/a", "#N/A", "<NA>", "NaN", "nan", "-NaN", "NULL", "null", "Null"]
_ABSENT_NUMBERS = ["none", "?", "-", "--", "\u2013", "\u2014", ".", "*", "n.a.", "missing", "unknown", "unavailable"]
_ABSENT_NUMBERS += ["#div/0!", "#value!", "#ref!", "#num!", "#name?"]
_SOME = 0.1  # share of words among numbers, from which they are no missing numbers
_POINT, _COMMA = {"decimalChar": "."}, {"decimalChar": ","}
_WAYS = [_POINT, _COMMA, _POINT | {"groupChar": ","}, _COMMA | {"groupChar": "."}]
_WAYS += [_POINT | {"groupChar": " "}, _POINT | {"groupChar": "'"}]
_UNIT = re.compile(r"([+\u2212-]?[\d.,]*\d)[ \u00a0\u202f]?([^\d\s.,:+-][^\d\s:]{0,9})")
_LABEL = re.compile(r"[+-]?0\d+|\d{16,}")
_UNCLEAR = re.compile(r"[+\u2212-]?[1-9]\d{0,2},\d{3}|\d+")


@dataclass
class Guess:
    """What the cells of a column look like.

    Attributes
    ----------
    keys : dict
        Keys of its field; none if the column cannot be read.
    remark : str
        Why it is unclear.
    odd : str
        A cell in which the comma can mean thousands or decimals.
    """

    keys: dict[str, Any]
    remark: str = ""
    odd: str = ""


def _text(remark: str = "") -> Guess:
    return Guess({"type": "string"}, remark)


def guess_column(cells: pa.Array, role: str | None) -> Guess:
    """Return how a column is read."""
    kind = cells.type.value_type if pa.types.is_dictionary(cells.type) else cells.type
    if is_nested(kind):
        return Guess({}, "it holds nested values or bytes")
    few = role == "task" and len(cells.unique()) <= CLASSES  # each is a class: 1E5 and 100000 are two
    if role in ("user", "recording") or (few and not pa.types.is_boolean(kind)):
        return Guess({"type": "string", "missingValues": [""]})
    if pa.types.is_boolean(kind) or pa.types.is_integer(kind):
        return Guess({"type": "boolean" if pa.types.is_boolean(kind) else "integer"})
    if pa.types.is_floating(kind) or pa.types.is_decimal(kind) or pa.types.is_duration(kind):
        return Guess({"type": "number"})
    if pa.types.is_temporal(kind):
        return _text("it holds times")
    texts = Counter(text for cell in cells.to_pylist() if cell is not None and (text := str(cell).strip()))
    return guess_texts(texts)


def second_header(head: Mapping[str, pa.Array]) -> int | None:
    """Return the first row in which half of the columns or more, and at least two, hold their own names."""
    kinds = {name: is_nested(cells.type) or pa.types.is_primitive(cells.type) for name, cells in head.items()}
    texts = {name: cells.cast(pa.string()) for name, cells in head.items() if not kinds[name]}
    same = Counter(
        row
        for name, cells in texts.items()
        for row in pc.indices_nonzero(pc.equal(pc.utf8_trim_whitespace(cells), name)).to_pylist()
    )
    return min((row for row, many in same.items() if many >= max(2, len(head) / 2)), default=None)


def guess_texts(texts: Counter[str]) -> Guess:
    """Return how a column of texts is read; `texts` counts its cells."""
    if 0 < len(texts) < 9 and {fold(text) for text in texts} <= {"true", "false"}:
        return Guess({"type": "boolean"})
    absent = [text for text in texts if text in ABSENT or text.lower() in _ABSENT_NUMBERS]
    cells = Counter({text: rows for text, rows in texts.items() if text not in absent})
    if not cells or any(map(_LABEL.fullmatch, cells)):
        return _text()
    keys, words, others = _POINT, [*cells], 2.0
    for way in _WAYS:
        misfits = _misfits(cells, way)
        if (share := sum(cells[text] for text in misfits) / cells.total()) < others:
            keys, words, others = way, misfits, share
        if not misfits:
            break
    if words and (united := _with_units(cells)):
        found = united
    elif not words:
        unclear = keys is _COMMA and all(map(_UNCLEAR.fullmatch, cells))
        found = Guess({"type": "number"} | keys, odd=next(text for text in cells if "," in text) if unclear else "")
    elif others <= _SOME and len(words) <= 3 and not any(map(str.isdigit, "".join(words))):
        absent += words
        found = Guess({"type": "number"} | keys)
    elif sum(rows for text, rows in cells.items() if text[:2].lower() == "0x") > 0.5 * cells.total():
        return _text("it holds hexadecimal numbers")
    else:
        rest = f" and {len(words) - 1:,} more" if len(words) > 1 else ""
        return _text(f"most of its cells are numbers, but not {words[0][:30]!r}{rest}" if others <= 0.5 else "")
    if more := [text for text in absent if text not in ABSENT]:
        found.keys["missingValues"] = [*ABSENT, *more]
    return found


def _misfits(cells: Counter[str], way: dict[str, str]) -> list[str]:
    """Return the cells that are no numbers if they are written in a way."""
    read = Converter(Field(name="x", type="number", **way), Schema(fields=[])).number  # type: ignore[arg-type]
    return [text for text in cells if read(text) is None]


def _with_units(cells: Counter[str]) -> Guess | None:
    """Return a guess for numbers with units in their cells, or None."""
    found = [match for text in cells if (match := _UNIT.fullmatch(text))]
    units = list(dict.fromkeys(match[2] for match in found))
    if len(found) < 0.9 * len(cells):
        return None
    if len(units) > 1 or len(found) < len(cells):
        return _text(f"its cells have several units: {', '.join(map(repr, units[:4]))}")
    bare = guess_texts(Counter(match[1] for match in found))
    if bare.keys["type"] != "number" or bare.odd:
        return _text("its cells are numbers with a unit, written in an unclear way")
    return Guess(bare.keys | {"unit": units[0], "bareNumber": False})


def settle_commas(guesses: Iterable[Guess]) -> None:
    """Decide what 1,234 means by the other columns, or remark that it is unclear."""
    some = list(guesses)
    commas = any(one.keys.get("decimalChar") == "," and not one.odd for one in some)
    for one in some:
        if one.odd and not commas:
            one.keys |= _WAYS[2]
            one.remark = f"{one.odd!r} can mean thousands or decimals: say it with groupChar or decimalChar"


def absent_labels(labels: Iterable[str]) -> str:
    """Return in words which labels can mean missing ones."""
    found = [label for label in labels if label in ABSENT or label.lower() in _ABSENT_NUMBERS]
    return f"{', '.join(map(repr, found))} count as labels: add them to missingValues if not" if found else ""
