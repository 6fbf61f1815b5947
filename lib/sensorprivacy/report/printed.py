"""The papers' printed values: every number, set and statement that a run can be held against.

``data/paper/paper-<n>.csv`` has one row a value. A value that is a number carries it in ``value`` and the printed
decimals in ``decimals``; everything else (a set of attributes, a pair of thresholds, a statement, a name) is told
from the form of its printed text, see :func:`kind_of`.
"""

import math
import re
from functools import cache
from pathlib import Path
from typing import Any

import pandas as pd

from sensorprivacy.paths import data_dir

COLUMNS = ("claim_id", "paper", "table", "row", "column", "printed", "value", "decimals")
PAPERS = (1, 2, 3)
KINDS = ("number", "set", "pair", "truth", "text")

_WORDS = {
    word: number
    for number, word in enumerate(
        ("one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve"), start=1
    )
}
_NUMBER = re.compile(r"-?(\d{1,3}(,\d{3})+|\d+)(\.\d+)?")
_PAIR = re.compile(r"\(\s*(-?[\d.]+)\s*,\s*(-?[\d.]+)\s*\)")
_ID = re.compile(r"[123]-(T\d+|text)-[a-z0-9]+(-[a-z0-9]+)*")


class PaperValuesError(ValueError):
    """A file of printed values breaks its own rules."""


def printed_values(paper: int | None = None, *, folder: Path | None = None) -> pd.DataFrame:
    """Return what the papers print, one row a value.

    Parameters
    ----------
    paper : {1, 2, 3}, optional
        The paper; all that are transcribed when left out.
    folder : pathlib.Path, optional
        Where the files ``paper-<n>.csv`` lie; ``data/paper/`` of the checkout when left out.

    Returns
    -------
    pandas.DataFrame
        Columns ``claim_id, paper, table, row, column, printed, value, decimals`` in the papers' order. `table` is the
        table's number as text, or ``"text"``; `value` is NaN and `decimals` missing where the claim is no number.

    Raises
    ------
    PaperValuesError
        If a file breaks a rule: an id twice, a value that is not what its printed text says, wrong decimals.
    ValueError
        If there is no such paper.

    Examples
    --------
    >>> values = printed_values(2)
    >>> values.loc[values.claim_id == "2-T2-occupation", "printed"].item()
    '0.75'
    """
    if paper is not None and paper not in PAPERS:
        raise ValueError(f"paper={paper!r}: the papers are {', '.join(map(str, PAPERS))}")
    folder = data_dir() / "paper" if folder is None else Path(folder)
    wanted = PAPERS if paper is None else (paper,)
    paths = [path for number in wanted if (path := folder / f"paper-{number}.csv").is_file()]
    if not paths:
        raise FileNotFoundError(f"no printed values of paper {paper or 'any'} in {folder}: expected paper-<number>.csv")
    frames = [_load(path, path.stat().st_mtime_ns) for path in paths]
    return pd.concat(frames, ignore_index=True)


def number_in(printed: str) -> tuple[float, int | None] | None:
    """Return the number that a printed text states, and how many decimals it is printed with.

    Understood are plain numbers with or without thousands commas (``48,842``), percentages (``30%`` is 0.30, two
    decimals), fractions (``2/20``, exact: no decimals), products (``12 × 10 × 1``) and the words one to twelve.

    Returns
    -------
    tuple of (float, int or None), or None
        None if the text states no number.

    Examples
    --------
    >>> number_in("48,842"), number_in("30%"), number_in("2/20"), number_in("12 × 10 × 1"), number_in("three")
    ((48842.0, 0), (0.3, 2), (0.1, None), (120.0, 0), (3.0, 0))
    """
    text = printed.strip()
    if text.lower() in _WORDS:
        return float(_WORDS[text.lower()]), 0
    if text.endswith("%") and (plain := _plain(text[:-1])):
        return round(plain[0] / 100, plain[1] + 2), plain[1] + 2
    if "/" in text and all(parts := [_plain(part) for part in text.split("/", 1)]):
        return parts[0][0] / parts[1][0], None  # type: ignore[index]
    if "×" in text and all(parts := [_plain(part) for part in text.split("×")]):
        return math.prod(part[0] for part in parts if part), 0
    return _plain(text)


def kind_of(printed: str, value: float) -> str:
    """Return what sort of claim a printed value is: one of `KINDS`.

    A claim with a `value` is a number; else ``{a, b}`` is a set of names, ``(a, b)`` a pair of thresholds, ``true`` or
    ``false`` a statement, and anything else text.
    """
    if not math.isnan(value):
        return "number"
    text = printed.strip()
    if text.startswith("{") and text.endswith("}"):
        return "set"
    if _PAIR.fullmatch(text):
        return "pair"
    return "truth" if text in ("true", "false") else "text"


