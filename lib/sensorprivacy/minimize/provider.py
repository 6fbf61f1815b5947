"""The provider's function of paper 1, section 3.2: a table in, the columns to collect out."""

from typing import Any

import pandas as pd
from sklearn import config_context

from sensorprivacy.data import as_frame
from sensorprivacy.minimize.minimizer import FeatureMinimizer


def feature_minimize(
    features: Any,
    utility_labels: Any,
    user_labels: Any,
    threshold: float,
    *,
    groups: Any = None,
    return_minimizer: bool = False,
    **options: Any,
) -> Any:
    """Return the features that a service should collect: the API of paper 1, section 3.2.

    Parameters
    ----------
    features : pandas, polars or Arrow table
        n x d cells: finite numbers and truth values.
    utility_labels : array-like of shape (n,)
        Labels that the service predicts.
    user_labels : array-like of shape (n,)
        User of each row.
    threshold : float
        Share of accuracy that may be lost: 0 loses nothing, 1 accepts any loss for the lowest identifiability.
    groups : array-like of shape (n,), optional
        Capture, trial or recording of each row. The rows of a group stay in one part of the split.
    return_minimizer : bool, default False
        Also return the fitted `FeatureMinimizer`, which has the scores, all searched subsets and both games.
    **options
        Parameters of `FeatureMinimizer`.

    Returns
    -------
    table of the same type
        The kept columns of `features` with their cells and the same index, but without notes beside the cells.
        For pandas, ``attrs["feature_minimize"]`` is
        `FeatureMinimizer.summary`: kept and dropped names, accuracy and identifiability before and after.
    FeatureMinimizer
        Only with `return_minimizer`.

    Raises
    ------
    TypeError
        If `features` is no table.
    ValueError
        If `user_labels` is None; see also `FeatureMinimizer.fit`.

    Notes
    -----
    Columns that identify rows or users are features like the others: this function takes what its caller gives, as in
    the paper. The commands of `sensorrelease` leave such columns out.

    References
    ----------
    Paper 1, section 3.2.

    Examples
    --------
    >>> from sensorprivacy import example_problem
    >>> from sklearn.ensemble import RandomForestClassifier
    >>> problem, forest = example_problem(), RandomForestClassifier(10)
    >>> kept = feature_minimize(problem.features, problem.task, problem.users, 0.05, estimator=forest)
    >>> "user_only" in kept
    False
    """
    if user_labels is None:
        raise ValueError("user_labels is None: pass the user of each row, or use FeatureMinimizer without users")
    table = as_frame(features)
    minimizer = FeatureMinimizer(threshold, **options).fit(table, utility_labels, users=user_labels, groups=groups)
    with config_context(transform_output="pandas"):
        minimized: Any = minimizer.transform(table).copy()
    minimized.attrs = {"feature_minimize": minimizer.summary()}  # without notes of the input
    if not isinstance(features, pd.DataFrame):
        minimized = features.select(list(minimized))  # polars and Arrow
        if hasattr(minimized, "replace_schema_metadata"):
            minimized = minimized.replace_schema_metadata(None)
    return (minimized, minimizer) if return_minimizer else minimized
