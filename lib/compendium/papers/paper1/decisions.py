"""Decide whether paper 1's advice holds on the data sets of this machine, or whether they are too few to tell.

Data sets are the units. Several forms of the same captures are one data set: only the paper's own form counts, except
where forms are compared. A statement is decided by exact binomial tests over the data sets, at the level `LEVEL` for
both directions together; otherwise it is undecided. The text states directions, but the same data may show that it is
wrong, so no test has one side only. Each function returns our value and, if the claim is undecided, the reason.
"""

from collections.abc import Mapping, Sequence
from typing import Any

import pandas as pd
import scipy  # loads scipy.stats, which takes a second, when it is used

from compendium.papers.paper1.text import KEPT, LOST, most_often
from compendium.papers.paper1.values import METHODS
from compendium.verdicts.printed import printed_values
from sensorprivacy.game.measuring import effectiveness_column
from sensorprivacy.minimize.select import THRESHOLDS

LEVEL = 0.05
"""The level of a test, half of it on each side."""
FEWEST = 6
"""The fewest units for a sign test: five of five have p = .0625."""
SPLITS = ("random rows", "whole recordings")
"""Our runs are judged on both splits: the paper's, and one without a recording on two sides."""
_PRAISED = ("information-utility", "shap-ratio")
_CANDIDATES = 3  # greedy stages that compete
FORMS = ("iot-sentinel-bits", "iot-sentinel-flows")  # of the captures of iot-sentinel
_BEST = 2  # methods that the text calls the best performing, without an order
Decision = tuple[Any, str]
"""Our value, and why it is undecided; empty if it is decided."""
BySplit = Mapping[str, pd.DataFrame]
"""A table for each of `SPLITS` that has one."""


