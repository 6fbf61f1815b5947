"""The lessons as students see them: without solutions and hidden tests."""

import re
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import nbformat

from compendium.book import executed
from compendium.book.files import write

_SOLUTION = re.compile(r"^( *)### BEGIN SOLUTION\n.*?^ *### END SOLUTION", re.DOTALL | re.MULTILINE)
_ENTRY = re.compile(r"\bentry D(\d+)")  # of the ledger
_HIDDEN = re.compile(r"\n*^ *### BEGIN HIDDEN TESTS\n.*?### END HIDDEN TESTS", re.DOTALL | re.MULTILINE)


def write_lessons(folder: Path, target: Path) -> list[str]:
    """Write a page for each lesson and their list, and return the names of the pages; none without lessons.

    Parameters
    ----------
    folder : pathlib.Path
        The folder ``notebooks/lessons``. ``STUDENTS.md`` begins the list; its other Markdown files become pages for
        teachers.
    target : pathlib.Path
        Folder of the Sphinx sources.
    """
    lessons = {path.stem: executed.read(path) for path in sorted(folder.glob("*.ipynb"))}
    paths = sorted(folder.glob("*.md"), key=lambda path: (path.stem != "README", path.stem))
    guides = {path.stem: path.read_text(encoding="utf-8").replace("(STUDENTS.md)", "(index.md)") for path in paths}
    if not lessons:
        return []
    rows = []
    for name, notebook in lessons.items():
        write(target / "lessons" / f"{name}.ipynb", nbformat.writes(student_version(notebook)))
        rows.append(f"| [{executed.title_of(notebook)}]({name}) | {_duration(notebook)} |")
    begin = _without_files(guides.pop("STUDENTS", "# Lessons"), ())
    for name, text in guides.items():
        write(target / "lessons" / f"{name}.md", _without_files(text, ["index", *guides]))
    lines = [
        begin.strip(),
        "## The lessons",
        "\n".join(["| lesson | duration |", "|---|---|", *rows]),
        "## For teachers",
        "\n".join(f"- [{text.partition(chr(10))[0].lstrip('# ')}]({name}.md)" for name, text in guides.items()),
    ]
    toc = [*lessons, *guides]
    lines += ["```{toctree}\n:hidden:\n\n" + "\n".join(toc) + "\n```", ""]
    write(target / "lessons" / "index.md", "\n\n".join(lines))
    return ["index", *toc]


def student_version(notebook: Any) -> Any:
    """Return a lesson without outputs, solutions and hidden tests, with links to the ledger."""
    made = executed.cleaned(notebook)
    for number, cell in enumerate(made.cells):
        cell["id"] = f"cell-{number}"
        cell.metadata = {}
        if cell.cell_type == "code":
            cell.outputs = []
            cell.source = _HIDDEN.sub("", _SOLUTION.sub(r"\1...  # your answer", cell.source))
        else:
            cell.source = _ENTRY.sub(r"[entry D\1](../ledger.md#d\1)", cell.source)
    return made


def _duration(notebook: Any) -> str:
    found = re.search(r"\*\*Duration\.?\*\*\s*(\d+(?:\s*(?:to|-)\s*\d+)? minutes)", notebook.cells[0].source)
    return found[1] if found else ""


def _without_files(text: str, pages: Iterable[str]) -> str:
    """Return a Markdown text in which links to files that the book does not contain are plain text."""
    kept = "|".join(["https?:", "#", *(rf"{name}\.md\)" for name in pages)])
    return re.sub(rf"\[([^\]]+)\]\((?!{kept})[^)]*\)", r"\1", text)
