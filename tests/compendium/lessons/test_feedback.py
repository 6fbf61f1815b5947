"""Feedback pages show hints, and no hidden tests."""

import nbformat
import pytest

pytest.importorskip("nbgrader", reason="needs nbgrader: install the extra teach")

from compendium.lessons import feedback, release

CHECK = "check(one)\n### BEGIN HIDDEN TESTS\nassert one() == 1\n### END HIDDEN TESTS\nprint(one())"


def shown(source, name, value, traceback):
    """Return the source and the traceback that a feedback page shows for a cell."""
    error = nbformat.v4.new_output("error", ename=name, evalue=value, traceback=traceback)
    cell = nbformat.v4.new_code_cell(source, outputs=[error])
    notebook, _ = feedback.HideTests()(nbformat.v4.new_notebook(cells=[cell]), {})
    return notebook.cells[0].source, notebook.cells[0].outputs[0].traceback


def test_hidden_tests_and_their_lines_in_tracebacks_are_removed():
    lines = ["NameError", "----> 1 check(one)\n      3 assert one() == 1", "NameError: name 'one' is not defined"]
    source, traceback = shown(CHECK, "NameError", "name 'one' is not defined", lines)
    assert source == "check(one)\nprint(one())"
    assert traceback == ["NameError: name 'one' is not defined"]


def test_a_failed_hidden_test_is_named_without_its_lines():
    _, traceback = shown(CHECK, "AssertionError", "", ["----> 3 assert one() == 1"])
    assert traceback == [feedback.FAILED]
    assert shown(CHECK, "HintError", "Divide by n.", ["x"])[1] == ["HintError: Divide by n."]


def test_other_cells_stay_as_they_are():
    assert shown("one()", "ValueError", "no", ["line 1", "line 2"]) == ("one()", ["line 1", "line 2"])


def test_a_course_folder_uses_it():
    from traitlets.config import Config

    settings = Config()
    exec(release.CONFIG.read_text(), {"get_config": lambda: settings})
    assert f"{feedback.__name__}.HideTests" in settings.GenerateFeedback.preprocessors
