"""Compare every number that README, the book's home and REPLICATION quote with its value before this round.

    python bench/release_values.py [--before COMMIT]    writes bench/results/release_values*.csv

The findings of README and of the home are written twice: from the committed tables of now, and from those of an
earlier commit. Each number that they ask for is a row. REPLICATION's tables of both commits are compared row by row,
and all verdicts claim by claim.
"""

import argparse
import os
import subprocess
import tempfile
import zipfile
from pathlib import Path

import pandas as pd

from compendium.book import pages
from compendium.paths import figures_dir, project_root
from compendium.verdicts.quotes import QuoteError
from compendium.verdicts.verdicts import read_verdicts
from compendium.verdicts.words import HEADLINE

BEFORE = "e28dd916"  # release 1.0.0
MISSING = "not there"
WORDS = ("How claims in words are decided", "What cannot be tested here")  # tables of REPLICATION without values


class Asked:
    """Numbers of committed results, and a list of what a page asked for."""

    def __init__(self, numbers: pages.Numbers) -> None:
        self.numbers = numbers
        self.calls: list[tuple[str, tuple, dict]] = []

    def __getattr__(self, name):
        def asked(*args, **where):
            self.calls.append((name, args, where))
            return getattr(self.numbers, name)(*args, **where)

        return asked


def verdicts() -> pd.DataFrame:
    """Return the verdicts of the present results folder."""
    return read_verdicts(figures_dir("paper") / "verdicts.csv")


def quoted(calls) -> dict[str, str]:
    """Return the value of each call in the present results folder."""
    numbers, values = pages.Numbers(verdicts()), {}
    for name, args, where in calls:
        if name == "tally":
            paper, tables = (*args, None, ())[:2]
            for verdict, count in numbers.tally(*args, **where).items():
                of = f"basis {', '.join(where.get('bases', ()))}"
                label = f"paper {paper}, Tables {', '.join(tables)}" if paper else of
                values[f"{label}: {verdict}"] = str(count)
            continue
        try:
            value = getattr(numbers, name)(*args, **where)
        except (QuoteError, KeyError):
            value = MISSING
        chosen = "; ".join(f"{column}={text}" for column, text in where.items())
        label = f"{args[0]} | {chosen} | {args[1]}" if chosen else " | ".join(args)
        values[label] = f"{value:.4g}" if isinstance(value, float) else str(value)
    return values


def rows_of(text: str) -> dict[str, str]:
    """Return the rows of a page's tables: heading and first cells, and the other cells."""
    heading, rows, names = "", {}, []
    for line in text.splitlines():
        cells = [cell.strip() for cell in line.strip("|").split("|")]
        if line.startswith("#"):
            heading, names = line.strip("# "), []
        elif not line.startswith("|"):
            names = []
        elif not names:
            names = cells
        elif not set(line) <= set("|-: "):
            key = 2 if names[1] in ("claim", "basis") else 1
            kept = [cell for name, cell in zip(names, cells, strict=True) if name not in ("results", "reason")]
            rows[f"{heading}: {', '.join(kept[:key])}"] = " | ".join(kept[key:])
    return rows


def main() -> None:
    """Write the comparisons."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--before", default=BEFORE, metavar="COMMIT", help="the earlier commit")
    before = parser.parse_args().before
    if subprocess.run(["git", "cat-file", "-e", f"{before}^{{commit}}"], stderr=subprocess.DEVNULL).returncode:
        print(f"not compared: this copy has no commit {before}; clone the repository with its history")
        return
    now = Asked(pages.Numbers(verdicts()))
    pages.templates().get_template("findings.md").render(numbers=now, book=True, headline=HEADLINE)
    values, report, judged = quoted(now.calls), (project_root() / "REPLICATION.md").read_text(), verdicts()
    with tempfile.TemporaryDirectory() as folder:
        archive = Path(folder) / "before.zip"
        subprocess.run(["git", "archive", "-o", archive, before, "figures", "REPLICATION.md"], check=True)
        with zipfile.ZipFile(archive) as packed:
            packed.extractall(folder)
        os.environ["SENSORPRIVACY_OUTPUT"] = folder
        earlier, old_report, old_judged = quoted(now.calls), Path(folder, "REPLICATION.md").read_text(), verdicts()
    both = [("findings", key, earlier[key], value) for key, value in values.items()]
    old_rows, rows = rows_of(old_report), rows_of(report)
    kept = [key for key in {**rows, **old_rows} if not key.startswith(WORDS)]
    both += [("REPLICATION", key, old_rows.get(key, MISSING), rows.get(key, MISSING)) for key in kept]
    results = Path(__file__).with_name("results")
    frame = pd.DataFrame(both, columns=["page", "quantity", "before", "now"])
    frame.to_csv(results / "release_values.csv", index=False)
    print(f"{len(frame)} values, {(frame['before'] != frame['now']).sum()} differ")
    columns = ["claim_id", "printed", "ours", "low", "high", "verdict", "reason"]
    ends = ("_before", "_now")
    joined = old_judged[columns].merge(judged[[*columns, "run"]], on="claim_id", how="outer", suffixes=ends)
    changed = joined[joined["verdict_before"].fillna("") != joined["verdict_now"].fillna("")]
    changed.to_csv(results / "release_values_verdicts.csv", index=False)
    print(f"{len(joined)} claims, {len(changed)} verdicts differ")


if __name__ == "__main__":
    main()
