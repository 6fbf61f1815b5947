"""Intervals and paired tests against scipy, by their defining equations, in simulations, and at their edges."""

import math

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binomtest, norm, ttest_1samp
from scipy.stats import t as student

from sensorprivacy.game.units import difference, few_units, share, wilson, wilson_bounds, with_intervals


@pytest.mark.parametrize(("successes", "trials"), [(0, 1), (1, 1), (0, 20), (3, 20), (511, 1023), (7, 100_000)])
@pytest.mark.parametrize("confidence", [0.5, 0.9, 0.95, 0.999])
def test_equals_scipy(successes, trials, confidence):
    theirs = binomtest(successes, trials).proportion_ci(confidence, method="wilson")
    assert wilson(successes, trials, confidence) == pytest.approx((theirs.low, theirs.high), abs=1e-12)


@given(st.integers(1, 10**6), st.floats(0, 1), st.floats(0.5, 0.999))
def test_bounds_solve_the_score_equation(trials, share, confidence):
    """Each bound p satisfies |share - p| = z sqrt(p (1 - p) / n), also for fractional successes."""
    low, high = wilson(share * trials, trials, confidence)
    z = norm.ppf((1 + confidence) / 2)
    assert 0 <= low <= share + 1e-12
    assert share - 1e-12 <= high <= 1
    for p in (low, high):
        # squared, so that the square root does not blow up rounding where p is next to 0 or 1
        assert math.isclose((share - p) ** 2 * trials, z**2 * p * (1 - p), abs_tol=1e-9)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((1, 0), "trials=0"),
        ((-1, 5), "successes=-1"),
        ((6, 5), "successes=6"),
        ((float("nan"), 5), "successes=nan"),
        ((1, 5, 1.0), "confidence=1.0"),
        ((1, 5, 0.0), "confidence=0.0"),
        ((1, float("inf")), "trials=inf"),
    ],
)
def test_refuses(arguments, message):
    with pytest.raises(ValueError, match=message):
        wilson(*arguments)


def test_a_table_gets_the_interval_of_each_share():
    table = pd.DataFrame({"n_features": [3], "accuracy": [0.8], "identifiability": [0.2]})
    wide = with_intervals(table, 10)
    assert list(wide) == [
        "n_features",
        *("accuracy", "accuracy_low", "accuracy_high"),
        *("identifiability", "identifiability_low", "identifiability_high"),
    ]
    assert (wide.loc[0, "accuracy_low"], wide.loc[0, "accuracy_high"]) == wilson(8, 10)
    assert (wide.loc[0, "identifiability_low"], wide.loc[0, "identifiability_high"]) == wilson(2, 10)
    assert list(table) == ["n_features", "accuracy", "identifiability"]


def clustered(generator, rate, correlation, clusters, rows=30):
    """Return rows of clusters whose rates follow a beta distribution, and the cluster of each row."""
    strength = (1 - correlation) / correlation if correlation else 0.0
    rates = generator.beta(rate * strength, (1 - rate) * strength, clusters) if correlation else np.full(clusters, rate)
    codes = np.repeat(np.arange(clusters), rows)
    return generator.random(clusters * rows) < rates[codes], codes


@pytest.mark.parametrize("correlation", [0.0, 0.1, 0.3, 0.5])
@pytest.mark.parametrize("clusters", [12, 24, 60])
def test_clustered_intervals_cover_the_rate(clusters, correlation):
    """The review found 37 % coverage for 60 recordings of 30 rows when rows counted as independent."""
    generator = np.random.default_rng(7)
    trials, covered = 1000, 0
    for _ in range(trials):
        success, codes = clustered(generator, 0.5, correlation, clusters)
        found = share(success, codes, unit="groups")
        covered += found.low <= 0.5 <= found.high
    assert 0.93 - 0.014 <= covered / trials <= 0.97 + 0.014  # two standard errors of a simulation of 1,000 trials


def test_rows_that_count_as_independent_cover_too_rarely():
    generator = np.random.default_rng(7)
    covered = 0
    for _ in range(300):
        success, _ = clustered(generator, 0.5, 0.3, 60)
        found = share(success)
        covered += found.low <= 0.5 <= found.high
    assert covered / 300 < 0.6


def test_rows_as_clusters_nearly_equal_independent_rows():
    success = np.arange(5000) % 3 == 0
    alone, each = share(success), share(success, np.arange(5000))
    assert (alone.low, alone.high) == pytest.approx(wilson(int(success.sum()), 5000))
    assert (each.low, each.high) == pytest.approx((alone.low, alone.high), abs=1e-5)


