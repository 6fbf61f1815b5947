"""Utility, stability, suitability, and the appraiser against measuring each division by itself."""

import math

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import entropy

from sensorprivacy.threeway import Appraiser, Sizes, entropies, evaluate, stability, suitability, trisect
from sensorprivacy.threeway.division import encode
from sensorprivacy.threeway.measures import joint_entropies


def table(seed, n=60, d=5):
    """Columns of rising numbers of values, some cells missing."""
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame({f"c{k}": rng.integers(0, 1 + 2**k, n).astype(float) for k in range(d)})
    return frame.mask(rng.random(frame.shape) < 0.05).assign(c0=1)


def by_pandas(frame, columns):
    """Joint entropy the plain way."""
    if len(columns) == 0:
        return 0.0
    return entropy(frame.groupby(list(columns), dropna=False).size())


def utility_as_printed(frame, division):
    """Mean entropy of the published attributes over the mean entropy of all."""
    every = entropies(frame)
    kept = every[list(division.kept)]
    return kept.mean() / every.mean() if len(kept) else 0.0


def utility_as_stated(frame, division):
    """Joint entropy of the published attributes over the joint entropy of all."""
    return by_pandas(frame, division.kept) / by_pandas(frame, frame.columns)


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 10**6), st.integers(1, 80))
def test_joint_entropy_equals_scipy_and_bounds_its_marginals(seed, n):
    frame = table(seed, n).fillna(-1)
    joints = joint_entropies(list(encode(frame)))
    for k, value in enumerate(joints):
        assert value == pytest.approx(by_pandas(frame, frame.columns[:k]), abs=1e-12)
    joint, single = joints[-1], entropies(frame)
    assert single.max() - 1e-12 <= joint <= min(single.sum(), math.log(n)) + 1e-12


def test_joint_entropy_takes_missing_as_one_value():
    frame = pd.DataFrame({"a": [1, 1, None, None], "b": ["x", "x", "x", None]})
    assert joint_entropies(list(encode(frame)))[-1] == pytest.approx(entropy([2, 1, 1]))


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 10**6), st.floats(0, 1), st.floats(0, 1))
def test_appraiser_equals_measuring_each_division(seed, one, other):
    """One pass over the rows gives the same as one pass per division."""
    frame, alpha, beta = table(seed), max(one, other), min(one, other)
    division = trisect(evaluate(entropies(frame)), alpha, beta)
    printed, stated = Appraiser(frame).at(alpha, beta), Appraiser(frame, "as_stated", None).at(alpha, beta)
    assert printed.division == stated.division == division
    assert printed.utility == pytest.approx(utility_as_printed(frame, division), abs=1e-12)
    assert stated.utility == pytest.approx(utility_as_stated(frame, division), abs=1e-12)
    assert printed.stability == pytest.approx(stability(division.sizes), abs=1e-12)
    assert stated.suitability == pytest.approx(suitability(stated.utility, stated.stability, None))
    assert printed.suitability == suitability(printed.utility, printed.stability, 2)


def test_appraiser_table_and_restatement():
    frame = table(1)
    appraiser = Appraiser(frame)
    thresholds = [(0.5, 0.5), (0.9, 0.1), (1, 0)]
    rows = appraiser.table(thresholds)
    assert list(rows.columns) == [
        "alpha", "beta", "sensitive", "non_sensitive", "ambiguous", "utility", "stability", "suitability",
    ]  # fmt: skip
    for row, (alpha, beta) in zip(rows.itertuples(index=False), thresholds, strict=True):
        found = appraiser.at(alpha, beta)
        assert tuple(row) == (alpha, beta, *found.division.sizes, found.utility, found.stability, found.suitability)
    fresh = Appraiser(frame, "as_stated", None).table(thresholds)
    pd.testing.assert_frame_equal(appraiser.restated("as_stated", None).table(thresholds), fresh)
    pd.testing.assert_frame_equal(appraiser.table(thresholds), rows)


def test_utility_grows_with_alpha_and_stays_below_one_without_the_highest_entropy():
    for utility in ("as_printed", "as_stated"):
        rows = Appraiser(table(2), utility).table([(a / 20, 0) for a in range(21)])
        assert rows["utility"].is_monotonic_increasing
        assert rows["utility"].iloc[-1] < 1


@pytest.mark.parametrize(
    ("sizes", "value"),
    [((1, 1, 10), 10 / 132), ((0, 3, 3), 0.25), ((4, 8, 0), 0), ((4, 0, 8), 0), ((5, 0, 0), 0), ((2, 5, 5), 25 / 120)],
)
def test_stability_by_hand(sizes, value):
    assert stability(Sizes(*sizes)) == pytest.approx(value)


@given(st.integers(0, 30), st.integers(0, 30), st.integers(1, 30))
def test_stability_peaks_at_equal_groups(sensitive, quiet, between):
    value = stability(Sizes(sensitive, quiet, between))
    assert 0 <= value <= 0.25
    total = quiet + between
    assert value <= stability(Sizes(sensitive, total // 2, total - total // 2)) + 1e-15


@pytest.mark.parametrize(
    ("utility", "stable", "decimals", "value"),
    [
        (0.9, 0.08, 2, 0.1469),
        (0.7247, 0.2083, 2, 0.3252),
        (0.7247, 0.2083, None, 0.3236),
        (0.004, 0.5, 2, 0),
        (0.5, 0, 2, 0),
        (0.84, 0.175, 2, 0.2965),
    ],
)
def test_suitability_by_hand(utility, stable, decimals, value):
    assert suitability(utility, stable, decimals) == pytest.approx(value, abs=5e-5)


def test_refuses():
    with pytest.raises(ValueError, match="utility=-1"):
        suitability(-1, 0.5)
    with pytest.raises(ValueError, match="utility='best'"):
        Appraiser(table(0), "best")
    with pytest.raises(ValueError, match=r"decimals=1.5"):
        Appraiser(table(0), decimals=1.5)
    with pytest.raises(ValueError, match="n_features=1"):
        Appraiser(pd.DataFrame({"a": [1, 2]}))
    with pytest.raises(ValueError, match="all 2 attributes"):
        Appraiser(pd.DataFrame({"a": [1, 2], "b": [4, 3]}))
    with pytest.raises(ValueError, match=r"alpha=0\.2 < beta=0\.4"):
        Appraiser(table(0)).table([(0.2, 0.4)])
