"""Sweep several methods, and compare them on the same held-out rows with paired tests."""

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
import pandas as pd
from sklearn.base import BaseEstimator

from sensorprivacy.data import Problem
from sensorprivacy.game.outcome import LEVEL
from sensorprivacy.game.splits import Split
from sensorprivacy.minimize.baselines import METHODS, rank_methods, released, sweep
from sensorprivacy.minimize.engine_protocol import LABELS, MEASURES, engine_data
from sensorprivacy.minimize.engines import make_engine
from sensorprivacy.minimize.scores import score_rows
from sensorprivacy.minimize.search.exhaustive import SearchResult
from sensorprivacy.minimize.select import THRESHOLDS, select_table

_SIGNS = {"accuracy": 1, "identifiability": -1}


def sweep_methods(
    problem: Problem,
    methods: Iterable[str],
    *,
    split: Split,
    seed: int | None = 42,
    forest: BaseEstimator | None = None,
    max_rows: int | None = None,
    scores: Mapping[str, pd.DataFrame] | None = None,
    **options: Any,
) -> dict[str, pd.DataFrame]:
    """Sweep several methods; each kind of score is computed once, on the training rows.

    Parameters
    ----------
    problem : Problem
        The table.
    methods : iterable of str
        Keys of `METHODS`.
    split, seed
        As for `sweep`.
    forest, max_rows
        As for `sensorprivacy.minimize.scores.score_features`; `max_rows` is for SHAP values.
    scores : mapping of str to pandas.DataFrame, optional
        Scores of these training rows that are already computed, by their kind.
    **options
        Passed to `sweep`.

    Returns
    -------
    dict of str to pandas.DataFrame
        Results of `sweep`, by method.
    """
    problem, known, found = problem.filled(split.train), dict(scores or {}), {}
    for method in methods:
        kind = METHODS[method].score
        if kind and kind not in known:
            rows = max_rows if kind == "shap" else None
            known[kind] = score_rows(problem, split.train, kind, forest=forest, max_rows=rows, seed=seed)
        found[method] = sweep(problem, method, split=split, seed=seed, scores=known.get(kind), **options)
    return found


def compare_methods(
    problem: Problem,
    sweeps: Mapping[str, pd.DataFrame],
    *,
    split: Split,
    model: BaseEstimator | None = None,
    part: str = "test",
    seed: int | None = 42,
    engine: str = "sklearn",
) -> pd.DataFrame:
    """Compare the best setting of each method with that of the best method, on the same held-out rows.

    Parameters
    ----------
    problem : Problem
        The table.
    sweeps : mapping of str to pandas.DataFrame
        Results of `sweep`, by method.
    split, model, part, seed, engine
        As for `sweep`. Choose the settings on other rows than `part`: otherwise the best one is partly the luckiest.

    Returns
    -------
    pandas.DataFrame
        Index method, the best first; ``rank`` (1 the best); ``n``; for accuracy and identifiability the difference
        from the best method with ``_low`` and ``_high``, and its p-value ``_p``, corrected for the number of methods by
        Holm's rule. ``differs``: whether one of the two p-values is below 5 %. Methods without a ranked setting are
        left out.
    """
    ranked = rank_methods(sweeps.values()).dropna(subset="relative_effectiveness")
    problem = problem.filled(split.train)
    data, features = engine_data(problem, split, part), list(problem.features.columns)
    predicted: dict[str, dict[str, np.ndarray]] = {}
    for method, best in ranked.iterrows():
        swept = sweeps[str(method)]
        row = swept[pd.to_numeric(swept["relative_effectiveness"], errors="coerce") == best["relative_effectiveness"]]
        public, columns = released(data, features, row.iloc[0].to_dict(), seed)
        trained = make_engine(engine, public, model, seed)
        chosen = tuple(sorted(columns))
        predicted[str(method)] = {label: trained.predict([chosen], label)[0] for label in LABELS}
    rows: dict[str, dict[str, Any]] = {}
    first = next(iter(predicted.values()), {})
    for rank, (method, own) in enumerate(predicted.items(), 1):
        rows[method] = {"rank": rank}
        for name, label in MEASURES.items():
            found = data.compare(label, own[label], first[label])
            rows[method] |= {"n": f"n = {found.n:,} {found.unit}", name: found.value}
            rows[method] |= {f"{name}_low": found.low, f"{name}_high": found.high, f"{name}_p": found.p}
    names = [f"{name}{end}" for name in MEASURES for end in ("", "_low", "_high", "_p")]
    table = pd.DataFrame.from_dict(rows, orient="index", columns=["rank", "n", *names]).rename_axis("method")
    for name in MEASURES:
        table.loc[table.index[1:], f"{name}_p"] = holm(table[f"{name}_p"].to_numpy(float)[1:])
        table.loc[table.index[:1], f"{name}_p"] = np.nan
    table["differs"] = (table[[f"{name}_p" for name in MEASURES]] < LEVEL).any(axis=1)
    return table


def holm(p: np.ndarray) -> np.ndarray:
    """Return p-values corrected for their number by Holm's step-down rule.

    Examples
    --------
    >>> holm(np.array([0.01, 0.04, 0.03])).tolist()
    [0.03, 0.06, 0.06]
    """
    order = np.argsort(p)
    stepped = np.maximum.accumulate(np.minimum(p[order] * np.arange(len(p), 0, -1), 1.0))
    corrected = np.empty(len(p))
    corrected[order] = stepped
    return corrected


def optimism_table(on_validation: SearchResult, on_test: SearchResult) -> pd.DataFrame:
    """Compare the subsets chosen on test rows with those chosen on validation rows, both evaluated on test rows.

    The paper chooses its subsets on the rows that it reports. The best of many noisy numbers is too good. The
    difference between the two choices shows by how much.

    Parameters
    ----------
    on_validation, on_test : SearchResult
        The same search, evaluated on the validation rows and on the test rows of one split.

    Returns
    -------
    pandas.DataFrame
        Index threshold. Columns: accuracy and identifiability on test rows of the subset chosen on test rows and of
        the subset chosen on validation rows; ``optimism``: how much better the first looks, positive in both measures.

    Raises
    ------
    ValueError
        If the searches differ in their split or subsets, or were evaluated on other rows.
    """
    parts = on_validation.key.part, on_test.key.part
    if parts != ("validation", "test") or on_validation.key.split != on_test.key.split:
        raise ValueError(f"searches on {parts} rows: pass one on validation, then one on test rows of the same split")
    test = on_test.table.set_index("features")[list(_SIGNS)]
    if set(on_validation.table["features"]) != set(test.index):
        raise ValueError("the two searches have different subsets: search the same features on both parts")
    table = pd.DataFrame(index=pd.Index(THRESHOLDS, name="threshold"))
    for part, searched in (("test", on_test), ("validation", on_validation)):
        rows = test.loc[select_table(searched.table)["features"].tolist()]
        for name in _SIGNS:
            table[f"{name}, chosen on {part} rows"] = rows[name].to_numpy()
    for name, sign in _SIGNS.items():
        gap = table[f"{name}, chosen on test rows"] - table[f"{name}, chosen on validation rows"]
        table[f"optimism, {name}"] = sign * gap
    return table
