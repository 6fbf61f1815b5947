"""Show where a paper contradicts itself, from its printed values alone and without any data.

Nobody can reproduce such a claim: if our value differs, its verdict is *not reproducible*. Each finding names the
printed values that exclude the claim. A printed value stands for all numbers that round to it.
"""

import itertools
import math
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pandas as pd

from compendium.verdicts.printed import pair_in, precision, printed_values, set_in
from sensorprivacy.threeway.division import Sizes
from sensorprivacy.threeway.measures import stability, suitability

_EDGE = 1e-9
AGREE = 1e-3
"""Relative difference below which a printed time per window agrees with time / count."""
TRACE_TABLES = {"titanic": "9", "adult": "10", "bank": "11", "heart": "12", "student": "13"}
"""The table of each of paper 2's data sets that follows its search."""
_GROUPS = ("sensitive", "non-sensitive", "ambiguous")
_NOT_HARMONIC = "Eq. (12) does not give it from the utility and stability in the same row"
_Found = Iterator[tuple[str, str]]  # claim ids with the demonstration in words


def contradictions(paper: int, *, values: pd.DataFrame | None = None) -> dict[str, str]:
    """Return the claims that a paper's own printed values exclude, each with the demonstration in words.

    Parameters
    ----------
    paper : {1, 2, 3}
        The paper.
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
    frame = with_ends(printed_values(paper) if values is None else values)
    found: dict[str, str] = {}
    for check in _CHECKS.get(paper, ()):
        for claim, why in check(frame):
            found.setdefault(claim, why)
    return {claim: why for claim, why in found.items() if claim in frame.index}


def with_ends(values: pd.DataFrame) -> pd.DataFrame:
    """Return printed values by claim id, with the ends of the interval that each number stands for.

    The interval has half a unit of the last digit on either side: ``low`` to ``high``.
    """
    half = (0.5 * 10.0 ** -precision(values).astype(float)).fillna(0.0)
    return values.assign(low=values["value"] - half, high=values["value"] + half).set_index("claim_id")


def sample_stabilities(values: Any) -> dict[str, list[float]]:
    """Return every stability that Table 2's printed entropies allow by Eqs. (7)-(9) and (11), for each row of Table 3.

    An entropy printed as .60 lies between .595 and .605, so it may fall on either side of the threshold .6.
    """
    found = {}
    for place, (alpha, beta) in enumerate(_thresholds(values, "3"), start=1):
        sides = []
        for low, high in values.loc[values["table"] == "2", ["low", "high"]].itertuples(index=False):
            if low >= alpha or high <= beta:
                sides.append("S" if low >= alpha else "N")
                continue
            possible = {"S": high + _EDGE >= alpha, "N": low - _EDGE <= beta, "A": beta < alpha > low and high > beta}
            sides.append("".join(group for group, fits in possible.items() if fits))
        sizes = (Sizes(*map(division.count, "SNA")) for division in itertools.product(*sides))
        found[f"r{place}"] = sorted({round(stability(each), 12) for each in sizes})
    return found


def _suits(cell: str, values: Any, stabilities: list[float] | None = None) -> bool:
    """Return whether Eq. (12), which rises with utility, can give the printed suitability of a row."""
    target, utility, stable = (values.loc[f"{cell}-{name}"] for name in ("suitability", "utility", "stability"))
    return any(
        suitability(max(utility["low"], 0.0), value, None) <= target["high"] + _EDGE
        and suitability(utility["high"], value, None) >= target["low"] - _EDGE
        for value in stabilities or np.linspace(max(stable["low"], 0.0), stable["high"], 11)
    )


def _holds(value: float, printed: Any) -> bool:
    return bool(printed["low"] - _EDGE <= value <= printed["high"] + _EDGE)


def _check_sample_table(values: Any) -> _Found:
    """Find the stabilities of Table 3 that no division of Table 2's attributes allows, and their suitabilities."""
    for row, possible in sample_stabilities(values).items():
        cell = f"2-T3-{row}"
        if any(_holds(value, values.loc[f"{cell}-stability"]) for value in possible):
            continue
        allowed = ", ".join(f"{value:.3f}" for value in possible)
        yield f"{cell}-stability", f"Table 2's entropies allow only {allowed} by Eqs. (7)-(9) and (11)"
        if not _suits(cell, values, possible):
            top = values.loc[f"{cell}-utility", "high"]
            why = f"Eq. (12) with utility up to {top:.3f} and stability {allowed} gives another value"
            yield f"{cell}-suitability", why


def _check_sample_utility(values: Any) -> _Found:
    """Find the utilities of Table 3 that Eq. (10) excludes: a joint entropy is at least that of each kept attribute.

    The entropy of all attributes is at most ln 20 for 20 rows. Entropy(Work) = 0.8, printed as .29 of the highest
    entropy, gives the scale.
    """
    entropies, most = values[values["table"] == "2"], math.log(values.loc["2-text-sample-instances", "value"])
    scale = values.loc["2-text-work-entropy", "low"] / values.loc["2-T2-work", "high"] / most
    for place, (alpha, _) in enumerate(_thresholds(values, "3"), start=1):
        least = scale * entropies.loc[entropies["high"] < alpha, "low"].max()
        if values.loc[f"2-T3-r{place}-utility", "high"] + _EDGE < least:
            why = f"one kept attribute has {least:.2f} of the greatest joint entropy, so Eq. (10) cannot give less"
            yield f"2-T3-r{place}-utility", why


