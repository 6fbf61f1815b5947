"""What the pages of the papers and of the ledger show of the verdicts."""

import re
from collections.abc import Callable, Iterable

import pandas as pd

from compendium.show.tables import markdown_text
from compendium.verdicts.layout import legend, paper_table, title
from compendium.verdicts.ledger import Entry, one_line
from compendium.verdicts.quotes import quoted
from compendium.verdicts.replication import headline_table, tally


def outcome(verdicts: pd.DataFrame, paper: int) -> str:
    """Return a sentence with the counts of a paper's verdicts, computed from them."""
    own = verdicts[verdicts["paper"] == paper]
    rows = int(((own["basis"] == "rows") & (own["verdict"] != "no data")).sum())
    return f"We list {len(own)} values of the paper: {tally(own['verdict'])}. We recomputed {rows} of them from data."


def headlines(verdicts: pd.DataFrame, paper: int) -> str:
    """Return the paper's headline claims as a Markdown table: claim, printed, ours, verdict."""
    own = headline_table(verdicts, "paper").query("paper == @paper")[["claim", "printed", "ours", "verdict"]]
    return markdown_text(own.reset_index(drop=True)).replace("DEVIATIONS.md#", "../ledger.md#")


def changed(ledger: Iterable[Entry], paper: int) -> str:
    """Return the ledger entries that change a conclusion of the paper, as a Markdown list."""
    own = [entry for entry in ledger if entry.major and entry.paper == paper]
    return "\n".join(f"- [{entry.id}](../ledger.md#{entry.id.lower()}): {entry.title}." for entry in own)


def tables(verdicts: pd.DataFrame, paper: int) -> str:
    """Return all tables of a paper in its own layout, each below a heading with an anchor (``#paper-1-table-4``)."""
    own = verdicts[verdicts["paper"] == paper]
    parts = [legend(), "A link in a cell leads to the value's reason, its notebook and the command that recomputes it."]
    for table, claims in own.groupby("table", sort=False):
        anchor = "statements" if table == "text" else f"table-{table}"
        parts += [f"(paper-{paper}-{anchor})=", f"### {title(paper, str(table))}"]
        parts.append(paper_table(claims, lambda name: f"../verdicts.html#{name}", caption=False))
    return "\n\n".join(parts)


def linker(ledger: Iterable[Entry]) -> Callable[[str], str]:
    """Return a function that puts a text of the ledger on one line, with the numbers that it quotes and with links."""
    known = "|".join(entry.id for entry in ledger)
    name = re.compile(rf"(?<![\w/\[])({known})\b(?!\])")
    return lambda text: name.sub(lambda match: f"[{match[1]}](#{match[1].lower()})", one_line(quoted(text)))
