"""The pages of notebooks: each run's executed notebook and committed results, and the lessons as students see them."""

import copy
import hashlib
import json
import os
import re
import shutil
from collections.abc import Collection, Iterable, Mapping
from pathlib import Path
from typing import Any

import jinja2
import nbformat
import pandas as pd
from docutils.nodes import make_id

from compendium.book.pages import write
from compendium.paths import RUN_FILE, VERDICTS_FILE, build_dir
from compendium.run.runs import Run
from compendium.show.captions import headline, titles
from compendium.show.tables import html_table, readable

PROFILES = ("paper", "quick")  # the profile that is preferred first
MOST_ROWS = 60  # longer tables are shown up to here; the CSV file has all rows
_JUDGED = "printed values: "
_SCROLLS = 'style="overflow-x:auto" tabindex="0" role="region" aria-label="table"'
_SOLUTION = re.compile(r"^( *)### BEGIN SOLUTION\n.*?^ *### END SOLUTION", re.DOTALL | re.MULTILINE)
_HIDDEN = re.compile(r"\n*^ *### BEGIN HIDDEN TESTS\n.*?### END HIDDEN TESTS", re.DOTALL | re.MULTILINE)
_OTHER = re.compile(r"\]\((\d\d_\w+)\.ipynb\)")  # a link to another notebook
_ENTRY = re.compile(r"\bentry D(\d+)")  # of the ledger


def read(path: Path) -> Any:
    """Return a notebook from its file."""
    return nbformat.read(path, as_version=4)


def find(run: str, folder: Path) -> tuple[Path, str] | None:
    """Return the executed notebook of a run and its profile, the paper profile if it is there; None if neither is.

    Parameters
    ----------
    run : str
        Name of the run.
    folder : pathlib.Path
        The folder ``build/executed``.
    """
    paths = [(folder / profile / f"{run}.ipynb", profile) for profile in PROFILES]
    return next((found for found in paths if found[0].is_file()), None)


def cleaned(notebook: Any) -> Any:
    """Return a copy of an executed notebook without warnings, in which wide tables scroll in their own box."""
    made = copy.deepcopy(notebook)
    for cell in made.cells:
        if cell.cell_type != "code":
            continue
        cell.outputs = [each for each in cell.outputs if each.get("name") != "stderr"]
        for output in cell.outputs:
            page = output.get("data", {}).get("text/html", "")
            if "<table" in page and "sp-table" not in page:  # a data frame of pandas
                output["data"]["text/html"] = f'<div class="sp-table" {_SCROLLS}>{page}</div>'
    made.metadata.pop("widgets", None)
    return made


def section_of_verdicts(notebook: Any) -> str:
    """Return the anchor of the section whose output compares values with the printed ones; empty if there is none."""
    anchor = ""
    for cell in notebook.cells:
        if cell.cell_type == "markdown":
            heads = [line.lstrip("# ") for line in cell.source.splitlines() if line.startswith("#")]
            anchor = make_id(heads[-1]) if heads else anchor
        elif any(_JUDGED in output.get("data", {}).get("text/html", "") for output in cell.outputs):
            return anchor
    return ""


def title_of(notebook: Any) -> str:
    """Return the first heading of a notebook."""
    texts = (cell.source for cell in notebook.cells if cell.cell_type == "markdown")
    return next((line.lstrip("# ") for text in texts for line in text.splitlines() if line.startswith("# ")), "")


