"""The verdict on every printed value: computed from the paper's value and ours, never typed."""

import difflib
import math
import numbers
import re
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from sensorprivacy.report import ledger as _ledger
from sensorprivacy.report.printed import kind_of, pair_in, precision, printed_values, set_in

VERDICTS = ("exact", "within", "differs", "no data", "not reproducible")
COLUMNS = ("claim_id", "paper", "table", "row", "column", "printed", "ours", "low", "high", "verdict", "reason", "run")
_SLACK = 1e-12  # what adding and dividing in binary may cost a value that lies on the half unit


class VerdictError(ValueError):
    """A claim cannot be judged."""


class UnknownClaimError(VerdictError):
    """No paper prints the claim."""


class UnexplainedError(VerdictError):
    """A value differs from the printed one and no entry of the ledger says why."""


@dataclass(frozen=True)
class Ours:
    """A value of ours with its interval.

    Parameters
    ----------
    value : float
        The value.
    low, high : float, optional
        The interval's ends; both or neither.
    """

    value: Any
    low: float | None = None
    high: float | None = None


def judge(
    ours: Mapping[str, Any],
    *,
    run: str,
    impossible: Mapping[str, str] | None = None,
    no_data: Mapping[str, str] | None = None,
    tolerance: float | Mapping[str, float] = 0.0,
    unexplained: str = "error",
    values: pd.DataFrame | None = None,
    ledger: Iterable[_ledger.Entry] | None = None,
) -> pd.DataFrame:
    """Hold our values against the printed ones.

    Parameters
    ----------
    ours : mapping of str to value
        By claim id. A number claim takes a number or `Ours` with its interval; a set claim any collection of names; a
        pair claim two numbers; a statement a bool; a text claim a string.
    run : str
        Name of the run that computed them.
    impossible : mapping of str to str, optional
        Claims that the paper itself contradicts, with the demonstration in words; ids not in `ours` are passed over.
    no_data : mapping of str to str, optional
        Claims that could not be computed for want of data, with what is missing and how to get it.
    tolerance : float or mapping of str to float, default 0
        Stated tolerance, for all number claims or by claim id, used where we give no interval.
    unexplained : {"error", "allow"}
        What to do with a difference that no entry of the ledger explains.
    values, ledger : optional
        Printed values and ledger entries; those of ``data/paper/`` when left out.

    Returns
    -------
    pandas.DataFrame
        Columns `COLUMNS`, in the papers' order. *exact*: equal at printed precision (:func:`.paper.precision`), or
        equal text, set or pair; *within*: the printed value lies in our interval or tolerance; *not reproducible*:
        differs and is in `impossible`; *no data*; else *differs*, with the ledger's reason.

    Raises
    ------
    UnknownClaimError
        If no paper prints a claim id.
    UnexplainedError
        If a value differs, no entry explains it, and `unexplained` is ``"error"``.
    VerdictError
        If a value is NaN or infinite, of the wrong sort, its interval is reversed, or a claim is both in `ours` and
        in `no_data`.

    Examples
    --------
    >>> judge({"2-T2-occupation": 0.7502}, run="example").verdict.item()
    'exact'
    """
    impossible, no_data = dict(impossible or {}), dict(no_data or {})
    if unexplained not in ("error", "allow"):
        raise ValueError(f"unexplained={unexplained!r}: choose error or allow")
    values = printed_values() if values is None else values
    entries = tuple(_ledger.entries() if ledger is None else ledger)
    _check_ids(values["claim_id"], ours, impossible, no_data, tolerance if isinstance(tolerance, Mapping) else {})
    if both := sorted(set(ours) & set(no_data)):
        raise VerdictError(f"claims both computed and without data: {', '.join(both)}")
    values = values.assign(precision=precision(values))
    rows = []
    claim: Any
    for claim in values[values["claim_id"].isin({*ours, *no_data})].itertuples(index=False):
        name = claim.claim_id
        if name in no_data:
            rows.append(_row(claim, run, verdict="no data", reason=_line(no_data[name])))
            continue
        stated = tolerance.get(name, 0.0) if isinstance(tolerance, Mapping) else tolerance
        rows.append(_row(claim, run, **_compare(claim, ours[name], stated, impossible, entries)))
    verdicts = pd.DataFrame(rows, columns=list(COLUMNS)).astype({"low": float, "high": float})
    if unexplained == "error":
        _check_explained(verdicts)
    return verdicts


