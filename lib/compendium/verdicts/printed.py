"""The papers' printed values: every number, set and statement that a run can be compared with.

``data/paper/paper-<n>.csv`` has one row for each value. A number is in ``value`` and its printed decimals are in
``decimals``. The form of the printed text shows the kind of any other claim (a set of attributes, a pair of thresholds,
a statement, a name), see :func:`kind_of`. The other columns say where our value is and what its verdict is based on,
see :mod:`.cells`.
"""

import math
import re
import tomllib
from functools import cache
from pathlib import Path
from typing import Any

import pandas as pd

from compendium.paths import data_dir
from compendium.verdicts.words import PAPERS

COLUMNS = (
    *("claim_id", "paper", "table", "row", "column", "printed", "value", "decimals"),
    *("basis", "varied", "run", "our_table", "where", "our_column", "needs", "undecided"),
)

_PAIR = re.compile(r"\(\s*(-?[\d.]+)\s*,\s*(-?[\d.]+)\s*\)")


def printed_values(paper: int | None = None) -> pd.DataFrame:
    """Return the printed values of one paper or of all papers, one row for each value.

    Parameters
    ----------
    paper : {1, 2, 3}, optional
        The paper; the default is all papers.

    Returns
    -------
    pandas.DataFrame
        The columns `COLUMNS`, in the papers' order. `table` is the table's number as text, or ``"text"``. `value` is
        NaN and `decimals` is missing if the claim is not a number. `basis` may name several, the usual one first.

    Raises
    ------
    ValueError
        If `paper` is not 1, 2 or 3.

    Examples
    --------
    >>> values = printed_values(2)
    >>> values.loc[values.claim_id == "2-T2-occupation", "printed"].item()
    '0.75'
    """
    if paper is not None and paper not in PAPERS:
        raise ValueError(f"paper={paper!r}: the papers are {', '.join(map(str, PAPERS))}")
    wanted = PAPERS if paper is None else (paper,)
    paths = [data_dir() / "paper" / f"paper-{number}.csv" for number in wanted]
    return pd.concat([_load(path, path.stat().st_mtime_ns) for path in paths], ignore_index=True)


def printed_table(paper: int, table: str, field: str = "value") -> pd.DataFrame:
    """Return a printed table with its rows and columns, in printed order.

    Parameters
    ----------
    paper : {1, 2, 3}
        The paper.
    table : str
        The table's number.
    field : str, default "value"
        What to return of each cell: ``value``, ``printed``, ``claim_id`` or another column of `printed_values`.
    """
    values = printed_values(paper)
    own = values[values["table"] == table]
    wide = own.set_index(["row", "column"])[field].unstack()  # noqa: PD010 - nothing to aggregate
    return wide.loc[own["row"].unique(), own["column"].unique()]


def kind_of(printed: str, value: float) -> str:
    """Return the kind of a printed value: number, set, pair, truth or text.

    A claim with a `value` is a number. Otherwise ``{a, b}`` is a set of names, ``(a, b)`` is a pair of thresholds,
    ``true`` or ``false`` is a statement, and anything else is text.
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
        raise ValueError(f"{printed!r} is not a pair of numbers (a, b)")
    first, second = ((float(text), len(text.partition(".")[2])) for text in match.groups())
    return first, second


def same_name(name: object) -> str:
    """Return a name without its case, spaces, hyphens and underscores, to compare names that differ in spelling."""
    return re.sub(r"[\s_\-]+", "", str(name)).casefold()


def precision(values: pd.DataFrame) -> pd.Series:
    """Return the number of decimals to which each printed number is compared.

    A paper that prints 0.72 and 0.2 in one column has dropped a zero, and a bare "0" among two-decimal measures does
    not mean "less than a half". So a value is compared to its own printed decimals or to the usual decimals of its
    family, whichever is more. The family is the column of its table; in running text it is the claims that share the
    first word of their id.

    Returns
    -------
    pandas.Series
        Decimals (nullable integers) with the index of `values`; missing for exact fractions and for claims that are not
        numbers.
    """
    stem = values["claim_id"].str.split("-").str[:3].str.join("-")
    column = values["paper"].astype(str) + "/" + values["table"] + "/" + values["column"]
    family = stem.where(values["table"] == "text", column)
    printed = values["decimals"].astype(float)
    # the most frequent number of decimals; the larger one of two that are equally frequent
    usual = printed.groupby(family).transform(lambda group: group.mode().max())
    return printed.where(printed.isna() | (printed >= usual), usual).astype("Int64")


@cache
def _load(path: Path, _stamp: int) -> pd.DataFrame:
    text = dict.fromkeys(set(COLUMNS) - {"paper", "value", "decimals"}, str)
    frame = pd.read_csv(path, dtype=text, keep_default_na=False, na_values={"value": [""], "decimals": [""]})
    return frame.astype({"decimals": "Int64", "value": float})


def missing_words() -> dict[str, str]:
    """Return what is missing for printed values other than a data set, by the word in the column ``needs``."""
    return dict(claims_file()["needs"])


def claims_file() -> dict[str, Any]:
    """Return the words and headline claims of ``data/paper/claims.toml``."""
    return tomllib.loads((data_dir() / "paper" / "claims.toml").read_text(encoding="utf-8"))
