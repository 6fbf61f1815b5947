"""One page for each run: its executed notebook, and its committed results in the paper profile."""

import html
import json
import shutil
from collections.abc import Iterable
from pathlib import Path

import nbformat
import pandas as pd

from compendium.book import executed
from compendium.book.files import write
from compendium.run.runs import Run
from compendium.show.readable import html_table, readable

MOST_ROWS = 60  # longer tables are shown up to here; the CSV file has all rows
TOPICS = {
    "0": "Start here",
    "1": "Paper 1: drop columns",
    "2": "Paper 2: drop columns, or add noise",
    "3": "Paper 3: rewrite windows",
    "4": "Paper 3 on a device",
    "5": "All three defences in one game",
    "9": "Report",
}


def explorer_link(claim_id: str) -> str:
    """Return the address of a printed value in the verdict explorer, seen from a page one folder below."""
    return f"../verdicts.html#{claim_id}"


def write_runs(
    runs: Iterable[Run],
    shown: Iterable[str],
    cited: Iterable[str],
    executed_folder: Path,
    figures: Path,
    target: Path,
) -> dict[str, dict[str, str]]:
    """Write the pages of all runs and their list, and return the addresses of each run's page and of its verdicts.

    Parameters
    ----------
    runs : iterable of Run
        The runs of ``runs.yaml``.
    shown : iterable of str
        Names of the runs whose executed notebooks and committed results are shown. The others have a page that says
        how to execute them.
    cited : iterable of str
        Names of the runs whose committed results are shown in any case.
    executed_folder, figures : pathlib.Path
        The folders ``build/executed`` and ``figures``.
    target : pathlib.Path
        Folder of the Sphinx sources.
    """
    places, runs, shown = {}, list(runs), set(shown)
    for run in runs:
        committed = figures / run.name if (figures / run.name / "run.json").is_file() else None
        committed = committed if run.name in shown or run.name in cited else None
        found = executed.find(run.name, executed_folder) if run.name in shown else None
        page = {"page": f"runs/{run.name}.html", "section": ""}
        if found:
            page["section"] = _notebook_page(run, *found, committed is not None, target)
        else:
            write(target / "runs" / f"{run.name}.md", _absent(run, committed is not None))
        if committed:
            _results_page(run, committed, target)
            page["results"] = f"results/{run.name}.html"
        places[run.name] = page
    write(target / "notebooks.md", _contents(runs, places))
    return places


def _notebook_page(run: Run, path: Path, profile: str, committed: bool, target: Path) -> str:
    notebook = executed.cleaned(executed.read(path), explorer_link)
    variant = run.name.partition("-")[2]
    notes = [f"This page was executed by `make reproduce` with the profile `{profile}`."]
    if profile != "paper":
        notes.append(
            "The profile *quick* trains small models for a short time, so its numbers differ from the full runs."
        )
    if committed:
        notes.append(f"The full results are on the page [results of the paper profile](../results/{run.name}).")
    notes.append(f'To run it: `make reproduce{" PROFILE=paper" if profile == "paper" else ""} ONLY="{run.name}"`.')
    first = next(cell for cell in notebook.cells if cell.cell_type == "markdown")
    head, _, rest = first.source.partition("\n")
    suffix = f" ({variant})" if variant else ""
    first.source = f"{head}{suffix}\n\n:::{{note}}\n{' '.join(notes)}\n:::\n{rest}"
    for number, cell in enumerate(notebook.cells):
        if "injected-parameters" in cell.metadata.get("tags", []):  # they replace the defaults of the cell before
            cell.source = cell.source.replace("# Parameters\n", "# the values of this run\n", 1)
        cell["id"] = f"cell-{number}"
        cell.metadata = {key: value for key, value in cell.metadata.items() if key == "tags"}
    write(target / "runs" / f"{run.name}.ipynb", nbformat.writes(notebook))
    return f"#{anchor}" if (anchor := executed.section_of_verdicts(notebook)) else ""


