"""The book, built once for all tests: all committed results, two notebooks, and one with every kind of output."""

import os
import shutil
from pathlib import Path

import nbformat
import pandas as pd
import pytest
from filelock import FileLock

from compendium.show.tables import shown_table

RUNS = ["20_threeway_example", "21_threeway_division-titanic", "30_vae_anonymization-motionsense-gender"]
TABLE = shown_table(pd.DataFrame({"release": ["raw"], "accuracy": [0.62]}), "A table [quick]")._repr_html_()
VERDICTS = "<p><b>1 printed values: 1 exact [quick]</b></p><table><tr><td>1.0</td></tr></table>"


def output(kind, **data):
    return nbformat.v4.new_output(kind, **data)


def every_output():
    """Return a notebook with the outputs that notebooks have: text, warnings, tables, verdicts, a wide line."""
    new = nbformat.v4
    code = [
        new.new_code_cell(
            "print('x')", outputs=[output("stream", name="stderr", text="TqdmWarning: IProgress not found")]
        ),
        new.new_code_cell("wide", outputs=[output("stream", name="stdout", text="word " * 200)]),
        new.new_code_cell("x" * 150, outputs=[output("display_data", data={"text/html": TABLE})]),
    ]
    wide = pd.DataFrame([["a long text"] * 20])._repr_html_()
    code.append(new.new_code_cell("frame", outputs=[output("display_data", data={"text/html": wide})]))
    last = new.new_code_cell("verdicts", outputs=[output("display_data", data={"text/html": VERDICTS})])
    head = new.new_markdown_cell("# Three-way division\n\nA formula: $\\frac{|N||A|}{|At|(|N|+|A|)}$.")
    cells = [head, *code, new.new_markdown_cell("## What came out"), last]
    return new.new_notebook(cells=cells, metadata={"language_info": {"name": "python", "pygments_lexer": "ipython3"}})


@pytest.fixture(scope="session")
def book(root, isolated, tmp_path_factory):
    """Return the folder of the book's pages; the workers of a test run share it."""
    base = tmp_path_factory.getbasetemp()
    base = base.parent if "PYTEST_XDIST_WORKER" in os.environ else base
    folder = base / "book"
    with FileLock(f"{folder}.lock"):
        if not (folder / "html" / "index.html").is_file():
            from compendium.book import site

            executed = Path(os.environ["SENSORPRIVACY_HOME"]) / "build" / "executed" / "quick"
            executed.mkdir(parents=True, exist_ok=True)
            for run in RUNS:
                shutil.copyfile(root / "notebooks" / f"{run.partition('-')[0]}.ipynb", executed / f"{run}.ipynb")
            nbformat.write(every_output(), executed / "21_threeway_division-titanic.ipynb")
            site.build(folder, RUNS)
    return folder / "html"


@pytest.fixture
def executed_notebook():
    """Return an executed notebook."""
    return every_output()
