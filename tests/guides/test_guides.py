"""The guides are followed literally, in a folder with a reader's files and the wheel: every command as printed."""

import ast
import importlib.util
import re
import textwrap
import tomllib
from pathlib import Path

import pandas as pd
import pytest
import yaml

_SPEC = importlib.util.spec_from_file_location("follow", Path(__file__).with_name("follow.py"))
follower = importlib.util.module_from_spec(_SPEC)
_SPEC.loader.exec_module(follower)

LONG = ("--minutes 10", "--minutes 30", "--jobs 16")  # each has a shorter variant above it in its guide
FULL = ("--out safe", "--out sure")  # followed by a test of their own
ELSEWHERE = ("dask_jobqueue",)  # needs a cluster, see tests/cluster


def unfollowed(root, guide, said):
    """Return the commands of a guide that were not followed, of those that begin with ``sensorprivacy``."""
    text = (root / "book" / "howto" / f"{guide}.md").read_text(encoding="utf-8")
    steps = [step for language, step in follower.steps(text) if language == "sh" and step.startswith("sensorprivacy")]
    assert steps
    return [step for step in steps if f"s: {step}\n" not in said and not any(word in step for word in LONG + FULL)]


@pytest.mark.slow
def test_every_command_of_the_guides(home, recordings, follow, root, tmp_path):
    """One process follows all, which saves the import of the library: a third of the time."""
    guides = ("own-table", "conversions", "add-defence", "cluster", "own-recordings", "own-board")
    said = follow(*guides, without=(*LONG, *FULL, *ELSEWHERE))
    assert [step for guide in guides if guide != "add-defence" for step in unfollowed(root, guide, said)] == []
    assert "<html" in (tmp_path / "report.html").read_text(encoding="utf-8")
    for folder in ("published", "published-new", "noisy", "small"):
        table = pd.read_csv(tmp_path / folder / "data.csv")
        assert {"device"} < set(table) <= {"lux", "power", "standby", "mode", "device"}
        assert not {"owner", "user", "day", "note"} & set(table)
    sizes = {name: pd.read_csv(tmp_path / f"{name}-table.csv").shape for name in
             ("history", "heart", "influx", "conn", "capture", "uplinks", "spaces")}  # fmt: skip
    more = {"conn": (2, 3), "capture": (400, 5), "uplinks": (4, 3), "spaces": (2, 2)}
    assert sizes == {"history": (9, 3), "heart": (2, 2), "influx": (1, 4)} | more
    assert (tmp_path / "search.sqlite").is_file()
    assert len(list((tmp_path / "first").glob("recording-*.csv"))) == 16
    assert (tmp_path / "board" / "edge.pyz").is_file()


@pytest.mark.slow
def test_full_releases_of_own_recordings(recordings, follow, tmp_path):
    follow("own-recordings", without=(*LONG, "--trees", "--out first"))
    for folder in ("safe", "sure"):
        assert len(list((tmp_path / folder).glob("recording-*.csv"))) == 16


def test_every_long_command_has_a_shorter_one_above_it(root):
    for guide in ("own-table", "own-recordings", "cluster"):
        steps = [step for _, step in follower.steps((root / "book" / "howto" / f"{guide}.md").read_text())]
        for at, step in enumerate(steps):
            if step.startswith("sensorprivacy") and any(word in step for word in LONG):
                assert any(one.split()[:2] == step.split()[:2] for one in steps[:at]), step


def test_blocks_are_of_the_language_that_they_name(root):
    """The book refuses to build with a block that its highlighter cannot read."""
    read = {"toml": tomllib.loads, "yaml": yaml.safe_load, "python": ast.parse}
    for path in (root / "book" / "howto").glob("*.md"):
        blocks = re.findall(r"^( *)```(\w+)\n(.*?)^\1```", path.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL)
        for _, language, block in blocks:
            if language in read:
                read[language](textwrap.dedent(block))
