"""Paper 1's experiments with the two stages: ways and numbers to preselect (sections 3.1, 5.4.1), and other draws."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import pandas as pd
from sklearn.base import BaseEstimator

from sensorprivacy.data import Problem
from sensorprivacy.game.measuring import effectiveness_column
from sensorprivacy.game.play import play, release, seeded
from sensorprivacy.game.splits import Split
from sensorprivacy.game.wilson import with_intervals
from sensorprivacy.minimize.engine_protocol import LABELS, MEASURES, engine_data
from sensorprivacy.minimize.engines import make_engine
from sensorprivacy.minimize.greedy import knapsack, take_features
from sensorprivacy.minimize.scores import score_features
from sensorprivacy.minimize.search.exhaustive import search_subsets
from sensorprivacy.minimize.select import THRESHOLDS, NoSubsetError, select, select_table
from sensorprivacy.progress import tqdm


def preselect(
    problem: Problem, rows: Any, ways: Iterable[str], n_features: int, *, max_rows: int | None = None, **options: Any
) -> tuple[dict[str, list[Any]], dict[str, pd.DataFrame]]:
    """Preselect features in several ways.

    Parameters
    ----------
    problem : Problem
        The table.
    rows : array of int
        Rows to score on. Pass training rows only.
    ways : iterable of str
        ``<score>-<order>``, such as ``shap-ratio``, see `score_features` and `rank_features`.
    n_features : int
        Number of features to keep, at most all.
    max_rows : int, optional
        Rows that SHAP values are computed on. Other scores ignore it.
    **options
        ``forest`` and ``seed`` of `score_features`.

    Returns
    -------
    dict of str to list
        Features by way, best first.
    dict of str to pandas.DataFrame
        Scores by way.

    Raises
    ------
    ValueError
        If a way has another form, or its score or order is unknown.
    """
    features, scores, scores_of = {}, {}, {}
    problem = problem.filled(rows)
    table, task, users = problem.features.iloc[rows], problem.task.iloc[rows], problem.users.iloc[rows]
    for way in ways:
        score, _, by = way.rpartition("-")
        if score not in scores_of:
            limit = max_rows if score == "shap" else None
            scores_of[score] = score_features(table, task, users, score, max_rows=limit, **options)
        scores[way] = scores_of[score]
        features[way] = take_features(scores[way], by, n_features=min(n_features, problem.n_features))
    return features, scores


def greedy_and_knapsack(scores: pd.DataFrame, chosen: Sequence[Any]) -> pd.DataFrame:
    """Compare a greedy choice with the optimum of the knapsack of at least the same utility.

    Parameters
    ----------
    scores : pandas.DataFrame
        Result of `score_features`.
    chosen : sequence
        The greedy choice.

    Returns
    -------
    pandas.DataFrame
        Rows greedy and knapsack; columns total value, total cost (sums of scores without a unit), n_features, features.

    References
    ----------
    Paper 1, section 3.1.
    """
    totals = {"utility": "total value", "identifiability": "total cost"}
    by_name = scores.set_index("feature")[list(totals)].rename(columns=totals)
    ways = {"greedy": list(chosen), "knapsack": knapsack(scores, float(by_name.loc[list(chosen), "total value"].sum()))}
    rows = {
        way: {**by_name.loc[names].sum(), "n_features": len(names), "features": tuple(names)}
        for way, names in ways.items()
    }
    return pd.DataFrame.from_dict(rows, orient="index").rename_axis("way")


def ablation(subsets: pd.DataFrame, ranked: Sequence[Any], sizes: Iterable[int], trials: int) -> pd.DataFrame:
    """Choose subsets as if fewer features had been searched.

    Parameters
    ----------
    subsets : pandas.DataFrame
        Table of a search of all `ranked` features. Of a race, after the table of an exhaustive search of the first
        features, because a race drops subsets that fewer features would choose; the first of equal subsets counts.
    ranked : sequence
        The searched features, best first.
    sizes : iterable of int
        Numbers of features to keep. A number above the number of features means all.
    trials : int
        Number of held-out rows.

    Returns
    -------
    pandas.DataFrame
        Columns searched, threshold and those of `select_table`, with intervals.

    References
    ----------
    Paper 1, section 5.4.1.
    """
    tables, subsets = {}, subsets.drop_duplicates("features", ignore_index=True)
    for size in sorted({min(size, len(ranked)) for size in sizes} | {len(ranked)}):
        kept = set(ranked[:size])
        inside = subsets[[set(features) <= kept for features in subsets["features"]]]
        tables[size] = with_intervals(select_table(inside), trials)
    return pd.concat(tables, names=["searched", "threshold"]).reset_index()


def both_rules(subsets: pd.DataFrame, everything: float) -> pd.DataFrame:
    """Choose subsets by the rule of the printed tables, and by Definition 1.

    The tables tolerate a loss from the best subset's accuracy, Definition 1 from the accuracy of all features.

    Parameters
    ----------
    subsets : pandas.DataFrame
        Table of an exhaustive search.
    everything : float
        Accuracy on all features, which need not be among the searched ones.

    Returns
    -------
    pandas.DataFrame
        Index threshold. Columns n_features, accuracy and identifiability, each ``as printed`` and ``as stated``;
        missing as stated if no subset is accurate enough.
    """
    columns, rows = ["n_features", *MEASURES], {}
    for level in THRESHOLDS:
        printed = select(subsets, level)
        try:
            stated = select(subsets, level, reference=everything)
        except NoSubsetError:
            stated = pd.Series(index=columns, dtype=float)
        chosen = {"as printed": printed[columns], "as stated": stated[columns]}
        rows[level] = pd.concat(chosen).swaplevel()
    table = pd.DataFrame(rows).T.rename_axis("threshold").astype(float)
    return table.set_axis([", ".join(names) for names in table.columns.to_flat_index()], axis=1)


def compare_preselections(
    problem: Problem,
    preselected: Mapping[str, Sequence[Any]],
    threshold: float,
    *,
    split: Split,
    model: BaseEstimator,
    seed: int | None = 42,
    **options: Any,
) -> pd.DataFrame:
    """Compare preselections by the subset that the search chooses from each, evaluated on unseen rows.

    Parameters
    ----------
    problem : Problem
        The table.
    preselected : mapping of str to sequence
        Features of each preselection.
    threshold : float
        Share of accuracy that may be lost.
    split : Split
        With validation rows. Subsets are chosen on these and evaluated on the test rows.
    model, seed
        See `sensorprivacy.minimize.search.job.SearchJob`.
    **options
        Passed to `search_subsets`: ``engine``, ``result_store``, ``allow_long``, ``lazy``.

    Returns
    -------
    pandas.DataFrame
        One row per preselection: problem, preselection, n_features, features, accuracy and identifiability with
        intervals, units, chance levels and p-values, base_accuracy, base_identifiability (all features),
        relative_effectiveness; accuracy_change and identifiability_change: the paired difference from all features on
        the same rows, with intervals ``_low`` and ``_high``.
    """
    how = {"split": split, "model": model, "seed": seed}
    base = play(problem, None, **how).to_series()
    data, names = engine_data(problem, split, "test"), list(problem.features.columns)
    trained = make_engine(options.get("engine", "sklearn"), data, model, seed)
    everything = {label: trained.predict([tuple(range(len(names)))], label)[0] for label in LABELS}
    shown = [f"{name}{part}" for name in MEASURES for part in ("", "_low", "_high", "_chance", "_p", "_n", "_unit")]
    rows = []
    for way, pool in preselected.items():
        found = search_subsets(problem, pool, part="validation", **how, **options)
        features = list(found.select(threshold)["features"])
        outcome = play(problem, features, **how).to_series()
        facts = {"problem": problem.name, "preselection": way, "n_features": len(features), "features": tuple(features)}
        kept = tuple(sorted(map(names.index, features)))
        for name, label in MEASURES.items():
            change = data.compare(label, trained.predict([kept], label)[0], everything[label])
            ends = {"": change.value, "_low": change.low, "_high": change.high}
            facts |= {f"{name}_change{end}": value for end, value in ends.items()}
        rows.append({**facts, **outcome[shown]})
    table = pd.DataFrame(rows).assign(**{f"base_{name}": base[name] for name in MEASURES})
    return table.assign(relative_effectiveness=effectiveness_column(table, base, decimals=4))


def redraw(
    problem: Problem,
    draw: Callable[..., Split],
    seeds: Iterable[int],
    *,
    preselection: str,
    k: int,
    model: BaseEstimator,
    max_rows: int | None = None,
    progress: bool = True,
    **options: Any,
) -> pd.DataFrame:
    """Draw the split, train the forests, preselect features and choose subsets, once for each seed.

    Parameters
    ----------
    problem : Problem
        The table.
    draw : callable
        Returns the split for ``seed=``.
    seeds : iterable of int
        Seeds of split, forests and scores.
    preselection : str
        ``<score>-<order>``, see `preselect`.
    k : int
        Number of features that are searched.
    model : BaseEstimator
        The model of both players.
    max_rows : int, optional
        Rows that SHAP values are computed on.
    progress : bool
        Show a progress bar.
    **options
        Passed to `search_subsets`: ``engine``, ``result_store``, ``allow_long``.

    Returns
    -------
    pandas.DataFrame
        One row for each seed and choice: ``seed``, ``choice`` (``all features``, or a threshold), ``features``,
        ``n_features``, ``accuracy`` and ``identifiability`` as shares of all test rows.
    """
    rows: list[dict[Any, Any]] = []
    for seed in tqdm(list(seeds), "draws", disable=not progress):
        split, how = draw(seed=seed), {"model": model, "seed": seed}
        pools, _ = preselect(problem, split.train, [preselection], k, max_rows=max_rows, forest=model, seed=seed)
        names = tuple(problem.features.columns)
        base = dict(zip(MEASURES, _all_features(problem, split, model, seed), strict=True))
        rows.append({"seed": seed, "choice": "all features", "features": names, "n_features": len(names), **base})
        found = search_subsets(problem, pools[preselection], split=split, progress=False, **how, **options)
        chosen = found.select_table()[["features", "n_features", *MEASURES]].rename_axis("choice").reset_index()
        rows += chosen.assign(seed=seed).to_dict("records")
    return pd.DataFrame(rows)


def _all_features(problem: Problem, split: Split, model: BaseEstimator, seed: int) -> list[float]:
    """Return both players' accuracy over all test rows, as `play` measures it, without its intervals and tests."""
    table = release(problem, None, split.train).matrix
    scores = []
    for labels in (problem.task.to_numpy(), problem.users.to_numpy()):
        fitted = seeded(model, seed).fit(table[split.train], labels[split.train])
        scores.append(float(fitted.score(table[split.test], labels[split.test])))
    return scores
