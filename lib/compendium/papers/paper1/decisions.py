"""Decide whether paper 1's advice holds on the data sets of this machine, or whether they are too few to tell.

Data sets are the units. Several forms of the same captures are one data set: only the paper's own form counts, except
where forms are compared. A statement is decided if a test over the data sets decides it at the level `LEVEL`; otherwise
it is undecided. Each function returns our value and, if the claim is undecided, the reason.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd
import scipy  # loads scipy.stats, which takes a second, when it is used

from compendium.papers.paper1.text import KEPT, LOST, most_often
from compendium.papers.paper1.values import METHODS
from compendium.verdicts.printed import printed_values

LEVEL = 0.05
FEWEST = 5
"""The fewest data sets for a statement about data sets. With fewer, no agreement is unusual enough."""
_DRAWS = 2000
_PRAISED = ("information-utility", "shap-ratio")
_CANDIDATES = 3  # greedy stages that compete
FORMS = ("iot-sentinel-bits", "iot-sentinel-flows")  # of the captures of iot-sentinel
_BEST = 2  # methods that the text calls the best performing, without an order
Decision = tuple[Any, str]
"""Our value, and why it is undecided; empty if it is decided."""


def advice_statements(
    best: pd.DataFrame, ranks: pd.DataFrame, thresholds: pd.DataFrame, pairs: Sequence[tuple[str, str]]
) -> tuple[dict[str, Any], dict[str, str]]:
    """Return whether the paper's advice holds on the data sets of this machine.

    Parameters
    ----------
    best : pandas.DataFrame
        As :func:`.text.advice` returns it.
    ranks : pandas.DataFrame
        Rank of each method (rows, names of `METHODS`) on each data set (columns), 1 the best.
    thresholds : pandas.DataFrame
        Index data set; the best threshold by two measures: ``threshold`` by relative effectiveness, ``by_points`` by
        reduction less loss, which small losses do not amplify (section 5.2.1).
    pairs : sequence of (str, str)
        Pairs of data sets in `best` with dense and sparse features of the same traffic.

    Returns
    -------
    tuple of two dict
        Our values by claim id, without claims for which there are no data; and the claims that these data sets cannot
        decide, with the reason.
    """
    found: dict[str, Decision] = {}
    if len(best):
        found["1-text-preselect-mi-shap"] = best_preselections(best.drop(index=[*FORMS], errors="ignore"))
    if ranks.size:
        apart = ranks.drop(columns=[*FORMS], errors="ignore")
        printed = printed_values(1).set_index("claim_id")["printed"]
        for claim in ("1-text-best-first", "1-text-best-second"):
            found[claim] = among_best(apart, printed[claim])
        found["1-text-pca-poor"] = poor(apart, "pca")
    if len(thresholds):
        levels = thresholds.drop(index=[*FORMS], errors="ignore")
        found["1-text-recommended-threshold"] = balanced_threshold(levels, 0.01)
    if here := [pair for pair in pairs if set(pair) <= set(best.index)]:
        found["1-text-dense-better"] = dense_beats_sparse(best, here)
    ours = {claim: value for claim, (value, _) in found.items()}
    return ours, {claim: why for claim, (_, why) in found.items() if why}


def best_thresholds(ablation: pd.DataFrame) -> pd.DataFrame:
    """Return the best threshold of each data set, for the largest number of features searched.

    Parameters
    ----------
    ablation : pandas.DataFrame
        Table ``ablation`` of notebook 10: problem, searched, threshold, relative_effectiveness, accuracy,
        identifiability.

    Returns
    -------
    pandas.DataFrame
        Index problem; threshold and its effectiveness, the highest; by_points: the threshold with the largest reduction
        less loss, both counted from threshold 0.
    """
    measures = ["accuracy", "identifiability"]
    own = ablation.reindex(columns=["problem", "searched", "threshold", "relative_effectiveness", *measures])
    own = own[own["searched"] == own.groupby("problem")["searched"].transform("max")]
    effectiveness = pd.to_numeric(own["relative_effectiveness"], errors="coerce").dropna()
    lost = own[own["threshold"] == 0].set_index("problem")[measures].reindex(own["problem"]) - own[measures].to_numpy()
    points = (lost["identifiability"] - lost["accuracy"]).astype(float).set_axis(own.index)
    scores = {"threshold": effectiveness, "by_points": points}
    places = {name: score.groupby(own["problem"]).idxmax() for name, score in scores.items()}
    best = {name: own.loc[place].set_index("problem")["threshold"] for name, place in places.items()}
    highest = effectiveness.groupby(own["problem"]).max()
    return pd.DataFrame({"threshold": best["threshold"], "effectiveness": highest, "by_points": best["by_points"]})


def best_preselections(best: pd.DataFrame) -> Decision:
    """Decide whether mutual information and SHAP cost-to-value are the best greedy stages.

    Two of three stages are praised. Random winners would be among them on two thirds of the data sets, so the test is
    whether they win more often. A data set counts only if no stage of the other kind is indistinguishable from its
    winner.
    """
    wins, decided = 0, 0
    for row in best[["best", "indistinguishable"]].itertuples(index=False):
        near = [name for name in str(row.indistinguishable).split(", ") if name]
        praised = row.best in _PRAISED
        if all((name in _PRAISED) == praised for name in near):
            wins, decided = wins + praised, decided + 1
    share = len(_PRAISED) / _CANDIDATES
    more, fewer = (_p_value(wins, decided, share, side) for side in ("greater", "less"))
    why = (
        f"one stage is clearly best on {decided} of {len(best)} data sets, and it is a praised one on {wins}; random "
        f"winners would be praised on two thirds (p = {more:.2f})"
    )
    return _decided(more, fewer, why)


def dense_beats_sparse(best: pd.DataFrame, pairs: Sequence[tuple[str, str]]) -> Decision:
    """Decide whether dense features of the same traffic lead to better tradeoffs than sparse ones, by a sign test.

    The better one of a pair keeps the accuracy and the other loses it, or its reduction exceeds its loss by more. A
    pair counts only if it is decided for both whether they keep the accuracy.
    """
    known = best[best["accuracy"].isin([KEPT, LOST])]
    net = {name: (row["accuracy"] == KEPT, row["reduction"] - row["loss"]) for name, row in known.iterrows()}
    decided = [pair for pair in pairs if set(pair) <= set(net)]
    wins = sum(net[dense] > net[sparse] for dense, sparse in decided)
    more, fewer = (_p_value(wins, len(decided), 0.5, side) for side in ("greater", "less"))
    names = "; ".join(f"{dense} and {sparse}" for dense, sparse in pairs)
    why = f"the dense features are better in {wins} of {len(decided)} pairs, which are too few to decide ({names}"
    why += f"; {len(pairs) - len(decided)} left out: their loss of accuracy is undecided)" if pairs != decided else ")"
    return _decided(more, fewer, why)


def among_best(ranks: pd.DataFrame, printed: str) -> Decision:
    """Decide whether the printed method is one of the two with the lowest mean ranks over the data sets.

    The text names the two best performing methods, says that there is no clear winner, and gives no order.
    """
    names = np.array([METHODS[str(name)] for name in ranks.index])
    best = names[np.argsort(ranks.mean(axis=1).to_numpy(), kind="stable")[:_BEST]]
    orders = np.argsort(resampled_means(ranks), axis=1, kind="stable")[:, :_BEST]
    share = float(np.mean((names[orders] == printed).any(axis=1)))
    ours = printed if printed in best else " and ".join(best)
    if ranks.shape[1] >= FEWEST and not LEVEL < share < 1 - LEVEL:
        return ours, ""
    return ours, f"the ranking changes with the data sets: {printed} is among the best two in {share:.0%} of resamples"


def poor(ranks: pd.DataFrame, method: str) -> Decision:
    """Decide whether the mean rank of a method is in the worse half of all methods."""
    means = resampled_means(ranks)
    share = float(np.mean(means[:, list(ranks.index).index(method)] > np.median(means, axis=1)))
    why = f"the ranking changes with the data sets: {METHODS[method]} is in the worse half in {share:.0%} of resamples"
    return _decided(*((1 - share, share) if ranks.shape[1] >= FEWEST else (1.0, 1.0)), why)


def usual_threshold(thresholds: Sequence[float], printed: float) -> Decision:
    """Decide whether the printed threshold is the one that most data sets have; the smallest of several counts."""
    values, draw = np.asarray(thresholds, dtype=float), np.random.default_rng(0)
    modes = np.array([most_often(draw.choice(values, values.size)) for _ in range(_DRAWS)])
    share, own = float(np.mean(modes == printed)), most_often(values)
    if values.size >= FEWEST and not LEVEL < share < 1 - LEVEL:
        return own, ""
    count = int((values == printed).sum())
    why = f"{printed:g} is best on {count} of {values.size} data sets, and most often best in {share:.0%} of resamples"
    return own, why


def balanced_threshold(thresholds: pd.DataFrame, printed: float) -> Decision:
    """Decide whether the printed threshold is the usual one by both measures: the text says *balanced*, and names none.

    The parameter is that of :func:`advice_statements`. Measures that disagree decide nothing.
    """
    found = {name: usual_threshold(thresholds[name].tolist(), printed) for name in ("threshold", "by_points")}
    (own, why), (other, _) = found.values()
    if own != other:
        return own, f"by relative effectiveness {own:g} is most often best, by reduction less loss {other:g}"
    return own, why or found["by_points"][1]


def ranks_of(ranking: pd.DataFrame) -> pd.DataFrame:
    """Return the rank of each of the paper's methods (rows) on each data set (columns), among these methods."""
    found = ranking.reindex(columns=["method", "problem", "rank"])
    found = found[found["method"].isin(list(METHODS))]
    return found.pivot_table(index="method", columns="problem", values="rank").rank()


