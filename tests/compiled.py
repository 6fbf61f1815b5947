"""Compile the shared forest, so that the workers of a test session find it in Numba's cache.

In a fresh clone, each worker would compile it anew, ten seconds of a processor each. ``make test`` runs this beside the
check of types.
"""

import numpy as np
from sklearn.ensemble import RandomForestClassifier

from sensorprivacy.minimize.engine_protocol import EngineData
from sensorprivacy.minimize.forest.coding import WIDE
from sensorprivacy.minimize.forest.engine import SharedEngine

if __name__ == "__main__":
    X = np.random.default_rng(0).normal(size=(200, WIDE))
    y = (X[:, 0] > 0).astype(int)
    engine = SharedEngine(EngineData(X, X, {"task": (y, y)}), RandomForestClassifier(2))
    engine.score([(0, 1), tuple(range(WIDE))], "task")  # nodes keep sorted lists, or sort what they try
