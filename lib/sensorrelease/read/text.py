"""Find out how a text is packed, encoded and divided into fields, and which of its columns of digits are labels."""

import bz2
import codecs
import csv
import gzip
import lzma
import re
import warnings
import zlib
from collections.abc import Mapping
from functools import lru_cache
from io import TextIOWrapper
from pathlib import Path
from typing import Any, TextIO, cast

import pandas as pd

from sensorrelease.columns.decimals import MISSING

OPENERS: Mapping[str, Any] = {".gz": gzip.open, ".bz2": bz2.open, ".xz": lzma.open}
_MARKS = {codecs.BOM_UTF8: "utf-8-sig", codecs.BOM_UTF32_LE: "utf-32", codecs.BOM_UTF32_BE: "utf-32"}
_MARKS |= {codecs.BOM_UTF16_LE: "utf-16", codecs.BOM_UTF16_BE: "utf-16"}
_DELIMITERS = (",", ";", "\t", "|")
_RATIO, _MOST = 100, 2**30  # a file that unpacks to so many times its size, and to more bytes, is no table
_STEP = 2**24  # bytes of a text that are decoded at a time
_BLOCK = 2**20  # characters that are searched at a time
_ROWS = 50_000  # that are parsed at a time
_NUMBER = re.compile(r"[+-]?[\d.,:/ -]*\d[\d.,:/ -]*")
_LONG = 16  # digits that a float may not hold


def find_encoding(file: Path, packed: str) -> str:
    """Return the encoding of a text: by its byte order mark, else UTF-8, else Windows-1252 or Latin-1."""
    try:
        with OPENERS.get(packed, open)(file, "rb") as stream:
            head = stream.read(_STEP)
            for mark, name in _MARKS.items():
                if head.startswith(mark):
                    return name
            if b"\0" in head:
                zeros = [head[at:2000:2].count(0) for at in (0, 1)]
                if max(zeros) > 20 * min(zeros) + 1:
                    return "utf-16-be" if zeros[0] > zeros[1] else "utf-16-le"
                raise ValueError(f"{file} is not text, although its name says so: save it as CSV in UTF-8")
            decoder, undefined = codecs.getincrementaldecoder("utf-8")(), False
            fits, unpacked = True, 0
            while head:
                unpacked += len(head)
                if unpacked > max(_MOST, _RATIO * file.stat().st_size):
                    raise ValueError(f"{file} unpacks to more than {_RATIO} times its size: is it a table?")
                undefined = undefined or any(byte in head for byte in (b"\x81", b"\x8d", b"\x8f", b"\x90", b"\x9d"))
                try:
                    decoder.decode(head)
                except UnicodeDecodeError:
                    fits = False
                head = stream.read(_STEP)
    except (OSError, EOFError, lzma.LZMAError, zlib.error) as error:
        raise ValueError(f"{file} cannot be unpacked: {error}") from error
    return "utf-8-sig" if fits else "latin-1" if undefined else "cp1252"


def open_text(file: Path, packed: str, encoding: str) -> TextIO:
    """Open a text for reading, unpacked and decoded."""
    return TextIOWrapper(cast(Any, OPENERS.get(packed, open)(file, "rb")), encoding=encoding, newline="")


def infer_delimiter(lines: list[str]) -> str:
    """Return the delimiter for which most lines have as many fields as the header; among equals, the most fields.

    Parameters
    ----------
    lines : list of str
        The first lines of the file.

    Returns
    -------
    str
        A comma if there is only one column.
    """

    def fit(delimiter: str) -> tuple[bool, int, int]:
        rows = [row for row in csv.reader(lines[find_header(lines, delimiter) :], delimiter=delimiter) if row]
        columns = len(rows[0]) if rows else 0
        return columns > 1, sum(len(row) == columns for row in rows[:-1]) if columns > 1 else 0, columns

    return max(_DELIMITERS, key=fit)


def find_header(lines: list[str], delimiter: str) -> int:
    """Return how many lines come before the header: the banner of a logger, such as TOA5 or ActiGraph's.

    The lines of a banner have at most half as many fields as the records, and the header below it has no number. The
    banner of TOA5 has as many fields as it likes.
    """
    reader = csv.reader(lines, delimiter=delimiter)
    rows = [(row, reader.line_num) for row in reader]
    if rows and rows[0][0][:1] in (["TOA5"], ["TOACI1"]):
        return rows[0][1]
    sizes = [len(row) for row, _ in rows if row]
    columns = max(set(sizes), key=sizes.count, default=0)
    at = next((at for at, (row, _) in enumerate(rows) if len(row) == columns), 0)
    if not at or columns < 3 or any(2 * len(row) > columns for row, _ in rows[:at]) or not all(rows[at][0]):
        return 0
    return 0 if any(is_number(cell.strip()) for cell in rows[at][0]) else rows[at - 1][1]


def is_number(cell: str) -> bool:
    """Return whether a cell of a text holds digits and marks of numbers, dates or times only."""
    return _NUMBER.fullmatch(cell) is not None


def label_columns(file: Path, packed: str, encoding: str, **options: Any) -> list[str]:
    """Return the columns that must be read as text because numbers would merge or change their cells.

    All cells of such a column are digits, and some begin with 0, or have 16 digits or more in a column with missing
    cells, which pandas would round.

    Parameters
    ----------
    file : pathlib.Path
        A CSV file.
    packed, encoding : str
        As for `open_text`.
    **options
        How `pandas.read_csv` reads the file, with ``sep``.
    """
    known = file.stat()
    return list(_label_columns(file, (packed, encoding), tuple(options.items()), (known.st_mtime_ns, known.st_size)))


@lru_cache(maxsize=8)
def _label_columns(file: Path, opened: tuple[str, str], options: Any, _: Any) -> tuple[str, ...]:
    edge = f'"\r\n{re.escape(dict(options)["sep"])}'
    sign = re.compile(rf"(?:^|[{edge}]) *(?:0\d+|\d{{{_LONG},}}) *(?=[{edge}]|$)")
    with open_text(file, *opened) as stream:
        while block := stream.read(_BLOCK):
            if sign.search(block + stream.readline()):
                break
        else:
            return ()
    zeros: dict[str, bool] = {}
    long: set[str] = set()
    gaps: set[str] = set()
    others: set[str] = set()
    with open_text(file, *opened) as stream, warnings.catch_warnings():
        warnings.simplefilter("ignore", pd.errors.ParserWarning)  # the caller reports rows that are too long
        for piece in pd.read_csv(stream, dtype=str, chunksize=_ROWS, **dict(options)):
            for name in set(map(str, piece)) - others:
                cells = piece[name].dropna().str.strip()
                cells = cells[~cells.str.lower().isin(MISSING)]
                if not cells.str.fullmatch(r"\d+").all():
                    others.add(name)
                zeros[name] = zeros.get(name, False) or bool(cells.str.match(r"0\d").any())
                long |= {name} if cells.str.match(rf"\d{{{_LONG}}}").any() else set()
                gaps |= {name} if len(cells) < len(piece) else set()
    return tuple(name for name, found in zeros.items() if name not in others and (found or name in long & gaps))