def sign_test(true: "pd.Series[bool]", units: str) -> Decision:
    """Decide whether something is true of most units: true of significantly more than half of them, or of fewer."""
    wins, trials = int(true.sum()), len(true)
    more, fewer = (_p_value(wins, trials, 0.5, side) for side in ("greater", "less"))
    return _decided(more, fewer, f"true of {wins} of {trials} {units} (sign test, p = {min(more, fewer):.2f})")


def _decided(more: float, fewer: float, why: str) -> Decision:
    """Return true or false by the p-values of both sides, or None with the reason."""
    return (True, "") if more <= LEVEL else (False, "") if fewer <= LEVEL else (None, why)


def _p_value(wins: int, trials: int, share: float, side: str) -> float:
    return float(scipy.stats.binomtest(wins, trials, share, alternative=side).pvalue) if trials else 1.0


def resampled_means(ranks: pd.DataFrame) -> np.ndarray:
    """Return the methods' mean ranks over resampled data sets, one row for each resample.

    The mean counts the data sets on which a method has a rank. It is infinite if a resample has none of them.
    """
    table = np.ma.masked_invalid(ranks.to_numpy(float))
    chosen = np.random.default_rng(0).integers(table.shape[1], size=(_DRAWS, table.shape[1]))
    return np.stack([table[:, columns].mean(axis=1).filled(np.inf) for columns in chosen])
