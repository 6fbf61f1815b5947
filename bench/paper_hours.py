"""Compare the minutes of the paper profile's runs by `runs.yaml`, at a commit and now.

    python bench/paper_hours.py --before 1485870b    writes results/paper_hours.csv

`paper3_hours.py` counts where the minutes of one run of paper 3 go.
"""

import argparse
import subprocess
from pathlib import Path

import pandas as pd
import yaml

from compendium.paths import RUN_FILE, figures_dir


def before_and_now(commit, write):
    """Print, and write if asked, the minutes of each run of the paper profile by `runs.yaml`, at a commit and now."""
    text = subprocess.run(["git", "show", f"{commit}:runs.yaml"], capture_output=True, text=True, check=True).stdout
    runs = {"before": yaml.safe_load(text)["runs"], "now": yaml.safe_load(Path("runs.yaml").read_text())["runs"]}
    table = pd.DataFrame(
        {when: {name: run["minutes"].get("paper") for name, run in own.items()} for when, own in runs.items()}
    )
    table["results"] = [(figures_dir("paper") / name / RUN_FILE).is_file() for name in table.index]
    if write:
        table.rename_axis("run").to_csv(Path(__file__).parent / "results" / "paper_hours.csv")
    print((table.groupby("results")[["before", "now"]].sum() / 60).round(1).to_string())


def main():
    """Compare."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--before", metavar="COMMIT", help="write the results, too")
    asked = parser.parse_args().before
    before_and_now(asked or "HEAD", bool(asked))


if __name__ == "__main__":
    main()
