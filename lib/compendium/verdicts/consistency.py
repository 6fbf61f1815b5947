"""Show where a paper contradicts itself, from its printed values alone and without any data.

Nobody can reproduce such a claim: if our value differs, its verdict is *not reproducible*. Each finding names the
printed values that exclude the claim. A printed value stands for all numbers that round to it.
"""

import itertools
import math
from collections.abc import Callable, Iterator
from typing import Any

import pandas as pd

from compendium.verdicts.printed import pair_in, precision, printed_values

_EDGE = 1e-9
AGREE = 1e-3
"""Relative difference below which a printed time per window agrees with time / count."""
TRACE_TABLES = {"titanic": "9", "adult": "10", "bank": "11", "heart": "12", "student": "13"}
"""The table of each of paper 2's data sets that follows its search."""
_GROUPS = ("sensitive", "non-sensitive", "ambiguous")
_NOT_HARMONIC = "Eq. (12) does not give it from the utility and stability in the same row"
_Interval = tuple[float, float]
_Found = Iterator[tuple[str, str]]  # claim ids with the demonstration in words


def contradictions(paper: int, *, values: pd.DataFrame | None = None) -> dict[str, str]:
    """Return the claims that a paper's own printed values exclude, each with the demonstration in words.

    Parameters
    ----------
    paper : {1, 2, 3}
        The paper. Paper 1 has no printed values that exclude each other.
    values : pandas.DataFrame, optional
        Printed values as :func:`.printed.printed_values` returns them.

    Returns
    -------
    dict of str to str
        By claim id, for the argument `impossible` of :func:`.verdicts.judge`.

    References
    ----------
    Ali et al. (2022): Eq. (9), no attribute is ambiguous at alpha = beta; Eq. (11), stability; Eq. (12), suitability;
    section 4.1.2, assumptions on the thresholds; Algorithm 1, line 10.
    """
    frame = printed_values() if values is None else values
    frame = frame[frame["paper"] == paper]
    found: dict[str, str] = {}
    for check in _CHECKS.get(paper, ()):
        for claim, why in check(frame):
            found.setdefault(claim, why)
    return {claim: why for claim, why in found.items() if claim in set(frame["claim_id"])}


def stability(non_sensitive: int, ambiguous: int, attributes: int) -> float:
    """Return Eq. (11) of paper 2 for group sizes; 0 if no attribute is published."""
    kept = non_sensitive + ambiguous
    return non_sensitive * ambiguous / (attributes * kept) if kept else 0.0


def suitability(utility: float, stability_: float) -> float:
    """Return Eq. (12) of paper 2, the harmonic mean; 0 if either measure is 0."""
    return 2 * utility * stability_ / (utility + stability_) if utility > 0 and stability_ > 0 else 0.0


def sample_stabilities(values: pd.DataFrame) -> dict[str, list[float]]:
    """Return every stability that Table 2's printed entropies allow by Eqs. (7)-(9) and (11), for each row of Table 3.

    An entropy printed as .60 lies between .595 and .605, so it may fall on either side of the threshold .6.
    """
    entropies = _sample_entropies(values)
    return {f"r{place}": _stabilities(entropies, *pair) for place, pair in enumerate(_thresholds(values, "3"), start=1)}


def _stabilities(entropies: list[_Interval], alpha: float, beta: float) -> list[float]:
    sides = []
    for low, high in entropies:
        if low >= alpha or high <= beta:
            sides.append("S" if low >= alpha else "N")
        else:
            possible = {"S": high + _EDGE >= alpha, "N": low - _EDGE <= beta, "A": beta < alpha > low and high > beta}
            sides.append("".join(group for group, fits in possible.items() if fits))
    divisions = itertools.product(*sides)
    return sorted({round(stability(d.count("N"), d.count("A"), len(d)), 12) for d in divisions})


def _suits(cell: str, intervals: dict[str, _Interval], stabilities: list[float]) -> bool:
    """Return whether Eq. (12), which rises with utility, can give the printed suitability of a row."""
    target, utility = intervals[f"{cell}-suitability"], intervals[f"{cell}-utility"]
    return any(
        suitability(utility[0], value) <= target[1] + _EDGE and suitability(utility[1], value) >= target[0] - _EDGE
        for value in stabilities
    )