def write_runs(
    runs: Iterable[Run],
    shown: Collection[str],
    cited: Collection[str],
    executed: Path,
    figures: Path,
    target: Path,
    forms: jinja2.Environment,
) -> dict[str, dict[str, str]]:
    """Write the pages of all runs, and return the addresses of each run's page, of its verdicts and of its results.

    Parameters
    ----------
    runs : iterable of Run
        The runs of ``runs.yaml``.
    shown, cited : collection of str
        Names of the runs whose executed notebooks and committed results are shown, and of those whose results are shown
        in any case. The other runs have a page that says how to execute them.
    executed, figures : pathlib.Path
        The folders ``build/executed`` and ``figures``.
    target : pathlib.Path
        Folder of the Sphinx sources.
    forms : jinja2.Environment
        Templates of the pages.
    """
    places, runs = {}, list(runs)
    pages = {run.notebook.stem: run.name for run in sorted(runs, key=lambda run: find(run.name, executed) is not None)}
    for run in runs:
        committed = run.name in {*shown, *cited} and (figures / run.name / RUN_FILE).is_file()
        found = find(run.name, executed) if run.name in shown else None
        page = {"page": f"runs/{run.name}.html", "section": "", "profile": found[1] if found else ""}
        # a reader who asks for a value again means it: a run that is up to date is repeated, too
        page["again"] = f"{'' if run.runs_in('quick') or run.summarizes else 'PROFILE=paper '}FORCE=1"
        notes = forms.get_template("run.md").render(run=run, profile=found and found[1], committed=committed).strip()
        if found:
            notebook = _with_notes(run, read(found[0]), notes, pages)
            write(target / "runs" / f"{run.name}.ipynb", nbformat.writes(notebook))
            page["section"] = f"#{anchor}" if (anchor := section_of_verdicts(notebook)) else ""
        else:
            write(target / "runs" / f"{run.name}.md", notes)
        if committed:
            text = _results(run, figures / run.name, target / "results" / run.name, forms)
            write(target / "results" / f"{run.name}.md", text)
            page["results"] = f"results/{run.name}.html"
        places[run.name] = page
    return places


def _with_notes(run: Run, notebook: Any, notes: str, pages: Mapping[str, str]) -> Any:
    """Return an executed notebook for the book, with the variant in its title, notes below it, and links to pages."""
    made = cleaned(notebook)
    first = next(cell for cell in made.cells if cell.cell_type == "markdown")
    head, _, rest = first.source.partition("\n")
    variant = run.name.partition("-")[2]
    first.source = f"{head}{f' ({variant})' if variant else ''}\n\n{notes}\n{rest}"
    for number, cell in enumerate(made.cells):
        cell.source = _OTHER.sub(lambda link: f"]({pages[link[1]]})", cell.source)
        if "injected-parameters" in cell.metadata.get("tags", []):  # they replace the defaults of the cell before
            cell.source = cell.source.replace("# Parameters\n", "# the values of this run\n", 1)
        cell["id"] = f"cell-{number}"
        cell.metadata = {key: value for key, value in cell.metadata.items() if key == "tags"}
    return made


def _results(run: Run, folder: Path, target: Path, forms: jinja2.Environment) -> str:
    """Return the page of a run's committed figures and tables, and copy their files."""
    record = json.loads((folder / RUN_FILE).read_text(encoding="utf-8"))
    target.mkdir(parents=True, exist_ok=True)
    named, shown = titles(run.notebook.parent / "captions" / f"{run.notebook.stem}.toml", record["parameters"]), []
    for name in sorted([*record["files"], *record["drawn"]], key=lambda name: (not name.endswith(".png"), name)):
        if name == VERDICTS_FILE or not (folder / name).is_file():
            continue
        copied, caption = name.replace("/", "-"), record["captions"].get(name, "")
        shutil.copyfile(folder / name, target / copied)
        table = "" if name.endswith(".png") else _table(folder / name, caption)
        words = _heading(caption) or named.get(Path(name).stem) or Path(name).stem.replace("-", " ").capitalize()
        number = ", ".join(re.findall(r"\d+", name)) if name.startswith("figure") else ""
        about = {"words": words, "caption": caption, "table": table, "number": number}
        shown.append({"file": f"{run.name}/{copied}", **about})
    return forms.get_template("results.md").render(run=run, shown=shown, settings=record["parameters"])


def _heading(caption: str) -> str:
    """Return the first clause of a caption, without the name of the data set that it may begin with."""
    words = headline(re.sub(r"^[\w-]+: ", "", caption))
    return (words[:1].upper() + words[1:]).replace("<", "&lt;")


def _table(file: Path, caption: str) -> str:
    """Return a committed table as HTML; the heading above it has the first clause of its caption."""
    frame = pd.read_csv(file)
    shown = readable(frame.head(MOST_ROWS))
    if len(frame) > MOST_ROWS:
        shown.remarks.append(f"The first {MOST_ROWS} of {len(frame)} rows.")
    rest = re.sub(r"^[\w-]+: ", "", caption).removeprefix(headline(re.sub(r"^[\w-]+: ", "", caption)))
    return html_table(shown, rest.lstrip(";:. "), label=caption)


