"""What a reader has: the library from its wheel, and data of their own in a folder."""

import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

PEOPLE, ACTIVITIES = ("ann", "bob", "cem", "dee"), {"walk": 2, "jog": 4}


@pytest.fixture(scope="session")
def wheel(root, tmp_path_factory):
    """Return a folder with the library installed from its wheel, without this checkout."""
    source, target = tmp_path_factory.mktemp("source"), tmp_path_factory.mktemp("installed")
    for name in ("pyproject.toml", "README.md", "LICENSE", "LICENSE-TEXT"):
        shutil.copy(root / name, source)
    for name in ("lib/sensorprivacy", "lib/sensorrelease"):
        shutil.copytree(root / name, source / name, ignore=shutil.ignore_patterns("*.pyc"))
    words = ["pip", "install", "--quiet", "--no-deps", "--no-index", "--no-build-isolation", "--target", target, source]
    subprocess.run([sys.executable, "-m", *map(str, words)], check=True, capture_output=True, text=True)
    assert not (target / "compendium").exists()
    for path in target.rglob("*.py"):  # the same files have been compiled for Python and by Numba in the checkout
        if (ours := root / "lib" / path.relative_to(target)).is_file() and ours.read_bytes() == path.read_bytes():
            shutil.copystat(ours, path)
            for made in (ours.parent / "__pycache__").glob(f"{ours.stem}.*"):
                (path.parent / "__pycache__").mkdir(exist_ok=True)
                shutil.copy2(made, path.parent / "__pycache__")
    return target


@pytest.fixture
def follow(wheel, root, tmp_path) -> Callable[..., str]:
    """Return a function that follows guides in a folder with a reader's files, and returns what was printed."""

    def followed(*guides: str, without: tuple[str, ...] = ()) -> str:
        pages = [str(root / "book" / "howto" / f"{guide}.md") for guide in guides]
        words = [sys.executable, str(Path(__file__).with_name("follow.py")), *pages, *without]
        away = ("SENSORPRIVACY_HOME", "SENSORPRIVACY_MIRROR")
        clean = {name: value for name, value in os.environ.items() if name not in away}
        clean |= {"PYTHONPATH": str(wheel), "PYTHONWARNINGS": "ignore", "MPLBACKEND": "agg"}
        done = subprocess.run(words, cwd=tmp_path, env=clean, capture_output=True, text=True)
        assert done.returncode == 0, f"{done.stdout[-3000:]}\n{done.stderr[-3000:]}"
        return done.stdout

    return followed


@pytest.fixture
def home(tmp_path):
    """Write the files of the guide on tables: a table, later rows, a log and a capture; return the table."""
    draw = np.random.default_rng(0)
    n = 240
    owner, device = draw.integers(0, 4, n), draw.integers(0, 3, n)
    table = pd.DataFrame(
        {
            "owner": np.array(PEOPLE)[owner],
            "device": np.array(["lamp", "oven", "tv"])[device],
            "day": owner * 7 + draw.integers(0, 6, n),
            "lux": np.round(200 + 90 * owner + draw.normal(0, 60, n), 1).clip(0, 1000),
            "hour": draw.integers(0, 24, n),
            "power": np.round(40 + 30 * device + draw.normal(0, 9, n), 1),
        }
    )
    table.to_csv(tmp_path / "home.csv", index=False)
    table.sample(60, random_state=1).assign(power=lambda rows: rows["power"] + 0.1).to_csv(
        tmp_path / "new.csv", index=False
    )
    return table


@pytest.fixture
def recordings(tmp_path):
    """Write recordings of the guide's two channels: frequency is the activity, height the gender."""
    draw = np.random.default_rng(0)
    (tmp_path / "recordings").mkdir()
    for at, who in enumerate(PEOPLE):
        for activity, frequency in ACTIVITIES.items():
            for session in (1, 2):
                samples = 700
                clock = np.arange(samples) / 50
                wave = 0.5 * (at % 2) + np.sin(2 * np.pi * frequency * clock / 2 + draw.normal())
                table = pd.DataFrame({"gyro_x": wave, "acc_x": 0.1 * at - wave}) + draw.normal(0, 0.1, (samples, 2))
                file = tmp_path / "recordings" / f"{activity}_{who}_{session}.csv"
                table.assign(timestamp=clock).to_csv(file, index=False)
    pd.DataFrame({"person": PEOPLE, "gender": ["f", "m"] * 2}).to_csv(tmp_path / "people.csv", index=False)
    return tmp_path / "recordings"
