"""The query of Fig. 1: asked of the original and of the noised column, to see how far noise has moved the answer."""

from typing import Literal, get_args

import numpy as np
import pandas as pd

from sensorprivacy.threeway.domains import Domain, Numbers, domain_of

Query = Literal["record", "mean", "count", "histogram"]

BINS = 10


def check_query(query: str) -> None:
    """Raise ValueError unless `query` is one of the known ones."""
    if query not in get_args(Query):
        raise ValueError(f"query={query!r}: choose one of {', '.join(get_args(Query))}")


def answer(query: Query, values: np.ndarray, domain: Domain) -> np.ndarray:
    """Return the answer of a query on one column.

    Parameters
    ----------
    query : {"record", "mean", "count", "histogram"}
        - "record": the cells themselves, all n of them.
        - "mean": the mean of the cells that are not missing; of categories, the share of each.
        - "count": how many cells lie above the middle of the bounds; of categories, how many hold the first.
        - "histogram": how many cells fall into each of ten equal bins between the bounds (those outside into the
          nearest), and how many are missing; of categories, how many hold each.
    values : numpy.ndarray
        n cells as the domain encodes them: numbers with missing as NaN, or codes.
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
    inside = np.clip(present, domain.low, domain.high)
    width = domain.width
    places = (
        np.minimum((inside - domain.low) * (BINS / width), BINS - 1).astype(int) if width else inside.astype(int) * 0
    )
    return np.append(np.bincount(places, minlength=BINS), len(cells) - len(present)).astype(float)


def change(query: Query, original: np.ndarray, synthetic: np.ndarray, domain: Domain) -> float:
    """Return the privacy level of a noised column: how far the answer has moved, from 0 to 1.

    Parameters
    ----------
    query : {"record", "mean", "count", "histogram"}
        The query, see :func:`answer`.
    original, synthetic : numpy.ndarray
        n cells each, encoded.
    domain : Numbers or Categories
        The column's domain.

    Returns
    -------
    float
        0 where nothing moved, 1 at most:

        - record: mean over rows of |x - x'| / (high - low), at most 1 a row, and 1 where only one of the two is
          missing; of categories, the share of rows that changed over 1 - 1/k, which is what drawing them all anew
          changes.
        - mean: |difference| / (high - low); of categories, half the sum of the shares' differences.
        - count: |difference| / n.
        - histogram: half the sum of the counts' differences, over n.

        This is the paper's notion of a privacy level, made a number. It measures change of answers and is no
        guarantee: that is epsilon.

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
    width = domain.width
    both_missing = np.isnan(original) & np.isnan(synthetic)
    gaps = np.abs(original - synthetic)
    share = np.minimum(1.0, gaps / width) if width else (gaps > 0).astype(float)
    share = np.where(np.isnan(original) ^ np.isnan(synthetic), 1.0, np.where(both_missing, 0.0, share))
    return float(share.mean())


def sensitivity(query: Query, column: pd.Series, domain: Domain | None = None) -> float:
    """Return the sensitivity of a query as the paper states it: the most that leaving one row out changes its answer.

    This is the *local* sensitivity of the data at hand. Noise scaled to it is not differentially private, because the
    scale itself depends on the data (Nissim, Raskhodnikova, Smith, STOC 2007); the mechanisms here take
    :func:`global_sensitivity` of the cell instead.

    Parameters
    ----------
    query : {"record", "mean", "count", "histogram"}
        The query, see :func:`answer`.
    column : pandas.Series
        n >= 2 cells.
    domain : Numbers or Categories, optional
        The column's domain, read from the column if not given.

    Returns
    -------
    float
        max over rows i of the L1 distance between the answers with and without row i. For "record" a row left out
        counts as 0 (a category as one record fewer).

    Raises
    ------
    ValueError
        If there are fewer than two cells to leave one out of.

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
    domain = domain_of(column) if domain is None else domain
    values = domain.encode(column)
    n = len(values)
    if n < 2:
        raise ValueError(f"{n} row(s): leaving one out needs at least two")
    if not isinstance(domain, Numbers):
        if query == "mean":
            counts = np.bincount(values)
            return 2 * float(n - counts[counts > 0].min()) / (n * (n - 1))
        return 1.0 if query != "count" else float((values == 0).any())
    if query in ("count", "histogram"):
        return 1.0 if query == "histogram" else float(answer("count", values, domain)[0] > 0)
    cells = values[~np.isnan(values)].astype(float)
    if query == "record":
        return float(np.abs(cells).max())
    if len(cells) < 2:
        raise ValueError(f"{len(cells)} cell(s) not missing: leaving one out of a mean needs at least two")
    return float(np.abs(cells - cells.mean()).max() / (len(cells) - 1))


def global_sensitivity(query: Query, domain: Domain, n: int) -> float:
    """Return the most that one row's cell, replaced by any other of its domain, can change a query's answer.

    Parameters
    ----------
    query : {"record", "mean", "count", "histogram"}
        The query, see :func:`answer`. "record" is what the noise of a publication is scaled to.
    domain : Numbers or Categories
        The column's domain.
    n : int
        Number of rows, all with a cell that is not missing.

    Returns
    -------
    float
        L1 distance, whatever the data.
    """
    check_query(query)
    if domain.width == 0:
        return 0.0
    if isinstance(domain, Numbers):
        return {"record": domain.width, "mean": domain.width / n, "count": 1.0, "histogram": 2.0}[query]
    return {"record": 1.0, "mean": 2 / n, "count": 1.0, "histogram": 2.0}[query]
