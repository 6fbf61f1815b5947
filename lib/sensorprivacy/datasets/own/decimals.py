"""Read numbers with a decimal comma, as spreadsheets in many countries write them."""

import re
from pathlib import Path

import pandas as pd

# 3 | 3,5 | 1.234,5 | -,5e3: digits with a decimal comma, and points or spaces between thousands
_COMMA = re.compile(r"[+-]?(?=[\d,])(?:\d{1,3}(?:[. \u00a0\u202f]\d{3})+|\d*)(?:,\d+)?(?:[eE][+-]?\d+)?")
# 1,234 | 1,234,567.8: commas between thousands
_THOUSANDS = re.compile(r"[+-]?[1-9]\d{0,2}(?:,\d{3})+(?:\.\d+)?")
_POINT = re.compile(r"[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?")
_REMEDY = "write numbers with a decimal point and without thousands separators"


def read_decimal_commas(frame: pd.DataFrame, file: Path) -> pd.DataFrame:
    """Return a table whose texts with decimal commas are numbers.

    Parameters
    ----------
    frame : pandas.DataFrame
        A table as pandas reads it: a column with a decimal comma is text.
    file : pathlib.Path
        Its file, for errors.

    Returns
    -------
    pandas.DataFrame
        The table. A column of text becomes float64 if all its cells are numbers and some have a decimal comma.

    Raises
    ------
    ValueError
        If commas may separate thousands, or one column has decimal commas and another one decimal points.
    """
    with_commas = {}
    for name in frame.columns[[not pd.api.types.is_numeric_dtype(kind) for kind in frame.dtypes]]:
        cells = [str(cell).strip() for cell in frame[name].dropna().unique()]
        commas = [cell for cell in cells if "," in cell]
        numbers = all(map(looks_like_number, cells))
        if commas and numbers:
            with_commas[name] = commas
    if not with_commas:
        return frame
    # A number such as 1,5 or 0,125 cannot be in thousands, so it shows what the commas of the whole file mean.
    decimal = any(not _THOUSANDS.fullmatch(cell) for cells in with_commas.values() for cell in cells)
    for name, cells in with_commas.items():
        unclear = [cell for cell in cells if not decimal or not _COMMA.fullmatch(cell)]
        if unclear:
            raise ValueError(
                f"{file}: column {name!r} holds numbers such as {unclear[0]!r}, where the comma can mean thousands or "
                f"decimals: {_REMEDY}"
            )
    points = [name for name in frame.select_dtypes("float") if (frame[name].dropna() % 1 != 0).any()]
    if points:
        raise ValueError(
            f"{file} mixes decimal commas (column {next(iter(with_commas))!r}) and decimal points (column "
            f"{points[0]!r}): {_REMEDY}"
        )
    return frame.assign(**{str(name): _numbers(frame[name]) for name in with_commas})


def looks_like_number(cell: str) -> bool:
    """Return whether a text is a number with a point or a comma, or one with separated thousands."""
    return any(pattern.fullmatch(cell) for pattern in (_COMMA, _THOUSANDS, _POINT))


def _numbers(column: pd.Series) -> pd.Series:
    values = {
        cell: float(re.sub(r"[. \u00a0\u202f]", "", str(cell)).replace(",", ".")) for cell in column.dropna().unique()
    }
    return column.map(values).astype(float)