def _check_ids(known: pd.Series, *given: Iterable[str]) -> None:
    names = set(known)
    unknown = sorted({str(name) for group in given for name in group} - names)
    if unknown:
        close = {name: difflib.get_close_matches(name, names, n=3) for name in unknown[:5]}
        hints = "; ".join(f"{name} (near: {', '.join(near) or 'none'})" for name, near in close.items())
        raise UnknownClaimError(f"{len(unknown)} claim ids that no paper prints: {hints}")


def _check_explained(verdicts: pd.DataFrame) -> None:
    open_ = verdicts[(verdicts["verdict"] == "differs") & (verdicts["reason"] == "")]
    if not open_.empty:
        seen = ", ".join(f"{c.claim_id} (printed {c.printed}, ours {c.ours})" for c in open_.itertuples())
        raise UnexplainedError(f"differs without an entry in data/paper/ledger.toml: {seen}")


def _row(
    claim: Any,
    run: str,
    *,
    verdict: str,
    reason: str = "",
    ours: str = "",
    low: float = math.nan,
    high: float = math.nan,
) -> dict:
    given = {name: getattr(claim, name) for name in COLUMNS[:6]}
    return {**given, "ours": ours, "low": low, "high": high, "verdict": verdict, "reason": reason, "run": run}


def _compare(
    claim: Any, ours: Any, tolerance: float, impossible: Mapping[str, str], entries: tuple[_ledger.Entry, ...]
) -> dict:
    """Return ours as text, its interval, the verdict and the reason for one claim."""
    kind = kind_of(claim.printed, claim.value)
    given = ours if isinstance(ours, Ours) else Ours(ours)
    low = high = math.nan
    reason = ""
    if kind == "number":
        value = _number(given.value, claim.claim_id)
        low, high = _interval(given, value, tolerance, claim.claim_id)
        text, verdict = _digits(value), _number_verdict(claim, value, low, high)
        if verdict == "within":
            reason = (
                "the printed value lies in our interval" if given.low is not None else "inside the stated tolerance"
            )
    elif given.low is not None or given.high is not None:
        raise VerdictError(f"{claim.claim_id}: an interval for {claim.printed!r}, which is no number")
    else:
        text, equal, reason = _EQUAL[kind](claim, given.value, entries)
        verdict = "exact" if equal else "differs"
    if verdict == "differs":
        reason = _ledger.explanation(claim.claim_id, entries)
        if claim.claim_id in impossible:
            verdict, reason = "not reproducible", "; ".join(filter(None, (_line(impossible[claim.claim_id]), reason)))
    return {"ours": text, "low": _round(low), "high": _round(high), "verdict": verdict, "reason": reason}


def _number_verdict(claim: Any, value: float, low: float, high: float) -> str:
    half = 0.0 if pd.isna(claim.precision) else 0.5 * 10.0 ** -int(claim.precision)
    if abs(value - claim.value) <= half + _SLACK:
        return "exact"
    return "within" if low - _SLACK <= claim.value <= high + _SLACK else "differs"


def _interval(given: Ours, value: float, tolerance: float, name: str) -> tuple[float, float]:
    if (given.low is None) != (given.high is None):
        raise VerdictError(f"{name}: an interval needs both ends, got low={given.low}, high={given.high}")
    if given.low is not None and given.high is not None:
        low, high = _number(given.low, name), _number(given.high, name)
        if low > high:
            raise VerdictError(f"{name}: interval [{low}, {high}] is reversed")
        return low, high
    if not (math.isfinite(tolerance) and tolerance >= 0):
        raise VerdictError(f"{name}: tolerance {tolerance} is no finite number >= 0")
    return (value - tolerance, value + tolerance) if tolerance else (math.nan, math.nan)


