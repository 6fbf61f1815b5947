"""A synthetic problem with a known answer, for examples, lessons and tests."""

import numpy as np
import pandas as pd

from sensorprivacy.data import Problem


def example_problem(n_users: int = 5, random_state: int | None = 0, n_records: int = 400) -> Problem:
    """Make a small problem in which it is known what every feature reveals.

    The task is to predict whether a device is a television or a fridge. The attacker identifies the device's user.
    Device and user are drawn independently, so nothing about one helps to predict the other.

    Parameters
    ----------
    n_users : int, default 5
        Number of users, at least 2.
    random_state : int or None, default 0
        Seed of the draw.
    n_records : int, default 400
        Number of rows, at least 10 per user.

    Returns
    -------
    Problem
        Four features:

        - ``task_only`` depends on the device and not on the user. Publish it.
        - ``user_only`` depends on the user and not on the device. Drop it.
        - ``both`` mixes device and user, so it reveals a part of each. Drop it: ``task_only`` suffices.
        - ``noise`` depends on neither. It is useless and harmless.

    Raises
    ------
    ValueError
        If there are too few users or rows.

    Examples
    --------
    Feature minimization finds the answer from the data alone:

    >>> from sensorprivacy import example_problem, feature_minimize
    >>> from sklearn.ensemble import RandomForestClassifier
    >>> problem, forest = example_problem(), RandomForestClassifier(10)
    >>> published = feature_minimize(problem.features, problem.task, problem.users, 0.05, estimator=forest)
    >>> {name: name in published for name in ("task_only", "user_only", "both")}
    {'task_only': True, 'user_only': False, 'both': False}
    """
    if n_users < 2:
        raise ValueError(f"n_users={n_users}: an attacker needs at least two users to choose from")
    if n_records < 10 * n_users:
        raise ValueError(f"n_records={n_records}: give at least 10 rows per user, {10 * n_users} for {n_users} users")
    draw = np.random.default_rng(random_state)
    device, user = draw.integers(0, 2, n_records), draw.integers(0, n_users, n_records)
    features = pd.DataFrame(
        {
            "task_only": device + draw.normal(0, 0.2, n_records),
            "user_only": user + draw.normal(0, 0.2, n_records),
            "both": 2 * device + user + draw.normal(0, 0.3, n_records),
            "noise": draw.normal(size=n_records),
        }
    )
    task = pd.Series(np.where(device, "television", "fridge"))
    return Problem(features, task, pd.Series([f"user {number}" for number in user]), name="example")
