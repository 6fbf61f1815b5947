"""Find columns of a CSV file whose digits are labels: 0100 and 100 are two households, but one number."""

import re
import warnings
from functools import lru_cache
from pathlib import Path
from typing import Any

import pandas as pd

from sensorprivacy.columns.decimals import MISSING
from sensorprivacy.own.texts import open_text

_BLOCK = 2**20  # characters that are searched at a time
_ROWS = 50_000  # that are parsed at a time
_LONG = 16  # digits that a float may not hold


def label_columns(file: Path, packed: str, encoding: str, **options: Any) -> list[str]:
    """Return the columns that must be read as text because numbers would merge or change their cells.

    All cells of such a column are digits, and some begin with 0, or have 16 digits or more in a column with missing
    cells, which pandas would round.

    Parameters
    ----------
    file : pathlib.Path
        A CSV file.
    packed, encoding : str
        As for `texts.open_text`.
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
