"""The re-identification game: a provider publishes, a task model must still work, an adversary names the users."""

import inspect
import math
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
import pandas as pd
from scipy.stats import t as student
from sklearn.base import BaseEstimator, clone
from sklearn.ensemble import RandomForestClassifier
from sklearn.metrics import recall_score

from sensorprivacy.datasets.types import Problem
from sensorprivacy.game.intervals import wilson
from sensorprivacy.game.splits import Split, random_split


@dataclass(frozen=True)
class Measure:
    """How well one player told one labeling on the held-out rows.

    Attributes
    ----------
    score : float
        Accuracy, 0 to 1.
    low, high : float
        Wilson interval of `score` at the confidence asked for.
    chance : float
        Accuracy of always answering the class most frequent in training.
    balanced : float
        Mean recall over the classes that occur in the held-out rows.
    unseen : float
        Share of held-out rows whose class never occurs in training: no model can get them.
    """

    score: float
    low: float
    high: float
    chance: float
    balanced: float
    unseen: float

    @property
    def beats_chance(self) -> bool:
        """Whether the whole interval lies above the chance level."""
        return self.low > self.chance


@dataclass(frozen=True)
class Outcome:
    """What one strategy gave away and kept.

    Attributes
    ----------
    task, adversary : Measure
        The task model, and the adaptive adversary: trained on what the strategy publishes.
    naive_task, naive_adversary : Measure or None
        Models trained on the raw data and applied to what is published. Equal to the adaptive ones where the
        strategy only drops columns; None where published columns are not columns of the raw data, so that a model of
        the raw data cannot read them.
    n_features, n_train, n_test : int
        Columns published, rows learnt from and judged on.
    problem, strategy, model, split, part : str
        What was played, in words. `part` is the part of the split that was judged on.
    seed : int or None
        Seed of both models.
    """

    task: Measure
    adversary: Measure
    naive_task: Measure | None
    naive_adversary: Measure | None
    n_features: int
    n_train: int
    n_test: int
    problem: str
    strategy: str
    model: str
    split: str
    part: str
    seed: int | None

    @property
    def accuracy(self) -> float:
        """Accuracy of the task model."""
        return self.task.score

    @property
    def identifiability(self) -> float:
        """Accuracy of the adaptive adversary."""
        return self.adversary.score

    def to_series(self) -> pd.Series:
        """Return everything as one flat row: ``accuracy``, ``accuracy_low``, ..., ``identifiability``, ...

        Returns
        -------
        pandas.Series
            Rows of several outcomes stack into a data frame; a measure that does not exist is NaN.
        """
        row: dict[str, Any] = {"problem": self.problem, "strategy": self.strategy, "n_features": self.n_features}
        for prefix, measure in (
            ("accuracy", self.task),
            ("identifiability", self.adversary),
            ("accuracy_naive", self.naive_task),
            ("identifiability_naive", self.naive_adversary),
        ):
            for name, value in _measured(measure).items():
                row[prefix if name == "score" else f"{prefix}_{name}"] = value
        rest = ("n_train", "n_test", "model", "split", "part", "seed")
        return pd.Series(row | {name: getattr(self, name) for name in rest})


