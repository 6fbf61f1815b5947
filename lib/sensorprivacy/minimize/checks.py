"""What is refused at the door of the minimizer, each with its name."""

from typing import Any

import numpy as np
import pandas as pd


def refuse_unfit(X: Any) -> None:
    """Refuse features that are missing or infinite, naming the columns.

    Parameters
    ----------
    X : DataFrame or array-like
        What is not a table of numbers is left to scikit-learn's own checks.

    Raises
    ------
    ValueError
        Naming up to five columns, how many rows of each, and the first.
    """
    frame = X if isinstance(X, pd.DataFrame) else _as_frame(X)
    if frame is None:
        return
    found = []
    for name, column in frame.items():
        if not pd.api.types.is_numeric_dtype(column) or pd.api.types.is_complex_dtype(column):
            continue
        values = column.to_numpy(dtype=float, na_value=np.nan)
        unfit = ~np.isfinite(values)
        if unfit.any():
            kinds = [word for word, test in (("NaN", np.isnan), ("infinity", np.isinf)) if test(values).any()]
            how_often = f"{int(unfit.sum())} of {len(values)} rows (first: {int(unfit.argmax())})"
            found.append(f"{name!r} holds {' and '.join(kinds)} in {how_often}")
    if found:
        more = f"; and {len(found) - 5} more" if len(found) > 5 else ""
        raise ValueError(f"feature {'; '.join(found[:5])}{more}: fill or drop them first")


def refuse_rare(labels: np.ndarray, word: str, rare: str) -> None:
    """Refuse classes with one row, unless they are to be kept.

    Parameters
    ----------
    labels : numpy.ndarray of shape (n,)
        Classes.
    word : str
        ``"y"`` or ``"users"``, for the message.
    rare : {"error", "keep"}
        Whether to refuse.

    Raises
    ------
    ValueError
        Naming up to five of them, or if there is only one class at all.
    """
    if rare not in ("error", "keep"):
        raise ValueError(f"rare={rare!r}: choose 'error' or 'keep'")
    counts = pd.Series(labels).value_counts(sort=False)
    if len(counts) < 2:
        raise ValueError(f"{word} holds one class only ({counts.index[0]!r}): there is nothing to tell apart")
    alone = counts.index[counts == 1]
    if rare == "error" and len(alone):
        more = f" and {len(alone) - 5} more" if len(alone) > 5 else ""
        raise ValueError(
            f"{word}: {', '.join(map(repr, alone[:5].tolist()))}{more} with one row each, which cannot be both "
            "learnt and judged on: drop those rows, or keep them: rare='keep', --rare keep"
        )


def refuse_constant(features: pd.DataFrame, constant: str) -> list[Any]:
    """Return the features that change, and refuse constant ones unless they are to be dropped.

    Parameters
    ----------
    features : pandas.DataFrame
        n x d.
    constant : {"error", "drop"}
        Whether to refuse.

    Returns
    -------
    list
        Names of the features with more than one value.

    Raises
    ------
    ValueError
        Naming the constant ones, or if all are.
    """
    if constant not in ("error", "drop"):
        raise ValueError(f"constant={constant!r}: choose 'error' or 'drop'")
    values = features.to_numpy()
    same = (values == values[:1]).all(axis=0)
    names = list(features.columns)
    fixed = [name for name, is_same in zip(names, same, strict=True) if is_same]
    if len(fixed) == len(names):
        raise ValueError("every feature is constant: there is nothing to learn from")
    if fixed and constant == "error":
        shown = ", ".join(map(repr, fixed[:10])) + (f" and {len(fixed) - 10} more" if len(fixed) > 10 else "")
        raise ValueError(f"constant features tell nothing: {shown}; drop them: constant='drop', --constant drop")
    return [name for name in names if name not in set(fixed)]


def _as_frame(X: Any) -> pd.DataFrame | None:
    if hasattr(X, "toarray") or not isinstance(X, np.ndarray | list | tuple):
        return None
    matrix = np.asarray(X)
    if matrix.ndim != 2 or matrix.dtype.kind not in "fiub":
        return None
    return pd.DataFrame(matrix, columns=[f"x{i}" for i in range(matrix.shape[1])])