def _number(value: Any, name: str) -> float:
    if isinstance(value, (bool, np.bool_)) or not isinstance(value, numbers.Real):
        raise VerdictError(f"{name}: {value!r} is no number")
    if not math.isfinite(value):
        raise VerdictError(f"{name}: {value}; where data are missing pass no_data={{claim id: what is missing}}")
    return float(value)


def _equal_set(claim: Any, ours: Any, entries: tuple[_ledger.Entry, ...]) -> tuple[str, bool, str]:
    if isinstance(ours, str) or not isinstance(ours, (Collection, np.ndarray, pd.Series)):
        raise VerdictError(f"{claim.claim_id}: {ours!r} is no collection of names")
    names = sorted(map(_name, ours), key=_fold)
    printed = set_in(claim.printed)
    equal, reason = _mended(claim.claim_id, printed, {_fold(name) for name in names}, entries)
    return "{" + ", ".join(names) + "}", equal and len(names) == len(printed), reason


def _equal_text(claim: Any, ours: Any, entries: tuple[_ledger.Entry, ...]) -> tuple[str, bool, str]:
    if isinstance(ours, (bool, np.bool_)) or not isinstance(ours, (str, numbers.Real)):
        raise VerdictError(f"{claim.claim_id}: {ours!r} is no text")
    text = _line(_name(ours))
    return text, *_mended(claim.claim_id, (claim.printed,), {_fold(text)}, entries)


def _mended(
    name: str, printed: tuple[str, ...], ours: set[str], entries: tuple[_ledger.Entry, ...]
) -> tuple[bool, str]:
    """Return whether the names agree, if need be with the ledger's misprints mended, and which were."""
    if {_fold(word) for word in printed} == ours:
        return True, ""
    meant, used = set(), []
    for word in printed:
        entry = next((e for e in entries if e.mends(name, word) != word), None)
        meant.add(_fold(entry.mends(name, word) if entry else word))
        if entry:
            used.append(f"{entry.id}: {word!r} read as {entry.mends(name, word)!r}")
    return meant == ours, "; ".join(used) if meant == ours else ""


def _equal_pair(claim: Any, ours: Any, _: object) -> tuple[str, bool, str]:
    if isinstance(ours, str) or not isinstance(ours, Collection) or len(ours) != 2:
        raise VerdictError(f"{claim.claim_id}: {ours!r} is no pair of numbers")
    found = [_number(part, claim.claim_id) for part in ours]
    # thresholds move in steps of hundredths, so (0.7, 0.3) means (0.70, 0.30)
    equal = all(
        abs(own - value) <= 0.5 * 10.0 ** -max(decimals, 2) + _SLACK
        for own, (value, decimals) in zip(found, pair_in(claim.printed), strict=True)
    )
    return f"({', '.join(map(_digits, found))})", equal, ""


def _equal_truth(claim: Any, ours: Any, _: object) -> tuple[str, bool, str]:
    if not isinstance(ours, (bool, np.bool_)):
        raise VerdictError(f"{claim.claim_id}: {ours!r} is neither True nor False")
    return str(bool(ours)).lower(), bool(ours) == (claim.printed == "true"), ""


_EQUAL = {"set": _equal_set, "text": _equal_text, "pair": _equal_pair, "truth": _equal_truth}


def _digits(value: float) -> str:
    """Return a number as text: ten significant digits, so that the last bits of a sum do not show."""
    return f"{round(value, 12) + 0.0:.10g}"


def _round(value: float) -> float:
    return float(_digits(value)) if math.isfinite(value) else value


def _name(word: Any) -> str:
    return (
        _digits(float(word)) if isinstance(word, numbers.Real) and not isinstance(word, (bool, np.bool_)) else str(word)
    )


def _fold(word: str) -> str:
    """Return a name without its case, spaces, hyphens and underscores."""
    return re.sub(r"[\s_\-]+", "", word).casefold()


def _line(text: str) -> str:
    return " ".join(str(text).split())
