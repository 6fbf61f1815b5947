"""Where a paper contradicts itself: shown from its printed values alone, without any data.

A claim found here cannot be reproduced by anyone; if our value differs, its verdict is *not reproducible*. Each finding
says which printed values, taken to their last printed digit either way, exclude the claim.
"""

import itertools
import math
from collections.abc import Callable

import pandas as pd

from sensorprivacy.report.printed import pair_in, precision, printed_values

_EDGE = 1e-9
_TRACES = {"titanic": "9", "adult": "10", "bank": "11", "heart": "12", "student": "13"}
_GROUPS = ("sensitive", "non-sensitive", "ambiguous")


def contradictions(paper: int, *, values: pd.DataFrame | None = None) -> dict[str, str]:
    """Return the claims that a paper's own printed values exclude, each with the demonstration in words.

    Parameters
    ----------
    paper : {1, 2, 3}
        The paper; the first has no printed values that exclude each other.
    values : pandas.DataFrame, optional
        Printed values as :func:`.paper.printed_values` returns them.

    Returns
    -------
    dict of str to str
        By claim id, for the argument `impossible` of :func:`.verdicts.judge`.

    References
    ----------
    Ali et al. (2022): Eq. (9), no attribute is ambiguous at alpha = beta; Eq. (11), stability; Eq. (12), suitability;
    section 4.1.2, what is assumed of the thresholds; Algorithm 1, line 10.
    """
    frame = printed_values() if values is None else values
    frame = frame[frame["paper"] == paper]
    found: dict[str, str] = {}
    for check in _CHECKS.get(paper, ()):
        for claim, why in check(frame).items():
            found.setdefault(claim, why)
    return {claim: why for claim, why in found.items() if claim in set(frame["claim_id"])}


def stability(non_sensitive: int, ambiguous: int, attributes: int) -> float:
    """Return Eq. (11) of paper 2 for group sizes; 0 where nothing is kept."""
    kept = non_sensitive + ambiguous
    return non_sensitive * ambiguous / (attributes * kept) if kept else 0.0


def suitability(utility: float, stability_: float) -> float:
    """Return Eq. (12) of paper 2; 0 where either measure is 0."""
    return 2 * utility * stability_ / (utility + stability_) if utility > 0 and stability_ > 0 else 0.0


def sample_stabilities(values: pd.DataFrame) -> dict[str, list[float]]:
    """Return, by row of Table 3, every stability that Table 2's printed entropies allow by Eqs. (7)-(9) and (11).

    An entropy printed as .60 may lie anywhere from .595 to .605, so at the threshold .6 it may fall to either side.
    """
    held = _held(values)
    entropies = [held[name] for name in values.loc[values["table"] == "2", "claim_id"]]
    rows = values.loc[values["table"] == "3", "row"].drop_duplicates()
    return {f"r{place}": _stabilities(entropies, *_pair(row)) for place, row in enumerate(rows, start=1)}


def _stabilities(entropies: list[tuple[float, float]], alpha: float, beta: float) -> list[float]:
    sides = []
    for low, high in entropies:
        groups = {"S"} if high + _EDGE >= alpha else set()
        groups |= {"N"} if low - _EDGE <= beta else set()
        groups |= {"A"} if alpha > beta and low < alpha and high > beta else set()
        if low >= alpha:
            groups = {"S"}
        elif high <= beta:
            groups = {"N"}
        sides.append(sorted(groups))
    found = {
        round(stability(division.count("N"), division.count("A"), len(entropies)), 12)
        for division in itertools.product(*sides)
    }
    return sorted(found)


def _sample_table(values: pd.DataFrame) -> dict[str, str]:
    """Hold Table 3 against Table 2: a stability that no division allows, and the suitability that rests on it."""
    held, found = _held(values), {}
    for row, possible in sample_stabilities(values).items():
        low, high = held[f"2-T3-{row}-stability"]
        if any(low - _EDGE <= value <= high + _EDGE for value in possible):
            continue
        allowed = ", ".join(f"{value:.3f}" for value in possible)
        found[f"2-T3-{row}-stability"] = f"Table 2's entropies allow only {allowed} by Eqs. (7)-(9) and (11)"
        top = held[f"2-T3-{row}-utility"][1]
        if not _suits(held[f"2-T3-{row}-suitability"], held[f"2-T3-{row}-utility"], possible):
            why = f"Eq. (12) with utility up to {top:.3f} and stability {allowed} gives another"
            found[f"2-T3-{row}-suitability"] = why
    return found