def write_lessons(folder: Path, target: Path, forms: jinja2.Environment, *, execute: bool = False) -> list[str]:
    """Write a page for each lesson and their list, and return the names of the pages; none without lessons.

    Parameters
    ----------
    folder : pathlib.Path
        The folder ``notebooks/lessons``. ``STUDENTS.md`` begins the list; its other Markdown files become pages for
        teachers.
    target : pathlib.Path
        Folder of the Sphinx sources.
    forms : jinja2.Environment
        Templates of the pages.
    execute : bool, default False
        Whether lessons that have changed since they were executed are executed, for their pictures.
    """
    lessons = {path.stem: _executed(path, execute) for path in sorted(folder.glob("*.ipynb"))}
    paths = sorted(folder.glob("*.md"), key=lambda path: (path.stem != "README", path.stem))
    guides = {path.stem: path.read_text(encoding="utf-8").replace("(STUDENTS.md)", "(index.md)") for path in paths}
    if not lessons:
        return []
    for name, notebook in lessons.items():
        write(target / "lessons" / f"{name}.ipynb", nbformat.writes(student_version(notebook)))
    begin = _without_files(guides.pop("STUDENTS", "# Lessons"), ())
    for name, text in guides.items():
        write(target / "lessons" / f"{name}.md", _without_files(text, ["index", *guides]))
    rows = [(name, title_of(notebook), _duration(notebook)) for name, notebook in lessons.items()]
    titles = {name: text.partition("\n")[0].lstrip("# ") for name, text in guides.items()}
    page = forms.get_template("lessons.md").render(begin=begin.strip(), lessons=rows, guides=titles)
    write(target / "lessons" / "index.md", page)
    return ["index", *lessons, *guides]


def _executed(path: Path, execute: bool) -> Any:
    """Return a lesson with the outputs that it had when it was executed last, if it has not changed since."""
    digest = hashlib.sha256(path.read_bytes()).hexdigest()[:12]
    kept = build_dir() / "executed" / "lessons" / f"{path.stem}-{digest}.ipynb"
    if execute and not kept.is_file():
        from nbclient import NotebookClient  # it takes long to import

        os.environ.setdefault("JUPYTER_PREFER_ENV_PATH", "1")  # as in `run.execute`
        options: Any = {"allow_errors": True, "extra_arguments": ["--log-level=ERROR"]}  # without its data: no picture
        client = NotebookClient(read(path), resources={"metadata": {"path": str(path.parent)}}, **options)
        write(kept, nbformat.writes(client.execute()))
    return read(kept if kept.is_file() else path)


def student_version(notebook: Any) -> Any:
    """Return a lesson without solutions and hidden tests, with links to the ledger, and of its outputs the pictures."""
    made, section = cleaned(notebook), ""
    for number, cell in enumerate(made.cells):
        cell["id"], cell.metadata = f"cell-{number}", {"mystnb": {"image": {"alt": f"Picture: {section}"}}}
        if cell.cell_type == "code":
            shown = [] if _SOLUTION.search(cell.source) else cell.outputs
            cell.outputs = [each for each in shown if "image/png" in each.get("data", {})]
            cell.source = _HIDDEN.sub("", _SOLUTION.sub(r"\1...  # your answer", cell.source))
        else:
            section = (re.findall(r"^#+ (.*)", cell.source, re.MULTILINE) or [section])[-1]
            cell.source = _ENTRY.sub(r"[entry D\1](../ledger.md#d\1)", cell.source)
    return made


def _duration(notebook: Any) -> str:
    found = re.search(r"\*\*Duration\.?\*\*\s*(\d+(?:\s*(?:to|-)\s*\d+)? minutes)", notebook.cells[0].source)
    return found[1] if found else ""


def _without_files(text: str, pages: Iterable[str]) -> str:
    """Return a Markdown text in which links to files that the book does not contain are plain text."""
    kept = "|".join(["https?:", "#", *(rf"{name}\.md\)" for name in pages)])
    return re.sub(rf"\[([^\]]+)\]\((?!{kept})[^)]*\)", r"\1", text)
