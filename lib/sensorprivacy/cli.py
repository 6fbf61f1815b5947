"""The command line ``sensorprivacy``, also called as ``python -m sensorprivacy``."""

import argparse
import os
import sys
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path

from sensorprivacy import __version__
from sensorprivacy.book.cli import add_book_command
from sensorprivacy.compare.cli import add_compare_command
from sensorprivacy.compare.publish_cli import add_publish_command
from sensorprivacy.edge.cli import add_edge_command
from sensorprivacy.extras import remedy
from sensorprivacy.minimize.cli import INTERRUPTED, add_minimize_command
from sensorprivacy.review.cli import add_review_command
from sensorprivacy.runner.states import PROFILES
from sensorprivacy.teach.cli import add_lessons_command

# Each command imports what it needs when it runs, so that wrong words are refused without waiting for pandas.


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command and return its exit code: 0, 1 after a failure, 2 for wrong words, 130 after an interrupt."""
    words = sys.argv[1:] if argv is None else argv
    arguments = _parser(words).parse_args(words)
    command: Callable[[argparse.Namespace], int] = arguments.command
    try:
        return command(arguments)
    except KeyboardInterrupt:
        kept = "; finished runs are kept" if command is _reproduce else ""
        print(f"interrupted{kept}", file=sys.stderr)
        return INTERRUPTED
    except BrokenPipeError:  # the reader, such as `head`, has ended
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1
    except ModuleNotFoundError as error:
        if (missing := remedy(error)) is None:
            raise
        print(f"error: {missing}", file=sys.stderr)
        return 1
    except (LookupError, OSError, ValueError, RuntimeError) as error:
        # Our own errors explain themselves. SENSORPRIVACY_DEBUG shows the traceback of the others.
        if os.environ.get("SENSORPRIVACY_DEBUG"):
            raise
        print(f"error: {error}", file=sys.stderr)
        return 2 if isinstance(error, ValueError) else 1


def _run(arguments: argparse.Namespace) -> int:
    from sensorprivacy.runner import execute, processes
    from sensorprivacy.runner.parameters import describe, read_parameters

    if arguments.show:
        print(describe(read_parameters(arguments.notebook)))
        return 0
    processes.guard()
    if arguments.needs:
        from sensorprivacy.runner.data import fetch

        missing = fetch(arguments.needs)
        if missing:
            print(f"nothing was run: no data {', '.join(missing)}", file=sys.stderr)
            return 1
    name = arguments.name or arguments.notebook.stem
    try:
        done = execute.run(
            arguments.notebook,
            dict(arguments.parameters),
            output=arguments.output,
            log=arguments.log,
            say=partial(print, flush=True),
        )
    except execute.NotebookFailedError as error:
        print(f"{name}: {error}", flush=True, file=sys.stdout if arguments.terse else sys.stderr)
        return 1
    if arguments.terse:
        print(f"{name}: ok, {done.seconds:.0f} s", flush=True)
    else:
        results = execute.results_folder(arguments.notebook, done.parameters)
        print(f"notebook: {done.output}\nlog: {done.log}", flush=True)
        if results.is_dir():
            print(f"results: {results}", flush=True)
    return 0


def _reproduce(arguments: argparse.Namespace) -> int:
    from sensorprivacy.runner.runs import check_runs, read_runs, select

    runs = select(read_runs(), arguments.only, arguments.profile)
    if arguments.list:
        for run in runs.values():
            print(f"{run.name:36} {run.minutes[arguments.profile]:5g} min  {run.about}")
        return 0
    from sensorprivacy.datasets import store
    from sensorprivacy.runner import processes, states
    from sensorprivacy.runner import reproduce as batch
    from sensorprivacy.runner.data import looker

    check_runs(runs.values(), store.names())
    processes.guard()
    ended = batch.reproduce(
        arguments.profile,
        looker(arguments.profile),
        cores=arguments.cores,
        only=arguments.only,
        dry_run=arguments.dry_run,
        executor=arguments.executor,
    )
    if not arguments.dry_run:
        print(batch.summary(ended, arguments.profile))
    return 1 if any(state.status == states.FAILED for state in ended.values()) else 0


def _report(arguments: argparse.Namespace) -> int:
    from sensorprivacy.paths import data_dir, figures_dir, project_root

    if arguments.what == "ledger":
        from sensorprivacy.report.ledger import entries, page
        from sensorprivacy.report.printed import printed_values
        from sensorprivacy.report.replication import read_verdicts

        stored = figures_dir("paper") / "verdicts.csv"
        verdicts = read_verdicts(stored) if stored.is_file() else printed_values().assign(verdict="", reason="")
        path, text = project_root() / "DEVIATIONS.md", page(entries(), verdicts)
    else:
        from sensorprivacy.datasets import cards

        path = data_dir() / "README.md"
        text = cards.page(path.read_text(encoding="utf-8"))
    path.write_text(text, encoding="utf-8", newline="\n")
    print(path)
    return 0


def _parser(words: Sequence[str]) -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="sensorprivacy", description="The Sensor Privacy Compendium.")
    parser.add_argument("--version", action="version", version=__version__)
    commands = parser.add_subparsers(required=True, metavar="COMMAND")

    run = commands.add_parser("run", help="execute a notebook with checked parameters")
    run.set_defaults(command=_run)
    run.add_argument("notebook", type=Path, metavar="NOTEBOOK")
    run.add_argument("-p", dest="parameters", nargs=2, action="append", default=[], metavar=("NAME", "VALUE"))
    run.add_argument("--show", action="store_true", help="show the notebook's parameters and run nothing")
    run.add_argument("-o", "--output", type=Path, help="file for the executed notebook (build/executed/<run>.ipynb)")
    run.add_argument("--log", type=Path, help="file for the notebook's printed output (build/logs/<run>.log)")
    run.add_argument("--needs", nargs="+", default=[], metavar="SET", help="data sets to fetch first")
    run.add_argument("--terse", action="store_true", help="end with one line instead of the files' paths")
    run.add_argument("--name", help="name of the run in that line")

    again = commands.add_parser("reproduce", help="run every notebook that is out of date, then the report")
    again.set_defaults(command=_reproduce)
    again.add_argument("--profile", choices=PROFILES, default="quick", help="settings of the runs (quick)")
    again.add_argument("--cores", type=_positive, default=os.cpu_count() or 1, help="number of runs at a time")
    again.add_argument("--only", nargs="+", default=[], metavar="RUN", help="names of runs; * stands for any part")
    again.add_argument("--dry-run", action="store_true", help="list the runs that are out of date and run nothing")
    again.add_argument(
        "--executor", metavar="NAME", help="run as jobs of a cluster, --cores at a time, such as slurm (this machine)"
    )
    again.add_argument("--list", action="store_true", help="list all runs with their minutes and run nothing")

    if "data" in words:
        from sensorprivacy.datasets.cli import add_data_commands

        add_data_commands(commands)
    else:  # without its own words, which would import pandas for every other command
        commands.add_parser("data", help="list, fetch and verify the data sets")

    add_minimize_command(commands)
    add_compare_command(commands)
    add_publish_command(commands)
    add_edge_command(commands)
    add_review_command(commands)
    add_lessons_command(commands)
    add_book_command(commands)

    report = commands.add_parser("report", help="write DEVIATIONS.md or data/README.md again")
    report.set_defaults(command=_report)
    report.add_argument("what", choices=("ledger", "data"), help="ledger: DEVIATIONS.md; data: data/README.md")
    return parser


def _positive(text: str) -> int:
    number = int(text)
    if number < 1:
        raise argparse.ArgumentTypeError(f"{text} is too few: give 1 or more")
    return number


if __name__ == "__main__":
    sys.exit(main())