def _check_sample_table(values: pd.DataFrame) -> _Found:
    """Find the stabilities of Table 3 that no division of Table 2's attributes allows, and their suitabilities."""
    intervals = _intervals(values)
    for row, possible in sample_stabilities(values).items():
        low, high = intervals[f"2-T3-{row}-stability"]
        if any(low - _EDGE <= value <= high + _EDGE for value in possible):
            continue
        allowed = ", ".join(f"{value:.3f}" for value in possible)
        yield f"2-T3-{row}-stability", f"Table 2's entropies allow only {allowed} by Eqs. (7)-(9) and (11)"
        if not _suits(f"2-T3-{row}", intervals, possible):
            top = intervals[f"2-T3-{row}-utility"][1]
            yield (
                f"2-T3-{row}-suitability",
                f"Eq. (12) with utility up to {top:.3f} and stability {allowed} gives another value",
            )


def _check_sample_utility(values: pd.DataFrame) -> _Found:
    """Find the utilities of Table 3 that Eq. (10) excludes: a joint entropy is at least that of each kept attribute.

    The entropy of all attributes is at most ln 20 for 20 rows. Entropy(Work) = 0.8, printed as .29 of the highest
    entropy, gives the scale.
    """
    intervals, entropies = _intervals(values), _sample_entropies(values)
    most = math.log(_numbers(values)["2-text-sample-instances"])
    scale = intervals["2-text-work-entropy"][0] / intervals["2-T2-work"][1] / most
    for place, (alpha, _) in enumerate(_thresholds(values, "3"), start=1):
        least = scale * max((low for low, high in entropies if high < alpha), default=0.0)
        if intervals[f"2-T3-r{place}-utility"][1] + _EDGE < least:
            why = f"one kept attribute has {least:.2f} of the greatest joint entropy, so Eq. (10) cannot give less"
            yield f"2-T3-r{place}-utility", why


def _check_traces(values: pd.DataFrame) -> _Found:
    """Check Tables 9-13: group sizes add up to the attributes; stability and suitability follow from their row."""
    intervals, numbers = _intervals(values), _numbers(values)
    for name, table in TRACE_TABLES.items():
        attributes = int(numbers[f"2-T4-{name}-attributes"])
        for place in range(1, 6):
            cell = f"2-T{table}-r{place}"
            sizes = [int(numbers[f"{cell}-{group}"]) for group in _GROUPS]
            value, printed = stability(sizes[1], sizes[2], attributes), intervals[f"{cell}-stability"]
            if sum(sizes) != attributes:
                yield f"{cell}-ambiguous", f"{sizes} do not add up to the {attributes} attributes of Table 4"
            if not printed[0] - _EDGE <= value <= printed[1] + _EDGE:
                yield f"{cell}-stability", f"Eq. (11) for group sizes {sizes} gives {value:.3f}"
            if not _suits(cell, intervals, _steps(printed)):
                yield f"{cell}-suitability", _NOT_HARMONIC


def _check_thresholds(values: pd.DataFrame) -> _Found:
    """Find printed pairs of thresholds that break the assumptions of section 4.1.2."""
    pairs = [(table, *pair) for table in ("3", *TRACE_TABLES.values()) for pair in _thresholds(values, table)]
    broken = {
        "2-text-beta-below-alpha": [pair for pair in pairs if not 0 <= pair[2] < pair[1] <= 1],
        "2-text-thresholds-sum-to-one": [pair for pair in pairs if abs(pair[1] + pair[2] - 1) > _EDGE],
    }
    for claim, found in broken.items():
        if found:
            table, alpha, beta = found[0]
            yield claim, f"{len(found)} printed pairs break it, such as ({alpha:.2f}, {beta:.2f}) of Table {table}"


def _check_algorithm(values: pd.DataFrame) -> _Found:
    """Find traces that end beside an equally good neighbour, where line 10 of Algorithm 1 would continue.

    Groups grow and shrink with the thresholds, so equal sizes at neighbouring thresholds mean equal groups.
    """
    numbers = _numbers(values)
    equal = [
        f"Table {table}"
        for table in TRACE_TABLES.values()
        if all(numbers[f"2-T{table}-r4-{group}"] == numbers[f"2-T{table}-r5-{group}"] for group in _GROUPS)
    ]
    if equal:
        why = f"the last two rows of {', '.join(equal)} are one division, so line 10 (>=) moves back and forth"
        yield "2-text-algorithm-stops", why


