"""The paper's API: drop features until users are as hard to tell as a tolerated loss of accuracy allows."""

import warnings
from collections.abc import Sequence
from typing import Any, Self

import numpy as np
import pandas as pd
from sklearn.base import BaseEstimator
from sklearn.feature_selection import SelectorMixin
from sklearn.utils import Tags
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted, column_or_1d, validate_data

from sensorprivacy.datasets.types import Problem
from sensorprivacy.game.play import Outcome, play
from sensorprivacy.game.splits import Split, grouped_split, random_split
from sensorprivacy.minimize.checks import refuse_constant, refuse_rare, refuse_unfit
from sensorprivacy.minimize.engines import Engine, Subset, hold, make_engine
from sensorprivacy.minimize.greedy import take
from sensorprivacy.minimize.scores import score_features
from sensorprivacy.minimize.search.exhaustive import search
from sensorprivacy.minimize.select import check_threshold, select

REFERENCES = ("best", "all")


class FeatureMinimizer(SelectorMixin, BaseEstimator):
    """Keep the features with which users are hardest to tell, at a tolerated loss of accuracy.

    Two stages (paper 1, section 4.3): features are scored and preselected greedily, then every subset of those is
    searched with two models each, one for the task and one for the users.

    Parameters
    ----------
    threshold : float, default .01
        Share of accuracy that may be given up, 0 to 1.
    n_preselect : int or None, default 10
        Features kept by the greedy stage; the paper recommends 10 to 15, and cost doubles with each. None searches
        all, at most 20.
    feature_score : {"shap", "information", "gini"}
        How features are scored, see `sensorprivacy.minimize.scores.score_features`.
    by : {"ratio", "utility", "identifiability", "tradeoff"}
        What the greedy stage prefers, see `sensorprivacy.minimize.greedy.order`.
    variant : {"paper", "authors"}
        Orders of the paper's text, or of its authors' notebooks.
    estimator : scikit-learn classifier, optional
        Model class of both players. Default: ``RandomForestClassifier()``.
    validation_size, test_size : float, default .15 each
        Shares of the rows (of the groups, where groups are given) that subsets are chosen on and reported on. With
        ``validation_size=0`` they are chosen on the test rows, as in the paper: the report then flatters.
    reference : {"best", "all"}
        Accuracy that the loss is counted from: the best subset's (section 4.1), or that of the model on all
        features (Definition 1).
    margin : float, optional
        Parsimonious choice: fewest features with identifiability within this margin of the lowest.
    lazy : bool, default True
        Train the adversary only on subsets that pass `threshold`. Loses nothing at this threshold; False gives a table
        that serves every threshold.
    engine : {"sklearn", "shared"} or Engine
        What trains the search.
    store : path-like, optional
        File that keeps the search, see `sensorprivacy.minimize.search.exhaustive.search`.
    allow_long : bool, default False
        Whether a search expected to take more than an hour may start.
    rare : {"error", "keep"}
        What to do about a class or user with one row: no model can both learn and be judged on it.
    constant : {"error", "drop"}
        What to do about a feature that never changes.
    max_rows, max_depth : int or None
        Caps of the scoring stage, see `sensorprivacy.minimize.scores.score_features`.
    n_jobs : int, optional
        joblib workers of the search.
    random_state : int or None, default 42
        Seed of split, scores and models.
    progress : bool, default False
        Show progress bars.

    Attributes
    ----------
    support_ : numpy.ndarray of bool, shape (n_features_in_,)
        Which features are kept.
    scores_ : pandas.DataFrame or None
        Scores of the greedy stage; None where nothing was preselected.
    preselected_ : list
        Names of the features that were searched.
    results_ : pandas.DataFrame
        Every subset searched: features, n_features, accuracy, identifiability.
    chosen_ : pandas.Series
        The row of `results_` that was chosen.
    outcome_, baseline_ : sensorprivacy.game.Outcome
        The game on the kept and on all features, judged on the test rows.
    adversary_ : bool
        Whether users were given.
    split_ : sensorprivacy.game.Split
        The rows.
    n_features_in_, feature_names_in_
        As in scikit-learn.

    Notes
    -----
    Without `users` there is no adversary: the fewest features that keep the accuracy are chosen, ``identifiability`` in
    `results_` is then the share of features kept, and a warning says so.

    References
    ----------
    Paper 1, sections 3.2 and 4.

    Examples
    --------
    >>> import numpy as np, pandas as pd
    >>> draw = np.random.default_rng(0)
    >>> task, users = draw.integers(0, 2, 300), draw.integers(0, 3, 300)
    >>> X = pd.DataFrame({"load": task + draw.normal(0, 0.2, 300), "voice": users + draw.normal(0, 0.2, 300)})
    >>> minimizer = FeatureMinimizer(threshold=0.05).fit(X, task, users=users)
    >>> minimizer.get_feature_names_out().tolist()
    ['load']
    """

    def __init__(
        self,
        threshold: float = 0.01,
        *,
        n_preselect: int | None = 10,
        feature_score: str = "shap",
        by: str = "ratio",
        variant: str = "paper",
        estimator: BaseEstimator | None = None,
        validation_size: float = 0.15,
        test_size: float = 0.15,
        reference: str = "best",
        margin: float | None = None,
        lazy: bool = True,
        engine: str | Engine = "sklearn",
        store: Any = None,
        allow_long: bool = False,
        rare: str = "error",
        constant: str = "error",
        max_rows: int | None = None,
        max_depth: int | None = 8,
        n_jobs: int | None = None,
        random_state: int | None = 42,
        progress: bool = False,
    ) -> None:
        self.threshold = threshold
        self.n_preselect = n_preselect
        self.feature_score = feature_score
        self.by = by
        self.variant = variant
        self.estimator = estimator
        self.validation_size = validation_size
        self.test_size = test_size
        self.reference = reference
        self.margin = margin
        self.lazy = lazy
        self.engine = engine
        self.store = store
        self.allow_long = allow_long
        self.rare = rare
        self.constant = constant
        self.max_rows = max_rows
        self.max_depth = max_depth
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.progress = progress

    def fit(self, X: Any, y: Any, users: Any = None, groups: Any = None) -> Self:
        """Choose the features.

        Parameters
        ----------
        X : DataFrame or array-like of shape (n, d)
            Features: numbers, all finite.
        y : array-like of shape (n,)
            Task labels.
        users : array-like of shape (n,), optional
            Whose row it is. Route it through a pipeline with ``set_fit_request(users=True)``.
        groups : array-like of shape (n,), optional
            Capture, trial or recording of each row: none will stand on two sides of the split.

        Returns
        -------
        FeatureMinimizer

        Raises
        ------
        ValueError
            If a feature is missing, infinite or constant (the message names it), labels are of unequal length, a
            class or user has one row, the threshold is not within [0, 1], no subset meets it, a score or order is
            unknown, or more than 20 features would be searched.
        SearchTooLongError
            If more than an hour is expected and `allow_long` is not set.
        """
        check_threshold(self.threshold)
        if self.reference not in REFERENCES:
            raise ValueError(f"unknown reference {self.reference!r}: choose from {', '.join(REFERENCES)}")
        problem = self._problem(X, y, users, groups)
        self.adversary_ = users is not None
        self.split_ = self._split(problem)
        usable = refuse_constant(problem.features, self.constant)
        self.preselected_ = self._preselect(problem, usable)
        part = "test" if self.split_.validation is None else "validation"
        engine = make_engine(self.engine, hold(problem, self.split_, part), self.estimator, self.random_state)
        found = search(
            problem,
            self.preselected_,
            model=self.estimator,
            split=self.split_,
            part=part,
            seed=self.random_state,
            engine=engine if self.adversary_ else _NoAdversary(engine, len(self.preselected_)),
            store=self.store,
            lazy=self.threshold if self.lazy and self.reference == "best" else None,
            allow_long=self.allow_long,
            n_jobs=self.n_jobs,
            progress=self.progress,
        )
        self.results_ = found.table
        self.baseline_ = self._play(problem, None)
        reference = None
        if self.reference == "all":
            reference = self._play(problem, None, part).accuracy
        self.chosen_ = select(found.table, self.threshold, reference=reference, margin=self.margin)
        self.outcome_ = self._play(problem, list(self.chosen_["features"]))
        self.support_ = np.isin(np.asarray(problem.features.columns, dtype=object), list(self.chosen_["features"]))
        return self

    def summary(self) -> dict[str, Any]:
        """Return what was kept, what it costs and what an adversary still learns, as plain values.

        Returns
        -------
        dict
            kept, dropped (lists of names), threshold, and for the kept and for ``all_`` features accuracy,
            identifiability (None without users) and their chance levels on the test rows.
        """
        check_is_fitted(self)
        names = [str(name) for name in self._names]
        answer: dict[str, Any] = {
            "kept": [name for name, kept in zip(names, self.support_, strict=True) if kept],
            "dropped": [name for name, kept in zip(names, self.support_, strict=True) if not kept],
            "preselected": [str(name) for name in self.preselected_],
            "threshold": float(self.threshold),
            "n_test": self.outcome_.n_test,
            "part_chosen_on": "test" if self.split_.validation is None else "validation",
        }
        for prefix, outcome in (("", self.outcome_), ("all_", self.baseline_)):
            for word, measure in (("accuracy", outcome.task), ("identifiability", outcome.adversary)):
                told = word == "accuracy" or self.adversary_
                for name in ("score", "low", "high", "chance"):
                    key = prefix + (word if name == "score" else f"{word}_{name}")
                    answer[key] = float(getattr(measure, name)) if told else None
        return answer

    def _get_support_mask(self) -> np.ndarray:
        check_is_fitted(self)
        return self.support_

    def _problem(self, X: Any, y: Any, users: Any, groups: Any) -> Problem:
        refuse_unfit(X)
        X = X.reset_index(drop=True) if isinstance(X, pd.DataFrame) else X
        if y is None:
            raise ValueError("requires y to be passed, but the target y is None: give the labels of the task")
        matrix, task = validate_data(self, X, y, dtype="numeric", ensure_min_samples=4)
        check_classification_targets(task)
        if users is None:
            warnings.warn(
                "no users given: without an adversary the fewest features are kept, identifiability is not measured",
                UserWarning,
                stacklevel=3,
            )
        named = getattr(self, "feature_names_in_", None)
        self._names = [f"x{i}" for i in range(matrix.shape[1])] if named is None else list(named)
        frame = pd.DataFrame(np.asarray(matrix, dtype=float), columns=self._names)
        labels = {"y": task} | ({} if users is None else {"users": column_or_1d(np.asarray(users))})
        for word, values in labels.items():
            if len(values) != len(frame):
                raise ValueError(f"{word} has {len(values)} labels for {len(frame)} rows: pass one for each row")
            refuse_rare(values, word, self.rare)
        return Problem(
            frame, task, labels.get("users", task), None if groups is None else pd.Series(np.asarray(groups))
        )

    def _split(self, problem: Problem) -> Split:
        test, validation, seed = self.test_size, self.validation_size, self.random_state
        if problem.groups is not None:
            return grouped_split(problem.groups, test=test, validation=validation, seed=seed)
        return random_split(problem.n_records, test=test, validation=validation, seed=seed)

    def _preselect(self, problem: Problem, usable: list[Any]) -> list[Any]:
        self.scores_ = None
        if self.n_preselect is None or len(usable) <= self.n_preselect:
            return usable
        learnt = self.split_.train
        self.scores_ = score_features(
            problem.features[usable].iloc[learnt],
            problem.task.iloc[learnt],
            problem.users.iloc[learnt],
            self.feature_score,
            seed=self.random_state,
            max_rows=self.max_rows,
            max_depth=self.max_depth,
        )
        by = self.by if self.adversary_ else "utility"
        return take(self.scores_, by, n_features=self.n_preselect, variant=self.variant)

    def _play(self, problem: Problem, names: Sequence[Any] | None, part: str = "test") -> Outcome:
        return play(problem, names, model=self.estimator, split=self.split_, part=part, seed=self.random_state)

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.target_tags.required = True
        tags.input_tags.allow_nan = False
        return tags


