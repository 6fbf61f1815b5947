"""Each guide is followed literally, from an empty folder with the wheel: every command as printed."""

import importlib.util
from pathlib import Path

import pandas as pd

_SPEC = importlib.util.spec_from_file_location("follow", Path(__file__).with_name("follow.py"))
follower = importlib.util.module_from_spec(_SPEC)
_SPEC.loader.exec_module(follower)


def commands(root, guide):
    text = (root / "book" / "howto" / f"{guide}.md").read_text(encoding="utf-8")
    return [step for language, step in follower.steps(text) if language == "sh"]


def test_own_table(home, follow, root, tmp_path):
    said = follow("own-table")
    followed = [line.partition(": ")[2] for line in said.splitlines() if line.startswith("FOLLOWED")]
    assert [step for step in commands(root, "own-table") if step not in followed] == []
    assert "<html" in (tmp_path / "report.html").read_text(encoding="utf-8")
    for folder in ("published", "published-new", "noisy"):
        (table,) = (tmp_path / folder).glob("*.csv")
        assert not {"owner", "day"} & set(pd.read_csv(table))
    assert "device" in pd.read_csv(tmp_path / "small.csv")


def test_own_recordings(recordings, follow, tmp_path):
    follow("own-recordings")
    for folder in ("first", "safe", "sure"):
        assert len(list((tmp_path / folder).glob("recording-*.csv"))) == 16