def _suits(target: tuple[float, float], utility: tuple[float, float], stabilities: list[float]) -> bool:
    """Tell whether Eq. (12), which rises with utility, can reach the printed suitability."""
    return any(
        suitability(utility[0], value) <= target[1] + _EDGE and suitability(utility[1], value) >= target[0] - _EDGE
        for value in stabilities
    )


def _sample_utility(values: pd.DataFrame) -> dict[str, str]:
    """Hold Table 3's utilities against Eq. (10): a joint entropy is at least that of each attribute kept.

    The entropy of all attributes is at most ln 20 for 20 rows; Entropy(Work) = 0.8, printed as .29 of the highest
    entropy, gives the scale.
    """
    held, found = _held(values), {}
    entropies = [held[name] for name in values.loc[values["table"] == "2", "claim_id"]]
    rows = values.loc[values["table"] == "3", "row"].drop_duplicates()
    most = math.log(_exact(values)["2-text-sample-instances"])
    scale = held["2-text-work-entropy"][0] / held["2-T2-work"][1] / most
    for place, row in enumerate(rows, start=1):
        alpha, _ = _pair(row)
        least = scale * max((low for low, high in entropies if high < alpha), default=0.0)
        if held[f"2-T3-r{place}-utility"][1] + _EDGE < least:
            why = f"an attribute that is kept has {least:.2f} of the greatest joint entropy, Eq. (10) cannot be less"
            found[f"2-T3-r{place}-utility"] = why
    return found


def _traces(values: pd.DataFrame) -> dict[str, str]:
    """Check Tables 9-13: group sizes add up to the attributes, stability and suitability follow from their row."""
    held, exact, found = _held(values), _exact(values), {}
    for name, table in _TRACES.items():
        attributes = int(exact[f"2-T4-{name}-attributes"])
        for place in range(1, 6):
            cell = f"2-T{table}-r{place}"
            sizes = [int(exact[f"{cell}-{group}"]) for group in _GROUPS]
            value, printed = stability(sizes[1], sizes[2], attributes), held[f"{cell}-stability"]
            if sum(sizes) != attributes:
                found[f"{cell}-ambiguous"] = f"{sizes} do not add up to the {attributes} attributes of Table 4"
            if not printed[0] - _EDGE <= value <= printed[1] + _EDGE:
                found[f"{cell}-stability"] = f"Eq. (11) for group sizes {sizes} gives {value:.3f}"
            if not _suits(held[f"{cell}-suitability"], held[f"{cell}-utility"], _within(printed)):
                found[f"{cell}-suitability"] = "Eq. (12) does not give it from the utility and stability beside it"
    return found


def _thresholds(values: pd.DataFrame) -> dict[str, str]:
    """Hold what section 4.1.2 assumes of the thresholds against every pair that the tables print."""
    rows = values.loc[values["table"].isin(["3", *_TRACES.values()]), ["table", "row"]].drop_duplicates()
    pairs = [(table, row, *_pair(row)) for table, row in rows.itertuples(index=False)]
    crossed = [f"{row} of Table {table}" for table, row, alpha, beta in pairs if not 0 <= beta < alpha <= 1]
    unequal = [f"{row} of Table {table}" for table, row, alpha, beta in pairs if abs(alpha + beta - 1) > _EDGE]
    found = {}
    if crossed:
        found["2-text-beta-below-alpha"] = f"{len(crossed)} printed pairs break it, such as {crossed[0]}"
    if unequal:
        found["2-text-thresholds-sum-to-one"] = f"{len(unequal)} printed pairs break it, such as {unequal[0]}"
    return found


