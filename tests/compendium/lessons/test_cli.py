"""The command `compendium lessons`."""

import sys
from pathlib import Path

import pytest

from compendium.cli import main

pytest.importorskip("nbgrader", reason="needs nbgrader: pip install -r requirements-dev.lock")


def test_it_prints_the_student_notebooks(monkeypatch, capsys, tmp_path):
    monkeypatch.setattr(
        "compendium.lessons.release.make_course", lambda out, notice: notice("note") or [Path("made") / out.name]
    )
    assert main(["lessons", "--out", str(tmp_path / "course")]) == 0
    monkeypatch.setattr("compendium.paths.build_dir", lambda: tmp_path / "build")
    assert main(["lessons"]) == 0
    printed = capsys.readouterr()
    assert printed.out.split() == [str(Path("made/course")), str(Path("made/lessons"))]
    assert printed.err.split() == ["note", "note"]


def test_without_nbgrader_it_says_what_to_install(monkeypatch, capsys, tmp_path):
    monkeypatch.setitem(sys.modules, "nbgrader", None)
    monkeypatch.setitem(sys.modules, "nbgrader.apps", None)
    assert main(["lessons", "--out", str(tmp_path)]) == 1
    assert (
        f"needs nbgrader.apps, which is not installed: {sys.executable} -m pip install -r requirements-dev.lock"
        in capsys.readouterr().err
    )
