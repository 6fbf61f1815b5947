"""What a search is asked besides its choice: how much the choice flatters, how much it owes to its features."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import pandas as pd
from sklearn.base import BaseEstimator

from sensorprivacy.datasets.types import Problem
from sensorprivacy.game.effectiveness import effectiveness_column
from sensorprivacy.game.intervals import with_intervals
from sensorprivacy.game.play import play
from sensorprivacy.game.splits import Split
from sensorprivacy.minimize.greedy import knapsack, take
from sensorprivacy.minimize.scores import score_features
from sensorprivacy.minimize.search.exhaustive import search
from sensorprivacy.minimize.select import THRESHOLDS, select_table

MEASURES = ("accuracy", "identifiability")


def preselect(
    problem: Problem, rows: Any, ways: Iterable[str], n_features: int, *, max_rows: int | None = None, **options: Any
) -> tuple[dict[str, list[Any]], dict[str, pd.DataFrame]]:
    """Return the features that several greedy stages keep.

    Parameters
    ----------
    problem : Problem
        The table.
    rows : array of int
        Rows to score on: training rows only.
    ways : iterable of str
        ``<score>-<order>``, such as ``shap-ratio``, see `score_features` and `order`.
    n_features : int
        How many to keep, at most all.
    max_rows : int, optional
        Rows that SHAP values are computed on; no other score is affected.
    **options
        Passed to `score_features`: ``forest``, ``seed``.

    Returns
    -------
    dict of str to list
        Features by way, in the order they are taken.
    dict of str to pandas.DataFrame
        Scores by way.

    Raises
    ------
    ValueError
        If a way has no such form, score or order.
    """
    pools, scored, scores = {}, {}, {}
    features, task, users = (part.iloc[rows] for part in (problem.features, problem.task, problem.users))
    for way in ways:
        score, _, by = way.rpartition("-")
        if score not in scores:
            most = max_rows if score == "shap" else None
            scores[score] = score_features(features, task, users, score, max_rows=most, **options)
        pools[way] = take(scores[score], by, n_features=min(n_features, problem.n_features))
        scored[way] = scores[score]
    return pools, scored


def greedy_and_knapsack(scores: pd.DataFrame, pool: Sequence[Any]) -> pd.DataFrame:
    """Return total value and cost of a greedy choice, beside the knapsack's optimum for at least that value.

    Parameters
    ----------
    scores : pandas.DataFrame
        What `score_features` returned.
    pool : sequence
        The greedy choice.

    Returns
    -------
    pandas.DataFrame
        Rows greedy and knapsack; columns utility, identifiability, n_features, features.

    References
    ----------
    Paper 1, section 3.1.
    """
    by_name = scores.set_index("feature")[["utility", "identifiability"]]
    ways = {"greedy": list(pool), "knapsack": knapsack(scores, float(by_name.loc[list(pool), "utility"].sum()))}
    rows = {
        way: {**by_name.loc[names].sum(), "n_features": len(names), "features": tuple(names)}
        for way, names in ways.items()
    }
    return pd.DataFrame.from_dict(rows, orient="index").rename_axis("way")


def flattery(on_validation: pd.DataFrame, on_test: pd.DataFrame) -> pd.DataFrame:
    """Return what choosing on test rows promises, beside an honest choice judged on the same test rows.

    Parameters
    ----------
    on_validation, on_test : pandas.DataFrame
        Tables of one search judged on validation and on test rows: features, n_features, accuracy, identifiability.

    Returns
    -------
    pandas.DataFrame
        Index threshold; accuracy and identifiability on test rows of the subset chosen on test and of that chosen on
        validation rows; ``flattery``: by how much the former looks better, positive in either measure.

    Raises
    ------
    ValueError
        If the tables hold different subsets.
    """
    truth = on_test.set_index("features")[list(MEASURES)]
    if set(on_validation["features"]) != set(truth.index):
        raise ValueError("the two searches hold different subsets: search the same features on both parts")
    table = pd.DataFrame(index=pd.Index(THRESHOLDS, name="threshold"))
    for words, searched in (("test", on_test), ("validation", on_validation)):
        rows = truth.loc[select_table(searched)["features"].tolist()]
        for name in MEASURES:
            table[f"{name}, chosen on {words} rows"] = rows[name].to_numpy()
    for name, sign in zip(MEASURES, (1, -1), strict=True):
        gap = table[f"{name}, chosen on test rows"] - table[f"{name}, chosen on validation rows"]
        table[f"flattery, {name}"] = sign * gap
    return table


def ablation(subsets: pd.DataFrame, pool: Sequence[Any], sizes: Iterable[int], trials: int) -> pd.DataFrame:
    """Return the choice at each threshold when fewer features of the greedy order are searched.

    Parameters
    ----------
    subsets : pandas.DataFrame
        A search of all of `pool`.
    pool : sequence
        The searched features in greedy order.
    sizes : iterable of int
        How many of them to keep; more than there are count as all.
    trials : int
        Held-out rows.

    Returns
    -------
    pandas.DataFrame
        Columns searched, threshold and those of `select_table`, with intervals.

    References
    ----------
    Paper 1, section 5.4.1.
    """
    tables = {}
    for size in sorted({min(size, len(pool)) for size in sizes} | {len(pool)}):
        kept = set(pool[:size])
        inside = subsets[[set(features) <= kept for features in subsets["features"]]]
        tables[size] = with_intervals(select_table(inside), trials)
    return pd.concat(tables, names=["searched", "threshold"]).reset_index()


def compare_preselections(
    problem: Problem,
    pools: Mapping[str, Sequence[Any]],
    threshold: float,
    *,
    split: Split,
    model: BaseEstimator,
    seed: int | None = 42,
    **options: Any,
) -> pd.DataFrame:
    """Return what two stages come to after several greedy stages, on rows that nothing was chosen on.

    Parameters
    ----------
    problem : Problem
        The table.
    pools : mapping of str to sequence
        Features that each greedy stage kept.
    threshold : float
        Accuracy that may be given up.
    split : Split
        With validation rows: subsets are chosen on them and judged on the test rows.
    model, seed
        See `search`.
    **options
        Passed to `search`: ``engine``, ``store``, ``allow_long``, ``lazy``.

    Returns
    -------
    pandas.DataFrame
        One row a preselection: problem, preselection, n_features, features, accuracy and identifiability with
        intervals and chance levels, base_accuracy, base_identifiability (all features), relative_effectiveness.
    """
    base = play(problem, None, model=model, split=split, seed=seed).to_series()
    kept = [f"{name}{part}" for name in MEASURES for part in ("", "_low", "_high", "_chance")]
    rows = []
    for way, names in pools.items():
        found = search(problem, names, split=split, part="validation", model=model, seed=seed, **options)
        features = list(found.select(threshold)["features"])
        outcome = play(problem, features, model=model, split=split, seed=seed).to_series()
        about = {"problem": problem.name, "preselection": way, "n_features": len(features), "features": tuple(features)}
        rows.append({**about, **outcome[kept]})
    table = pd.DataFrame(rows).assign(**{f"base_{name}": base[name] for name in MEASURES})
    return table.assign(relative_effectiveness=effectiveness_column(table, base, decimals=4))