def _check_traces(values: Any) -> _Found:
    """Check Tables 9-13: group sizes add up to the attributes; stability and suitability follow from their row."""
    for name, table in TRACE_TABLES.items():
        attributes = int(values.loc[f"2-T4-{name}-attributes", "value"])
        for place in range(1, 6):
            cell = f"2-T{table}-r{place}"
            sizes = [int(values.loc[f"{cell}-{group}", "value"]) for group in _GROUPS]
            stable = stability(Sizes(attributes - sum(sizes[1:]), *sizes[1:]))
            if sum(sizes) != attributes:
                yield f"{cell}-ambiguous", f"{sizes} do not add up to the {attributes} attributes of Table 4"
            if not _holds(stable, values.loc[f"{cell}-stability"]):
                yield f"{cell}-stability", f"Eq. (11) for group sizes {sizes} gives {stable:.3f}"
            if not _suits(cell, values):
                yield f"{cell}-suitability", _NOT_HARMONIC


def _check_thresholds(values: Any) -> _Found:
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


def _check_algorithm(values: Any) -> _Found:
    """Find traces that end beside an equally good neighbour, where line 10 of Algorithm 1 would continue.

    Groups grow and shrink with the thresholds, so equal sizes at neighbouring thresholds mean equal groups.
    """
    equal = []
    for table in TRACE_TABLES.values():
        last, other = ([values.loc[f"2-T{table}-r{row}-{group}", "value"] for group in _GROUPS] for row in (4, 5))
        equal += [f"Table {table}"] if last == other else []
    if equal:
        why = f"the last two rows of {', '.join(equal)} are one division, so line 10 (>=) moves back and forth"
        yield "2-text-algorithm-stops", why


def _check_example(values: Any) -> _Found:
    """Compare the worked stability of section 4.2, which multiplies, with Eq. (11), which adds."""
    names = ("sample-attributes", "example-kept", "example-denominator")
    attributes, kept, printed = (values.loc[f"2-text-{name}", "value"] for name in names)
    if printed != attributes * kept:
        why = f"Eq. (11) with {attributes:.0f} attributes, {kept:.0f} of them kept, divides by {attributes * kept:.0f}"
        yield "2-text-example-denominator", why


def _check_extremes(values: Any) -> _Found:
    """Check Table 15, and section 5.3's statement on utility at (1, 0) against it."""
    for name in TRACE_TABLES:
        for which in ("start", "determined", "extreme"):
            if not _suits(f"2-T15-{name}-{which}", values):
                yield f"2-T15-{name}-{which}-suitability", _NOT_HARMONIC
        own, extreme = (values.loc[f"2-T15-{name}-{which}-utility", "value"] for which in ("determined", "extreme"))
        if extreme <= own:
            yield f"2-text-extreme-utility-{name}", f"Table 15 prints {extreme} for both"


def _check_activity_gain(values: Any) -> _Found:
    """Compare section 5.3.1 of paper 3 (activity inference improves) with Table 1, weighted by its counts."""
    most, before, after, number = 0.0, 0.0, 0.0, 0.0
    for name in ("down-stairs", "up-stairs", "walking", "jogging"):
        cell = f"3-T1-{name}"
        thousands = float(values.loc[f"{cell}-embeddings", "printed"].removesuffix("k"))
        first, last = values.loc[f"{cell}-act-before"], values.loc[f"{cell}-act-after"]
        gain = last["high"] - first["low"]
        most += gain * (thousands + 0.05 if gain > 0 else thousands - 0.05)
        before, after = before + thousands * first["value"], after + thousands * last["value"]
        number += thousands
    if most < 0:
        why = f"Table 1 weighted by its own counts falls from {before / number:.3f} to {after / number:.3f}"
        yield "3-text-activity-improves", why


def _check_times(values: Any) -> _Found:
    """Compare the times per window in Tables 4 to 7 of paper 3 with time / count of the same row."""
    for name in values.index[values.index.str.endswith("-per-embedding")]:
        ends = ("-per-embedding", "-time", "-embeddings")
        each, time, count = (values.loc[name.replace(ends[0], end), "value"] for end in ends)
        if abs(time / count / each - 1) >= AGREE:
            yield name, f"the row's own {time:g} s / {count:,.0f} is {time / count:.7f}"


def _check_classes(values: Any) -> _Found:
    """Compare the classes that section 5.1 of paper 1 names for Opportunity with their number in Table 1."""
    name = "1-text-opportunity-classes"
    named, counted = set_in(values.loc[name, "printed"]), values.loc["1-T1-opportunity-classes", "value"]
    if len(named) != counted:
        yield name, f"the text names {len(named)} classes, Table 1 counts {counted:.0f}"


_OF_DIVISIONS = (_check_sample_table, _check_sample_utility, _check_traces, _check_extremes)
_OF_TEXT = (_check_thresholds, _check_algorithm, _check_example)
_CHECKS: dict[int, tuple[Callable[[Any], _Found], ...]] = {
    1: (_check_classes,),
    2: (*_OF_DIVISIONS, *_OF_TEXT),
    3: (_check_activity_gain, _check_times),
}


def _thresholds(values: Any, table: str) -> list[tuple[float, float]]:
    """Return the pairs (alpha, beta) in the row heads of a table."""
    rows = values.loc[values["table"] == table, "row"].drop_duplicates()
    return [(alpha, beta) for (alpha, _), (beta, _) in map(pair_in, rows)]