def feature_minimize(
    features: pd.DataFrame,
    utility_labels: Any,
    user_labels: Any,
    threshold: float,
    *,
    return_minimizer: bool = False,
    **options: Any,
) -> Any:
    """Return the features that a provider should collect: the API of paper 1, section 3.2.

    Parameters
    ----------
    features : pandas.DataFrame
        n x d: numbers, all finite.
    utility_labels : array-like of shape (n,)
        What the service wants to predict.
    user_labels : array-like of shape (n,)
        Whose row it is.
    threshold : float
        Share of accuracy that may be given up: 0 loses nothing, 1 wants the lowest identifiability at any price.
    return_minimizer : bool, default False
        Return the fitted `FeatureMinimizer` as well: scores, every subset searched, both games.
    **options
        Parameters of `FeatureMinimizer`, and ``groups`` of its ``fit``.

    Returns
    -------
    pandas.DataFrame
        The kept columns of `features`, unchanged, same index. ``attrs["feature_minimize"]`` is the minimizer's
        `FeatureMinimizer.summary`: kept and dropped names, accuracy and identifiability before and after.
    FeatureMinimizer
        Only with `return_minimizer`.

    Raises
    ------
    TypeError
        If `features` is no data frame.
    ValueError
        See `FeatureMinimizer.fit`.

    References
    ----------
    Paper 1, section 3.2.
    """
    if not isinstance(features, pd.DataFrame):
        raise TypeError(f"features must be a DataFrame, got {type(features).__name__}: the kept columns need names")
    groups = options.pop("groups", None)
    if user_labels is None:
        raise ValueError("user_labels is None: without users there is nobody to hide; FeatureMinimizer works without")
    minimizer = FeatureMinimizer(threshold, **options).fit(features, utility_labels, users=user_labels, groups=groups)
    minimized = features.loc[:, minimizer.get_support()].copy()
    minimized.attrs["feature_minimize"] = minimizer.summary()
    return (minimized, minimizer) if return_minimizer else minimized


class _NoAdversary:
    """An engine that trains for the task only: what a subset costs is its share of the features searched."""

    def __init__(self, engine: Engine, n_features: int) -> None:
        self.name, self.model, self.threads = f"{engine.name}, no adversary", engine.model, engine.threads
        self.engine, self.n_features = engine, n_features

    def score(self, subsets: Sequence[Subset], label: str) -> list[float]:
        if label == "users":
            return [len(subset) / self.n_features for subset in subsets]
        return self.engine.score(subsets, label)
