"""Join published rows with the original table, as an attacker does who holds a copy of it."""

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from sklearn.neighbors import KDTree

from sensorprivacy.game.linkage import k_anonymity


@dataclass(frozen=True)
class Joined:
    """The share of published rows that equal or nearest values of the kept columns join with one original row.

    Parameters
    ----------
    exact : float
        Share of rows that are the only ones with their values.
    near : float
        Share of sampled rows without another row within the tolerance in every column: the attacker knows the values
        only about.
    tolerance : float
        Share of each column's range.
    alone : dict of str to float
        Share of rows that one column alone joins, of the columns with the largest shares.
    rows : int
        Number of sampled rows behind `near`.
    """

    exact: float
    near: float
    tolerance: float
    alone: dict[str, float]
    rows: int


def join_rows(
    table: pd.DataFrame,
    columns: Sequence[Hashable],
    *,
    tolerance: float = 0.01,
    sample: int = 2000,
    seed: int | None = 42,
) -> Joined:
    """Return how many rows of a table an attacker joins by columns that are published unchanged.

    A model that fails to identify users proves nothing against this attacker: a serial number confuses a forest, but
    joins every row.

    Parameters
    ----------
    table : pandas.DataFrame
        The original table: n rows of numbers.
    columns : sequence of column names
        The published columns.
    tolerance : float, default .01
        Share of a column's range within which two values look alike to an attacker who knows values only about.
    sample : int
        Number of rows for `Joined.near`.
    seed : int
        Seed of the sample.

    Returns
    -------
    Joined

    Examples
    --------
    >>> found = join_rows(pd.DataFrame({"serial": [3, 1, 2], "door": [0, 1, 1]}), ["serial", "door"])
    >>> found.exact, found.alone["serial"], found.alone["door"]
    (1.0, 1.0, 0.3333333333333333)
    """
    released = table[list(columns)]
    alone = {str(name): k_anonymity(released[[name]]).unique for name in released}
    first = dict(sorted(alone.items(), key=lambda item: -item[1])[:3])
    at = np.random.default_rng(seed).permutation(len(released))[:sample]
    scaled = _scaled(released)
    tree: Any = KDTree(scaled, metric="chebyshev")
    alike = tree.query_radius(scaled[at], r=tolerance, count_only=True)
    near = float(np.mean(np.asarray(alike) == 1))
    return Joined(k_anonymity(released).unique, near, tolerance, first, len(at))


def _scaled(table: pd.DataFrame) -> np.ndarray:
    """Return numbers divided by their range; missing ones are alike, and unlike all others."""
    values = table.to_numpy(dtype=float)
    low, high = np.nanmin(values, axis=0), np.nanmax(values, axis=0)
    return np.nan_to_num((values - low) / np.where(high > low, high - low, 1), nan=-1.0)
