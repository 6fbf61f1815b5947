"""The course folder: student versions for handing out, and what must survive when they are made again."""

import os
from pathlib import Path

import nbformat
import pytest

pytest.importorskip("nbgrader", reason="needs nbgrader: install the extra teach")

from compendium.lessons import release

SOLVED = "def one():\n    ### BEGIN SOLUTION\n    return 1\n    ### END SOLUTION"
STUB = "\n    ".join(["def one():", "# YOUR CODE HERE", f"raise {NotImplementedError.__name__}()"])
CHECKED = "assert one() == 1\n### BEGIN HIDDEN TESTS\nassert one() is not True\n### END HIDDEN TESTS"


def cell(kind, source, name, **role):
    """Return a cell with nbgrader's metadata."""
    made = getattr(nbformat.v4, f"new_{kind}_cell")(source, id=name)
    flags = {"grade": False, "solution": False, "locked": False, "task": False, "schema_version": 3}
    made.metadata["nbgrader"] = flags | {"grade_id": name} | role
    return made


@pytest.fixture
def lesson(tmp_path, monkeypatch):
    cells = [
        cell("code", SOLVED, "one", solution=True),
        cell("code", CHECKED, "test-one", grade=True, locked=True, points=1),
    ]
    kernel = {"name": "python3", "language": "python", "display_name": "Python 3"}
    notebook = nbformat.v4.new_notebook(cells=cells, metadata={"kernelspec": kernel})
    path = tmp_path / "60_short.ipynb"
    (tmp_path / "checks").mkdir()
    (tmp_path / "checks" / "short.py").write_text("ANSWER = 1\n")
    nbformat.write(notebook, path)
    monkeypatch.setattr(release, "lessons", lambda: [path])
    monkeypatch.setenv("PATH", os.environ["PATH"])  # `make_course` adds to it; other tests do not see that
    return path


@pytest.mark.slow
def test_nbgrader_makes_a_course_folder(lesson, tmp_path):
    out = tmp_path / "course"
    assert release.make_course(out) == [out / "student" / "60_short" / "60_short.ipynb"]
    given = nbformat.read(out / "student" / "60_short" / "60_short.ipynb", as_version=4)
    assert given.cells[0].source == STUB
    assert given.cells[1].source == "assert one() == 1"
    for version in ("source", "student"):  # a lesson imports its checks from the folder beside it
        assert (out / version / "60_short" / "checks" / "short.py").read_text() == "ANSWER = 1\n"
    # once more: a teacher's settings and a submission stay
    settings, submitted = out / "nbgrader_config.py", out / "submitted" / "ada" / "60_short" / "60_short.ipynb"
    settings.write_text("c = get_config()\n# ours\n")
    submitted.parent.mkdir(parents=True)
    submitted.write_text("{}")
    release.make_course(out)
    assert "# ours" in settings.read_text()
    assert submitted.read_text() == "{}"


def change(path, old, new):
    path.write_text(path.read_text(encoding="utf-8").replace(old, new), encoding="utf-8")


def test_a_lesson_that_was_copied_in_half_is_copied_again(lesson, tmp_path, monkeypatch):
    """A killed copy looked as if a teacher had changed it, and stayed for ever."""
    source = tmp_path / "course" / "source" / "60_short" / "60_short.ipynb"

    def half(origin, to):
        Path(to).write_text(Path(origin).read_text(encoding="utf-8")[:100], encoding="utf-8")
        if Path(origin) == lesson:
            raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr("shutil.copyfile", half)
        with pytest.raises(KeyboardInterrupt):
            release.make_course(tmp_path / "course")
    assert not source.exists()


@pytest.mark.slow
def test_a_source_that_the_teacher_changed_stays(lesson, tmp_path):
    out, notices = tmp_path / "course", []
    (student,) = release.make_course(out, notices.append)
    source = out / "source" / "60_short" / "60_short.ipynb"
    change(source, "assert one() == 1", "assert one() == 7")
    change(lesson, "def one():", "def one():  # new")
    release.make_course(out, notices.append)
    assert "assert one() == 7" in source.read_text(encoding="utf-8")
    assert "assert one() == 7" in student.read_text(encoding="utf-8")
    (notice,) = notices
    assert "source/60_short/60_short.ipynb is changed and stays" in notice
    assert "delete it" in notice
    # a folder of an earlier version, which did not note what it wrote
    (out / release.WRITTEN).unlink()
    release.make_course(out, notices.append)
    assert "assert one() == 7" in source.read_text(encoding="utf-8")
    assert len(notices) == 2


@pytest.mark.slow
def test_a_source_that_nobody_changed_follows_the_lesson(lesson, tmp_path):
    out, notices = tmp_path / "course", []
    (student,) = release.make_course(out, notices.append)
    change(lesson, "assert one() == 1", "assert one() == 3")
    release.make_course(out, notices.append)
    assert "assert one() == 3" in student.read_text(encoding="utf-8")
    source = out / "source" / "60_short" / "60_short.ipynb"
    source.unlink()
    release.make_course(out, notices.append)
    assert source.is_file()
    assert notices == []


def test_a_lesson_that_nbgrader_refuses_is_named(lesson, tmp_path, monkeypatch):
    refused = {"success": False, "error": "duplicate cell"}
    monkeypatch.setattr("nbgrader.apps.NbGraderAPI.generate_assignment", lambda *given, **named: refused)
    with pytest.raises(RuntimeError, match="nbgrader made no student version of 60_short: duplicate cell"):
        release.make_course(tmp_path / "course")


def test_the_lessons_of_the_checkout_are_found():
    assert [path.stem[:2] for path in release.lessons()] == ["60", "61", "62", "63", "64", "65", "66", "67"]
