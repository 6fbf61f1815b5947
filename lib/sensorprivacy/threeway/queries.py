"""Queries of Fig. 1, answered on the original and on the noisy column, to measure how far noise moves the answer."""

from typing import Literal, get_args

import numpy as np
import pandas as pd

from sensorprivacy.threeway.domains import Domain, Numbers, domain_of

Query = Literal["record", "mean", "count", "histogram"]

BINS = 10


def check_query(query: str) -> None:
    """Raise ValueError unless `query` is a known query."""
    if query not in get_args(Query):
        raise ValueError(f"query={query!r}: choose one of {', '.join(get_args(Query))}")


def answer(query: Query, values: np.ndarray, domain: Domain) -> np.ndarray:
    """Return the answer of a query on one column.

    Parameters
    ----------
    query : {"record", "mean", "count", "histogram"}
        - "record": all n cells.
        - "mean": the mean of the cells that are not missing. For categories, the share of each.
        - "count": the number of cells above the middle of the bounds. For categories, the number in the first one.
        - "histogram": the number of cells in each of ten equal bins between the bounds, and the number of missing
          cells. Cells outside the bounds count in the nearest bin. For categories, the number in each.
    values : numpy.ndarray
        n encoded cells: numbers with NaN for missing, or category codes.
    domain : Numbers or Categories
        The column's domain.

    Returns
    -------
    numpy.ndarray
        The answer as a vector.
    """
    check_query(query)
    if query == "record":
        return values.astype(float)
    if not isinstance(domain, Numbers):
        counts = np.bincount(values, minlength=domain.k).astype(float)
        return {"mean": counts / len(values), "count": counts[:1], "histogram": counts}[query]
    cells = values.astype(float)
    present = cells[~np.isnan(cells)]
    if query == "mean":
        return np.array([present.mean() if len(present) else np.nan])
    if query == "count":
        return np.array([float((present > (domain.low + domain.high) / 2).sum())])
    above = np.clip(present, domain.low, domain.high) - domain.low
    bins = np.minimum(above * (BINS / (domain.width or 1)), BINS - 1).astype(int)
    return np.append(np.bincount(bins, minlength=BINS), len(cells) - len(present)).astype(float)


def change(query: Query, original: np.ndarray, synthetic: np.ndarray, domain: Domain) -> float:
    """Return the privacy level of a noisy column: how far the answer of a query moved, from 0 to 1.

    Parameters
    ----------
    query : {"record", "mean", "count", "histogram"}
        The query, see :func:`answer`.
    original, synthetic : numpy.ndarray
        n encoded cells each, before and after noise.
    domain : Numbers or Categories
        The column's domain.

    Returns
    -------
    float
        From 0 (the answer did not move) to 1:

        - record: the mean over rows of |x - x'| / (high - low). A row counts at most 1, and exactly 1 if only one of
          its two cells is missing. For categories, the share of changed rows over 1 - 1/k, which is the share that a
          random redraw of all rows changes.
        - mean: |difference| / (high - low). For categories, half the sum of the differences of the shares.
        - count: |difference| / n.
        - histogram: half the sum of the differences of the counts, over n.

        This number expresses the paper's notion of a privacy level. It measures how answers change and guarantees
        nothing; epsilon is the guarantee.

    References
    ----------
    Ali et al. (2022), section 3, "Privacy Measure".
    """
    ours, theirs = answer(query, original, domain), answer(query, synthetic, domain)
    if query == "record":
        return _record_change(ours, theirs, domain)
    moved = float(np.abs(ours - theirs).sum())
    if query == "mean" and isinstance(domain, Numbers):
        return min(1.0, moved / domain.width) if domain.width else float(moved > 0)
    if query == "mean":
        return min(1.0, moved / 2)
    return moved / len(original) / (2 if query == "histogram" else 1)


def _record_change(original: np.ndarray, synthetic: np.ndarray, domain: Domain) -> float:
    if not isinstance(domain, Numbers):
        changed = float((original != synthetic).mean())
        return min(1.0, changed / (1 - 1 / domain.k)) if domain.k > 1 else 0.0
    gaps = np.abs(original - synthetic)
    share = np.minimum(1.0, gaps / domain.width) if domain.width else (gaps > 0).astype(float)
    # a gap is NaN where a cell is missing: one missing cell is a full change, two are no change
    one_missing = np.isnan(original) ^ np.isnan(synthetic)
    return float(np.where(np.isnan(gaps), one_missing, share).mean())


def sensitivity(query: Query, column: pd.Series) -> float:
    """Return the paper's sensitivity of a query: the largest change of its answer when one row is left out.

    This is the *local* sensitivity, which depends on the data. Noise scaled to it is not differentially private,
    because the scale itself reveals something about the data (Nissim, Raskhodnikova, Smith, STOC 2007). Publications
    use the width of the column's domain instead, which no cell can exceed.

    Parameters
    ----------
    query : {"record", "mean", "count", "histogram"}
        The query, see :func:`answer`.
    column : pandas.Series
        n >= 2 cells.

    Returns
    -------
    float
        The maximum over rows i of the L1 distance between the answers with and without row i. For "record", a row left
        out counts as 0 (for categories, as one record fewer).

    Raises
    ------
    ValueError
        If fewer than two cells are available.

    References
    ----------
    Ali et al. (2022), Eq. (2).

    Examples
    --------
    >>> sensitivity("count", pd.Series([1, 2, 3, 4]))
    1.0
    >>> sensitivity("mean", pd.Series([0., 0., 0., 4.]))
    1.0
    """
    check_query(query)
    domain = domain_of(column)
    values = domain.encode(column)
    n = len(values)
    if n < 2:
        raise ValueError(f"{n} row(s): leaving one out needs at least two")
    if query == "histogram":
        return 1.0
    if not isinstance(domain, Numbers):
        if query == "mean":
            counts = np.bincount(values)
            return 2 * float(n - counts[counts > 0].min()) / (n * (n - 1))
        return 1.0 if query == "record" else float((values == 0).any())
    if query == "count":
        return float(answer("count", values, domain)[0] > 0)
    cells = values[~np.isnan(values)].astype(float)
    if query == "record":
        return float(np.abs(cells).max())
    if len(cells) < 2:
        raise ValueError(f"{len(cells)} cell(s) not missing: leaving one out of a mean needs at least two")
    return float(np.abs(cells - cells.mean()).max() / (len(cells) - 1))
