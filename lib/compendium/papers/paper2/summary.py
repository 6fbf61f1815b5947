"""Our values for the statements of paper 2 on its five data sets together, by claim id."""

from collections.abc import Mapping

import pandas as pd

from compendium.papers.paper2.values import GAINS, TRACE_TABLES, printed_thresholds


def summary_statements(start: pd.DataFrame, final: pd.DataFrame, extreme: pd.DataFrame) -> dict[str, object]:
    """Return our values for the statements of sections 5.2 and 5.3.

    Parameters
    ----------
    start, final, extreme : pandas.DataFrame
        Sizes of the groups and measures, one row for each data set: at (.5, .5), at the determined thresholds, and at
        (1, 0). Without all five data sets, there are only the statements on single ones.
    """
    # the paper compares its printed values
    more = extreme["utility"].astype(float).round(2) > final["utility"].astype(float).round(2)
    each = {"titanic": "2-text-extreme-utility-titanic", "heart": "2-text-extreme-utility-heart"}
    each |= {"student": "2-text-extreme-utility-student"}
    ours: dict[str, object] = {claim: bool(more[name]) for name, claim in each.items() if name in more}
    if not set(TRACE_TABLES) <= set(start.index):
        return ours
    improved = bool((final[list(GAINS)] > start[list(GAINS)]).all(axis=None))
    sizes = pd.concat([start["ambiguous"], final["ambiguous"], extreme["ambiguous"]], axis=1)
    return ours | {
        "2-text-all-improve": improved,
        "2-text-determined-beats-start": improved,
        "2-text-start-no-ambiguous": bool((start["ambiguous"] == 0).all()),
        "2-text-start-smallest-ambiguous": bool((start["ambiguous"] == sizes.min(axis=1)).all()),
        "2-text-extreme-largest-ambiguous": bool((extreme["ambiguous"] == sizes.max(axis=1)).all()),
        "2-text-extreme-stability": bool((extreme["stability"] < final["stability"]).all()),
        "2-text-extreme-suitability": bool((extreme["suitability"] < final["suitability"]).all()),
        "2-text-datasets": len(start),
    }


def threshold_statements() -> dict[str, object]:
    """Return whether the paper's assumptions on thresholds hold for its own printed pairs."""
    pairs = [pair for table in ("3", *TRACE_TABLES.values()) for pair in printed_thresholds(table)]
    return {
        "2-text-beta-below-alpha": all(0 <= beta < alpha <= 1 for alpha, beta in pairs),
        "2-text-thresholds-sum-to-one": all(abs(alpha + beta - 1) < 1e-9 for alpha, beta in pairs),
    }


def iteration_statements(mean: pd.Series, literal: Mapping[str, str], step: float) -> dict[str, object]:
    """Return our values for sections 4.3 and 5.1 (Fig. 3): step sizes and Algorithm 1.

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
