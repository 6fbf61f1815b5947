"""The API of paper 1: drop features, so that users are hard to identify and the task loses little accuracy."""

import warnings
from collections.abc import Sequence
from dataclasses import KW_ONLY, dataclass
from typing import Any, Self, cast

import numpy as np
import pandas as pd
from sklearn.base import BaseEstimator, clone
from sklearn.ensemble import RandomForestClassifier
from sklearn.feature_selection import SelectorMixin
from sklearn.utils import Tags
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted, column_or_1d, validate_data

from sensorprivacy.data import Problem
from sensorprivacy.game.play import play
from sensorprivacy.game.splits import Split, default_split
from sensorprivacy.minimize.checks import changing_features, check_classes, check_numbers
from sensorprivacy.minimize.engine_protocol import Engine, EngineData, engine_data
from sensorprivacy.minimize.engines import NoAdversary, make_engine
from sensorprivacy.minimize.greedy import rank_features, take_features
from sensorprivacy.minimize.scores import score_rows
from sensorprivacy.minimize.search.exhaustive import search_subsets
from sensorprivacy.minimize.select import NoSubsetError, check_threshold, fewest_columns, least_accuracy, select
from sensorprivacy.minimize.settings import REFERENCES, Preselection, SearchSettings, settings_for
from sensorprivacy.progress import tqdm


