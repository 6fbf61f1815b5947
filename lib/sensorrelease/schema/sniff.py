"""Guess how a file is written: format, encoding, delimiter, header. A person confirms the guesses in the schema."""

import codecs
import csv
import re
from itertools import islice
from pathlib import Path
from typing import Any

from sensorrelease.schema.dialect import Dialect
from sensorrelease.schema.files import OPENERS, explained, refuse_ratio
from sensorrelease.schema.formats import opened_book, sheet_rows

_FORMATS = {".jsonl": "jsonl", ".ndjson": "jsonl", ".parquet": "parquet", ".pq": "parquet", ".feather": "feather"}
_FORMATS |= {".xlsx": "xlsx", ".csv": "csv", ".tsv": "csv", ".txt": "csv", ".log": "csv", ".dat": "csv"}
SUFFIXES = tuple(_FORMATS)
_REMEDIES = {
    ".xls": "save it as .xlsx or .csv",
    ".ods": "save it as .xlsx or .csv",
    ".json": "write one record per line and name it .jsonl",
    ".zip": "unpack it first",
    ".toml": "recordings have a schema, which `sensorprivacy schema FOLDER --task COLUMN --user COLUMN` drafts",
}
_MARKS = {codecs.BOM_UTF8: "utf-8", codecs.BOM_UTF32_LE: "utf-32", codecs.BOM_UTF32_BE: "utf-32"}
_MARKS |= {codecs.BOM_UTF16_LE: "utf-16", codecs.BOM_UTF16_BE: "utf-16"}
_DELIMITERS = (",", ";", "\t", "|")
_HEAD = 2**20  # bytes that are looked at
_LINES = 60
_PREAMBLE = 12  # lines above a header
_NUMBER = re.compile(r"[+-]?[\d.,:/ -]*\d[\d.,:/ -]*")
_LOGGERS = ("TOA5", "TOACI1")
_NO_TEXT = re.compile(rb"[\x01-\x08\x0e-\x19\x1c-\x1f\x81\x8d\x8f\x90\x9d]")  # what no text in Windows-1252 holds


def sniff(file: Path) -> dict[str, Any]:
    """Return the keys of a schema that say how a file is written.

    Raises
    ------
    ValueError
        If its format is unknown, or it is no text although its name says so.
    """
    suffix, compression = file.suffix.lower(), None
    if suffix[1:] in OPENERS:
        suffix, compression = Path(file.stem).suffix.lower(), suffix[1:]
    kind = _FORMATS.get(suffix)
    if kind is None or (compression and kind not in ("csv", "jsonl")):
        remedy = _REMEDIES.get(suffix, "save it as CSV, or correct its name")
        raise ValueError(f"{file} has an unknown format: {remedy}. A name must end in {', '.join(_FORMATS)}")
    found: dict[str, Any] = {"format": kind, "compression": compression}
    if kind == "xlsx":
        return found | {"dialect": _sniff_sheet(file)}
    if kind not in ("csv", "jsonl"):
        return found
    with explained(file, "text"), OPENERS[compression](file, "rb") as stream:
        head = stream.read(_HEAD)
        encoding, size = _encoding(head, file), len(head)
        while encoding == "utf-8" and (block := stream.read(_HEAD * 16)):
            refuse_ratio(file, size := size + len(block))
            encoding = "utf-8" if _is_utf8(block) else "cp1252"
    if kind == "csv":
        text = head.decode(encoding, errors="replace")
        lines = text.splitlines(keepends=True)[:_LINES]
        found["dialect"] = _dialect(lines, file)
    return found | {"encoding": encoding}


def _is_utf8(block: bytes) -> bool:
    """Return whether a block is UTF-8, besides a character that is cut at either end."""
    start = next((at for at in range(4) if at >= len(block) or block[at] & 0xC0 != 0x80), 0)
    try:
        codecs.getincrementaldecoder("utf-8")().decode(block[start:])
    except UnicodeDecodeError:
        return False
    return True


def _encoding(head: bytes, file: Path) -> str:
    for mark, name in _MARKS.items():
        if head.startswith(mark):
            return name
    is_text = head[:4000].count(0) * 3 <= len(head[:4000])
    if is_text and _is_utf8(head):
        return "utf-8"
    if is_text and not _NO_TEXT.search(head):
        return "cp1252"
    said = "unpack it if it is packed, correct its name, or save it as UTF-8"
    raise ValueError(f"{file} is not text in UTF-8 or Windows-1252: {said}")