def _absent(run: Run, committed: bool) -> str:
    needs = ", ".join(f"`{name}`" for name in run.sets) or "none"
    times = " and ".join(f"{minutes:g} minutes in the profile *{profile}*" for profile, minutes in run.minutes.items())
    profile = "" if "quick" in run.minutes else " PROFILE=paper"
    lines = [
        f"# {run.name}",
        f"{run.about[0].upper()}{run.about[1:]}.",
        "This notebook has not been executed on the machine that built this book. To execute it:",
        f'```\nmake reproduce{profile} ONLY="{run.name}"\n```',
        f"It takes about {times}, on two cores. Data sets: {needs}. The [data page](../data.md) says how to get them.",
    ]
    if committed:
        lines.append(f"Its full results are on the page [results of the paper profile](../results/{run.name}).")
    return "\n\n".join([*lines, ""])


def _results_page(run: Run, folder: Path, target: Path) -> None:
    record = json.loads((folder / "run.json").read_text(encoding="utf-8"))
    lines = [
        f"# Results of {run.name}",
        f"{run.about[0].upper()}{run.about[1:]}. Profile `paper`: the settings of the paper. "
        f"[Notebook](../runs/{run.name}).",
    ]
    names = [*record["files"], *record["drawn"]]
    place = target / "results" / run.name
    for name in sorted(names, key=lambda name: (not name.endswith(".png"), name)):
        file, words = folder / name, Path(name).stem.replace("-", " ")
        if not file.is_file() or name == "verdicts.csv" or file.suffix not in {".png", ".csv"}:
            continue
        copy = place / name.replace("/", "-")
        copy.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(file, copy)
        lines.append(f"## {'Figure' if file.suffix == '.png' else 'Table'}: {words}")
        if file.suffix == ".png":
            lines.append(f"![{words} of {run.name}]({run.name}/{copy.name})")
        else:
            lines += [_table(file), f"{{download}}`{words} as CSV <{run.name}/{copy.name}>`"]
    settings = [f"{html.escape(str(k))} = {html.escape(str(v))}" for k, v in record["parameters"].items()]
    lines += ["## Settings", "```\n" + "\n".join(settings) + "\n```"]
    write(target / "results" / f"{run.name}.md", "\n\n".join([*lines, ""]))


def _table(file: Path) -> str:
    frame = pd.read_csv(file)
    shown = readable(frame.head(MOST_ROWS))
    if len(frame) > MOST_ROWS:
        shown.remarks.append(f"The first {MOST_ROWS} of {len(frame)} rows.")
    return html_table(shown, _caption(file))


def _caption(file: Path) -> str:
    text = file.with_suffix(".md")
    first = text.read_text(encoding="utf-8").partition("\n")[0] if text.is_file() else ""
    return first.strip("*") if first.startswith("**") else ""


def _contents(runs: list[Run], places: dict[str, dict[str, str]]) -> str:
    lines = [
        "# Notebooks and results",
        "Each notebook answers one question. A run is a notebook with parameters, such as a data set. This page links "
        "each run's executed notebook and its committed results in the paper profile.",
    ]
    for digit, topic in TOPICS.items():
        own = [run for run in runs if run.name.startswith(digit)]
        if not own:
            continue
        rows = []
        for run in own:
            results = f"[results](results/{run.name})" if "results" in places[run.name] else ""
            rows.append(f"| [{run.name}](runs/{run.name}) | {run.about} | {results} |")
        lines += [f"## {topic}", "\n".join(["| run | about | full results |", "|---|---|---|", *rows])]
    toc = [f"runs/{run.name}" for run in runs]
    toc += [f"results/{run.name}" for run in runs if "results" in places[run.name]]
    lines += ["```{toctree}\n:hidden:\n:maxdepth: 1\n\n" + "\n".join(toc) + "\n```", ""]
    return "\n\n".join(lines)