def _algorithm(values: pd.DataFrame) -> dict[str, str]:
    """Hold line 10 of Algorithm 1, which goes on while a neighbour is as good, against traces that end beside one.

    Groups grow and shrink with the thresholds, so the same sizes at neighbouring thresholds are the same groups.
    """
    exact = _exact(values)
    equal = [
        f"Table {table}"
        for table in _TRACES.values()
        if all(exact[f"2-T{table}-r4-{group}"] == exact[f"2-T{table}-r5-{group}"] for group in _GROUPS)
    ]
    if not equal:
        return {}
    why = f"the last two rows of {', '.join(equal)} are one division, so line 10 (>=) goes from one to the other"
    return {"2-text-algorithm-stops": why}


def _example(values: pd.DataFrame) -> dict[str, str]:
    """Hold the worked stability of section 4.2 against Eq. (11), which adds where it multiplies."""
    exact = _exact(values)
    attributes, kept = exact["2-text-sample-attributes"], exact["2-text-example-kept"]
    if exact["2-text-example-denominator"] == attributes * kept:
        return {}
    why = f"Eq. (11) with {attributes:.0f} attributes, {kept:.0f} of them kept, divides by {attributes * kept:.0f}"
    return {"2-text-example-denominator": why}


def _extremes(values: pd.DataFrame) -> dict[str, str]:
    """Hold Table 15 against itself, and section 5.3 on utility at (1, 0) against it."""
    held, exact, found = _held(values), _exact(values), {}
    for name in _TRACES:
        for which in ("start", "determined", "extreme"):
            cell = f"2-T15-{name}-{which}"
            if not _suits(held[f"{cell}-suitability"], held[f"{cell}-utility"], _within(held[f"{cell}-stability"])):
                found[f"{cell}-suitability"] = "Eq. (12) does not give it from the utility and stability beside it"
        own, extreme = (exact[f"2-T15-{name}-{which}-utility"] for which in ("determined", "extreme"))
        if extreme <= own:
            found[f"2-text-extreme-utility-{name}"] = f"Table 15 prints {extreme} for both"
    return found


def _activity_gain(values: pd.DataFrame) -> dict[str, str]:
    """Hold section 5.3.1 of paper 3, activity inference improves over all, against Table 1 weighted by its counts."""
    held, text = _held(values), dict(zip(values["claim_id"], values["printed"], strict=True))
    most, before, after, number = 0.0, 0.0, 0.0, 0.0
    for name in ("down-stairs", "up-stairs", "walking", "jogging"):
        cell = f"3-T1-{name}"
        thousands = float(text[f"{cell}-embeddings"].removesuffix("k"))
        first, last = held[f"{cell}-act-before"], held[f"{cell}-act-after"]
        gain = last[1] - first[0]
        most += gain * (thousands + 0.05 if gain > 0 else thousands - 0.05)
        before, after = before + thousands * sum(first) / 2, after + thousands * sum(last) / 2
        number += thousands
    if most >= 0:
        return {}
    why = f"Table 1 weighted by its own counts falls from {before / number:.3f} to {after / number:.3f}"
    return {"3-text-activity-improves": why}


_CHECKS: dict[int, tuple[Callable[[pd.DataFrame], dict[str, str]], ...]] = {
    2: (_sample_table, _sample_utility, _traces, _thresholds, _algorithm, _example, _extremes),
    3: (_activity_gain,),
}


def _held(values: pd.DataFrame) -> dict[str, tuple[float, float]]:
    """Return the interval that each printed number stands for: half a unit of its last digit to either side."""
    numbers = values.assign(held=precision(values)).dropna(subset=["value"])
    half = [0.0 if pd.isna(places) else 0.5 * 10.0 ** -int(places) for places in numbers["held"]]
    low, high = numbers["value"] - half, numbers["value"] + half
    return dict(zip(numbers["claim_id"], zip(low, high, strict=True), strict=True))


def _exact(values: pd.DataFrame) -> dict[str, float]:
    """Return each printed number by claim id."""
    return dict(zip(values["claim_id"], values["value"], strict=True))


def _within(interval: tuple[float, float], number: int = 11) -> list[float]:
    """Return evenly spaced numbers of an interval, those below 0 left out."""
    low, high = max(interval[0], 0.0), interval[1]
    return [low + (high - low) * step / (number - 1) for step in range(number)]


def _pair(row: str) -> tuple[float, float]:
    (alpha, _), (beta, _) = pair_in(row)
    return alpha, beta
