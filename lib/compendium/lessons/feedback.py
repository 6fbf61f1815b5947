"""Keep hidden tests out of the feedback pages: a teacher may use them again, and some contain a solution."""

from typing import Any

from nbgrader.preprocessors import NbGraderPreprocessor

BEGIN, END = "### BEGIN HIDDEN TESTS", "### END HIDDEN TESTS"
FAILED = "A hidden test of this exercise failed: the check above it does not cover all of the task."


class HideTests(NbGraderPreprocessor):
    """Remove hidden tests from the cells of a graded notebook, and from the tracebacks below these cells.

    A course folder names it in ``nbgrader_config.py``, for ``nbgrader generate_feedback``.
    """

    def preprocess_cell(self, cell: Any, resources: Any, index: int) -> tuple[Any, Any]:
        """Return the cell without its hidden tests."""
        if BEGIN not in cell.source:
            return cell, resources
        kept, hidden = [], False
        for line in cell.source.splitlines():
            hidden = hidden or line.strip() == BEGIN
            if not hidden:
                kept.append(line)
            hidden = hidden and line.strip() != END
        cell.source = "\n".join(kept)
        for output in cell.get("outputs", []):
            if output.output_type == "error":  # its traceback shows lines of the cell
                failed = output.ename == "AssertionError" and not output.evalue
                output.traceback = [FAILED if failed else f"{output.ename}: {output.evalue}"]
        return cell, resources
