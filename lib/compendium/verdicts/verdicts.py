"""The verdict on every printed value, computed from the paper's value and ours, never written by hand."""

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pandas as pd

from compendium.verdicts.ledger import Entry, entries, explanation, one_line
from compendium.verdicts.prediction import FEWEST
from compendium.verdicts.printed import kind_of, pair_in, precision, printed_values, same_name, set_in

_TEXTS = ("claim_id", "table", "row", "column", "printed", "ours", "unit", "verdict", "basis", "reason", "run")

COLUMNS = (
    *("claim_id", "paper", "table", "row", "column", "printed", "ours", "low", "high", "unit"),
    *("verdict", "basis", "reason", "run"),
)
_PREDICTED = ("trainings", "draws")  # units whose interval is for one more of them, so that it needs several
_SLACK = 1e-12  # rounding errors in binary may move a value that lies on the half unit


class VerdictError(ValueError):
    """A claim cannot be judged."""


class UnexplainedError(VerdictError):
    """A value differs from the printed one and no entry of the ledger explains it."""


@dataclass(frozen=True)
class Ours:
    """One of our values with its interval.

    Parameters
    ----------
    value : object
        The value.
    low, high : float, optional
        The ends of the interval; both or neither.
    over : str, optional
        What the interval is over, in the plural: rows, recordings, people, trainings, draws (of split and models).
    n : int, optional
        Number of these units.
    """

    value: Any
    low: float | None = None
    high: float | None = None
    over: str = ""
    n: int | None = None

    @property
    def unit(self) -> str:
        """Number and name of the units, such as ``24 people``."""
        name = self.over.removesuffix("s") if self.n == 1 else self.over
        return f"{self.n:,} {name}" if self.over and self.n is not None else self.over


def judge(
    ours: Mapping[str, Any],
    *,
    run: str,
    impossible: Mapping[str, str] | None = None,
    no_data: Mapping[str, str] | None = None,
    undecided: Mapping[str, str] | None = None,
    basis: Mapping[str, str] | None = None,
    unexplained: str = "error",
    values: pd.DataFrame | None = None,
    ledger: Iterable[Entry] | None = None,
) -> pd.DataFrame:
    """Compare our values with the printed ones.

    Parameters
    ----------
    ours : mapping of str to value
        Our values by claim id, each a value or `Ours`: a number for a number, names for a set, two numbers for a pair,
        a bool for a statement, otherwise a text. Ids that no paper prints are ignored.
    run : str
        Name of the run that computed the values.
    impossible : mapping of str to str, optional
        Claims that the paper itself contradicts, with the demonstration in words. Ids that are not in `ours` are
        ignored.
    no_data : mapping of str to str, optional
        Claims that could not be computed because data are missing, with the missing data and how to get them.
    undecided : mapping of str to str, optional
        Claims that the available data cannot decide, with the reason. They may have a value in `ours`.
    basis : mapping of str to str, optional
        Basis of claims that this run judges otherwise than usual.
    unexplained : {"error", "allow"}
        Treatment of a difference that no entry of the ledger explains.
    values, ledger : optional
        Printed values and ledger entries; the default is those of ``data/paper/``.

    Returns
    -------
    pandas.DataFrame
        Columns `COLUMNS`, in the papers' order. *exact*: equal at printed precision (:func:`.printed.precision`), or
        equal text, set or pair; *within*: the printed value lies in our interval, and the interval is over what
        differed between the paper's run and ours (the column ``varied``); *undecided*: in `undecided`, or from
        fewer trainings or draws than a prediction interval needs; *not reproducible*: the value differs and is
        in `impossible`; *no data*; otherwise *differs*, with the ledger's reason.

    Raises
    ------
    UnexplainedError
        If a value differs, no entry explains it, and `unexplained` is ``"error"``.

    Examples
    --------
    >>> judge({"2-T2-occupation": 0.7502}, run="example").verdict.item()
    'exact'
    """
    impossible, no_data, undecided, basis = (dict(some or {}) for some in (impossible, no_data, undecided, basis))
    values = printed_values() if values is None else values
    known = tuple(entries() if ledger is None else ledger)
    values = values.assign(precision=precision(values))
    rows = []
    claim: Any
    for claim in values[values["claim_id"].isin({*ours, *undecided, *no_data})].itertuples(index=False):
        name = claim.claim_id
        result = _compare(claim, ours[name], known) if name in ours else {"ours": "", "verdict": "no data"}
        if name in no_data:
            result["reason"] = one_line(no_data[name])
        elif name in undecided:
            result |= {"verdict": "undecided", "reason": one_line(undecided[name])}
        elif result["verdict"] == "differs":
            why = [explanation(name, known)]
            if name in impossible:
                result["verdict"], why = "not reproducible", [one_line(impossible[name]), *why]
            result["reason"] = "; ".join(filter(None, why))
        found = basis.get(name, claim.basis.partition(" | ")[0])
        rows.append({"unit": "", **claim._asdict(), **result, "basis": found, "run": run})
    verdicts = pd.DataFrame(rows, columns=list(COLUMNS)).astype({"low": float, "high": float})
    if unexplained == "error":
        _check_explained(verdicts)
    return verdicts


