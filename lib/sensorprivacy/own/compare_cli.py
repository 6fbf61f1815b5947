"""The command ``compare FILE --task COLUMN --user COLUMN``."""

import argparse
import sys
import time
import warnings
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sensorprivacy.own.minimize_cli import (
    FORMATS,
    INTERRUPTED,
    TABLE_OPTIONS,
    add_table_options,
    in_options,
    table_options,
)

# importing forests takes seconds, so the functions below import them: help and wrong options need no forest
if TYPE_CHECKING:
    from sensorprivacy.data import Problem
    from sensorprivacy.game.splits import Split
    from sensorprivacy.own.comparison import Comparison

_OPTIONS = TABLE_OPTIONS | {
    "minutes=": "--minutes ",
    "max_loss=": "--max-loss ",
    "max_rows": "--max-rows",
    "a smaller model": "fewer --trees",
}
"""Parameters of Python that errors name, and the options of the command that mean the same."""


def add_compare_command(subparsers: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    """Add the command ``compare`` to a command line.

    Parameters
    ----------
    subparsers : argparse subparsers action
        Result of ``parser.add_subparsers()``. The parsed namespace gets a function ``command``. Called with the
        namespace, it returns the exit code. It raises ValueError for wrong data and OSError for files.
    """
    command = subparsers.add_parser(
        "compare",
        help="find out which defence suits your data, what it costs and what attackers still learn",
        description="Compare defences on your own table or recordings: for each, how well the task still works, and "
        "how well the strongest of several attackers identifies the users. Cheap defences come first. Ctrl-C shows the "
        "best answer so far, and the same command continues later.",
    )
    add = command.add_argument
    add("file", type=Path, metavar="FILE", help=f"{FORMATS}, one record per row; or recordings.toml")
    add("--task", required=True, metavar="COLUMN", help="column to predict (the task)")
    add("--user", metavar="COLUMN", help="column with the user of each record (tables)")
    add("--hide", metavar="ATTRIBUTE", help="private attribute to hide, or subject: the person (recordings)")
    add_table_options(command)
    add("--defences", nargs="+", metavar="DEFENCE", help="such as minimize:threshold=.01 noise:epsilon=4 (about 20)")
    add("--max-loss", type=float, default=0.01, metavar="L", help="accuracy that may be lost (.01: one point)")
    add(
        "--minutes",
        type=float,
        default=10,
        metavar="M",
        help="time budget; what still runs is stopped (10)",
    )
    add("--report", type=Path, metavar="FILE", help="write a self-contained HTML page")
    add("--json", type=Path, metavar="FILE", help="write all numbers")
    add("--store", type=Path, metavar="FILE", help="file that keeps results (default: in your cache folder)")
    add("--trees", type=int, default=100, metavar="N", help="trees of the judge and of the attackers (100)")
    add("--jobs", type=int, metavar="N", default=-1, help="threads that train each forest (all cores)")
    add("--max-rows", type=int, default=10_000, metavar="N", help="largest number of training rows (10,000)")
    add("--seed", type=int, default=42, help="random seed (42)")
    add("--quiet", action="store_true", help="show no progress bar")
    command.set_defaults(command=compare_file)


def compare_file(arguments: argparse.Namespace) -> int:
    """Compare defences on a table and print the page; return the exit code."""
    _check_files(arguments)
    from sensorprivacy.own.comparison import ComparisonInterrupted
    from sensorprivacy.own.notices import plain_notices

    try:
        with plain_notices():
            found, code = _compared(arguments), 0
    except ComparisonInterrupted as stopped:
        found, code = stopped.comparison, INTERRUPTED
    except (ValueError, FileNotFoundError) as error:
        raise ValueError(in_options(str(error), _OPTIONS)) from error
    from sensorprivacy.own.compare_page import page

    if code:
        print("interrupted: this is the best answer so far; run the same command again to continue", file=sys.stderr)
    print(page(found, arguments.max_loss))
    if arguments.report is not None:
        found.to_html(arguments.report, arguments.max_loss)
    if arguments.json is not None:
        found.to_json(arguments.json)
    written = [str(path) for path in (arguments.report, arguments.json) if path is not None]
    if written:
        print(f"\nWritten: {', '.join(written)}")
    return code


def _check_files(arguments: argparse.Namespace) -> None:
    """Reject options and files that cannot be written before any time is spent."""
    if arguments.trees < 1 or arguments.max_rows < 1:
        raise ValueError(f"--trees {arguments.trees}, --max-rows {arguments.max_rows}: both must be 1 or more")
    if not 0 <= arguments.max_loss <= 1:
        raise ValueError(f"--max-loss {arguments.max_loss}: give a share of the accuracy, from 0 to 1")
    paths = [path.resolve() for path in (arguments.report, arguments.json, arguments.store) if path is not None]
    for path in paths:
        if path == arguments.file.resolve() or paths.count(path) > 1:
            raise ValueError(f"{path.name} is named twice: give each file its own name")
        if path.is_dir() or not path.parent.is_dir():
            raise ValueError(f"{path}: " + ("this is a folder" if path.is_dir() else f"there is no {path.parent}"))


def _compared(arguments: argparse.Namespace) -> "Comparison":
    from sklearn.ensemble import RandomForestClassifier

    from sensorprivacy.own.comparison import compare

    began = time.monotonic()
    recorded = arguments.file.suffix.lower() == ".toml"
    _check_kind(arguments, recorded)
    problem, split, defences = _recordings(arguments) if recorded else (_table(arguments), None, arguments.defences)
    return compare(
        problem,
        defences,
        arguments.minutes,
        began=began,
        split=split,
        model=RandomForestClassifier(arguments.trees, n_jobs=arguments.jobs),
        max_rows=arguments.max_rows,
        seed=arguments.seed,
        store=arguments.store or _default_store(problem),
        progress=not arguments.quiet,
    )


def _check_kind(arguments: argparse.Namespace, recorded: bool) -> None:
    """Reject options of tables for recordings, and of recordings for tables."""
    wrong = ("user", "groups", "keep", "drop", "bins") if recorded else ("hide",)
    needed = "hide" if recorded else "user"
    for name in wrong:
        if getattr(arguments, name):
            kinds = ("tables", "describes recordings") if recorded else ("recordings", "is a table")
            raise ValueError(f"--{name} is for {kinds[0]}, but {arguments.file} {kinds[1]}: leave it out")
    if getattr(arguments, needed) is None:
        what = "attribute to hide" if recorded else "column with the users"
        raise ValueError(f"--{needed} is missing: name the {what}")


def _recordings(arguments: argparse.Namespace) -> "tuple[Problem, Split, list[Any]]":
    from sensorprivacy.own.windows import TABLE_WORDS, own_game

    game = own_game(arguments.file, arguments.task, arguments.hide, seed=arguments.seed)
    releases = {one.name: one for one in game.defences}
    words = arguments.defences or [*TABLE_WORDS, *releases]
    return game.problem, game.split, [releases.get(word, word) for word in words]


def _table(arguments: argparse.Namespace) -> "Problem":
    from sensorprivacy.columns.identifiers import IdentifierWarning
    from sensorprivacy.own.columns import without_copies
    from sensorprivacy.own.tables import table_problem

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", IdentifierWarning)  # printed below
        problem = table_problem(arguments.file, **table_options(arguments))
    problem, copies = without_copies(problem, arguments.keep)
    if left_out := problem.provenance["left_out"] | copies:
        named = ", ".join(f"{name} ({kind})" for name, kind in left_out.items())
        print(f"left out, because these columns identify rows or users: {named}; use one with --keep", file=sys.stderr)
    return problem


def _default_store(problem: "Problem") -> Path:
    """Return a file in the user's cache: results name people, so they do not belong beside a report to hand on."""
    from sensorprivacy.paths import cache_folder

    return cache_folder() / "compare" / f"{problem.digest[:16]}.jsonl"