def play(
    problem: Problem,
    strategy: Any = None,
    *,
    model: BaseEstimator | None = None,
    split: Split | None = None,
    part: str = "test",
    seed: int | None = 42,
    confidence: float = 0.95,
) -> Outcome:
    """Play one round: publish, train both players on the training rows, judge them on held-out rows.

    Parameters
    ----------
    problem : Problem
        Features, task labels and users.
    strategy : None, sequence of column names, or transformer
        What the provider does: None publishes every feature; a sequence publishes these; an object with ``fit`` and
        ``transform`` is cloned, fitted to the training rows (with ``users=`` where its fit takes them) and publishes
        what its ``transform`` returns, row for row.
    model : scikit-learn classifier, optional
        Model class of *both* players (Assumption 1, model class parity): cloned, and fitted to one labeling each.
        Default: ``RandomForestClassifier()``, 100 trees.
    split : Split, optional
        Default: random 70/30 under `seed`.
    part : {"test", "validation"}
        Which held-out rows to judge on.
    seed : int or None, default 42
        Given to the model wherever its ``random_state`` is unset.
    confidence : float, default .95
        Coverage of the intervals.

    Returns
    -------
    Outcome

    Raises
    ------
    KeyError
        If a named column does not exist.
    ValueError
        If a labeling has one class only in the training rows, no column or another number of rows is published.
    TypeError
        If `strategy` is none of the above.

    References
    ----------
    Paper 1, section 3.1 and Definition 1.
    """
    split = split or random_split(problem.n_records, seed=seed)
    train, held = split.train, split.part(part)
    public, words = _publish(problem, strategy, train)
    player = seeded(RandomForestClassifier() if model is None else model, seed)
    measures = {}
    for label, labels in (("task", problem.task), ("users", problem.users)):
        y = labels.to_numpy()
        measures[label] = _measure(player, public, public, y, train, held, confidence)
        if public.same_as_raw:
            measures[f"naive {label}"] = measures[label]
        elif public.raw is not None:
            measures[f"naive {label}"] = _measure(player, Published(public.raw), public, y, train, held, confidence)
    return Outcome(
        task=measures["task"],
        adversary=measures["users"],
        naive_task=measures.get("naive task"),
        naive_adversary=measures.get("naive users"),
        n_features=public.matrix.shape[1],
        n_train=len(train),
        n_test=len(held),
        problem=problem.name,
        strategy=words,
        model=repr(player),
        split=split.how,
        part=part,
        seed=seed,
    )


def play_repeated(
    problem: Problem,
    strategy: Any = None,
    *,
    splits: Iterable[Split],
    model: BaseEstimator | None = None,
    part: str = "test",
    seed: int | None = 42,
    confidence: float = 0.95,
) -> pd.DataFrame:
    """Play the same strategy on several splits.

    Parameters
    ----------
    problem, strategy, model, part, seed, confidence
        See `play`.
    splits : iterable of Split
        At least one; `sensorprivacy.game.splits.repeat` draws them.

    Returns
    -------
    pandas.DataFrame
        One row a split, columns of `Outcome.to_series`. `summarize` turns it into means and intervals.

    Raises
    ------
    ValueError
        If there is no split.
    """
    rows = [
        play(problem, strategy, model=model, split=split, part=part, seed=seed, confidence=confidence).to_series()
        for split in splits
    ]
    if not rows:
        raise ValueError("no split to play on: pass at least one")
    return pd.DataFrame(rows).reset_index(drop=True)


def summarize(rounds: pd.DataFrame, confidence: float = 0.95) -> pd.DataFrame:
    """Return mean, deviation and interval of the mean over repeated rounds.

    Parameters
    ----------
    rounds : pandas.DataFrame
        What `play_repeated` returned.
    confidence : float, default .95
        Coverage of Student's interval of the mean. Splits of one table overlap, so it is too narrow for the spread
        over new tables: it says how much the draw of the split matters.

    Returns
    -------
    pandas.DataFrame
        Rows accuracy, identifiability and their chance and balanced columns; columns mean, std, low, high, rounds.
    """
    names = [
        column
        for column in map(str, rounds.select_dtypes("number"))
        if column.startswith(("accuracy", "identifiability")) and not column.endswith(("_low", "_high"))
    ]
    table = pd.DataFrame({"mean": rounds[names].mean(), "std": rounds[names].std()})
    n = len(rounds)
    half = student.ppf((1 + confidence) / 2, n - 1) * table["std"] / math.sqrt(n) if n > 1 else math.nan
    return table.assign(low=table["mean"] - half, high=table["mean"] + half, rounds=n)


def seeded(model: Any, seed: int | None) -> Any:
    """Return an unfitted clone of `model`, every unset ``random_state`` in it set to `seed`.

    Parameters
    ----------
    model : scikit-learn estimator
        Left as it is.
    seed : int or None
        None leaves the estimator unseeded.

    Returns
    -------
    estimator
        A clone.
    """
    copy = clone(model)
    unset = {
        name: seed
        for name, value in copy.get_params(deep=True).items()
        if (name == "random_state" or name.endswith("__random_state")) and value is None
    }
    return copy.set_params(**unset) if unset and seed is not None else copy


