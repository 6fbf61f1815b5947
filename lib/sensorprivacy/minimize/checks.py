"""Reject unusable features and labels, and name them in the error."""

from typing import Any

import numpy as np
import pandas as pd

_HELD = {"string": "texts", "categorical": "categories", "datetime64": "points in time", "timedelta64": "durations"}
_NUMBERS = ("integer", "floating", "mixed-integer-float", "decimal", "boolean", "empty")  # in columns of objects


def check_numbers(X: Any) -> Any:
    """Return features; raise ValueError if a column of a data frame holds something else than numbers."""
    for name, column in X.items() if isinstance(X, pd.DataFrame) else ():
        kind = pd.api.types.infer_dtype(column, skipna=True)
        if not pd.api.types.is_numeric_dtype(column) and kind not in _NUMBERS:
            remedy = "code it first, for example with OrdinalEncoder, or use sensorrelease"
            raise ValueError(f"column {name!r} holds {_HELD.get(kind, kind)}: {remedy}")
    return X


def check_classes(labels: np.ndarray, word: str, rare: str) -> None:
    """Reject labels with one class, and classes with one row.

    Parameters
    ----------
    labels : numpy.ndarray of shape (n,)
        Classes.
    word : {"y", "users"}
        Name of the labels, for the message.
    rare : {"error", "keep"}
        ``"keep"`` accepts classes with one row.

    Raises
    ------
    ValueError
        If there is only one class, or a class with one row.
    """
    if rare not in ("error", "keep"):
        raise ValueError(f"rare={rare!r}: choose 'error' or 'keep'")
    counts = pd.Series(labels).value_counts(sort=False)
    if len(counts) < 2:
        raise ValueError(f"{word} has only one class ({counts.index[0]!r}): a model needs at least two")
    alone = counts.index[counts == 1].tolist()
    if rare == "error" and alone:
        names = _shortened(list(map(repr, alone)))
        raise ValueError(f"{word}: {names} with one row each, too few to train and test: drop them, or rare='keep'")


def changing_features(features: pd.DataFrame, constant: str) -> list[Any]:
    """Return the features that are not constant; reject constant ones unless they may be dropped.

    Parameters
    ----------
    features : pandas.DataFrame
        n x d.
    constant : {"error", "drop"}
        ``"drop"`` leaves constant features out.

    Returns
    -------
    list
        Names of the features with more than one value.

    Raises
    ------
    ValueError
        Names the constant features; or if all features are constant.
    """
    if constant not in ("error", "drop"):
        raise ValueError(f"constant={constant!r}: choose 'error' or 'drop'")
    values = features.to_numpy()
    is_constant = (values == values[:1]).all(axis=0)
    if is_constant.all():
        raise ValueError("every feature is constant: a model has nothing to learn from")
    if constant == "error" and is_constant.any():
        names = list(map(repr, features.columns[is_constant].tolist()))
        raise ValueError(f"constant features carry no information: {_shortened(names)}; drop them with constant='drop'")
    return features.columns[~is_constant].tolist()


def _shortened(items: list[str]) -> str:
    return ", ".join(items[:5]) + (f" and {len(items) - 5} more" if len(items) > 5 else "")
