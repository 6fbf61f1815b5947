"""The command line: ``python -m sensorprivacy run | reproduce | data | minimize | edge | report``."""

import argparse
import os
import sys
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path

from sensorprivacy import __version__
from sensorprivacy.edge.cli import add_edge_command
from sensorprivacy.minimize.cli import add_minimize_command
from sensorprivacy.runner.states import PROFILES

# Each command imports what it needs when it runs: refusing a wrong word should not wait for pandas.

INTERRUPTED = 130  # what shells report for a process ended by Ctrl-C


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command and return its exit code: 0, 1 for a failure, 2 for wrong words, 130 for an interrupt."""
    words = sys.argv[1:] if argv is None else argv
    arguments = _parser(words).parse_args(words)
    command: Callable[[argparse.Namespace], int] = arguments.command
    try:
        return command(arguments)
    except KeyboardInterrupt:
        print(f"interrupted{_kept(arguments)}", file=sys.stderr)
        return INTERRUPTED
    except BrokenPipeError:  # the reader, such as `head`, has gone
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1
    except (LookupError, OSError, ValueError, RuntimeError) as error:
        # Ours say what was wrong and what to do; for the rest, the environment asks for the traceback.
        if os.environ.get("SENSORPRIVACY_DEBUG"):
            raise
        print(f"error: {error}", file=sys.stderr)
        return 2 if isinstance(error, ValueError) else 1


def _kept(arguments: argparse.Namespace) -> str:
    """Return what an interrupted command leaves."""
    if arguments.command == _reproduce:
        return "; finished runs are kept"
    if "store" in arguments:  # minimize
        return (
            f"; trained subsets are kept in {arguments.store}"
            if arguments.store
            else "; without --store, nothing is kept"
        )
    return ""


def _run(arguments: argparse.Namespace) -> int:
    from sensorprivacy.runner import processes

    processes.guard()
    from sensorprivacy.runner import execute as batch
    from sensorprivacy.runner.parameters import describe, read_parameters

    if arguments.show:
        print(describe(read_parameters(arguments.notebook)))
        return 0
    if arguments.needs:
        from sensorprivacy.runner import data as supply

        missing = [name for names in supply.fetch(arguments.needs) for name in names]
        if missing:
            print(f"nothing was run: no data {', '.join(missing)}", file=sys.stderr)
            return 1
    name = arguments.name or arguments.notebook.stem
    try:
        done = batch.run(
            arguments.notebook,
            dict(arguments.parameters),
            output=arguments.output,
            log=arguments.log,
            say=partial(print, flush=True),
        )
    except batch.NotebookFailedError as error:
        print(f"{name}: {error}", flush=True, file=sys.stdout if arguments.terse else sys.stderr)
        return 1
    print(f"{name}: ok, {done.seconds:.0f} s" if arguments.terse else f"{done.output}\nlog: {done.log}", flush=True)
    return 0


def _reproduce(arguments: argparse.Namespace) -> int:
    from sensorprivacy.runner import processes

    processes.guard()
    from sensorprivacy.runner import data as supply
    from sensorprivacy.runner import reproduce as workflow
    from sensorprivacy.runner.runs import read_runs, select

    if arguments.list:
        for run in select(read_runs(), arguments.only).values():
            print(f"{run.name:36} {run.minutes[arguments.profile]:5g} min  {run.about}")
        return 0
    states = workflow.reproduce(
        arguments.profile,
        supply.looker(arguments.profile),
        cores=arguments.cores,
        only=arguments.only,
        dry_run=arguments.dry_run,
    )
    if not arguments.dry_run:
        print(workflow.summary(states, arguments.profile))
    return 1 if any(state.status == workflow.FAILED for state in states.values()) else 0


def _report(arguments: argparse.Namespace) -> int:
    from sensorprivacy.paths import data_dir, project_root
    from sensorprivacy.report.ledger import entries, page
    from sensorprivacy.report.printed import printed_values

    if arguments.what == "ledger":
        path, text = project_root() / "DEVIATIONS.md", page(entries(), printed_values()["claim_id"])
    else:
        from sensorprivacy.runner import data as supply

        path, text = data_dir() / "README.md", supply.readme()
    path.write_text(text, encoding="utf-8", newline="\n")
    print(path)
    return 0


def _parser(words: Sequence[str]) -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m sensorprivacy", description="The Sensor Privacy Compendium.")
    parser.add_argument("--version", action="version", version=__version__)
    commands = parser.add_subparsers(required=True, metavar="COMMAND")

    run = commands.add_parser("run", help="execute a notebook with checked parameters")
    run.set_defaults(command=_run)
    run.add_argument("notebook", type=Path, metavar="NOTEBOOK")
    run.add_argument("-o", "--output", type=Path, help="the executed notebook (build/executed/<run>.ipynb)")
    run.add_argument("-p", dest="parameters", nargs=2, action="append", default=[], metavar=("NAME", "VALUE"))
    run.add_argument("--needs", nargs="+", default=[], metavar="SET", help="data sets to fetch first")
    run.add_argument("--show", action="store_true", help="show the notebook's parameters, run nothing")
    run.add_argument("--log", type=Path, help="what the notebook prints (build/logs/<run>.log)")
    run.add_argument("--terse", action="store_true", help="end with one line instead of the files' paths")
    run.add_argument("--name", help="what that line calls the run")

    again = commands.add_parser("reproduce", help="run what is out of date, then the report")
    again.set_defaults(command=_reproduce)
    again.add_argument("--profile", choices=PROFILES, default="quick")
    again.add_argument("--cores", type=_positive, default=os.cpu_count() or 1, help="runs at a time")
    again.add_argument("--only", nargs="+", default=[], metavar="RUN", help="names of runs, * for any part")
    again.add_argument("--dry-run", action="store_true", help="say what is out of date, run nothing")
    again.add_argument("--list", action="store_true", help="list the runs and their minutes")

    if "data" in words:
        from sensorprivacy.datasets.cli import add_data_commands

        add_data_commands(commands)
    else:  # named here without its words, which would import pandas for every other command
        commands.add_parser("data", help="list, fetch and verify the data sets")

    add_minimize_command(commands)
    add_edge_command(commands)

    report = commands.add_parser("report", help="write a page from its source: DEVIATIONS.md, data/README.md")
    report.set_defaults(command=_report)
    report.add_argument("what", choices=("ledger", "data"))
    return parser


def _positive(text: str) -> int:
    number = int(text)
    if number < 1:
        raise argparse.ArgumentTypeError(f"{text} is no number of cores")
    return number


if __name__ == "__main__":
    sys.exit(main())