def guess(player: Any, train: np.ndarray, labels: np.ndarray, held: np.ndarray) -> np.ndarray:
    """Return what a clone of the model, fitted to the training rows, says of the held-out rows.

    Parameters
    ----------
    player : scikit-learn classifier
        Left as it is.
    train : numpy.ndarray of shape (n_train, d)
        Rows to learn from.
    labels : numpy.ndarray of shape (n_train,)
        Their classes.
    held : numpy.ndarray of shape (n_held, d)
        Rows to judge.

    Returns
    -------
    numpy.ndarray of shape (n_held,)
        Classes. The same on any number of threads: forests fit alike on all, but add up their trees' votes in the
        order in which threads finish, so that ties flip. So they vote on one.
    """
    fitted = clone(player).fit(train, labels)
    threads = {name: 1 for name in fitted.get_params() if name == "n_jobs" or name.endswith("__n_jobs")}
    return np.asarray(fitted.set_params(**threads).predict(held))


@dataclass(frozen=True)
class Published:
    """What a strategy publishes: values of all rows, and the raw values of the same columns where they exist."""

    matrix: np.ndarray
    raw: np.ndarray | None = None

    @property
    def same_as_raw(self) -> bool:
        """Whether columns were only dropped, none rewritten."""
        return self.raw is not None and np.array_equal(self.matrix, self.raw)


def _publish(problem: Problem, strategy: Any, train: np.ndarray) -> tuple[Published, str]:
    features = problem.features
    if strategy is None:
        values = features.to_numpy(dtype=float)
        return Published(values, values), f"all {problem.n_features} features"
    if hasattr(strategy, "fit") and hasattr(strategy, "transform"):
        return _publish_transformed(problem, strategy, train), repr(strategy)
    if isinstance(strategy, str) or not isinstance(strategy, Sequence | np.ndarray | pd.Index):
        raise TypeError(
            f"strategy must be None, a list of columns or an object with fit and transform, got {strategy!r}"
        )
    names = list(strategy)
    unknown = [name for name in names if name not in features.columns]
    if unknown:
        raise KeyError(f"no such feature: {', '.join(map(repr, unknown))}; {problem.name} has {list(features.columns)}")
    if not names:
        raise ValueError("no feature is published: keep at least one")
    values = features[names].to_numpy(dtype=float)
    return Published(values, values), f"{len(names)} features: {', '.join(map(str, names))}"


def _publish_transformed(problem: Problem, strategy: Any, train: np.ndarray) -> Published:
    features, fitted = problem.features, clone(strategy)
    extra = {"users": problem.users.iloc[train]} if "users" in inspect.signature(fitted.fit).parameters else {}
    fitted.fit(features.iloc[train], problem.task.iloc[train], **extra)
    answer = fitted.transform(features)
    if isinstance(answer, pd.DataFrame):
        names = list(answer.columns)
    elif hasattr(fitted, "get_feature_names_out"):
        names = list(fitted.get_feature_names_out())
    else:
        names = []
    values = np.asarray(answer.toarray() if hasattr(answer, "toarray") else answer, dtype=float)
    if values.ndim != 2 or len(values) != problem.n_records or values.shape[1] == 0:
        raise ValueError(
            f"{type(strategy).__name__}.transform must return {problem.n_records} rows and at least one column, "
            f"got shape {values.shape}"
        )
    known = bool(names) and len(names) == values.shape[1] and all(name in features.columns for name in names)
    return Published(values, features[names].to_numpy(dtype=float) if known else None)


def _measure(
    player: Any,
    seen: Published,
    judged: Published,
    y: np.ndarray,
    train: np.ndarray,
    held: np.ndarray,
    confidence: float,
) -> Measure:
    """Train on `seen` values of the training rows, judge on the published values of the held-out rows."""
    classes, counts = np.unique(y[train], return_counts=True)
    if len(classes) < 2:
        raise ValueError(f"the training rows hold one class only ({classes[0]!r}): there is nothing to tell apart")
    said = guess(player, seen.matrix[train], y[train], judged.matrix[held])
    right, n = int(np.sum(said == y[held])), len(held)
    low, high = wilson(right, n, confidence)
    return Measure(
        score=right / n,
        low=low,
        high=high,
        chance=float(np.mean(y[held] == classes[counts.argmax()])),
        balanced=float(recall_score(y[held], said, labels=np.unique(y[held]), average="macro", zero_division=0)),
        unseen=float(np.mean(~np.isin(y[held], classes))),
    )


def _measured(measure: Measure | None) -> dict[str, float]:
    if measure is None:
        return dict.fromkeys(Measure.__dataclass_fields__, math.nan)
    return asdict(measure)
