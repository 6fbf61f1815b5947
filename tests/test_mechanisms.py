"""The Laplace mechanism against OpenDP's statements of accuracy and privacy, and against theory by exact tests.

Secure noise cannot be seeded, so these tests draw new noise every time. Each test fails at a significance of one in a
billion, so a correct mechanism fails by chance less than once in a hundred thousand test runs.
"""

import math

import numpy as np
import opendp.prelude as dp
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import binomtest

from sensorprivacy.mechanisms import SecureNoise, laplace, laplace_measurement, laplace_scale

RARE = 1e-9
SECURE = SecureNoise()
N = 20_000


@pytest.mark.first(3)
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
    """A cell outside the bounds is moved to the nearest bound, so the noise hides it as well."""
    far = np.array([-1e9, 1e9])
    assert np.abs(laplace(far, 0.0, 1.0, 100.0, SECURE) - [0, 1]).max() < 1
    assert laplace(np.array([5, 9]), 7, 7, 1.0, SECURE).tolist() == [7, 7]


def test_more_cells_than_a_chunk(monkeypatch):
    monkeypatch.setattr("sensorprivacy.mechanisms._CHUNK", 100)
    values = np.zeros(1001)
    noisy = laplace(values, 0.0, 1.0, 1.0, SECURE)
    assert len(noisy) == 1001
    assert (noisy != 0).all()


@pytest.mark.parametrize("epsilon", [0, -1, math.nan, math.inf, 101])
def test_refuses_epsilon(epsilon):
    with pytest.raises(ValueError, match="epsilon="):
        laplace(np.zeros(2), 0.0, 1.0, epsilon, SECURE)


@pytest.mark.parametrize("bounds", [(0, math.inf), (-math.inf, 0), (math.nan, 1), (2, 1)])
def test_refuses_infinite_missing_and_reversed_bounds(bounds):
    with pytest.raises(ValueError, match="two finite numbers"):
        laplace(np.zeros(2), *bounds, 1.0, SECURE)


@pytest.mark.parametrize("cell", [0.0, 1.0])
def test_digits_of_small_outputs_do_not_reveal_the_cell(cell):
    """A floating-point sum near 0 is a multiple of 2^-53 if the cell was 1, but not if it was 0 (Mironov, 2012)."""
    noisy = laplace(np.full(N, cell), 0.0, 1.0, 1.0, SECURE)
    small = noisy[np.abs(noisy) < 2**-6]
    assert len(small) > 30
    assert np.mean(small * 2**53 == np.rint(small * 2**53)) < 0.5
