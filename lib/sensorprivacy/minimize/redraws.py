"""Repeat a game with other splits and forests, to see how far chance alone moves the results of paper 1."""

from collections.abc import Callable, Iterable
from typing import Any

import pandas as pd
from sklearn.base import BaseEstimator

from sensorprivacy.data import Problem
from sensorprivacy.game.play import release, seeded
from sensorprivacy.game.splits import Split
from sensorprivacy.minimize.preselection import preselect
from sensorprivacy.minimize.search.exhaustive import search_subsets
from sensorprivacy.progress import tqdm

_MEASURES = ("accuracy", "identifiability")


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
        ``<score>-<order>``, see `preselection.preselect`.
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
        base = dict(zip(_MEASURES, _all_features(problem, split, model, seed), strict=True))
        rows.append({"seed": seed, "choice": "all features", "features": names, "n_features": len(names), **base})
        found = search_subsets(problem, pools[preselection], split=split, progress=False, **how, **options)
        chosen = found.select_table()[["features", "n_features", *_MEASURES]].rename_axis("choice").reset_index()
        rows += chosen.assign(seed=seed).to_dict("records")
    return pd.DataFrame(rows)


def _all_features(problem: Problem, split: Split, model: BaseEstimator, seed: int) -> list[float]:
    """Return both players' accuracy over all test rows, as `play` measures it, without its intervals and tests."""
    table = release(problem, None, split.train).matrix
    return [
        float(
            seeded(model, seed)
            .fit(table[split.train], labels[split.train])
            .score(table[split.test], labels[split.test])
        )
        for labels in (problem.task.to_numpy(), problem.users.to_numpy())
    ]
