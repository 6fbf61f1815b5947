"""Wilson's interval against scipy's, by its defining equation, and at its edges."""

import math

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binomtest, norm

from sensorprivacy.game.intervals import wilson, with_intervals


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
