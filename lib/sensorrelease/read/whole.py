"""Read files that are not read in pieces: Excel sheets."""

import importlib
import re
from collections import Counter
from collections.abc import Collection, Iterable
from io import BytesIO
from pathlib import Path
from typing import Any
from zipfile import ZipFile

import pandas as pd

from sensorprivacy.checks import counted, rows_in_words
from sensorrelease.columns.decimals import NA
from sensorrelease.read.text import find_header

LOOK_AT = 50  # lines from which the delimiter and the header are inferred
_MOST_UNPACKED = 2**30  # bytes of an Excel file


def read_excel(file: Path, labels: Collection[str]) -> tuple[pd.DataFrame, list[str]]:
    """Return the visible cells of the first visible sheet below its title, and notices of the others."""
    try:
        importlib.import_module("openpyxl")
    except ModuleNotFoundError as error:
        raise ModuleNotFoundError(
            f"{file} is an Excel file, and reading it needs openpyxl: pip install openpyxl, or save it as CSV",
            name="openpyxl",
        ) from error
    try:
        with ZipFile(file) as archive:
            if sum(member.file_size for member in archive.infolist()) > _MOST_UNPACKED:
                raise ValueError(f"it unpacks to more than {_MOST_UNPACKED:,} bytes")
        # a sheet that is only read does not know its hidden rows
        with pd.ExcelFile(BytesIO(file.read_bytes()), engine_kwargs={"read_only": False}) as book:
            sheet = next(sheet for sheet in book.book.worksheets if sheet.sheet_state == "visible")
            hidden = sorted(row - 1 for row, how in sheet.row_dimensions.items() if how.hidden and row <= sheet.max_row)
            ends = [(how.min - 1, how.max) for how in sheet.column_dimensions.values() if how.hidden]
            unseen = [at for at in range(sheet.max_column) if any(first <= at < end for first, end in ends)]
            top = pd.read_excel(book, sheet.title, header=None, nrows=LOOK_AT, skiprows=hidden, dtype=str)
            empty = [at for at in top if at in unseen or not top[at].notna().any()]
            titles = _rows_before_header(top.drop(columns=empty))
            shown = [row for row in range(len(hidden) + titles + 1) if row not in set(hidden)]
            where: Any = {"skiprows": [*hidden, *shown[:titles]], "usecols": [at for at in top if at not in empty]}
            names = pd.read_excel(book, sheet.title, header=None, nrows=1, **where).to_numpy().ravel()
            refuse_twins(map(str, names), file)
            table = pd.read_excel(book, sheet.title, **where, **missing_cells(names, labels))
    except Exception as error:  # zipfile and openpyxl raise many types for a damaged file
        if str(file) in str(error):
            raise
        raise ValueError(f"{file} cannot be read as Excel: {error}; save it as CSV") from error
    said = [rows_in_words(titles, "above the header", "left out")] if titles else []
    for count, what in ((len(hidden), "row"), (len(unseen), "column")):
        if count:
            said.append(f"{counted(count, f'hidden {what}', 'is', 'are')} left out: unhide what you need")
    return table.dropna(how="all").reset_index(drop=True), said


def _rows_before_header(top: pd.DataFrame) -> int:
    """Return how many rows of a sheet come before its header, as in a text whose lines end with their last cell."""
    rows = [[re.sub(r"\s", " ", cell).replace('"', "'") for cell in row] for row in top.fillna("").to_numpy()]
    return find_header(["|".join(cell.replace("|", "/") for cell in row).rstrip("|") + "\n" for row in rows], "|")


def missing_cells(names: Iterable[Any], labels: Collection[str]) -> dict[str, Any]:
    """Return options of pandas's readers: which texts are missing cells in each column."""
    texts = {name: [""] if str(name).strip() in labels else sorted(NA) for name in names}
    return {"keep_default_na": False, "na_values": texts}


def refuse_twins(names: Iterable[str], file: Path) -> None:
    """Raise ValueError if two columns have one name."""
    if twice := [name for name, count in Counter(map(str.strip, names)).items() if name and count > 1]:
        raise ValueError(f"{file} has more than one column named {', '.join(twice)}: rename them")
