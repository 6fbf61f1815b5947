"""What paper 2 prints of its five data sets together: Tables 4 to 6 and 15, Fig. 3, and the text that compares them.

As in `paper2`, functions take plain frames and return our values by claim id.
"""

from collections.abc import Iterable, Mapping
from fnmatch import fnmatchcase

import pandas as pd

from sensorprivacy.report.paper2.values import GAINS, TRACE_TABLES, only_printed, printed_thresholds
from sensorprivacy.report.printed import printed_values

SAMPLE_TABLES = "the smart home's sample tables (12 GB, data.mendeley.com, Data in Brief 34:106632) are not fetched"

# the claims that speak of several data sets, so that no single data set's run can answer them
SUMMARY = (
    *("2-T4-*", "2-T5-*", "2-T6-*", "2-T15-*", "2-text-extreme-*", "2-text-fig3-*", "2-text-gain-*-least"),
    *("2-text-gain-*-most", "2-text-datasets", "2-text-start", "2-text-start-*", "2-text-step", "2-text-all-improve"),
    *("2-text-determined-beats-start", "2-text-algorithm-stops", "2-text-beta-below-alpha"),
    "2-text-thresholds-sum-to-one",
)


def extreme_claims(dataset: str, start: pd.Series, final: pd.Series, extreme: pd.Series) -> dict[str, object]:
    """Return a data set's rows of Table 15 and what the text of section 5.3 says of its utility at (1, 0)."""
    ours: dict[str, object] = {
        f"2-T15-{dataset}-{which}-{measure}": float(row[measure])
        for which, row in (("start", start), ("determined", final), ("extreme", extreme))
        for measure in GAINS
    }
    ours[f"2-text-extreme-utility-{dataset}"] = bool(_beats(extreme["utility"], final["utility"]))
    return only_printed(ours)


def summary_claims(start: pd.DataFrame, final: pd.DataFrame, extreme: pd.DataFrame) -> dict[str, object]:
    """Return what sections 5.2 and 5.3 say of all five data sets together.

    Parameters
    ----------
    start, final, extreme : pandas.DataFrame
        Sizes of the groups and measures, one row a data set: at (.5, .5), at the determined thresholds, at (1, 0).

    Returns
    -------
    dict of str to object
        Value by claim id: least and greatest gains, and statements found true or false at two printed decimals.
    """
    measures = list(GAINS)
    gains = final[measures] - start[measures]
    ours: dict[str, object] = {}
    for measure in GAINS:
        ours[f"2-text-gain-{measure}-least"] = float(gains[measure].min())
        ours[f"2-text-gain-{measure}-most"] = float(gains[measure].max())
    improved = bool((gains > 0).all(axis=None))
    smallest = pd.concat([start["ambiguous"], final["ambiguous"], extreme["ambiguous"]], axis=1)
    return ours | {
        "2-text-all-improve": improved,
        "2-text-determined-beats-start": improved,
        "2-text-start-no-ambiguous": bool((start["ambiguous"] == 0).all()),
        "2-text-start-smallest-ambiguous": bool((start["ambiguous"] == smallest.min(axis=1)).all()),
        "2-text-extreme-largest-ambiguous": bool((extreme["ambiguous"] == smallest.max(axis=1)).all()),
        "2-text-extreme-stability": bool((extreme["stability"] < final["stability"]).all()),
        "2-text-extreme-suitability": bool((extreme["suitability"] < final["suitability"]).all()),
        "2-text-datasets": len(start),
    }


def threshold_claims() -> dict[str, bool]:
    """Return whether the paper's assumptions on thresholds hold for the pairs that it prints itself."""
    pairs = [pair for table in ("3", *TRACE_TABLES.values()) for pair in printed_thresholds(table)]
    return {
        "2-text-beta-below-alpha": all(0 <= beta < alpha <= 1 for alpha, beta in pairs),
        "2-text-thresholds-sum-to-one": all(abs(alpha + beta - 1) < 1e-9 for alpha, beta in pairs),
    }


def size_claims(sizes: pd.DataFrame) -> dict[str, int]:
    """Return Table 4 from a frame with the columns attributes and records, one row a data set."""
    return {
        f"2-T4-{name}-{column}": int(row[column])
        for name, row in sizes.iterrows()
        for column in ("attributes", "records")
    }


def iteration_claims(mean: pd.Series, literal: Mapping[str, str], step: float) -> dict[str, object]:
    """Return what sections 4.3 and 5.1 (Fig. 3) say of step sizes and of Algorithm 1.

    Parameters
    ----------
    mean : pandas.Series
        Mean number of iterations over the data sets, by step size.
    literal : mapping
        By data set, why Algorithm 1 as written stopped.
    step : float
        The step size of all experiments.

    Returns
    -------
    dict of str to object
        "Many more" is read as at least twice as many at the smallest step, "hardly change" as at most one iteration
        in ten of the smallest step's, from `step` to the largest.
    """
    mean = mean.sort_index()
    beyond = mean[mean.index >= step]
    return {
        "2-text-step": step,
        "2-text-start": (0.5, 0.5),
        "2-text-fig3-more-iterations-below": bool(mean.iloc[0] >= 2 * mean.loc[step]),
        "2-text-fig3-little-change-beyond": bool(beyond.max() - beyond.min() <= mean.iloc[0] / 10),
        "2-text-algorithm-stops": not any("cycle" in why for why in literal.values()),
    }


def unanswered(ours: Iterable[str], absent: Mapping[str, str]) -> dict[str, str]:
    """Return why claims of the summary have no answer: data that are not on this machine.

    Parameters
    ----------
    ours : iterable of str
        The claims that are answered.
    absent : mapping
        How to get each data set that is not here; ``smart-home`` stands for its list of sensors.

    Returns
    -------
    dict of str to str
        What is missing, by claim id. Table 5's time stamps and values are always among them.
    """
    answered, reasons = set(ours), {}
    for claim in printed_values(2)["claim_id"]:
        if claim in answered or not _of_summary(claim):
            continue
        one = next((name for name in absent if f"-{name}-" in f"{claim}-"), None)
        if claim.startswith("2-T5-") and claim.endswith(("-timestamp", "-value")):
            reasons[claim] = SAMPLE_TABLES
        elif claim.startswith(("2-T5-", "2-T6-")) and "smart-home" in absent:
            reasons[claim] = absent["smart-home"]
        elif one:
            reasons[claim] = absent[one]
        elif claim.startswith("2-text-") and (missing := [name for name in TRACE_TABLES if name in absent]):
            reasons[claim] = f"speaks of all five data sets; not here: {', '.join(missing)}"
    return reasons


def _of_summary(claim: str) -> bool:
    return any(fnmatchcase(claim, pattern) for pattern in SUMMARY)


def _beats(one: float, other: float) -> bool:
    """Tell whether `one` is greater as printed, at two decimals: the paper compares its printed values."""
    return round(one, 2) > round(other, 2)
