"""Sources of noise: secure flags against their probability, seeded noise against the secure distributions."""

import math
import subprocess
import sys

import numpy as np
import opendp.prelude as dp
import pytest
from scipy.stats import binomtest

from sensorprivacy.mechanisms import SecureNoise, SeededNoise, laplace, randomized_response

RARE = 1e-9
SECURE = SecureNoise()
N = 20_000


@pytest.mark.parametrize("probability", [0.5, 0.25, 0.01])
def test_flags_are_true_with_the_given_probability(probability):
    flags = SECURE.flags(N + 3, probability)
    assert len(flags) == N + 3
    assert binomtest(int(flags.sum()), N + 3, probability).pvalue > RARE


def test_seeded_noise_has_the_secure_distributions():
    noise = laplace(np.zeros(N), 0.0, 1.0, 1.0, SeededNoise(1))
    within = dp.laplacian_scale_to_accuracy(scale=1.0, alpha=0.05)
    assert binomtest(int((np.abs(noise) > within).sum()), N, 0.05).pvalue > RARE
    same = (randomized_response(np.zeros(N, dtype=int), 4, 1.0, SeededNoise(2)) == 0).sum()
    assert binomtest(int(same), N, math.e / (math.e + 3)).pvalue > RARE


def test_seeded_noise_is_repeatable():
    draws = [randomized_response(np.zeros(50, dtype=int), 4, 1.0, SeededNoise(7)).tolist() for _ in range(2)]
    assert draws[0] == draws[1]


def test_noise_loads_no_library_of_data_frames():
    """OpenDP's prelude imports polars and scikit-learn, and every kernel would wait for that."""
    code = "import sys, sensorprivacy.mechanisms; print({'polars', 'sklearn'} & set(sys.modules))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "set()"