def test_equal_clusters_count_as_one_trial_each():
    """Five people, all recognized: 5 of 5, not thousands of rows."""
    found = share(np.ones(5000), np.repeat(np.arange(5), 1000), unit="people")
    low, high = wilson_bounds(1.0, 5, student.ppf(0.975, 4))
    assert (found.low, found.high, found.size) == (low, high, "n = 5 people")
    assert found.low < 0.566  # Wilson's interval for 5 of 5, which the normal quantile gives


@given(st.lists(st.tuples(st.booleans(), st.integers(0, 8)), min_size=1, max_size=60))
def test_bounds_hold_the_share(rows):
    success, codes = (np.array(part) for part in zip(*rows, strict=True))
    found = share(success, codes, unit="groups")
    assert 0 <= found.low <= found.score <= found.high <= 1
    assert found.n == len(set(codes.tolist()))


@pytest.mark.parametrize("wrong", [{"success": [2.0]}, {"success": [1.0], "confidence": 1.0}])
def test_wrong_arguments_are_refused(wrong):
    with pytest.raises(ValueError, match=r"a value is not|confidence"):
        share(np.array(wrong.pop("success")), **wrong)


def test_nothing_gives_no_number():
    assert np.isnan(share(np.array([])).score)
    assert np.isnan(difference(np.array([]), np.array([])).low)


def test_the_robust_variance_equals_statsmodels_formula():
    """The variance of a mean with clusters is that of a regression on a constant (CR1)."""
    generator = np.random.default_rng(0)
    success, codes = clustered(generator, 0.4, 0.2, 15)
    x = np.ones((len(success), 1))
    residual = success - success.mean()
    meat = sum((x[codes == c].T @ residual[codes == c]) ** 2 for c in range(15))
    variance = float(15 / 14 * meat.item() / len(success) ** 2)
    p = success.mean()
    assert share(success, codes).effective == pytest.approx(p * (1 - p) / variance)


def test_paired_differences_equal_scipys_tests():
    generator = np.random.default_rng(3)
    first, second = generator.random(200) < 0.7, generator.random(200) < 0.6
    found = difference(first, second)
    gains, losses = int((first & ~second).sum()), int((second & ~first).sum())
    assert found.p == binomtest(gains, gains + losses).pvalue
    means = (first.astype(float) - second).reshape(20, 10).mean(axis=1)
    clustered_ = difference(first, second, np.repeat(np.arange(20), 10), unit="recordings")
    theirs = ttest_1samp(means, 0)
    assert clustered_.p == pytest.approx(theirs.pvalue)
    assert (clustered_.low, clustered_.high) == pytest.approx(tuple(theirs.confidence_interval(0.95)))


def test_a_paired_difference_is_narrower_than_two_intervals():
    generator = np.random.default_rng(5)
    hard = generator.random(2000) < 0.5
    first, second = hard | (generator.random(2000) < 0.05), hard
    found, one, other = difference(first, second), share(first), share(second)
    assert found.low > 0
    assert one.low < other.high  # the two intervals overlap


def test_one_cluster_decides_nothing():
    found = difference(np.ones(9), np.zeros(9), np.zeros(9), unit="people")
    assert (found.low, found.high, found.p) == (-1, 1, 1)
    assert (share(np.ones(9), np.zeros(9)).low, share(np.ones(9), np.zeros(9)).high) == (0, 1)


def test_a_share_that_a_lazy_search_did_not_measure_has_no_interval():
    """REVIEW A9: a lazy search leaves identifiability out where accuracy excludes the subset."""
    wide = with_intervals(pd.DataFrame({"accuracy": [0.8, 0.6], "identifiability": [0.2, np.nan]}), 10)
    assert wide["identifiability_low"].isna().tolist() == [False, True]
    assert wide["identifiability_high"].isna().tolist() == [False, True]
    assert wide["accuracy_low"].notna().all()


def test_one_sentence_warns_of_few_units_and_rows_are_never_few():
    assert few_units(["9 recordings", "24 people", "9 recordings"]) == (
        "only 9 recordings: intervals from fewer than 12 are unreliable"
    )
    assert few_units(["1,200 recordings", "3 rows", "12 people"]) == ""


def test_the_interval_of_five_people_of_five_is_wide():
    """REVIEW B5: with recordings as units, the same result had an interval from .935."""
    right, people = np.ones(75), np.repeat(np.arange(5), 15)
    found = share(right, people, unit="people")
    assert found.low < 0.6
    assert (found.n, found.unit) == (5, "people")
