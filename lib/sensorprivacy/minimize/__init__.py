"""Strategy 1: publish fewer features, so that the task still works and users are hard to tell (paper 1).

The functions `search` and `select` are imported from their modules of the same name. Names below are imported when
they are first used: the command line lies in this package, and should not wait for forests to say what it takes.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from sensorprivacy.minimize.baselines import METHODS, rank_methods, sweep
    from sensorprivacy.minimize.greedy import knapsack, order, take
    from sensorprivacy.minimize.honest import confirm
    from sensorprivacy.minimize.minimizer import FeatureMinimizer, feature_minimize
    from sensorprivacy.minimize.pool import TooManyFeaturesError
    from sensorprivacy.minimize.scores import score_features
    from sensorprivacy.minimize.search import Search, SearchTooLongError, estimate
    from sensorprivacy.minimize.select import THRESHOLDS, NoSubsetError, select_table
    from sensorprivacy.minimize.store import StoreError

_WHERE = {
    "baselines": ("METHODS", "rank_methods", "sweep"),
    "greedy": ("knapsack", "order", "take"),
    "honest": ("confirm",),
    "minimizer": ("FeatureMinimizer", "feature_minimize"),
    "pool": ("TooManyFeaturesError",),
    "scores": ("score_features",),
    "search": ("Search", "SearchTooLongError", "estimate"),
    "select": ("THRESHOLDS", "NoSubsetError", "select_table"),
    "store": ("StoreError",),
}

__all__ = [
    "METHODS",
    "THRESHOLDS",
    "FeatureMinimizer",
    "NoSubsetError",
    "Search",
    "SearchTooLongError",
    "StoreError",
    "TooManyFeaturesError",
    "confirm",
    "estimate",
    "feature_minimize",
    "knapsack",
    "order",
    "rank_methods",
    "score_features",
    "select_table",
    "sweep",
    "take",
]


def __getattr__(name: str) -> Any:
    for module, names in _WHERE.items():
        if name in names:
            return getattr(import_module(f"{__name__}.{module}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
