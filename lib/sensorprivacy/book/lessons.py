"""The lessons as students see them: without solutions and hidden tests."""

import re
from pathlib import Path
from typing import Any

import nbformat

from sensorprivacy.book import executed
from sensorprivacy.book.files import write

_SOLUTION = re.compile(r"^( *)### BEGIN SOLUTION\n.*?^ *### END SOLUTION", re.DOTALL | re.MULTILINE)
_HIDDEN = re.compile(r"\n*^ *### BEGIN HIDDEN TESTS\n.*?### END HIDDEN TESTS", re.DOTALL | re.MULTILINE)


def write_lessons(folder: Path, target: Path) -> list[str]:
    """Write a page for each lesson and their list, and return the names of the pages; none without lessons.

    Parameters
    ----------
    folder : pathlib.Path
        The folder ``notebooks/lessons``. Its Markdown files, such as plans for teachers, become pages too.
    target : pathlib.Path
        Folder of the Sphinx sources.
    """
    lessons = {path.stem: executed.read(path) for path in sorted(folder.glob("*.ipynb"))}
    guides = {path.stem: path.read_text(encoding="utf-8") for path in sorted(folder.glob("*.md"))}
    if not lessons:
        return []
    rows = []
    for name, notebook in lessons.items():
        write(target / "lessons" / f"{name}.ipynb", nbformat.writes(student_version(notebook)))
        rows.append(f"| [{executed.title_of(notebook)}]({name}) | {_duration(notebook)} |")
    for name, text in guides.items():
        write(target / "lessons" / f"{name}.md", _without_files(text))
    lines = [
        "# Lessons",
        "Each lesson has aims, a worked example on real data, exercises that check themselves and give hints, and a "
        "question to discuss. Open them in `notebooks/lessons/` with `make notebook`.",
        "\n".join(["| lesson | duration |", "|---|---|", *rows]),
    ]
    lines += [f"- [{text.partition(chr(10))[0].lstrip('# ')}]({name}.md)" for name, text in guides.items()]
    toc = [*guides, *lessons]
    lines += ["```{toctree}\n:hidden:\n\n" + "\n".join(toc) + "\n```", ""]
    write(target / "lessons" / "index.md", "\n\n".join(lines))
    return ["index", *toc]


def student_version(notebook: Any) -> Any:
    """Return a lesson without outputs, solutions and hidden tests."""
    made = executed.cleaned(notebook)
    for number, cell in enumerate(made.cells):
        cell["id"] = f"cell-{number}"
        cell.metadata = {}
        if cell.cell_type == "code":
            cell.outputs = []
            cell.source = _HIDDEN.sub("", _SOLUTION.sub(r"\1...  # your answer", cell.source))
    return made


def _duration(notebook: Any) -> str:
    found = re.search(r"\*\*Duration\.?\*\*\s*(\d+(?:\s*(?:to|-)\s*\d+)? minutes)", notebook.cells[0].source)
    return found[1] if found else ""


def _without_files(text: str) -> str:
    """Return a Markdown text whose links to files of the repository are plain text: the book does not contain them."""
    return re.sub(r"\[([^\]]+)\]\((?!https?:|#)[^)]*\)", r"\1", text)
