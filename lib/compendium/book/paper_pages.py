"""One page for each paper: what became of its claims, and each printed table with our value below the printed one."""

import pandas as pd

from compendium.verdicts.layout import legend, paper_table, title
from compendium.verdicts.ledger import Entry
from compendium.verdicts.replication import headline_table
from compendium.verdicts.words import VERDICTS


def outcome(verdicts: pd.DataFrame, paper: int) -> str:
    """Return a sentence with the counts of a paper's verdicts, computed from them."""
    own = verdicts[verdicts["paper"] == paper]
    counts = own["verdict"].value_counts()
    parts = ", ".join(f"{counts[name]} {name}" for name in VERDICTS if name in counts)
    rows = int(((own["basis"] == "rows") & (own["verdict"] != "no data")).sum())
    return f"We list {len(own)} values of the paper: {parts}. We recomputed {rows} of them from data."


def headlines(verdicts: pd.DataFrame, paper: int) -> str:
    """Return the paper's headline claims as a Markdown table: claim, printed, ours, verdict."""
    table = headline_table(verdicts, "paper")
    own = table[table["paper"].astype(str) == str(paper)]
    lines = ["| claim | printed | ours | verdict |", "|---|---|---|---|"]
    for _, row in own.iterrows():
        verdict = str(row["verdict"]).replace("DEVIATIONS.md#", "../ledger.md#")
        cells = [str(row[name]).replace("|", "\\|") for name in ("claim", "printed", "ours")]
        lines.append(f"| {' | '.join([*cells, verdict])} |")
    return "\n".join(lines)


def changed(ledger: tuple[Entry, ...], paper: int) -> str:
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
