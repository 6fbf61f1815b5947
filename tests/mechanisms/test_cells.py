"""The mechanisms against OpenDP's statements of accuracy and privacy, and against theory by exact tests.

Secure noise cannot be seeded, so these tests draw afresh every time. Each refuses at a significance of one in a
billion, which a right mechanism meets by chance less than once in a hundred thousand full test runs.
"""

import math

import numpy as np
import opendp.prelude as dp
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import binomtest, chisquare

from sensorprivacy.mechanisms.cells import (
    SecureNoiser,
    keep_share,
    laplace,
    laplace_measurement,
    laplace_scale,
    randomized_response,
)

RARE = 1e-9
SECURE = SecureNoiser()
N = 20_000


@pytest.mark.parametrize("epsilon", [0.1, 1.0, 5.0])
@pytest.mark.parametrize("tail", [0.05, 0.5])
def test_float_noise_has_the_size_opendp_states(epsilon, tail):
    low, high = -3.0, 7.0
    values = np.linspace(low, high, N)
    noise = laplace(values, low, high, epsilon, SECURE) - values
    within = dp.laplacian_scale_to_accuracy(scale=(high - low) / epsilon, alpha=tail)
    assert binomtest(int((np.abs(noise) > within).sum()), N, tail).pvalue > RARE
    assert binomtest(int((noise > 0).sum()), N, 0.5).pvalue > RARE


@pytest.mark.parametrize("epsilon", [0.5, 3.0])
def test_integer_noise_follows_the_discrete_law(epsilon):
    low, high = 0, 9
    values = np.arange(N) % 10
    noisy = laplace(values, low, high, epsilon, SECURE)
    assert noisy.dtype == np.int64
    scale, noise = (high - low) / epsilon, np.abs(noisy - values)
    for reach in (1, 3, math.ceil(scale)):
        tail = 2 * math.exp(-reach / scale) / (1 + math.exp(-1 / scale))
        assert binomtest(int((noise >= reach).sum()), N, tail).pvalue > RARE
    # OpenDP's accuracy is the least reach whose tail it vouches for; ours must keep to it
    within = dp.discrete_laplacian_scale_to_accuracy(scale=scale, alpha=0.05)
    assert binomtest(int((noise >= within).sum()), N, 0.05, alternative="greater").pvalue > RARE


@settings(max_examples=60, deadline=None)
@given(st.floats(1e-3, 100), st.floats(-1e6, 1e6), st.floats(1e-3, 1e6), st.booleans())
def test_scale_is_certified_and_not_wasteful(epsilon, low, width, integer):
    high = low + width
    if integer:
        low, high = math.floor(low), math.ceil(high)
    scale = laplace_scale(low, high, epsilon, integer=integer)
    assert laplace_measurement(scale, integer=integer).map(high - low) <= epsilon
    assert scale == pytest.approx((high - low) / epsilon, rel=1e-13)


def test_values_are_clipped_before_noise():
    """However far outside, a cell is at most as far from the middle as a bound, so noise hides it as well."""
    far = np.array([-1e9, 1e9])
    assert np.abs(laplace(far, 0.0, 1.0, 100.0, SECURE) - [0, 1]).max() < 1
    assert laplace(np.array([5, 9]), 7, 7, 1.0, SECURE).tolist() == [7, 7]


def test_more_cells_than_a_chunk(monkeypatch):
    monkeypatch.setattr("sensorprivacy.mechanisms.cells._CHUNK", 100)
    values = np.zeros(1001)
    noisy = laplace(values, 0.0, 1.0, 1.0, SECURE)
    assert len(noisy) == 1001
    assert (noisy != 0).all()


@pytest.mark.parametrize("k", [2, 3, 7, 500])
@pytest.mark.parametrize("epsilon", [0.05, 1.0, 4.0])
def test_randomized_response_against_theory_and_opendp(k, epsilon):
    codes = np.arange(N) % k
    noisy = randomized_response(codes, k, epsilon, SECURE)
    truth = math.exp(epsilon) / (math.exp(epsilon) + k - 1)
    assert binomtest(int((noisy == codes).sum()), N, truth).pvalue > RARE
    # the law is OpenDP's own mechanism's, and OpenDP certifies our probability of telling the truth
    kept, redrawn = keep_share(k, epsilon)
    assert kept + redrawn == pytest.approx(1)
    assert kept + redrawn / k == pytest.approx(truth)
    claimed = dp.m.make_randomized_response(list(range(k)), kept + redrawn / k).map(1)
    assert claimed == pytest.approx(epsilon, rel=1e-9)
    # exactly, in the two probabilities as drawn: the redrawn share is what the flags get, or one less the kept share
    drawn = redrawn if redrawn <= 0.5 else 1 - kept
    assert math.log1p(k * (1 - drawn) / drawn) <= epsilon * (1 + 1e-15)


def test_lies_are_uniform():
    noisy = randomized_response(np.zeros(N, dtype=int), 8, 0.5, SECURE)
    lies = np.bincount(noisy, minlength=8)[1:]
    assert chisquare(lies).pvalue > RARE


@pytest.mark.parametrize("probability", [0.5, 0.25, 0.01])
def test_flags_are_as_rare_as_asked(probability):
    flags = SECURE.flags(N + 3, probability)
    assert len(flags) == N + 3
    assert binomtest(int(flags.sum()), N + 3, probability).pvalue > RARE


def test_one_category_has_nothing_to_hide():
    assert randomized_response(np.zeros(3, dtype=int), 1, 1.0, SECURE).tolist() == [0, 0, 0]


def test_the_largest_epsilon_still_draws():
    codes = np.arange(1000) % 3
    assert (randomized_response(codes, 3, 100.0, SECURE) == codes).all()


@pytest.mark.parametrize("epsilon", [0, -1, math.nan, math.inf, 101])
def test_refuses_epsilon(epsilon):
    with pytest.raises(ValueError, match="epsilon="):
        laplace(np.zeros(2), 0.0, 1.0, epsilon, SECURE)
    with pytest.raises(ValueError, match="epsilon="):
        randomized_response(np.zeros(2, dtype=int), 2, epsilon, SECURE)


def test_the_seeded_double_draws_the_same_laws(seeded):
    """What the other tests of this room rest on."""
    noise = laplace(np.zeros(N), 0.0, 1.0, 1.0, seeded(1))
    within = dp.laplacian_scale_to_accuracy(scale=1.0, alpha=0.05)
    assert binomtest(int((np.abs(noise) > within).sum()), N, 0.05).pvalue > RARE
    same = (randomized_response(np.zeros(N, dtype=int), 4, 1.0, seeded(2)) == 0).sum()
    assert binomtest(int(same), N, math.e / (math.e + 3)).pvalue > RARE
