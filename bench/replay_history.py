"""Replay ten commits of the past against the commit before each: which ones changed a number, and what replay says.

The digest of that time, of the text of all modules, called all runs below stale after each of these commits.

    python bench/replay_history.py           # two commits, two runs each
    python bench/replay_history.py --full    # about half an hour on two cores, writes results/replay_history.csv
"""

import argparse
import os
from pathlib import Path

import pandas as pd

from compendium.run.replay import ReplayError, replay
from compendium.run.runs import read_runs

HERE = Path(__file__).resolve().parent
COMMITS = {
    "4c5d1fd7": "Drop threeway.sensitivity, which only tests called",
    "57f19bce": "Merge small modules of one subject",
    "2fed17d9": "Let errors fit a line, and drop what nobody reads from races, boards and statistics",
    "c9b12441": "Move remarks about columns out of the checks of problems",
    "f051c148": "Type what mypy asks for",
    "7536c9e7": "Type what the merges brought together",
    "17dad42e": "Split the charts of paper 1: its own curves, and ours",
    "465ede56": "Inline two helpers with one caller each, and name the kinds of grouped keys",
    "f3552641": "Take a missing text for a category everywhere, and name labels to look at",
    "4211802e": "Take no mark of a missing cell for the name of a user",
}
RUNS = [
    "20_threeway_example",
    "21_threeway_division-titanic",
    "10_reidentification_game-iot-23",
    "11_selection_methods-cic-ids-2017",
    "30_vae_anonymization-smartwatch-side-tail",
]


def main() -> None:
    """Replay, and print a row for each commit and run."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--full", action="store_true", help="all commits and runs, and write the table")
    full, rows = parser.parse_args().full, []
    for commit, subject in list(COMMITS.items())[: None if full else 2]:
        runs = [read_runs()[name] for name in (RUNS if full else RUNS[:2])]
        try:
            ended = replay(runs, f"{commit}^1", code=commit, cores=os.cpu_count() or 1, say=lambda one: None)
        except ReplayError as error:
            print(f"{commit}: {error}")
            continue
        rows += [
            {"commit": commit, "subject": subject} | {k: getattr(one, k) for k in ("run", "kind", "what")}
            for one in ended
        ]
        print(
            pd.DataFrame(rows[-len(ended) :]).drop(columns="subject").to_string(index=False, header=False), flush=True
        )
    table = pd.DataFrame(rows)
    print(table.groupby(["subject", "kind"], sort=False).size().to_string())
    if full:
        table.to_csv(HERE / "results" / "replay_history.csv", index=False)


if __name__ == "__main__":
    main()
