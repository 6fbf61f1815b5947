"""The index ``data/paper/index.md``: where to find ours for each printed table, made from the map beside the values."""

import re

import pandas as pd

from compendium.verdicts.layout import title
from compendium.verdicts.printed import printed_values
from compendium.verdicts.words import PAPERS

_HEAD = """# Where to find ours

<!-- Written by `python -m compendium report index` from data/paper/paper-1.csv, paper-2.csv and paper-3.csv. -->

Each printed value has an id, such as `2-T10-r3-utility`. Search for it: its row in `paper-<n>.csv` has the printed
text, and the run, the table, the row and the column with our value. A run's tables are in `figures/<run>/`; its
notebook writes each with `run.table(..., "<table>", ...)`. The table `statements` has values that no other table
holds; functions of `lib/compendium/papers/paper<n>` compute them.
"""


def page() -> str:
    """Return the text of the index: one row for each printed table and each of our tables that it is compared with."""
    values = printed_values()
    parts = [_HEAD]
    for paper, subject in PAPERS.items():
        own = values[values["paper"] == paper]
        parts += [
            f"## Paper {paper}: {subject}",
            "",
            "| printed | values | run | table | notebook |",
            "|---|---:|---|---|---|",
        ]
        groups = own.groupby(["table", "run", "our_table"], sort=False)
        parts += [_row(paper, str(key[0]), str(key[1]), str(key[2]), rows) for key, rows in groups]
        parts.append("")
    return "\n".join(parts)


def _row(paper: int, table: str, run: str, ours: str, rows: pd.DataFrame) -> str:
    names = ", or ".join(f"`{name}`" for name in ours.split(" | "))
    notebook = re.split("-", run, maxsplit=1)[0]
    cells = [title(paper, table), str(len(rows)), f"`{run}`", names, f"[{notebook}](../../notebooks/{notebook}.ipynb)"]
    return f"| {' | '.join(cells)} |"
