"""The command ``compendium review [CELL]``."""

import argparse
import os
from pathlib import Path

from compendium.run.states import PROFILES


def add_review_command(subparsers: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    """Add the command ``review`` to a command line."""
    command = subparsers.add_parser(
        "review",
        help="recompute one printed value, or pack the compendium for a review",
        description="With CELL, recompute one printed value and show printed, ours and verdict. Without, write a pack "
        "for reviewers: all files as an RO-Crate, codecheck.yml, the environment and a report of one page.",
    )
    add = command.add_argument
    add("cell", nargs="?", metavar="CELL", help="id of the printed value, such as 2-T10-r1-utility")
    add("--profile", choices=PROFILES, default="quick", help="settings of the runs (quick)")
    add("--cores", type=int, default=os.cpu_count() or 1, help="number of runs at a time")
    add("--out", type=Path, metavar="FOLDER", help="folder of the pack (build/review)")
    command.set_defaults(command=_review)


def _review(arguments: argparse.Namespace) -> int:
    if arguments.cell is None:
        from compendium.review.pack import write_pack

        folder = write_pack(arguments.out)
        print(f"{folder}: begin with report.md; fill in codecheck.yml")
        return 0
    from compendium.review.cell import recompute
    from compendium.run import processes

    processes.guard()
    print(f"\n{recompute(arguments.cell, arguments.profile, arguments.cores).text()}")
    return 0