def advice_statements(
    best: pd.DataFrame, ranks: BySplit, thresholds: BySplit, pairs: Sequence[tuple[str, str]]
) -> tuple[dict[str, Any], dict[str, str]]:
    """Return whether the paper's advice holds on the data sets of this machine.

    Parameters
    ----------
    best : pandas.DataFrame
        As :func:`.text.advice` returns it, on whole recordings.
    ranks : mapping of str to pandas.DataFrame
        By split, the rank of each method (rows, names of `METHODS`) on each data set (columns), 1 the best.
    thresholds : mapping of str to pandas.DataFrame
        By split, with the index data set: the best threshold by two measures: ``threshold`` by relative effectiveness,
        ``by_points`` by reduction less loss, which small losses do not amplify (section 5.2.1).
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
    if apart := {split: one for split, own in ranks.items() if (one := without_forms(own)).size}:
        printed = printed_values(1).set_index("claim_id")["printed"]
        for claim in ("1-text-best-first", "1-text-best-second"):
            found[claim] = agreed({split: among_best(own, printed[claim]) for split, own in apart.items()})
        found["1-text-pca-poor"] = agreed({split: poor(own, "pca") for split, own in apart.items()})
    if levels := {split: own.drop(index=[*FORMS], errors="ignore") for split, own in thresholds.items() if len(own)}:
        balanced = {split: balanced_threshold(own, 0.01) for split, own in levels.items()}
        found["1-text-recommended-threshold"] = agreed(balanced)
    if here := [pair for pair in pairs if set(pair) <= set(best.index)]:
        found["1-text-dense-better"] = dense_beats_sparse(best, here)
    return answers(found)


def answers(found: Mapping[str, Decision]) -> tuple[dict[str, Any], dict[str, str]]:
    """Return our values by claim id, and the reasons of undecided ones."""
    ours = {claim: value for claim, (value, _) in found.items()}
    return ours, {claim: why for claim, (_, why) in found.items() if why}


def without_forms(ranks: pd.DataFrame) -> pd.DataFrame:
    """Return the ranks without the forms of captures that are there already."""
    return ranks.drop(columns=[*FORMS], errors="ignore")


def agreed(found: Mapping[str, Decision]) -> Decision:
    """Return the decision of several ways to judge a claim. It is undecided if one does not decide, or two disagree."""
    values = [value for value, _ in found.values()]
    if all(value == values[0] and not why for value, why in found.values()):
        return values[0], ""
    ours = None if isinstance(values[0], bool) else values[0]
    return ours, "; ".join(f"{way}: {why or f'decided, {value}'.lower()}" for way, (value, why) in found.items())


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


def chosen_apart(flattery: pd.DataFrame) -> pd.DataFrame:
    """Return the choices on whole recordings, chosen on validation rows and judged on test rows, like an ablation.

    Parameters
    ----------
    flattery : pandas.DataFrame
        Table ``flattery`` of notebook 10, with the column ``run``.
    """
    names = {f"{name}, chosen on validation rows": name for name in ("accuracy", "identifiability")}
    own = flattery.reindex(columns=["run", "threshold", *names]).rename(columns=names)
    own = own.assign(problem=own["run"].astype(str).str.split("-", n=1).str[1], searched=0)
    parts = [effectiveness_column(one, one[one["threshold"] == 0].iloc[0], decimals=4) for _, one in own.groupby("run")]
    return own.assign(relative_effectiveness=pd.concat(parts) if parts else None)


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
        f"winners would be praised on two thirds ({_p(more, fewer)})"
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
    """Decide whether the printed method is one of the best two, by sign tests against each other method.

    The text names the two best performing methods, says that there is no clear winner, and gives no order. The method
    is one of them if it has the better rank than all others but one on significantly more data sets than not. It is
    none of them if two others have the better rank; the level is then divided by the number of others but one, because
    any two would do.
    """
    name = next(name for name, words in METHODS.items() if words == printed)
    others = ranks.drop(index=name)
    ahead = (others - ranks.loc[name]).where(lambda table: table != 0)  # positive: the printed method is better
    wins, trials = (ahead > 0).sum(axis=1), ahead.notna().sum(axis=1)
    p_values = pd.DataFrame(
        {side: [_p_value(*pair, 0.5, side) for pair in zip(wins, trials, strict=True)] for side in ("greater", "less")},
        index=others.index,
    )
    most = len(others) - (_BEST - 1)
    beaten, beat = (p_values["greater"] <= LEVEL / 2), (p_values["less"] <= LEVEL / 2 / most)
    if beaten.sum() >= most:
        return printed, ""
    if beat.sum() >= _BEST:
        return " and ".join(METHODS[str(one)] for one in p_values["less"].nsmallest(_BEST).index), ""
    best = [METHODS[str(one)] for one in ranks.mean(axis=1).nsmallest(_BEST).index]
    why = (
        f"on {ranks.shape[1]} data sets, {printed} ranks significantly better than {beaten.sum()} of {len(others)} "
        f"other methods, and {beat.sum()} rank better than it"
    )
    return (printed if printed in best else " and ".join(best)), why


def poor(ranks: pd.DataFrame, method: str) -> Decision:
    """Decide whether the rank of a method is in the worse half on most data sets, by a sign test."""
    above: Any = ranks.sub(ranks.median(), axis="columns").loc[method].dropna()
    return sign_test(above[above != 0] > 0, "data sets")


def usual_threshold(thresholds: Sequence[float], printed: float) -> Decision:
    """Decide whether the printed threshold is best on most data sets, by sign tests against each other threshold.

    It is the usual one if it is best significantly more often than every other one. It is not if another one is best
    significantly more often; the level is then divided by the number of the others.
    """
    values, others = pd.Series(thresholds, dtype=float), [level for level in THRESHOLDS if level != printed]
    count = int((values == printed).sum())
    rivals = {level: int((values == level).sum()) for level in others}
    if all(_p_value(count, count + own, 0.5, "greater") <= LEVEL / 2 for own in rivals.values()):
        return printed, ""
    most = max(rivals, key=lambda level: rivals[level])
    if _p_value(count, count + rivals[most], 0.5, "less") <= LEVEL / 2 / len(others):
        return most, ""
    why = f"{printed:g} is best on {count} of {values.size} data sets, which does not decide"
    return (most_often(values) if values.size else None), why


def balanced_threshold(thresholds: pd.DataFrame, printed: float) -> Decision:
    """Decide whether the printed threshold is the usual one by both measures: the text says *balanced*, and names none.

    The parameter is one table of that of :func:`advice_statements`. Measures that disagree decide nothing.
    """
    names = {"threshold": "by relative effectiveness", "by_points": "by reduction less loss"}
    return agreed({words: usual_threshold(thresholds[name].tolist(), printed) for name, words in names.items()})


def feature_statements(
    added: Mapping[str, pd.DataFrame], sweeps: pd.DataFrame, variants: pd.DataFrame
) -> tuple[dict[str, Any], dict[str, str]]:
    """Return our values of the statements about features by claim id, and the reasons of undecided ones.

    Parameters
    ----------
    added : mapping of str to pandas.DataFrame
        What each feature of the authors' sparse sets adds to both players, see `.published.contributions`.
    sweeps, variants : pandas.DataFrame
        Tables ``sweeps`` and ``variant-sweeps`` of notebook 11, with the column ``run``.
    """
    found = {"1-text-sparse-both": contribute_to_both(added)} if added else {}
    if len(variants):
        found["1-text-entropy-not-invasive"] = entropy_not_invasive(sweeps, variants)
    return answers(found)


def contribute_to_both(added: Mapping[str, pd.DataFrame]) -> Decision:
    """Decide whether features contribute to both players at once (section 5.4.2), by rank correlations of both.

    True if they are significantly positive on every data set, false if one is significantly negative.
    """
    both = [(one["accuracy"], one["identifiability"]) for one in added.values()]
    positive, negative = (
        [float(scipy.stats.spearmanr(*pair, alternative=side).pvalue) for pair in both] for side in ("greater", "less")
    )
    why = "; ".join(f"{name}: p = {p:.3f} of no correlation" for name, p in zip(added, positive, strict=True))
    return _decided(max(positive), min(negative) * len(both), why)


def entropy_not_invasive(sweeps: pd.DataFrame, variants: pd.DataFrame) -> Decision:
    """Decide whether features of high entropy identify no better than those of low entropy (section 2.2.3).

    The paper's privacy score keeps the features of lowest entropy, the authors' notebooks those of highest entropy. On
    a data set, high entropy is not invasive if it identifies better at no more than half of the sizes. Then a sign test
    over data sets.

    Parameters
    ----------
    sweeps, variants : pandas.DataFrame
        Tables ``sweeps`` and ``variant-sweeps`` of notebook 11, with the column ``run``.
    """
    kept = []
    for table in (sweeps, variants):
        own = table[(table["method"] == "privacy") & ~table["run"].str.split("-", n=1).str[1].isin(FORMS)]
        kept.append(own.groupby(["run", "n_features"])["identifiability"].mean())
    low, high = kept[0].align(kept[1], join="inner")
    more = (high > low).groupby("run").mean()
    return sign_test(more <= 0.5, "data sets")


def ranks_of(ranking: pd.DataFrame) -> pd.DataFrame:
    """Return the rank of each of the paper's methods (rows) on each data set (columns), among these methods."""
    found = ranking.reindex(columns=["method", "problem", "rank"])
    found = found[found["method"].isin(list(METHODS))]
    return found.pivot_table(index="method", columns="problem", values="rank").rank()


