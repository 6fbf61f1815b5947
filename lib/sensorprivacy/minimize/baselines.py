"""The twelve feature selection methods of paper 1, section 5.2, behind one call."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from joblib import Parallel, delayed
from sklearn.base import BaseEstimator

from sensorprivacy.datasets.types import Problem
from sensorprivacy.game.effectiveness import Undefined, effectiveness_column
from sensorprivacy.game.intervals import wilson
from sensorprivacy.game.splits import Split, random_split
from sensorprivacy.minimize.engines import LABELS, Engine, Held, hold, make_engine
from sensorprivacy.minimize.greedy import PERCENTILES, VARIANTS, order, size_at_percentile
from sensorprivacy.minimize.rewrites import ColumnHasher, LaplaceNoise, components
from sensorprivacy.minimize.scores import score_features
from sensorprivacy.progress import tqdm


@dataclass(frozen=True)
class Method:
    """One method of section 5.2: its number, its printed name, and how it works."""

    number: str
    title: str
    score: str | None = None
    by: str | None = None


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
"""The twelve by name; sparse PCA and sound differential privacy stand beside the printed ones."""

EPSILONS = (0.001, 0.003, 0.01, 0.03, 0.1, 0.3, 1.0, 3.0, 10.0)
"""Privacy parameters that the authors swept."""

COMPONENTS = {
    ("hashing", "iot-sentinel"): (3, 19),
    ("hashing", "amir-netml"): (1, 35),
    ("pca", "iot-sentinel"): (3, 19),
    ("pca", "opportunity"): (3, 19),
    ("pca", "amir-netml"): (3, 35),
}
"""First and last number of columns the authors swept, where it is not 3 to 50."""


def sweep(
    problem: Problem,
    method: str,
    *,
    model: BaseEstimator | None = None,
    split: Split | None = None,
    part: str = "test",
    seed: int | None = 42,
    engine: str = "sklearn",
    sizes: Iterable[int] | None = None,
    epsilons: Iterable[float] = EPSILONS,
    most: int | None = None,
    variant: str = "paper",
    scores: pd.DataFrame | None = None,
    bounds: Any = None,
    n_jobs: int | None = None,
    progress: bool = True,
    **scoring: Any,
) -> pd.DataFrame:
    """Play the game at every size (or epsilon) of one method.

    Parameters
    ----------
    problem : Problem
        Features, task labels and users.
    method : str
        A key of `METHODS`.
    model : scikit-learn classifier, optional
        Model class of both players. Default: ``RandomForestClassifier()``.
    split : Split, optional
        Default: random 70/30 under `seed`. Scores and transformers are fitted to its training rows only.
    part : {"test", "validation"}
        Rows that are judged on.
    seed : int or None, default 42
        Seed of models, scores and noise.
    engine : {"sklearn", "shared"}
        What trains.
    sizes : iterable of int, optional
        Numbers of columns to keep or make. Default: as the authors swept, see `settings`.
    epsilons : iterable of float
        For differential privacy.
    most : int, optional
        Sweep at most so many settings, evenly spread, the first and last among them.
    variant : {"paper", "authors"}
        ``"authors"``: orders as in their notebooks (`sensorprivacy.minimize.greedy.order`), and principal components
        fitted to training and held-out rows *separately*, so that the columns of the two need not mean the same.
    scores : pandas.DataFrame, optional
        Scores of this method that are computed already; default: computed on the training rows.
    bounds : array-like of shape (d, 2), optional
        For sound differential privacy: the range of each feature, known without the data.
    n_jobs : int, optional
        joblib workers, one setting at a time each.
    progress : bool, default True
        Show a progress bar.
    **scoring
        Passed to `sensorprivacy.minimize.scores.score_features`: ``forest``, ``max_rows``, ``max_depth``.

    Returns
    -------
    pandas.DataFrame
        One row a setting: method, number, variant, n_features, percentile, epsilon, features (tuple of the names
        kept, None where columns were rewritten), accuracy and identifiability with Wilson intervals ``_low`` and
        ``_high``, relative_effectiveness against all features. ``attrs`` holds ``base`` (both measures on all
        features), ``n_train``, ``n_test`` and, for scored methods, how the scores were made.

    Raises
    ------
    ValueError
        If the method or variant is unknown, or a size or epsilon is out of range.

    References
    ----------
    Paper 1, sections 2.2 and 5.2.
    """
    check_method(method)
    if variant not in VARIANTS:
        raise ValueError(f"unknown variant {variant!r}: choose from {', '.join(VARIANTS)}")
    split = split or random_split(problem.n_records, seed=seed)
    held = hold(problem, split, part)
    rows = settings(method, problem.n_features, dataset=problem.name, sizes=sizes, epsilons=epsilons, most=most)
    names, about = list(problem.features.columns), {}
    if METHODS[method].score is not None:
        if scores is None:
            learnt = split.train
            features, task, users = problem.features.iloc[learnt], problem.task.iloc[learnt], problem.users.iloc[learnt]
            scores = score_features(features, task, users, str(METHODS[method].score), seed=seed, **scoring)
        about = dict(scores.attrs)
        ranked = order(scores, str(METHODS[method].by), variant=variant)
        rows["features"] = [tuple(ranked[:n]) for n in rows["n_features"]]
    # first all features, the base of relative effectiveness
    tasks: list[tuple[dict[Any, Any], list[int] | None]] = [({}, list(range(len(names))))]
    for setting in rows.to_dict("records"):
        kept = setting["features"]
        tasks.append((setting, sorted(names.index(name) for name in kept) if isinstance(kept, tuple) else None))
    work = Parallel(n_jobs=n_jobs, return_as="generator")(
        delayed(_judge)(held, method, setting, columns, variant, model, seed, engine, names, bounds)
        for setting, columns in tasks
    )
    played = list(tqdm(work, total=len(tasks), desc=f"{problem.name}: {method}", disable=not progress))
    n_test = len(held.test)
    table = rows.assign(method=method, number=METHODS[method].number, variant=variant)
    for position, measure in enumerate(("accuracy", "identifiability")):
        share = np.array([pair[position] for pair in played[1:]])
        limits = np.array([wilson(round(value * n_test), n_test) for value in share]).reshape(-1, 2)
        table[measure], table[f"{measure}_low"], table[f"{measure}_high"] = share, limits[:, 0], limits[:, 1]
    base = dict(zip(("accuracy", "identifiability"), played[0], strict=True))
    table["relative_effectiveness"] = effectiveness_column(table, pd.Series(base), decimals=4)
    table.attrs.update(base=base, n_train=len(held.train), n_test=n_test, scores=about)
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
    """Return the settings that a method is swept over, as the authors did unless `sizes` says otherwise.

    Every size from d - 1 to 1 for the information scores; percentiles of the score for SHAP values and impurities
    (those that keep as many features as another are swept once); 3 to 50 columns for hashing and components, or
    what `COMPONENTS` says of the data set; the epsilons for differential privacy.

    Parameters
    ----------
    method : str
        A key of `METHODS`.
    n_features : int
        Number of columns d.
    dataset : str
        Name of the data set.
    sizes : iterable of int, optional
        Numbers of columns instead.
    epsilons : iterable of float
        For differential privacy.
    most : int, optional
        At most so many of them, evenly spread over the list, the first and last among them.

    Returns
    -------
    pandas.DataFrame
        Columns n_features, percentile, epsilon (NaN where they do not apply), features (None).

    Raises
    ------
    ValueError
        If the method is unknown, or a size, epsilon or `most` is out of range.
    """
    check_method(method)
    if most is not None and most < 1:
        raise ValueError(f"most={most}: sweep at least one setting")
    score = METHODS[method].score
    if method.startswith("dp"):
        chosen = [float(epsilon) for epsilon in epsilons]
        if not chosen or min(chosen) <= 0:
            raise ValueError(f"epsilons={chosen}: name at least one, all above 0")
        table = pd.DataFrame({"n_features": n_features, "percentile": np.nan, "epsilon": chosen})
    elif sizes is not None:
        wanted = sorted({int(size) for size in sizes}, reverse=True)
        most = n_features if score or "pca" in method else max(wanted, default=0)
        if not wanted or wanted[-1] < 1 or wanted[0] > most:
            raise ValueError(f"sizes={wanted}: name at least one, from 1 to {most or 'any number'}")
        table = pd.DataFrame({"n_features": wanted, "percentile": np.nan, "epsilon": np.nan})
    elif score in ("shap", "gini"):
        levels = PERCENTILES["gini ratio" if method == "gini_ratio" else str(score)]
        kept = [size_at_percentile(n_features, level, inclusive=score == "gini") for level in levels]
        table = pd.DataFrame({"n_features": kept, "percentile": levels, "epsilon": np.nan})
        table = table.drop_duplicates("n_features", keep="last").reset_index(drop=True)
    else:
        table = pd.DataFrame(
            {"n_features": _sizes(method, n_features, dataset), "percentile": np.nan, "epsilon": np.nan}
        )
    if most is not None and len(table) > most:
        spread = np.linspace(0, len(table) - 1, most).round().astype(int)
        table = table.iloc[spread].reset_index(drop=True)
    return table.assign(features=None)


def rank_methods(sweeps: Iterable[pd.DataFrame]) -> pd.DataFrame:
    """Rank methods by their highest relative effectiveness, as Table 3 does.

    Parameters
    ----------
    sweeps : iterable of pandas.DataFrame
        What `sweep` returned, one or more.

    Returns
    -------
    pandas.DataFrame
        Index method, the best first; columns relative_effectiveness, and n_features, epsilon, accuracy and
        identifiability where it was reached; ``dominating``: settings that were better than all features in
        *both* measures, for which the ratio is undefined. Only settings that gave up accuracy for identifiability
        compete: a ratio of two gains would reward losing privacy.
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


