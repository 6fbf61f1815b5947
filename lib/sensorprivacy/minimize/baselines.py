"""The twelve feature selection methods of paper 1, section 5.2, behind one function."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from pathlib import Path
from typing import Any

import joblib
import numpy as np
import pandas as pd
from sklearn.base import BaseEstimator, clone

from sensorprivacy.data import Problem
from sensorprivacy.game.measuring import Undefined, effectiveness_column
from sensorprivacy.game.play import in_this_process
from sensorprivacy.game.splits import Split, default_split
from sensorprivacy.minimize.engine_protocol import MEASURES, Engine, EngineData, engine_data
from sensorprivacy.minimize.engines import make_engine
from sensorprivacy.minimize.greedy import PERCENTILES, rank_features, size_at_percentile
from sensorprivacy.minimize.rewrites import ColumnHasher, LaplaceNoise, components
from sensorprivacy.minimize.scores import score_rows
from sensorprivacy.minimize.search.workers import run_in_order
from sensorprivacy.minimize.settings import VARIANTS
from sensorprivacy.paths import resumed
from sensorprivacy.progress import tqdm


@dataclass(frozen=True)
class Method:
    """One method of section 5.2: its number, its printed name, and the score and order that it ranks features by."""

    number: str
    title: str
    score: str = ""
    by: str = ""


METHODS = {
    "hashing": Method("1", "feature hashing"),
    "pca": Method("2", "PCA"),
    "sparse_pca": Method("2", "sparse PCA"),
    "privacy": Method("3", "entropy-based privacy score", "information", "identifiability"),
    "utility": Method("4", "mutual information-based utility score", "information", "utility"),
    "tradeoff": Method("5", "privacy-utility tradeoff score", "information", "tradeoff"),
    "shap_utility": Method("6", "SHAP-based greedy by utility", "shap", "utility"),
    "shap_identifiability": Method("7", "SHAP-based greedy by identifiability", "shap", "identifiability"),
    "shap_ratio": Method("8", "SHAP-based greedy by cost-to-value ratio", "shap", "ratio"),
    "gini_utility": Method("9", "Gini impurity-based greedy by utility", "gini", "utility"),
    "gini_identifiability": Method("10", "Gini impurity-based greedy by identifiability", "gini", "identifiability"),
    "gini_ratio": Method("11", "Gini impurity-based greedy by cost-to-value ratio", "gini", "ratio"),
    "dp_printed": Method("12", "differential privacy as printed (noise of one scale)"),
    "dp_sound": Method("12", "differential privacy, clipped and scaled"),
}
"""The twelve methods by name. Sparse PCA and sound differential privacy are variants of methods 2 and 12."""

EPSILONS = (0.001, 0.003, 0.01, 0.03, 0.1, 0.3, 1.0, 3.0, 10.0)
"""Privacy parameters that the authors swept."""

COMPONENTS = {
    ("hashing", "iot-sentinel"): (3, 19),
    ("hashing", "amir-netml"): (1, 35),
    ("pca", "iot-sentinel"): (3, 19),
    ("pca", "opportunity"): (3, 19),
    ("pca", "amir-netml"): (3, 35),
}
"""Smallest and largest number of columns that the authors swept, if not 3 to 50."""


def sweep(
    problem: Problem,
    method: str,
    *,
    model: BaseEstimator | None = None,
    split: Split | None = None,
    part: str = "test",
    seed: int | None = 42,
    engine: str = "sklearn",
    variant: str = "paper",
    scores: pd.DataFrame | None = None,
    n_jobs: int | None = None,
    progress: bool = True,
    kept: Path | None = None,
    **which: Any,
) -> pd.DataFrame:
    """Play the game at every size (or epsilon) of one method.

    Parameters
    ----------
    problem : Problem
        Features, task labels and users.
    method : str
        A key of `METHODS`.
    model : scikit-learn classifier, optional
        Model class of the task model and the adversary. Default: ``RandomForestClassifier()``.
    split : Split, optional
        Default: 70/30 with seed `seed`, by whole groups if the problem has groups. Scores and transformers
        are fitted to the training rows only.
    part : {"test", "validation"}
        Rows that settings are evaluated on.
    seed : int or None, default 42
        Seed of models, scores and noise.
    engine : {"sklearn", "shared"}
        What trains the models.
    variant : {"paper", "authors"}
        ``"authors"``: rank as in their notebooks (`sensorprivacy.minimize.greedy.rank_features`), and fit principal
        components to training and held-out rows *separately*, so that the columns of the two can differ in meaning.
    scores : pandas.DataFrame, optional
        Scores of this method, if already computed. Default: computed on the training rows.
    n_jobs : int, optional
        Joblib workers. Each trains one setting at a time.
    progress : bool, default True
        Show a progress bar.
    kept : path, optional
        Folder in which the results of settings are kept as they end: an interrupted sweep goes on from there.
    **which
        ``sizes``, ``epsilons`` and ``most`` of `settings`. Default: what the authors swept.

    Returns
    -------
    pandas.DataFrame
        One row per setting: method, number, variant, n_features, percentile, epsilon, features (tuple of the kept
        names, None if columns were rewritten), accuracy and identifiability (on rows of classes seen in training) with
        intervals ``_low`` and ``_high``, n (number of units behind them), relative_effectiveness, accuracy_loss
        and identifiability_reduction against all features. ``attrs`` has ``base`` (both measures on all features),
        ``n_train``, ``n_test`` and ``scores`` (how scores were computed).

    Raises
    ------
    ValueError
        If the method or variant is unknown, or a size or epsilon is out of range.

    References
    ----------
    Paper 1, sections 2.2 and 5.2.
    """
    if variant not in VARIANTS:
        raise ValueError(f"unknown variant {variant!r}: choose from {', '.join(VARIANTS)}")
    table = settings(method, problem.n_features, dataset=problem.name, **which)
    split = split or default_split(problem, seed=seed)
    problem = problem.filled(split.train)
    data = engine_data(problem, split, part)
    names, facts = list(problem.features.columns), {}
    how = METHODS[method]
    if how.score:
        if scores is None:
            scores = score_rows(problem, split.train, how.score, seed=seed)
        facts = dict(scores.attrs)
        ranked = rank_features(scores, how.by, variant=variant)
        table["features"] = [tuple(ranked[:n]) for n in table["n_features"]]

    planned = table.assign(method=method, variant=variant).to_dict("records")
    whole = make_engine(engine, data, model, seed)  # columns that are only selected are prepared once

    def play_from(first: int) -> Iterator[dict[str, Any]]:
        # all features first: the base of relative effectiveness
        parts = chain(
            [(data, range(len(names)))][first:],
            (released(data, names, row, seed) for row in planned[max(first - 1, 0) :]),
        )
        tasks = ((part, columns, model, seed, whole if part is data else engine) for part, columns in parts)
        return run_in_order(_play, tasks, n_jobs)

    key = problem.features, problem.task, problem.users, split, part, planned, str(model), seed, engine
    work = resumed(None if kept is None else kept / f"{joblib.hash(key)}.jsonl", play_from)
    played = list(tqdm(work, total=len(table) + 1, desc=f"{problem.name}: {method}", disable=not progress))
    base, n_test = {name: played[0][name] for name in MEASURES}, len(data.test)
    base |= {f"{name}_chance": data.prior(label) for name, label in MEASURES.items()}
    table = table.assign(method=method, number=how.number, variant=variant).join(pd.DataFrame(played[1:]))
    table["relative_effectiveness"] = effectiveness_column(table, pd.Series(base), decimals=4)
    table["accuracy_loss"] = base["accuracy"] - table["accuracy"]
    table["identifiability_reduction"] = base["identifiability"] - table["identifiability"]
    table.attrs.update(base=base, n_train=len(data.train), n_test=n_test, scores=facts)
    first = ["method", "number", "variant", "n_features", "percentile", "epsilon", "features"]
    return table[first + [column for column in table if column not in first]]


def settings(
    method: str,
    n_features: int,
    *,
    dataset: str = "",
    sizes: Iterable[int] | None = None,
    epsilons: Iterable[float] = EPSILONS,
    most: int | None = None,
) -> pd.DataFrame:
    """Return the settings that a method is swept over: those of the authors, or `sizes`.

    For the information scores, the authors swept every size from d - 1 to 1. For SHAP values and Gini importances,
    they swept percentiles of the score; percentiles that keep the same number of features are swept once. For hashing
    and components, they swept 3 to 50 columns, except for the sets in `COMPONENTS`.

    Parameters
    ----------
    method : str
        A key of `METHODS`.
    n_features : int
        Number of columns d.
    dataset : str
        Name of the data set.
    sizes : iterable of int, optional
        Numbers of columns.
    epsilons : iterable of float
        For differential privacy.
    most : int, optional
        Largest number of settings. They are evenly spread and include the first and the last.

    Returns
    -------
    pandas.DataFrame
        Columns n_features, percentile, epsilon (NaN if not applicable), features (None).

    Raises
    ------
    ValueError
        If the method is unknown, or a size, epsilon or `most` is out of range.
    """
    if method not in METHODS:
        raise ValueError(f"unknown method {method!r}: choose from {', '.join(METHODS)}")
    if most is not None and most < 1:
        raise ValueError(f"most={most}: sweep at least one setting")
    score = METHODS[method].score
    columns: dict[str, Any] = {"n_features": n_features, "percentile": np.nan, "epsilon": np.nan, "features": None}
    if method.startswith("dp"):
        columns["epsilon"] = [float(epsilon) for epsilon in epsilons]
        if not columns["epsilon"] or min(columns["epsilon"]) <= 0:
            raise ValueError(f"epsilons={columns['epsilon']}: give at least one, all above 0")
    elif sizes is not None:
        columns["n_features"] = wanted = sorted({int(size) for size in sizes}, reverse=True)
        limit = n_features if score or "pca" in method else max(wanted, default=0)
        if not wanted or wanted[-1] < 1 or wanted[0] > limit:
            raise ValueError(f"sizes={wanted}: give at least one, from 1 to {limit or 'any number'}")
    elif score in ("shap", "gini"):
        columns["percentile"] = levels = PERCENTILES["gini ratio" if method == "gini_ratio" else score]
        columns["n_features"] = [size_at_percentile(n_features, q, inclusive=score == "gini") for q in levels]
    elif score == "information":
        columns["n_features"] = list(range(n_features - 1, 0, -1)) or [1]
    else:
        first, last = COMPONENTS.get((method.removeprefix("sparse_"), dataset), (3, 50))
        # there are at most as many components as features, and the authors hash into no more columns either
        last = min(last, n_features)
        columns["n_features"] = list(range(min(first, last), last + 1))
    table = pd.DataFrame(columns)
    if score in ("shap", "gini"):
        table = table.drop_duplicates("n_features", keep="last").reset_index(drop=True)
    if most is not None and len(table) > most:
        spread = np.linspace(0, len(table) - 1, most).round().astype(int)
        table = table.iloc[spread].reset_index(drop=True)
    return table


def rank_methods(sweeps: Iterable[pd.DataFrame]) -> pd.DataFrame:
    """Rank methods by their highest relative effectiveness, as in Table 3.

    Parameters
    ----------
    sweeps : iterable of pandas.DataFrame
        One or more results of `sweep`.

    Returns
    -------
    pandas.DataFrame
        Index method, the best first. Columns: relative_effectiveness, and n_features, epsilon, accuracy and
        identifiability of the setting that reached it; ``dominating``: number of settings that were better than all
        features in *both* measures, for which the ratio is undefined. Only settings that lost accuracy are ranked,
        because a ratio of two gains would reward a loss of privacy.
    """
    parts = [table.assign(paid=table["accuracy"] < table.attrs["base"]["accuracy"]) for table in sweeps]
    table = pd.concat(parts, ignore_index=True)
    dominating = (table["relative_effectiveness"] == Undefined.DOMINATES).groupby(table["method"]).sum()
    numbers = pd.to_numeric(table["relative_effectiveness"].where(table["paid"]), errors="coerce")
    table = table.assign(relative_effectiveness=numbers).dropna(subset="relative_effectiveness")
    best = table.loc[table.groupby("method")["relative_effectiveness"].idxmax()].set_index("method")
    columns = ["relative_effectiveness", "n_features", "epsilon", "accuracy", "identifiability"]
    ranked = best[columns].reindex(dominating.index).assign(dominating=dominating)
    return ranked.sort_values("relative_effectiveness", ascending=False, kind="stable")


def released(
    data: EngineData, names: list[Any], row: Mapping[Any, Any], seed: int | None
) -> tuple[EngineData, Sequence[int]]:
    """Return what a setting of a method publishes.

    Parameters
    ----------
    data : EngineData
        All features.
    names : list
        Names of the features.
    row : mapping
        A row of `sweep`: method, variant, n_features, epsilon, features.
    seed : int or None
        Seed of components and noise.

    Returns
    -------
    EngineData, sequence of int
        The data, and the positions of the published columns.
    """
    method = row["method"]
    if METHODS[method].score:
        return data, [names.index(name) for name in row["features"]]
    train, test = (pd.DataFrame(part, columns=list(map(str, names))) for part in (data.train, data.test))
    if method == "hashing":
        step: Any = ColumnHasher(int(row["n_features"]))
    elif "pca" in method:
        step = components(int(row["n_features"]), sparse=method == "sparse_pca", seed=seed)
    else:
        step = LaplaceNoise(float(row["epsilon"]), sound=method == "dp_sound", seed=seed)
    with in_this_process():
        rewritten = step.fit(train).transform(train)
        if row["variant"] == "authors" and "pca" in method:
            step = clone(step).fit(test)
        changed = replace(data, train=np.asarray(rewritten), test=np.asarray(step.transform(test)))
    return changed, range(changed.train.shape[1])


def _play(
    data: EngineData, columns: Sequence[int], model: BaseEstimator | None, seed: int | None, engine: str | Engine
) -> dict[str, Any]:
    """Return accuracy and identifiability on the given columns, with intervals."""
    trained = make_engine(engine, data, model, seed)
    row: dict[str, Any] = {}
    for name, label in MEASURES.items():
        found = data.measure(label, trained.predict([tuple(sorted(columns))], label)[0])
        row |= {name: found.score, f"{name}_low": found.low, f"{name}_high": found.high}
    return row | {"n": found.size}