def _check_explained(verdicts: pd.DataFrame) -> None:
    open_ = verdicts[(verdicts["verdict"] == "differs") & (verdicts["reason"] == "")]
    if not open_.empty:
        seen = ", ".join(f"{c.claim_id} (printed {c.printed}, ours {c.ours})" for c in open_.itertuples())
        raise UnexplainedError(f"values differ without an entry in data/paper/ledger.toml: {seen}")


def _compare(claim: Any, ours: Any, ledger: tuple[Entry, ...]) -> dict[str, Any]:
    """Return our value as text, and its interval, unit, verdict and reason."""
    given = ours if isinstance(ours, Ours) else Ours(ours)
    kind, name, value, reason = kind_of(claim.printed, claim.value), claim.claim_id, given.value, ""
    if kind == "number":
        return {"unit": given.unit, **_compare_number(claim, given)}
    if kind == "set":
        names, printed = sorted(map(str, value), key=same_name), set_in(claim.printed)
        text = "{" + ", ".join(names) + "}"
        equal, reason = _mended(name, printed, set(map(same_name, names)), ledger)
        equal = equal and len(names) == len(printed)
    elif kind == "pair":
        text = f"({', '.join(map(_digits, value))})"
        # thresholds move in steps of hundredths, so (0.7, 0.3) means (0.70, 0.30)
        equal = all(
            abs(own - number) <= 0.5 * 10.0 ** -max(decimals, 2) + _SLACK
            for own, (number, decimals) in zip(value, pair_in(claim.printed), strict=True)
        )
    elif kind == "truth":
        text = str(bool(value)).lower()
        equal = text == claim.printed
    else:
        text = one_line(str(value))
        equal, reason = _mended(name, (claim.printed,), {same_name(text)}, ledger)
    return {"ours": text, "unit": given.unit, "verdict": "exact" if equal else "differs", "reason": reason}


def _compare_number(claim: Any, given: Ours) -> dict[str, Any]:
    value, (low, high) = float(given.value), (math.nan if end is None else end for end in (given.low, given.high))
    half = 0.0 if pd.isna(claim.precision) else 0.5 * 10.0 ** -int(claim.precision)
    verdict, reason = "differs", ""
    if abs(value - claim.value) <= half + _SLACK:
        verdict = "exact"
    elif given.over in _PREDICTED and (given.n or 0) < FEWEST:
        verdict, reason = "undecided", f"{given.unit}: a prediction interval needs {FEWEST}"
    elif low - _SLACK <= claim.value <= high + _SLACK:
        if given.over in claim.varied.split(", "):
            verdict, reason = "within", f"the printed value lies in our interval over {given.over}"
        else:
            verdict, same = "undecided", f"the paper used the same {given.over}"
            reason = f"the printed value lies in an interval over {given.over}, but {same}"
    ends = {name: float(_digits(end)) for name, end in (("low", low), ("high", high)) if math.isfinite(end)}
    return {"ours": _digits(value), **ends, "verdict": verdict, "reason": reason}


def _mended(name: str, printed: tuple[str, ...], ours: set[str], ledger: tuple[Entry, ...]) -> tuple[bool, str]:
    """Return whether the names agree, if necessary after correcting known misprints, and the corrections."""
    if {same_name(word) for word in printed} == ours:
        return True, ""
    meant = {word: next((e for e in ledger if e.mends(name, word) != word), None) for word in printed}
    right = {word: entry.mends(name, word) for word, entry in meant.items() if entry}
    if {same_name(right.get(word, word)) for word in printed} != ours:
        return False, ""
    return True, "; ".join(f"{entry.id}: {word!r} read as {right[word]!r}" for word, entry in meant.items() if entry)


def _digits(value: float) -> str:
    """Return a number as text with ten significant digits, to hide the rounding errors of sums."""
    return f"{round(value, 12) + 0.0:.10g}"


def in_paper_order(judged: pd.DataFrame, values: pd.DataFrame | None = None) -> pd.DataFrame:
    """Return verdicts in the order in which the papers print the claims."""
    printed = (printed_values() if values is None else values)["claim_id"]
    order = pd.Series(range(len(printed)), index=printed)
    return judged.sort_values("claim_id", key=lambda ids: ids.map(order), kind="stable").reset_index(drop=True)


def read_verdicts(path: Path) -> pd.DataFrame:
    """Return verdicts from a file, with the types that `judge` gives them."""
    number = {name: [""] for name in ("low", "high")}
    frame = pd.read_csv(path, dtype=dict.fromkeys(_TEXTS, str), keep_default_na=False, na_values=number)
    return frame.astype({"low": float, "high": float})