def _check_example(values: pd.DataFrame) -> _Found:
    """Compare the worked stability of section 4.2, which multiplies, with Eq. (11), which adds."""
    numbers = _numbers(values)
    attributes, kept = numbers["2-text-sample-attributes"], numbers["2-text-example-kept"]
    if numbers["2-text-example-denominator"] != attributes * kept:
        why = f"Eq. (11) with {attributes:.0f} attributes, {kept:.0f} of them kept, divides by {attributes * kept:.0f}"
        yield "2-text-example-denominator", why


def _check_extremes(values: pd.DataFrame) -> _Found:
    """Check Table 15, and section 5.3's statement on utility at (1, 0) against it."""
    intervals, numbers = _intervals(values), _numbers(values)
    for name in TRACE_TABLES:
        for which in ("start", "determined", "extreme"):
            cell = f"2-T15-{name}-{which}"
            if not _suits(cell, intervals, _steps(intervals[f"{cell}-stability"])):
                yield f"{cell}-suitability", _NOT_HARMONIC
        own, extreme = (numbers[f"2-T15-{name}-{which}-utility"] for which in ("determined", "extreme"))
        if extreme <= own:
            yield f"2-text-extreme-utility-{name}", f"Table 15 prints {extreme} for both"


def _check_activity_gain(values: pd.DataFrame) -> _Found:
    """Compare section 5.3.1 of paper 3 (activity inference improves) with Table 1, weighted by its counts."""
    intervals, text = _intervals(values), dict(zip(values["claim_id"], values["printed"], strict=True))
    most, before, after, number = 0.0, 0.0, 0.0, 0.0
    for name in ("down-stairs", "up-stairs", "walking", "jogging"):
        cell = f"3-T1-{name}"
        thousands = float(text[f"{cell}-embeddings"].removesuffix("k"))
        first, last = intervals[f"{cell}-act-before"], intervals[f"{cell}-act-after"]
        gain = last[1] - first[0]
        most += gain * (thousands + 0.05 if gain > 0 else thousands - 0.05)
        before, after = before + thousands * sum(first) / 2, after + thousands * sum(last) / 2
        number += thousands
    if most < 0:
        why = f"Table 1 weighted by its own counts falls from {before / number:.3f} to {after / number:.3f}"
        yield "3-text-activity-improves", why


def _check_times(values: pd.DataFrame) -> _Found:
    """Compare the times per window in Tables 4 to 7 of paper 3 with time / count of the same row."""
    numbers = _numbers(values)
    for name in numbers:
        row = name.removesuffix("-per-embedding")
        if row != name:
            time, count = numbers[f"{row}-time"], numbers[f"{row}-embeddings"]
            if abs(time / count / numbers[name] - 1) >= AGREE:
                yield name, f"the row's own {time:g} s / {count:,.0f} is {time / count:.7f}"


_CHECKS: dict[int, tuple[Callable[[pd.DataFrame], _Found], ...]] = {
    2: (
        _check_sample_table, _check_sample_utility, _check_traces, _check_thresholds, _check_algorithm,
        _check_example, _check_extremes,
    ),
    3: (_check_activity_gain, _check_times),
}  # fmt: skip


def _intervals(values: pd.DataFrame) -> dict[str, _Interval]:
    """Return the interval that each printed number stands for: half a unit of its last digit on either side."""
    numbers = values.assign(held=precision(values)).dropna(subset=["value"])
    half = [0.0 if pd.isna(places) else 0.5 * 10.0 ** -int(places) for places in numbers["held"]]
    return dict(
        zip(numbers["claim_id"], zip(numbers["value"] - half, numbers["value"] + half, strict=True), strict=True)
    )


def _numbers(values: pd.DataFrame) -> dict[str, Any]:
    """Return each printed number by claim id."""
    return dict(zip(values["claim_id"], values["value"], strict=True))


def _sample_entropies(values: pd.DataFrame) -> list[_Interval]:
    intervals = _intervals(values)
    return [intervals[name] for name in values.loc[values["table"] == "2", "claim_id"]]


def _thresholds(values: pd.DataFrame, table: str) -> list[_Interval]:
    """Return the pairs (alpha, beta) in the row heads of a table."""
    rows = values.loc[values["table"] == table, "row"].drop_duplicates()
    return [(alpha, beta) for (alpha, _), (beta, _) in map(pair_in, rows)]


def _steps(interval: _Interval, number: int = 11) -> list[float]:
    """Return evenly spaced numbers of an interval, without those below 0."""
    low, high = max(interval[0], 0.0), interval[1]
    return [low + (high - low) * step / (number - 1) for step in range(number)]