def set_in(printed: str) -> tuple[str, ...]:
    """Return the names in a printed set ``{a, b}``, in printed order."""
    return tuple(name for part in printed.strip().strip("{}").split(",") if (name := part.strip()))


def pair_in(printed: str) -> tuple[tuple[float, int], tuple[float, int]]:
    """Return both numbers of a printed pair ``(a, b)``, each with its decimals."""
    match = _PAIR.fullmatch(printed.strip())
    if match is None:
        raise ValueError(f"{printed!r} is no pair of numbers (a, b)")
    first, second = (_plain(part) for part in match.groups())
    if first is None or second is None:
        raise ValueError(f"{printed!r} is no pair of numbers (a, b)")
    return first, second


def precision(values: pd.DataFrame) -> pd.Series:
    """Return to how many decimals each number is to be held.

    A paper that prints 0.72 and 0.2 in one column has dropped a zero, and a bare "0" among two-decimal measures does
    not mean "anything below a half". So a value is held to its own printed decimals or to those usual in its family
    (its table's column; in running text the claims that share the first word of their id), whichever is more.

    Returns
    -------
    pandas.Series
        Decimals (nullable integers) indexed as `values`; missing for an exact fraction and for what is no number.
    """
    stem = values["claim_id"].str.split("-").str[:3].str.join("-")
    column = values["paper"].astype(str) + "/" + values["table"] + "/" + values["column"]
    family = stem.where(values["table"] == "text", column)
    printed = values["decimals"].astype(float)
    # the most frequent number of decimals; of two equally frequent ones the greater
    usual = printed.groupby(family).transform(lambda group: group.mode().max())
    return printed.where(printed.isna() | (printed >= usual), usual).astype("Int64")


def _plain(text: str) -> tuple[float, int] | None:
    match = _NUMBER.fullmatch(text.strip())
    if match is None:
        return None
    return float(match.group(0).replace(",", "")), max(len(match.group(3) or "") - 1, 0)


@cache
def _load_cached(path: Path, _stamp: int) -> pd.DataFrame:
    text = dict.fromkeys(("claim_id", "table", "row", "column", "printed"), str)
    frame = pd.read_csv(path, dtype=text, keep_default_na=False, na_values={"value": [""], "decimals": [""]})
    if tuple(frame.columns) != COLUMNS:
        raise PaperValuesError(f"{path.name}: columns {list(frame.columns)}, expected {list(COLUMNS)}")
    frame["decimals"] = frame["decimals"].astype("Int64")
    frame["value"] = frame["value"].astype(float)
    _check(frame, path.name)
    return frame


def _load(path: Path, stamp: int) -> pd.DataFrame:
    return _load_cached(path, stamp).copy()


def _check(frame: pd.DataFrame, file: str) -> None:
    twice = frame.loc[frame["claim_id"].duplicated(), "claim_id"].tolist()
    if twice:
        raise PaperValuesError(f"{file}: claim ids given twice: {', '.join(twice)}")
    number = int(re.sub(r"\D", "", file) or 0)
    claim: Any
    for claim in frame.itertuples(index=False):
        where = f"{file}: {claim.claim_id}"
        if not _ID.fullmatch(claim.claim_id):
            raise PaperValuesError(f"{where}: an id is paper-table-words in lower case, such as 2-T9-r1-utility")
        if claim.paper != number or not claim.claim_id.startswith(f"{number}-"):
            raise PaperValuesError(f"{where}: paper {claim.paper} in the file of paper {number}")
        if claim.claim_id.split("-")[1] != ("text" if claim.table == "text" else f"T{claim.table}"):
            raise PaperValuesError(f"{where}: the id names another table than {claim.table!r}")
        if not claim.printed:
            raise PaperValuesError(f"{where}: nothing printed")
        _check_number(claim.printed, claim.value, claim.decimals, where)


def _check_number(printed: str, value: float, decimals: Any, where: str) -> None:
    if math.isnan(value):
        if not pd.isna(decimals):
            raise PaperValuesError(f"{where}: decimals {decimals} without a value")
        return
    stated = number_in(printed)
    if stated is None:
        raise PaperValuesError(f"{where}: value {value} but {printed!r} states no number")
    if stated[0] != value:
        raise PaperValuesError(f"{where}: value {value} but {printed!r} says {stated[0]}")
    if (None if pd.isna(decimals) else int(decimals)) != stated[1]:
        raise PaperValuesError(f"{where}: decimals {decimals} but {printed!r} is printed with {stated[1]}")
