"""Use identifiability as a score in scikit-learn's searches, such as `GridSearchCV`."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
from sklearn.base import BaseEstimator
from sklearn.ensemble import RandomForestClassifier
from sklearn.model_selection import StratifiedGroupKFold, StratifiedKFold, cross_val_score
from sklearn.pipeline import Pipeline

from sensorprivacy.game.play import seeded


def identifiability_scorer(
    users: pd.Series,
    groups: pd.Series | None = None,
    *,
    model: BaseEstimator | None = None,
    folds: int = 3,
    seed: int | None = 42,
) -> Callable[..., float]:
    """Return a scorer: minus the accuracy of an adversary who identifies users from what an estimator publishes.

    Parameters
    ----------
    users : pandas.Series
        User of each row, with the index of the features.
    groups : pandas.Series, optional
        Capture, trial or recording of each row, with the same index. The adversary's folds keep groups whole.
    model : scikit-learn classifier, optional
        The adversary. Default: ``RandomForestClassifier()``.
    folds : int, default 3
        Folds in which the adversary is trained and tested on the published rows.
    seed : int or None, default 42
        Seed of the adversary and of the folds.

    Returns
    -------
    callable
        ``scorer(estimator, X, y=None)``; greater is better. The estimator's ``transform`` publishes the rows. A
        pipeline that ends in a classifier publishes what reaches this classifier. `X` must be a data frame, whose index
        finds the users.

    Raises
    ------
    ValueError
        If `users` repeats an index label. The scorer raises it if `X` has a row without a user.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.feature_selection import SelectKBest
    >>> from sklearn.model_selection import GridSearchCV
    >>> draw = np.random.default_rng(0)
    >>> task, users = draw.integers(0, 2, 300), pd.Series(draw.integers(0, 3, 300))
    >>> X = pd.DataFrame({"task": task + draw.normal(0, 0.1, 300), "user": users + draw.normal(0, 0.1, 300)})
    >>> search = GridSearchCV(SelectKBest(), {"k": [1, 2]}, scoring=identifiability_scorer(users)).fit(X, task)
    >>> search.best_params_
    {'k': 1}
    """
    if users.index.has_duplicates:
        raise ValueError("users repeats an index label: give each row its own label, such as by reset_index")
    adversary = seeded(RandomForestClassifier() if model is None else model, seed)

    def scorer(estimator: Any, X: pd.DataFrame, y: Any = None) -> float:
        published = estimator[:-1] if isinstance(estimator, Pipeline) and len(estimator) > 1 else estimator
        if not isinstance(X, pd.DataFrame) or not X.index.isin(users.index).all():
            raise ValueError("a row has no user: pass a data frame whose index is that of users")
        kind = StratifiedKFold if groups is None else StratifiedGroupKFold
        scores = cross_val_score(
            adversary,
            np.asarray(published.transform(X), dtype=float),
            users.loc[X.index].to_numpy(),
            groups=None if groups is None else groups.loc[X.index].to_numpy(),
            cv=kind(folds, shuffle=True, random_state=seed),
        )
        return -float(scores.mean())

    return scorer
