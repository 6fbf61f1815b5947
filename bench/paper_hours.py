"""Compare the minutes of the paper profile's runs, at a commit and now.

    python bench/paper_hours.py --before e28dd916    writes results/paper_hours.csv

Of the commit, the minutes of `runs.yaml` count. Of now, the processor time that a run recorded in its `machine.json`
does (`measured`), and the minutes of `runs.yaml` where it recorded none. A run that went on from kept parts records its
last start only.
`paper3_hours.py` counts where the minutes of one run of paper 3 go.
"""

import argparse
import json
import subprocess
from pathlib import Path

import pandas as pd
import yaml

from compendium.paths import MACHINE_FILE, figures_dir


def processor_minutes(run):
    """Return the minutes of the processor that a committed run recorded, or None."""
    path = figures_dir("paper") / run / MACHINE_FILE
    seconds = json.loads(path.read_text()).get("processor_seconds") if path.is_file() else None
    return None if seconds is None else round(seconds / 60, 1)


def before_and_now(commit, write):
    """Print, and write if asked, the minutes of each run of the paper profile, at a commit and now."""
    text = subprocess.run(["git", "show", f"{commit}:runs.yaml"], capture_output=True, text=True, check=True).stdout
    runs = {"before": yaml.safe_load(text)["runs"], "now": yaml.safe_load(Path("runs.yaml").read_text())["runs"]}
    table = pd.DataFrame(
        {when: {name: run["minutes"].get("paper") for name, run in own.items()} for when, own in runs.items()}
    )
    table["results"] = [(figures_dir("paper") / name / MACHINE_FILE).is_file() for name in table.index]
    measured = pd.Series({name: processor_minutes(name) for name in table.index}, dtype=float)
    table["measured"] = measured.notna()
    table["now"] = measured.fillna(table["now"])
    if write:
        table.rename_axis("run").to_csv(Path(__file__).parent / "results" / "paper_hours.csv")
    print((table.groupby(["results", "measured"])[["before", "now"]].sum() / 60).round(1).to_string())


def main():
    """Compare."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--before", metavar="COMMIT", help="write the results, too")
    asked = parser.parse_args().before
    before_and_now(asked or "HEAD", bool(asked))


if __name__ == "__main__":
    main()