def check_method(method: str) -> None:
    """Refuse a method that is not one of `METHODS`."""
    if method not in METHODS:
        raise ValueError(f"unknown method {method!r}: choose from {', '.join(METHODS)}")


def _sizes(method: str, n_features: int, dataset: str) -> list[int]:
    if METHODS[method].score == "information":
        return list(range(n_features - 1, 0, -1)) or [1]
    first, last = COMPONENTS.get((method.removeprefix("sparse_"), dataset), (3, 50))
    # components are at most as many as features; the authors hash into no more columns either
    last = min(last, n_features)
    return list(range(min(first, last), last + 1))


def _judge(
    held: Held,
    method: str,
    setting: dict[str, Any],
    columns: Sequence[int] | None,
    variant: str,
    model: BaseEstimator | None,
    seed: int | None,
    engine: str | Engine,
    names: list[Any],
    bounds: Any,
) -> tuple[float, float]:
    """Return accuracy and identifiability of one setting."""
    if columns is None:
        held = _rewritten(held, method, setting, variant, seed, names, bounds)
        columns = range(held.train.shape[1])
    trained = make_engine(engine, held, model, seed)
    accuracy, identifiability = (trained.score([tuple(columns)], label)[0] for label in LABELS)
    return accuracy, identifiability


def _rewritten(
    held: Held, method: str, setting: dict[str, Any], variant: str, seed: int | None, names: list[Any], bounds: Any
) -> Held:
    train, test = (pd.DataFrame(part, columns=[str(name) for name in names]) for part in (held.train, held.test))
    size = int(setting["n_features"])
    if method == "hashing":
        step: Any = ColumnHasher(size)
    elif method in ("pca", "sparse_pca"):
        step = components(size, sparse=method == "sparse_pca", seed=seed)
    else:
        step = LaplaceNoise(setting["epsilon"], sound=method == "dp_sound", bounds=bounds, seed=seed)
    learnt = step.fit(train).transform(train)
    if variant == "authors" and method in ("pca", "sparse_pca"):
        step = components(size, sparse=method == "sparse_pca", seed=seed).fit(test)
    return Held(np.asarray(learnt), np.asarray(step.transform(test)), held.labels)
