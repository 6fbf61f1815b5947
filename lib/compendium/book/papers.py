"""What the pages of the papers and of the ledger show of the verdicts."""

import json
import re
import shutil
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path

import pandas as pd

from compendium.paths import RUN_FILE, project_root
from compendium.show.captions import titles
from compendium.show.tables import markdown_text
from compendium.verdicts.layout import legend, paper_table, title
from compendium.verdicts.ledger import Entry, one_line
from compendium.verdicts.quotes import quoted
from compendium.verdicts.replication import headline_table, tally

FIGURES = {
    1: ["11_selection_methods-cic-ids-2017/figure-1.png"]
    + [f"12_game_summary/figure-2{kind}-opportunity.png" for kind in ("", "-compared")],
    2: [f"22_threeway_summary/figure-{number}.png" for number in range(1, 6)],
    3: [f"30_vae_anonymization-motionsense-gender/{name}.png" for name in ("figure-1", "figures-2-3-9-10", "figure-4")]
    + [
        "30_vae_anonymization-motionsense-gender/figures-5-7.png",
        "31_reidentification_attack-motionsense-gender/figure-8.png",
    ],
}
"""Our drawings of the figures of each paper, in its order."""


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


def figures(source: Path, target: Path, places: Mapping[str, Mapping[str, str]], paper: int) -> str:
    """Return our drawings of a paper's figures in Markdown, in the paper's order, and copy them beside its page.

    A heading has the paper's number in full, and the text below it in short, so that the search finds "figure 8" and
    "Fig. 8".

    Parameters
    ----------
    source, target : pathlib.Path
        The committed results, and the folder of the papers' pages.
    places : mapping of str to mapping
        The addresses of each run's pages, as :func:`.notebooks.write_runs` returns them.
    paper : int
        The paper's number.
    """
    parts = []
    for name in FIGURES[paper]:
        path = source / name
        numbers = re.sub(r"^figures?-([\d-]+).*", r"\1", path.stem).strip("-").split("-")
        if len(numbers) == 2:  # a range, such as figures-5-7
            numbers = [str(number) for number in range(int(numbers[0]), int(numbers[1]) + 1)]
        head = f"Figure{'s' if len(numbers) > 1 else ''} {', '.join(numbers)}"
        record = json.loads((path.parent / RUN_FILE).read_text(encoding="utf-8"))
        beside = project_root() / "notebooks" / "captions" / f"{path.parent.name.partition('-')[0]}.toml"
        named = titles(beside, record["parameters"])
        caption = record["captions"].get(path.name) or named.get(path.stem, "drawn from our results")
        picture = f"paper-{paper}-{path.name}"
        target.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(path, target / picture)
        parts += [f"### {head}", f"![{caption}]({picture})"]
        run = path.parent.name
        link = f" [All results of this run](../results/{run}.md)." if "results" in places[run] else ""
        short = "" if re.match(r"Figs?\.", caption) else f"Fig{'s' if len(numbers) > 1 else ''}. {', '.join(numbers)}: "
        parts.append(f"{short}{caption}.{link}")
    return "\n\n".join(parts)


def linker(ledger: Iterable[Entry]) -> Callable[[str], str]:
    """Return a function that puts a text of the ledger on one line, with the numbers that it quotes and with links."""
    known = "|".join(entry.id for entry in ledger)
    name = re.compile(rf"(?<![\w/\[])({known})\b(?!\])")
    return lambda text: name.sub(lambda match: f"[{match[1]}](#{match[1].lower()})", one_line(quoted(text)))
