"""Three-way division: drop what tells too much, keep what tells little, noise what lies between.

`division` sorts the attributes into groups, `measures` says how useful a division is, `thresholds` searches for the
best one, `publish` noises and releases, and `divider` wraps it all as a scikit-learn transformer.
"""

from sensorprivacy.threeway.divider import ThreeWayDivider
from sensorprivacy.threeway.division import Division, Sizes, entropies, evaluate, trisect
from sensorprivacy.threeway.measures import (
    Appraisal,
    Appraiser,
    joint_entropy,
    stability,
    suitability,
    utility_as_printed,
    utility_as_stated,
)
from sensorprivacy.threeway.publish import Publication, publish
from sensorprivacy.threeway.queries import sensitivity
from sensorprivacy.threeway.thresholds import Search, find_thresholds

__all__ = [
    "Appraisal",
    "Appraiser",
    "Division",
    "Publication",
    "Search",
    "Sizes",
    "ThreeWayDivider",
    "entropies",
    "evaluate",
    "find_thresholds",
    "joint_entropy",
    "publish",
    "sensitivity",
    "stability",
    "suitability",
    "trisect",
    "utility_as_printed",
    "utility_as_stated",
]