def _dialect(lines: list[str], file: Path) -> Dialect:
    """Return how the rows of a text are written."""
    mark = "#" if lines and lines[0].startswith("#") else None
    kept = [(at, line) for at, line in enumerate(lines, 1) if line.strip() and not (mark and line.startswith(mark))]
    if not kept:
        raise ValueError(f"{file} has no header: write the names of the columns into the first line")
    texts = [line for _, line in kept]

    def fit(delimiter: str) -> tuple[int, int]:
        sizes = [len(row) for row in _parse(texts, delimiter)]
        width = max(set(sizes), key=sizes.count)
        return (sizes.count(width) if width > 1 else 0, width)

    delimiter = max(_DELIMITERS, key=fit)
    apart = {len(text.split()) for text in texts}
    if fit(delimiter)[1] == 1 < len(texts) and len(apart) == 1 and apart != {1} and "\0" not in texts[0]:
        raise ValueError(f"{file} has spaces between its columns: write commas in their place")
    rows = [next(iter(_parse([line], delimiter)), []) for line in texts]
    header, units, trailing = _find_header(rows)
    filled = [cell for cell in rows[header[0]] if cell.strip()]
    numbers = [cell for cell in filled if _is_number(cell)]
    if 2 * len(numbers) >= len(filled) > 0 or any("." in cell for cell in numbers):
        raise ValueError(f"{file} has numbers in line {kept[header[0]][0]}, where the header is: write names above")
    return Dialect(
        delimiter=delimiter,
        headerRows=[kept[at][0] for at in header],
        commentRows=[kept[at][0] for at in units],
        commentChar=mark,
        trailingDelimiter=trailing,
    )


def _parse(lines: list[str], delimiter: str) -> list[list[str]]:
    try:
        return [row for row in csv.reader(lines, delimiter=delimiter) if row]
    except csv.Error:
        return [line.rstrip("\r\n").split(delimiter) for line in lines]


def _is_number(cell: str) -> bool:
    return _NUMBER.fullmatch(cell.strip()) is not None


def _find_header(rows: list[list[str]]) -> tuple[list[int], list[int], bool]:
    """Return the places of the rows of the header, of rows of units below it, and whether rows end with a delimiter."""
    if rows[0][:1] and rows[0][0] in _LOGGERS:
        return [1], [at for at in (2, 3) if at < len(rows) and not any(map(_is_number, rows[at]))], False
    sizes = [len(row) for row in rows]
    width = max(set(sizes), key=sizes.count)
    first = next(
        (at for at, row in enumerate(rows) if len(row) == width or (len(row) == width - 1 and not rows[-1][-1])), 0
    )
    above = [size for size in sizes[:first] if size > 2]
    if first > _PREAMBLE or len(set(above)) < len(above) or any(map(_is_number, rows[first])):
        first = 0
    header = [first]
    # names in several rows: some are equal or missing until the next row joins them
    while len(header) < 3 and header[-1] + 1 < len(rows):
        names = [" ".join(rows[at][k].strip() for at in header if k < len(rows[at])) for k in range(sizes[first])]
        below = rows[header[-1] + 1]
        unclear = len({*names}) < len(names) or len([name for name in names if not name.strip()]) > 1
        if not unclear or any(map(_is_number, below)) or len(below) != sizes[first]:
            break
        header.append(header[-1] + 1)
    body = rows[header[-1] + 1 :]
    units = []
    if len(body) > 3 and sum(map(_is_number, body[3])) > 1:
        numbers = [at for at, cell in enumerate(body[3]) if _is_number(cell)]
        for at, row in enumerate(body[:2]):
            words = [row[k] for k in numbers if k < len(row) and row[k].strip()]
            if len(words) < 2 or any(map(_is_number, words)) or any(word.lower() in _ABSENT for word in words):
                break
            units.append(header[-1] + 1 + at)
    ends = [row[-1] == "" for row in body if len(row) == sizes[first] + 1]
    short = rows[first][-1] == "" and sizes[first] > 1 and body and all(len(row) == sizes[first] - 1 for row in body)
    return header, units, bool(short or (ends and all(ends)))


_ABSENT = frozenset({"na", "nan", "n/a", "null", "none", "-", "--", "?", "unknown", "unavailable", "missing"})


def _sniff_sheet(file: Path) -> Dialect:
    """Return how the longest of the sheets is written; the first one, if several are."""
    with opened_book(file) as book:
        shown = [sheet.title for sheet in book.worksheets if sheet.sheet_state == "visible"]
        sheets = {name: islice(sheet_rows(file, book, Dialect(sheet=name)), _LINES) for name in shown}
        found = {name: [(at, row) for at, row in rows if row] for name, rows in sheets.items()}
    if not any(found.values()):
        raise ValueError(f"{file} has no visible sheet with rows")
    kept = found[name := max(found, key=lambda one: len(found[one]))]
    width = max(len(row) for _, row in kept)
    header, units, _ = _find_header([row + [""] * (width - len(row)) if len(row) > 2 else row for _, row in kept])
    return Dialect(
        sheet=name if name != shown[0] else None,
        headerRows=[kept[at][0] for at in header],
        commentRows=[kept[at][0] for at in units],
    )