@dataclass(eq=False, repr=False)
class FeatureMinimizer(SelectorMixin, BaseEstimator):
    """Keep the features from which users are hardest to identify, at a tolerated loss of accuracy.

    The method has two stages (paper 1, section 4.3). First, features are scored and preselected greedily. Then two
    models are trained on every subset of the preselected features: one predicts the task, the other the user.

    Parameters
    ----------
    threshold : float, default .01
        Share of accuracy that may be lost, 0 to 1.
    n_preselect : int or None, default 10
        Number of features that the greedy stage keeps. The paper recommends 10 to 15. The cost doubles with each
        feature. None searches all features, at most 20.
    estimator : scikit-learn classifier, optional
        Model class of the task model and the adversary. Default: ``RandomForestClassifier()``.
    validation_size, test_size : float, default .15 each
        Shares of the rows (or of the groups, if given) that subsets are chosen on and evaluated on. With
        ``validation_size=0`` they are chosen on the test rows, as in the paper. The evaluation is then optimistic.
    rare : {"error", "keep"}
        What to do with a class or user that has one row. No model can be both trained and tested on it.
    constant : {"error", "drop"}
        What to do with constant features.
    preselection : Preselection, optional
        Settings of the greedy stage: score, order, limits. See `sensorprivacy.minimize.Preselection`.
    search : SearchSettings, optional
        Engine, result store, choice rule. Default: those of the command `minimize`, see
        `sensorprivacy.minimize.settings.settings_for`. ``SearchSettings()`` is the paper's rule.
    allow_long : bool, default False
        Whether a search that takes more than an hour may start.
    n_jobs : int, optional
        Joblib workers of the search.
    random_state : int or None, default 42
        Seed of split, scores and models.
    progress : bool, default False
        Show progress bars.

    Attributes
    ----------
    support_ : numpy.ndarray of bool, shape (n_features,)
        Marks the kept features.
    scores_ : pandas.DataFrame or None
        Scores of the greedy stage. None if all features were searched.
    preselected_ : list
        Names of the searched features.
    results_ : pandas.DataFrame
        All searched subsets: features, n_features, accuracy, identifiability.
    race_ : sensorprivacy.minimize.search.racing.Race or None
        How many subsets a race dropped. None after an exhaustive search.
    chosen_ : pandas.Series
        The chosen row of `results_`.
    outcome_, baseline_ : sensorprivacy.game.Outcome
        The game on the kept features and on all features, evaluated on the test rows.
    adversary_ : bool
        Whether users were given.
    split_, search_split_ : sensorprivacy.game.Split
        Training, validation and test rows, and those of them that the search used.

    Notes
    -----
    Without `users`, a warning says so, the fewest features that keep the accuracy are chosen, and ``identifiability``
    in `results_` is the share of the searched features that a subset has.
    Code texts and fill missing cells before, such as with scikit-learn's ``OrdinalEncoder`` and ``SimpleImputer``. All
    columns are searched; the commands of `sensorrelease` leave out those that identify rows or users.

    References
    ----------
    Paper 1, sections 3.2 and 4.

    Examples
    --------
    >>> import numpy as np, pandas as pd
    >>> from sklearn.ensemble import RandomForestClassifier
    >>> draw = np.random.default_rng(0)
    >>> task, users = draw.integers(0, 2, 300), draw.integers(0, 3, 300)
    >>> X = pd.DataFrame({"load": task + draw.normal(0, 0.2, 300), "voice": users + draw.normal(0, 0.2, 300)})
    >>> minimizer = FeatureMinimizer(threshold=0.05, estimator=RandomForestClassifier(10)).fit(X, task, users=users)
    >>> minimizer.get_feature_names_out().tolist()
    ['load']
    """

    threshold: float = 0.01
    _: KW_ONLY
    n_preselect: int | None = 10
    estimator: BaseEstimator | None = None
    validation_size: float = 0.15
    test_size: float = 0.15
    rare: str = "error"
    constant: str = "error"
    preselection: Preselection | None = None
    search: SearchSettings | None = None
    allow_long: bool = False
    n_jobs: int | None = None
    random_state: int | None = 42
    progress: bool = False

    def fit(self, X: Any, y: Any, users: Any = None, groups: Any = None) -> Self:
        """Choose the features.

        Parameters
        ----------
        X : DataFrame or array-like of shape (n, d)
            Features: finite numbers.
        y : array-like of shape (n,)
            Task labels.
        users : array-like of shape (n,), optional
            User of each row. In a pipeline, route it with ``set_fit_request(users=True)``.
        groups : array-like of shape (n,), optional
            Capture, trial or recording of each row. The rows of a group stay in one part of the split.

        Returns
        -------
        FeatureMinimizer

        Raises
        ------
        ValueError
            If a feature is no number, missing, infinite or constant, labels differ in length, a class or user has one
            row, no subset meets the threshold, a setting is out of range, or over 20 features are searched.
        SearchTooLongError
            If the search would take more than an hour and `allow_long` is False.
        """
        return self._fit(self._problem(X, y, users, groups), adversary=users is not None)

    def _fit(self, problem: Problem, *, adversary: bool) -> Self:
        check_threshold(self.threshold)
        settings, self._names = self._settings, list(problem.features.columns)
        if settings.reference not in REFERENCES:
            raise ValueError(f"unknown reference {settings.reference!r}: choose from {', '.join(REFERENCES)}")
        self.adversary_ = adversary
        self.split_ = self._split(problem, self.random_state)
        problem = problem.filled(self.split_.train)
        self.search_split_ = self.split_.capped(settings.max_rows, settings.max_rows, seed=self.random_state)
        usable = changing_features(problem.features, self.constant)
        self.preselected_ = self._preselect(problem, usable)
        part = "test" if self.split_.validation is None else "validation"
        data = engine_data(problem, self.search_split_, part)
        engine = make_engine(settings.engine, data, self._searching(settings), self.random_state)
        self.rule_ = self._rule(data, engine)
        alone = settings.lazy and settings.reference == "best"  # the table serves the choice at this threshold only
        found = search_subsets(
            problem, self.preselected_, split=self.search_split_, part=part, seed=self.random_state,
            engine=engine if self.adversary_ else NoAdversary(engine, len(self.preselected_)),
            result_store=settings.result_store,
            lazy=self.threshold if alone else None, race=settings.race,
            rule=self.rule_ | ({"thresholds": [self.threshold]} if alone else {"threshold": self.threshold}),
            allow_long=self.allow_long, n_jobs=self.n_jobs, progress=self.progress,
        )  # fmt: skip
        self.results_, self.race_ = found.table, found.race
        self.chosen_ = self._choose(engine, list(problem.features))
        kept = list(self.chosen_["features"])
        final = self.split_.capped(settings.final_rows, None, seed=self.random_state)
        bar = tqdm([None, kept], desc=f"{problem.name}: evaluation", disable=not self.progress)
        how: dict[str, Any] = {"model": self.estimator, "split": final, "seed": self.random_state}
        self.baseline_, self.outcome_ = (play(problem, names, **how) for names in bar)
        self.support_ = np.isin(np.asarray(problem.features.columns, dtype=object), kept)
        return self

    @property
    def _settings(self) -> SearchSettings:
        return self.search or settings_for(self.estimator)

    def _rule(self, data: EngineData, engine: Engine) -> dict[str, Any]:
        """Return the options of `select` for subsets that an engine has scored on held-out rows."""
        settings, everything = self._settings, tuple(range(data.train.shape[1]))
        reference = engine.score([everything], "task")[0] if settings.reference == "all" else None
        chance = data.prior("users") if self.adversary_ else 0.0
        rule = {"margin": settings.margin, "slack": settings.slack, "rows": len(data.test)}
        return rule | {"reference": reference, "chance": chance}

    def transform(self, X: Any) -> Any:
        """Return the kept features of new rows.

        Parameters
        ----------
        X : DataFrame or array-like of shape (n, d)
            Features, as in `fit`. A data frame may lack the dropped features: a service need not collect them.

        Raises
        ------
        ValueError
            If a kept feature is absent, or a cell is no number, missing or infinite.
        """
        check_is_fitted(self)
        kept = np.array(self._names, dtype=object)[self.support_]
        if isinstance(X, pd.DataFrame) and X.shape[1] < len(self._names) and set(kept) <= set(X):
            X = X.reindex(columns=self._names, fill_value=0)
        return super().transform(check_numbers(X))

    def summary(self) -> dict[str, Any]:
        """Summarize the kept features, their accuracy and their identifiability.

        Returns
        -------
        dict
            kept, dropped (lists of names), threshold, and accuracy and identifiability (None without users) on the
            test rows, for the kept features and, with the prefix ``all_``, for all features: each with its interval,
            chance level, p-value against it and share of rows of unseen classes, see `sensorprivacy.game.Measure`.
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
            row = outcome.to_series()
            for measure in ("accuracy", "identifiability"):
                measured = measure == "accuracy" or self.adversary_
                for part in ("", "_low", "_high", "_chance", "_p", "_unseen"):
                    answer[f"{prefix}{measure}{part}"] = float(row[f"{measure}{part}"]) if measured else None
        return answer

    def _get_support_mask(self) -> np.ndarray:
        check_is_fitted(self)
        return self.support_

    def _problem(self, X: Any, y: Any, users: Any, groups: Any) -> Problem:
        if y is None:
            raise ValueError("requires y to be passed, but the target y is None: pass the labels of the task")
        # `Problem` checks that values are finite, because its error can name the columns
        how: Any = {"dtype": "numeric", "ensure_all_finite": False, "ensure_min_samples": 4}
        matrix, task = validate_data(self, check_numbers(X), y, **how)
        check_classification_targets(task)
        if users is None:
            said = "without an adversary the fewest features are kept, and identifiability is not measured"
            warnings.warn(f"no users given: {said}", UserWarning, stacklevel=3)
        labels = {"y": task} | ({} if users is None else {"users": column_or_1d(np.asarray(users))})
        names = getattr(self, "feature_names_in_", [f"x{at}" for at in range(matrix.shape[1])])
        for word, values in labels.items():
            check_classes(values, word, self.rare)
        return Problem(
            pd.DataFrame(np.asarray(matrix, dtype=float), columns=names),
            task,
            labels.get("users", task),
            None if groups is None else pd.Series(np.asarray(groups)),
        )

    def _split(self, problem: Problem, seed: int | None) -> Split:
        return default_split(problem, test=self.test_size, validation=self.validation_size, seed=seed)

    def _preselect(self, problem: Problem, usable: list[Any]) -> list[Any]:
        self.scores_ = None
        if self.n_preselect is None or len(usable) <= self.n_preselect:
            return usable
        how, rows = self.preselection or Preselection(), self.search_split_.train
        limits: dict[str, Any] = {"max_rows": how.max_rows, "max_depth": how.max_depth}
        self.scores_ = score_rows(problem, rows, how.score, columns=usable, seed=self.random_state, **limits)
        by = how.by if self.adversary_ else "utility"
        return take_features(self.scores_, by, n_features=self.n_preselect, variant=how.variant)

    def _choose(self, engine: Engine, names: list[Any]) -> pd.Series:
        """Return the chosen subset, or more columns than were searched."""
        try:
            return select(self.results_, self.threshold, **self.rule_)
        except NoSubsetError:
            if not self._settings.more or self.scores_ is None:
                raise
            how = self.preselection or Preselection()
            ranked = rank_features(self.scores_, how.by, variant=how.variant)

            def accuracy(some: Sequence[Any], label: str = "task") -> float:
                return engine.score([tuple(sorted(map(names.index, some)))], label)[0]

            least = least_accuracy(self.rule_["reference"] or accuracy(names), self.threshold, self.rule_["rows"])
            kept = fewest_columns(ranked, lambda some: accuracy(some) >= least, len(self.preselected_))
            found = {"features": tuple(kept), "n_features": len(kept), "accuracy": accuracy(kept)}
            return pd.Series(found | {"identifiability": accuracy(kept, "users"), "threshold": self.threshold})

    def _searching(self, settings: SearchSettings) -> BaseEstimator | None:
        """Return the model of the search: on a sample of a large table, a forest has fewer trees."""
        forest = RandomForestClassifier() if self.estimator is None else self.estimator
        trees = getattr(forest, "n_estimators", 0)
        if settings.max_trees is None or self.search_split_ is self.split_ or trees <= settings.max_trees:
            return self.estimator
        return cast(BaseEstimator, clone(forest).set_params(n_estimators=settings.max_trees))

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.target_tags.required = True
        return tags


def fit_problem(minimizer: FeatureMinimizer, problem: Problem) -> FeatureMinimizer:
    """Fit a minimizer to a problem with users; like its `fit`, but the problem fills its missing values itself."""
    validate_data(minimizer, problem.features, skip_check_array=True)
    return minimizer._fit(problem, adversary=True)
