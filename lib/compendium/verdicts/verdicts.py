"""The verdict on every printed value, computed from the paper's value and ours, never written by hand."""

import difflib
import math
import numbers
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from compendium.verdicts.ledger import Entry, entries, explanation, one_line
from compendium.verdicts.printed import kind_of, pair_in, precision, printed_values, same_name, set_in
from compendium.verdicts.words import FEWEST

COLUMNS = (
    *("claim_id", "paper", "table", "row", "column", "printed", "ours", "low", "high", "unit"),
    *("verdict", "basis", "reason", "run"),
)
_PREDICTED = ("trainings", "draws")  # units whose interval is for one more of them, so that it needs several
_SLACK = 1e-12  # rounding errors in binary may move a value that lies on the half unit


class VerdictError(ValueError):
    """A claim cannot be judged."""


class UnknownClaimError(VerdictError):
    """No paper prints the claim."""


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
        What the interval is over, in the plural: rows, recordings, people, trainings, draws (of split and models). An
        interval needs it.
    n : int, optional
        Number of these units. Required for trainings and draws, also without an interval.
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
        Our values by claim id. A claim that is a number takes a number or `Ours`; a set takes a collection of names; a
        pair takes two numbers; a statement takes a bool, or None if its test does not decide; a text takes a string.
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
        Basis of claims that this run judges otherwise than usual: one of those that the claim's column has.
    unexplained : {"error", "allow"}
        Treatment of a difference that no entry of the ledger explains.
    values, ledger : optional
        Printed values and ledger entries; the default is those of ``data/paper/``.

    Returns
    -------
    pandas.DataFrame
        Columns `COLUMNS`, in the papers' order. *exact*: equal at printed precision (:func:`.printed.precision`), or
        equal text, set or pair; *within*: the printed value lies in our interval, and the interval is over what
        differed between the paper's run and ours (the column ``varied``); *undecided*: in `undecided`, or None,
        or from fewer trainings or draws than a prediction interval needs; *not reproducible*: the value differs and is
        in `impossible`; *no data*; otherwise *differs*, with the ledger's reason.

    Raises
    ------
    UnknownClaimError
        If no paper prints a claim id.
    UnexplainedError
        If a value differs, no entry explains it, and `unexplained` is ``"error"``.
    VerdictError
        If a value is NaN, infinite or of the wrong type, its interval is reversed or does not state its unit, a claim
        is in `no_data` and in `ours` or `undecided`, or its column ``basis`` does not have the given basis.

    Examples
    --------
    >>> judge({"2-T2-occupation": 0.7502}, run="example").verdict.item()
    'exact'
    """
    impossible, no_data, undecided = dict(impossible or {}), dict(no_data or {}), dict(undecided or {})
    if unexplained not in ("error", "allow"):
        raise ValueError(f"unexplained={unexplained!r}: choose error or allow")
    values = printed_values() if values is None else values
    known = tuple(entries() if ledger is None else ledger)
    judged = {*ours, *undecided}
    _check_ids(values["claim_id"], {*judged, *impossible, *no_data, *(basis or {})})
    if both := sorted(judged & set(no_data)):
        raise VerdictError(f"claims both computed and without data: {', '.join(both)}")
    values = values.assign(precision=precision(values))
    rows = []
    claim: Any
    for claim in values[values["claim_id"].isin({*judged, *no_data})].itertuples(index=False):
        name = claim.claim_id
        if name in no_data:
            result = {"ours": "", "verdict": "no data", "reason": one_line(no_data[name])}
        elif name in undecided:
            seen = _compare(claim, ours[name], known) if ours.get(name) is not None else {"ours": ""}
            result = {**seen, "verdict": "undecided", "reason": one_line(undecided[name])}
        else:
            result = _compare(claim, ours[name], known)
        if result["verdict"] == "differs":
            why = [explanation(name, known)]
            if name in impossible:
                result["verdict"], why = "not reproducible", [one_line(impossible[name]), *why]
            result["reason"] = "; ".join(filter(None, why))
        rows.append({"unit": "", **claim._asdict(), **result, "basis": _basis(claim, basis), "run": run})
    verdicts = pd.DataFrame(rows, columns=list(COLUMNS)).astype({"low": float, "high": float})
    if unexplained == "error":
        _check_explained(verdicts)
    return verdicts


def _check_explained(verdicts: pd.DataFrame) -> None:
    open_ = verdicts[(verdicts["verdict"] == "differs") & (verdicts["reason"] == "")]
    if not open_.empty:
        seen = ", ".join(f"{c.claim_id} (printed {c.printed}, ours {c.ours})" for c in open_.itertuples())
        raise UnexplainedError(f"values differ without an entry in data/paper/ledger.toml: {seen}")


def _basis(claim: Any, named: Mapping[str, str] | None) -> str:
    allowed = claim.basis.split(" | ")
    chosen = (named or {}).get(claim.claim_id, allowed[0])
    if chosen not in allowed:
        raise VerdictError(f"{claim.claim_id}: basis {chosen!r}, but its column has {' or '.join(allowed)}")
    return chosen


def _check_ids(known: pd.Series, given: Iterable[str]) -> None:
    names = set(known)
    if unknown := sorted(set(map(str, given)) - names):
        close = {name: difflib.get_close_matches(name, names, n=3) for name in unknown[:5]}
        hints = "; ".join(f"{name} (near: {', '.join(near) or 'none'})" for name, near in close.items())
        raise UnknownClaimError(f"{len(unknown)} claim ids that no paper prints: {hints}")


def _compare(claim: Any, ours: Any, ledger: tuple[Entry, ...]) -> dict[str, Any]:
    """Return our value as text, and its interval, unit, verdict and reason."""
    kind = kind_of(claim.printed, claim.value)
    given = ours if isinstance(ours, Ours) else Ours(ours)
    if given.over in _PREDICTED and given.n is None:
        raise VerdictError(f"{claim.claim_id}: say how many {given.over} there were (n)")
    if kind == "number":
        return {"unit": given.unit, **_compare_number(claim, given)}
    if given.low is not None or given.high is not None:
        raise VerdictError(f"{claim.claim_id}: an interval for {claim.printed!r}, which is not a number")
    if kind == "truth" and given.value is None:
        return {"ours": "", "unit": given.unit, "verdict": "undecided", "reason": "the test does not decide"}
    text, equal, reason = _EQUAL[kind](claim, given.value, ledger)
    return {"ours": text, "unit": given.unit, "verdict": "exact" if equal else "differs", "reason": reason}


def _compare_number(claim: Any, given: Ours) -> dict[str, Any]:
    value = _number(given.value, claim.claim_id)
    low, high = _interval(given, claim.claim_id)
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


def _interval(given: Ours, name: str) -> tuple[float, float]:
    if given.low is None and given.high is None:
        return math.nan, math.nan
    if given.low is None or given.high is None:
        raise VerdictError(f"{name}: an interval needs both ends, got low={given.low}, high={given.high}")
    if not given.over:
        raise VerdictError(f"{name}: say what its interval is over, such as rows, people or trainings")
    low, high = _number(given.low, name), _number(given.high, name)
    if low > high:
        raise VerdictError(f"{name}: interval [{low}, {high}] is reversed")
    return low, high


def _number(value: Any, name: str) -> float:
    if _is_bool(value) or not isinstance(value, numbers.Real):
        raise VerdictError(f"{name}: {value!r} is not a number")
    if not math.isfinite(value):
        raise VerdictError(f"{name}: {value}; if data are missing, pass no_data={{claim id: missing data}}")
    return float(value)


def _equal_set(claim: Any, ours: Any, ledger: tuple[Entry, ...]) -> tuple[str, bool, str]:
    if isinstance(ours, str) or not isinstance(ours, (Collection, np.ndarray, pd.Series)):
        raise VerdictError(f"{claim.claim_id}: {ours!r} is not a collection of names")
    names = sorted(map(_name, ours), key=same_name)
    printed = set_in(claim.printed)
    equal, reason = _mended(claim.claim_id, printed, {same_name(name) for name in names}, ledger)
    return "{" + ", ".join(names) + "}", equal and len(names) == len(printed), reason


def _equal_text(claim: Any, ours: Any, ledger: tuple[Entry, ...]) -> tuple[str, bool, str]:
    if _is_bool(ours) or not isinstance(ours, (str, numbers.Real)):
        raise VerdictError(f"{claim.claim_id}: {ours!r} is not a text")
    text = one_line(_name(ours))
    return text, *_mended(claim.claim_id, (claim.printed,), {same_name(text)}, ledger)


def _mended(name: str, printed: tuple[str, ...], ours: set[str], ledger: tuple[Entry, ...]) -> tuple[bool, str]:
    """Return whether the names agree, if necessary after correcting known misprints, and the corrections."""
    if {same_name(word) for word in printed} == ours:
        return True, ""
    meant, used = set(), []
    for word in printed:
        entry = next((entry for entry in ledger if entry.mends(name, word) != word), None)
        right = entry.mends(name, word) if entry else word
        meant.add(same_name(right))
        if entry:
            used.append(f"{entry.id}: {word!r} read as {right!r}")
    return meant == ours, "; ".join(used) if meant == ours else ""


def _equal_pair(claim: Any, ours: Any, _: object) -> tuple[str, bool, str]:
    if isinstance(ours, str) or not isinstance(ours, Collection) or len(ours) != 2:
        raise VerdictError(f"{claim.claim_id}: {ours!r} is not a pair of numbers")
    found = [_number(part, claim.claim_id) for part in ours]
    # thresholds move in steps of hundredths, so (0.7, 0.3) means (0.70, 0.30)
    equal = all(
        abs(own - value) <= 0.5 * 10.0 ** -max(decimals, 2) + _SLACK
        for own, (value, decimals) in zip(found, pair_in(claim.printed), strict=True)
    )
    return f"({', '.join(map(_digits, found))})", equal, ""


def _equal_truth(claim: Any, ours: Any, _: object) -> tuple[str, bool, str]:
    if not _is_bool(ours):
        raise VerdictError(f"{claim.claim_id}: {ours!r} is neither True nor False")
    return str(bool(ours)).lower(), bool(ours) == (claim.printed == "true"), ""


_EQUAL: dict[str, Callable[[Any, Any, tuple[Entry, ...]], tuple[str, bool, str]]] = {
    "set": _equal_set,
    "text": _equal_text,
    "pair": _equal_pair,
    "truth": _equal_truth,
}


def _is_bool(value: Any) -> bool:
    return isinstance(value, (bool, np.bool_))


def _digits(value: float) -> str:
    """Return a number as text with ten significant digits, to hide the rounding errors of sums."""
    return f"{round(value, 12) + 0.0:.10g}"


def _name(word: Any) -> str:
    return _digits(float(word)) if isinstance(word, numbers.Real) and not _is_bool(word) else str(word)


def in_paper_order(judged: pd.DataFrame, values: pd.DataFrame | None = None) -> pd.DataFrame:
    """Return verdicts in the order in which the papers print the claims."""
    printed = (printed_values() if values is None else values)["claim_id"]
    order = pd.Series(range(len(printed)), index=printed)
    return judged.sort_values("claim_id", key=lambda ids: ids.map(order), kind="stable").reset_index(drop=True)
