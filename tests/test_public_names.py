"""The public names: each can be imported from the top, and importing the package alone is fast and light."""

import re
import subprocess
import sys
import time
from pathlib import Path

import pytest

import sensorprivacy

NAMES = (
    "FeatureMinimizer",
    "LatentAnonymizer",
    "Problem",
    "ThreeWayDivider",
    "example_problem",
    "feature_minimize",
    "k_anonymity",
    "linkage",
    "play",
)


@pytest.mark.parametrize("name", NAMES)
def test_each_name_is_importable_from_the_top(name):
    assert callable(getattr(sensorprivacy, name))


def test_names_are_listed_and_unknown_names_are_refused():
    assert set(NAMES) <= set(sensorprivacy.__all__)
    assert sensorprivacy.__version__
    with pytest.raises(AttributeError, match="no_such_name"):
        _ = sensorprivacy.no_such_name


def test_help_names_packages_that_exist():
    """It named `datasets` and `report`, which had moved to the compendium."""
    named = set(re.findall(r"`(\w+)`", sensorprivacy.__doc__)) - {"sensorprivacy"}
    folders = {path.parent.name for path in Path(sensorprivacy.__file__).parent.glob("*/__init__.py")}
    assert named >= {"game", "minimize", "threeway", "latent", "edge"}
    assert named - {"sensorrelease"} <= folders | set(NAMES)


def seconds(code: str) -> float:
    """Return the shortest run time of several fresh processes, so that other work on the machine counts less."""
    times = []
    for _ in range(3):
        start = time.perf_counter()
        subprocess.run([sys.executable, "-c", code], check=True)
        times.append(time.perf_counter() - start)
    return min(times)


def test_import_is_fast():
    bare = seconds("pass")
    assert seconds("import sensorprivacy") - bare < max(0.2, 2 * bare)


def test_import_does_not_load_heavy_libraries():
    code = "import sys, sensorprivacy; print({'torch', 'pandas', 'numpy', 'sklearn'} & set(sys.modules) or '')"
    found = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)
    assert found.stdout.strip() == ""
