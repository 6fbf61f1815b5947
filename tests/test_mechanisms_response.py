"""Randomized response against OpenDP's mechanism and against theory by exact tests.

Secure noise cannot be seeded, so these tests draw new noise every time. Each test fails at a significance of one in a
billion, so a correct mechanism fails by chance less than once in a hundred thousand test runs.
"""

import math

import numpy as np
import opendp.prelude as dp
import pytest
from scipy.stats import binomtest, chisquare

from sensorprivacy.mechanisms import SecureNoise, randomized_response, response_probabilities

RARE = 1e-9
SECURE = SecureNoise()
N = 20_000


@pytest.mark.parametrize("k", [2, 3, 7, 500])
@pytest.mark.parametrize("epsilon", [0.05, 1.0, 4.0])
def test_randomized_response_against_theory_and_opendp(k, epsilon):
    codes = np.arange(N) % k
    noisy = randomized_response(codes, k, epsilon, SECURE)
    true_share = math.exp(epsilon) / (math.exp(epsilon) + k - 1)
    assert binomtest(int((noisy == codes).sum()), N, true_share).pvalue > RARE
    # the distribution is that of OpenDP's mechanism, and OpenDP certifies our probability of the true category
    kept, redrawn = response_probabilities(k, epsilon)
    assert kept + redrawn == pytest.approx(1)
    assert kept + redrawn / k == pytest.approx(true_share)
    claimed = dp.m.make_randomized_response(list(range(k)), kept + redrawn / k).map(1)
    assert claimed == pytest.approx(epsilon, rel=1e-9)
    # exact for the probability that is drawn: the redrawn share, or one minus the kept share
    drawn = redrawn if redrawn <= 0.5 else 1 - kept
    assert math.log1p(k * (1 - drawn) / drawn) <= epsilon * (1 + 1e-15)


def test_false_categories_are_uniform():
    noisy = randomized_response(np.zeros(N, dtype=int), 8, 0.5, SECURE)
    false = np.bincount(noisy, minlength=8)[1:]
    assert chisquare(false).pvalue > RARE


def test_one_category_has_nothing_to_hide():
    assert randomized_response(np.zeros(3, dtype=int), 1, 1.0, SECURE).tolist() == [0, 0, 0]


def test_the_largest_epsilon_still_draws():
    codes = np.arange(1000) % 3
    assert (randomized_response(codes, 3, 100.0, SECURE) == codes).all()


@pytest.mark.parametrize("epsilon", [0, -1, math.nan, math.inf, 101])
def test_refuses_epsilon(epsilon):
    with pytest.raises(ValueError, match="epsilon="):
        randomized_response(np.zeros(2, dtype=int), 2, epsilon, SECURE)
