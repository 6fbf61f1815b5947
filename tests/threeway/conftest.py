"""Seeded noise for this room's tests. Not private: whoever knows the seed can take the noise off again."""

import numpy as np
import pytest


class SeededNoiser:
    """Draws the same laws as the secure noiser, from a seeded generator."""

    def __init__(self, seed=0):
        self.rng = np.random.default_rng(seed)

    def laplace(self, values, scale):
        noise = self.rng.laplace(0, scale, len(values))
        return values + (np.rint(noise).astype(np.int64) if values.dtype.kind == "i" else noise)

    def flags(self, n, probability):
        return self.rng.random(n) < probability

    def integers(self, n, k):
        return self.rng.integers(k, size=n)


class ForgetfulNoiser(SeededNoiser):
    """Starts its generator anew at every draw, so that the same input always gets the same noise."""

    def __init__(self, seed=0):
        self.seed = seed

    @property
    def rng(self):
        return np.random.default_rng(self.seed)


@pytest.fixture
def seeded():
    return SeededNoiser


@pytest.fixture
def forgetful():
    return ForgetfulNoiser
