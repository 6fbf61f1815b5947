"""Where one more result would lie: the prediction interval of trainings, or of draws of split and models."""

import math
from collections.abc import Iterable

import numpy as np
from scipy.special import stdtrit

FEWEST = 5
"""The fewest values of a prediction interval. From three, it is so wide that it excludes almost nothing."""


def prediction_interval(values: Iterable[float]) -> tuple[float, float]:
    """Return the interval in which one more value of the same kind lies with a probability of 95 %.

    A paper prints the result of one training. It agrees with ours if it could be one more of our trainings. So the
    interval is for a single value, not for the mean, which would become narrower with each further training.

    Parameters
    ----------
    values : iterable of float
        Independent values, such as one accuracy for each training. They should be about normally distributed.

    Returns
    -------
    tuple of float
        Lower and upper end: mean -/+ t(n - 1) * s * sqrt(1 + 1/n), with the standard deviation s. Both are NaN for
        fewer than `FEWEST` values.

    Raises
    ------
    ValueError
        If a value is missing or infinite.

    Examples
    --------
    >>> low, high = prediction_interval([0.20, 0.22, 0.24, 0.26, 0.28])
    >>> round(low, 3), round(high, 3)
    (0.144, 0.336)
    """
    sample = np.asarray(list(values), dtype=float)
    if sample.size < FEWEST:
        return math.nan, math.nan
    if not np.isfinite(sample).all():
        raise ValueError("a value is missing or infinite: a prediction interval needs all of its trainings")
    quantile = float(stdtrit(sample.size - 1, 0.975))
    half = quantile * float(sample.std(ddof=1)) * math.sqrt(1 + 1 / sample.size)
    return float(sample.mean()) - half, float(sample.mean()) + half


def with_prediction(
    name: str, value: float, sample: Iterable[float], unit: str, limits: tuple[float, float] = (-math.inf, math.inf)
) -> dict[str, object]:
    """Return a value and its prediction interval as cells of a table's row.

    Parameters
    ----------
    name : str
        The column of the value.
    value : float
        Our value.
    sample : iterable of float
        The results of all trainings or draws. Fewer than `FEWEST` give no interval.
    unit : str
        What they are, in the plural.
    limits : tuple of float, optional
        The least and the greatest number that the value can be; the interval ends there.
    """
    sample = list(sample)
    low, high = prediction_interval(sample)
    low, high = max(low, limits[0]), min(high, limits[1])  # in this order, a missing end stays missing
    return {name: value, f"{name}_low": low, f"{name}_high": high, f"{name}_unit": unit, f"{name}_n": len(sample)}
