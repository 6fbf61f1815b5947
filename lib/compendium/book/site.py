"""Gather the sources of the book, and run Sphinx on them."""

import re
import shutil
import subprocess
import sys
from collections.abc import Iterable
from fnmatch import fnmatchcase
from pathlib import Path

from compendium.book import explorer, home, lessons, paper_pages, run_pages, thresholds
from compendium.book.files import BookError, empty, write
from compendium.book.ledger_page import ledger_page
from compendium.paths import build_dir, data_dir, figures_dir, project_root
from compendium.run.runs import read_runs
from compendium.verdicts.ledger import entries
from compendium.verdicts.replication import read_verdicts
from compendium.verdicts.words import PAPERS

_PLACE = re.compile(r"<!-- (\w+) -->")


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
    source = sources(folder / "source", only)
    empty(folder / "html")
    # -E: a link to a page that did not exist in the last build would stay broken
    words = [sys.executable, "-m", "sphinx", "-b", "html", "-W", "--keep-going", "-q", "-E", "-j", "2"]
    done = subprocess.run(
        [*words, "-d", str(folder / "doctrees"), str(source), str(folder / "html")],
        stderr=subprocess.PIPE,
        text=True,
        check=False,
    )
    if done.returncode:
        raise BookError(f"Sphinx reports errors or warnings in {source}:\n{done.stderr.strip()}")
    return folder / "html" / "index.html"


def sources(target: Path, only: Iterable[str] = ()) -> Path:
    """Write all sources of the book into a folder, and return it."""
    root, figures = project_root(), figures_dir("paper")
    verdicts = read_verdicts(figures / "verdicts.csv")
    ledger = entries()
    runs, patterns = read_runs(), list(only)
    shown = {name for name in runs if not patterns or any(fnmatchcase(name, pattern) for pattern in patterns)}
    empty(target)
    taught = lessons.write_lessons(root / "notebooks" / "lessons", target)
    places = run_pages.write_runs(runs.values(), shown, home.CITED, build_dir() / "executed", figures, target)
    found = home.findings(figures, verdicts)
    texts = {
        "findings": "\n".join(f"{number}. {text}" for number, text in enumerate(found, 1)),
        "lessons": "[Lessons](lessons/index.md) with exercises that check themselves," if taught else "",
        "teaching": "[The teacher's page](lessons/README.md) of eight lessons with exercises," if taught else "",
        "lessons_toc": "Lessons <lessons/index>" if taught else "",
        "howto": _guides(root / "book" / "howto"),
    }
    for paper in PAPERS:
        texts[f"outcome_{paper}"] = paper_pages.outcome(verdicts, paper)
        texts[f"headlines_{paper}"] = paper_pages.headlines(verdicts, paper)
        texts[f"changed_{paper}"] = paper_pages.changed(ledger, paper)
        texts[f"tables_{paper}"] = paper_pages.tables(verdicts, paper)
    _copy_pages(root / "book", target, texts)
    write(target / "ledger.md", ledger_page(ledger, verdicts))
    write(target / "data.md", _data_page())
    write(target / "_static" / "verdicts-data.js", explorer.script(explorer.data(verdicts, places), "VERDICTS"))
    write(target / "_static" / "thresholds-data.js", explorer.script(thresholds.data(figures), "THRESHOLDS"))
    _copy(figures / home.GAME / "frontier.png", target / "frontier.png")
    _copy(figures / "00_start_here" / "game.png", target / "game.png")
    return target


def _guides(folder: Path) -> str:
    """Return a list of the guides with their titles: first those that protect data, then the others."""
    texts = {path.stem: path.read_text(encoding="utf-8") for path in folder.glob("*.md") if path.stem != "index"}
    found = {name: text.partition("\n")[0].lstrip("# ") for name, text in texts.items()}
    names = sorted(found, key=lambda name: (not found[name].startswith("Protect"), name))
    lines = [f"- [{found[name]}]({name}.md)" for name in names]
    return "\n".join([*lines, "", "```{toctree}", ":hidden:", "", *names, "```"])


def _copy_pages(book: Path, target: Path, texts: dict[str, str]) -> None:
    """Copy the written pages; a place such as ``<!-- findings -->`` gets its computed text."""
    for path in sorted(book.rglob("*")):
        if not path.is_file() or "__pycache__" in path.parts:
            continue
        to = target / path.relative_to(book)
        if path.suffix == ".md":
            text = path.read_text(encoding="utf-8")
            write(to, _PLACE.sub(lambda match: texts.get(match[1], match[0]), text))
        else:
            _copy(path, to)


def _copy(path: Path, to: Path) -> None:
    to.parent.mkdir(parents=True, exist_ok=True)
    shutil.copyfile(path, to)


def _data_page() -> str:
    text = (data_dir() / "README.md").read_text(encoding="utf-8")
    return re.sub(r"<!--.*?-->\n*", "", text, flags=re.DOTALL)


def size_in_mb(folder: Path) -> float:
    """Return the size of all files below a folder in megabytes."""
    return sum(path.stat().st_size for path in folder.rglob("*") if path.is_file()) / 1e6
