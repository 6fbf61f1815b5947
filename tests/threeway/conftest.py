"""Seeded noise for the tests of this package. It is not private: anyone who knows the seed can subtract the noise."""

import numpy as np
import pytest

from sensorprivacy.mechanisms import SeededNoise


class ForgetfulNoise(SeededNoise):
    """Restarts its generator at every draw, so that the same input always gets the same noise."""

    def __init__(self, seed=0):
        self.seed = seed

    @property
    def generator(self):
        return np.random.default_rng(self.seed)


@pytest.fixture
def seeded():
    return lambda seed=0: SeededNoise(seed)


@pytest.fixture
def forgetful():
    return ForgetfulNoise