def with_means(ranks: pd.DataFrame) -> pd.DataFrame:
    """Return ranks with their mean over data sets, sorted by it, with the methods' printed names."""
    return ranks.assign(mean=ranks.mean(axis=1)).sort_values("mean").rename(index=METHODS)


def sign_test(true: "pd.Series[bool]", units: str) -> Decision:
    """Decide whether something is true of most units, by a two-sided sign test.

    Examples
    --------
    >>> sign_test(pd.Series([True] * 9 + [False] * 2), "methods")
    (None, 'true of 9 of 11 methods (sign test, p = 0.065)')
    """
    wins, trials = int(true.sum()), len(true)
    more, fewer = (_p_value(wins, trials, 0.5, side) for side in ("greater", "less"))
    few = f"; fewer than {FEWEST} decide nothing" if trials < FEWEST else ""
    return _decided(more, fewer, f"true of {wins} of {trials} {units} (sign test, {_p(more, fewer)}){few}")


def _decided(more: float, fewer: float, why: str) -> Decision:
    """Return true or false by the p-values of both sides, or None with the reason."""
    return (True, "") if more <= LEVEL / 2 else (False, "") if fewer <= LEVEL / 2 else (None, why)


def _p(more: float, fewer: float) -> str:
    """Return the two-sided p-value in words."""
    return f"p = {min(1.0, 2 * min(more, fewer)):.3f}"


def _p_value(wins: int, trials: int, share: float, side: str) -> float:
    return float(scipy.stats.binomtest(int(wins), int(trials), share, alternative=side).pvalue) if trials else 1.0
