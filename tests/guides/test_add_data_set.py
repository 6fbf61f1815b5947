"""The guide on new data sets is followed literally in a copy of the checkout: every block and command as printed."""

import importlib.util
import os
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

_SPEC = importlib.util.spec_from_file_location("follow", Path(__file__).with_name("follow.py"))
follower = importlib.util.module_from_spec(_SPEC)
_SPEC.loader.exec_module(follower)
# What make starts for these two targets; the environment of the tests has the packages already.
MAKE = {
    "make test TESTS=": "{python} -m pytest -q -p no:cacheprovider ",
    "make reproduce ONLY=": "{python} -m compendium reproduce --cores 2 ",
}


@pytest.fixture
def checkout(root, tmp_path):
    """Return a copy of the checkout, without data, results and git, and with a reader's file in an empty folder."""
    for name in ("lib", "notebooks", "tests/compendium/readers"):  # with what is compiled already
        shutil.copytree(root / name, tmp_path / name, ignore=shutil.ignore_patterns("*.egg-info"))
    for name in ("runs.yaml", "data/README.md", "tests/conftest.py"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        shutil.copy(root / name, tmp_path / name)
    for name in ("data/paper", "Snakefile", "pyproject.toml", "README.md", "requirements.lock", "DEVIATIONS.md"):
        (tmp_path / name).symlink_to(root / name)
    (tmp_path / ".venv").symlink_to(sys.prefix)
    draw = np.random.default_rng(0)
    owner, device = draw.integers(0, 4, 240), draw.integers(0, 2, 240)
    table = pd.DataFrame({"owner": owner, "device": np.array(["kettle", "urn"])[device]})
    table["watts"] = (1500 + 300 * device + 40 * owner + draw.normal(0, 30, 240)).round()
    table["seconds"] = (100 + 50 * owner + draw.normal(0, 20, 240)).round()
    folder = tmp_path / "data" / "raw" / "kettle"
    folder.mkdir(parents=True)
    table.to_csv(folder / "kettle.csv", index=False)
    return tmp_path


@pytest.mark.slow
@pytest.mark.parametrize("left_out", ["make reproduce", "nothing"])
def test_add_a_data_set(checkout, root, left_out):
    words = ("SENSORPRIVACY_HOME", "SENSORPRIVACY_MIRROR", "SENSORPRIVACY_CACHE")
    clean = {name: value for name, value in os.environ.items() if name not in words}
    clean |= {"PYTHONPATH": str(checkout / "lib"), "SENSORPRIVACY_CACHE": str(checkout / "cache")}
    guide = (root / "book" / "howto" / "add-data-set.md").read_text(encoding="utf-8")
    unindented = "\n".join(line.removeprefix("   ") for line in guide.splitlines())
    said = []
    for language, text in follower.steps(unindented):
        if language == "sh" and left_out not in text:
            for ours, theirs in MAKE.items():
                text = text.replace(ours, theirs.format(python=sys.executable))
            done = subprocess.run(["bash", "-c", text], cwd=checkout, env=clean, capture_output=True, text=True)
            assert done.returncode == 0, f"{text}\n{done.stdout[-2000:]}\n{done.stderr[-2000:]}"
            said.append(done.stdout)
        if language == "sh":
            continue
        first, _, rest = text.partition("\n")
        size, digest = said[0].split()
        name, _, place = first.removeprefix("# ").partition(', below the line "')
        path = checkout / name
        there = path.read_text(encoding="utf-8") if path.is_file() else ""
        head, line, tail = there.partition(f"\n{place.rstrip(chr(34))}\n") if place else (there, "\n", "")
        assert line
        added = rest.replace("size = 0", f"size = {size}").replace('"SHA256"', f'"{digest}"')
        path.write_text(f"{head}{line}{added}\n{tail}", encoding="utf-8")
    assert "kettle: 1 members verified, digest" in said[3]
    assert "### Kettles at home" in (checkout / "data" / "README.md").read_text(encoding="utf-8")
    assert "1 passed" in said[5]
    if left_out in guide:
        return
    assert "10_reidentification_game-kettle: ok" in said[6]
    base = pd.read_csv(checkout / "figures" / "quick" / "10_reidentification_game-kettle" / "base.csv")
    assert base["accuracy"].between(0, 1).all()
