"""Values for the claims of paper 2 on its five data sets together: Tables 4 and 15, Fig. 3, and the text.

As in `values`, each function takes data frames and returns our values by claim id.
"""

from collections.abc import Iterable, Mapping
from fnmatch import fnmatchcase

import pandas as pd

from compendium.papers.paper2.values import GAINS, TRACE_TABLES, only_printed, printed_thresholds
from compendium.verdicts.printed import printed_values

SAMPLE_TABLES = "the smart home's sample tables are not downloaded (12 GB, data.mendeley.com, Data in Brief 34:106632)"

# the claims on several data sets; the run of a single data set cannot judge them
UNDECIDED = {
    "2-text-fig3-little-change-beyond": "the paper's search rule is not known, our copy lacks the curve of Fig. 3, and "
    "the text does not say how much is little; under the rule used here, the moves fall to a quarter"
}
"""Claims that no data decide, with the reason (D40)."""

SUMMARY = (
    *("2-T4-*", "2-T5-*", "2-T6-*", "2-T15-*", "2-text-extreme-*", "2-text-fig3-*", "2-text-gain-*-least"),
    *("2-text-gain-*-most", "2-text-datasets", "2-text-start", "2-text-start-*", "2-text-step", "2-text-all-improve"),
    *("2-text-determined-beats-start", "2-text-algorithm-stops", "2-text-beta-below-alpha"),
    "2-text-thresholds-sum-to-one",
)


def extreme_claims(dataset: str, start: pd.Series, final: pd.Series, extreme: pd.Series) -> dict[str, object]:
    """Return a data set's rows of Table 15, and section 5.3's statement on its utility at (1, 0)."""
    ours: dict[str, object] = {
        f"2-T15-{dataset}-{which}-{measure}": float(row[measure])
        for which, row in (("start", start), ("determined", final), ("extreme", extreme))
        for measure in GAINS
    }
    ours[f"2-text-extreme-utility-{dataset}"] = bool(
        round(extreme["utility"], 2) > round(final["utility"], 2)  # the paper compares its printed values
    )
    return only_printed(ours)


def summary_claims(start: pd.DataFrame, final: pd.DataFrame, extreme: pd.DataFrame) -> dict[str, object]:
    """Return our values for the statements of sections 5.2 and 5.3 on all five data sets together.

    Parameters
    ----------
    start, final, extreme : pandas.DataFrame
        Sizes of the groups and measures, one row for each data set: at (.5, .5), at the determined thresholds, and at
        (1, 0).

    Returns
    -------
    dict of str to object
        Value by claim id: smallest and largest gains, and whether the statements hold.
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
    """Return whether the paper's assumptions on thresholds hold for its own printed pairs."""
    pairs = [pair for table in ("3", *TRACE_TABLES.values()) for pair in printed_thresholds(table)]
    return {
        "2-text-beta-below-alpha": all(0 <= beta < alpha <= 1 for alpha, beta in pairs),
        "2-text-thresholds-sum-to-one": all(abs(alpha + beta - 1) < 1e-9 for alpha, beta in pairs),
    }


def size_claims(sizes: pd.DataFrame) -> dict[str, int]:
    """Return Table 4 from a frame with the columns attributes and records, one row for each data set."""
    return {
        f"2-T4-{name}-{column}": int(row[column])
        for name, row in sizes.iterrows()
        for column in ("attributes", "records")
    }


def iteration_claims(mean: pd.Series, literal: Mapping[str, str], step: float) -> dict[str, object]:
    """Return our values for sections 4.3 and 5.1 (Fig. 3): step sizes and Algorithm 1.

    `UNDECIDED` names the claim that they cannot decide.

    Parameters
    ----------
    mean : pandas.Series
        Mean number of iterations over the data sets, by step size.
    literal : mapping
        The reason why Algorithm 1 as written stopped, by data set.
    step : float
        The step size of all experiments.

    Returns
    -------
    dict of str to object
        "Many more" means at least twice as many iterations at the smallest step as at `step`. "Hardly change" means
        that the numbers from `step` to the largest step differ by at most a tenth of the smallest step's number.
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
    """Return why claims of the summary have no value: the missing data.

    Parameters
    ----------
    ours : iterable of str
        The claims with a value.
    absent : mapping
        How to get each missing data set; ``smart-home`` is the list of sensors of the smart home, and
        ``smart-home-readings`` the readings of four of them.

    Returns
    -------
    dict of str to str
        The missing data, by claim id. Most timestamps and values of Table 5 are always missing.
    """
    answered, reasons = set(ours), {}
    for claim in printed_values(2)["claim_id"]:
        if claim in answered or not any(fnmatchcase(claim, pattern) for pattern in SUMMARY):
            continue
        one = next((name for name in absent if f"-{name}-" in f"{claim}-"), None)
        if claim.startswith("2-T5-") and claim.endswith(("-timestamp", "-value")):
            reasons[claim] = "; ".join(filter(None, [SAMPLE_TABLES, absent.get("smart-home-readings")]))
        elif claim.startswith(("2-T5-", "2-T6-")) and "smart-home" in absent:
            reasons[claim] = absent["smart-home"]
        elif one:
            reasons[claim] = absent[one]
        elif claim.startswith("2-text-") and (missing := [name for name in TRACE_TABLES if name in absent]):
            reasons[claim] = f"needs all five data sets; not on this machine: {', '.join(missing)}"
    return reasons
