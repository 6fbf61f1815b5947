"""Gather the sources of the book, and run Sphinx on them."""

import re
import shutil
import subprocess
import sys
from collections.abc import Iterable
from fnmatch import fnmatchcase
from functools import partial
from pathlib import Path
from typing import Any

import pandas as pd

from compendium.book import explorers, notebooks, pages, terms
from compendium.book.pages import BookError, check_ours, empty, mark, write
from compendium.paths import VERDICTS_FILE, build_dir, data_dir, figures_dir, project_root
from compendium.run import processes
from compendium.run.runs import read_runs
from compendium.show.tables import markdown_text
from compendium.verdicts.ledger import Entry, entries, overview
from compendium.verdicts.verdicts import read_verdicts
from compendium.verdicts.words import PAPERS
from sensorprivacy.paths import part_folder, replace_folder

_PICTURES = {"frontier.png": "50_one_game-motionsense-subject/frontier.png", "game.png": "00_start_here/game.png"}


def build(output: Path | None = None, only: Iterable[str] = ()) -> Path:
    """Build the book, and return its first page.

    Parameters
    ----------
    output : pathlib.Path, optional
        Folder for ``source/``, ``html/`` and Sphinx's caches; ``build/book`` by default.
    only : iterable of str
        Names of the runs whose notebooks and results are shown; ``*`` stands for any part. The other runs have a page
        that says how to execute them. By default, all runs.

    Raises
    ------
    BookError
        If Sphinx reports an error or a warning, or the folder has files of somebody else.
    """
    folder = output or build_dir() / "book"
    html = folder / "html"
    check_ours(html)
    source = sources(folder / "source", only)
    with part_folder(html) as made:
        _run_sphinx(folder, source, made)
        mark(made)
        replace_folder(html, made)
    return html / "index.html"


def _run_sphinx(folder: Path, source: Path, html: Path) -> None:
    # -E: a link to a page that did not exist in the last build would stay broken
    words = [
        sys.executable,
        "-m",
        processes.__name__,
        "sphinx",
        "-b",
        "html",
        "-W",
        "--keep-going",
        "-q",
        "-E",
        "-j",
        "2",
    ]
    words += ["-d", str(folder / "doctrees"), str(source), str(html)]
    # Sphinx and its workers end with us, however we end.
    with processes.lifeline(folder), subprocess.Popen(words, stderr=subprocess.PIPE, text=True) as child:
        try:
            _, said = child.communicate()
        except BaseException:
            processes.end_children()
            raise
    if child.returncode:
        raise BookError(f"Sphinx reports errors or warnings in {source}:\n{said.strip()}")


def sources(target: Path, only: Iterable[str] = ()) -> Path:
    """Write all sources of the book into a folder, and return it."""
    root, figures = project_root(), figures_dir("paper")
    verdicts, runs, patterns = read_verdicts(figures / VERDICTS_FILE), read_runs(), list(only)
    shown = {name for name in runs if not patterns or any(fnmatchcase(name, pattern) for pattern in patterns)}
    empty(target)
    forms = pages.templates(root / "book")
    found = pages.findings(verdicts, book=True)
    cited = re.findall(r"\(results/(.+?)\.md\)", found)
    executed = build_dir() / "executed"
    places = notebooks.write_runs(runs.values(), shown, cited, executed, figures, target, forms)
    context = _of_verdicts(verdicts) | {
        "numbers": pages.Numbers(verdicts),
        "findings": found,
        "lessons": notebooks.write_lessons(root / "notebooks" / "lessons", target, forms),
        "guides": _guides(root / "book" / "howto"),
        "runs": list(runs.values()),
        "places": places,
        "figures": partial(pages.figures, figures, target / "papers", places),
    }
    known = terms.terms((root / "book" / "glossary.md").read_text(encoding="utf-8"))
    for path in sorted((root / "book").rglob("*")):
        if path.is_file() and path.suffix != ".pyc":
            to = target / path.relative_to(root / "book")
            if path.suffix == ".md":
                name = path.relative_to(root / "book").as_posix()
                page = forms.get_template(name).render(context)
                write(to, terms.linked(page, known) if name.startswith(("howto/", "papers/", "more")) else page)
            else:
                _copy(path, to)
    data = (data_dir() / "README.md").read_text(encoding="utf-8")
    write(target / "data.md", re.sub(r"<!--.*?-->\n*", "", data, flags=re.DOTALL))
    for name, content in {
        "VERDICTS": explorers.verdicts_data(verdicts, context["places"]),
        "THRESHOLDS": explorers.thresholds(figures),
    }.items():
        write(target / "_static" / f"{name.lower()}-data.js", explorers.script(content, name))
    for name, picture in _PICTURES.items():
        _copy(figures / picture, target / name)
    return target


def _of_verdicts(verdicts: pd.DataFrame) -> dict[str, Any]:
    """Return what templates show of verdicts and ledger: functions of a paper's number, and the ledger's sections."""
    ledger = entries()
    groups = {"Changed conclusions": [entry for entry in ledger if entry.major]} | {
        f"Paper {paper}": [entry for entry in ledger if entry.paper == paper and not entry.major] for paper in PAPERS
    }

    def overview_of(own: list[Entry]) -> str:
        table = overview(own, verdicts)
        return markdown_text(table.assign(entry=[f"[{entry.id}](#{entry.id.lower()})" for entry in own]))

    return {
        "outcome": partial(pages.outcome, verdicts),
        "headlines": partial(pages.headlines, verdicts),
        "changed": partial(pages.changed, ledger),
        "tables": partial(pages.tables, verdicts),
        "ledger": groups,
        "overview": overview_of,
        "linked": pages.linker(ledger),
    }


def _guides(folder: Path) -> dict[str, str]:
    """Return the names and titles of the guides: installing, then protecting data, then the others."""
    texts = {path.stem: path.read_text(encoding="utf-8") for path in folder.glob("*.md") if path.stem != "index"}
    found = {name: text.partition("\n")[0].lstrip("# ") for name, text in texts.items()}
    names = sorted(found, key=lambda name: (name != "install", not found[name].startswith("Protect"), name))
    return {name: found[name] for name in names}


def _copy(path: Path, to: Path) -> None:
    to.parent.mkdir(parents=True, exist_ok=True)
    shutil.copyfile(path, to)


def size_in_mb(folder: Path) -> float:
    """Return the size of all files below a folder in megabytes."""
    return sum(path.stat().st_size for path in folder.rglob("*") if path.is_file()) / 1e6
